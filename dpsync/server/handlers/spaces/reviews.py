"""Operations on the reviews of a change request and its requested reviewers.

The change request contains both: `reviews`, the latest review of each reviewer, and `requestedReviewers`. A
review without a user belongs to the agent.
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
    request, outdated = ctx.change_request_from_path(), ctx.query.outdated
    found = [
        review
        for review in request.doc.get("reviews", [])
        if outdated in (None, review["revision"] != request.doc["revision"])
    ]
    return page_by_index(
        ctx, found, lambda one: _review_response(ctx, request, one), lambda one: str(one["id"])
    )


def get_review(ctx: Context) -> Json:
    request, named = ctx.change_request_from_path(), ctx.params["reviewId"]
    for review in request.doc.get("reviews", []):
        if review["id"] == named:
            return _review_response(ctx, request, review)
    raise not_found("review", named)


def submit_review(ctx: Context) -> Json:
    """Submit a review, which replaces the caller's previous review.

    Raise 403 unless the caller is a requested reviewer or has the role `review`, and 409 if the change
    request is merged or archived.
    """
    request, body = ctx.change_request_from_path(), ctx.body
    space = ctx.space_from_path()
    asked = any(one["user"] == ctx.user for one in request.doc.get("requestedReviewers", []))
    if not asked and not is_at_least(ctx.role_on(space), "review"):
        raise ApiError(403, f"a review needs the role review on the space {space.id!r}, or a review request")
    if request.doc["status"] in CLOSED_STATUSES:
        raise conflict(f"the change request is {request.doc['status']}: there is nothing to review")
    reviews = request.doc.setdefault("reviews", [])
    review = next((one for one in reviews if one.get("user") == ctx.user), None)
    if review is None:
        review = {"id": ctx.new_id("review"), "user": ctx.user, "createdAt": ctx.timestamp}
        reviews.append(review)
    review |= {"status": body.status, "revision": request.doc["revision"], "updatedAt": ctx.timestamp}
    if body.comment is not None:
        review["comment"] = _create_comment(ctx, request, body.sent_fields()["comment"])
    ctx.put(request)
    return _review_response(ctx, request, review)


def _create_comment(ctx: Context, request: Record, given: Json) -> str:
    """Post the comment of a review as a normal comment on the change request, and return its id."""
    body = given if "markdown" in given else {"document": stored_document(given)}
    doc = {
        "postedBy": ctx.user,
        "postedAt": ctx.timestamp,
        "body": body,
        "status": "open",
        "revision": request.doc["revision"],
    }
    made = Record(COMMENT, ctx.new_id(COMMENT), doc, request.organization, request.scope, request.id)
    ctx.put(made)
    return made.id


def list_requested_reviewers(ctx: Context) -> Json:
    asked = ctx.change_request_from_path().doc.get("requestedReviewers", [])
    return page_by_index(ctx, asked, lambda one: _reviewer_response(ctx, one))


def request_reviewers(ctx: Context) -> Json:
    """Request reviews. A user is requested only once. Raise 404 for a user who may not view the space."""
    request, given = ctx.change_request_from_path(), ctx.body.sent_fields()
    space = ctx.space_from_path()
    asked = request.doc.setdefault("requestedReviewers", [])
    for user in given["users"]:
        if ctx.load("user", user) is None or ctx.role_on(space, user) is None:
            raise not_found("body.users: user", user)
        if user not in [one["user"] for one in asked]:
            revision = request.doc["revision"]
            about = {"revision": revision, "requestedBy": ctx.user, "createdAt": ctx.timestamp}
            asked.append({"user": user, **about})
    if "subject" in given:
        request.doc["subject"] = given["subject"]
    if "description" in given:
        request.doc["description"] = stored_document(given["description"])
    request.doc["updatedAt"] = ctx.timestamp
    ctx.put(request)
    named = set(given["users"])
    return {"users": [_reviewer_response(ctx, one) for one in asked if one["user"] in named]}


# --- answers --------------------------------------------------------------------------------------


def _review_response(ctx: Context, request: Record, review: Json) -> Json:
    user = review.get("user")
    asked = next((one for one in request.doc.get("requestedReviewers", []) if one["user"] == user), None)
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
        at = f"/spaces/{request.scope}/change-requests/{request.id}/reviews/{review['id']}"
        answer["outdated"] = review["revision"] != request.doc["revision"]
        answer["urls"] = {"location": api_url(ctx, at)}
    if asked is not None:
        answer["requestedBy"] = responses.user(ctx, asked["requestedBy"])
    comment = ctx.store.get(COMMENT, review["comment"]) if "comment" in review else None
    if comment is not None:
        form = getattr(ctx.query, "format", "markdown")
        answer["comment"] = responses.comment(ctx, ctx.space_from_path(), comment, form)
    return answer


def _reviewer_response(ctx: Context, one: Json) -> Json:
    return {
        "object": "change-request-requested-reviewer",
        "kind": "user",
        "user": responses.user(ctx, one["user"]),
        "revision": one["revision"],
        "requestedBy": responses.user(ctx, one["requestedBy"]),
        "createdAt": one["createdAt"],
    }
