"""Operations on installations of integrations on spaces and sites."""

from msgspec import Struct

from ... import answers
from ...errors import conflict, missing
from ...integrations import installations
from ...integrations.events import INTEGRATION
from ...integrations.installations import INSTALLATION, ON_SITE, ON_SPACE
from ...request.context import Context
from ...store import Json, Record
from .installations import has_external_id, installation_of, page_by_id, sees_installation, update
from .integrations import administers, called, known, listed


class Placements(Struct, frozen=True):
    """The operations on installations of one `kind`: on spaces, or on sites.

    `parameter` of a path and `member` of a body have the id of the space or site.
    """

    kind: str
    parameter: str
    member: str

    def _on(self, ctx: Context, target: str) -> tuple[Record, Record, Record]:
        """Return the integration, the installation, and the space or site in the installation's organization.

        Require that the caller may view the space or site and has the role on it that the operation needs. A
        guest with that role may use the installation, too.
        """
        integration, id = known(ctx), ctx.params["installationId"]
        installation = ctx.store.get(INSTALLATION, id)
        if installation is None or installation.ref != integration.id:
            raise missing("installation", id)
        level = installations.LEVEL[self.kind]
        found = ctx.load(level, target)
        if found is None or found.organization != installation.organization or not ctx.sees(found):
            listed_to_caller = sees_installation(ctx, integration, installation)
            raise missing(level, target) if listed_to_caller else missing("installation", id)
        ctx.demand(found, ctx.needs)
        return integration, installation, found

    def _named(self, ctx: Context) -> tuple[Record, Record]:
        """Return the integration and its installation on the space or site that the path names."""
        integration, installation, item = self._on(ctx, ctx.params[self.parameter])
        found = ctx.store.get(self.kind, f"{installation.id}:{item.id}")
        if found is None:
            raise missing(f"installation on the {item.kind}", item.id)
        return integration, found

    def install(self, ctx: Context) -> Json:
        integration, installation, item = self._on(ctx, getattr(ctx.body, self.member))
        if integration.doc["target"] not in ("all", installations.LEVEL[self.kind]):
            raise conflict(
                f"the target of {integration.id!r} is {integration.doc['target']}, not {item.kind}"
            )
        id = f"{installation.id}:{item.id}"
        there = ctx.store.get(self.kind, id)
        if there is None:
            doc: Json = {"configuration": {}, "externalIds": []}
            there = Record(self.kind, id, doc, item.organization, installation.id)
            there.parent, there.ref = integration.id, item.id
            ctx.put(there)
            installations.tell_setup(ctx, integration, there)
        return answers.placed(ctx, there, ctx.query.extended)

    def get(self, ctx: Context) -> Json:
        return answers.placed(ctx, self._named(ctx)[1], ctx.query.extended)

    def update(self, ctx: Context) -> Json:
        integration, placed = self._named(ctx)
        update(ctx, integration, placed)
        return answers.placed(ctx, placed, ctx.query.extended)

    def uninstall(self, ctx: Context) -> None:
        _, installation, item = self._on(ctx, ctx.params[self.parameter])
        found = ctx.store.get(self.kind, f"{installation.id}:{item.id}")
        if found is not None:
            installations.take_off(ctx, found)

    def list_of_integration(self, ctx: Context) -> Json:
        integration = known(ctx)
        found = ctx.store.find(self.kind, parent=integration.id)
        return _list(ctx, integration, [record for record in found if has_external_id(ctx.query, record)])

    def list_of_installation(self, ctx: Context) -> Json:
        integration, installation = installation_of(ctx)
        return _list(ctx, integration, ctx.store.find(self.kind, scope=installation.id))

    def list_enabled(self, ctx: Context) -> Json:
        """List the integrations that are enabled on the space or site that the path names."""
        item = ctx.space() if self.kind == ON_SPACE else ctx.site()
        placed = {record.scope: record for record in ctx.store.find(self.kind, ref=item.id)}
        found = []
        for installation in ctx.store.find(INSTALLATION, organization=item.organization):
            integration = ctx.load(INTEGRATION, installation.ref)
            if (
                integration is not None
                and called(integration, ctx.query.search)
                and installations.enabled(integration, installation, placed.get(installation.id), self.kind)
            ):
                found.append(integration)
        return listed(ctx, found)


SPACES = Placements(ON_SPACE, "spaceId", "space")
SITES = Placements(ON_SITE, "siteId", "siteId")


def _list(ctx: Context, integration: Record, found: list[Record]) -> Json:
    """List installations on the spaces or sites that the caller may view.

    An admin of the organization that publishes the integration sees all of them.
    """

    def viewed(record: Record) -> bool:
        item = ctx.load(installations.LEVEL[record.kind], record.ref)
        return item is not None and (administers(ctx, integration) or ctx.sees(item))

    visible, extended = [record for record in found if viewed(record)], ctx.query.extended
    return page_by_id(ctx, visible, lambda record: answers.placed(ctx, record, extended))
