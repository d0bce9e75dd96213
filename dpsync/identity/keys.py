"""Compare natural keys of entries and live objects.

`NaturalKeys` reads a key of an entry or of a live object in a comparable form. `Index` finds the live objects
with a value of a key. `find_elsewhere` finds the object of an entry that got another parent. `temporary`
returns the name that an object has while names are exchanged. That name follows from the entry's address, so
that dpsync recognizes the object after an interruption.
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
"""A comparable form of a part of a natural key: two parts are equal if and only if their forms are."""


class NaturalKeys(Struct, frozen=True):
    """Natural keys of one kind, read from entries and live objects.

    `first_child` and `children` serve keys like "$child.space".
    """

    kind: Kind
    bound: Bound
    first_child: Callable[[Entry], Entry | None] = lambda _: None
    children: Callable[[LiveObject], Sequence[LiveObject]] = lambda _: ()
    environments: bool = False
    """Whether the files serve several platforms: then `id:` in a shared file does not answer a question."""
    ids_at_paths: Mapping[Address, str] = {}
    """For each entry, the id of the live object at the path where the files show the entry."""

    @property
    def shared(self) -> bool:
        """Whether the ids file identifies entries instead of `id:`, because several platforms share files."""
        return self.environments and self.kind.recorded

    @property
    def first_key(self) -> Key:
        """The natural key that is compared first."""
        return self.kind.identity[0]

    @property
    def later_keys(self) -> Sequence[Key]:
        """The natural keys that are compared if the first one finds nothing."""
        return self.kind.identity[1:]

    def wanted(self, resource: Entry, key: Key) -> tuple[Form, ...] | None:
        """Return the value that an entry has for a key; None if a part of the value is missing."""
        if isinstance(key, str):
            part = self._declared_value(resource, key)
            return None if part is None else (self.form(part),)
        parts = [self._declared_value(resource, name) for name in key]
        return None if any(part is None for part in parts) else tuple(self.form(part) for part in parts)

    def _declared_value(self, resource: Entry, name: str) -> Value:
        if of_child(name):
            child = self.first_child(resource)
            return child.fields.get(name.removeprefix(_CHILD)) if child else None
        return self._folded(name, _member_value(resource.fields, name))

    def has(self, live: LiveObject, key: Key, value: tuple[Form, ...]) -> bool:
        """Return whether a live object has this value; for a key of a child, any child may have it."""
        return all(
            wanted in (self.form(part) for part in self._live_values(live, name))
            for name, wanted in zip(names(key), value, strict=True)
        )

    def own_values(self, live: LiveObject, fields: tuple[str, ...]) -> tuple[Form, ...] | None:
        """Return the values of a live object's own fields; None if one of them is missing."""
        values = [next(iter(self._live_values(live, name)), None) for name in fields]
        return None if None in values else tuple(self.form(value) for value in values)

    def _live_values(self, live: LiveObject, name: str) -> Iterable[Value]:
        if of_child(name):
            field = name.removeprefix(_CHILD)
            return [child.fields.get(field) for child in self.children(live)]
        value = _member_value(live.fields, name)
        if value is None:
            return []
        return [self._folded(name, value)]

    def _folded(self, name: str, value: Value) -> Value:
        return value if "." in name else self.kind.field(name).type.fold(value)

    def tie_breakers(self, resource: Entry, live: LiveObject) -> tuple[bool, ...]:
        """Return which tie-breakers agree, in order, so that the best match has the greatest tuple.

        An undeclared field never agrees. The last tie-breaker is the path at which the object is shown.
        """
        declared = tuple(
            name in resource.fields and self.form(resource.fields[name]) == self.form(live.fields.get(name))
            for name in self.kind.tie_breakers
        )
        return (*declared, self.ids_at_paths.get(resource.address) == live.id)

    def form(self, value: Value) -> Form:
        """Return a value in a comparable form: a reference as the id of its target, if that is known."""
        if isinstance(value, str):
            return value
        if isinstance(value, LiveId):
            return LIVE, value.id
        if isinstance(value, Ref):
            id = self.bound(value.address)
            return (REF, value.address) if id is None else (LIVE, id)
        return canonical(transform(value, self._with_known_id))

    def _with_known_id(self, leaf: Value) -> Value:
        id = self.bound(leaf.address) if isinstance(leaf, Ref) else None
        return LiveId(id) if id is not None else leaf


def _member_value(fields: Mapping[str, Value], name: str) -> Value:
    """Return the value of a field, or of a member of a field ("translations.en")."""
    name, _, member = name.partition(".")
    value = fields.get(name)
    return (value.get(member) if isinstance(value, dict) else None) if member else value


class Index:
    """The live objects of one parent by key values, because scans would take quadratic time."""

    def __init__(self, view: NaturalKeys, live: Sequence[LiveObject]) -> None:
        self.live = live
        self._view = view
        self._by_fields: dict[tuple[str, ...], dict[tuple[Form, ...], list[LiveObject]]] = {}

    def bearing(self, key: Key, value: tuple[Form, ...] | None) -> list[LiveObject]:
        """Return the objects with this value of a key, in live order; no object if the value is None."""
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
            self._by_fields[fields] = self._build_index(fields)
        return self._by_fields[fields]

    def _build_index(self, fields: tuple[str, ...]) -> dict[tuple[Form, ...], list[LiveObject]]:
        found: dict[tuple[Form, ...], list[LiveObject]] = {}
        for item in self.live:
            value = self._view.own_values(item, fields)
            if value is not None:
                found.setdefault(value, []).append(item)
        return found


def names(key: Key) -> tuple[str, ...]:
    """Return the fields of a key."""
    return (key,) if isinstance(key, str) else key


def of_child(name: str) -> bool:
    """Return whether a part of a key is a field of the first child instead of the entry."""
    return name.startswith(_CHILD)


def key_text(key: Key) -> str:
    """Return a key for use in a message."""
    return " and ".join(name.removeprefix(_CHILD) for name in names(key))


def key_span(entry: Entry, key: Key) -> Span:
    """Return the source position of the first part of a key."""
    first, *_ = names(key)
    return entry.where(first)


def find_elsewhere(
    view: NaturalKeys,
    resource: Entry,
    live: Sequence[LiveObject],
    earlier: Sequence[Entry],
    line: RecordedLine | None = None,
) -> Match | None:
    """Match an entry with a live object below another parent; None if no object or several objects match.

    `earlier` has the entries with the same key elsewhere, and `line` the line of the entry in the ids file.
    """
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
"""The prefix of each temporary name."""


def temporary(name: str) -> str:
    """Return a temporary name of 39 characters that follows from `name` and that nobody would choose."""
    return f"{PREFIX}{hashlib.sha256(name.encode()).hexdigest()[:32]}"
