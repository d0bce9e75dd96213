"""Read, add and activate revisions (versions of the content of a space) in the store.

A space names its active revision. By default, the id of the active revision is `rev-SPACE`. If no record has
this id, the revision is empty, so a space without content needs no record. The column `scope` of a revision
is its space.
"""

from typing import Any

from ..request.context import Context
from ..store import Json, Record, Store

REVISION = "revision"
CONTENT_FIELDS = ("pages", "files", "reusableContents", "variables")
"""The members of a revision that are its content. The others say how it was made."""


def initial_revision_id(space: str) -> str:
    """Return the id of the first revision of a space."""
    return f"rev-{space}"


def active_revision_id(space: Record) -> str:
    """Return the id of the active revision of a space."""
    return str(space.doc.get("revision") or initial_revision_id(space.id))


def empty_content() -> Json:
    """Return a content without pages, files, reusable contents and variables."""
    return {"pages": [], "files": [], "reusableContents": [], "variables": {}}


def read_revision(store: Store, space: Record, id: str) -> Record:
    """Return a revision of a space. Raise LookupError if it does not exist."""
    revision = store.get(REVISION, id)
    if revision is not None and revision.scope == space.id:
        return revision
    if id != initial_revision_id(space.id):
        raise LookupError(f"the space {space.id!r} has no revision {id!r}")
    doc = {"type": "edits", "createdAt": space.doc["createdAt"], "parents": [], **empty_content()}
    return Record(REVISION, id, doc, space.organization, space.id)


def active_revision(store: Store, space: Record) -> Record:
    """Return the active revision of a space."""
    return read_revision(store, space, active_revision_id(space))


def revision_content(revision: Record) -> Json:
    """Return the content of a revision, without how it was made."""
    return {part: revision.doc[part] for part in CONTENT_FIELDS}


def add_revision(ctx: Context, space: Record, content: Json, parents: list[str], **metadata: Any) -> str:
    """Store a new revision and return its id. `metadata` has its `type` and related members."""
    id = ctx.new_id(REVISION)
    doc = {"createdAt": ctx.timestamp, "parents": parents, **metadata, **content}
    ctx.put(Record(REVISION, id, doc, space.organization, space.id))
    return id


def activate_revision(ctx: Context, space: Record, id: str) -> None:
    """Make a revision the active content of the space."""
    space.doc["revision"] = id
    space.doc["updatedAt"] = ctx.timestamp
    ctx.put(space)


def copy_active_revision(ctx: Context, source: Record, target: Record) -> None:
    """Copy the content of one space as the first revision of another space. Pages keep their ids."""
    revision = ctx.store.get(REVISION, active_revision_id(source))
    if revision is not None and revision.scope == source.id:
        doc = {"type": "edits", "createdAt": ctx.timestamp, "parents": [], **revision_content(revision)}
        ctx.put(Record(REVISION, initial_revision_id(target.id), doc, target.organization, target.id))


def is_outdated(space: Record, request: Json) -> bool:
    """Return whether the change request lacks newer main content. A merged one is never outdated."""
    return request["status"] != "merged" and merge_base_id(request) != active_revision_id(space)


def merge_base_id(request: Json) -> str:
    """Return the id of the main revision from which the change request started, or that it merged last."""
    return str(request.get("revisionMergedAncestor") or request["revisionInitial"])
