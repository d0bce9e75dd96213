"""Compare natural keys of entries and live objects.

How natural keys are read on both sides, to hold an entry and a live object against each other.

An entry that was given to another parent: the live object still lies below the one that it had.

Nothing is guessed: its pin says so, the ids file or the git base, which have the same key elsewhere, or an
earlier name.

The name that an entry's object has for a moment while names are exchanged.

It follows from the entry's address: after an interruption it is known who bears it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.ids import RecordedLine
from dpsync.model.nodes import Span
from dpsync.model.snapshot import LiveObject, Match, MatchedBy
from dpsync.model.values import LIVE, REF, LiveId, Ref, Value, canonical, transform

_CHILD = "$child."
Bound = Callable[[Address], "str | None"]
Key = str | tuple[str, ...]
Form = str | bytes | tuple[str, "str | Address"]
"""What two equal parts of natural keys have in common, and no others: a text is its own."""


class NaturalKeys(Struct, frozen=True):
    """How keys are read on both sides. `first_child` and `children` serve keys like "$child.space"."""

    kind: Kind
    bound: Bound
    first_child: Callable[[Entry], Entry | None] = lambda _: None
    children: Callable[[LiveObject], Sequence[LiveObject]] = lambda _: ()
    environments: bool = False
    """Whether the files are of several platforms: then a question is not answered by a pin in them."""
    ids_at_paths: Mapping[Address, str] = {}
    """For each entry, the id of the live object at the path where the files show the entry."""

    @property
    def shared(self) -> bool:
        """Whether a line of the ids file says who an entry is, and no pin: a line is of one platform."""
        return self.environments and self.kind.recorded

    @property
    def first_key(self) -> Key:
        """The natural key that is asked first."""
        return self.kind.identity[0]

    @property
    def later_keys(self) -> Sequence[Key]:
        """Those that are asked where the first one finds nothing."""
        return self.kind.identity[1:]

    def wanted(self, resource: Entry, key: Key) -> tuple[Form, ...] | None:
        """The entry's value of a key, None when a part of it is not given."""
        if isinstance(key, str):
            part = self._part(resource, key)
            return None if part is None else (self.form(part),)
        parts = [self._part(resource, name) for name in key]
        return None if any(part is None for part in parts) else tuple(self.form(part) for part in parts)

    def _part(self, resource: Entry, name: str) -> Value:
        if of_child(name):
            child = self.first_child(resource)
            return child.fields.get(name.removeprefix(_CHILD)) if child else None
        return self._folded(name, _inside(resource.fields, name))

    def has(self, live: LiveObject, key: Key, value: tuple[Form, ...]) -> bool:
        """Whether a live object carries this value; of children any one is enough."""
        return all(
            wanted in (self.form(part) for part in self._live(live, name))
            for name, wanted in zip(names(key), value, strict=True)
        )

    def carried(self, live: LiveObject, fields: tuple[str, ...]) -> tuple[Form, ...] | None:
        """What a live object has in some fields of its own; None when it lacks one of them."""
        values = [next(iter(self._live(live, name)), None) for name in fields]
        return None if None in values else tuple(self.form(value) for value in values)

    def _live(self, live: LiveObject, name: str) -> Iterable[Value]:
        if of_child(name):
            field = name.removeprefix(_CHILD)
            return [child.fields.get(field) for child in self.children(live)]
        value = _inside(live.fields, name)
        if value is None:
            return []
        return [self._folded(name, value)]

    def _folded(self, name: str, value: Value) -> Value:
        return value if "." in name else self.kind.field(name).type.fold(value)

    def tie_breakers(self, resource: Entry, live: LiveObject) -> tuple[bool, ...]:
        """Which tie-breakers agree, in their order: the greater of two agrees in an earlier one.

        A field that is not declared never agrees. The last tie-breaker is the path that shows the object.
        """
        declared = tuple(
            name in resource.fields and self.form(resource.fields[name]) == self.form(live.fields.get(name))
            for name in self.kind.tie_breakers
        )
        return (*declared, self.ids_at_paths.get(resource.address) == live.id)

    def form(self, value: Value) -> Form:
        """The form of a value of either side: a reference is the id of what it names, once that is known."""
        if isinstance(value, str):
            return value
        if isinstance(value, LiveId):
            return LIVE, value.id
        if isinstance(value, Ref):
            id = self.bound(value.address)
            return (REF, value.address) if id is None else (LIVE, id)
        return canonical(transform(value, self._known))

    def _known(self, leaf: Value) -> Value:
        id = self.bound(leaf.address) if isinstance(leaf, Ref) else None
        return LiveId(id) if id is not None else leaf


def _inside(fields: Mapping[str, Value], name: str) -> Value:
    """The value of a field, or of one member of it ("translations.en")."""
    name, _, member = name.partition(".")
    value = fields.get(name)
    return (value.get(member) if isinstance(value, dict) else None) if member else value


class Index:
    """The live objects of one place by what they carry: found at once, where scans would be quadratic."""

    def __init__(self, view: NaturalKeys, live: Sequence[LiveObject]) -> None:
        self.live = live
        self._view = view
        self._by_fields: dict[tuple[str, ...], dict[tuple[Form, ...], list[LiveObject]]] = {}

    def bearing(self, key: Key, value: tuple[Form, ...] | None) -> list[LiveObject]:
        """The objects that carry this value of a key, in live order; none where there is no value."""
        if value is None:
            return []
        if isinstance(key, str) and not of_child(key):  # most keys
            return list(self._index((key,)).get(value, ()))
        parts = [(name, part) for name, part in zip(names(key), value, strict=True) if not of_child(name)]
        own = tuple(name for name, _ in parts)
        hits = self._index(own).get(tuple(part for _, part in parts), [])
        return list(hits) if len(own) == len(value) else [x for x in hits if self._view.has(x, key, value)]

    def _index(self, fields: tuple[str, ...]) -> dict[tuple[Form, ...], list[LiveObject]]:
        if fields not in self._by_fields:
            self._by_fields[fields] = self._made(fields)
        return self._by_fields[fields]

    def _made(self, fields: tuple[str, ...]) -> dict[tuple[Form, ...], list[LiveObject]]:
        found: dict[tuple[Form, ...], list[LiveObject]] = {}
        for item in self.live:
            value = self._view.carried(item, fields)
            if value is not None:
                found.setdefault(value, []).append(item)
        return found


def names(key: Key) -> tuple[str, ...]:
    """The fields that a key is made of."""
    return (key,) if isinstance(key, str) else key


def of_child(name: str) -> bool:
    """Whether a part of a key is a field of a first child, and none of the entry's own."""
    return name.startswith(_CHILD)


def key_text(key: Key) -> str:
    """A key as people say it."""
    return " and ".join(name.removeprefix(_CHILD) for name in names(key))


def written(entry: Entry, key: Key) -> Span:
    """Where an entry says a key: its first part."""
    first, *_ = names(key)
    return entry.where(first)


def find_elsewhere(
    view: NaturalKeys,
    resource: Entry,
    live: Sequence[LiveObject],
    earlier: Sequence[Entry],
    line: RecordedLine | None = None,
) -> Match | None:
    """The live object below another parent that the entry is; None where none or several could be meant."""
    if resource.pin is not None:
        return next((Match(item.id, MatchedBy.PIN) for item in live if item.id == resource.pin), None)
    if line is not None and any(item.id == line.id for item in live):
        return Match(line.id, MatchedBy.LINE)
    if resource.new:
        return None
    was = [replace(resource, fields={**resource.fields, **names}) for names in resource.previously]
    for entry in (*was, *earlier):
        for key in view.kind.identity:
            value = view.wanted(entry, key)
            hits = [item for item in live if value is not None and view.has(item, key, value)]
            if len(hits) == 1:
                return Match(hits[0].id, MatchedBy.LATER_KEY, key_text(key))
    return None


PREFIX = "dpsync-"
"""What every such name begins with."""


def temporary(name: str) -> str:
    """A value nobody would choose, the same for the same name each time: 39 characters."""
    return f"{PREFIX}{hashlib.sha256(name.encode()).hexdigest()[:32]}"
