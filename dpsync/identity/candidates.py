"""Find the live objects that an entry could be.

Which assignments of objects to entries are certain, where each entry has some candidates. Pure graph work.

An assignment gives no object away twice. The best ones serve as many entries of the best rank as possible,
then as many of the next rank, and so on. What all best assignments have in common is certain. The rest is
for somebody else to decide.

What each entry could be: the live objects that bear its present name, and those that bear an earlier one.

An earlier name is one of `previously`, or what the same address has in the git base. Of an entry that went by
a first key which nothing bears any more, the later keys count only while its present name is nowhere either.

A first and a later natural key that name different objects. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, auto
from functools import cached_property
from typing import Literal, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.identity.ids import NOTHING_RECORDED, Recorded
from dpsync.identity.keys import Index, Key, NaturalKeys, key_text, names, of_child, written
from dpsync.identity.questions import candidates, choice, it_is
from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.cycles import backward, knots
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import Value

Node = TypeVar("Node")


def certain(candidates: Mapping[Node, Sequence[str]], rank: Mapping[Node, int]) -> dict[Node, str]:
    """The objects that entries have in every best assignment. The lowest rank is served first."""
    given = _best(candidates, rank)
    holder = {item: entry for entry, item in given.items()}
    onward = {
        entry: [holder[item] for item in objects if item in holder and holder[item] != entry]
        for entry, objects in candidates.items()
    }
    # Whoever could take a free object, or the object of somebody who could, has another choice.
    free = {entry for entry in given if any(item not in holder for item in candidates[entry])}
    choosing = _reaching(onward, free)
    choosing |= {entry for knot in knots(onward) for entry in knot}
    for level in set(rank.values()):
        # Of equals one is served and another is not: it could be the other way round.
        without = {entry for entry in candidates if entry not in given and rank[entry] == level}
        could = _reached(onward, without)
        supplied = {entry for entry in could if entry in given and rank[entry] == level}
        leading = _reaching(onward, supplied)
        choosing |= could & leading
    return {entry: item for entry, item in given.items() if entry not in choosing}


def _best(candidates: Mapping[Node, Sequence[str]], rank: Mapping[Node, int]) -> dict[Node, str]:
    """One best assignment: entries by rank, each along a path on which the ones before it make room."""
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


def _reached(onward: Mapping[Node, Sequence[Node]], start: set[Node]) -> set[Node]:
    """Everything that is found from some entries onward, these included."""
    seen: set[Node] = set()
    pending = list(start)
    while pending:
        at = pending.pop()
        if at not in seen:
            seen.add(at)
            pending += onward[at]
    return seen


def _reaching(onward: Mapping[Node, Sequence[Node]], goal: set[Node]) -> set[Node]:
    """Everything from which some entries are found onward, these included."""
    return _reached(backward(onward), goal)


How = Literal["previously", "base", "kept"]
"""By what an earlier name is known. "kept": the entry still has that of the base, beside a new one."""


class Rank(IntEnum):
    """Who of two entries has the better claim to an object: the one that comes first here."""

    UNCHANGED = auto()
    """Since the git base."""
    RENAMED = auto()
    NEW = auto()
    NEW_BY_LATER_KEY = auto()
    """Its first natural key is not given."""


class Past(Struct, frozen=True):
    """What is known of earlier: the entries of the git base, and the lines of the ids file."""

    entries: Mapping[Address, Entry] = field(default_factory=dict)
    first_child: Callable[[Entry], Entry | None] = lambda _: None
    recorded: Recorded = NOTHING_RECORDED
    earlier_configurations: Iterable[Desired] = ()
    """The configurations in commits before the git base, latest first. Each is read when it is needed."""
    has_no_lines: bool = False
    """Whether the ids file has no line for the organization. Then names in earlier commits count as well."""

    def earlier_entries(self, address: Address) -> Iterator[Entry]:
        """Return the entries at an address in the git base and in earlier commits, latest first."""
        if address in self.entries:
            yield self.entries[address]
        for desired in self.earlier_configurations:
            if address in desired.resources:
                yield desired.resources[address]

    def without_lines(self, objects: Iterable[LiveObject]) -> list[LiveObject]:
        """Return the objects about which git may decide: the ids file has no line for them."""
        return [item for item in objects if item.id not in self.recorded.orphans]

    def keys(self, view: NaturalKeys) -> NaturalKeys:
        """How keys are read of earlier entries, which had the first children of then."""
        return replace(view, first_child=self.first_child)


class EntryCandidates(Struct, eq=False):
    """An entry with the live objects that bear its present name and those that bear an earlier one."""

    resource: Entry
    now: list[LiveObject]
    was: list[LiveObject]
    fits: list[LiveObject]
    """Those of `now` that bear an earlier name, too: a name was taken off the entry."""
    how: How | None
    by: Key | None
    """The natural key that found `now`."""
    rank: Rank

    @property
    def address(self) -> Address:
        return self.resource.address


class Candidates(Struct, frozen=True, dict=True):
    """Looks up what the entries of one place could be."""

    view: NaturalKeys
    past: Past
    index: Index

    @cached_property
    def before(self) -> NaturalKeys:
        return self.past.keys(self.view)

    def of(self, resource: Entry) -> EntryCandidates:
        """The entry with its candidates; those that bear an earlier name and the present one come first."""
        now, by = self._now(resource)
        was, how = self._was(resource, now)
        both = [item for item in now if item in was]
        fits: list[LiveObject] = []
        if both and len(both) == len(was):
            fits, was, how = both, [], None
        elif both:
            now, was, how = both, [], None  # it bears the earlier name and the present one
        if was:
            rank = Rank.RENAMED
        elif resource.address in self.past.entries:
            rank = Rank.UNCHANGED
        else:
            rank = Rank.NEW if by == self.view.first_key else Rank.NEW_BY_LATER_KEY
        return EntryCandidates(resource, now, was, fits, how, by, rank)

    def _now(self, resource: Entry) -> tuple[list[LiveObject], Key | None]:
        for key in self.view.kind.identity:
            value = self.view.wanted(resource, key)
            if value is not None:
                return self._nearest(resource, self.index.bearing(key, value)), key
        return [], None

    def _was(self, resource: Entry, now: list[LiveObject]) -> tuple[list[LiveObject], How | None]:
        if declared := self._declared_earlier(resource, now):
            return declared, "previously"
        earlier = self.past.entries.get(resource.address)
        if earlier is None or (
            resource.has_earlier_name
            and (resource.previously, resource.former) != (earlier.previously, earlier.former)
        ):
            return [], None  # what somebody has just written says more than the base
        if not (self.view.kind.can_be_renamed or self.view.kind.content):
            return [], None  # another name is another thing; of content that is never done silently
        given = [key for key in self.view.kind.identity if self.before.wanted(earlier, key) is not None]
        for later, key in enumerate(given):
            value = self.before.wanted(earlier, key)
            kept = value == self.view.wanted(resource, key)
            if later and (kept or now):
                continue  # what the entry went by is an earlier key, which nothing bears any more
            hits = self.past.without_lines(self.index.bearing(key, value))
            if hits:
                return self._nearest(earlier, hits), "kept" if kept else "base"
        return [], None

    def _declared_earlier(self, resource: Entry, now: list[LiveObject]) -> list[LiveObject]:
        """Return the objects that `previously` names: by its first live name, and by its first known address.

        Two objects are a question (DP305): nobody can tell whether the text means the name or the key.
        """
        named: list[LiveObject] = []
        for fields in resource.previously:
            key = key_of(self.view.kind, fields)
            value = self.view.wanted(replace(resource, fields=fields), key)
            if hits := self.index.bearing(key, value):
                named = self._nearest(resource, hits)
                break
        found = (self._formerly_at(address, latest_only=bool(now)) for address in resource.former)
        addressed = next(filter(None, found), [])
        return named + [item for item in addressed if item not in named]

    def _formerly_at(self, address: Address, latest_only: bool) -> list[LiveObject]:
        """Return the objects of a former entry: by its line, or by its names in the latest commit with it.

        `latest_only`: of the commits, only the git base is asked, since reading the others takes long.
        """
        recorded = self.past.recorded.orphans
        if by_line := [item for item in self.index.live if recorded.get(item.id) == address]:
            return by_line
        earlier = self.past.entries.get(address)
        if earlier is None and not latest_only:
            earlier = next(self.past.earlier_entries(address), None)
        if earlier is None or earlier.kind != self.view.kind.name:
            return []
        for key in self.view.kind.identity:
            if hits := self.index.bearing(key, self.before.wanted(earlier, key)):
                return self._nearest(earlier, hits)
        return []

    def _nearest(self, resource: Entry, hits: list[LiveObject]) -> list[LiveObject]:
        best = max((self.view.tie_breakers(resource, item) for item in hits), default=())
        return [item for item in hits if self.view.tie_breakers(resource, item) == best]


def key_of(kind: Kind, fields: Mapping[str, Value]) -> Key:
    """Return the key that some fields make up: of a field that has a key in each member, the members."""
    parts = [part for key in kind.identity for part in names(key) if not of_child(part)]
    inside = {part.partition(".")[0] for part in parts if "." in part}
    found: list[str] = []
    for name, value in fields.items():
        members = value if name in inside and isinstance(value, dict) else None
        found += [name] if members is None else [f"{name}.{member}" for member in members]
    return tuple(found)


def contradictions(
    view: NaturalKeys,
    past: Past,
    wanted: Sequence[Entry],
    index: Index,
    claims: Mapping[Address, LiveObject],
) -> dict[Address, Diagnostic]:
    """By entry what is to be asked: an exchange or a mistake, not for us to guess. `claims`: by first keys.

    The later key's object is no contradiction when another entry claims it by its own first key, unless that
    entry's later key leads back: then two objects have exchanged their keys. Nor is it one when the first
    key's object is all that the entry is in the git base: then the later key is a new value for it.
    """
    other: dict[Address, tuple[LiveObject, Key]] = {}
    for resource in wanted:
        if (mine := claims.get(resource.address)) is None:
            continue
        for key in view.later_keys:
            value = view.wanted(resource, key)
            if value is None or view.has(mine, key, value):
                continue  # as nearly always: that others carry it as well is no contradiction
            hits = index.bearing(key, value)
            if len(hits) == 1:
                if not is_in_base(view, past, resource, mine):
                    other[resource.address] = (hits[0], key)
                break
    if not other:
        return {}
    claimant = {item.id: address for address, item in claims.items()}
    asked: dict[Address, Diagnostic] = {}
    by_address = {resource.address: resource for resource in wanted}
    for address, (item, key) in other.items():
        if _leads_back(address, other, claimant):
            resource, first = by_address[address], view.first_key
            mine = claims[address]
            by_first = mine.id
            asked[address] = Diagnostic(
                "DP303",
                f'the object "{by_first}" has the {key_text(first)} of this entry, but the object '
                f'"{item.id}" has the {key_text(key)} of this entry',
                written(resource, first),
                str(address),
                choice(f"change the {key_text(first)} of", address, item.id, by_first, view.shared),
                candidates=candidates(view.kind, resource, {by_first: mine, item.id: item}),
                answers=it_is(resource, view.shared, by_first, item.id),
            )
    return asked


def is_in_base(view: NaturalKeys, past: Past, resource: Entry, live: LiveObject) -> bool:
    """Whether a live object has all natural keys that the entry has in the git base."""
    earlier = past.entries.get(resource.address)
    if earlier is None:
        return False
    before = past.keys(view)
    values = {key: before.wanted(earlier, key) for key in view.kind.identity}
    given = [(key, value) for key, value in values.items() if value is not None]
    return bool(given) and all(view.has(live, key, value) for key, value in given)


def _leads_back(
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
