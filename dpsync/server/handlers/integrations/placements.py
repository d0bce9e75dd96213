"""Handle the API operations on placements: installations of integrations extended to one space or site.

Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from msgspec import Struct

from ... import responses
from ...errors import conflict, not_found
from ...integrations import installations
from ...integrations.events import INTEGRATION
from ...integrations.installations import INSTALLATION, SITE_INSTALLATION, SPACE_INSTALLATION
from ...request.context import Context
from ...store import Json, Record
from .installations import (
    can_view_installation,
    has_external_id,
    page_by_id,
    require_installation,
    update_settings,
)
from .integrations import is_publisher_admin, list_by_name, matches_search, require_integration


class PlacementHandlers(Struct, frozen=True):
    """The operations on installations of one `kind`: on spaces, or on sites.

    `path_parameter` of a path and `body_field` of a body have the id of the space or site.
    """

    kind: str
    path_parameter: str
    body_field: str

    def _require_target(self, ctx: Context, target: str) -> tuple[Record, Record, Record]:
        """Return the integration, the installation, and the space or site in the installation's organization.

        Require that the caller may view the space or site and has the role on it that the operation needs. A
        guest with that role may use the installation, too. Raise 404 otherwise.
        """
        integration, id = require_integration(ctx), ctx.params["installationId"]
        installation = ctx.store.get(INSTALLATION, id)
        if installation is None or installation.ref != integration.id:
            raise not_found("installation", id)
        level = installations.CONFIGURATION_LEVEL[self.kind]
        target_record = ctx.load(level, target)
        if (
            target_record is None
            or target_record.organization != installation.organization
            or not ctx.can_view(target_record)
        ):
            listed_to_caller = can_view_installation(ctx, integration, installation)
            raise not_found(level, target) if listed_to_caller else not_found("installation", id)
        ctx.require_role(target_record, ctx.required_role)
        return integration, installation, target_record

    def _require_placement(self, ctx: Context) -> tuple[Record, Record]:
        """Return the integration and its installation on the space or site that the path names.

        Raise 404 if it is not installed there.
        """
        integration, installation, target = self._require_target(ctx, ctx.params[self.path_parameter])
        placement = ctx.store.get(self.kind, f"{installation.id}:{target.id}")
        if placement is None:
            raise not_found(f"installation on the {target.kind}", target.id)
        return integration, placement

    def install(self, ctx: Context) -> Json:
        """Install an integration on a space or site. If it is installed there already, change nothing."""
        integration, installation, target = self._require_target(ctx, getattr(ctx.body, self.body_field))
        if integration.doc["target"] not in ("all", installations.CONFIGURATION_LEVEL[self.kind]):
            raise conflict(
                f"the target of {integration.id!r} is {integration.doc['target']}, not {target.kind}"
            )
        id = f"{installation.id}:{target.id}"
        placement = ctx.store.get(self.kind, id)
        if placement is None:
            doc: Json = {"configuration": {}, "externalIds": []}
            placement = Record(self.kind, id, doc, target.organization, installation.id)
            placement.parent, placement.ref = integration.id, target.id
            ctx.put(placement)
            installations.emit_setup_event(ctx, integration, placement)
        return responses.placement(ctx, placement, ctx.query.extended)

    def get(self, ctx: Context) -> Json:
        """Return the installation on a space or site."""
        return responses.placement(ctx, self._require_placement(ctx)[1], ctx.query.extended)

    def update(self, ctx: Context) -> Json:
        """Update the settings of an installation on a space or site."""
        integration, placement = self._require_placement(ctx)
        update_settings(ctx, integration, placement)
        return responses.placement(ctx, placement, ctx.query.extended)

    def uninstall(self, ctx: Context) -> None:
        """Remove an integration from a space or site. It is not an error if it is not installed there."""
        _, installation, target = self._require_target(ctx, ctx.params[self.path_parameter])
        placement = ctx.store.get(self.kind, f"{installation.id}:{target.id}")
        if placement is not None:
            installations.remove_installation(ctx, placement)

    def list_of_integration(self, ctx: Context) -> Json:
        """List the installations of an integration on spaces or sites, in all organizations."""
        integration = require_integration(ctx)
        placements = ctx.store.find(self.kind, parent=integration.id)
        return _list_visible(
            ctx, integration, [record for record in placements if has_external_id(ctx.query, record)]
        )

    def list_of_installation(self, ctx: Context) -> Json:
        """List the spaces or sites on which an installation of an organization is installed."""
        integration, installation = require_installation(ctx)
        return _list_visible(ctx, integration, ctx.store.find(self.kind, scope=installation.id))

    def list_enabled(self, ctx: Context) -> Json:
        """List the integrations that are enabled on the space or site that the path names."""
        target = ctx.space_from_path() if self.kind == SPACE_INSTALLATION else ctx.site_from_path()
        placements = {record.scope: record for record in ctx.store.find(self.kind, ref=target.id)}
        enabled = []
        for installation in ctx.store.find(INSTALLATION, organization=target.organization):
            integration = ctx.load(INTEGRATION, installation.ref)
            if (
                integration is not None
                and matches_search(integration, ctx.query.search)
                and installations.is_enabled(
                    integration, installation, placements.get(installation.id), self.kind
                )
            ):
                enabled.append(integration)
        return list_by_name(ctx, enabled)


SPACE_PLACEMENTS = PlacementHandlers(SPACE_INSTALLATION, "spaceId", "space")
SITE_PLACEMENTS = PlacementHandlers(SITE_INSTALLATION, "siteId", "siteId")


def _list_visible(ctx: Context, integration: Record, placements: list[Record]) -> Json:
    """List installations on the spaces or sites that the caller may view.

    An admin of the organization that publishes the integration sees all of them.
    """

    def is_visible(record: Record) -> bool:
        target = ctx.load(installations.CONFIGURATION_LEVEL[record.kind], record.ref)
        return target is not None and (is_publisher_admin(ctx, integration) or ctx.can_view(target))

    visible, extended = [record for record in placements if is_visible(record)], ctx.query.extended
    return page_by_id(ctx, visible, lambda record: responses.placement(ctx, record, extended))
