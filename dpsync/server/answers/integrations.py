"""Answers for integrations, their installations and their events."""

from ..access.roles import flags
from ..integrations.events import INTEGRATION
from ..integrations.images import PREFIX
from ..integrations.installations import LEVEL, ON_SITE, ON_SPACE, status
from ..request.context import Context
from ..store import Json, Record
from .content import space
from .people import organization
from .shared import APP, located, set_only
from .sites import site

_ENDPOINT = "https://integrations.docs.example/v1/integrations"
_CONTENT = "https://integrations-content.docs.example/v1/integrations"


def integration(ctx: Context, record: Record) -> Json:
    doc = dict(record.doc)
    doc.pop("development", None)
    assets = "/".join((ctx.origin, *PREFIX, record.id))
    icon = doc.pop("icon", None)
    return {
        "object": "integration",
        "name": record.id,
        **doc,
        "previewImages": [f"{assets}/{image}" for image in doc["previewImages"]],
        "owner": _owner(ctx, record.organization),
        "urls": set_only(
            {
                "location": located(ctx, f"/integrations/{record.id}"),
                "icon": f"{assets}/{icon}" if icon else None,
                "app": f"{APP}/integrations/{record.id}",
                "assets": assets,
                **_endpoints(ctx, record.id),
            }
        ),
        "permissions": flags("integration", ctx.standing(record.organization).role),
    }


def _endpoints(ctx: Context, path: str) -> Json:
    """Return the URLs of the integration's endpoints. The profile `reference` has no content endpoint."""
    found = {"publicEndpoint": f"{_ENDPOINT}/{path}"}
    if ctx.full:
        found["publicContentEndpoint"] = f"{_CONTENT}/{path}"
    return found


def _owner(ctx: Context, id: str) -> Json:
    """Return the organization that owns an integration, in brief if the caller is not a member."""
    record = ctx.load("organization", id)
    if record is None:
        raise LookupError(f"the organization {id!r}, which owns integrations, does not exist")
    answer = organization(ctx, record)
    if ctx.standing(id).member:
        return answer
    kept = ("object", "id", "title", "type", "plan", "createdAt", "urls")
    brief = {
        **{member: answer[member] for member in kept},
        "emailDomains": [],
        "inviteLinks": False,
        "mergeRules": {"type": "rules", "rules": []},
        "trial": {"status": "none", "count": 0},
        "defaultRole": None,
        "permissions": dict.fromkeys(answer["permissions"], False),
    }
    return brief if ctx.published else {**brief, "defaultContent": None}


def installation(ctx: Context, record: Record) -> Json:
    location = f"{record.ref}/installations/{record.id}"
    if record.doc["space_selection"] == "all":
        spaces = ctx.store.count("space", organization=record.organization)
    else:
        spaces = ctx.store.count(ON_SPACE, scope=record.id)
    return {
        "id": record.id,
        **record.doc,
        "status": status(_integration(ctx, record.ref), record),
        "spaces": spaces,
        "urls": {
            "location": located(ctx, f"/integrations/{location}"),
            "app": f"{APP}/o/{record.organization}/integrations/{record.ref}",
            **_endpoints(ctx, location),
        },
        "target": {"organization": record.organization},
    }


def placed(ctx: Context, record: Record, extended: bool) -> Json:
    """Return an installation on a space or site.

    If `extended` is true and the caller may view the space or site, the answer contains the whole space or
    site instead of its id.
    """
    level = LEVEL[record.kind]
    location = f"{record.parent}/installations/{record.scope}/{level}s/{record.ref}"
    target = ctx.load(level, record.ref) if extended else None
    answer: str | Json = record.ref
    if target is not None and ctx.sees(target):
        answer = site(ctx, target) if record.kind == ON_SITE else space(ctx, target)
    return {
        "integration": record.parent,
        "installation": record.scope,
        "status": status(_integration(ctx, record.parent), record),
        "configuration": record.doc["configuration"],
        "externalIds": record.doc["externalIds"],
        "urls": {
            "location": located(ctx, f"/integrations/{location}"),
            **_endpoints(ctx, location),
        },
        level: answer,
    }


def _integration(ctx: Context, name: str) -> Record:
    found = ctx.load(INTEGRATION, name)
    if found is None:
        raise LookupError(f"the integration {name!r}, which has installations, does not exist")
    return found


def event(record: Record) -> Json:
    return {
        "id": record.id,
        "integrationId": record.scope,
        "installationId": record.ref,
        "createdAt": record.doc["createdAt"],
        "payload": record.doc["payload"],
        "status": record.doc["status"],
    }
