"""Find the live objects that an entry could be.

`CandidateSearch.find` returns the objects with the present name of an entry and those with an earlier name.
Earlier names come from `previously` and from the entry at the same address in the git base.

`certain_assignments` assigns objects to entries: each object to at most one entry, and as many entries of
the best rank as possible, then of the next rank. It returns only what all best assignments have in common.

`key_contradiction_questions` finds entries whose first and later natural keys name different objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, auto
from functools import cached_property
from typing import Literal, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.identity.ids import NO_RECORDED_LINES, RecordedLines
from dpsync.identity.keys import Key, KeyIndex, NaturalKeys, is_child_field, key_fields, key_span, key_text
from dpsync.identity.questions import binding_answers, candidate_objects, choice_hint
from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.cycles import reversed_graph, strongly_connected_components
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import Value

Node = TypeVar("Node")


def certain_assignments(
    candidates: Mapping[Node, Sequence[str]], rank: Mapping[Node, int]
) -> dict[Node, str]:
    """Return the objects that entries have in every best assignment.

    `candidates` has the ids of the objects that each entry could be. Entries of the lowest rank come first.
    """
    given = _best_assignment(candidates, rank)
    holder = {item: entry for entry, item in given.items()}
    onward = {
        entry: [holder[item] for item in objects if item in holder and holder[item] != entry]
        for entry, objects in candidates.items()
    }
    # An entry has another choice if a free object fits, directly or through other entries with a choice.
    free = {entry for entry in given if any(item not in holder for item in candidates[entry])}
    choosing = _nodes_reaching(onward, free)
    choosing |= {entry for knot in strongly_connected_components(onward) for entry in knot}
    for level in set(rank.values()):
        # If an entry has an object and another entry of the same rank has none, they could be exchanged.
        without = {entry for entry in candidates if entry not in given and rank[entry] == level}
        could = _reachable(onward, without)
        supplied = {entry for entry in could if entry in given and rank[entry] == level}
        leading = _nodes_reaching(onward, supplied)
        choosing |= could & leading
    return {entry: item for entry, item in given.items() if entry not in choosing}


def _best_assignment(candidates: Mapping[Node, Sequence[str]], rank: Mapping[Node, int]) -> dict[Node, str]:
    """Return one best assignment: entries in order of rank, each along an augmenting path."""
    given: dict[Node, str] = {}
    holder: dict[str, Node] = {}
    for entry in sorted(candidates, key=lambda one: rank[one]):
        came_from: dict[str, Node] = {}
        pending, end = [entry], None
        while pending and end is None:
            at = pending.pop()
            for item in candidates[at]:
                if item in came_from:
                    continue
                came_from[item] = at
                if item not in holder:
                    end = item
                    break
                pending.append(holder[item])
        while end is not None:
            taker = came_from[end]
            left = given.get(taker)
            given[taker], holder[end] = end, taker
            end = left
    return given


def _reachable(onward: Mapping[Node, Sequence[Node]], start: set[Node]) -> set[Node]:
    """Return all entries reachable from `start`, including `start`."""
    seen: set[Node] = set()
    pending = list(start)
    while pending:
        at = pending.pop()
        if at not in seen:
            seen.add(at)
            pending += onward[at]
    return seen


def _nodes_reaching(onward: Mapping[Node, Sequence[Node]], goal: set[Node]) -> set[Node]:
    """Return all entries from which `goal` is reachable, including `goal`."""
    return _reachable(reversed_graph(onward), goal)


EarlierNameSource = Literal["previously", "base", "kept"]
"""The source of an earlier name. "kept": the entry still has the name of the base, besides a new name."""


class Rank(IntEnum):
    """The priority of an entry for an object; the lowest value has the highest priority."""

    UNCHANGED = auto()
    """Since the git base."""
    RENAMED = auto()
    NEW = auto()
    NEW_BY_LATER_KEY = auto()
    """A new entry without a value for its first natural key."""


class History(Struct, frozen=True):
    """The history of one parent's entries: the git base, earlier commits, and the ids file."""

    base_entries: Mapping[Address, Entry] = field(default_factory=dict)
    first_child: Callable[[Entry], Entry | None] = lambda _: None
    recorded_lines: RecordedLines = NO_RECORDED_LINES
    earlier_configurations: Iterable[Desired] = ()
    """The configurations in commits before the git base, latest first. Each is read when it is needed."""
    ids_file_has_no_lines: bool = False
    """Whether the ids file has no line for the organization. Then names in earlier commits count as well."""

    def earlier_entries(self, address: Address) -> Iterator[Entry]:
        """Return the entries at an address in the git base and in earlier commits, latest first."""
        if address in self.base_entries:
            yield self.base_entries[address]
        for desired in self.earlier_configurations:
            if address in desired.entries:
                yield desired.entries[address]

    def without_recorded_line(self, objects: Iterable[LiveObject]) -> list[LiveObject]:
        """Return the objects about which git may decide: the ids file has no line for them."""
        return [item for item in objects if item.id not in self.recorded_lines.orphans]

    def earlier_natural_keys(self, natural_keys: NaturalKeys) -> NaturalKeys:
        """Return a view that reads keys of earlier entries, with the first children of the git base."""
        return replace(natural_keys, first_child=self.first_child)


class EntryCandidates(Struct, eq=False):
    """An entry with the live objects that have its present name and those that have an earlier name."""

    entry: Entry
    with_present_name: list[LiveObject]
    with_earlier_name: list[LiveObject]
    with_both_names: list[LiveObject]
    """The objects of `with_present_name` with an earlier name, too: the entry lost a name."""
    earlier_source: EarlierNameSource | None
    present_key: Key | None
    """The natural key that found `with_present_name`."""
    rank: Rank

    @property
    def address(self) -> Address:
        return self.entry.address


class CandidateSearch(Struct, frozen=True, dict=True):
    """The search for the objects that the entries of one parent could be."""

    natural_keys: NaturalKeys
    history: History
    index: KeyIndex

    @cached_property
    def earlier_natural_keys(self) -> NaturalKeys:
        return self.history.earlier_natural_keys(self.natural_keys)

    def find(self, entry: Entry) -> EntryCandidates:
        """Return an entry with its candidates. Objects with both names exclude objects with one name."""
        present, present_key = self._with_present_name(entry)
        earlier, source = self._with_earlier_name(entry, present)
        common = [item for item in present if item in earlier]
        both: list[LiveObject] = []
        if common and len(common) == len(earlier):
            both, earlier, source = common, [], None
        elif common:
            present, earlier, source = common, [], None  # these have both names
        if earlier:
            rank = Rank.RENAMED
        elif entry.address in self.history.base_entries:
            rank = Rank.UNCHANGED
        else:
            rank = Rank.NEW if present_key == self.natural_keys.first_key else Rank.NEW_BY_LATER_KEY
        return EntryCandidates(entry, present, earlier, both, source, present_key, rank)

    def _with_present_name(self, entry: Entry) -> tuple[list[LiveObject], Key | None]:
        for key in self.natural_keys.kind.natural_keys:
            value = self.natural_keys.declared_value(entry, key)
            if value is not None:
                return self._best_by_tie_breakers(entry, self.index.objects_with(key, value)), key
        return [], None

    def _with_earlier_name(
        self, entry: Entry, now: list[LiveObject]
    ) -> tuple[list[LiveObject], EarlierNameSource | None]:
        if declared := self._with_previously(entry, now):
            return declared, "previously"
        earlier = self.history.base_entries.get(entry.address)
        if earlier is None or (
            entry.has_earlier_name
            and (entry.previously, entry.former) != (earlier.previously, earlier.former)
        ):
            return [], None  # what somebody has just written says more than the base
        if not (self.natural_keys.kind.can_be_renamed or self.natural_keys.kind.has_content):
            return [], None  # another name is another thing; of content that is never done silently
        given = [
            key
            for key in self.natural_keys.kind.natural_keys
            if self.earlier_natural_keys.declared_value(earlier, key) is not None
        ]
        for later, key in enumerate(given):
            value = self.earlier_natural_keys.declared_value(earlier, key)
            kept = value == self.natural_keys.declared_value(entry, key)
            if later and (kept or now):
                continue  # what the entry went by is an earlier key, which nothing bears any more
            hits = self.history.without_recorded_line(self.index.objects_with(key, value))
            if hits:
                return self._best_by_tie_breakers(earlier, hits), "kept" if kept else "base"
        return [], None

    def _with_previously(self, entry: Entry, now: list[LiveObject]) -> list[LiveObject]:
        """Return the objects that `previously` names: by its first live name, and by its first known address.

        Two objects are a question (DP305): nobody can tell whether the text means the name or the key.
        """
        named: list[LiveObject] = []
        for fields in entry.previously:
            key = key_from_fields(self.natural_keys.kind, fields)
            value = self.natural_keys.declared_value(replace(entry, fields=fields), key)
            if hits := self.index.objects_with(key, value):
                named = self._best_by_tie_breakers(entry, hits)
                break
        found = (self._objects_formerly_at(address, latest_only=bool(now)) for address in entry.former)
        addressed = next(filter(None, found), [])
        return named + [item for item in addressed if item not in named]

    def _objects_formerly_at(self, address: Address, latest_only: bool) -> list[LiveObject]:
        """Return the objects of a former entry: by its line, or by its names in the latest commit with it.

        `latest_only`: of the commits, only the git base is asked, since reading the others takes long.
        """
        recorded = self.history.recorded_lines.orphans
        if by_line := [item for item in self.index.live_objects if recorded.get(item.id) == address]:
            return by_line
        earlier = self.history.base_entries.get(address)
        if earlier is None and not latest_only:
            earlier = next(self.history.earlier_entries(address), None)
        if earlier is None or earlier.kind != self.natural_keys.kind.name:
            return []
        for key in self.natural_keys.kind.natural_keys:
            if hits := self.index.objects_with(key, self.earlier_natural_keys.declared_value(earlier, key)):
                return self._best_by_tie_breakers(earlier, hits)
        return []

    def _best_by_tie_breakers(self, entry: Entry, hits: list[LiveObject]) -> list[LiveObject]:
        best = max((self.natural_keys.tie_breakers(entry, item) for item in hits), default=())
        return [item for item in hits if self.natural_keys.tie_breakers(entry, item) == best]


def key_from_fields(kind: Kind, fields: Mapping[str, Value]) -> Key:
    """Return the key that consists of these fields; each member of a field whose members are keys counts."""
    parts = [part for key in kind.natural_keys for part in key_fields(key) if not is_child_field(part)]
    inside = {part.partition(".")[0] for part in parts if "." in part}
    found: list[str] = []
    for name, value in fields.items():
        members = value if name in inside and isinstance(value, dict) else None
        found += [name] if members is None else [f"{name}.{member}" for member in members]
    return tuple(found)


def key_contradiction_questions(
    natural_keys: NaturalKeys,
    history: History,
    entries: Sequence[Entry],
    index: KeyIndex,
    objects_by_first_key: Mapping[Address, LiveObject],
) -> dict[Address, Diagnostic]:
    """Return a question (DP303) for each entry whose first and later natural keys name different objects.

    `objects_by_first_key` has the objects found by first keys. There is no question if another entry claims
    the later key's object by its own first key, unless that entry's later key leads back: then two objects
    have exchanged their keys. There is none either if the first key's object has all keys that the entry has
    in the git base: then the later key is a new value.
    """
    other: dict[Address, tuple[LiveObject, Key]] = {}
    for resource in entries:
        if (mine := objects_by_first_key.get(resource.address)) is None:
            continue
        for key in natural_keys.later_keys:
            value = natural_keys.declared_value(resource, key)
            if value is None or natural_keys.object_has(mine, key, value):
                continue  # other objects may have the same value
            hits = index.objects_with(key, value)
            if len(hits) == 1:
                if not is_in_base(natural_keys, history, resource, mine):
                    other[resource.address] = (hits[0], key)
                break
    if not other:
        return {}
    claimant = {item.id: address for address, item in objects_by_first_key.items()}
    asked: dict[Address, Diagnostic] = {}
    by_address = {resource.address: resource for resource in entries}
    for address, (item, key) in other.items():
        if _leads_back_to_start(address, other, claimant):
            resource, first = by_address[address], natural_keys.first_key
            mine = objects_by_first_key[address]
            by_first = mine.id
            asked[address] = Diagnostic(
                "DP303",
                f'the object "{by_first}" has the {key_text(first)} of this entry, but the object '
                f'"{item.id}" has the {key_text(key)} of this entry',
                key_span(resource, first),
                str(address),
                choice_hint(
                    f"change the {key_text(first)} of", address, item.id, by_first, natural_keys.uses_ids_file
                ),
                candidates=candidate_objects(natural_keys.kind, resource, {by_first: mine, item.id: item}),
                answers=binding_answers(resource, natural_keys.uses_ids_file, by_first, item.id),
            )
    return asked


def is_in_base(natural_keys: NaturalKeys, history: History, entry: Entry, live: LiveObject) -> bool:
    """Return whether a live object has all natural keys that the entry has in the git base."""
    earlier = history.base_entries.get(entry.address)
    if earlier is None:
        return False
    before = history.earlier_natural_keys(natural_keys)
    values = {key: before.declared_value(earlier, key) for key in natural_keys.kind.natural_keys}
    given = [(key, value) for key, value in values.items() if value is not None]
    return bool(given) and all(natural_keys.object_has(live, key, value) for key, value in given)


def _leads_back_to_start(
    start: Address, other: dict[Address, tuple[LiveObject, Key]], claimant: dict[str, Address]
) -> bool:
    seen = {start}
    at = start
    while at in other:
        following = claimant.get(other[at][0].id)
        if following is None or following == start:
            return True
        if following in seen:
            return False
        seen.add(following)
        at = following
    return False
