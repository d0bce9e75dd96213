"""Handle the API operations that publish, unpublish and list integrations and their events.

Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

import base64
import re
from typing import Any
from urllib.parse import urlsplit

from ... import responses
from ...access.roles import is_at_least
from ...errors import bad_request, conflict, not_found
from ...integrations import installations
from ...integrations.events import EVENT, INTEGRATION
from ...integrations.images import BUNDLE, decode_image, file_name
from ...models.integrations import MAX_NAME_LENGTH, NAME_PATTERN
from ...request.context import Context
from ...request.paging import list_page, page_by_creation
from ...store import Json, Record

_FIELDS_OUTSIDE_RECORD = ("organization", "icon", "previewImages", "script", "secrets", "runtime")
"""Members of a published integration that are not stored in its own record."""


# --- who may see and do what --------------------------------------------------------------------------


def can_view_integration(ctx: Context, integration: Record) -> bool:
    """Return whether the caller sees the integration.

    A private integration is visible to members of its owner, and to members of organizations that installed
    it before it became private.
    """
    return (
        integration.doc["visibility"] != "private"
        or ctx.access_in(integration.organization).is_member
        or any(
            ctx.access_in(installation.organization).is_member
            for installation in ctx.store.find(installations.INSTALLATION, ref=integration.id)
        )
    )


def require_integration(ctx: Context) -> Record:
    """Return the integration of the path. Raise 404 if the caller does not see it."""
    integration = ctx.load(INTEGRATION, ctx.params["integrationName"])
    if integration is None or not can_view_integration(ctx, integration):
        raise not_found("integration", ctx.params["integrationName"])
    return integration


def find_for_deletion(ctx: Context) -> Record | None:
    """Return the integration to delete, or None. Raise 404 if the caller may not see it."""
    return None if ctx.load(INTEGRATION, ctx.params["integrationName"]) is None else require_integration(ctx)


def is_publisher_admin(ctx: Context, integration: Record) -> bool:
    """Return whether the caller is an admin of the organization that publishes the integration."""
    return ctx.access_in(integration.organization).role == "admin"


def _require_owned(ctx: Context) -> Record:
    """Return the integration of the path. Require the role that the operation needs on its owner."""
    integration = require_integration(ctx)
    _require_owner_role(ctx, integration)
    return integration


def _require_owner_role(ctx: Context, integration: Record) -> None:
    """Require the role that the operation needs on the organization that owns the integration."""
    owner = ctx.load("organization", integration.organization)
    if owner is None:
        raise LookupError(f"the owner of the integration {integration.id!r} does not exist")
    ctx.require_role(owner, ctx.required_role)


# --- listed -------------------------------------------------------------------------------------------


def list_integrations(ctx: Context) -> Json:
    """List integrations by name: public ones, and those of organizations that let the caller list them."""
    listed = [
        integration
        for integration in ctx.store.find(INTEGRATION)
        if integration.doc["visibility"] == "public"
        or is_at_least(ctx.access_in(integration.organization).role, "read")
    ]
    return list_by_name(
        ctx, [integration for integration in listed if _matches_query(ctx.query, integration)]
    )


def list_by_name(ctx: Context, integrations: list[Record]) -> Json:
    """Return the requested page of integrations, sorted by name."""
    integrations.sort(key=lambda integration: integration.id)
    return list_page(
        ctx, integrations, lambda record: responses.integration(ctx, record), lambda record: [record.id]
    )


def matches_search(integration: Record, search: str | None) -> bool:
    """Return whether the name or title of an integration contains the text, ignoring case."""
    return not search or search.casefold() in f"{integration.id}\n{integration.doc['title']}".casefold()


def _matches_query(query: Any, integration: Record) -> bool:
    """Return whether an integration matches all filters of the query."""
    doc = integration.doc
    return (
        matches_search(integration, query.search)
        and (query.category is None or query.category in doc["categories"])
        and (query.scope is None or query.scope in doc["scopes"])
        and (query.owner is None or query.owner == integration.organization)
        and (query.blocks is None or query.blocks == bool(doc.get("blocks")))
        and (query.contentSources is None or query.contentSources == bool(doc.get("contentSources")))
        and (query.target is None or doc["target"] in (query.target, "all"))
        and (query.blockDomain is None or _unfurls_domain(doc.get("blocks") or [], query.blockDomain))
    )


def _unfurls_domain(blocks: list[Json], domain: str) -> bool:
    """Return whether a block unfurls URLs of the domain or of one of its parent domains.

    A block has URL patterns, such as `https://*.example.com/**` for the domain `example.com`.
    """
    folded_domain = domain.casefold()
    for pattern in (pattern for block in blocks for pattern in block.get("urlUnfurl") or []):
        try:
            host = urlsplit(pattern if "//" in pattern else f"//{pattern}").hostname or ""
        except ValueError:
            continue
        host = host.removeprefix("*.")
        if host and (folded_domain == host or folded_domain.endswith(f".{host}")):
            return True
    return False


def get_integration(ctx: Context) -> Json:
    """Return the integration that the path names."""
    return responses.integration(ctx, require_integration(ctx))


# --- published ----------------------------------------------------------------------------------------


def publish(ctx: Context) -> Json:
    """Publish a new integration or the next version of one.

    The new version replaces all data except the settings of development mode. Raise 409 if another
    organization has an integration with the name.
    """
    name = ctx.params["integrationName"]
    if len(name) > MAX_NAME_LENGTH or not re.fullmatch(NAME_PATTERN, name):
        raise bad_request(
            f"the name {name!r} is invalid: write at most {MAX_NAME_LENGTH} letters, digits, -, _ or ."
        )
    before = ctx.load(INTEGRATION, name)
    publisher = _find_publisher(ctx, before)
    if before is not None and before.organization != publisher.id:
        raise conflict(f"the name {name!r} is taken by another organization")
    images, bundle = _decode_images(ctx)
    doc = _next_version(ctx.body, images, before.doc if before else {})
    integration = Record(INTEGRATION, name, doc, publisher.id, publisher.id, seq=before.seq if before else 0)
    states_before: dict[tuple[str, str], installations.InstallationState] = {}
    if before is not None:
        for record in installations.installations_of(ctx, before):
            states_before[record.kind, record.id] = installations.installation_state(before, record)
    ctx.put(integration)
    ctx.put(Record(BUNDLE, name, bundle, publisher.id, name))
    if before is not None:
        # A configuration that was complete for the previous version may be incomplete now, or vice versa.
        for record in installations.installations_of(ctx, integration):
            state_before = states_before[record.kind, record.id]
            installations.emit_setup_event(ctx, integration, record, state_before)
    return responses.integration(ctx, integration)


def _next_version(body: Any, images: Json, previous: Json) -> Json:
    """Return the document of the next version of an integration. `previous` is {} for a new integration.

    `images` has the members of the document that name images.
    """
    doc = {
        "title": body.title,
        "visibility": body.visibility,
        "target": body.target,
        "scopes": body.scopes,
        "categories": body.categories,
        "externalLinks": [],
        **{
            member: value
            for member, value in body.sent_fields().items()
            if member not in _FIELDS_OUTSIDE_RECORD
        },
        **images,
        "version": previous.get("version", 0) + 1,
        "verified": previous.get("verified", False),
    }
    if "development" in previous:
        doc["development"] = previous["development"]
    return doc


def _find_publisher(ctx: Context, before: Record | None) -> Record:
    """Return the organization that publishes.

    The body names it by id or hostname. By default it is the owner, or else the only organization that the
    caller administers. Raise 400 if the body must name it, and 404 for an unknown organization.
    """
    name = ctx.body.organization
    if name is not None:
        publisher = ctx.load("organization", name) or next(
            (
                organization
                for organization in ctx.store.find("organization")
                if organization.doc.get("hostname") == name.casefold()
            ),
            None,
        )
        if publisher is None or not ctx.can_view(publisher):
            raise not_found("body.organization: organization", name)
        ctx.require_role(publisher, ctx.required_role)
        return publisher
    if before is not None and can_view_integration(ctx, before):
        _require_owner_role(ctx, before)
        return ctx.find_organization(before.organization)
    members = ctx.store.find("member", ref=ctx.user)
    administered = [
        member.organization for member in members if ctx.access_in(member.organization).role == "admin"
    ]
    if len(administered) != 1:
        raise bad_request("body.organization: name the organization that publishes the integration")
    return ctx.find_organization(administered[0])


def _decode_images(ctx: Context) -> tuple[Json, Json]:
    """Return the image members of the integration, and the bundle that contains the images."""
    body = ctx.body
    previews = [
        decode_image(image, f"body.previewImages.{index}") for index, image in enumerate(body.previewImages)
    ]
    icon = decode_image(body.icon, "body.icon") if body.icon else b""
    members: Json = {"previewImages": [file_name(image) for image in previews]}
    if icon:
        members["icon"] = file_name(icon)
    images_by_name = {
        file_name(image): base64.b64encode(image).decode() for image in (*previews, icon) if image
    }
    parts = {"runtime": body.runtime, "script": body.script or "", "secrets": body.secrets}
    return members, {**parts, "images": images_by_name}


def unpublish(ctx: Context) -> None:
    """Delete an integration with all its installations and events."""
    integration = find_for_deletion(ctx)
    if integration is None:
        return
    _require_owner_role(ctx, integration)
    ctx.remove(integration)


# --- development mode and events ----------------------------------------------------------------------


def set_development(ctx: Context) -> None:
    """Turn on development mode: events of the integration are sent to the URL of a tunnel."""
    integration, body = _require_owned(ctx), ctx.body
    integration.doc["development"] = {"tunnelUrl": body.tunnelUrl or body.url, "all": body.all}
    ctx.put(integration)


def disable_development(ctx: Context) -> None:
    """Turn off development mode. It is not an error if the integration does not exist."""
    integration = find_for_deletion(ctx)
    if integration is None:
        return
    _require_owner_role(ctx, integration)
    if integration.doc.pop("development", None) is not None:
        ctx.put(integration)


def list_events(ctx: Context) -> Json:
    """List the events of an integration in order of creation."""
    return page_by_creation(ctx, EVENT, responses.event, scope=_require_owned(ctx).id)


def get_event(ctx: Context) -> Json:
    """Return an event of an integration with its log. Raise 404 if it does not exist."""
    integration = _require_owned(ctx)
    event = ctx.store.get(EVENT, ctx.params["eventId"])
    if event is None or event.scope != integration.id:
        raise not_found("integration event", ctx.params["eventId"])
    return {"event": responses.event(event), "trace": {"logs": event.doc["logs"]}}
