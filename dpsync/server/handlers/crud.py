"""Build the handlers of ordinary resources, which can be listed, created, read, updated and deleted.

Input: a `RecordKind` that declares a `CrudResource` (`resources/`). Output: `CrudHandlers`, whose methods are
the handlers of the rows that `operations/builders.py` makes.
"""

from typing import Any

from msgspec import Struct

from ..errors import not_found
from ..records.record_kind import CrudResource, RecordKind
from ..request.context import Context
from ..request.paging import page_by_creation
from ..store import Json, Record

_OWNER_LOADERS = {"organization": Context.organization_from_path, "site": Context.site_from_path}
"""The functions that return the owner that the path names, by kind of owner."""


class CrudHandlers(Struct, frozen=True):
    """The handlers list, create, get, update and delete of one kind of record, declared by its `crud`."""

    record_kind: RecordKind

    @property
    def _resource(self) -> CrudResource:
        """Return the declaration of the API of this kind. Raise LookupError if the kind has none."""
        if self.record_kind.crud is None:
            raise LookupError(f"the family {self.record_kind.name} is not served as an ordinary resource")
        return self.record_kind.crud

    def _owner(self, ctx: Context) -> Record:
        """Return the organization or site that the path names.

        Raise ApiError if the caller may not use it.
        """
        return _OWNER_LOADERS[self.record_kind.owner](ctx)

    def _find(self, ctx: Context) -> Record | None:
        """Return the resource that the path names, or None if its owner has no such resource."""
        owner, record = self._owner(ctx), ctx.store.get(self.record_kind.name, self._id_from_path(ctx))
        return record if record is not None and record.scope == owner.id else None

    def _require(self, ctx: Context) -> Record:
        """Return the resource that the path names. Raise 404 if it does not exist."""
        record = self._find(ctx)
        if record is None:
            raise not_found(self._resource.label, self._id_from_path(ctx))
        return record

    def _id_from_path(self, ctx: Context) -> str:
        """Return the id of the resource in the path."""
        return ctx.params[self._resource.parameter]

    def list(self, ctx: Context) -> Json:
        """List the resources in order of creation, reading one page from the store."""
        owner = self._owner(ctx)
        owner_filter = (
            {"organization": owner.id} if self.record_kind.owner == "organization" else {"scope": owner.id}
        )
        render = self._resource.render
        return page_by_creation(
            ctx, self.record_kind.name, lambda item: ctx.render_cached(render, item), **owner_filter
        )

    def create(self, ctx: Context) -> Json:
        """Create a resource with a new id: initial values of its kind, and then the members of the body."""
        owner, kind = self._owner(ctx), self.record_kind.name
        record = Record(kind, ctx.new_id(kind), {}, owner.organization, owner.id)
        self._resource.initialize(ctx, record)
        return self._apply_body(ctx, record)

    def get(self, ctx: Context) -> Any:
        """Return the answer for the resource that the path names."""
        return ctx.render_cached(self._resource.render, self._require(ctx))

    def update(self, ctx: Context) -> Json:
        """Update the resource that the path names with the members of the body."""
        return self._apply_body(ctx, self._require(ctx))

    def _apply_body(self, ctx: Context, record: Record) -> Json:
        """Store the members of the body in a record and return the answer for it."""
        self._resource.apply_body(ctx, record, ctx.body.sent_fields())
        ctx.put(record)
        return self._resource.render(ctx, record)

    def delete(self, ctx: Context) -> None:
        """Delete a resource. Deleting a resource that does not exist is not an error."""
        record = self._find(ctx)
        if record is not None:
            ctx.remove(record)
