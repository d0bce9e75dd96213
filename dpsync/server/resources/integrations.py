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
from ..integrations.events import EVENT, INTEGRATION, WAITING_EVENT, make_dispatch_job
from ..integrations.installations import (
    CONFIGURATION_LEVEL,
    INSTALLATION,
    SITE_INSTALLATION,
    SPACE_INSTALLATION,
    remove_installation,
)
from ..records.record_kind import ColumnFilter, Dependency, RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, without_keys
from ..store import Json, Record
from . import world_models

_BUNDLE_FIELDS = ("runtime", "script", "secrets")


def _load_integrations(loader: WorldLoader, organization: Record, given: list[Json]) -> None:
    for one in loader.each_entry(given):
        _load_integration(loader, organization, one)


def _load_integration(loader: WorldLoader, organization: Record, given: Json) -> None:
    name = str(given["name"])
    files: Json = {}

    def store_image(text: str) -> str:
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
        **without_keys(given, "name", "icon", "waiting", *_BUNDLE_FIELDS),
        "previewImages": [store_image(text) for text in given.get("previewImages") or []],
        **({"icon": store_image(given["icon"])} if given.get("icon") else {}),
    }
    integration = loader.add(Record(INTEGRATION, name, doc, organization.id, organization.id))
    bundle = {"runtime": "v1", "script": "", "secrets": {}, "images": files}
    bundle |= {part: given[part] for part in _BUNDLE_FIELDS if part in given}
    loader.add(Record(images.BUNDLE, name, bundle, organization.id, name))
    for event in loader.each_entry(given.get("waiting") or []):
        event_doc = without_keys(event, "id", "organization", "installation")
        loader.add(
            Record(
                WAITING_EVENT, event["id"], event_doc, event["organization"], name, ref=event["installation"]
            )
        )
    if given.get("waiting"):
        loader.add(make_dispatch_job(integration))


def _dump_integrations(dumper: WorldDumper, organization: Record) -> list[Json]:
    found = dumper.find_by_creation(INTEGRATION, organization=organization.id)
    return [_dump_integration(dumper, integration) for integration in found]


def _dump_integration(dumper: WorldDumper, found: Record) -> Json:
    bundle = dumper.store.get(images.BUNDLE, found.id)
    parts = bundle.doc if bundle else {"images": {}}
    made = {"name": found.id, **found.doc, **without_keys(parts, "images")}
    made["previewImages"] = [parts["images"][image] for image in found.doc["previewImages"]]
    if icon := found.doc.get("icon"):
        made["icon"] = parts["images"][icon]
    waiting = dumper.find_by_creation(WAITING_EVENT, scope=found.id)
    if waiting:
        made["waiting"] = [
            {"id": event.id, "organization": event.organization, "installation": event.ref, **event.doc}
            for event in waiting
        ]
    return made


def _load_installations(loader: WorldLoader, organization: Record, given: list[Json]) -> None:
    for one in loader.each_entry(given):
        _load_installation(loader, organization, one)


def _load_installation(loader: WorldLoader, organization: Record, given: Json) -> None:
    id, name = loader.entry_id(INSTALLATION, given), given["integration"]
    doc = {
        "space_selection": "all",
        "site_selection": "all",
        "configuration": {},
        "externalIds": [],
        "createdAt": loader.next_timestamp(),
        "updatedAt": loader.next_timestamp(),
        **without_keys(given, "id", "integration", "spaces", "sites"),
    }
    loader.add(Record(INSTALLATION, id, doc, organization.id, organization.id, ref=name))
    for kind in (SPACE_INSTALLATION, SITE_INSTALLATION):
        level = CONFIGURATION_LEVEL[kind]
        for placed in loader.each_entry(given.get(f"{level}s") or []):
            target = placed[level]
            if loader.get(level, target) is None:
                raise ValueError(f"the installation {id!r} refers to the unknown {level} {target!r}")
            placed_doc = {"configuration": {}, "externalIds": [], **without_keys(placed, level)}
            placed_id = f"{id}:{target}"
            loader.add(Record(kind, placed_id, placed_doc, organization.id, id, name, ref=target))


def _dump_installations(dumper: WorldDumper, organization: Record) -> list[Json]:
    found = dumper.find_by_creation(INSTALLATION, organization=organization.id)
    return [_dump_installation(dumper, installation) for installation in found]


def _dump_installation(dumper: WorldDumper, found: Record) -> Json:
    made: Json = {"id": found.id, "integration": found.ref, **found.doc}
    for kind in (SPACE_INSTALLATION, SITE_INSTALLATION):
        level = CONFIGURATION_LEVEL[kind]
        placed = dumper.find_by_creation(kind, scope=found.id)
        if placed:
            made[f"{level}s"] = [{level: one.ref, **one.doc} for one in placed]
    return made


def _by_ref_anywhere(of: Record) -> ColumnFilter:
    """Match records that refer to the id of an object, in any organization."""
    return {"ref": of.id}


RECORD_KINDS = (
    RecordKind(INTEGRATION, owner="organization",
               world_section=WorldSection("integrations", _load_integrations, _dump_integrations,
                                          value_type=list[world_models.Integration])),
    RecordKind(images.BUNDLE, owner=INTEGRATION),
    RecordKind(EVENT, id_prefix="event", owner=INTEGRATION, alternate_kind=WAITING_EVENT),
    RecordKind(WAITING_EVENT, owner=INTEGRATION),
    RecordKind(INSTALLATION, id_prefix="installation", owner="organization",
               depends_on=(Dependency(INTEGRATION, _by_ref_anywhere),),
               world_section=WorldSection("installations", _load_installations, _dump_installations,
                                          value_type=list[world_models.Installation])),
    RecordKind(SPACE_INSTALLATION, owner=INSTALLATION,
               depends_on=(Dependency("space", _by_ref_anywhere, on_delete=remove_installation),)),
    RecordKind(SITE_INSTALLATION, owner=INSTALLATION,
               depends_on=(Dependency("site", _by_ref_anywhere, on_delete=remove_installation),)),
)  # fmt: skip
