"""What live objects were called before: by the ids file, the git base, and commits before that.

A pattern of the policy may name an object by the address of an entry that is gone. Two questions are answered
here. What did an address mean? The first of these sources that knows it says so, since what is allowed by
that must not fall to another object. What was an object ever called? All of them count, since what is
protected by one name must not be lost under another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from dpsync.identity.match import remember
from dpsync.kinds.places import Places
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Base, Desired
from dpsync.model.ids import RecordedLine
from dpsync.model.snapshot import Identity, Snapshot
from dpsync.planner.inputs.names import Names


class FormerNames(Struct, frozen=True, dict=True):
    """The earlier names of what is live. Commits before the base are read only where they are needed."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot
    base: Base
    names: Names
    _known: dict[Identity, frozenset[Address]] = field(default_factory=dict)
    _commits: dict[int, Mapping[Address, Identity]] = field(default_factory=dict)
    _addresses: dict[int, Mapping[Identity, set[Address]]] = field(default_factory=dict)

    # What an address meant.

    def meant(self, address: Address) -> frozenset[Identity] | None:
        """The live object that an address meant: empty when that is gone, None when nothing knows it."""
        records = self.snapshot.records
        for lines in (records.lines, records.earlier):
            if (line := lines.get(address)) is not None:
                return frozenset(self._of_line(line))
        if address in self.names.remembered:
            return frozenset({self.names.remembered[address]})
        for number, then in enumerate(self.base.earlier):
            if address in then.resources and address in (found := self._of_commit(number, then)):
                return frozenset({found[address]})
        return None

    def named(self, pattern: Pattern) -> frozenset[Identity]:
        """The undeclared objects that a pattern without wildcards means.

        `[Title]` means none where several bear that title.
        """
        if pattern.last.startswith("["):
            found = {
                identity
                for identity in self.snapshot.objects
                if identity not in self.names.declared and any(map(pattern.matches, self.of(identity)))
            }
        else:
            found = set().union(*(self.meant(address) or () for address in self.everywhere(pattern)))
        return frozenset(identity for identity in found if identity not in self.names.declared)

    def knows(self, pattern: Pattern) -> bool:
        """Whether a pattern fits anything: an entry, a line, something live, or something that was an entry.

        What a line names counts also where that is gone: then it is known what it was.
        """
        records, desired = self.snapshot.records, self.desired
        known = (desired.resources, desired.unserved, desired.lookups, records.lines, records.earlier)
        if any(pattern.matches(address) for places in known for address in places):
            return True
        if any(pattern.matches(name) for identity in self.snapshot.objects for name in self.of(identity)):
            return True
        return any(self.meant(address) for address in self.everywhere(pattern))

    def everywhere(self, pattern: Pattern) -> Iterator[Address]:
        """The address that a pattern names, in each organization where it begins with the word of a kind."""
        organization, *rest = pattern.segments
        if organization != "*":
            yield Address(pattern.segments)
            return
        root = self.registry.root.name
        for address, entry in self.desired.resources.items():
            if entry.kind == root:
                yield Address((*address.segments, *rest))

    # What an object was called.

    def of(self, identity: Identity) -> frozenset[Address]:
        """Every address of an object, now and before, but those that only commits before the base had."""
        if identity not in self._known:
            self._known[identity] = frozenset(self._each(identity))
        return self._known[identity]

    def lines_of(self, identity: Identity) -> Mapping[Address, RecordedLine]:
        """The lines of an object in the ids file of now, and those in that of the base at other addresses."""
        return self._by_lines.get(identity, {})

    def addresses_in(self, number: int, then: Desired, identity: Identity) -> set[Address]:
        """The addresses of an object in the base (0) or in a commit before it, by natural keys."""
        if number not in self._addresses:
            known = self.names.remembered if number == 0 else self._of_commit(number - 1, then)
            found: dict[Identity, set[Address]] = defaultdict(set)
            for address, one in known.items():
                found[one].add(address)
            self._addresses[number] = found
        return self._addresses[number].get(identity, set())

    def before(self, identity: Identity, wanted: Callable[[Address], bool]) -> frozenset[Address]:
        """The addresses of an object in commits before the base with an entry at a `wanted` address."""
        found: set[Address] = set()
        for number, then in enumerate(self.base.earlier):
            if any(map(wanted, then.resources)):
                found |= {at for at, one in self._of_commit(number, then).items() if one == identity}
        return frozenset(found)

    def _each(self, identity: Identity) -> Iterator[Address]:
        item, now = self.snapshot.objects[identity], self.names.address(identity)
        yield now
        yield from self._by_lines.get(identity, ())
        if identity in self.names.earlier_addresses:
            yield self.names.earlier_addresses[identity]
        if identity in self.names.declared:
            return
        place = now.place
        yield self.exactly(identity)
        kind = self.registry[item.kind]
        natural = item.fields.get(kind.natural) if kind.natural is not None else None
        if isinstance(natural, str):
            yield place.child(self.registry.folded(kind, natural))
        if item.parent is not None and item.parent in self.snapshot.objects:
            around = self.names.address(item.parent)
            inside = now.segments[len(around.segments) :]
            if inside and now.is_in(around):
                yield from (Address((*name.segments, *inside)) for name in self.of(item.parent))

    def exactly(self, identity: Identity) -> Address:
        """The address of an undeclared object with its id: it will never mean another one."""
        item, now = self.snapshot.objects[identity], self.names.address(identity)
        return now.place.unmanaged(self.names.label(item), item.id)

    # What has lost its entry.

    @cached_property
    def lost(self) -> Mapping[Identity, bool]:
        """The undeclared objects that lost their entry in a change that no apply has finished.

        The value says whether an entry with the address still exists, with a name that no live object has.
        The line of the object tells it. For an object without a line, the git base does, and without any line
        earlier commits, too: they have an entry of the object, and no entry at that address is live.
        """
        known = self.desired.resources.keys() | self.desired.unserved.keys()
        records = self.snapshot.records
        unmarked = [line for at, line in records.lines.items() if at not in known and not line.kept]
        found = {identity: False for line in unmarked for identity in self._of_line(line)}
        gone = known - self.names.identities.keys()
        with_line = {line.id for line in records.lines.values()}
        for former in self._former_entries():
            for address, identity in former.items():
                without_line = self.snapshot.objects[identity].id not in with_line
                if without_line and (address not in known or address in gone):
                    found[identity] = found.get(identity, False) or address in gone
            if not records.empty:
                break
        return {one: entry_exists for one, entry_exists in found.items() if one not in self.names.declared}

    def _former_entries(self) -> Iterator[Mapping[Address, Identity]]:
        """Return the live objects of the entries of each known commit, the git base first."""
        lines = self.snapshot.records.earlier.values()
        by_line = {line.address: identity for line in lines for identity in self._of_line(line)}
        yield {**self.names.remembered, **by_line}
        yield from (self._of_commit(number, then) for number, then in enumerate(self.base.earlier))

    # By lines and commits.

    @cached_property
    def _by_lines(self) -> Mapping[Identity, dict[Address, RecordedLine]]:
        found: dict[Identity, dict[Address, RecordedLine]] = defaultdict(dict)
        records = self.snapshot.records
        for line in (*records.earlier.values(), *records.lines.values()):
            for identity in self._of_line(line):
                found[identity][line.address] = line
        return found

    def _of_line(self, line: RecordedLine) -> Iterator[Identity]:
        if line.id in self._by_id:
            kinds = {kind.name for kind in self._places.kinds(line.address)}
            yield from (identity for identity in self._by_id[line.id] if identity[0] in kinds)

    @cached_property
    def _by_id(self) -> Mapping[str, list[Identity]]:
        found: dict[str, list[Identity]] = defaultdict(list)
        for identity, item in self.snapshot.objects.items():
            found[item.id].append(identity)
        return found

    @cached_property
    def _places(self) -> Places:
        return Places(self.registry)

    def _of_commit(self, number: int, then: Desired) -> Mapping[Address, Identity]:
        if number not in self._commits:
            self._commits[number] = remember(self.registry, then, self.desired, self.snapshot)
        return self._commits[number]
