"""What is installed where: the state of an installation, and what happens when one changes or goes.

An installation is of one integration in one organization. Below it the integration may be put on spaces and
sites; each of these has its own configuration. It is held against what the integration declares:
`{properties, required}` for each of account, space and site, or a component of the integration that asks for
it; then nothing is known of what it holds.
"""

from ..errors import bad
from ..request.context import Context
from ..store import Json, Record
from . import events
from .events import INTEGRATION

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,)}


def check(configuration: Json, declared: Json, field: str) -> None:
    """400 for a value of another type, or none of the enumeration. What is not declared is kept unread."""
    for name, setting in (declared.get("properties") or {}).items():
        value, kind = configuration.get(name), setting.get("type", "string")
        if value is None or kind not in _TYPES:
            continue
        if not isinstance(value, _TYPES[kind]) or (kind == "number" and isinstance(value, bool)):
            raise bad(f"{field}.{name}: must be a {kind}")
        if kind == "string" and setting.get("enum") and value not in setting["enum"]:
            raise bad(f"{field}.{name}: must be one of {', '.join(setting['enum'])}")


def complete(configuration: Json, declared: Json) -> bool:
    """Whether each required setting has a value, or a default."""
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
    """What an integration declares of the configurations of a kind."""
    configurations: Json = integration.doc.get("configurations") or {}
    return configurations.get(LEVEL[kind]) or {}


def status(integration: Record, record: Record) -> str:
    """`paused` is only ever so from the start of the world; `pending` until the configuration is complete."""
    if record.doc.get("status") == "paused":
        return "paused"
    ready = complete(record.doc["configuration"], declared(integration, record.kind))
    return "active" if ready else "pending"


def state(integration: Record, record: Record) -> State:
    return status(integration, record), record.doc["configuration"]


def of_integration(ctx: Context, integration: Record) -> list[Record]:
    """Everything that it is installed as."""
    found = ctx.store.find(INSTALLATION, ref=integration.id)
    for kind in (ON_SPACE, ON_SITE):
        found += ctx.store.find(kind, parent=integration.id)
    return found


def enabled(integration: Record, installation: Record, placed: Record | None, kind: str) -> bool:
    """Active in the organization, meant for such a target, and there: put on it and active, or on all."""
    level = LEVEL[kind]
    selected = installation.doc[f"{level}_selection"] == "selected"
    if integration.doc["target"] not in ("all", level) or (placed is None and selected):
        return False
    there = placed or Record(kind, "", {"configuration": {}})
    return all(status(integration, one) == "active" for one in (installation, there))


# --- changes ------------------------------------------------------------------------------------------


def tell_setup(ctx: Context, integration: Record, record: Record, before: State | None = None) -> None:
    """The event of what was installed, or changed. One that changed nothing of the state is not told."""
    now = state(integration, record)
    if before == now:
        return
    payload: Json = {"type": f"{_event(record)}_setup", "status": now[0]}
    if before is not None:
        payload["previous"] = {"status": before[0], "configuration": before[1]}
    _emit(ctx, integration, record, payload)


def take_off(ctx: Context, record: Record) -> None:
    """Removes one, with what it is put on, and tells of it."""
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
