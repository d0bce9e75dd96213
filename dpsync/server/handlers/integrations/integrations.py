"""Operations that publish and list integrations and their events."""

import base64
import re
from typing import Any
from urllib.parse import urlsplit

from ... import answers
from ...access.roles import reaches
from ...errors import bad, conflict, missing
from ...integrations import installations
from ...integrations.events import EVENT, INTEGRATION
from ...integrations.images import BUNDLE, decoded, file_name
from ...models.integrations import LONGEST_NAME, NAME
from ...request.context import Context
from ...request.paging import created_page, list_page
from ...store import Json, Record

_APART = ("organization", "icon", "previewImages", "script", "secrets", "runtime")
"""Members of what is published that are not in the integration's own record."""


# --- who may see and do what --------------------------------------------------------------------------


def sees(ctx: Context, integration: Record) -> bool:
    """Return whether the caller sees the integration.

    A private integration is visible to members of its owner, and to members of organizations that installed
    it before it became private.
    """
    return (
        integration.doc["visibility"] != "private"
        or ctx.standing(integration.organization).member
        or any(
            ctx.standing(installation.organization).member
            for installation in ctx.store.find(installations.INSTALLATION, ref=integration.id)
        )
    )


def _find(ctx: Context) -> Record | None:
    """Return the integration of the path, or None if the caller does not see it."""
    found = ctx.load(INTEGRATION, ctx.params["integrationName"])
    return found if found is not None and sees(ctx, found) else None


def known(ctx: Context) -> Record:
    found = _find(ctx)
    if found is None:
        raise missing("integration", ctx.params["integrationName"])
    return found


def to_delete(ctx: Context) -> Record | None:
    """Return the integration to delete, or None. Raise 404 if the caller may not see it."""
    return None if ctx.load(INTEGRATION, ctx.params["integrationName"]) is None else known(ctx)


def administers(ctx: Context, integration: Record) -> bool:
    return ctx.standing(integration.organization).role == "admin"


def _owned(ctx: Context) -> Record:
    """Return the integration of the path. Require the role that the operation needs on its owner."""
    integration = known(ctx)
    _demand_owner(ctx, integration)
    return integration


def _demand_owner(ctx: Context, integration: Record) -> None:
    owner = ctx.load("organization", integration.organization)
    if owner is None:
        raise LookupError(f"the owner of the integration {integration.id!r} does not exist")
    ctx.demand(owner, ctx.needs)


# --- listed -------------------------------------------------------------------------------------------


def list_integrations(ctx: Context) -> Json:
    """List integrations by name: public ones, and those of organizations that let the caller list them."""
    found = [
        integration
        for integration in ctx.store.find(INTEGRATION)
        if integration.doc["visibility"] == "public"
        or reaches(ctx.standing(integration.organization).role, "read")
    ]
    return listed(ctx, [integration for integration in found if _matches(ctx.query, integration)])


def listed(ctx: Context, found: list[Record]) -> Json:
    found.sort(key=lambda integration: integration.id)
    return list_page(ctx, found, lambda one: answers.integration(ctx, one), lambda one: [one.id])


def called(integration: Record, search: str | None) -> bool:
    """Return whether the name or title of an integration contains the text, ignoring case."""
    return not search or search.casefold() in f"{integration.id}\n{integration.doc['title']}".casefold()


def _matches(query: Any, integration: Record) -> bool:
    doc = integration.doc
    return (
        called(integration, query.search)
        and (query.category is None or query.category in doc["categories"])
        and (query.scope is None or query.scope in doc["scopes"])
        and (query.owner is None or query.owner == integration.organization)
        and (query.blocks is None or query.blocks == bool(doc.get("blocks")))
        and (query.contentSources is None or query.contentSources == bool(doc.get("contentSources")))
        and (query.target is None or doc["target"] in (query.target, "all"))
        and (query.blockDomain is None or _unfurls(doc.get("blocks") or [], query.blockDomain))
    )


def _unfurls(blocks: list[Json], domain: str) -> bool:
    """Return whether a block unfurls URLs of the domain or of one of its parent domains."""
    hosts = {_host(pattern) for block in blocks for pattern in block.get("urlUnfurl") or []}
    wanted = domain.casefold()
    return any(host and (wanted == host or wanted.endswith(f".{host}")) for host in hosts)


def _host(pattern: str) -> str:
    """Return the host of a URL pattern: `https://*.example.com/**` gives `example.com`."""
    try:
        host = urlsplit(pattern if "//" in pattern else f"//{pattern}").hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("*.")


def get_integration(ctx: Context) -> Json:
    return answers.integration(ctx, known(ctx))


# --- published ----------------------------------------------------------------------------------------


def publish(ctx: Context) -> Json:
    """Publish a new integration or the next version of one.

    The new version replaces all data except the settings of development mode.
    """
    name = ctx.params["integrationName"]
    if len(name) > LONGEST_NAME or not re.fullmatch(NAME, name):
        raise bad(f"the name {name!r} is invalid: write at most {LONGEST_NAME} letters, digits, -, _ or .")
    before = ctx.load(INTEGRATION, name)
    publisher = _publisher(ctx, before)
    if before is not None and before.organization != publisher.id:
        raise conflict(f"the name {name!r} is taken by another organization")
    images, bundle = _images(ctx)
    body, kept = ctx.body, before.doc if before else {}
    doc = {
        "title": body.title,
        "visibility": body.visibility,
        "target": body.target,
        "scopes": body.scopes,
        "categories": body.categories,
        "externalLinks": [],
        **{member: value for member, value in body.given().items() if member not in _APART},
        **images,
        "version": kept.get("version", 0) + 1,
        "verified": kept.get("verified", False),
    }
    if "development" in kept:
        doc["development"] = kept["development"]
    integration = Record(INTEGRATION, name, doc, publisher.id, publisher.id, seq=before.seq if before else 0)
    states = _states(ctx, before) if before else {}
    ctx.put(integration)
    ctx.put(Record(BUNDLE, name, bundle, publisher.id, name))
    if before is not None:
        _tell(ctx, integration, states)
    return answers.integration(ctx, integration)


def _publisher(ctx: Context, before: Record | None) -> Record:
    """Return the organization that publishes.

    The body names it by id or hostname. By default it is the owner, or else the only organization that the
    caller administers.
    """
    named = ctx.body.organization
    if named is not None:
        found = ctx.load("organization", named) or _with_hostname(ctx, named)
        if found is None or not ctx.sees(found):
            raise missing("body.organization: organization", named)
        ctx.demand(found, ctx.needs)
        return found
    if before is not None and sees(ctx, before):
        _demand_owner(ctx, before)
        return ctx.find_organization(before.organization)
    members = ctx.store.find("member", ref=ctx.user)
    own = [one.organization for one in members if ctx.standing(one.organization).role == "admin"]
    if len(own) != 1:
        raise bad("body.organization: name the organization that publishes the integration")
    return ctx.find_organization(own[0])


def _with_hostname(ctx: Context, hostname: str) -> Record | None:
    every = ctx.store.find("organization")
    return next((one for one in every if one.doc.get("hostname") == hostname.casefold()), None)


def _images(ctx: Context) -> tuple[Json, Json]:
    """Return the image members of the integration, and the bundle that contains the images."""
    body = ctx.body
    previews = [
        decoded(image, f"body.previewImages.{index}") for index, image in enumerate(body.previewImages)
    ]
    icon = decoded(body.icon, "body.icon") if body.icon else b""
    said: Json = {"previewImages": [file_name(image) for image in previews]}
    if icon:
        said["icon"] = file_name(icon)
    kept = {file_name(image): base64.b64encode(image).decode() for image in (*previews, icon) if image}
    parts = {"runtime": body.runtime, "script": body.script or "", "secrets": body.secrets}
    return said, {**parts, "images": kept}


def _states(ctx: Context, integration: Record) -> dict[tuple[str, str], installations.State]:
    found = installations.of_integration(ctx, integration)
    return {(record.kind, record.id): installations.state(integration, record) for record in found}


def _tell(ctx: Context, integration: Record, states: dict[tuple[str, str], installations.State]) -> None:
    """Send a setup event for each installation whose state changed.

    A configuration that was complete for the previous version may be incomplete for the new one, or vice
    versa.
    """
    for record in installations.of_integration(ctx, integration):
        installations.tell_setup(ctx, integration, record, states[record.kind, record.id])


def unpublish(ctx: Context) -> None:
    """Delete an integration with all its installations and events."""
    integration = to_delete(ctx)
    if integration is None:
        return
    _demand_owner(ctx, integration)
    ctx.remove(integration)


# --- development mode and events ----------------------------------------------------------------------


def set_development(ctx: Context) -> None:
    integration, body = _owned(ctx), ctx.body
    integration.doc["development"] = {"tunnelUrl": body.tunnelUrl or body.url, "all": body.all}
    ctx.put(integration)


def end_development(ctx: Context) -> None:
    integration = to_delete(ctx)
    if integration is None:
        return
    _demand_owner(ctx, integration)
    if integration.doc.pop("development", None) is not None:
        ctx.put(integration)


def list_events(ctx: Context) -> Json:
    return created_page(ctx, EVENT, answers.event, scope=_owned(ctx).id)


def get_event(ctx: Context) -> Json:
    integration = _owned(ctx)
    found = ctx.store.get(EVENT, ctx.params["eventId"])
    if found is None or found.scope != integration.id:
        raise missing("integration event", ctx.params["eventId"])
    return {"event": answers.event(found), "trace": {"logs": found.doc["logs"]}}
