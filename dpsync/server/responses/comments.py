"""Make the response bodies for comments and replies.

The store has these columns: for a comment, `scope` is the space, `parent` the change request ("" for a
comment on the space itself), and `ref` the page. A reply has the same `scope`, and its `parent` is the
comment.
Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from collections.abc import Iterable
from urllib.parse import quote

from ..access.roles import is_at_least
from ..content.documents import stored_document
from ..content.markdown import to_markdown
from ..content.rich_text import to_document
from ..request.changes import is_same_json
from ..request.context import Context
from ..store import Json, Record, Store
from .people import user
from .shared import api_url, without_none

COMMENT = "comment"
REPLY = "comment-reply"


def comment(ctx: Context, space: Record, record: Record, body_format: str) -> Json:
    """Return the response body for a comment, with the number of replies and the users who replied."""
    doc = record.doc
    replies = ctx.store.find(REPLY, organization=record.organization, parent=record.id)
    answer = {
        "object": COMMENT,
        **_common_fields(ctx, space, record, body_format),
        "status": doc["status"],
        "replies": len(replies),
        "repliers": _count_replies_by_user(ctx, replies),
        "target": _target(record),
        "urls": {"location": _location(ctx, record)},
    }
    if doc["status"] == "resolved":
        answer["resolvedAt"] = doc["resolvedAt"]
        answer["resolvedBy"] = user(ctx, doc["resolvedBy"])
    return answer


def comment_reply(
    ctx: Context, space: Record, record: Record, parent_comment: Record, body_format: str
) -> Json:
    """Return the response body for a reply to a comment."""
    return {
        "object": REPLY,
        **_common_fields(ctx, space, record, body_format),
        "urls": {"location": f"{_location(ctx, parent_comment)}/replies/{record.id}"},
    }


def comment_permissions(ctx: Context, space: Record, record: Record) -> dict[str, bool]:
    """Return what a caller who may view the space may do with a comment or a reply."""
    level, author = ctx.role_on(space), record.doc["postedBy"] == ctx.user
    return {
        "view": True,
        "edit": author,
        "reply": is_at_least(level, "comment"),
        "delete": author or is_at_least(level, "admin"),
    }


def count_open_comments(store: Store, space: str, change_request: str = "") -> int:
    """Return the number of open comments on a space, or on one of its change requests."""
    comments = store.find(COMMENT, scope=space, parent=change_request)
    return sum(record.doc["status"] == "open" for record in comments)


def _common_fields(ctx: Context, space: Record, record: Record, body_format: str) -> Json:
    """Return the members that comments and replies share."""
    doc = record.doc
    return {
        "id": record.id,
        "postedBy": user(ctx, doc["postedBy"]),
        **without_none({"postedAt": doc["postedAt"], "editedAt": doc.get("editedAt")}),
        "reactions": _group_reactions(ctx, doc.get("reactions", [])),
        "body": _body_in_format(doc["body"], body_format),
        "permissions": comment_permissions(ctx, space, record),
    }


def _body_in_format(body: Json, body_format: str) -> Json:
    """Return the text of a comment in the requested form, whichever form it was written in."""
    if body_format in body:
        return {body_format: body[body_format]}
    if body_format == "document":
        return {"document": stored_document(to_document(body["markdown"]))}
    return {"markdown": to_markdown(body["document"]).rstrip("\n")}


def has_same_body(record: Record, body: Json) -> bool:
    """Return whether the text of a comment or reply equals the text of a request body."""
    return all(
        is_same_json(_body_in_format(record.doc["body"], body_format), {body_format: text})
        for body_format, text in body.items()
    )


def _group_reactions(ctx: Context, reactions: Iterable[Json]) -> list[Json]:
    """Return the reactions grouped by emoji, in the order in which each emoji was first used."""
    reactors_by_emoji: dict[str, list[Json]] = {}
    for reaction in reactions:
        reactor = {"user": user(ctx, reaction["user"]), "reactedAt": reaction["reactedAt"]}
        reactors_by_emoji.setdefault(reaction["emoji"], []).append(reactor)
    return [
        {"emoji": emoji, "count": len(reactors), "users": reactors}
        for emoji, reactors in reactors_by_emoji.items()
    ]


def _count_replies_by_user(ctx: Context, replies: Iterable[Record]) -> list[Json]:
    """Return the authors of the replies, in the order of their first replies."""
    times_by_user: dict[str, list[str]] = {}
    for reply in replies:
        updated_at = reply.doc.get("editedAt") or reply.doc["postedAt"]
        times_by_user.setdefault(reply.doc["postedBy"], []).append(updated_at)
    return [
        {"user": user(ctx, id), "count": len(times), "updatedAt": max(times)}
        for id, times in times_by_user.items()
    ]


def _target(record: Record) -> Json:
    """Return what a comment is about: the space, and the change request, page, node or cell if it has one."""
    target = {"space": record.scope, "revision": record.doc["revision"]}
    optional_fields = {
        "changeRequest": record.parent or None,
        "page": {"id": record.ref} if record.ref else None,
        "node": {"id": record.doc["node"]} if record.doc.get("node") else None,
        "tableCell": record.doc.get("tableCell"),
    }
    return {**target, **without_none(optional_fields)}


def _location(ctx: Context, comment: Record) -> str:
    """Return the API URL of a comment."""
    request = f"/change-requests/{quote(comment.parent)}" if comment.parent else ""
    return api_url(ctx, f"/spaces/{comment.scope}{request}/comments/{comment.id}")
