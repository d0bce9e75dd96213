"""Compute the state of installations of integrations, and emit the events of their changes.

An installation belongs to one integration and one organization. It may be extended to spaces and sites; each
of these has a configuration of its own. `check_configuration` compares a configuration with the schema of the
integration: `{properties, required}` for each of account, space and site. If the integration declares a
component instead, the values are not checked.
"""

from ..errors import bad_request
from ..request.context import Context
from ..store import Json, Record
from . import events
from .events import INTEGRATION

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,)}


def check_configuration(configuration: Json, schema: Json, field: str) -> None:
    """Raise 400 for a value of the wrong type or outside its enumeration. Undeclared settings are ignored."""
    for name, setting in (schema.get("properties") or {}).items():
        value, kind = configuration.get(name), setting.get("type", "string")
        if value is None or kind not in _TYPES:
            continue
        if not isinstance(value, _TYPES[kind]) or (kind == "number" and isinstance(value, bool)):
            raise bad_request(f"{field}.{name}: must be a {kind}")
        if kind == "string" and setting.get("enum") and value not in setting["enum"]:
            raise bad_request(f"{field}.{name}: must be one of {', '.join(setting['enum'])}")


def is_complete(configuration: Json, schema: Json) -> bool:
    """Return whether each required setting has a value or a default."""
    settings = schema.get("properties") or {}
    return all(
        configuration.get(name) not in (None, "") or "default" in settings.get(name, {})
        for name in schema.get("required") or []
    )


INSTALLATION = "installation"
"""Record kind of installations in organizations. `ref` is the integration."""
SPACE_INSTALLATION = "space-installation"
"""Record kind of installations on spaces. `scope` is the installation in the organization, `parent` the
integration, `ref` the space.
"""
SITE_INSTALLATION = "site-installation"
"""Record kind of installations on sites, with the same columns."""
CONFIGURATION_LEVEL = {INSTALLATION: "account", SPACE_INSTALLATION: "space", SITE_INSTALLATION: "site"}
"""The level in the `configurations` of an integration that applies to each kind of installation."""

InstallationState = tuple[str, Json]
"""The status and the configuration of an installation."""


def integration_of(ctx: Context, record: Record) -> Record | None:
    """Return the integration of an installation in an organization, on a space or on a site."""
    return ctx.load(INTEGRATION, record.ref if record.kind == INSTALLATION else record.parent)


def configuration_schema(integration: Record, kind: str) -> Json:
    """Return the configuration schema that an integration declares for a kind of installation."""
    configurations: Json = integration.doc.get("configurations") or {}
    return configurations.get(CONFIGURATION_LEVEL[kind]) or {}


def installation_status(integration: Record, record: Record) -> str:
    """Return `pending` until the configuration is complete, then `active`.

    Only a world (the server's data) can set `paused`.
    """
    if record.doc.get("status") == "paused":
        return "paused"
    ready = is_complete(record.doc["configuration"], configuration_schema(integration, record.kind))
    return "active" if ready else "pending"


def installation_state(integration: Record, record: Record) -> InstallationState:
    """Return the status and the configuration of an installation."""
    return installation_status(integration, record), record.doc["configuration"]


def installations_of(ctx: Context, integration: Record) -> list[Record]:
    """Return all installations of an integration: in organizations, on spaces and on sites."""
    installations = ctx.store.find(INSTALLATION, ref=integration.id)
    for kind in (SPACE_INSTALLATION, SITE_INSTALLATION):
        installations += ctx.store.find(kind, parent=integration.id)
    return installations


def is_enabled(integration: Record, installation: Record, placement: Record | None, kind: str) -> bool:
    """Return whether an integration is enabled on a space or site.

    The integration must support this kind of target, and its installation in the organization must be active.
    On the target, it must be installed and active; or it is installed on all targets and has no required
    setting there.
    """
    level = CONFIGURATION_LEVEL[kind]
    selected = installation.doc[f"{level}_selection"] == "selected"
    if integration.doc["target"] not in ("all", level) or (placement is None and selected):
        return False
    placement_or_default = placement or Record(kind, "", {"configuration": {}})
    return all(
        installation_status(integration, record) == "active"
        for record in (installation, placement_or_default)
    )


# --- changes ------------------------------------------------------------------------------------------


def emit_setup_event(
    ctx: Context, integration: Record, record: Record, before: InstallationState | None = None
) -> None:
    """Emit the setup event of an installation, unless its status and configuration are unchanged."""
    state = installation_state(integration, record)
    if before == state:
        return
    payload: Json = {"type": f"{_event_prefix(record)}_setup", "status": state[0]}
    if before is not None:
        payload["previous"] = {"status": before[0], "configuration": before[1]}
    _emit_event(ctx, integration, record, payload)


def remove_installation(ctx: Context, record: Record) -> None:
    """Remove an installation and everything that depends on it, and emit a `deleted` event."""
    integration = integration_of(ctx, record)
    ctx.remove(record)
    if integration is not None:
        previous = {"configuration": record.doc["configuration"]}
        _emit_event(
            ctx, integration, record, {"type": f"{_event_prefix(record)}_deleted", "previous": previous}
        )


def _event_prefix(record: Record) -> str:
    """Return the start of the event types of an installation, such as `space_installation`."""
    return record.kind.replace("-", "_")


def _emit_event(ctx: Context, integration: Record, record: Record, payload: Json) -> None:
    """Emit an event of an installation. An event on a space or site names the space or site."""
    if record.kind == INSTALLATION:
        events.emit(ctx, integration, record.id, record.organization, payload)
    else:
        target = {f"{CONFIGURATION_LEVEL[record.kind]}Id": record.ref}
        events.emit(ctx, integration, record.scope, record.organization, {**payload, **target})
