"""Integrations of the organization that published them, and what it has installed. Events are plain records,
but those that still wait to be sent.
"""

import base64

from .. import images
from ..events import INTEGRATION, WAITING, dispatching
from ..installed import INSTALLATION, LEVEL, ON_SITE, ON_SPACE
from ..store import Record, Store
from .loading import Json, Loading, Part, but, created

_BUNDLED = ("runtime", "script", "secrets")


def _load_integrations(loading: Loading, organization: str, given: list[Json]) -> None:
    for one in given:
        _integration(loading, organization, one)


def _integration(loading: Loading, organization: str, given: Json) -> None:
    name = str(given["name"])
    files: Json = {}

    def kept(text: str) -> str:
        content = base64.b64decode(text)
        files[images.file_name(content)] = base64.b64encode(content).decode()
        return images.file_name(content)

    doc = {
        "title": "Untitled",
        "version": 1,
        "visibility": "private",
        "verified": False,
        "target": "all",
        "scopes": [],
        "categories": [],
        "externalLinks": [],
        **but(given, "name", "icon", "waiting", *_BUNDLED),
        "previewImages": [kept(text) for text in given.get("previewImages") or []],
        **({"icon": kept(given["icon"])} if given.get("icon") else {}),
    }
    integration = loading.add(Record(INTEGRATION, name, doc, organization, organization))
    bundle = {"runtime": "v1", "script": "", "secrets": {}, "images": files}
    bundle |= {part: given[part] for part in _BUNDLED if part in given}
    loading.add(Record(images.BUNDLE, name, bundle, organization, name))
    for event in given.get("waiting") or []:
        event_doc = but(event, "id", "organization", "installation")
        loading.add(
            Record(WAITING, event["id"], event_doc, event["organization"], name, ref=event["installation"])
        )
    if given.get("waiting"):
        loading.add(dispatching(integration))


def _dump_integrations(store: Store, organization: str) -> list[Json]:
    found = created(store, INTEGRATION, organization=organization)
    return [_dump_integration(store, integration) for integration in found]


def _dump_integration(store: Store, found: Record) -> Json:
    bundle = store.get(images.BUNDLE, found.id)
    parts = bundle.doc if bundle else {"images": {}}
    made = {"name": found.id, **found.doc, **but(parts, "images")}
    made["previewImages"] = [parts["images"][image] for image in found.doc["previewImages"]]
    if icon := found.doc.get("icon"):
        made["icon"] = parts["images"][icon]
    waiting = created(store, WAITING, scope=found.id)
    if waiting:
        made["waiting"] = [
            {"id": event.id, "organization": event.organization, "installation": event.ref, **event.doc}
            for event in waiting
        ]
    return made


def _load_installations(loading: Loading, organization: str, given: list[Json]) -> None:
    for one in given:
        _installation(loading, organization, one)


def _installation(loading: Loading, organization: str, given: Json) -> None:
    id, name = loading.id(INSTALLATION, given), given["integration"]
    doc = {
        "space_selection": "all",
        "site_selection": "all",
        "configuration": {},
        "externalIds": [],
        "createdAt": loading.then(),
        "updatedAt": loading.then(),
        **but(given, "id", "integration", "spaces", "sites"),
    }
    loading.add(Record(INSTALLATION, id, doc, organization, organization, ref=name))
    for kind in (ON_SPACE, ON_SITE):
        level = LEVEL[kind]
        for placed in given.get(f"{level}s") or []:
            target = placed[level]
            if (level, target) not in loading.taken:
                raise ValueError(f"the installation {id!r} is on the unknown {level} {target!r}")
            placed_doc = {"configuration": {}, "externalIds": [], **but(placed, level)}
            loading.add(Record(kind, f"{id}:{target}", placed_doc, organization, id, name, ref=target))


def _dump_installations(store: Store, organization: str) -> list[Json]:
    found = created(store, INSTALLATION, organization=organization)
    return [_dump_installation(store, installation) for installation in found]


def _dump_installation(store: Store, found: Record) -> Json:
    made: Json = {"id": found.id, "integration": found.ref, **found.doc}
    for kind in (ON_SPACE, ON_SITE):
        level = LEVEL[kind]
        placed = created(store, kind, scope=found.id)
        if placed:
            made[f"{level}s"] = [{level: one.ref, **one.doc} for one in placed]
    return made


PARTS = (
    Part("integrations", _load_integrations, _dump_integrations),
    Part("installations", _load_installations, _dump_installations),
)
