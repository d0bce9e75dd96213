"""Comments on spaces and change requests, each with its replies.

comments:                                                       # a body is markdown, or {document}
  - id, space, changeRequest, page, node, tableCell, body, postedBy, postedAt, editedAt
    status, resolvedAt, resolvedBy                              # default: open
    reactions: [{emoji, user, reactedAt}]
    replies: [{id, body, postedBy, postedAt, editedAt, reactions}]
"""

from typing import Any

from ..answers.comments import COMMENT, REPLY
from ..content.documents import stored_document
from ..records.family import Columns, Dependency, Family
from ..records.world_format import Dumping, Loading, WorldSection, but
from ..request.context import CHANGE_REQUEST
from ..spaces.revisions import active_id
from ..store import Json, Record
from . import shapes

_LINKS = ("id", "space", "changeRequest", "page", "replies")


def _load(loading: Loading, organization: Record, given: list[Json]) -> None:
    """Load comments. Raise ValueError for a comment on an unknown space or change request."""
    for comment in loading.each(given):
        id, named = comment["space"], comment.get("changeRequest")
        space = loading.get("space", id) or loading.get("deleted-space", id)
        request = loading.get(CHANGE_REQUEST, named) if named else None
        if space is None or (named and request is None):
            of = organization.id
            raise ValueError(f"a comment of {of!r} refers to an unknown space or change request")
        revision = str(request.doc["revision"]) if request is not None else active_id(space)
        _comment(loading, space, revision, comment)


def _comment(loading: Loading, space: Record, revision: str, given: Json) -> None:
    doc = {"status": "open", "revision": revision, **_written(loading, but(given, *_LINKS))}
    if doc["status"] == "resolved":
        doc = {"resolvedAt": doc["postedAt"], "resolvedBy": doc["postedBy"], **doc}
    id, request = loading.id(COMMENT, given), given.get("changeRequest") or ""
    made = Record(COMMENT, id, doc, space.organization, space.id, request, ref=given.get("page") or "")
    loading.add(made)
    for reply in loading.each(given.get("replies") or []):
        said = _written(loading, but(reply, "id"))
        loading.add(Record(REPLY, loading.id(REPLY, reply), said, space.organization, space.id, id))


def _written(loading: Loading, given: Json) -> Json:
    """Return the document of a comment or reply. Raise KeyError without `body` or `postedBy`."""
    doc = {"postedAt": loading.then(), **given, "body": _body(given["body"])}
    doc["postedBy"] = given["postedBy"]
    if "reactions" in doc:
        doc["reactions"] = [{"reactedAt": doc["postedAt"], **reaction} for reaction in doc["reactions"]]
    return doc


def _body(given: Any) -> Json:
    if isinstance(given, dict) and "document" in given:
        return {"document": stored_document(given["document"])}
    return {"markdown": str(given.get("markdown", "") if isinstance(given, dict) else given)}


def _dump(dumping: Dumping, organization: Record) -> list[Json]:
    replies: dict[str, list[Record]] = {}
    for reply in dumping.created(REPLY, organization=organization.id):
        replies.setdefault(reply.parent, []).append(reply)
    found = dumping.created(COMMENT, organization=organization.id)
    return [_entry(comment, replies.get(comment.id, [])) for comment in found]


def _entry(found: Record, replies: list[Record]) -> Json:
    made = {"id": found.id, "space": found.scope, **_readable(found.doc)}
    if found.parent:
        made["changeRequest"] = found.parent
    if found.ref:
        made["page"] = found.ref
    if replies:
        made["replies"] = [{"id": reply.id, **_readable(reply.doc)} for reply in replies]
    return made


def _readable(doc: Json) -> Json:
    return {**doc, "body": doc["body"].get("markdown", doc["body"])}


def _in_comment(comment: Record) -> Columns:
    return {"organization": comment.organization, "parent": comment.id}


FAMILIES = (
    Family(
        COMMENT,
        prefix="comment",
        owner="space",
        world=WorldSection("comments", _load, _dump, shape=list[shapes.Comment]),
    ),
    Family(REPLY, prefix="reply", owner="space", depends_on=(Dependency(COMMENT, _in_comment),)),
)
