"""Find the addresses that the declarations allow, and the parent of an object.

A *place type* is an object of a kind (a team) or a list of objects (the teams of an organization). An address
is a walk from place type to place type, one segment at a time; a pattern can be several walks.
`PlaceTypes.find_problem` checks a pattern against all possible addresses and suggests the nearest valid one.
A *navigation path* has the path segments of the nodes from the root to the node that shows an object.
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

        With `suggest`, also search the nearest valid pattern, which takes a thousand times as long.
        """
        places, valid_count = self._walk(pattern.segments)
        ends = [place for place in places if self._may_match(place, target)]
        if valid_count < len(pattern.segments) or not ends:
            nearest = self._nearest_pattern(pattern, target) if suggest else None
            is_list = target == "objects" and valid_count == len(pattern.segments)
            suffix = pattern.text[len(pattern.address_text) :]
            words_hint = (
                f'add the key of an entry: "{pattern.address_text}/KEY{suffix}"'
                if is_list
                else self._possible_words(places)
            )
            hint = f'did you mean "{nearest}"?' if nearest else words_hint
            if (
                field_problem := self._segment_is_field_problem(pattern, valid_count, places, target)
            ) is not None:
                return field_problem
            return PatternProblem(self._problem_reason(pattern, valid_count, places, target), hint)
        return self._field_problem(pattern, ends) if pattern.field else None

    def kinds(self, address: Address) -> tuple[Kind, ...]:
        """Return the kinds that an object at this address may have."""
        places, at = self._walk(address.segments)
        return () if at < len(address.segments) else tuple(self._kinds_at(places))

    def kinds_of(self, pattern: Pattern) -> tuple[Kind, ...]:
        """Return the kinds of the objects that a pattern can match."""
        places, at = self._walk(pattern.segments)
        return () if at < len(pattern.segments) else tuple(self._kinds_at(places))

    # --- walks ----------------------------------------------------------------------------------------

    def _walk(self, segments: Iterable[str]) -> tuple[set[PlaceType], int]:
        """Follow the segments of an address or pattern, as far as the declared kinds allow.

        Return (place types that the segments lead to, number of valid segments). A place type is a kind of
        object or a list in it. A wildcard can lead to several. If fewer segments than given are valid, the
        place types are those before the first wrong segment.
        """
        places = {_ROOT_PLACE}
        for index, segment in enumerate(segments):
            next_places = (
                self._with_all_below(places) if segment == "**" else set(self._next_places(places, segment))
            )
            if not next_places:
                return places, index
            places = next_places
        return places, len(tuple(segments))

    def _next_places(self, places: set[PlaceType], segment: str) -> Iterator[PlaceType]:
        """Yield the place types (kinds of objects, or lists in them) to which one segment leads.

        An edge is a list word, such as "teams", or a kind, whose keys can be the segment. `*` follows each.
        """
        for place in places:
            for edge, next_place in self._edges(place):
                if segment == "*" or (
                    segment == edge if isinstance(edge, str) else self._key_segment(edge, segment) == segment
                ):
                    yield next_place

    def _with_all_below(self, places: set[PlaceType]) -> set[PlaceType]:
        """Return these place types and all that any further segments lead to, for the segment `**`."""
        reached, pending = set(places), list(places)
        while pending:
            for _, place in self._edges(pending.pop()):
                if place not in reached:
                    reached.add(place)
                    pending.append(place)
        return reached

    def _edges(self, place: PlaceType) -> tuple[tuple[str | Kind, PlaceType], ...]:
        """Return what may follow a place type: a word or the key of a kind, each with the next place type."""
        if place not in self._edges_by_place:
            self._edges_by_place[place] = tuple(self._build_edges(place))
        return self._edges_by_place[place]

    def _build_edges(self, place: PlaceType) -> Iterator[tuple[str | Kind, PlaceType]]:
        """Yield each possible next segment after a place type (a kind of object or a list in it).

        An item is (list word such as "teams", or kind whose key is the segment; next place type). A single
        entry, such as settings, has no key in addresses, so the words of its own lists follow directly.
        """
        if place == _ROOT_PLACE:
            yield self.registry.root, PlaceType(self.registry.root.name)
            return
        yield from self._next_words(place)
        for kind in self._contained_kinds(place):
            if isinstance(kind.shape, SingleEntry):
                yield from self._next_words(PlaceType(kind.name))
            else:
                yield kind, PlaceType(kind.name)

    def _next_words(self, place: PlaceType) -> Iterator[tuple[str, PlaceType]]:
        """Yield the next word of each list in an object, with the next place type."""
        depth = len(place.list_words)
        for words in self._lists[place.kind]:
            if len(words) > depth and words[:depth] == place.list_words:
                yield words[depth], PlaceType(place.kind, words[: depth + 1])

    @cached_property
    def _lists(self) -> dict[str, dict[tuple[str, ...], tuple[Kind, ...]]]:
        """Return the lists in an object by its kind and their words, with the kinds of the listed objects."""
        return {
            name: {
                tuple(key.split(".")): kinds for key, kinds in self.registry.kinds_by_list_key(name).items()
            }
            for name in self.registry.kinds
        }

    def _contained_kinds(self, place: PlaceType) -> Iterator[Kind]:
        """Yield the kinds whose keys may be the next segment after a place type.

        For a list, these are the kinds in the list, without nodes that can only be in other nodes. For an
        object, these are the kinds of its child nodes, whose addresses continue its own.
        """
        if place.list_words:
            for kind in self._lists[place.kind].get(place.list_words, ()):
                if not kind.is_node or any(not self.registry[name].is_node for name in kind.parents):
                    yield kind
            return
        shape = self.registry[place.kind].shape
        for name in shape.child_kinds if isinstance(shape, TreeNode) else ():
            if place.kind in self.registry[name].parents:
                yield self.registry[name]

    def _key_segment(self, kind: Kind, segment: str) -> str | None:
        """Return a segment in its normal form as the key of an object; None if no object can have the key.

        An organization must be a known one. A segment in brackets can be any key.
        """
        if kind is self.registry.root and self.organizations is not None:
            return segment if segment in self.organizations else None
        if segment.startswith("[") and segment.endswith("]"):
            return segment
        key = unquote(segment)
        if self.registry.has_data_key(kind):
            return encode_segment(self.registry.fold_key(kind, key))
        return encode_segment(key) if LOCAL_KEY.fullmatch(key) else None

    def _kinds_at(self, places: Iterable[PlaceType]) -> list[Kind]:
        """Return the kinds of the objects at these place types, sorted by name.

        A place type is an object of a kind or, with `list_words` such as `("permissions", "users")`, a list
        in it. A list is no object, but an object that its parent has exactly once (such as settings) has
        such words, without a key, as the end of its address.
        """
        kinds_by_name = {
            kind.name: kind
            for place in places
            if place != _ROOT_PLACE
            for kind in (
                [kind for kind in self._contained_kinds(place) if isinstance(kind.shape, SingleEntry)]
                if place.list_words
                else [self.registry[place.kind]]
            )
        }
        return [kinds_by_name[name] for name in sorted(kinds_by_name)]

    def _may_match(self, place: PlaceType, names: PatternTarget) -> bool:
        """Return whether a place type is what a pattern may match: an object, a list, or either."""
        if names == "objects":
            return bool(self._kinds_at([place]))
        return place != _ROOT_PLACE and (names == "anything" or place.list_words in self._lists[place.kind])

    # --- reasons --------------------------------------------------------------------------------------

    def _problem_reason(
        self, pattern: Pattern, valid_count: int, places: set[PlaceType], names: PatternTarget
    ) -> str:
        """Return a message that says why a pattern matches no address.

        The first `valid_count` segments are right and lead to `places`. `names` says what the pattern must
        match: objects, lists or anything.
        """
        if valid_count == len(pattern.segments):
            if names == "lists":
                return f'"{pattern.text}" is not a list of entries, and dpsync deletes only objects in lists'
            return f'"{pattern.text}" is a list of entries, and not an entry'
        segment = plain_segment(pattern.segments[valid_count])
        if places == {_ROOT_PLACE}:
            return f'"{segment}" is neither an organization in your files nor a list such as "sites"'
        if len(places) > 1:
            return f'no object can have the address "{pattern.text}"'
        (place,) = places
        container = (
            self.registry[place.kind].noun_with_article
            if not place.list_words
            else f'"{place.list_words[-1]}"'
        )
        contained = [kind for kind in self._contained_kinds(place) if not isinstance(kind.shape, SingleEntry)]
        if contained and place.list_words:
            nouns = " or ".join(kind.noun_with_article for kind in contained)
            return f'"{segment}" cannot be the key of {nouns}'
        return f'{container} contains no list or object with the name "{segment}"'

    def _segment_is_field_problem(
        self, pattern: Pattern, valid_count: int, places: set[PlaceType], names: PatternTarget
    ) -> PatternProblem | None:
        """Return the problem if the last segment is a field of the object before it, otherwise None.

        For example, "acme/sites/docs/title" must be "acme/sites/docs#title". The first `valid_count` segments
        are right and lead to `places`.
        """
        if valid_count != len(pattern.segments) - 1 or len(places) != 1 or places == {_ROOT_PLACE}:
            return None
        (place,), segment = places, pattern.segments[valid_count]
        kind = self.registry[place.kind]
        if place.list_words or segment not in [field.name for field in kind.fields]:
            return None
        if names == "anything":
            path = "/".join(pattern.segments[:valid_count])
            reason = f'"{segment}" is a field of {kind.noun_with_article}, so "#" must be before the field'
            return PatternProblem(reason, f'write "{path}#{segment}"')
        expected = "a list of entries" if names == "lists" else "an entry"
        return PatternProblem(
            f'"{segment}" is a field of {kind.noun_with_article}, and not {expected}',
            self._possible_words(places),
        )

    def _possible_words(self, places: Iterable[PlaceType]) -> str:
        """Return a hint with the words that may follow one of these place types."""
        words = sorted({edge for place in places for edge, _ in self._edges(place) if isinstance(edge, str)})
        if words:
            return f"possible here: {', '.join(words)}"
        return "copy an address from a plan, or read docs/configuration.md"

    def _field_problem(self, pattern: Pattern, ends: Iterable[PlaceType]) -> PatternProblem | None:
        """Return why no object to which a pattern leads has the pattern's field; None if one has it.

        `ends` are the place types (kinds of objects, or lists) at the end of the pattern.
        """
        kinds = self._kinds_at(ends)
        path = pattern.address_text
        field_names = sorted({field.name for kind in kinds for field in kind.fields})
        if not kinds:
            reason = f'"{path}" is a list of entries, and a list has no fields'
            return PatternProblem(reason, f'add the key of an entry: "{path}/KEY#{pattern.field}"')
        if pattern.field in field_names:
            return None
        nearest = did_you_mean(pattern.field or "", field_names)
        subject = kinds[0].noun_with_article if len(kinds) == 1 else "no object at this address"
        reason = f'{subject} has {"no" if len(kinds) == 1 else "a"} field "{pattern.field}"'
        return PatternProblem(
            reason,
            f'did you mean "{path}#{nearest}"?' if nearest else f"the fields are: {', '.join(field_names)}",
        )

    # --- suggestions ----------------------------------------------------------------------------------

    def _nearest_pattern(self, pattern: Pattern, names: PatternTarget) -> str | None:
        """Return the valid pattern with the cheapest corrections (Dijkstra's algorithm); None if too costly.

        Among equal costs, the first one in registry order wins. A pattern that matches more than the written
        one is never suggested: the user would delete or ignore more objects than meant.
        """
        segments = pattern.segments
        if len(segments) > _MAX_SUGGESTED_SEGMENTS:
            return None
        tie_breaker = count()
        # cost, tie breaker, number of used segments, place type that was reached, corrected segments
        pending: list[tuple[int, int, int, PlaceType, tuple[str, ...]]] = [
            (0, next(tie_breaker), 0, _ROOT_PLACE, ())
        ]
        visited: set[tuple[int, PlaceType]] = set()
        while pending:
            cost, _, used, place, written = heapq.heappop(pending)
            if (used, place) in visited or cost > _MAX_SUGGESTION_COST:
                continue
            visited.add((used, place))
            is_complete = used == len(segments) and self._may_match(place, names)
            if is_complete and pattern.field is not None:
                kinds = self._kinds_at([place])
                is_complete = any(field.name == pattern.field for kind in kinds for field in kind.fields)
            if is_complete:
                if not _is_wider(self._pattern_text(written, pattern), pattern.text):
                    return self._pattern_text(written, pattern)
                continue
            for step_cost, step_length, next_place, word in self._corrections(
                segments[used : used + 1], place
            ):
                path = (*written, word) if word is not None else written
                heapq.heappush(
                    pending, (cost + step_cost, next(tie_breaker), used + step_length, next_place, path)
                )
        return None

    def _corrections(
        self, segment: tuple[str, ...], place: PlaceType
    ) -> Iterator[tuple[int, int, PlaceType, str | None]]:
        """Yield each way to keep, correct, add or remove the next segment of a pattern at a place type.

        An item is (cost, number of segments of the pattern that it uses: 0 or 1, next place type, segment to
        write or None). `segment` has the next segment of the pattern, or is () at the pattern's end.
        """
        edges = self._edges(place)
        for edge, next_place in edges:
            if not isinstance(edge, str):  # add `*`: free for the organization, which a pattern may omit
                yield 0 if place == _ROOT_PLACE else 2, 0, next_place, "*"
        if not segment:
            return
        (given,) = segment
        if given == "**":
            yield 0, 1, place, given
            yield from ((0, 0, next_place, None) for _, next_place in edges)
            return
        nearest = did_you_mean(given, [edge for edge, _ in edges if isinstance(edge, str)])
        for edge, next_place in edges:
            if isinstance(edge, str):
                cost = (
                    0 if given == edge else 1 if edge == nearest else _WILDCARD_COST if given == "*" else None
                )
                word = given if given == "*" else edge
            elif given == "*":
                cost, word = 0, given
            else:
                key = self._key_segment(edge, given)
                if key is None and edge is self.registry.root:
                    key = did_you_mean(given, self.organizations or ())
                cost, word = (2, "*") if key is None else (int(key != given), key)
                if given in self._all_words:
                    cost += _WILDCARD_COST
            if cost is not None:
                yield cost, 1, next_place, word
        yield 3, 1, place, None  # remove the segment

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
    (stars, names), (written_stars, written_names) = _count_segments(text), _count_segments(written)
    return stars > written_stars or names < written_names


def _count_segments(text: str) -> tuple[int, int]:
    """Return the numbers of wildcards and of other segments in a pattern."""
    segments = FieldAddress.parse(text).address.segments
    stars = sum(segment in ("*", "**") for segment in segments)
    return stars, len(segments) - stars


NavigationPath = tuple[Address, tuple[str, ...]]
"""The owner of a navigation, and the `path` of each node from the root to the node that shows an object."""


def declared_container(place_field: str, entry: Entry) -> Address | None:
    """Return the address of the entry in which an entry is placed (its container), such as a collection.

    The field `place_field` refers to the container; with the value null, it is the parent. Return None if
    the field is absent or refers to an object by its id on GitBook.
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
    """Return the entry in which an entry is placed (its container), and the list that orders the contents.

    For example, a space may be in a collection. None if the entry is in no other entry of the files, or if
    the container has no list that orders such entries.
    """
    order = registry.list_order(entry.kind)
    container_address = declared_container(order.place_field, entry) if order is not None else None
    container = entries.get(container_address) if container_address is not None else None
    if container is None:
        return None
    order_in_container = registry.list_orders(entry.kind).get(container.kind)
    return (container.address, order_in_container) if order_in_container is not None else None


def live_container(kind: Kind, place_field: str, live: LiveObject) -> Identity | None:
    """Return (kind, id) of the object in which a live object is placed, such as the collection of a space.

    The field `place_field` has the id; if it is empty, this is the parent.
    """
    value = live.fields.get(place_field)
    return (
        (kind.field(place_field).type.referenced_kinds[0], value.id)
        if isinstance(value, LiveId)
        else live.parent
    )


def declared_navigation_paths(
    registry: Registry, entries: Mapping[Address, Entry]
) -> Mapping[Address, set[NavigationPath]]:
    """Return, for each entry that a navigation node shows (a space), where the files show it.

    A navigation path is (owner of the navigation, `path` fields from the root to the node). A node is left
    out if the files do not declare the `path` of the node or of a node above it.
    """
    paths: dict[Address, set[NavigationPath]] = defaultdict(set)
    for entry in entries.values():
        shown_reference = references(_shown_reference(registry[entry.kind], entry.fields))
        if shown_reference and (path := _declared_path(registry, entries, entry)) is not None:
            for address in shown_reference:
                paths[address].add(path)
    return paths


def _declared_path(
    registry: Registry, entries: Mapping[Address, Entry], entry: Entry
) -> NavigationPath | None:
    """Return (owner of the navigation, `path` fields from the root to the node) for a node's entry.

    None if a `path` on the way is not declared, or if the owner is not in the files.
    """
    paths: list[str] = []
    node: Entry | None = entry
    while node is not None and isinstance(registry[node.kind].shape, NodeShape):
        if (path := _node_path(registry[node.kind], node.fields)) is None:
            return None
        paths.append(path)
        node = entries.get(node.parent) if node.parent is not None else None
    return (node.address, tuple(reversed(paths))) if node is not None else None


def live_navigation_paths(
    registry: Registry, nodes: Iterable[LiveObject]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (id of the object that a node of the navigation on GitBook shows, navigation path of the node).

    The path has the `path` fields from the root to the node. A node is left out if it or a node above has no
    `path`.
    """
    by_identity = {node.identity: node for node in nodes}
    for node in by_identity.values():
        shown = _shown_reference(registry[node.kind], node.fields)
        paths: list[str] = []
        current: LiveObject | None = node if isinstance(shown, LiveId) else None
        while (
            current is not None and (path := _node_path(registry[current.kind], current.fields)) is not None
        ):
            paths.append(path)
            if current.parent not in by_identity:
                assert isinstance(shown, LiveId)
                yield shown.id, tuple(reversed(paths))
                break
            current = by_identity[current.parent]


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
