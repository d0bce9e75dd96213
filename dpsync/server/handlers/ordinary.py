"""The handlers of ordinary resources, built from their families."""

from typing import Any

from msgspec import Struct

from ..errors import missing
from ..records.family import Family, OrdinaryResource
from ..request.context import Context
from ..request.paging import created_page
from ..store import Json, Record

_OWNERS = {"organization": Context.organization, "site": Context.site}
"""How the owner that the path names is found."""


class OrdinaryHandlers(Struct, frozen=True):
    family: Family

    @property
    def _resource(self) -> OrdinaryResource:
        if self.family.resource is None:
            raise LookupError(f"the family {self.family.kind} is not served as an ordinary resource")
        return self.family.resource

    def _owner(self, ctx: Context) -> Record:
        return _OWNERS[self.family.owner](ctx)

    def _find(self, ctx: Context) -> Record | None:
        owner, found = self._owner(ctx), ctx.store.get(self.family.kind, self._named(ctx))
        return found if found is not None and found.scope == owner.id else None

    def _known(self, ctx: Context) -> Record:
        found = self._find(ctx)
        if found is None:
            raise missing(self._resource.what, self._named(ctx))
        return found

    def _named(self, ctx: Context) -> str:
        return ctx.params[self._resource.parameter]

    def list(self, ctx: Context) -> Json:
        """List the resources in order of creation, reading one page from the store."""
        owner = self._owner(ctx)
        where = {"organization": owner.id} if self.family.owner == "organization" else {"scope": owner.id}
        answer = self._resource.answer
        return created_page(ctx, self.family.kind, lambda item: ctx.show(answer, item), **where)

    def create(self, ctx: Context) -> Json:
        owner, kind = self._owner(ctx), self.family.kind
        made = Record(kind, ctx.new_id(kind), {}, owner.organization, owner.id)
        self._resource.begin(ctx, made)
        return self._written(ctx, made)

    def get(self, ctx: Context) -> Any:
        return ctx.show(self._resource.answer, self._known(ctx))

    def update(self, ctx: Context) -> Json:
        return self._written(ctx, self._known(ctx))

    def _written(self, ctx: Context, record: Record) -> Json:
        self._resource.write(ctx, record, ctx.body.given())
        ctx.put(record)
        return self._resource.answer(ctx, record)

    def delete(self, ctx: Context) -> None:
        """Delete a resource. Deleting a resource that does not exist is not an error."""
        found = self._find(ctx)
        if found is not None:
            ctx.remove(found)
