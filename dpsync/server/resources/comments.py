"""Declare the records of comments on spaces and change requests, and of replies to comments.

Output: a `RecordKind` for each, which says how the local server stores, loads and dumps its records.
The comment below shows the form in a world (the data that the local server starts with).
"""

# comments:                                                       # a body is markdown, or {document}
#   - id, space, changeRequest, page, node, tableCell, body, postedBy, postedAt, editedAt
#     status, resolvedAt, resolvedBy                              # default: open
#     reactions: [{emoji, user, reactedAt}]
#     replies: [{id, body, postedBy, postedAt, editedAt, reactions}]

from ..content.documents import stored_document
from ..records.record_kind import ColumnFilter, Dependency, RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, without_keys
from ..request.context import CHANGE_REQUEST
from ..responses.comments import COMMENT, REPLY
from ..spaces.revisions import active_revision_id
from ..store import Json, Record
from . import world_models

_LINK_FIELDS = ("id", "space", "changeRequest", "page", "replies")


def _load(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load comments from a world file (the server's initial data).

    Raise ValueError for an unknown space or change request.
    """
    for comment in loader.each_entry(entries):
        id, request_id = comment["space"], comment.get("changeRequest")
        space = loader.get("space", id) or loader.get("deleted-space", id)
        request = loader.get(CHANGE_REQUEST, request_id) if request_id else None
        if space is None or (request_id and request is None):
            organization_id = organization.id
            raise ValueError(f"a comment of {organization_id!r} refers to an unknown space or change request")
        revision = str(request.doc["revision"]) if request is not None else active_revision_id(space)
        _load_comment(loader, space, revision, comment)


def _load_comment(loader: WorldLoader, space: Record, revision: str, entry: Json) -> None:
    """Load a comment and its replies from a world file (the server's initial data)."""
    doc = {
        "status": "open",
        "revision": revision,
        **_make_message(loader, without_keys(entry, *_LINK_FIELDS)),
    }
    if doc["status"] == "resolved":
        doc = {"resolvedAt": doc["postedAt"], "resolvedBy": doc["postedBy"], **doc}
    id, request = loader.entry_id(COMMENT, entry), entry.get("changeRequest") or ""
    comment = Record(COMMENT, id, doc, space.organization, space.id, request, ref=entry.get("page") or "")
    loader.add(comment)
    for reply in loader.each_entry(entry.get("replies") or []):
        reply_doc = _make_message(loader, without_keys(reply, "id"))
        loader.add(Record(REPLY, loader.entry_id(REPLY, reply), reply_doc, space.organization, space.id, id))


def _make_message(loader: WorldLoader, fields: Json) -> Json:
    """Return the document of a comment or reply. Raise KeyError without `body` or `postedBy`."""
    body = fields["body"]
    if isinstance(body, dict) and "document" in body:
        body = {"document": stored_document(body["document"])}
    else:
        body = {"markdown": str(body.get("markdown", "") if isinstance(body, dict) else body)}
    doc = {"postedAt": loader.next_timestamp(), **fields, "body": body}
    doc["postedBy"] = fields["postedBy"]
    if "reactions" in doc:
        doc["reactions"] = [{"reactedAt": doc["postedAt"], **reaction} for reaction in doc["reactions"]]
    return doc


def _dump(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the comments in an organization, with replies, as a world file (initial data) has them."""
    replies: dict[str, list[Record]] = {}
    for reply in dumper.find_by_creation(REPLY, organization=organization.id):
        replies.setdefault(reply.parent, []).append(reply)
    comments = dumper.find_by_creation(COMMENT, organization=organization.id)
    return [_dump_comment(comment, replies.get(comment.id, [])) for comment in comments]


def _dump_comment(comment: Record, replies: list[Record]) -> Json:
    """Return the entry of a comment: its document, where it is, and its replies."""
    entry = {"id": comment.id, "space": comment.scope, **_dump_message(comment.doc)}
    if comment.parent:
        entry["changeRequest"] = comment.parent
    if comment.ref:
        entry["page"] = comment.ref
    if replies:
        entry["replies"] = [{"id": reply.id, **_dump_message(reply.doc)} for reply in replies]
    return entry


def _dump_message(doc: Json) -> Json:
    """Return the document of a comment or reply, with Markdown as a plain text."""
    return {**doc, "body": doc["body"].get("markdown", doc["body"])}


def _by_comment(comment: Record) -> ColumnFilter:
    """Match the replies to a comment."""
    return {"organization": comment.organization, "parent": comment.id}


RECORD_KINDS = (
    RecordKind(
        COMMENT,
        id_prefix="comment",
        owner="space",
        world_section=WorldSection("comments", _load, _dump, value_type=list[world_models.Comment]),
    ),
    RecordKind(REPLY, id_prefix="reply", owner="space", depends_on=(Dependency(COMMENT, _by_comment),)),
)
