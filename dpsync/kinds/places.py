"""Find the addresses that the declarations allow, and the parent of an object.

`PlaceTypes.find_problem` checks a pattern against all possible addresses and suggests the nearest valid
pattern. A *place type* is an object of a kind (a team) or a list of objects (the teams of an organization).
An address is a walk from place type to place type, one segment at a time. A pattern can be several walks. A
*navigation path* has the path segments of the nodes from the root to the node that shows an object.
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

from dpsync.kinds.kind import Kind, ListOrder, SingleEntry, TreeNode
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.model.address import LOCAL_KEY, Address, FieldAddress, Pattern, encode_segment, plain_segment
from dpsync.model.desired import Entry
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.text import did_you_mean
from dpsync.model.values import LiveId, Ref, Value, references

PatternTarget = Literal["objects", "lists", "anything"]
"""What a pattern may match: `protect` objects, `prune` lists of objects, `ignore` and `--select` both."""

_MAX_SUGGESTED_SEGMENTS: Final = 12
"""Maximum number of segments of a pattern for which a suggestion is searched."""
_MAX_SUGGESTION_COST: Final = 6
"""Maximum cost of a suggestion: a corrected word costs 1, an added segment 2, a removed segment 3."""
_WILDCARD_COST: Final = 2
"""Cost of `*` in place of a list name ("teams"), and of a list name as a key."""


class PlaceType(Struct, frozen=True):
    """A type of place in the tree of addresses: an object of a kind or, with `list_words`, a list in it.

    `list_words` are the words of the list, as `("permissions", "users")`, and may be incomplete.
    """

    kind: str
    list_words: tuple[str, ...] = ()


class PatternProblem(Struct, frozen=True):
    """Why a pattern matches no address, and how to fix it."""

    reason: str
    hint: str


_ROOT_PLACE: Final = PlaceType("")


class PlaceTypes:
    """All place types of a registry. `organizations` has the possible keys; None if they are unknown."""

    def __init__(self, registry: Registry, organizations: Collection[str] | None = None) -> None:
        self.registry = registry.with_all_kinds
        self.organizations = None if organizations is None else frozenset(organizations)
        self._edges_by_place: dict[PlaceType, tuple[tuple[str | Kind, PlaceType], ...]] = {}

    def find_problem(
        self, pattern: Pattern, target: PatternTarget = "anything", suggest: bool = True
    ) -> PatternProblem | None:
        """Return why a pattern can match no object or list, and how to fix it; None if it can match one.

        A search for a suggestion (`suggest`) takes a thousand times as long as the check.
        """
        spots, at = self._walk(pattern.segments)
        ends = [spot for spot in spots if self._may_match(spot, target)]
        if at < len(pattern.segments) or not ends:
            nearest = self._nearest_pattern(pattern, target) if suggest else None
            place = target == "objects" and at == len(pattern.segments)
            suffix = pattern.text[len(pattern.address_text) :]
            known = (
                f'add the key of an entry: "{pattern.address_text}/KEY{suffix}"'
                if place
                else self._possible_words(spots)
            )
            hint = f'did you mean "{nearest}"?' if nearest else known
            if (field := self._segment_is_field_problem(pattern, at, spots, target)) is not None:
                return field
            return PatternProblem(self._problem_reason(pattern, at, spots, target), hint)
        return self._field_problem(pattern, ends) if pattern.field else None

    def kinds(self, address: Address) -> tuple[Kind, ...]:
        """Return the kinds that an object at this address may have."""
        spots, at = self._walk(address.segments)
        return () if at < len(address.segments) else tuple(self._kinds_at(spots))

    def kinds_of(self, pattern: Pattern) -> tuple[Kind, ...]:
        """Return the kinds of the objects that a pattern can match."""
        spots, at = self._walk(pattern.segments)
        return () if at < len(pattern.segments) else tuple(self._kinds_at(spots))

    # --- walks ----------------------------------------------------------------------------------------

    def _walk(self, segments: Iterable[str]) -> tuple[set[PlaceType], int]:
        """Walk from the root along the segments of an address or pattern, as far as the declarations allow.

        Return the place types that the walk reaches, and the number of segments that it used.
        """
        spots = {_ROOT_PLACE}
        for at, segment in enumerate(segments):
            ahead = self._with_all_below(spots) if segment == "**" else set(self._next_places(spots, segment))
            if not ahead:
                return spots, at
            spots = ahead
        return spots, len(tuple(segments))

    def _next_places(self, spots: set[PlaceType], segment: str) -> Iterator[PlaceType]:
        """Yield the place types to which one segment leads."""
        for spot in spots:
            for edge, following in self._edges(spot):
                if segment == "*" or (
                    segment == edge if isinstance(edge, str) else self._key_segment(edge, segment) == segment
                ):
                    yield following

    def _with_all_below(self, spots: set[PlaceType]) -> set[PlaceType]:
        """Return these place types and all place types below them, for the segment `**`."""
        found, pending = set(spots), list(spots)
        while pending:
            for _, spot in self._edges(pending.pop()):
                if spot not in found:
                    found.add(spot)
                    pending.append(spot)
        return found

    def _edges(self, spot: PlaceType) -> tuple[tuple[str | Kind, PlaceType], ...]:
        """Return what may follow a place type: a word or the key of a kind, each with the next place type."""
        if spot not in self._edges_by_place:
            self._edges_by_place[spot] = tuple(self._build_edges(spot))
        return self._edges_by_place[spot]

    def _build_edges(self, spot: PlaceType) -> Iterator[tuple[str | Kind, PlaceType]]:
        """Yield what may follow a place type.

        A single entry, such as settings, has no key and is passed over.
        """
        if spot == _ROOT_PLACE:
            yield self.registry.root, PlaceType(self.registry.root.name)
            return
        yield from self._next_words(spot)
        for kind in self._contained_kinds(spot):
            if isinstance(kind.shape, SingleEntry):
                yield from self._next_words(PlaceType(kind.name))
            else:
                yield kind, PlaceType(kind.name)

    def _next_words(self, spot: PlaceType) -> Iterator[tuple[str, PlaceType]]:
        """Yield the next word of each list in an object, with the next place type."""
        depth = len(spot.list_words)
        for place in self._lists[spot.kind]:
            if len(place) > depth and place[:depth] == spot.list_words:
                yield place[depth], PlaceType(spot.kind, place[: depth + 1])

    @cached_property
    def _lists(self) -> dict[str, dict[tuple[str, ...], tuple[Kind, ...]]]:
        """Return the lists in an object by its kind and their words, with the kinds of the listed objects."""
        return {
            name: {
                tuple(key.split(".")): kinds for key, kinds in self.registry.kinds_by_list_key(name).items()
            }
            for name in self.registry.kinds
        }

    def _contained_kinds(self, spot: PlaceType) -> Iterator[Kind]:
        """Yield the kinds whose keys may follow: the kinds in a list, or the kinds of a node's children.

        The address of a child node starts with the address of its parent only for such kinds.
        """
        if spot.list_words:
            for kind in self._lists[spot.kind].get(spot.list_words, ()):
                if not kind.is_node or any(not self.registry[name].is_node for name in kind.parents):
                    yield kind
            return
        shape = self.registry[spot.kind].shape
        for name in shape.child_kinds if isinstance(shape, TreeNode) else ():
            if spot.kind in self.registry[name].parents:
                yield self.registry[name]

    def _key_segment(self, kind: Kind, segment: str) -> str | None:
        """Return a segment as the key of an object in an address; None if no object can have the key."""
        if kind is self.registry.root and self.organizations is not None:
            return segment if segment in self.organizations else None
        if segment.startswith("[") and segment.endswith("]"):
            return segment
        key = unquote(segment)
        if self.registry.has_data_key(kind):
            return encode_segment(self.registry.fold_key(kind, key))
        return encode_segment(key) if LOCAL_KEY.fullmatch(key) else None

    def _kinds_at(self, spots: Iterable[PlaceType]) -> list[Kind]:
        """Return the kinds of the objects at these place types, sorted by name."""
        found = {
            kind.name: kind
            for spot in spots
            if spot != _ROOT_PLACE
            for kind in (
                [kind for kind in self._contained_kinds(spot) if isinstance(kind.shape, SingleEntry)]
                if spot.list_words
                else [self.registry[spot.kind]]
            )
        }
        return [found[name] for name in sorted(found)]

    def _may_match(self, spot: PlaceType, names: PatternTarget) -> bool:
        """Return whether a place type is what a pattern may match: an object, a list, or either."""
        if names == "objects":
            return bool(self._kinds_at([spot]))
        return spot != _ROOT_PLACE and (names == "anything" or spot.list_words in self._lists[spot.kind])

    # --- reasons --------------------------------------------------------------------------------------

    def _problem_reason(self, pattern: Pattern, at: int, spots: set[PlaceType], names: PatternTarget) -> str:
        """Return why a pattern matches no address. `at` is the number of segments that are right."""
        if at == len(pattern.segments):
            if names == "lists":
                return f'"{pattern.text}" is not a list of entries, and dpsync deletes only objects in lists'
            return f'"{pattern.text}" is a list of entries, and not an entry'
        segment = plain_segment(pattern.segments[at])
        if spots == {_ROOT_PLACE}:
            return f'"{segment}" is neither an organization in your files nor a list such as "sites"'
        if len(spots) > 1:
            return f'no object can have the address "{pattern.text}"'
        (spot,) = spots
        where = (
            self.registry[spot.kind].noun_with_article if not spot.list_words else f'"{spot.list_words[-1]}"'
        )
        held = [kind for kind in self._contained_kinds(spot) if not isinstance(kind.shape, SingleEntry)]
        if held and spot.list_words:
            return f'"{segment}" cannot be the key of {" or ".join(kind.noun_with_article for kind in held)}'
        return f'{where} contains no list or object with the name "{segment}"'

    def _segment_is_field_problem(
        self, pattern: Pattern, at: int, spots: set[PlaceType], names: PatternTarget
    ) -> PatternProblem | None:
        """Return the problem if the last segment is a field of the object before it, otherwise None."""
        if at != len(pattern.segments) - 1 or len(spots) != 1 or spots == {_ROOT_PLACE}:
            return None
        (spot,), segment = spots, pattern.segments[at]
        kind = self.registry[spot.kind]
        if spot.list_words or segment not in [field.name for field in kind.fields]:
            return None
        if names == "anything":
            path = "/".join(pattern.segments[:at])
            reason = f'"{segment}" is a field of {kind.noun_with_article}, so "#" must be before the field'
            return PatternProblem(reason, f'write "{path}#{segment}"')
        wanted = "a list of entries" if names == "lists" else "an entry"
        return PatternProblem(
            f'"{segment}" is a field of {kind.noun_with_article}, and not {wanted}',
            self._possible_words(spots),
        )

    def _possible_words(self, spots: Iterable[PlaceType]) -> str:
        """Return a hint with the words that may follow one of these place types."""
        words = sorted({edge for spot in spots for edge, _ in self._edges(spot) if isinstance(edge, str)})
        if words:
            return f"possible here: {', '.join(words)}"
        return "copy an address from a plan, or read docs/configuration.md"

    def _field_problem(self, pattern: Pattern, ends: Iterable[PlaceType]) -> PatternProblem | None:
        """Return why no object at the end of a pattern has the pattern's field; None if one has it."""
        kinds = self._kinds_at(ends)
        path = pattern.address_text
        known = sorted({field.name for kind in kinds for field in kind.fields})
        if not kinds:
            reason = f'"{path}" is a list of entries, and a list has no fields'
            return PatternProblem(reason, f'add the key of an entry: "{path}/KEY#{pattern.field}"')
        if pattern.field in known:
            return None
        nearest = did_you_mean(pattern.field or "", known)
        what = kinds[0].noun_with_article if len(kinds) == 1 else "no object at this address"
        reason = f'{what} has {"no" if len(kinds) == 1 else "a"} field "{pattern.field}"'
        return PatternProblem(
            reason, f'did you mean "{path}#{nearest}"?' if nearest else f"the fields are: {', '.join(known)}"
        )

    # --- suggestions ----------------------------------------------------------------------------------

    def _nearest_pattern(self, pattern: Pattern, names: PatternTarget) -> str | None:
        """Return the valid pattern with the fewest corrections, the first one in registry order if equal.

        Searches the cheapest walk (Dijkstra). Never returns a wider pattern: a user who follows the
        suggestion must not delete or ignore more than intended.
        """
        segments = pattern.segments
        if len(segments) > _MAX_SUGGESTED_SEGMENTS:
            return None
        tie = count()
        pending: list[tuple[int, int, int, PlaceType, tuple[str, ...]]] = [(0, next(tie), 0, _ROOT_PLACE, ())]
        seen: set[tuple[int, PlaceType]] = set()
        while pending:
            cost, _, at, spot, said = heapq.heappop(pending)
            if (at, spot) in seen or cost > _MAX_SUGGESTION_COST:
                continue
            seen.add((at, spot))
            if (
                at == len(segments)
                and self._may_match(spot, names)
                and self._is_field_of(spot, pattern.field)
            ):
                if not _is_wider(self._pattern_text(said, pattern), pattern.text):
                    return self._pattern_text(said, pattern)
                continue
            for more, ahead, following, word in self._corrections(segments[at : at + 1], spot):
                step = (*said, word) if word is not None else said
                heapq.heappush(pending, (cost + more, next(tie), at + ahead, following, step))
        return None

    def _corrections(
        self, segment: tuple[str, ...], spot: PlaceType
    ) -> Iterator[tuple[int, int, PlaceType, str | None]]:
        """Yield the next steps of a corrected walk from a place type.

        A step has its cost, the number of segments that it uses, the next place type, and the segment to
        write. `segment` is the next segment of the pattern, () at its end.
        """
        edges = self._edges(spot)
        for edge, following in edges:
            if not isinstance(
                edge, str
            ):  # a pattern may begin with the word of a kind: then it means every organization
                yield 0 if spot == _ROOT_PLACE else 2, 0, following, "*"
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
                fits = (
                    0 if given == edge else 1 if edge == nearest else _WILDCARD_COST if given == "*" else None
                )
                word = given if given == "*" else edge
            elif given == "*":
                fits, word = 0, given
            else:
                key = self._key_segment(edge, given)
                if key is None and edge is self.registry.root:
                    key = did_you_mean(given, self.organizations or ())
                fits, word = (2, "*") if key is None else (int(key != given), key)
                if given in self._all_words:
                    fits += _WILDCARD_COST
            if fits is not None:
                yield fits, 1, following, word
        yield 3, 1, spot, None

    def _is_field_of(self, spot: PlaceType, field: str | None) -> bool:
        """Return whether an object at a place type has a field; True without a field."""
        return field is None or any(
            item.name == field for kind in self._kinds_at([spot]) for item in kind.fields
        )

    @cached_property
    def _all_words(self) -> frozenset[str]:
        """Return the words of all lists. As a key, such a word is probably a mistake."""
        return frozenset(word for lists in self._lists.values() for words in lists for word in words)

    def _pattern_text(self, segments: tuple[str, ...], pattern: Pattern) -> str:
        """Return a corrected pattern as text, without a first `*` that a pattern may omit."""
        if len(segments) > 1 and segments[0] == "*" and segments[1] in self.registry.pattern_words:
            segments = segments[1:]
        return "/".join(segments) + (f"#{pattern.field}" if pattern.field else "")


def _is_wider(text: str, written: str) -> bool:
    """Return whether a pattern has more wildcards or fewer names than the one that was written."""
    (stars, names), (before, named) = _count_segments(text), _count_segments(written)
    return stars > before or names < named


def _count_segments(text: str) -> tuple[int, int]:
    """Return the numbers of wildcards and of other segments in a pattern."""
    segments = FieldAddress.parse(text).address.segments
    stars = sum(segment in ("*", "**") for segment in segments)
    return stars, len(segments) - stars


NavigationPath = tuple[Address, tuple[str, ...]]
"""The owner of a navigation, and the `path` of each node from the root to the node that shows an object."""


def declared_container(place_field: str, entry: Entry) -> Address | None:
    """Return the address of the entry in which an entry is placed by its field `place_field`.

    Return None if the field is absent or refers to an object by id.
    """
    if place_field not in entry.fields:
        return None
    value = entry.fields[place_field]
    if value is None:
        return entry.parent
    return value.address if isinstance(value, Ref) else None


def container_and_order(
    registry: Registry, entries: Mapping[Address, Entry], entry: Entry
) -> tuple[Address, ListOrder] | None:
    """Return the entry in which an entry is placed, and the list in it that orders its contents.

    None if the entry is in no other entry, or if no list orders it.
    """
    order = registry.list_order(entry.kind)
    place = declared_container(order.place_field, entry) if order is not None else None
    holder = entries.get(place) if place is not None else None
    listed = registry.list_orders(entry.kind).get(holder.kind) if holder is not None else None
    return (holder.address, listed) if holder is not None and listed is not None else None


def live_container(kind: Kind, place_field: str, live: LiveObject) -> Identity | None:
    """Return the object in which a live object is placed by its field `place_field`, else its parent."""
    value = live.fields.get(place_field)
    return (
        (kind.field(place_field).type.referenced_kinds[0], value.id)
        if isinstance(value, LiveId)
        else live.parent
    )


def declared_navigation_paths(
    registry: Registry, entries: Mapping[Address, Entry]
) -> Mapping[Address, set[NavigationPath]]:
    """Return the navigation paths at which the files show an entry (a space), by its address.

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
    """Return the navigation path of a node's entry; None if a `path` on the way is not declared."""
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
    """Yield the id of each object that the live nodes of a navigation show, and its navigation path."""
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
    return next((fields.get(field.name) for field in kind.fields if field.access_meaning == "shows"), None)


def _node_path(kind: Kind, fields: Mapping[str, Value]) -> str | None:
    """Return the `path` of a node (the first natural key of its kind), in the form used for comparison."""
    key = kind.natural_keys[0]
    value = kind.field(key).type.fold_for_key(fields.get(key)) if isinstance(key, str) else None
    return value if isinstance(value, str) else None
