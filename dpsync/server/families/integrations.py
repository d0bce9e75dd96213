"""Published integrations and installations of an organization.

Events are plain records, except events that wait to be sent.

    integrations:                                                   # published by this organization
      - {name, version, title, visibility, target, icon, previewImages, configurations, verified…}
    installations:                                                  # status: paused, or omitted
      - id, integration, configuration, externalIds, space_selection, site_selection, status
        spaces: [{space, configuration, externalIds}]
        sites: [{site, configuration, externalIds}]
"""

import base64

from ..integrations import images
from ..integrations.events import EVENT, INTEGRATION, WAITING, dispatching
from ..integrations.installations import INSTALLATION, LEVEL, ON_SITE, ON_SPACE, take_off
from ..records.family import Columns, Dependency, Family
from ..records.world_format import Dumping, Loading, WorldSection, but
from ..store import Json, Record
from . import shapes

_BUNDLED = ("runtime", "script", "secrets")


def _load_integrations(loading: Loading, organization: Record, given: list[Json]) -> None:
    for one in loading.each(given):
        _integration(loading, organization, one)


def _integration(loading: Loading, organization: Record, given: Json) -> None:
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
    integration = loading.add(Record(INTEGRATION, name, doc, organization.id, organization.id))
    bundle = {"runtime": "v1", "script": "", "secrets": {}, "images": files}
    bundle |= {part: given[part] for part in _BUNDLED if part in given}
    loading.add(Record(images.BUNDLE, name, bundle, organization.id, name))
    for event in loading.each(given.get("waiting") or []):
        event_doc = but(event, "id", "organization", "installation")
        loading.add(
            Record(WAITING, event["id"], event_doc, event["organization"], name, ref=event["installation"])
        )
    if given.get("waiting"):
        loading.add(dispatching(integration))


def _dump_integrations(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created(INTEGRATION, organization=organization.id)
    return [_dump_integration(dumping, integration) for integration in found]


def _dump_integration(dumping: Dumping, found: Record) -> Json:
    bundle = dumping.store.get(images.BUNDLE, found.id)
    parts = bundle.doc if bundle else {"images": {}}
    made = {"name": found.id, **found.doc, **but(parts, "images")}
    made["previewImages"] = [parts["images"][image] for image in found.doc["previewImages"]]
    if icon := found.doc.get("icon"):
        made["icon"] = parts["images"][icon]
    waiting = dumping.created(WAITING, scope=found.id)
    if waiting:
        made["waiting"] = [
            {"id": event.id, "organization": event.organization, "installation": event.ref, **event.doc}
            for event in waiting
        ]
    return made


def _load_installations(loading: Loading, organization: Record, given: list[Json]) -> None:
    for one in loading.each(given):
        _installation(loading, organization, one)


def _installation(loading: Loading, organization: Record, given: Json) -> None:
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
    loading.add(Record(INSTALLATION, id, doc, organization.id, organization.id, ref=name))
    for kind in (ON_SPACE, ON_SITE):
        level = LEVEL[kind]
        for placed in loading.each(given.get(f"{level}s") or []):
            target = placed[level]
            if loading.get(level, target) is None:
                raise ValueError(f"the installation {id!r} refers to the unknown {level} {target!r}")
            placed_doc = {"configuration": {}, "externalIds": [], **but(placed, level)}
            placed_id = f"{id}:{target}"
            loading.add(Record(kind, placed_id, placed_doc, organization.id, id, name, ref=target))


def _dump_installations(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created(INSTALLATION, organization=organization.id)
    return [_dump_installation(dumping, installation) for installation in found]


def _dump_installation(dumping: Dumping, found: Record) -> Json:
    made: Json = {"id": found.id, "integration": found.ref, **found.doc}
    for kind in (ON_SPACE, ON_SITE):
        level = LEVEL[kind]
        placed = dumping.created(kind, scope=found.id)
        if placed:
            made[f"{level}s"] = [{level: one.ref, **one.doc} for one in placed]
    return made


def _by_id(of: Record) -> Columns:
    """Match records that refer to the id of an object, in any organization."""
    return {"ref": of.id}


FAMILIES = (
    Family(INTEGRATION, owner="organization",
           world=WorldSection("integrations", _load_integrations, _dump_integrations,
                              shape=list[shapes.Integration])),
    Family(images.BUNDLE, owner=INTEGRATION),
    Family(EVENT, prefix="event", owner=INTEGRATION, also=WAITING),
    Family(WAITING, owner=INTEGRATION),
    Family(INSTALLATION, prefix="installation", owner="organization",
           depends_on=(Dependency(INTEGRATION, _by_id),),
           world=WorldSection("installations", _load_installations, _dump_installations,
                              shape=list[shapes.Installation])),
    Family(ON_SPACE, owner=INSTALLATION, depends_on=(Dependency("space", _by_id, on_delete=take_off),)),
    Family(ON_SITE, owner=INSTALLATION, depends_on=(Dependency("site", _by_id, on_delete=take_off),)),
)  # fmt: skip
