"""Compare natural keys (fields that identify an object, such as its title) of entries and live objects.

`NaturalKeys` reads a key of an entry or of a live object in a comparable form. `KeyIndex` finds the live
objects with a value of a key. `match_below_other_parent` finds the object of an entry that got another
parent. `temporary_name` returns the name that an object has while names are exchanged. That name follows
from the entry's address, so that dpsync recognizes the object after an interruption.
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
from dpsync.model.values import ID_MARKER, REF_MARKER, LiveId, Ref, Value, canonical_json, map_leaves

_CHILD = "$child."
FindLiveId = Callable[[Address], "str | None"]
Key = str | tuple[str, ...]
ComparableValue = str | bytes | tuple[str, "str | Address"]
"""A comparable form of a part of a natural key: two parts are equal if and only if their forms are."""


class NaturalKeys(Struct, frozen=True):
    """The natural keys of one kind, read from entries and live objects in comparable form.

    `first_child` and `children` are used for keys like "$child.space" (a field of the first child).
    """

    kind: Kind
    find_live_id: FindLiveId
    first_child: Callable[[Entry], Entry | None] = lambda _: None
    children: Callable[[LiveObject], Sequence[LiveObject]] = lambda _: ()
    has_environments: bool = False
    """Whether the files serve several platforms: then `id:` in a shared file does not answer a question."""
    ids_by_navigation_path: Mapping[Address, str] = {}
    """For each entry, the id of the live object at the path where the files show the entry."""

    @property
    def uses_ids_file(self) -> bool:
        """Whether the ids file identifies entries instead of `id:`, because several platforms share files."""
        return self.has_environments and self.kind.has_ids_line

    @property
    def first_key(self) -> Key:
        """The natural key that is compared first."""
        return self.kind.natural_keys[0]

    @property
    def later_keys(self) -> Sequence[Key]:
        """The natural keys that are compared if the first one finds nothing."""
        return self.kind.natural_keys[1:]

    def declared_value(self, entry: Entry, key: Key) -> tuple[ComparableValue, ...] | None:
        """Return the value that an entry has for a key; None if a part of the value is missing."""
        if isinstance(key, str):
            part = self._declared_part(entry, key)
            return None if part is None else (self.comparable(part),)
        parts = [self._declared_part(entry, name) for name in key]
        return None if any(part is None for part in parts) else tuple(self.comparable(part) for part in parts)

    def _declared_part(self, entry: Entry, name: str) -> Value:
        """Return the value of an entry for one part of a key; a part "$child.x" is of its first child."""
        if is_child_field(name):
            child = self.first_child(entry)
            return child.fields.get(name.removeprefix(_CHILD)) if child else None
        return self._fold(name, _member_value(entry.fields, name))

    def object_has(self, live: LiveObject, key: Key, value: tuple[ComparableValue, ...]) -> bool:
        """Return whether a live object has this value; for a key of a child, any child may have it."""
        return all(
            part_value in (self.comparable(live_value) for live_value in self._live_values(live, name))
            for name, part_value in zip(key_fields(key), value, strict=True)
        )

    def live_values(self, live: LiveObject, fields: tuple[str, ...]) -> tuple[ComparableValue, ...] | None:
        """Return the values of a live object's own fields; None if one of them is missing."""
        values = [next(iter(self._live_values(live, name)), None) for name in fields]
        return None if None in values else tuple(self.comparable(value) for value in values)

    def _live_values(self, live: LiveObject, name: str) -> Iterable[Value]:
        """Return the values that a live object has for one part of a key.

        The list is empty without a value. For a part like "$child.space" it has a value for each child.
        """
        if is_child_field(name):
            field = name.removeprefix(_CHILD)
            return [child.fields.get(field) for child in self.children(live)]
        value = _member_value(live.fields, name)
        if value is None:
            return []
        return [self._fold(name, value)]

    def _fold(self, name: str, value: Value) -> Value:
        """Return a value as the kind compares it in keys (for example an e-mail in lower case)."""
        return value if "." in name else self.kind.field(name).type.fold_for_key(value)

    def tie_breakers(self, entry: Entry, live: LiveObject) -> tuple[bool, ...]:
        """Return in which fields (tie-breakers of the kind) an entry and an object with its name agree.

        The first fields are the most important, so the best match has the greatest tuple. A field that the
        entry does not declare never agrees. The last item is the path at which a site shows the object.
        """
        declared = tuple(
            field_name in entry.fields
            and self.comparable(entry.fields[field_name]) == self.comparable(live.fields.get(field_name))
            for field_name in self.kind.tie_breakers
        )
        return (*declared, self.ids_by_navigation_path.get(entry.address) == live.id)

    def comparable(self, value: Value) -> ComparableValue:
        """Return a value in a comparable form: a reference as the id of its target, if that is known."""
        if isinstance(value, str):
            return value
        if isinstance(value, LiveId):
            return ID_MARKER, value.id
        if isinstance(value, Ref):
            id = self.find_live_id(value.address)
            return (REF_MARKER, value.address) if id is None else (ID_MARKER, id)

        def with_known_id(leaf: Value) -> Value:
            id = self.find_live_id(leaf.address) if isinstance(leaf, Ref) else None
            return LiveId(id) if id is not None else leaf

        return canonical_json(map_leaves(value, with_known_id))


def _member_value(fields: Mapping[str, Value], name: str) -> Value:
    """Return the value of a field, or of a member of a field ("translations.en")."""
    name, _, member = name.partition(".")
    value = fields.get(name)
    return (value.get(member) if isinstance(value, dict) else None) if member else value


class KeyIndex:
    """The live objects of one parent by the values of keys, so that searches take no quadratic time."""

    def __init__(self, natural_keys: NaturalKeys, live: Sequence[LiveObject]) -> None:
        """Prepare an index of live objects; each key is indexed at its first use."""
        self.live_objects = live
        self._natural_keys = natural_keys
        self._by_fields: dict[tuple[str, ...], dict[tuple[ComparableValue, ...], list[LiveObject]]] = {}

    def objects_with(self, key: Key, value: tuple[ComparableValue, ...] | None) -> list[LiveObject]:
        """Return the objects with this value of a key, in live order; no object if the value is None.

        Only fields of the objects themselves are indexed; fields of their children are compared afterwards.
        """
        if value is None:
            return []
        if isinstance(key, str) and not is_child_field(key):  # most keys
            return list(self._index((key,)).get(value, ()))
        parts = [
            (name, part)
            for name, part in zip(key_fields(key), value, strict=True)
            if not is_child_field(name)
        ]
        own_fields = tuple(name for name, _ in parts)
        hits = self._index(own_fields).get(tuple(part for _, part in parts), [])
        return (
            list(hits)
            if len(own_fields) == len(value)
            else [live for live in hits if self._natural_keys.object_has(live, key, value)]
        )

    def _index(self, fields: tuple[str, ...]) -> dict[tuple[ComparableValue, ...], list[LiveObject]]:
        """Return the live objects by their values of these fields; built once for each set of fields."""
        if fields not in self._by_fields:
            self._by_fields[fields] = self._build_index(fields)
        return self._by_fields[fields]

    def _build_index(self, fields: tuple[str, ...]) -> dict[tuple[ComparableValue, ...], list[LiveObject]]:
        """Return the live objects by their values of these fields, without objects that lack one of them."""
        objects: dict[tuple[ComparableValue, ...], list[LiveObject]] = {}
        for live in self.live_objects:
            value = self._natural_keys.live_values(live, fields)
            if value is not None:
                objects.setdefault(value, []).append(live)
        return objects


def key_fields(key: Key) -> tuple[str, ...]:
    """Return the fields of a key as a tuple."""
    return (key,) if isinstance(key, str) else key


def is_child_field(name: str) -> bool:
    """Return whether a part of a key is a field of the first child instead of the entry."""
    return name.startswith(_CHILD)


def key_text(key: Key) -> str:
    """Return a key for use in a message: its fields joined by "and"."""
    return " and ".join(name.removeprefix(_CHILD) for name in key_fields(key))


def key_span(entry: Entry, key: Key) -> Span:
    """Return the source position of the first field of a key in an entry."""
    first, *_ = key_fields(key)
    return entry.field_span(first)


def match_below_other_parent(
    natural_keys: NaturalKeys,
    entry: Entry,
    live: Sequence[LiveObject],
    earlier_entries: Sequence[Entry],
    line: RecordedLine | None = None,
) -> Match | None:
    """Match an entry with a live object in another parent, to transfer it: by id, ids line or former name.

    `live` has the objects in other parents, `earlier_entries` removed entries with the same key in other
    parents, and `line` is the line of the entry in the ids file. The result is None if no object or several
    objects match.
    """
    if entry.pin is not None:
        return next(
            (Match(live_object.id, MatchedBy.PIN) for live_object in live if live_object.id == entry.pin),
            None,
        )
    if line is not None and any(live_object.id == line.id for live_object in live):
        return Match(line.id, MatchedBy.IDS_LINE)
    if entry.new:
        return None
    former = [replace(entry, fields={**entry.fields, **names}) for names in entry.previously]
    for former_entry in (*former, *earlier_entries):
        for key in natural_keys.kind.natural_keys:
            value = natural_keys.declared_value(former_entry, key)
            hits = [
                live_object
                for live_object in live
                if value is not None and natural_keys.object_has(live_object, key, value)
            ]
            if len(hits) == 1:
                return Match(hits[0].id, MatchedBy.LATER_NATURAL_KEY, key_text(key))
    return None


TEMPORARY_PREFIX = "dpsync-"
"""The prefix of each temporary name."""


def temporary_name(name: str) -> str:
    """Return a temporary name of 39 characters that follows from `name` and that nobody would choose."""
    return f"{TEMPORARY_PREFIX}{hashlib.sha256(name.encode()).hexdigest()[:32]}"
