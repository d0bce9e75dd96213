"""Operations on the reviews of a change request and its requested reviewers.

The change request contains both: `reviews`, the latest review of each reviewer, and `requestedReviewers`. A
review without a user belongs to the agent.
"""

from ... import answers
from ...access.roles import reaches
from ...answers.comments import COMMENT
from ...answers.shared import located
from ...content.documents import stored_document
from ...errors import ApiError, conflict, missing
from ...request.context import Context
from ...request.paging import numbered_page
from ...store import Json, Record
from .change_requests import DONE

AGENT = "agent"


def list_reviews(ctx: Context) -> Json:
    request, outdated = ctx.change_request(), ctx.query.outdated
    found = [
        review
        for review in request.doc.get("reviews", [])
        if outdated in (None, review["revision"] != request.doc["revision"])
    ]
    return numbered_page(ctx, found, lambda one: _review(ctx, request, one), lambda one: str(one["id"]))


def get_review(ctx: Context) -> Json:
    request, named = ctx.change_request(), ctx.params["reviewId"]
    for review in request.doc.get("reviews", []):
        if review["id"] == named:
            return _review(ctx, request, review)
    raise missing("review", named)


def submit(ctx: Context) -> Json:
    """Submit a review, which replaces the caller's previous review.

    Raise 403 unless the caller is a requested reviewer or has the role `review`, and 409 if the change
    request is merged or archived.
    """
    request, body = ctx.change_request(), ctx.body
    space = ctx.space()
    asked = any(one["user"] == ctx.user for one in request.doc.get("requestedReviewers", []))
    if not asked and not reaches(ctx.level(space), "review"):
        raise ApiError(403, f"a review needs the role review on the space {space.id!r}, or a review request")
    if request.doc["status"] in DONE:
        raise conflict(f"the change request is {request.doc['status']}: there is nothing to review")
    reviews = request.doc.setdefault("reviews", [])
    review = next((one for one in reviews if one.get("user") == ctx.user), None)
    if review is None:
        review = {"id": ctx.new_id("review"), "user": ctx.user, "createdAt": ctx.stamp}
        reviews.append(review)
    review |= {"status": body.status, "revision": request.doc["revision"], "updatedAt": ctx.stamp}
    if body.comment is not None:
        review["comment"] = _comment(ctx, request, body.given()["comment"])
    ctx.put(request)
    return _review(ctx, request, review)


def _comment(ctx: Context, request: Record, given: Json) -> str:
    """Post the comment of a review as a normal comment on the change request, and return its id."""
    body = given if "markdown" in given else {"document": stored_document(given)}
    doc = {
        "postedBy": ctx.user,
        "postedAt": ctx.stamp,
        "body": body,
        "status": "open",
        "revision": request.doc["revision"],
    }
    made = Record(COMMENT, ctx.new_id(COMMENT), doc, request.organization, request.scope, request.id)
    ctx.put(made)
    return made.id


def list_requested(ctx: Context) -> Json:
    asked = ctx.change_request().doc.get("requestedReviewers", [])
    return numbered_page(ctx, asked, lambda one: _requested(ctx, one))


def request_reviewers(ctx: Context) -> Json:
    """Request reviews. A user is requested only once. Raise 404 for a user who may not view the space."""
    request, given = ctx.change_request(), ctx.body.given()
    space = ctx.space()
    asked = request.doc.setdefault("requestedReviewers", [])
    for user in given["users"]:
        if ctx.load("user", user) is None or ctx.level(space, user) is None:
            raise missing("body.users: user", user)
        if user not in [one["user"] for one in asked]:
            revision = request.doc["revision"]
            about = {"revision": revision, "requestedBy": ctx.user, "createdAt": ctx.stamp}
            asked.append({"user": user, **about})
    if "subject" in given:
        request.doc["subject"] = given["subject"]
    if "description" in given:
        request.doc["description"] = stored_document(given["description"])
    request.doc["updatedAt"] = ctx.stamp
    ctx.put(request)
    named = set(given["users"])
    return {"users": [_requested(ctx, one) for one in asked if one["user"] in named]}


# --- answers --------------------------------------------------------------------------------------


def _review(ctx: Context, request: Record, review: Json) -> Json:
    user = review.get("user")
    asked = next((one for one in request.doc.get("requestedReviewers", []) if one["user"] == user), None)
    answer = {
        "object": "change-request-review",
        "id": review["id"],
        "revision": review["revision"],
        "reviewer": answers.user(ctx, user or AGENT),
        "status": review["status"],
        "createdAt": review["createdAt"],
        "updatedAt": review["updatedAt"],
    }
    if ctx.published:
        at = f"/spaces/{request.scope}/change-requests/{request.id}/reviews/{review['id']}"
        answer["outdated"] = review["revision"] != request.doc["revision"]
        answer["urls"] = {"location": located(ctx, at)}
    if asked is not None:
        answer["requestedBy"] = answers.user(ctx, asked["requestedBy"])
    comment = ctx.store.get(COMMENT, review["comment"]) if "comment" in review else None
    if comment is not None:
        form = getattr(ctx.query, "format", "markdown")
        answer["comment"] = answers.comment(ctx, ctx.space(), comment, form)
    return answer


def _requested(ctx: Context, one: Json) -> Json:
    return {
        "object": "change-request-requested-reviewer",
        "kind": "user",
        "user": answers.user(ctx, one["user"]),
        "revision": one["revision"],
        "requestedBy": answers.user(ctx, one["requestedBy"]),
        "createdAt": one["createdAt"],
    }
