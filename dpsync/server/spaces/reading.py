"""The content of a space or of a change request, as a caller reads it.

`metadata`, `computed` and `texts` select what the answers contain.
"""

from typing import Any

from msgspec import Struct, field

from ..content.tree import Page, find
from ..errors import missing
from ..request.context import Context
from ..store import Json, Record
from . import revisions


class ReadContent(Struct, frozen=True):
    ctx: Context
    space: Record
    revision: Record
    change_request: Record | None = None
    metadata: bool = True
    computed: bool = True
    texts: bool = True
    known: dict[str, Any] = field(default_factory=dict)
    """What was found out about it, once: answers are made of many pages."""

    @property
    def content(self) -> Json:
        return self.revision.doc

    def page(self, id: str) -> tuple[Page, tuple[Page, ...]]:
        found = find(self.content["pages"], id)
        if found is None:
            raise missing("page", id)
        return found

    def file(self, id: str) -> Json:
        found = next((file for file in self.content["files"] if file["id"] == id), None)
        if found is None:
            raise missing("file", id)
        return dict(found)


def of_space(ctx: Context, space: Record, **options: Any) -> ReadContent:
    return ReadContent(ctx, space, revisions.active(ctx.store, space), **options)


def of_change_request(ctx: Context, request: Record, **options: Any) -> ReadContent:
    space = ctx.load("space", request.scope)
    if space is None:
        raise LookupError(f"the change request {request.id!r} belongs to no space")
    revision = revisions.read(ctx.store, space, request.doc["revision"])
    return ReadContent(ctx, space, revision, request, **options)
