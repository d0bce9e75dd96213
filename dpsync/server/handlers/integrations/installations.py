"""Operations on installations of integrations in organizations."""

from collections.abc import Callable
from typing import Any

from ... import answers
from ...access.roles import reaches
from ...errors import ApiError, missing
from ...integrations import installations
from ...integrations.events import INTEGRATION
from ...integrations.installations import INSTALLATION, check
from ...request.changes import changes
from ...request.context import Context
from ...request.paging import list_page
from ...store import Json, Record
from .integrations import administers, called, known


def sees_installation(ctx: Context, integration: Record, installation: Record) -> bool:
    """Return whether the caller may list the organization's installations or administers the integration."""
    return administers(ctx, integration) or reaches(ctx.standing(installation.organization).role, "read")


def installation_of(ctx: Context) -> tuple[Record, Record]:
    """Return the integration and the installation that the path names."""
    integration = known(ctx)
    found = _find(ctx, integration)
    if found is None:
        raise missing("installation", ctx.params["installationId"])
    return integration, found


def _find(ctx: Context, integration: Record) -> Record | None:
    """Return the installation of the path, or None. Raise 404 if the caller may not see it."""
    found = ctx.store.get(INSTALLATION, ctx.params["installationId"])
    if found is None or found.ref != integration.id:
        return None
    if not sees_installation(ctx, integration, found):
        raise missing("installation", found.id)
    return found


def _demand(ctx: Context, installation: Record) -> None:
    """Require the role that the operation needs on the organization of the installation."""
    organization = ctx.load("organization", installation.organization)
    if organization is None:
        raise LookupError(f"the organization of the installation {installation.id!r} does not exist")
    ctx.demand(organization, ctx.needs)


def list_installations(ctx: Context) -> Json:
    integration, query = known(ctx), ctx.query
    found = [
        installation
        for installation in ctx.store.find(INSTALLATION, ref=integration.id)
        if sees_installation(ctx, integration, installation) and has_external_id(query, installation)
    ]
    return page_by_id(ctx, found, lambda installation: answers.installation(ctx, installation))


def has_external_id(query: Any, record: Record) -> bool:
    return query.externalId is None or query.externalId in record.doc["externalIds"]


def page_by_id(ctx: Context, found: list[Record], answer: Callable[[Record], Json]) -> Json:
    """Return a page of records in order of ids. Records of several organizations have no common order."""
    found.sort(key=_key)
    return list_page(ctx, found, answer, _key)


def _key(record: Record) -> list[str]:
    return [record.scope, record.ref, record.id]


def list_installed(ctx: Context) -> Json:
    organization, search = ctx.organization(), ctx.query.search
    found = []
    for installation in ctx.store.find(INSTALLATION, organization=organization.id):
        integration = ctx.load(INTEGRATION, installation.ref)
        if integration is not None and called(integration, search):
            found.append((installation, integration))

    def answer(both: tuple[Record, Record]) -> Json:
        installation, integration = both
        return {
            "installation": answers.installation(ctx, installation),
            "integration": answers.integration(ctx, integration),
        }

    return list_page(ctx, found, answer, lambda both: [both[0].seq])


def install(ctx: Context) -> Json:
    """Install an integration. If it is installed already, return the existing installation."""
    integration, id = known(ctx), ctx.body.organization
    organization = ctx.load("organization", id)
    if organization is None or not ctx.sees(organization):
        raise missing("installation target: organization", id)
    ctx.demand(organization, ctx.needs)
    there = ctx.store.find(INSTALLATION, ref=integration.id, organization=organization.id)
    if there:
        return answers.installation(ctx, there[0])
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
        "createdAt": ctx.stamp,
        "updatedAt": ctx.stamp,
    }
    made = Record(INSTALLATION, ctx.new_id(INSTALLATION), doc, organization.id, organization.id)
    made.ref = integration.id
    ctx.put(made)
    installations.tell_setup(ctx, integration, made)
    return answers.installation(ctx, made)


def get_installation(ctx: Context) -> Json:
    _, installation = installation_of(ctx)
    return answers.installation(ctx, installation)


def update_installation(ctx: Context) -> Json:
    integration, installation = installation_of(ctx)
    _demand(ctx, installation)
    if update(ctx, integration, installation):
        installation.doc["updatedAt"] = ctx.stamp
        ctx.put(installation)
    return answers.installation(ctx, installation)


def update(ctx: Context, integration: Record, record: Record) -> bool:
    """Update an installation and return whether anything changed.

    Only changed settings are checked, because unchanged settings may come from an earlier version of the
    integration.
    """
    before, given = installations.state(integration, record), changes(record.doc, ctx.body.given())
    settings = changes(record.doc["configuration"], given.get("configuration", {}))
    check(settings, installations.declared(integration, record.kind), "body.configuration")
    record.doc = {**record.doc, **given}
    ctx.put(record)
    installations.tell_setup(ctx, integration, record, before)
    return bool(given)


def uninstall(ctx: Context) -> None:
    """Remove an installation, also from all spaces and sites."""
    installation = _find(ctx, known(ctx))
    if installation is not None:
        _demand(ctx, installation)
        installations.take_off(ctx, installation)
