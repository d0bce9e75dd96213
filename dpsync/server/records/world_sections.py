"""Load the records of a kind from its section of a world, and dump them to it.

A world is the data that the local server starts with: a mapping with one section for each kind of record.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from msgspec import Struct

from ..clock import format_timestamp
from ..store import Json, Record, Store
from .sibling_order import POSITION_STEP
from .world_origin import check_format, check_origin

WORLD = Record("world", "", {})
"""Stands for the owner of the top-level sections: organizations, users and tokens."""
T = TypeVar("T")
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class WorldLoader:
    """A world that is being loaded: its records, new ids, and times of creation."""

    def __init__(self, now: datetime, sections: "Sections", prefixes: Mapping[str, str]) -> None:
        """Start an empty world. `prefixes` has the prefix of the ids of each kind."""
        self.now = now
        self._sections = sections
        self._prefixes = prefixes
        self.records: list[Record] = []
        self.counters: dict[str, int] = {}
        self.space_titles: dict[str, str] = {}
        """The titles of all spaces that are not deleted, by id."""
        self.site_basenames: dict[str, set[str]] = {}
        """The basenames of the sites of each organization."""
        self.current_entries: list[Any] = []
        """The entries that are being loaded, the innermost last. They locate an error."""
        self._record_indexes: dict[tuple[str, str], int] = {}
        self._last_positions: dict[tuple[str, str], int] = {}

    def add(self, record: Record) -> Record:
        """Add a record and return it. Raise ValueError if a record of its kind already has its id."""
        if self.get(record.kind, record.id) is not None:
            raise ValueError(f"two objects of the type {record.kind} have the id {record.id!r}")
        self._record_indexes[record.kind, record.id] = len(self.records)
        record.seq = len(self.records) + 1
        self.records.append(record)
        return record

    def get(self, kind: str, id: str) -> Record | None:
        """Return a record that was loaded before, or None."""
        index = self._record_indexes.get((kind, id))
        return None if index is None else self.records[index]

    def load_children(self, owner: Record, entry: Json) -> None:
        """Load the sections (lists of objects) in the entry of an owner record, such as an organization.

        They are loaded in the order in which their kinds are declared.
        """
        for section in self._sections.get(owner.kind, ()):
            if entry.get(section.key):
                section.load(self, owner, entry[section.key])

    def load_world(self, world: Json) -> None:
        """Load a whole world (the server's data).

        Raise ValueError, KeyError or another error if the world is invalid.
        """
        check_format(world)
        self.load_children(WORLD, world)
        for record in self.each_entry(world.get("records") or []):
            self.add_or_replace(Record(**record))
        check_origin(self.records)

    def each_entry(self, entries: Iterable[T]) -> Iterator[T]:
        """Yield the entries. While an entry is loaded, it is the last element of `current_entries`."""
        for entry in entries:
            self.current_entries.append(entry)
            yield entry
            self.current_entries.pop()

    def without_children(self, kind: str, entry: Json) -> Json:
        """Return an entry without its id and without the sections under a record of this kind."""
        return without_keys(entry, "id", *(section.key for section in self._sections.get(kind, ())))

    def entry_id(self, kind: str, entry: Json) -> str:
        """Return the id of an entry, or the next id of the kind if the entry has none."""
        return str(entry["id"]) if entry.get("id") else self.next_id(kind)

    def next_id(self, kind: str) -> str:
        """Return the next id of a kind. Raise KeyError if the local server makes no ids of this kind."""
        self.counters[kind] = self.counters.get(kind, 0) + 1
        return f"{self._prefixes[kind]}-{self.counters[kind]}"

    def unused_id(self, kind: str) -> str:
        """Return an id that no record loaded so far has."""
        while self.get(kind, id := self.next_id(kind)) is not None:
            pass
        return id

    def next_timestamp(self) -> str:
        """Return the time of creation of the next record: one minute later for each record."""
        return format_timestamp(_EPOCH + timedelta(minutes=len(self.records)))

    def next_position(self, organization: str, parent: str) -> int:
        """Return the next position among siblings, whether or not it is used."""
        key = (organization, parent)
        self._last_positions[key] = self._last_positions.get(key, 0) + 1
        return self._last_positions[key] * POSITION_STEP

    def add_or_replace(self, record: Record) -> None:
        """Replace the record with the same kind and id, keeping its position and `seq`, or add the record."""
        before = self.get(record.kind, record.id)
        if before is None:
            self.add(record)
        else:
            record.seq, record.position = before.seq, before.position
            self.records[self._record_indexes[record.kind, record.id]] = record


class WorldDumper(Struct, frozen=True):
    """A world that is written from a store."""

    store: Store
    sections: "Sections"

    def dump_children(self, owner: Record) -> Json:
        """Return the sections under an owner, by key."""
        values = {section.key: section.dump(self, owner) for section in self.sections.get(owner.kind, ())}
        return {key: value for key, value in values.items() if value is not None}

    def find_by_creation(self, *kinds: str, **where: str) -> list[Record]:
        """Return the records of these kinds in order of creation."""
        records = [record for kind in kinds for record in self.store.find(kind, **where)]
        return sorted(records, key=lambda record: record.seq)


class WorldSection(Struct, frozen=True):
    """The form of a kind's records in a world: one key of the owner's entry.

    `load` gets the owner and the value. `dump` gets the owner and returns the value, or None for no value.
    `value_type` is the type of the value. `kind` is the kind of the records if their entries contain further
    sections.
    """

    key: str
    load: Callable[[WorldLoader, Record, Any], None]
    dump: Callable[[WorldDumper, Record], Any]
    parent_kinds: tuple[str, ...] = ("organization",)
    value_type: Any = Any
    kind: str = ""


Sections = Mapping[str, Sequence[WorldSection]]
"""The sections inside the entry of a record of each kind, in the order in which they are loaded."""


def list_section(
    kind: str,
    key: str,
    parent_kind: str = "organization",
    *,
    value_type: Any = Any,
    ref_field: str = "",
    timestamp_fields: tuple[str, ...] = (),
    **defaults: Any,
) -> WorldSection:
    """Return the section of an ordinary kind: a list of entries, each the document of a record and its id.

    `ref_field` is the member that becomes the record's `ref`. Members in `timestamp_fields` default to the
    time of creation. `defaults` has the other members that an entry may omit.
    """

    def load(loader: WorldLoader, owner: Record, entries: list[Json]) -> None:
        for entry in loader.each_entry(entries):
            doc = {
                **defaults,
                **dict.fromkeys(timestamp_fields, loader.next_timestamp()),
                **without_keys(entry, "id", ref_field),
            }
            id = loader.entry_id(kind, entry)
            loader.add(Record(kind, id, doc, owner.organization, owner.id, ref=entry.get(ref_field) or ""))

    def dump(dumper: WorldDumper, owner: Record) -> list[Json]:
        records = dumper.find_by_creation(kind, scope=owner.id)
        return [
            {"id": record.id, **({ref_field: record.ref} if record.ref else {}), **record.doc}
            for record in records
        ]

    return WorldSection(key, load, dump, (parent_kind,), value_type)


def without_keys(data: Json, *keys: str) -> Json:
    """Return a mapping without some keys."""
    return {key: value for key, value in data.items() if key not in keys}
