"""Handle the API operations on the reviews of a change request and on its requested reviewers.

The record of the change request contains both: `reviews`, the latest review of each reviewer, and
`requestedReviewers`. A review without a user was made by GitBook's AI agent.
"""

from ... import responses
from ...access.roles import is_at_least
from ...content.documents import stored_document
from ...errors import ApiError, conflict, not_found
from ...request.context import Context
from ...request.paging import page_by_index
from ...responses.comments import COMMENT
from ...responses.shared import api_url
from ...store import Json, Record
from .change_requests import CLOSED_STATUSES

AGENT = "agent"


def list_reviews(ctx: Context) -> Json:
    """List the reviews of a change request, optionally only outdated or only current ones."""
    request, outdated = ctx.change_request_from_path(), ctx.query.outdated
    reviews = [
        entry
        for entry in request.doc.get("reviews", [])
        if outdated in (None, entry["revision"] != request.doc["revision"])
    ]
    return page_by_index(
        ctx, reviews, lambda review: _review_response(ctx, request, review), lambda review: str(review["id"])
    )


def get_review(ctx: Context) -> Json:
    """Return the review that the path names. Raise 404 if it does not exist."""
    request, review_id = ctx.change_request_from_path(), ctx.params["reviewId"]
    for review in request.doc.get("reviews", []):
        if review["id"] == review_id:
            return _review_response(ctx, request, review)
    raise not_found("review", review_id)


def submit_review(ctx: Context) -> Json:
    """Submit a review, which replaces the caller's previous review.

    Raise 403 unless the caller is a requested reviewer or has the role `review`, and 409 if the change
    request is merged or archived.
    """
    request, body = ctx.change_request_from_path(), ctx.body
    space = ctx.space_from_path()
    is_requested = any(entry["user"] == ctx.user for entry in request.doc.get("requestedReviewers", []))
    if not is_requested and not is_at_least(ctx.role_on(space), "review"):
        raise ApiError(403, f"a review needs the role review on the space {space.id!r}, or a review request")
    if request.doc["status"] in CLOSED_STATUSES:
        raise conflict(f"the change request is {request.doc['status']}: there is nothing to review")
    reviews = request.doc.setdefault("reviews", [])
    review = next((entry for entry in reviews if entry.get("user") == ctx.user), None)
    if review is None:
        review = {"id": ctx.new_id("review"), "user": ctx.user, "createdAt": ctx.timestamp}
        reviews.append(review)
    review |= {"status": body.status, "revision": request.doc["revision"], "updatedAt": ctx.timestamp}
    if body.comment is not None:
        review["comment"] = _create_comment(ctx, request, body.sent_fields()["comment"])
    ctx.put(request)
    return _review_response(ctx, request, review)


def _create_comment(ctx: Context, request: Record, text: Json) -> str:
    """Post the comment of a review as a normal comment on the change request, and return its id."""
    body = text if "markdown" in text else {"document": stored_document(text)}
    doc = {
        "postedBy": ctx.user,
        "postedAt": ctx.timestamp,
        "body": body,
        "status": "open",
        "revision": request.doc["revision"],
    }
    comment = Record(COMMENT, ctx.new_id(COMMENT), doc, request.organization, request.scope, request.id)
    ctx.put(comment)
    return comment.id


def list_requested_reviewers(ctx: Context) -> Json:
    """List the users who were asked for a review."""
    reviewers = ctx.change_request_from_path().doc.get("requestedReviewers", [])
    return page_by_index(ctx, reviewers, lambda reviewer: _reviewer_response(ctx, reviewer))


def request_reviewers(ctx: Context) -> Json:
    """Request reviews. A user is requested only once. Raise 404 for a user who may not view the space."""
    request, fields = ctx.change_request_from_path(), ctx.body.sent_fields()
    space = ctx.space_from_path()
    reviewers = request.doc.setdefault("requestedReviewers", [])
    for user in fields["users"]:
        if ctx.load("user", user) is None or ctx.role_on(space, user) is None:
            raise not_found("body.users: user", user)
        if user not in [reviewer["user"] for reviewer in reviewers]:
            revision = request.doc["revision"]
            metadata = {"revision": revision, "requestedBy": ctx.user, "createdAt": ctx.timestamp}
            reviewers.append({"user": user, **metadata})
    if "subject" in fields:
        request.doc["subject"] = fields["subject"]
    if "description" in fields:
        request.doc["description"] = stored_document(fields["description"])
    request.doc["updatedAt"] = ctx.timestamp
    ctx.put(request)
    requested_users = set(fields["users"])
    return {
        "users": [
            _reviewer_response(ctx, reviewer) for reviewer in reviewers if reviewer["user"] in requested_users
        ]
    }


# --- answers --------------------------------------------------------------------------------------


def _review_response(ctx: Context, request: Record, review: Json) -> Json:
    """Return the answer for a review, with its comment and with the user who requested it."""
    user = review.get("user")
    reviewer_request = next(
        (entry for entry in request.doc.get("requestedReviewers", []) if entry["user"] == user), None
    )
    answer = {
        "object": "change-request-review",
        "id": review["id"],
        "revision": review["revision"],
        "reviewer": responses.user(ctx, user or AGENT),
        "status": review["status"],
        "createdAt": review["createdAt"],
        "updatedAt": review["updatedAt"],
    }
    if ctx.is_published_profile:
        path = f"/spaces/{request.scope}/change-requests/{request.id}/reviews/{review['id']}"
        answer["outdated"] = review["revision"] != request.doc["revision"]
        answer["urls"] = {"location": api_url(ctx, path)}
    if reviewer_request is not None:
        answer["requestedBy"] = responses.user(ctx, reviewer_request["requestedBy"])
    comment = ctx.store.get(COMMENT, review["comment"]) if "comment" in review else None
    if comment is not None:
        body_format = getattr(ctx.query, "format", "markdown")
        answer["comment"] = responses.comment(ctx, ctx.space_from_path(), comment, body_format)
    return answer


def _reviewer_response(ctx: Context, reviewer: Json) -> Json:
    """Return the answer for a requested reviewer."""
    return {
        "object": "change-request-requested-reviewer",
        "kind": "user",
        "user": responses.user(ctx, reviewer["user"]),
        "revision": reviewer["revision"],
        "requestedBy": responses.user(ctx, reviewer["requestedBy"]),
        "createdAt": reviewer["createdAt"],
    }
