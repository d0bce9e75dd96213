"""Find the live objects that an entry could be.

`CandidateSearch.find` returns the objects with the present name of an entry and those with an earlier name,
from `previously` or from the git base (the commit compared with). `key_contradiction_questions` finds entries
whose natural keys name different objects. `certain_assignments` assigns objects to entries: each object to at
most one entry, and as many entries of the best rank as possible, then of the next. It returns only what all
best assignments have in common.
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
    """Return the objects that entries have in every best assignment of objects to entries.

    `candidates` has the ids of the objects that each entry could be. Each object goes to at most one entry;
    entries of the lowest rank come first. An entry is left out if it has another object in another best
    assignment.
    """
    assignment = _best_assignment(candidates, rank)
    entry_by_id = {object_id: entry for entry, object_id in assignment.items()}
    # The entries that hold an object that an entry could have instead.
    alternatives = {
        entry: [
            entry_by_id[object_id]
            for object_id in objects
            if object_id in entry_by_id and entry_by_id[object_id] != entry
        ]
        for entry, objects in candidates.items()
    }
    # An entry has another choice if a free object fits, directly or through other entries with a choice.
    free = {
        entry for entry in assignment if any(object_id not in entry_by_id for object_id in candidates[entry])
    }
    choosing = _nodes_reaching(alternatives, free)
    choosing |= {entry for component in strongly_connected_components(alternatives) for entry in component}
    for level in set(rank.values()):
        # If an entry has an object and another entry of the same rank has none, they could be exchanged.
        without = {entry for entry in candidates if entry not in assignment and rank[entry] == level}
        reachable = _reachable(alternatives, without)
        supplied = {entry for entry in reachable if entry in assignment and rank[entry] == level}
        reaching = _nodes_reaching(alternatives, supplied)
        choosing |= reachable & reaching
    return {entry: object_id for entry, object_id in assignment.items() if entry not in choosing}


def _best_assignment(candidates: Mapping[Node, Sequence[str]], rank: Mapping[Node, int]) -> dict[Node, str]:
    """Return one best assignment of objects to entries, with as many entries as possible of each rank.

    The lowest rank comes first. Each entry takes its object along an augmenting path (bipartite matching).
    """
    assignment: dict[Node, str] = {}
    entry_by_id: dict[str, Node] = {}
    for entry in sorted(candidates, key=lambda candidate: rank[candidate]):
        # Search a free object, directly or through entries that could give up their objects.
        reached_from: dict[str, Node] = {}
        pending, free_id = [entry], None
        while pending and free_id is None:
            current = pending.pop()
            for object_id in candidates[current]:
                if object_id in reached_from:
                    continue
                reached_from[object_id] = current
                if object_id not in entry_by_id:
                    free_id = object_id
                    break
                pending.append(entry_by_id[object_id])
        # Walk back: each entry on the path takes the next object and frees its former one.
        while free_id is not None:
            taker = reached_from[free_id]
            former_id = assignment.get(taker)
            assignment[taker], entry_by_id[free_id] = free_id, taker
            free_id = former_id
    return assignment


def _reachable(graph: Mapping[Node, Sequence[Node]], start: set[Node]) -> set[Node]:
    """Return all nodes of a graph that are reachable from `start`, including `start`."""
    seen: set[Node] = set()
    pending = list(start)
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += graph[node]
    return seen


def _nodes_reaching(graph: Mapping[Node, Sequence[Node]], goal: set[Node]) -> set[Node]:
    """Return all nodes of a graph from which `goal` is reachable, including `goal`."""
    return _reachable(reversed_graph(graph), goal)


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
        """Yield the entries at an address in the git base and in earlier commits, the latest first."""
        if address in self.base_entries:
            yield self.base_entries[address]
        for desired in self.earlier_configurations:
            if address in desired.entries:
                yield desired.entries[address]

    def without_recorded_line(self, objects: Iterable[LiveObject]) -> list[LiveObject]:
        """Return the objects without a line in the ids file: only about them may git decide."""
        return [live for live in objects if live.id not in self.recorded_lines.orphans]

    def earlier_natural_keys(self, natural_keys: NaturalKeys) -> NaturalKeys:
        """Return the reader of natural keys for entries of the git base, with their first children."""
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
        """Return the address of the entry."""
        return self.entry.address


class CandidateSearch(Struct, frozen=True, dict=True):
    """The search for the objects that the entries of one parent could be."""

    natural_keys: NaturalKeys
    history: History
    index: KeyIndex

    @cached_property
    def earlier_natural_keys(self) -> NaturalKeys:
        """The reader of natural keys for entries of the git base."""
        return self.history.earlier_natural_keys(self.natural_keys)

    def find(self, entry: Entry) -> EntryCandidates:
        """Return an entry with its candidates: the objects with its present name or an earlier name.

        If some objects have both names, they exclude the objects with only the earlier name. If all objects
        with the earlier name have the present name, too, the entry has only lost a name.
        """
        present, present_key = self._objects_with_present_name(entry)
        earlier, source = self._objects_with_earlier_name(entry, present)
        common = [live for live in present if live in earlier]
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

    def _objects_with_present_name(self, entry: Entry) -> tuple[list[LiveObject], Key | None]:
        """Return the objects with the first natural key that an entry declares, and that key."""
        for key in self.natural_keys.kind.natural_keys:
            value = self.natural_keys.declared_value(entry, key)
            if value is not None:
                return self._best_by_tie_breakers(entry, self.index.objects_with(key, value)), key
        return [], None

    def _objects_with_earlier_name(
        self, entry: Entry, present: list[LiveObject]
    ) -> tuple[list[LiveObject], EarlierNameSource | None]:
        """Return the objects with an earlier name of an entry, and the source of that name.

        `previously` decides. Otherwise the entry at the same address in the git base (the commit compared
        with) has the earlier name. `present` has the objects with the present name. Without an earlier name,
        return ([], None).
        """
        if declared := self._objects_named_by_previously(entry, present):
            return declared, "previously"
        earlier = self.history.base_entries.get(entry.address)
        if earlier is None or (
            entry.has_earlier_name
            and (entry.previously, entry.former) != (earlier.previously, earlier.former)
        ):
            return [], None  # a `previously` that was just written has priority over the base
        if not (self.natural_keys.kind.can_be_renamed or self.natural_keys.kind.has_content):
            return [], None  # an object of such a kind with another name is another object
        keys = [
            key
            for key in self.natural_keys.kind.natural_keys
            if self.earlier_natural_keys.declared_value(earlier, key) is not None
        ]
        for position, key in enumerate(keys):
            value = self.earlier_natural_keys.declared_value(earlier, key)
            is_kept = value == self.natural_keys.declared_value(entry, key)
            if position and (is_kept or present):
                continue  # an earlier key identified the entry, and no object has that key
            hits = self.history.without_recorded_line(self.index.objects_with(key, value))
            if hits:
                return self._best_by_tie_breakers(earlier, hits), "kept" if is_kept else "base"
        return [], None

    def _objects_named_by_previously(self, entry: Entry, present: list[LiveObject]) -> list[LiveObject]:
        """Return the objects that `previously` names: by its first live name, and its first known address.

        Two objects are a question (DP305): nobody can tell whether the text is a name or a key.
        """
        named: list[LiveObject] = []
        for fields in entry.previously:
            key = key_from_fields(self.natural_keys.kind, fields)
            value = self.natural_keys.declared_value(replace(entry, fields=fields), key)
            if hits := self.index.objects_with(key, value):
                named = self._best_by_tie_breakers(entry, hits)
                break
        objects_by_address = (
            self._objects_formerly_at(address, latest_only=bool(present)) for address in entry.former
        )
        addressed = next(filter(None, objects_by_address), [])
        return named + [live for live in addressed if live not in named]

    def _objects_formerly_at(self, address: Address, latest_only: bool) -> list[LiveObject]:
        """Return the objects that a former address meant.

        The ids line of the address decides, else the names in the latest commit with the address. With
        `latest_only`, only the git base is searched, because reading other commits takes long.
        """
        recorded = self.history.recorded_lines.orphans
        if by_line := [live for live in self.index.live_objects if recorded.get(live.id) == address]:
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

    def _best_by_tie_breakers(self, entry: Entry, objects: list[LiveObject]) -> list[LiveObject]:
        """Return the objects that agree best with an entry in the tie-breaker fields of the kind."""
        best = max((self.natural_keys.tie_breakers(entry, live) for live in objects), default=())
        return [live for live in objects if self.natural_keys.tie_breakers(entry, live) == best]


def key_from_fields(kind: Kind, fields: Mapping[str, Value]) -> Key:
    """Return the natural key that consists of these fields.

    A field of which only members are in natural keys counts with each of its members ("translations.en").
    """
    parts = [part for key in kind.natural_keys for part in key_fields(key) if not is_child_field(part)]
    fields_with_members = {part.partition(".")[0] for part in parts if "." in part}
    names: list[str] = []
    for name, value in fields.items():
        members = value if name in fields_with_members and isinstance(value, dict) else None
        names += [name] if members is None else [f"{name}.{member}" for member in members]
    return tuple(names)


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
    have exchanged their keys. There is none either if the first key's object has all keys that the entry
    has in the git base: then the later key is a new value.
    """
    objects_by_later_key: dict[Address, tuple[LiveObject, Key]] = {}
    for entry in entries:
        if (own_object := objects_by_first_key.get(entry.address)) is None:
            continue
        for key in natural_keys.later_keys:
            value = natural_keys.declared_value(entry, key)
            if value is None or natural_keys.object_has(own_object, key, value):
                continue  # other objects may have the same value
            hits = index.objects_with(key, value)
            if len(hits) == 1:
                if not is_in_base(natural_keys, history, entry, own_object):
                    objects_by_later_key[entry.address] = (hits[0], key)
                break
    if not objects_by_later_key:
        return {}
    address_by_id = {live.id: address for address, live in objects_by_first_key.items()}
    questions: dict[Address, Diagnostic] = {}
    by_address = {entry.address: entry for entry in entries}
    for address, (live, key) in objects_by_later_key.items():
        if _leads_back_to_start(address, objects_by_later_key, address_by_id):
            entry, first_key = by_address[address], natural_keys.first_key
            own_object = objects_by_first_key[address]
            own_id = own_object.id
            questions[address] = Diagnostic(
                "DP303",
                f'the object "{own_id}" has the {key_text(first_key)} of this entry, but the object '
                f'"{live.id}" has the {key_text(key)} of this entry',
                key_span(entry, first_key),
                str(address),
                choice_hint(
                    f"change the {key_text(first_key)} of",
                    address,
                    live.id,
                    own_id,
                    natural_keys.uses_ids_file,
                ),
                candidates=candidate_objects(natural_keys.kind, entry, {own_id: own_object, live.id: live}),
                answers=binding_answers(entry, natural_keys.uses_ids_file, own_id, live.id),
            )
    return questions


def is_in_base(natural_keys: NaturalKeys, history: History, entry: Entry, live: LiveObject) -> bool:
    """Return whether a live object has all natural keys that the entry has in the git base."""
    earlier = history.base_entries.get(entry.address)
    if earlier is None:
        return False
    earlier_keys = history.earlier_natural_keys(natural_keys)
    values = {key: earlier_keys.declared_value(earlier, key) for key in natural_keys.kind.natural_keys}
    declared = [(key, value) for key, value in values.items() if value is not None]
    return bool(declared) and all(natural_keys.object_has(live, key, value) for key, value in declared)


def _leads_back_to_start(
    start: Address,
    objects_by_later_key: dict[Address, tuple[LiveObject, Key]],
    address_by_id: dict[str, Address],
) -> bool:
    """Return whether later keys lead from an entry back to itself, or to an object that no entry claims.

    Each step goes from an entry to the entry that claims, by first key, the object with its later key.
    """
    seen = {start}
    current = start
    while current in objects_by_later_key:
        following = address_by_id.get(objects_by_later_key[current][0].id)
        if following is None or following == start:
            return True
        if following in seen:
            return False
        seen.add(following)
        current = following
    return False
