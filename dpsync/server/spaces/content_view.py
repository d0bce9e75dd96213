"""Read the content of a space or of a change request, as a caller may see it.

`view_space` and `view_change_request` return a `ContentView`. Its flags `metadata`, `computed` and
`include_texts` select what the responses contain.
"""

from typing import Any

from msgspec import Struct, field

from ..content.page_tree import Page, find_page
from ..errors import not_found
from ..request.context import Context
from ..store import Json, Record
from . import revisions


class ContentView(Struct, frozen=True):
    """The revision of a space or change request that a request reads, and what its answer contains."""

    ctx: Context
    space: Record
    revision: Record
    change_request: Record | None = None
    metadata: bool = True
    computed: bool = True
    include_texts: bool = True
    cache: dict[str, Any] = field(default_factory=dict)
    """Values that many pages of a response need and that are computed once."""

    @property
    def content(self) -> Json:
        """Return the content: pages, files, reusable contents and variables."""
        return self.revision.doc

    def require_page(self, id: str) -> tuple[Page, tuple[Page, ...]]:
        """Return a page and its ancestors. Raise 404."""
        entry = find_page(self.content["pages"], id)
        if entry is None:
            raise not_found("page", id)
        return entry

    def require_file(self, id: str) -> Json:
        """Return a file. Raise 404."""
        matching = next((file for file in self.content["files"] if file["id"] == id), None)
        if matching is None:
            raise not_found("file", id)
        return dict(matching)


def view_space(ctx: Context, space: Record, **options: Any) -> ContentView:
    """Return the active content of a space."""
    return ContentView(ctx, space, revisions.active_revision(ctx.store, space), **options)


def view_change_request(ctx: Context, request: Record, **options: Any) -> ContentView:
    """Return the content of a change request."""
    space = ctx.load("space", request.scope)
    if space is None:
        raise LookupError(f"the change request {request.id!r} belongs to no space")
    revision = revisions.read_revision(ctx.store, space, request.doc["revision"])
    return ContentView(ctx, space, revision, request, **options)
