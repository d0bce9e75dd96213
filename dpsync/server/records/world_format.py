"""Load and dump the records of a family as a part of a world."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from msgspec import Struct

from ..clock import stamp
from ..store import Json, Record, Store
from .order import STEP
from .origin import check_format, check_origin

WORLD = Record("world", "", {})
"""What organizations, users and tokens are in."""
T = TypeVar("T")
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Loading:
    """A world that is being loaded: its records, new ids, and times of creation."""

    def __init__(self, now: datetime, sections: "Sections", prefixes: Mapping[str, str]) -> None:
        """Start an empty world. `prefixes` has the prefix of the ids of each kind."""
        self.now = now
        self._sections = sections
        self._prefixes = prefixes
        self.records: list[Record] = []
        self.counters: dict[str, int] = {}
        self.titles: dict[str, str] = {}
        """Of the spaces, deleted ones left out."""
        self.basenames: dict[str, set[str]] = {}
        """Of the sites of each organization."""
        self.at: list[Any] = []
        """The entries that are being loaded, the innermost one last: where an error is."""
        self._known: dict[tuple[str, str], int] = {}
        self._last: dict[tuple[str, str], int] = {}

    def add(self, record: Record) -> Record:
        if self.get(record.kind, record.id) is not None:
            raise ValueError(f"two objects of the type {record.kind} have the id {record.id!r}")
        self._known[record.kind, record.id] = len(self.records)
        record.seq = len(self.records) + 1
        self.records.append(record)
        return record

    def get(self, kind: str, id: str) -> Record | None:
        """Return a record that was loaded before, or None."""
        index = self._known.get((kind, id))
        return None if index is None else self.records[index]

    def inside(self, owner: Record, given: Json) -> None:
        """Load the sections under an owner, in the order of the declarations of their families."""
        for said in self._sections.get(owner.kind, ()):
            if given.get(said.key):
                said.load(self, owner, given[said.key])

    def fill(self, world: Json) -> None:
        """Load a whole world. Raise ValueError, KeyError or another error if the world is invalid."""
        check_format(world)
        self.inside(WORLD, world)
        for record in self.each(world.get("records") or []):
            self.replace(Record(**record))
        check_origin(self.records)

    def each(self, entries: Iterable[T]) -> Iterator[T]:
        """Yield the entries. While an entry is loaded, it is the last element of `at`."""
        for entry in entries:
            self.at.append(entry)
            yield entry
            self.at.pop()

    def own(self, kind: str, given: Json) -> Json:
        """Return an entry without its id and without the sections under a record of this kind."""
        return but(given, "id", *(said.key for said in self._sections.get(kind, ())))

    def id(self, kind: str, given: Json) -> str:
        return str(given["id"]) if given.get("id") else self.next(kind)

    def next(self, kind: str) -> str:
        """Return the next id of a kind. Raise KeyError if the companion makes no ids of this kind."""
        self.counters[kind] = self.counters.get(kind, 0) + 1
        return f"{self._prefixes[kind]}-{self.counters[kind]}"

    def free(self, kind: str) -> str:
        """Return an id that no record loaded so far has."""
        while self.get(kind, id := self.next(kind)) is not None:
            pass
        return id

    def then(self) -> str:
        """Return the time of creation of the next record: one minute later for each record."""
        return stamp(_EPOCH + timedelta(minutes=len(self.records)))

    def following(self, organization: str, parent: str) -> int:
        """Return the next position among siblings, whether or not it is used."""
        key = (organization, parent)
        self._last[key] = self._last.get(key, 0) + 1
        return self._last[key] * STEP

    def replace(self, given: Record) -> None:
        """Replace the record with the same kind and id, keeping its position and `seq`, or add the record."""
        before = self.get(given.kind, given.id)
        if before is None:
            self.add(given)
        else:
            given.seq, given.position = before.seq, before.position
            self.records[self._known[given.kind, given.id]] = given


class Dumping(Struct, frozen=True):
    """A world that is written from a store."""

    store: Store
    sections: "Sections"

    def inside(self, owner: Record) -> Json:
        """Return the sections under an owner, by key."""
        said = {one.key: one.dump(self, owner) for one in self.sections.get(owner.kind, ())}
        return {key: value for key, value in said.items() if value is not None}

    def created(self, *kinds: str, **where: str) -> list[Record]:
        """Return the records of these kinds in order of creation."""
        found = [record for kind in kinds for record in self.store.find(kind, **where)]
        return sorted(found, key=lambda record: record.seq)


class WorldSection(Struct, frozen=True):
    """The form of a family's records in a world: one key of the owner's entry.

    `load` gets the owner and the value. `dump` gets the owner and returns the value, or None for no value.
    `shape` is the type of the value. `kind` is the kind of the records if their entries contain further
    sections.
    """

    key: str
    load: Callable[[Loading, Record, Any], None]
    dump: Callable[[Dumping, Record], Any]
    under: tuple[str, ...] = ("organization",)
    shape: Any = Any
    kind: str = ""


Sections = Mapping[str, Sequence[WorldSection]]
"""What a world says inside a record of each kind, in the order in which it is loaded."""


def listed(
    kind: str,
    key: str,
    under: str = "organization",
    *,
    shape: Any = Any,
    ref: str = "",
    times: tuple[str, ...] = (),
    **defaults: Any,
) -> WorldSection:
    """Return the section of an ordinary family: a list of entries, each the document of a record and its id.

    `ref` is the member that becomes the record's `ref`. Members in `times` default to the time of creation.
    `defaults` has the other members that an entry may omit.
    """

    def load(loading: Loading, owner: Record, given: list[Json]) -> None:
        for one in loading.each(given):
            doc = {**defaults, **dict.fromkeys(times, loading.then()), **but(one, "id", ref)}
            id = loading.id(kind, one)
            loading.add(Record(kind, id, doc, owner.organization, owner.id, ref=one.get(ref) or ""))

    def dump(dumping: Dumping, owner: Record) -> list[Json]:
        found = dumping.created(kind, scope=owner.id)
        return [{"id": one.id, **({ref: one.ref} if one.ref else {}), **one.doc} for one in found]

    return WorldSection(key, load, dump, (under,), shape)


def but(given: Json, *left_out: str) -> Json:
    return {key: value for key, value in given.items() if key not in left_out}
