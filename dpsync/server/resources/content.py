"""Declare the records of collections and spaces: how the local server stores, loads and dumps them.

Output: a `RecordKind` for each. The comment below shows the form in a world (the data that the local server
starts with). Siblings keep the order of the world. Collections come first, unless both have a `position`.

A deleted space has a time (`deletedAt`) or a number of days before loading the data (`deletedDaysAgo`). With
`deletedDaysAgo`, the space was deleted at the start of that day in UTC.
"""

# collections: [{id, title, description, defaultLevel, parent}]       # parent: a collection's id
# spaces: [{id, type, title, emoji, icon, language, editMode, defaultLevel, mergeRules, parent, deletedAt}]
# both: createdBy                                         # optional: id of the user who created the object
# spaces: gitSync: {repoName, installationProvider, url…} # optional: as responses have it

from datetime import timedelta

from ..clock import format_timestamp
from ..records.record_kind import RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, without_keys
from ..store import Json, Record
from . import world_models

_POSITION_FIELDS = ("parent", "position", "deletedDaysAgo")


def _load_collections(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load the collections of an organization from a world file (the server's initial data)."""
    for collection in loader.each_entry(entries):
        doc = {
            "title": "Untitled",
            "defaultLevel": "inherit",
            **without_keys(loader.without_children("collection", collection), *_POSITION_FIELDS),
        }
        _load_item(loader, "collection", organization, collection, doc)


def _load_spaces(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load the spaces of an organization from a world file (the server's initial data), also deleted ones."""
    for space in loader.each_entry(entries):
        doc = {
            "title": "Untitled",
            "editMode": "live",
            "defaultLevel": "inherit",
            "mergeRules": {"type": "inherit"},
            "createdAt": loader.next_timestamp(),
            "updatedAt": loader.next_timestamp(),
            **without_keys(loader.without_children("space", space), *_POSITION_FIELDS),
        }
        if "deletedDaysAgo" in space:
            day = loader.now - timedelta(days=space["deletedDaysAgo"])
            doc["deletedAt"] = format_timestamp(day.replace(hour=0, minute=0, second=0, microsecond=0))
        kind = "deleted-space" if doc.get("deletedAt") else "space"
        _load_item(loader, kind, organization, space, doc)


def _load_item(loader: WorldLoader, kind: str, organization: Record, entry: Json, doc: Json) -> None:
    """Load a collection or space with the sections inside, at its position or after its siblings."""
    parent = entry.get("parent") or ""
    next_position = loader.next_position(organization.id, parent)
    position = next_position if entry.get("position") is None else entry["position"]
    id = loader.entry_id("space" if kind == "deleted-space" else kind, entry)
    if kind == "space":
        loader.space_titles[id] = doc["title"]
    loader.load_children(
        loader.add(Record(kind, id, doc, organization.id, organization.id, parent, position)), entry
    )


def _dump_collections(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the collections of an organization as entries of a world file (the server's initial data)."""
    return [
        _dump_item(dumper, item)
        for item in dumper.find_by_creation("collection", organization=organization.id)
    ]


def _dump_spaces(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the spaces of an organization, also deleted ones, as a world file (initial data) has them."""
    spaces = dumper.find_by_creation("space", "deleted-space", organization=organization.id)
    return [_dump_item(dumper, space) for space in spaces]


def _dump_item(dumper: WorldDumper, item: Record) -> Json:
    """Return the entry of a collection or space with the sections inside."""
    fields = {"id": item.id, "parent": item.parent or None, "position": item.position}
    return {**fields, **item.doc, **dumper.dump_children(item)}


RECORD_KINDS = (
    RecordKind("collection", id_prefix="col", owner="organization", counted_in_health=True,
               world_section=WorldSection("collections", _load_collections, _dump_collections,
                                          value_type=list[world_models.Collection], kind="collection")),
    RecordKind("space", id_prefix="space", owner="organization", alternate_kind="deleted-space",
               counted_in_health=True,
               world_section=WorldSection("spaces", _load_spaces, _dump_spaces,
                                          value_type=list[world_models.Space],
                                          kind="space")),
    RecordKind("deleted-space", owner="organization"),
)  # fmt: skip
