"""The state of installations, and the events of their changes.

An installation belongs to one integration and one organization. It may be extended to spaces and sites; each
of these has a configuration of its own. `check` compares a configuration with the schema of the integration:
`{properties, required}` for each of account, space and site. If the integration declares a component instead,
the values are not checked.
"""

from ..errors import bad
from ..request.context import Context
from ..store import Json, Record
from . import events
from .events import INTEGRATION

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,)}


def check(configuration: Json, declared: Json, field: str) -> None:
    """Raise 400 for a value of the wrong type or outside its enumeration. Undeclared settings are ignored."""
    for name, setting in (declared.get("properties") or {}).items():
        value, kind = configuration.get(name), setting.get("type", "string")
        if value is None or kind not in _TYPES:
            continue
        if not isinstance(value, _TYPES[kind]) or (kind == "number" and isinstance(value, bool)):
            raise bad(f"{field}.{name}: must be a {kind}")
        if kind == "string" and setting.get("enum") and value not in setting["enum"]:
            raise bad(f"{field}.{name}: must be one of {', '.join(setting['enum'])}")


def complete(configuration: Json, declared: Json) -> bool:
    """Return whether each required setting has a value or a default."""
    settings = declared.get("properties") or {}
    return all(
        configuration.get(name) not in (None, "") or "default" in settings.get(name, {})
        for name in declared.get("required") or []
    )


INSTALLATION = "installation"
"""`ref` is the integration."""
ON_SPACE = "space-installation"
"""`scope` is the installation, `parent` the integration, `ref` the space."""
ON_SITE = "site-installation"
"""The same of a site."""
LEVEL = {INSTALLATION: "account", ON_SPACE: "space", ON_SITE: "site"}
"""Which of an integration's configurations is that of a kind."""

State = tuple[str, Json]
"""Status and configuration."""


def integration_of(ctx: Context, record: Record) -> Record | None:
    return ctx.load(INTEGRATION, record.ref if record.kind == INSTALLATION else record.parent)


def declared(integration: Record, kind: str) -> Json:
    """Return the configuration schema that an integration declares for a kind of installation."""
    configurations: Json = integration.doc.get("configurations") or {}
    return configurations.get(LEVEL[kind]) or {}


def status(integration: Record, record: Record) -> str:
    """Return `pending` until the configuration is complete, then `active`. Only a world can set `paused`."""
    if record.doc.get("status") == "paused":
        return "paused"
    ready = complete(record.doc["configuration"], declared(integration, record.kind))
    return "active" if ready else "pending"


def state(integration: Record, record: Record) -> State:
    return status(integration, record), record.doc["configuration"]


def of_integration(ctx: Context, integration: Record) -> list[Record]:
    """Return all installations of an integration: in organizations, on spaces and on sites."""
    found = ctx.store.find(INSTALLATION, ref=integration.id)
    for kind in (ON_SPACE, ON_SITE):
        found += ctx.store.find(kind, parent=integration.id)
    return found


def enabled(integration: Record, installation: Record, placed: Record | None, kind: str) -> bool:
    """Return whether an integration is enabled on a space or site.

    The integration must support this kind of target, and its installation in the organization must be active.
    On the target, it must be installed and active; or it is installed on all targets and has no required
    setting there.
    """
    level = LEVEL[kind]
    selected = installation.doc[f"{level}_selection"] == "selected"
    if integration.doc["target"] not in ("all", level) or (placed is None and selected):
        return False
    there = placed or Record(kind, "", {"configuration": {}})
    return all(status(integration, one) == "active" for one in (installation, there))


# --- changes ------------------------------------------------------------------------------------------


def tell_setup(ctx: Context, integration: Record, record: Record, before: State | None = None) -> None:
    """Emit the setup event of an installation, unless its status and configuration are unchanged."""
    now = state(integration, record)
    if before == now:
        return
    payload: Json = {"type": f"{_event(record)}_setup", "status": now[0]}
    if before is not None:
        payload["previous"] = {"status": before[0], "configuration": before[1]}
    _emit(ctx, integration, record, payload)


def take_off(ctx: Context, record: Record) -> None:
    """Remove an installation and everything that depends on it, and emit a `deleted` event."""
    integration = integration_of(ctx, record)
    ctx.remove(record)
    if integration is not None:
        previous = {"configuration": record.doc["configuration"]}
        _emit(ctx, integration, record, {"type": f"{_event(record)}_deleted", "previous": previous})


def _event(record: Record) -> str:
    return record.kind.replace("-", "_")


def _emit(ctx: Context, integration: Record, record: Record, payload: Json) -> None:
    if record.kind == INSTALLATION:
        events.emit(ctx, integration, record.id, record.organization, payload)
    else:
        target = {f"{LEVEL[record.kind]}Id": record.ref}
        events.emit(ctx, integration, record.scope, record.organization, {**payload, **target})
