"""Comments on spaces and change requests, each with its replies.

A body is written as its markdown, or as the mapping that the API takes.
"""

from typing import Any

from ..answers.comments import COMMENT, REPLY
from ..content.revisions import active_id
from ..context import CHANGE_REQUEST
from ..documents import stored_document
from ..store import Record, Store
from .loading import Json, Loading, Part, but, created

_LINKS = ("id", "space", "changeRequest", "page", "replies")
_SPACES = ("space", "deleted-space")


def _load(loading: Loading, organization: str, given: list[Json]) -> None:
    """ValueError: one on a space or a change request that is not there."""
    kinds = (*_SPACES, CHANGE_REQUEST)
    known = {record.id: record for record in loading.records if record.kind in kinds}
    for comment in given:
        space = known.get(comment["space"])
        request = known.get(comment["changeRequest"]) if comment.get("changeRequest") else None
        if space is None or space.kind not in _SPACES or (comment.get("changeRequest") and request is None):
            raise ValueError(f"a comment of {organization!r} is on an unknown space or change request")
        revision = str(request.doc["revision"]) if request is not None else active_id(space)
        _comment(loading, space, revision, comment)


def _comment(loading: Loading, space: Record, revision: str, given: Json) -> None:
    doc = {"status": "open", "revision": revision, **_written(loading, but(given, *_LINKS))}
    if doc["status"] == "resolved":
        doc = {"resolvedAt": doc["postedAt"], "resolvedBy": doc["postedBy"], **doc}
    id, request = loading.id(COMMENT, given), given.get("changeRequest") or ""
    made = Record(COMMENT, id, doc, space.organization, space.id, request, ref=given.get("page") or "")
    loading.add(made)
    for reply in given.get("replies") or []:
        said = _written(loading, but(reply, "id"))
        loading.add(Record(REPLY, loading.id(REPLY, reply), said, space.organization, space.id, id))


def _written(loading: Loading, given: Json) -> Json:
    """KeyError: nobody has said it, or nothing was."""
    doc = {"postedAt": loading.then(), **given, "body": _body(given["body"])}
    doc["postedBy"] = given["postedBy"]
    if "reactions" in doc:
        doc["reactions"] = [{"reactedAt": doc["postedAt"], **reaction} for reaction in doc["reactions"]]
    return doc


def _body(given: Any) -> Json:
    if isinstance(given, dict) and "document" in given:
        return {"document": stored_document(given["document"])}
    return {"markdown": str(given.get("markdown", "") if isinstance(given, dict) else given)}


def _dump(store: Store, organization: str) -> list[Json]:
    replies: dict[str, list[Record]] = {}
    for reply in created(store, REPLY, organization=organization):
        replies.setdefault(reply.parent, []).append(reply)
    found = created(store, COMMENT, organization=organization)
    return [_told(comment, replies.get(comment.id, [])) for comment in found]


def _told(found: Record, replies: list[Record]) -> Json:
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


PARTS = (Part("comments", _load, _dump),)
