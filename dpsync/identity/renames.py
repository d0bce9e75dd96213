"""Renamed entries: what an entry was called before, by `previously` or in the git base, and who that is now.

An old name that is live is a rename still to be done, unless the present name is live as well: then the two
must be told apart. What only one reading can explain is settled first, which may settle the rest (a chain of
renames that was done, or not). Names that went round in a ring look the same before and after; then what did
not change about the entries decides, and where that says nothing, the base is taken at its word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from dpsync.identity.aside import temporary
from dpsync.identity.view import Index, Key, View, names
from dpsync.kinds.base import Kind
from dpsync.model.address import Address
from dpsync.model.desired import Resource
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import LiveObject, Match
from dpsync.model.values import Value
from dpsync.model.words import counted

How = Literal["previously", "base"]


@dataclass(frozen=True)
class Past:
    """What is known of earlier: the entries of the git base, and the ids that this run has found or made."""

    entries: Mapping[Address, Resource] = field(default_factory=dict)
    first_child: Callable[[Resource], Resource | None] = lambda _: None
    known: Mapping[Address, str] = field(default_factory=dict)


@dataclass(eq=False)
class _Entry:
    """An entry with the live objects that bear its present name and those that bear an earlier one."""

    resource: Resource
    now: list[LiveObject]
    was: list[LiveObject]
    how: How | None
    rank: int
    """Who of two has the better claim: unchanged since the base, renamed, new."""

    @property
    def address(self) -> Address:
        return self.resource.address


@dataclass
class Renames:
    """The renames found, and the questions that could not be answered."""

    matches: dict[Address, Match] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def renames(view: View, past: Past, wanted: Sequence[Resource], live: Sequence[LiveObject]) -> Renames:
    """Recognise what the entries of one parent were called before; pins are settled and not among them."""
    found = Renames()
    _asides(view.kind, wanted, live, found)
    stepped = {match.id for match in found.matches.values()}
    free = [item for item in live if item.id not in stepped]
    settling = _Settling(view, past, Index(view, free), found)
    open_ = [resource for resource in wanted if resource.address not in found.matches]
    if past.entries or any(resource.previously for resource in open_):
        entries = [settling.entry(resource) for resource in open_]
        if any(entry.was for entry in entries):
            settling.settle(entries)
    return found


def _asides(kind: Kind, wanted: Sequence[Resource], live: Sequence[LiveObject], found: Renames) -> None:
    """Objects that an interrupted exchange has left under their temporary names."""
    key = kind.identity[0]
    if not isinstance(key, str):
        return
    by_name = {name: item for item in live if isinstance(name := item.fields.get(key), str)}
    for resource in wanted:
        item = by_name.get(temporary(str(resource.address)))
        if item is not None:
            found.matches[resource.address] = Match(item.id, "its temporary name", first=False)


def _key(kind: Kind, fields: Mapping[str, Value]) -> Key:
    """The key that some fields make up: of a field that has a key in each member, the members."""
    parts = [part for key in kind.identity for part in names(key) if part[0] != "$"]
    inside = {part.partition(".")[0] for part in parts if "." in part}
    found: list[str] = []
    for name, value in fields.items():
        members = value if name in inside and isinstance(value, dict) else None
        found += [name] if members is None else [f"{name}.{member}" for member in members]
    return tuple(found)


@dataclass
class _Settling:
    view: View
    past: Past
    index: Index
    found: Renames

    def __post_init__(self) -> None:
        self.before = replace(self.view, first_child=self.past.first_child)

    # What could be meant.

    def entry(self, resource: Resource) -> _Entry:
        now = self._now(resource)
        was, how = self._was(resource)
        if {item.id for item in was} == {item.id for item in now}:
            was, how = [], None
        rank = 1 if was else 0 if resource.address in self.past.entries else 2
        return _Entry(resource, now, was, how, rank)

    def _now(self, resource: Resource) -> list[LiveObject]:
        for key in self.view.kind.identity:
            value = self.view.wanted(resource, key)
            if value is not None:
                return self._nearest(resource, self.index.bearing(key, value))
        return []

    def _was(self, resource: Resource) -> tuple[list[LiveObject], How | None]:
        for fields in resource.previously:
            key = _key(self.view.kind, fields)
            value = self.view.wanted(replace(resource, fields=fields), key)
            hits = self.index.bearing(key, value)
            if hits:
                return self._nearest(resource, hits), "previously"
        earlier = self.past.entries.get(resource.address)
        if earlier is None or (resource.previously and resource.previously != earlier.previously):
            return [], None  # what somebody has just written says more than the base
        if not (self.view.kind.can_be_renamed or self.view.kind.content):
            return [], None  # another name is another thing; of content that is never done silently
        for key in self.view.kind.identity:
            value = self.before.wanted(earlier, key)
            if value is None or value == self.view.wanted(resource, key):
                continue
            hits = self.index.bearing(key, value)
            if hits:
                return self._nearest(earlier, hits), "base"
        return [], None

    def _nearest(self, resource: Resource, hits: list[LiveObject]) -> list[LiveObject]:
        best = max((self.view.near(resource, item) for item in hits), default=0)
        return [item for item in hits if self.view.near(resource, item) == best]

    # Who is meant.

    def settle(self, open_: list[_Entry]) -> None:
        taken: set[str] = set()
        while won := self._certain(open_, taken):
            for entry, item in won:
                self._decide(entry, item)
                taken.add(item.id)
                open_.remove(entry)
        left = [entry for entry in open_ if entry.was]
        for entry in left:
            entry.now = [item for item in entry.now if item.id not in taken]
            entry.was = [item for item in entry.was if item.id not in taken]
        for ring in self._rings(left):
            self._exchange(ring)
            left = [entry for entry in left if entry not in ring]
        for entry in left:
            self._both_live(entry)

    def _decide(self, entry: _Entry, item: LiveObject) -> None:
        """Note a rename. What bears its present name is found by its natural key."""
        if item in entry.was and item not in entry.now:
            self.found.matches[entry.address] = Match(item.id, str(entry.how), first=False)

    @staticmethod
    def _certain(open_: list[_Entry], taken: set[str]) -> list[tuple[_Entry, LiveObject]]:
        """Entries with a single candidate left; of several for one object the one with the best claim."""
        claims: dict[str, list[tuple[_Entry, LiveObject]]] = {}
        for entry in open_:
            left = {item.id: item for item in (*entry.now, *entry.was) if item.id not in taken}
            if len(left) == 1:
                (item,) = left.values()
                claims.setdefault(item.id, []).append((entry, item))
        won = []
        for offers in claims.values():
            best = min(entry.rank for entry, _ in offers)
            winners = [offer for offer in offers if offer[0].rank == best]
            won += winners if len(winners) == 1 else []
        return won

    def _rings(self, left: list[_Entry]) -> Iterator[list[_Entry]]:
        """Entries that have passed their names round."""
        bearer = {entry.was[0].id: entry for entry in left if len(entry.was) == 1}
        seen: set[Address] = set()
        for start in left:
            ring: list[_Entry] = []
            at: _Entry | None = start
            while at is not None and at.address not in seen and at not in ring and len(at.was) == 1:
                ring.append(at)
                at = bearer.get(at.now[0].id) if len(at.now) == 1 else None
            if at is start and ring:
                seen |= {entry.address for entry in ring}
                yield ring

    def _exchange(self, ring: list[_Entry]) -> None:
        """Whether the names are still to be passed round, or were already."""
        still = sum(self._unchanged(entry, entry.was[0]) for entry in ring)
        done = sum(self._unchanged(entry, entry.now[0]) for entry in ring)
        if done > still or (done == still and self._done_before(ring)):
            return
        if done == still and any(entry.how == "previously" and not self.past.entries for entry in ring):
            for entry in ring:
                self._unclear(entry, entry.was[0], entry.now[0])
            return
        for entry in ring:
            self._decide(entry, entry.was[0])

    def _done_before(self, ring: list[_Entry]) -> bool:
        """Seen by this very run, or already so in the git base (then its `previously` has had its time)."""
        seen = [(self.past.known.get(entry.address), entry) for entry in ring]
        if any(id == entry.now[0].id for id, entry in seen):
            return not any(id == entry.was[0].id for id, entry in seen)
        return all(
            (earlier := self.past.entries.get(entry.address)) is not None
            and any(
                (value := self.before.wanted(earlier, key)) is not None
                and value == self.view.wanted(entry.resource, key)
                for key in self.view.kind.identity[:1]
            )
            for entry in ring
        )

    def _unchanged(self, entry: _Entry, item: LiveObject) -> int:
        """How many of the things that did not change about an entry a live object agrees with."""
        earlier = self.past.entries.get(entry.address)
        count = 0
        first = names(self.view.kind.identity[0])
        for name, value in entry.resource.fields.items():
            known = name in earlier.fields if earlier is not None else name not in first
            if self.view.kind.field(name).source is None or not known:
                continue
            kept = earlier is None or self.view.form(earlier.fields[name]) == self.view.form(value)
            count += kept and self.view.form(value) == self.view.form(item.fields.get(name))
        for key in self.view.kind.identity[1:]:
            wanted = self.view.wanted(entry.resource, key)
            kept = earlier is None or wanted == self.before.wanted(earlier, key)
            count += kept and wanted is not None and self.view.has(item, key, wanted)
        return count

    def _both_live(self, entry: _Entry) -> None:
        """The old name is live and so is the present one, or several bear the old one."""
        if len(entry.was) > 1:
            self._unclear(entry, *entry.was)
        elif entry.was and entry.now:
            still = self._unchanged(entry, entry.was[0])
            done = self._unchanged(entry, entry.now[0])
            # Renamed after all, the two could not be told apart: so only the other answer is taken for sure.
            if still >= done:
                self._unclear(entry, entry.was[0], entry.now[0])

    def _unclear(self, entry: _Entry, *items: LiveObject) -> None:
        kind = self.view.kind
        first, other = items[0].id, items[1].id
        before = "its earlier name" if entry.how == "previously" else "its name in the git base"
        if len(entry.was) > 1:
            ids = " and ".join(f'"{item.id}"' for item in items)
            message = f"{counted(len(items), f'live {kind.noun}')} have {before}: {ids}"
            hint = f"say which one is meant: id: {first}"
        else:
            message = f'{before} is that of "{first}", its present one that of "{other}"'
            hint = f"say which one is meant: id: {first} (renamed) or id: {other}"
        where = entry.resource.where(
            "previously" if entry.how == "previously" else names(kind.identity[0])[0]
        )
        self.found.diagnostics.append(Diagnostic("DP305", message, where, str(entry.address), hint))
