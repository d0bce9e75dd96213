"""Handle the API operations on installations of integrations in organizations.

Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from collections.abc import Callable
from typing import Any

from ... import responses
from ...access.roles import is_at_least
from ...errors import ApiError, not_found
from ...integrations import installations
from ...integrations.events import INTEGRATION
from ...integrations.installations import INSTALLATION, check_configuration
from ...request.changes import changed_fields
from ...request.context import Context
from ...request.paging import list_page
from ...store import Json, Record
from .integrations import is_publisher_admin, matches_search, require_integration


def can_view_installation(ctx: Context, integration: Record, installation: Record) -> bool:
    """Return whether the caller may list the organization's installations or administers the integration."""
    return is_publisher_admin(ctx, integration) or is_at_least(
        ctx.access_in(installation.organization).role, "read"
    )


def require_installation(ctx: Context) -> tuple[Record, Record]:
    """Return the integration and the installation that the path names.

    Raise 404 if the installation does not exist.
    """
    integration = require_integration(ctx)
    installation = _find_installation(ctx, integration)
    if installation is None:
        raise not_found("installation", ctx.params["installationId"])
    return integration, installation


def _find_installation(ctx: Context, integration: Record) -> Record | None:
    """Return the installation of the path, or None. Raise 404 if the caller may not see it."""
    installation = ctx.store.get(INSTALLATION, ctx.params["installationId"])
    if installation is None or installation.ref != integration.id:
        return None
    if not can_view_installation(ctx, integration, installation):
        raise not_found("installation", installation.id)
    return installation


def _require_role(ctx: Context, installation: Record) -> None:
    """Require the role that the operation needs on the organization of the installation.

    Raise 403 without the role.
    """
    organization = ctx.load("organization", installation.organization)
    if organization is None:
        raise LookupError(f"the organization of the installation {installation.id!r} does not exist")
    ctx.require_role(organization, ctx.required_role)


def list_installations(ctx: Context) -> Json:
    """List the installations of an integration that the caller may see, optionally with an external id."""
    integration, query = require_integration(ctx), ctx.query
    visible_installations = [
        installation
        for installation in ctx.store.find(INSTALLATION, ref=integration.id)
        if can_view_installation(ctx, integration, installation) and has_external_id(query, installation)
    ]
    return page_by_id(
        ctx, visible_installations, lambda installation: responses.installation(ctx, installation)
    )


def has_external_id(query: Any, record: Record) -> bool:
    """Return whether a record has the external id of the query, or the query names none."""
    return query.externalId is None or query.externalId in record.doc["externalIds"]


def page_by_id(ctx: Context, records: list[Record], render: Callable[[Record], Json]) -> Json:
    """Return a page of records in order of ids. Records of several organizations have no common order."""
    records.sort(key=_sort_key)
    return list_page(ctx, records, render, _sort_key)


def _sort_key(record: Record) -> list[str]:
    """Return the sort key of an installation: by organization, then by integration or target, then by id."""
    return [record.scope, record.ref, record.id]


def list_organization_installations(ctx: Context) -> Json:
    """List the installations of an organization with their integrations, optionally filtered by a text."""
    organization, search = ctx.organization_from_path(), ctx.query.search
    pairs = []
    for installation in ctx.store.find(INSTALLATION, organization=organization.id):
        integration = ctx.load(INTEGRATION, installation.ref)
        if integration is not None and matches_search(integration, search):
            pairs.append((installation, integration))

    def render(pair: tuple[Record, Record]) -> Json:
        installation, integration = pair
        return {
            "installation": responses.installation(ctx, installation),
            "integration": responses.integration(ctx, integration),
        }

    return list_page(ctx, pairs, render, lambda pair: [pair[0].seq])


def install(ctx: Context) -> Json:
    """Install an integration. If it is installed already, return the existing installation."""
    integration, id = require_integration(ctx), ctx.body.organization
    organization = ctx.load("organization", id)
    if organization is None or not ctx.can_view(organization):
        raise not_found("installation target: organization", id)
    ctx.require_role(organization, ctx.required_role)
    existing = ctx.store.find(INSTALLATION, ref=integration.id, organization=organization.id)
    if existing:
        return responses.installation(ctx, existing[0])
    if integration.doc["visibility"] == "private" and integration.organization != organization.id:
        raise ApiError(
            403,
            f"{integration.id!r} is private: only {integration.organization!r} can install this integration",
        )
    doc = {
        "space_selection": "all",
        "site_selection": "all",
        "configuration": {},
        "externalIds": [],
        "createdAt": ctx.timestamp,
        "updatedAt": ctx.timestamp,
    }
    installation = Record(INSTALLATION, ctx.new_id(INSTALLATION), doc, organization.id, organization.id)
    installation.ref = integration.id
    ctx.put(installation)
    installations.emit_setup_event(ctx, integration, installation)
    return responses.installation(ctx, installation)


def get_installation(ctx: Context) -> Json:
    """Return the installation that the path names."""
    _, installation = require_installation(ctx)
    return responses.installation(ctx, installation)


def update_installation(ctx: Context) -> Json:
    """Update the settings of an installation in an organization."""
    integration, installation = require_installation(ctx)
    _require_role(ctx, installation)
    if update_settings(ctx, integration, installation):
        installation.doc["updatedAt"] = ctx.timestamp
        ctx.put(installation)
    return responses.installation(ctx, installation)


def update_settings(ctx: Context, integration: Record, record: Record) -> bool:
    """Update an installation and return whether anything changed.

    Only changed settings are checked, because unchanged settings may come from an earlier version of the
    integration.
    """
    before, changes = (
        installations.installation_state(integration, record),
        changed_fields(record.doc, ctx.body.sent_fields()),
    )
    settings = changed_fields(record.doc["configuration"], changes.get("configuration", {}))
    check_configuration(
        settings, installations.configuration_schema(integration, record.kind), "body.configuration"
    )
    record.doc = {**record.doc, **changes}
    ctx.put(record)
    installations.emit_setup_event(ctx, integration, record, before)
    return bool(changes)


def uninstall(ctx: Context) -> None:
    """Remove an installation, also from all spaces and sites."""
    installation = _find_installation(ctx, require_integration(ctx))
    if installation is not None:
        _require_role(ctx, installation)
        installations.remove_installation(ctx, installation)
