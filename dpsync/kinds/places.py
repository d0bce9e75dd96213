"""Find the addresses that the declarations allow, and the parent of an object.

Which addresses there can be: what the registry's declarations allow, whatever is declared or live.

A pattern that fits none of them is a mistake, and the nearest one that fits is a suggestion. Of a
configuration nothing is known here but the keys of its organizations.

Words used here: a *spot* is a kind of place in the tree of all addresses. An *object spot* stands for one
object (a team), a *list spot* for what holds such objects (the teams of an organization). An address is a
walk from spot to spot, one segment at a time; a pattern is a walk that may take several ways at once.

What a thing lies in: what a field of it names, or, where that is null, what the thing belongs to.

Also the navigation path of a thing: the paths of the nodes from the root to the node that shows the thing.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import count
from typing import Final, Literal
from urllib.parse import unquote

from msgspec import Struct

from dpsync.kinds.kind import Kind, ListOrder, Node, Single
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.model.address import LOCAL_KEY, Address, FieldAddress, Pattern, encode, plain_segment
from dpsync.model.desired import Entry
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.text import did_you_mean
from dpsync.model.values import LiveId, Ref, Value, references

Names = Literal["objects", "lists", "anything"]
"""What a pattern is for: `protect` names objects, `prune` lists of them, `ignore` and `--select` either."""

_LONGEST: Final = 12
"""Segments of a pattern for which a nearest one is looked for."""
_FARTHEST: Final = 6
"""How much a suggestion may differ: a word put right counts 1, a segment more 2, one less 3."""
_UNLIKELY: Final = 2
"""What it counts that `*` stands for a word ("teams"), or that a word is somebody's key."""


class Spot(Struct, frozen=True):
    """An object of a kind, or with `words` the list below it. Words may be missing: `permissions`."""

    kind: str
    words: tuple[str, ...] = ()


class Mistake(Struct, frozen=True):
    """Why a pattern fits no address, and what was probably meant."""

    reason: str
    hint: str


_START: Final = Spot("")


class Places:
    """Every spot of a registry. `organizations` are the keys there can be; None: they are not known."""

    def __init__(self, registry: Registry, organizations: Collection[str] | None = None) -> None:
        self.registry = registry.whole
        self.organizations = None if organizations is None else frozenset(organizations)
        self._onward: dict[Spot, tuple[tuple[str | Kind, Spot], ...]] = {}

    def mistake(self, pattern: Pattern, names: Names = "anything", suggest: bool = True) -> Mistake | None:
        """What is wrong with a pattern that no object or list can ever fit; None when one can.

        To `suggest` another one costs a thousand times as much as to find out that it is one.
        """
        spots, at = self._walk(pattern.segments)
        ends = [spot for spot in spots if self._is(spot, names)]
        if at < len(pattern.segments) or not ends:
            nearest = self._nearest(pattern, names) if suggest else None
            place = names == "objects" and at == len(pattern.segments)
            suffix = pattern.text[len(pattern.path) :]
            known = f'add the key of an entry: "{pattern.path}/KEY{suffix}"' if place else self._known(spots)
            hint = f'did you mean "{nearest}"?' if nearest else known
            if (field := self._field_as_segment(pattern, at, spots, names)) is not None:
                return field
            return Mistake(self._reason(pattern, at, spots, names), hint)
        return self._field_mistake(pattern, ends) if pattern.field else None

    def kinds(self, address: Address) -> tuple[Kind, ...]:
        """The kinds that an object at this address can be of."""
        spots, at = self._walk(address.segments)
        return () if at < len(address.segments) else tuple(self._objects(spots))

    def kinds_of(self, pattern: Pattern) -> tuple[Kind, ...]:
        """The kinds of the objects that a pattern can name."""
        spots, at = self._walk(pattern.segments)
        return () if at < len(pattern.segments) else tuple(self._objects(spots))

    # Walking.

    def _walk(self, segments: Iterable[str]) -> tuple[set[Spot], int]:
        """The spots that a pattern ends at, and how many of its segments led somewhere."""
        spots = {_START}
        for at, segment in enumerate(segments):
            ahead = self._below(spots) if segment == "**" else set(self._one(spots, segment))
            if not ahead:
                return spots, at
            spots = ahead
        return spots, len(tuple(segments))

    def _one(self, spots: set[Spot], segment: str) -> Iterator[Spot]:
        for spot in spots:
            for edge, following in self._edges(spot):
                if segment == "*" or (
                    segment == edge if isinstance(edge, str) else self._key(edge, segment) == segment
                ):
                    yield following

    def _below(self, spots: set[Spot]) -> set[Spot]:
        """Everything at any depth, these spots included."""
        found, pending = set(spots), list(spots)
        while pending:
            for _, spot in self._edges(pending.pop()):
                if spot not in found:
                    found.add(spot)
                    pending.append(spot)
        return found

    def _edges(self, spot: Spot) -> tuple[tuple[str | Kind, Spot], ...]:
        """Where one segment leads: a word, or the key of an object of a kind."""
        if spot not in self._onward:
            self._onward[spot] = tuple(self._fresh_edges(spot))
        return self._onward[spot]

    def _fresh_edges(self, spot: Spot) -> Iterator[tuple[str | Kind, Spot]]:
        if spot == _START:
            yield self.registry.root, Spot(self.registry.root.name)
            return
        yield from self._words(spot)
        for kind in self._held(spot):
            if isinstance(kind.shape, Single):
                yield from self._words(Spot(kind.name))
            else:
                yield kind, Spot(kind.name)

    def _words(self, spot: Spot) -> Iterator[tuple[str, Spot]]:
        depth = len(spot.words)
        for place in self._lists[spot.kind]:
            if len(place) > depth and place[:depth] == spot.words:
                yield place[depth], Spot(spot.kind, place[: depth + 1])

    @cached_property
    def _lists(self) -> dict[str, dict[tuple[str, ...], tuple[Kind, ...]]]:
        """By kind, the lists below one object and what each holds."""
        return {
            name: {tuple(key.split(".")): kinds for key, kinds in self.registry.places(name).items()}
            for name in self.registry.kinds
        }

    def _held(self, spot: Spot) -> Iterator[Kind]:
        """What one key leads to: in a list its objects, in a node those whose address begins with its own."""
        if spot.words:
            for kind in self._lists[spot.kind].get(spot.words, ()):
                if not kind.in_tree or any(not self.registry[name].in_tree for name in kind.parents):
                    yield kind
            return
        shape = self.registry[spot.kind].shape
        for name in shape.holds if isinstance(shape, Node) else ():
            if spot.kind in self.registry[name].parents:
                yield self.registry[name]

    def _key(self, kind: Kind, segment: str) -> str | None:
        """The segment that a key is written as in an address; None where no object can have it."""
        if kind is self.registry.root and self.organizations is not None:
            return segment if segment in self.organizations else None
        if segment.startswith("[") and segment.endswith("]"):
            return segment
        key = unquote(segment)
        if self.registry.keyed(kind):
            return encode(self.registry.folded(kind, key))
        return encode(key) if LOCAL_KEY.fullmatch(key) else None

    def _objects(self, spots: Iterable[Spot]) -> list[Kind]:
        found = {
            kind.name: kind
            for spot in spots
            if spot != _START
            for kind in (
                [kind for kind in self._held(spot) if isinstance(kind.shape, Single)]
                if spot.words
                else [self.registry[spot.kind]]
            )
        }
        return [found[name] for name in sorted(found)]

    def _is(self, spot: Spot, names: Names) -> bool:
        if names == "objects":
            return bool(self._objects([spot]))
        return spot != _START and (names == "anything" or spot.words in self._lists[spot.kind])

    # Telling what is wrong.

    def _reason(self, pattern: Pattern, at: int, spots: set[Spot], names: Names) -> str:
        if at == len(pattern.segments):
            if names == "lists":
                return f'"{pattern.text}" is not a list of entries, and dpsync deletes only objects in lists'
            return f'"{pattern.text}" is a list of entries, and not an entry'
        segment = plain_segment(pattern.segments[at])
        if spots == {_START}:
            return f'"{segment}" is neither an organization in your files nor a list such as "sites"'
        if len(spots) > 1:
            return f'no object can have the address "{pattern.text}"'
        (spot,) = spots
        where = self.registry[spot.kind].one if not spot.words else f'"{spot.words[-1]}"'
        held = [kind for kind in self._held(spot) if not isinstance(kind.shape, Single)]
        if held and spot.words:
            return f'"{segment}" cannot be the key of {" or ".join(kind.one for kind in held)}'
        return f'{where} contains no list or object with the name "{segment}"'

    def _field_as_segment(self, pattern: Pattern, at: int, spots: set[Spot], names: Names) -> Mistake | None:
        """What is wrong with a pattern whose last segment is a field of the thing before it."""
        if at != len(pattern.segments) - 1 or len(spots) != 1 or spots == {_START}:
            return None
        (spot,), segment = spots, pattern.segments[at]
        kind = self.registry[spot.kind]
        if spot.words or segment not in [field.name for field in kind.fields]:
            return None
        if names == "anything":
            path = "/".join(pattern.segments[:at])
            reason = f'"{segment}" is a field of {kind.one}, so "#" must be before the field'
            return Mistake(reason, f'write "{path}#{segment}"')
        wanted = "a list of entries" if names == "lists" else "an entry"
        return Mistake(f'"{segment}" is a field of {kind.one}, and not {wanted}', self._known(spots))

    def _known(self, spots: Iterable[Spot]) -> str:
        words = sorted({edge for spot in spots for edge, _ in self._edges(spot) if isinstance(edge, str)})
        if words:
            return f"possible here: {', '.join(words)}"
        return "copy an address from a plan, or read docs/configuration.md"

    def _field_mistake(self, pattern: Pattern, ends: Iterable[Spot]) -> Mistake | None:
        kinds = self._objects(ends)
        path = pattern.path
        known = sorted({field.name for kind in kinds for field in kind.fields})
        if not kinds:
            reason = f'"{path}" is a list of entries, and a list has no fields'
            return Mistake(reason, f'add the key of an entry: "{path}/KEY#{pattern.field}"')
        if pattern.field in known:
            return None
        nearest = did_you_mean(pattern.field or "", known)
        what = kinds[0].one if len(kinds) == 1 else "no object at this address"
        reason = f'{what} has {"no" if len(kinds) == 1 else "a"} field "{pattern.field}"'
        return Mistake(
            reason, f'did you mean "{path}#{nearest}"?' if nearest else f"the fields are: {', '.join(known)}"
        )

    # The nearest pattern that something can fit.

    def _nearest(self, pattern: Pattern, names: Names) -> str | None:
        """The fewest corrections first; of several equally near ones the first in the registry's order.

        None is wider than what was written: whoever follows it must not delete or ignore more than they said.
        """
        segments = pattern.segments
        if len(segments) > _LONGEST:
            return None
        tie = count()
        pending: list[tuple[int, int, int, Spot, tuple[str, ...]]] = [(0, next(tie), 0, _START, ())]
        seen: set[tuple[int, Spot]] = set()
        while pending:
            cost, _, at, spot, said = heapq.heappop(pending)
            if (at, spot) in seen or cost > _FARTHEST:
                continue
            seen.add((at, spot))
            if at == len(segments) and self._is(spot, names) and self._has(spot, pattern.field):
                if not _wider(self._written(said, pattern), pattern.text):
                    return self._written(said, pattern)
                continue
            for more, ahead, following, word in self._corrections(segments[at : at + 1], spot):
                step = (*said, word) if word is not None else said
                heapq.heappush(pending, (cost + more, next(tie), at + ahead, following, step))
        return None

    def _corrections(
        self, segment: tuple[str, ...], spot: Spot
    ) -> Iterator[tuple[int, int, Spot, str | None]]:
        """Ways on: what one counts, whether it uses the segment up, where it leads, what it writes."""
        edges = self._edges(spot)
        for edge, following in edges:
            if not isinstance(
                edge, str
            ):  # a pattern may begin with the word of a kind: then it means every organization
                yield 0 if spot == _START else 2, 0, following, "*"
        if not segment:
            return
        (given,) = segment
        if given == "**":
            yield 0, 1, spot, given
            yield from ((0, 0, following, None) for _, following in edges)
            return
        nearest = did_you_mean(given, [edge for edge, _ in edges if isinstance(edge, str)])
        for edge, following in edges:
            if isinstance(edge, str):
                fits = 0 if given == edge else 1 if edge == nearest else _UNLIKELY if given == "*" else None
                word = given if given == "*" else edge
            elif given == "*":
                fits, word = 0, given
            else:
                key = self._key(edge, given)
                if key is None and edge is self.registry.root:
                    key = did_you_mean(given, self.organizations or ())
                fits, word = (2, "*") if key is None else (int(key != given), key)
                if given in self._every_word:
                    fits += _UNLIKELY
            if fits is not None:
                yield fits, 1, following, word
        yield 3, 1, spot, None

    def _has(self, spot: Spot, field: str | None) -> bool:
        return field is None or any(
            item.name == field for kind in self._objects([spot]) for item in kind.fields
        )

    @cached_property
    def _every_word(self) -> frozenset[str]:
        return frozenset(word for lists in self._lists.values() for words in lists for word in words)

    def _written(self, segments: tuple[str, ...], pattern: Pattern) -> str:
        if len(segments) > 1 and segments[0] == "*" and segments[1] in self.registry.words:
            segments = segments[1:]
        return "/".join(segments) + (f"#{pattern.field}" if pattern.field else "")


def _wider(text: str, written: str) -> bool:
    """Whether a pattern has a wildcard more than another one, or names one thing less."""
    (stars, names), (before, named) = _counts(text), _counts(written)
    return stars > before or names < named


def _counts(text: str) -> tuple[int, int]:
    """The wildcards of a pattern, and its other segments."""
    segments = FieldAddress.parse(text).address.segments
    stars = sum(segment in ("*", "**") for segment in segments)
    return stars, len(segments) - stars


NavigationPath = tuple[Address, tuple[str, ...]]
"""The owner of a navigation, and the `path` of each node from the root to the node that shows an object."""


def declared_place(place: str, entry: Entry) -> Address | None:
    """The entry that an entry is declared to lie in, by its field `place`.

    None where that says nothing, or names something by its id.
    """
    if place not in entry.fields:
        return None
    value = entry.fields[place]
    if value is None:
        return entry.parent
    return value.address if isinstance(value, Ref) else None


def ordered_by(
    registry: Registry, entries: Mapping[Address, Entry], entry: Entry
) -> tuple[Address, ListOrder] | None:
    """The entry in which an entry lies, and the list by which that can order it; None where there is none."""
    order = registry.list_order(entry.kind)
    place = declared_place(order.by, entry) if order is not None else None
    holder = entries.get(place) if place is not None else None
    listed = registry.list_orders(entry.kind).get(holder.kind) if holder is not None else None
    return (holder.address, listed) if holder is not None and listed is not None else None


def live_place(kind: Kind, place: str, live: LiveObject) -> Identity | None:
    """The object that a live one of this kind lies in, by its field `place`."""
    value = live.fields.get(place)
    return (kind.field(place).type.refers[0], value.id) if isinstance(value, LiveId) else live.parent


def declared_navigation_paths(
    registry: Registry, entries: Mapping[Address, Entry]
) -> Mapping[Address, set[NavigationPath]]:
    """Return, by entry, the navigation paths at which the files show the entry.

    A node is left out if the files do not declare the `path` of the node and of each node above.
    """
    found: dict[Address, set[NavigationPath]] = defaultdict(set)
    for entry in entries.values():
        shown = references(_shown_reference(registry[entry.kind], entry.fields))
        if shown and (place := _declared_path(registry, entries, entry)) is not None:
            for address in shown:
                found[address].add(place)
    return found


def _declared_path(
    registry: Registry, entries: Mapping[Address, Entry], entry: Entry
) -> NavigationPath | None:
    paths: list[str] = []
    at: Entry | None = entry
    while at is not None and isinstance(registry[at.kind].shape, NodeShape):
        if (path := _node_path(registry[at.kind], at.fields)) is None:
            return None
        paths.append(path)
        at = entries.get(at.parent) if at.parent is not None else None
    return (at.address, tuple(reversed(paths))) if at is not None else None


def live_navigation_paths(
    registry: Registry, nodes: Iterable[LiveObject]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the id of each object that the nodes of one navigation show, and the object's navigation path."""
    by_identity = {node.identity: node for node in nodes}
    for node in by_identity.values():
        shown = _shown_reference(registry[node.kind], node.fields)
        paths: list[str] = []
        at: LiveObject | None = node if isinstance(shown, LiveId) else None
        while at is not None and (path := _node_path(registry[at.kind], at.fields)) is not None:
            paths.append(path)
            if at.parent not in by_identity:
                assert isinstance(shown, LiveId)
                yield shown.id, tuple(reversed(paths))
                break
            at = by_identity[at.parent]


def _shown_reference(kind: Kind, fields: Mapping[str, Value]) -> Value:
    """Return the reference of a navigation node to the object that it shows; None if it shows no object."""
    if not isinstance(kind.shape, NodeShape):
        return None
    return next((fields.get(field.name) for field in kind.fields if field.access == "shows"), None)


def _node_path(kind: Kind, fields: Mapping[str, Value]) -> str | None:
    """Return the `path` of a node (the first natural key of its kind), in the form used for comparison."""
    key = kind.identity[0]
    value = kind.field(key).type.fold(fields.get(key)) if isinstance(key, str) else None
    return value if isinstance(value, str) else None
