"""Make the response bodies for integrations, their installations and their events.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from ..access.roles import permission_flags
from ..integrations.events import INTEGRATION
from ..integrations.images import PATH_PREFIX
from ..integrations.installations import (
    CONFIGURATION_LEVEL,
    SITE_INSTALLATION,
    SPACE_INSTALLATION,
    installation_status,
)
from ..request.context import Context
from ..store import Json, Record
from .content import space
from .people import organization
from .shared import APP_URL, api_url, without_none
from .sites import site

_ENDPOINT_URL = "https://integrations.docs.example/v1/integrations"
_CONTENT_URL = "https://integrations-content.docs.example/v1/integrations"


def integration(ctx: Context, record: Record) -> Json:
    """Return the response body for an integration, with its owner and its URLs."""
    doc = dict(record.doc)
    doc.pop("development", None)
    assets = "/".join((ctx.base_url, *PATH_PREFIX, record.id))
    icon = doc.pop("icon", None)
    return {
        "object": "integration",
        "name": record.id,
        **doc,
        "previewImages": [f"{assets}/{image}" for image in doc["previewImages"]],
        "owner": _owner_organization(ctx, record.organization),
        "urls": without_none(
            {
                "location": api_url(ctx, f"/integrations/{record.id}"),
                "icon": f"{assets}/{icon}" if icon else None,
                "app": f"{APP_URL}/integrations/{record.id}",
                "assets": assets,
                **_endpoints(ctx, record.id),
            }
        ),
        "permissions": permission_flags("integration", ctx.access_in(record.organization).role),
    }


def _endpoints(ctx: Context, path: str) -> Json:
    """Return the URLs of the integration's endpoints. The API version `reference` has no content endpoint."""
    urls = {"publicEndpoint": f"{_ENDPOINT_URL}/{path}"}
    if ctx.has_additions:
        urls["publicContentEndpoint"] = f"{_CONTENT_URL}/{path}"
    return urls


def _owner_organization(ctx: Context, id: str) -> Json:
    """Return the organization that owns an integration, in brief if the caller is not a member."""
    record = ctx.load("organization", id)
    if record is None:
        raise LookupError(f"the organization {id!r}, which owns integrations, does not exist")
    answer = organization(ctx, record)
    if ctx.access_in(id).is_member:
        return answer
    public_fields = ("object", "id", "title", "type", "plan", "createdAt", "urls")
    brief = {
        **{member: answer[member] for member in public_fields},
        "emailDomains": [],
        "inviteLinks": False,
        "mergeRules": {"type": "rules", "rules": []},
        "trial": {"status": "none", "count": 0},
        "defaultRole": None,
        "permissions": dict.fromkeys(answer["permissions"], False),
    }
    return brief if ctx.is_published_profile else {**brief, "defaultContent": None}


def installation(ctx: Context, record: Record) -> Json:
    """Return the response body for an installation, with the number of spaces that it covers."""
    location = f"{record.ref}/installations/{record.id}"
    if record.doc["space_selection"] == "all":
        spaces = ctx.store.count("space", organization=record.organization)
    else:
        spaces = ctx.store.count(SPACE_INSTALLATION, scope=record.id)
    return {
        "id": record.id,
        **record.doc,
        "status": installation_status(_require_integration(ctx, record.ref), record),
        "spaces": spaces,
        "urls": {
            "location": api_url(ctx, f"/integrations/{location}"),
            "app": f"{APP_URL}/o/{record.organization}/integrations/{record.ref}",
            **_endpoints(ctx, location),
        },
        "target": {"organization": record.organization},
    }


def placement(ctx: Context, record: Record, extended: bool) -> Json:
    """Return the response body for an installation on a space or site.

    If `extended` is true and the caller may view the space or site, the answer contains the whole space or
    site instead of its id.
    """
    level = CONFIGURATION_LEVEL[record.kind]
    location = f"{record.parent}/installations/{record.scope}/{level}s/{record.ref}"
    target = ctx.load(level, record.ref) if extended else None
    answer: str | Json = record.ref
    if target is not None and ctx.can_view(target):
        answer = site(ctx, target) if record.kind == SITE_INSTALLATION else space(ctx, target)
    return {
        "integration": record.parent,
        "installation": record.scope,
        "status": installation_status(_require_integration(ctx, record.parent), record),
        "configuration": record.doc["configuration"],
        "externalIds": record.doc["externalIds"],
        "urls": {
            "location": api_url(ctx, f"/integrations/{location}"),
            **_endpoints(ctx, location),
        },
        level: answer,
    }


def _require_integration(ctx: Context, name: str) -> Record:
    """Return an integration. Raise LookupError if it does not exist."""
    record = ctx.load(INTEGRATION, name)
    if record is None:
        raise LookupError(f"the integration {name!r}, which has installations, does not exist")
    return record


def event(record: Record) -> Json:
    """Return the response body for an event of an integration without its log."""
    return {
        "id": record.id,
        "integrationId": record.scope,
        "installationId": record.ref,
        "createdAt": record.doc["createdAt"],
        "payload": record.doc["payload"],
        "status": record.doc["status"],
    }
