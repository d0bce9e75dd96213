"""Comments on spaces and change requests, each with its replies.

comments:                                                       # a body is markdown, or {document}
  - id, space, changeRequest, page, node, tableCell, body, postedBy, postedAt, editedAt
    status, resolvedAt, resolvedBy                              # default: open
    reactions: [{emoji, user, reactedAt}]
    replies: [{id, body, postedBy, postedAt, editedAt, reactions}]
"""

from typing import Any

from ..content.documents import stored_document
from ..records.record_kind import ColumnFilter, Dependency, RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, without_keys
from ..request.context import CHANGE_REQUEST
from ..responses.comments import COMMENT, REPLY
from ..spaces.revisions import active_revision_id
from ..store import Json, Record
from . import world_models

_LINK_FIELDS = ("id", "space", "changeRequest", "page", "replies")


def _load(loader: WorldLoader, organization: Record, given: list[Json]) -> None:
    """Load comments. Raise ValueError for a comment on an unknown space or change request."""
    for comment in loader.each_entry(given):
        id, named = comment["space"], comment.get("changeRequest")
        space = loader.get("space", id) or loader.get("deleted-space", id)
        request = loader.get(CHANGE_REQUEST, named) if named else None
        if space is None or (named and request is None):
            of = organization.id
            raise ValueError(f"a comment of {of!r} refers to an unknown space or change request")
        revision = str(request.doc["revision"]) if request is not None else active_revision_id(space)
        _load_comment(loader, space, revision, comment)


def _load_comment(loader: WorldLoader, space: Record, revision: str, given: Json) -> None:
    doc = {
        "status": "open",
        "revision": revision,
        **_make_message(loader, without_keys(given, *_LINK_FIELDS)),
    }
    if doc["status"] == "resolved":
        doc = {"resolvedAt": doc["postedAt"], "resolvedBy": doc["postedBy"], **doc}
    id, request = loader.entry_id(COMMENT, given), given.get("changeRequest") or ""
    made = Record(COMMENT, id, doc, space.organization, space.id, request, ref=given.get("page") or "")
    loader.add(made)
    for reply in loader.each_entry(given.get("replies") or []):
        said = _make_message(loader, without_keys(reply, "id"))
        loader.add(Record(REPLY, loader.entry_id(REPLY, reply), said, space.organization, space.id, id))


def _make_message(loader: WorldLoader, given: Json) -> Json:
    """Return the document of a comment or reply. Raise KeyError without `body` or `postedBy`."""
    doc = {"postedAt": loader.next_timestamp(), **given, "body": _make_body(given["body"])}
    doc["postedBy"] = given["postedBy"]
    if "reactions" in doc:
        doc["reactions"] = [{"reactedAt": doc["postedAt"], **reaction} for reaction in doc["reactions"]]
    return doc


def _make_body(given: Any) -> Json:
    if isinstance(given, dict) and "document" in given:
        return {"document": stored_document(given["document"])}
    return {"markdown": str(given.get("markdown", "") if isinstance(given, dict) else given)}


def _dump(dumper: WorldDumper, organization: Record) -> list[Json]:
    replies: dict[str, list[Record]] = {}
    for reply in dumper.find_by_creation(REPLY, organization=organization.id):
        replies.setdefault(reply.parent, []).append(reply)
    found = dumper.find_by_creation(COMMENT, organization=organization.id)
    return [_dump_comment(comment, replies.get(comment.id, [])) for comment in found]


def _dump_comment(found: Record, replies: list[Record]) -> Json:
    made = {"id": found.id, "space": found.scope, **_dump_message(found.doc)}
    if found.parent:
        made["changeRequest"] = found.parent
    if found.ref:
        made["page"] = found.ref
    if replies:
        made["replies"] = [{"id": reply.id, **_dump_message(reply.doc)} for reply in replies]
    return made


def _dump_message(doc: Json) -> Json:
    return {**doc, "body": doc["body"].get("markdown", doc["body"])}


def _by_comment(comment: Record) -> ColumnFilter:
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
