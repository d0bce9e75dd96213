"""Declare the records of integrations that an organization publishes, of their events and installations.

Output: a `RecordKind` for each. The comment below shows the form in a world (the data that the local server
starts with). Events are plain records there, except events that wait to be sent.
"""

# integrations:                                                   # published by this organization
#   - {name, version, title, visibility, target, icon, previewImages, configurations, verified…}
# installations:                                                  # status: paused, or omitted
#   - id, integration, configuration, externalIds, space_selection, site_selection, status
#     spaces: [{space, configuration, externalIds}]
#     sites: [{site, configuration, externalIds}]

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


def _load_integrations(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load the integrations that an organization publishes from a world file (the server's initial data)."""
    for entry in loader.each_entry(entries):
        _load_integration(loader, organization, entry)


def _load_integration(loader: WorldLoader, organization: Record, entry: Json) -> None:
    """Load an integration, its bundle (script, secrets, images), and its events that wait to be sent."""
    name = str(entry["name"])
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
        **without_keys(entry, "name", "icon", "waiting", *_BUNDLE_FIELDS),
        "previewImages": [store_image(text) for text in entry.get("previewImages") or []],
        **({"icon": store_image(entry["icon"])} if entry.get("icon") else {}),
    }
    integration = loader.add(Record(INTEGRATION, name, doc, organization.id, organization.id))
    bundle = {"runtime": "v1", "script": "", "secrets": {}, "images": files}
    bundle |= {part: entry[part] for part in _BUNDLE_FIELDS if part in entry}
    loader.add(Record(images.BUNDLE, name, bundle, organization.id, name))
    for event in loader.each_entry(entry.get("waiting") or []):
        event_doc = without_keys(event, "id", "organization", "installation")
        loader.add(
            Record(
                WAITING_EVENT, event["id"], event_doc, event["organization"], name, ref=event["installation"]
            )
        )
    if entry.get("waiting"):
        loader.add(make_dispatch_job(integration))


def _dump_integrations(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the integrations that an organization publishes as a world file (initial data) has them."""
    integrations = dumper.find_by_creation(INTEGRATION, organization=organization.id)
    return [_dump_integration(dumper, integration) for integration in integrations]


def _dump_integration(dumper: WorldDumper, integration: Record) -> Json:
    """Return the entry of an integration, with its bundle and its waiting events."""
    bundle = dumper.store.get(images.BUNDLE, integration.id)
    parts = bundle.doc if bundle else {"images": {}}
    entry = {"name": integration.id, **integration.doc, **without_keys(parts, "images")}
    entry["previewImages"] = [parts["images"][image] for image in integration.doc["previewImages"]]
    if icon := integration.doc.get("icon"):
        entry["icon"] = parts["images"][icon]
    waiting = dumper.find_by_creation(WAITING_EVENT, scope=integration.id)
    if waiting:
        entry["waiting"] = [
            {"id": event.id, "organization": event.organization, "installation": event.ref, **event.doc}
            for event in waiting
        ]
    return entry


def _load_installations(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load the installations in an organization from a world file (the server's initial data)."""
    for entry in loader.each_entry(entries):
        _load_installation(loader, organization, entry)


def _load_installation(loader: WorldLoader, organization: Record, entry: Json) -> None:
    """Load an installation, also on spaces and sites. Raise ValueError for an unknown space or site."""
    id, name = loader.entry_id(INSTALLATION, entry), entry["integration"]
    doc = {
        "space_selection": "all",
        "site_selection": "all",
        "configuration": {},
        "externalIds": [],
        "createdAt": loader.next_timestamp(),
        "updatedAt": loader.next_timestamp(),
        **without_keys(entry, "id", "integration", "spaces", "sites"),
    }
    loader.add(Record(INSTALLATION, id, doc, organization.id, organization.id, ref=name))
    for kind in (SPACE_INSTALLATION, SITE_INSTALLATION):
        level = CONFIGURATION_LEVEL[kind]
        for placement in loader.each_entry(entry.get(f"{level}s") or []):
            target = placement[level]
            if loader.get(level, target) is None:
                raise ValueError(f"the installation {id!r} refers to the unknown {level} {target!r}")
            placement_doc = {"configuration": {}, "externalIds": [], **without_keys(placement, level)}
            placement_id = f"{id}:{target}"
            loader.add(Record(kind, placement_id, placement_doc, organization.id, id, name, ref=target))


def _dump_installations(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the installations in an organization as entries of a world file (the server's initial data)."""
    installations = dumper.find_by_creation(INSTALLATION, organization=organization.id)
    return [_dump_installation(dumper, installation) for installation in installations]


def _dump_installation(dumper: WorldDumper, installation: Record) -> Json:
    """Return the entry of an installation, with the spaces and sites on which it is installed."""
    entry: Json = {"id": installation.id, "integration": installation.ref, **installation.doc}
    for kind in (SPACE_INSTALLATION, SITE_INSTALLATION):
        level = CONFIGURATION_LEVEL[kind]
        placements = dumper.find_by_creation(kind, scope=installation.id)
        if placements:
            entry[f"{level}s"] = [{level: placement.ref, **placement.doc} for placement in placements]
    return entry


def _by_ref_anywhere(record: Record) -> ColumnFilter:
    """Match records that refer to the id of an object, in any organization."""
    return {"ref": record.id}


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
