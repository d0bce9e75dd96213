"""The handlers of ordinary resources, built from their record kinds."""

from typing import Any

from msgspec import Struct

from ..errors import not_found
from ..records.record_kind import CrudResource, RecordKind
from ..request.context import Context
from ..request.paging import page_by_creation
from ..store import Json, Record

_OWNER_LOADERS = {"organization": Context.organization_from_path, "site": Context.site_from_path}
"""How the owner that the path names is found."""


class CrudHandlers(Struct, frozen=True):
    record_kind: RecordKind

    @property
    def _resource(self) -> CrudResource:
        if self.record_kind.crud is None:
            raise LookupError(f"the family {self.record_kind.name} is not served as an ordinary resource")
        return self.record_kind.crud

    def _owner(self, ctx: Context) -> Record:
        return _OWNER_LOADERS[self.record_kind.owner](ctx)

    def _find(self, ctx: Context) -> Record | None:
        owner, record = self._owner(ctx), ctx.store.get(self.record_kind.name, self._id_from_path(ctx))
        return record if record is not None and record.scope == owner.id else None

    def _require(self, ctx: Context) -> Record:
        record = self._find(ctx)
        if record is None:
            raise not_found(self._resource.label, self._id_from_path(ctx))
        return record

    def _id_from_path(self, ctx: Context) -> str:
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
        owner, kind = self._owner(ctx), self.record_kind.name
        record = Record(kind, ctx.new_id(kind), {}, owner.organization, owner.id)
        self._resource.initialize(ctx, record)
        return self._apply_body(ctx, record)

    def get(self, ctx: Context) -> Any:
        return ctx.render_cached(self._resource.render, self._require(ctx))

    def update(self, ctx: Context) -> Json:
        return self._apply_body(ctx, self._require(ctx))

    def _apply_body(self, ctx: Context, record: Record) -> Json:
        self._resource.apply_body(ctx, record, ctx.body.sent_fields())
        ctx.put(record)
        return self._resource.render(ctx, record)

    def delete(self, ctx: Context) -> None:
        """Delete a resource. Deleting a resource that does not exist is not an error."""
        record = self._find(ctx)
        if record is not None:
            ctx.remove(record)
