"""Random entries, objects and a git base of one place, small enough that names meet often. Values only."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from msgspec.structs import replace

from dpsync.identity.candidates import History
from dpsync.identity.ids import RecordedLines
from dpsync.identity.keys import NaturalKeys
from dpsync.identity.match import MatchResult, match
from dpsync.kinds.kind import EntryMapping, Field, Kind, ListRead, Patch
from dpsync.kinds.types import Reference, Text
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.ids import RecordedLine
from dpsync.model.nodes import Span
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import LiveId, Value

SPAN = Span("dpsync.yaml", 1, 1, 1, 2)
PLACE = Address.parse("acme/things")
PARENT = ("org", "acme")
VALUES, SPARE, SPACES = "ABCD", "EFGHIJ", "STUVXY"
FIELDS = (
    Field("title", Text()),
    Field("path", Text(), written_in="update"),
    Field("space", Reference.to("space")),
)


@dataclass(frozen=True)
class Shape:
    """A kind, its fields, and which of them an entry must have. The values of `unique` differ."""

    kind: Kind
    fields: tuple[str, ...]
    required: str
    unique: str
    with_children: bool = False


def _kind(*identity: str | tuple[str, ...], sole_key: str | None = None) -> Kind:
    read, update = ListRead("/things"), Patch("{self}", repeat="safe")
    return Kind(
        "thing", "org", "things", EntryMapping(), "/{id}", read, FIELDS,
        natural_keys=identity, sole_key=sole_key, update=update,
    )  # fmt: skip


SHAPES = {
    "team": Shape(_kind("title"), ("title",), "title", "title"),
    "site": Shape(_kind("path", "title"), ("path", "title"), "title", "path"),
    "site space": Shape(_kind("path", "space"), ("path", "space"), "space", "path"),
    "section": Shape(
        _kind("path", ("title", "$child.space"), sole_key="title"),
        ("path", "title"), "title", "path", with_children=True,
    ),
}  # fmt: skip


@dataclass
class Side:
    """Entries with what the first child of each shows."""

    entries: dict[Address, Entry] = field(default_factory=dict)
    children: dict[Address, Entry] = field(default_factory=dict)

    def add(self, key: str, fields: Mapping[str, Value], space: str | None = None) -> None:
        address = PLACE.child(key)
        below = () if space is None else (address.child("first"),)
        root, spans = Address.root("acme"), dict.fromkeys(fields, SPAN)
        self.entries[address] = Entry(
            "thing", address, key, root, None, dict(fields), SPAN, spans, children=below
        )
        if space is not None:
            self.children[address] = Entry(
                "shown", below[0], "first", address, None, {"space": LiveId(space)}, SPAN, {}
            )

    def first(self, entry: Entry) -> Entry | None:
        return self.children.get(entry.address)


@dataclass
class Case:
    """One place: what is declared now and what was, what is live, and which entry each object is of right."""

    shape: Shape
    now: Side
    base: Side
    live: list[LiveObject]
    shown: dict[str, list[str]]
    """By object, what its children show."""
    own: dict[Address, str]

    def view(self, side: Side) -> NaturalKeys:
        return NaturalKeys(self.shape.kind, lambda _: None, side.first, self._children)

    def _children(self, item: LiveObject) -> list[LiveObject]:
        here = ("thing", item.id)
        return [
            LiveObject("shown", space, here, here, {"space": LiveId(space)}, "/things")
            for space in self.shown[item.id]
        ]

    def matched(self, *, base: bool = True, recorded: Mapping[Address, str] | None = None) -> MatchResult:
        lines = {address: RecordedLine(address, id) for address, id in (recorded or {}).items()}
        past = History(self.base.entries, self.base.first) if base else History()
        past = replace(past, recorded_lines=RecordedLines(lines))
        return match(self.view(self.now), list(self.now.entries.values()), self.live, past)

    @property
    def certain(self) -> bool:
        """Whether each entry of the base has an object that nothing else could be taken for."""
        view = self.view(self.base)
        for entry in self.base.entries.values():
            key, value = next(
                (key, value)
                for key in self.shape.kind.natural_keys
                if (value := view.declared_value(entry, key)) is not None
            )
            if [item.id for item in self.live if view.object_has(item, key, value)] != [
                self.own[entry.address]
            ]:
                return False
        return not dataclasses.replace(self, now=self.base).matched(base=False).diagnostics

    @property
    def dropped(self) -> bool:
        """Whether an entry does not say any more what it was known by."""
        first = self.shape.unique
        return any(
            first in before.fields and first not in self.now.entries[address].fields
            for address, before in self.base.entries.items()
        )

    def __str__(self) -> str:
        lines = [f"live {item.id}: {dict(item.fields)} shows {self.shown[item.id]}" for item in self.live]
        for name, side in (("base", self.base), ("now", self.now)):
            for address, entry in side.entries.items():
                child = side.children.get(address)
                lines.append(f"{name} {entry.key}: {entry.fields} {child.fields if child else ''}")
        return "\n".join(lines)


def unapplied(random: Random, shape: Shape) -> Case | None:
    """Draw a platform that equals the base, and new values for the entries; None if the base is ambiguous."""
    count = random.randint(1, 4)
    live = [
        LiveObject("thing", str(n), PARENT, None, fields, "/things")
        for n, fields in enumerate(_fields(random, shape, count, 1.0))
    ]
    shown = {item.id: random.sample(SPACES, random.randint(1, 2)) for item in live}
    base, now = Side(), Side()
    for item in live:
        kept = {n: v for n, v in item.fields.items() if n == shape.required or random.random() < 0.6}
        base.add(f"k{item.id}", kept, shown[item.id][0] if shape.with_children else None)
    made = random.randint(0, 2)
    drawn = _fields(random, shape, count + made, 0.6)
    same = {n for n in range(count) if random.random() < 0.4}
    values = {base.entries[PLACE.child(f"k{n}")].fields.get(shape.unique) for n in same}
    for n, fields in enumerate(drawn):
        key = f"k{n}" if n < count else f"n{n - count}"
        if n in same:
            fields = dict(base.entries[PLACE.child(key)].fields)
        elif fields.get(shape.unique) in values:
            if shape.unique == shape.required:
                continue
            fields.pop(shape.unique, None)
        space = random.choice(SPACES) if n >= count or random.random() < 0.4 else shown[str(n)][0]
        now.add(key, fields, space if shape.with_children else None)
    own = {PLACE.child(f"k{item.id}"): item.id for item in live}
    if not {*own} <= {*now.entries}:
        return None
    case = Case(shape, now, base, live, shown, own)
    return case if case.certain else None


def applied(case: Case) -> Case:
    """Return the case after its apply: each entry has an object, and a new entry has a new object."""
    unique, spare = case.shape.unique, list(SPARE)
    wanted = {entry.fields.get(unique) for entry in case.now.entries.values()}
    before = {item.id: item for item in case.live}
    live, shown, own = [], {}, {}
    for address, entry in sorted(case.now.entries.items(), key=lambda item: item[0]):
        id = case.own.get(address, f"new-{entry.key}")
        old = dict(before[id].fields) if id in before else {}
        if unique not in old or old[unique] in wanted:
            old[unique] = spare.pop()
        live.append(LiveObject("thing", id, PARENT, None, {**old, **entry.fields}, "/things"))
        child = case.now.first(entry)
        first = [child.fields["space"].id] if child is not None else []
        shown[id] = first + [space for space in case.shown.get(id, ()) if space not in first]
        own[address] = id
    return dataclasses.replace(case, live=live, shown=shown, own=own)


def _fields(random: Random, shape: Shape, count: int, share: float) -> list[dict[str, Value]]:
    """Draw the fields of `count` objects; each optional field is in a `share` of them."""
    free = random.sample(VALUES, len(VALUES))
    found: list[dict[str, Value]] = []
    for _ in range(count):
        fields: dict[str, Value] = {}
        for name in shape.fields:
            if name == shape.unique:
                if free and (name == shape.required or random.random() < share):
                    fields[name] = free.pop()
            else:
                value = random.choice(VALUES)
                fields[name] = LiveId(value) if name == "space" else value
        if shape.required in fields:
            found.append(fields)
    return found
