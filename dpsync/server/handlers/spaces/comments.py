"""Handle the API operations on comments and replies, on a space or on a change request.

Everyone who may view the space can read comments. The role `comment` allows posting, replying, reacting and
resolving. Only the author may change a text; the author or an admin of the space may delete it.
"""

from typing import Any

from ... import responses
from ...content import page_tree
from ...content.documents import stored_document
from ...errors import ApiError, not_found
from ...request.context import Context
from ...request.paging import list_page, page_by_creation
from ...responses.comments import COMMENT, REPLY, comment_permissions
from ...spaces.revisions import active_revision_id, read_revision, revision_content
from ...store import Json, Record


def _require_discussion(ctx: Context) -> tuple[Record, Record | None]:
    """Return the space, and the change request that the path names, or None."""
    if "changeRequestId" in ctx.params:
        request = ctx.change_request_from_path()
        return ctx.space_from_path(), request
    return ctx.space_from_path(), None


def _comment_parent(request: Record | None) -> str:
    """Return the `parent` of comments on the change request, or on the space itself."""
    return request.id if request is not None else ""


def _find_comment(ctx: Context) -> tuple[Record, Record | None]:
    """Return the space, and the comment that the path names, or None."""
    space, request = _require_discussion(ctx)
    comment = ctx.store.get(COMMENT, ctx.params["commentId"])
    if comment is None or (comment.scope, comment.parent) != (space.id, _comment_parent(request)):
        return space, None
    return space, comment


def _require_comment(ctx: Context) -> tuple[Record, Record]:
    """Return the space, and the comment that the path names. Raise 404 if it does not exist."""
    space, comment = _find_comment(ctx)
    if comment is None:
        raise not_found("comment", ctx.params["commentId"])
    return space, comment


def _find_reply(ctx: Context, comment: Record) -> Record | None:
    """Return the reply to a comment that the path names, or None."""
    reply = ctx.store.get(REPLY, ctx.params["commentReplyId"])
    return reply if reply is not None and reply.parent == comment.id else None


def _require_reply(ctx: Context) -> tuple[Record, Record, Record]:
    """Return the space, the comment, and the reply that the path names. Raise 404."""
    space, comment = _require_comment(ctx)
    reply = _find_reply(ctx, comment)
    if reply is None:
        raise not_found("reply", ctx.params["commentReplyId"])
    return space, comment, reply


# --- comments ---------------------------------------------------------------------------------------


def _sort_key(comment: Record) -> list[Any]:
    """Return the sort key of a comment: by time, then by order of creation."""
    return [comment.doc["postedAt"], comment.seq]


def list_comments(ctx: Context) -> Json:
    """List the comments on a space or change request, filtered and sorted as the query asks."""
    space, request = _require_discussion(ctx)
    query, latest_first = ctx.query, ctx.query.order == "desc"
    page_filter = {"ref": query.targetPage} if query.targetPage else {}
    comments = [
        comment
        for comment in ctx.store.find(COMMENT, scope=space.id, parent=_comment_parent(request), **page_filter)
        if query.status in ("all", comment.doc["status"])
        and (query.authors is None or comment.doc["postedBy"] in query.authors)
    ]
    comments.sort(key=_sort_key, reverse=latest_first)

    def render(comment: Record) -> Json:
        return responses.comment(ctx, space, comment, query.format)

    return list_page(ctx, comments, render, _sort_key, descending=latest_first)


def post_comment(ctx: Context) -> Json:
    """Post a comment on a space or change request, or on one of its pages. Raise 404 for an unknown page."""
    space, request = _require_discussion(ctx)
    fields = ctx.body.sent_fields()
    revision = active_revision_id(space) if request is None else str(request.doc["revision"])
    if "page" in fields:
        _check_page(ctx, space, revision, fields["page"])
    doc = {
        **_body_from_request(ctx),
        "status": "open",
        "revision": revision,
        **{name: fields[name] for name in ("node", "tableCell") if name in fields},
    }
    comment = Record(
        COMMENT, ctx.new_id(COMMENT), doc, space.organization, space.id, _comment_parent(request)
    )
    comment.ref = fields.get("page", "")
    ctx.put(comment)
    return responses.comment(ctx, space, comment, "markdown")


def _check_page(ctx: Context, space: Record, revision: str, id: str) -> None:
    """Raise 404 if the page does not exist, unless the space has no pages.

    A world may omit the content of a space. Then any page id is accepted.
    """
    pages = revision_content(read_revision(ctx.store, space, revision))["pages"]
    if pages and page_tree.find_page(pages, id) is None:
        raise not_found("body.page: page", id)


def get_comment(ctx: Context) -> Json:
    """Return the comment that the path names."""
    space, comment = _require_comment(ctx)
    return responses.comment(ctx, space, comment, ctx.query.format)


def update_comment(ctx: Context) -> Json:
    """Change the text or the reactions of a comment, resolve the comment, or reopen it.

    Resolving a resolved comment keeps its time and user.
    """
    space, comment = _require_comment(ctx)
    resolved, doc = ctx.body.resolved, comment.doc
    if resolved is not None:
        ctx.require_role(space, "comment")
        if not resolved:
            doc["status"] = "open"
            doc.pop("resolvedAt", None)
            doc.pop("resolvedBy", None)
        elif doc["status"] == "open":
            doc |= {"status": "resolved", "resolvedAt": ctx.timestamp, "resolvedBy": ctx.user}
    _apply_changes(ctx, space, comment)
    return responses.comment(ctx, space, comment, "markdown")


def delete_comment(ctx: Context) -> None:
    """Delete a comment with its replies."""
    space, comment = _find_comment(ctx)
    if comment is None:
        return
    _require_permission(ctx, space, comment, "delete")
    ctx.remove(comment)


# --- replies ----------------------------------------------------------------------------------------


def list_replies(ctx: Context) -> Json:
    """List the replies to a comment in order of creation."""
    space, comment = _require_comment(ctx)

    def render(reply: Record) -> Json:
        return responses.comment_reply(ctx, space, reply, comment, ctx.query.format)

    return page_by_creation(ctx, REPLY, render, organization=comment.organization, parent=comment.id)


def post_reply(ctx: Context) -> Json:
    """Post a reply. Only the operation on change requests has the parameter `format`."""
    space, comment = _require_comment(ctx)
    reply = Record(
        REPLY, ctx.new_id(REPLY), _body_from_request(ctx), space.organization, space.id, comment.id
    )
    ctx.put(reply)
    body_format = getattr(ctx.query, "format", "markdown")
    return responses.comment_reply(ctx, space, reply, comment, body_format)


def get_reply(ctx: Context) -> Json:
    """Return the reply that the path names."""
    space, comment, reply = _require_reply(ctx)
    return responses.comment_reply(ctx, space, reply, comment, ctx.query.format)


def update_reply(ctx: Context) -> Json:
    """Change the text or the reactions of a reply."""
    space, comment, reply = _require_reply(ctx)
    _apply_changes(ctx, space, reply)
    return responses.comment_reply(ctx, space, reply, comment, "markdown")


def delete_reply(ctx: Context) -> None:
    """Delete a reply. It is not an error if it does not exist."""
    space, comment = _require_comment(ctx)
    reply = _find_reply(ctx, comment)
    if reply is not None:
        _require_permission(ctx, space, reply, "delete")
        ctx.remove(reply)


# --- what both have ---------------------------------------------------------------------------------


def _require_permission(ctx: Context, space: Record, record: Record, flag: str) -> None:
    """Raise 403 unless the caller has the permission that the answer shows."""
    if not comment_permissions(ctx, space, record)[flag]:
        kind = "comment" if record.kind == COMMENT else "reply"
        who = "its author" if flag == "edit" else "its author or an admin of the space"
        raise ApiError(403, f"only {who} can {flag} the {kind} {record.id!r}")


def _body_from_request(ctx: Context) -> Json:
    """Return the author, the time and the text of a new comment or reply."""
    body = _stored_body(ctx.body.sent_fields()["body"])
    return {"postedBy": ctx.user, "postedAt": ctx.timestamp, "body": body}


def _stored_body(body: Json) -> Json:
    """Return the text of a comment as it is stored: `{document}` or `{markdown}`."""
    if "document" in body:
        return {"document": stored_document(body["document"])}
    return {"markdown": body.get("markdown", "")}


def _apply_changes(ctx: Context, space: Record, record: Record) -> None:
    """Change the text, if the caller is the author, and the caller's own reactions."""
    fields = ctx.body.sent_fields()
    if "body" in fields and not responses.has_same_body(record, body := _stored_body(fields["body"])):
        _require_permission(ctx, space, record, "edit")
        record.doc |= {"body": body, "editedAt": ctx.timestamp}
    if ctx.body.addedReactions or ctx.body.removedReactions:
        ctx.require_role(space, "comment")
        record.doc["reactions"] = _update_reactions(ctx, record.doc.get("reactions", []))
    ctx.put(record)


def _update_reactions(ctx: Context, before: list[Json]) -> list[Json]:
    """Return the reactions with those of the caller updated, one per emoji and user.

    An emoji that is both added and removed is removed.
    """
    own_emojis = {reaction["emoji"] for reaction in before if reaction["user"] == ctx.user}
    added = [emoji for emoji in dict.fromkeys(ctx.body.addedReactions) if emoji not in own_emojis]
    removed = set(ctx.body.removedReactions)
    after = [*before, *({"emoji": emoji, "user": ctx.user, "reactedAt": ctx.timestamp} for emoji in added)]
    return [
        reaction for reaction in after if reaction["user"] != ctx.user or reaction["emoji"] not in removed
    ]
