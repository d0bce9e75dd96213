"""Apply the policy, and find entries that were removed from the files.

What the platform itself keeps as a repository has it (Git Sync): the parts of what is declared that have
another owner than the files.

Two owners of one thing would undo each other's work for ever. So nothing of such a part is compared, written
or deleted, unless the entry says `takeover: true`.

What the policy says about things, now and in the git base, and what was not selected.

Whether the entry of a live object was removed in git, or only disappeared.

A person removes an entry: a commit has it, and its file, which the configuration still reads, does not have
it any more; or git shows that file as deleted. An entry also disappears without being removed: its file is no
longer included, was renamed or cut off, or belongs to an overlay that is not given. Only what a person
removed may be deleted without being named.

The commit that counts is the newest one with the entry: the git base, or one before it. So the removal counts
as well when it is applied several commits later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Literal

from msgspec import Struct

from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Base, Desired, Entry, Policy
from dpsync.model.snapshot import Identity, LiveObject, Snapshot, SyncedRepository
from dpsync.planner.history import FormerNames, Names


class SyncedEntry(Struct, frozen=True):
    """An entry of which the platform keeps a part as a repository has it."""

    entry: Entry
    live: LiveObject
    repository: SyncedRepository
    fields: tuple[str, ...]
    """The fields that the repository decides."""
    tree: Address | None
    """The place of the tree that the repository decides."""


class SyncedParts(Struct, frozen=True):
    """All such parts of what is declared, without those that are taken over."""

    fields: frozenset[tuple[Address, str]] = frozenset()
    nodes: frozenset[Address] = frozenset()
    """Entries of trees. What is declared inside of one and is no node itself is not among them."""
    trees: frozenset[Address] = frozenset()

    def has(self, address: Address, field: str | None = None) -> bool:
        """Whether an entry, a field of one, a tree, or something undeclared in a tree is such a part."""
        if address in self.nodes or address in self.trees:
            return True
        if field is not None and (address, field) in self.fields:
            return True
        undeclared = address.last.startswith("[")
        return undeclared and any(above in self.trees for above in address.upward())


def synced_entries(registry: Registry, desired: Desired, snapshot: Snapshot) -> Iterator[SyncedEntry]:
    """Every entry whose live object is kept in step with a repository, also those that are taken over."""
    if not any(live.synced for live in snapshot.objects.values()):
        return
    for address in sorted(desired.resources):
        entry = desired.resources[address]
        kind, id = registry[entry.kind], snapshot.bound(address)
        if kind.synced is None or id is None:
            continue
        live = snapshot.objects.get((kind.name, id))
        if live is not None and live.synced is not None:
            tree = address.child(*registry.tree_word(kind.name).split(".")) if kind.synced.tree else None
            yield SyncedEntry(entry, live, live.synced, kind.synced.decided(live.synced.together), tree)


def synced_parts(registry: Registry, desired: Desired, snapshot: Snapshot) -> SyncedParts:
    """What has another owner than the files."""
    theirs = [one for one in synced_entries(registry, desired, snapshot) if not one.entry.takeover]
    trees = frozenset(one.tree for one in theirs if one.tree is not None)
    return SyncedParts(
        frozenset((one.entry.address, name) for one in theirs for name in one.fields),
        frozenset(
            address
            for address, entry in (desired.resources.items() if trees else ())
            if registry[entry.kind].in_tree and any(above in trees for above in address.upward())
        ),
        trees,
    )


class Policies(Struct, frozen=True):
    """The policy of the configuration and that of the git base, over the names of both sides."""

    now: Policy
    base: Base
    names: Names
    former: FormerNames
    chosen: frozenset[Address] | None
    """The part that is planned, where that is not everything."""
    synced: SyncedParts

    def ignored(self, address: Address, field: str | None = None) -> bool:
        """Whether it is left alone, or was not selected."""
        return self.left_out(address) or self.leaves_alone(address, field)

    def leaves_alone(self, address: Address, field: str | None = None) -> bool:
        """Whether the policy ignores it, or the platform itself keeps it as a repository has it."""
        return self.now.ignores(address, field) or self.synced.has(address, field)

    def left_out(self, address: Address) -> bool:
        """Whether something was not selected."""
        return self.chosen is not None and address not in self.chosen

    def protected(self, identity: Identity) -> Literal["now", "before"] | None:
        """Whether an object may not be deleted: by the present policy, or by that of the git base.

        Whatever it was ever called counts, so that removing its entry does not end its protection.
        """
        then = self.base.desired.policy.protect if self.base.desired else ()
        if self._protects(self.now.protect, identity):
            return "now"
        return "before" if self._protects(then, identity) else None

    def skips(self, identity: Identity) -> bool:
        """Whether an object is protected and kept while the rest of the plan goes on."""
        return self._protects(self.now.skip, identity)

    def _protects(self, patterns: tuple[Pattern, ...], identity: Identity) -> bool:
        def named(address: Address) -> bool:
            return any(pattern.matches(address) for pattern in patterns)

        if not patterns:
            return False
        return any(map(named, self.former.of(identity))) or any(
            map(named, self.former.before(identity, named))
        )

    def removed(self, identity: Identity) -> bool:
        """Whether `removed` names an object. A pattern that means several things names none of them."""
        return any(named == {identity} for named in map(self.former.named, self.now.removed))

    def forgotten(self, identity: Identity, pattern: Pattern | None = None) -> bool:
        """Whether `forget` names a live object, by its present name or by the one in the git base.

        With a `pattern`, by that one alone.
        """
        patterns = self.now.forget if pattern is None else (pattern,)
        return bool(patterns) and any(
            pattern.covers(name) for name in self.names.every_address(identity) for pattern in patterns
        )


NO_ENTRY = "neither the ids file nor git has an entry for the object"
KEPT = "an apply kept the object after the entry was removed"
NOT_PRUNED = "no prune pattern covers the list that contains the object"
DEEPER = "this clone lacks the commits that show whether the entry was removed"


class Removal(Struct, frozen=True):
    """Why an object does not count as removed in git; nothing if it does."""

    reason: str = ""
    file: str | None = None
    """The file of the project that still has its entry and that nothing includes."""
    new_prune: bool = False
    """Whether the change that removes the entry also adds what lets the object go."""


class Removals(Struct, frozen=True, dict=True):
    """Finds the removed entries of undeclared objects. Commits before the base are read only where needed."""

    desired: Desired
    snapshot: Snapshot
    base: Base
    former: FormerNames

    def of(self, identity: Identity) -> Removal:
        """Return how the entry of an undeclared object was removed, if it was."""
        if identity not in self._pruned:
            return self._not_removed(identity, NOT_PRUNED)
        if any(line.kept for line in self.former.lines_of(identity).values()):
            return self._not_removed(identity, KEPT)
        if (newest := self._newest(identity)) is None:
            return self._not_removed(identity, self._unknown())
        return self._removed_since(identity, *newest)

    def entry(self, identity: Identity) -> Entry | None:
        """Return the newest entry of an undeclared object in the base or in a commit before it, if any."""
        newest = self._newest(identity)
        return newest[1].resources[newest[0]] if newest else None

    def _newest(self, identity: Identity) -> tuple[Address, Desired, Desired] | None:
        """Return the newest entry of an object: its address, its configuration, and the one after that."""
        newer = self.desired
        for number, then in enumerate(self._earlier):
            if addresses := self._addresses(identity, number, then):
                return min(addresses), then, newer
            newer = then
        return None

    @property
    def _earlier(self) -> Iterator[Desired]:
        """The configurations of the base and of commits before it, the latest first."""
        if self.base.desired is not None:
            yield self.base.desired
            yield from self.base.earlier

    @cached_property
    def _pruned(self) -> Collection[Identity]:
        scopes = self.snapshot.scopes
        return {one for place, items in scopes.items() if self.desired.pruned(place) for one in items}

    def _addresses(self, identity: Identity, number: int, then: Desired) -> set[Address]:
        """The addresses of the entries that an object had in an earlier configuration."""
        if self.former.registry[identity[0]].recorded and self._has_lines(identity):
            # The ids file says which entry it was; a name may be another object's by now.
            lines, only = self.former.lines_of(identity), frozenset({identity})
            known = {address for address in lines if self.former.meant(address) == only}
        else:
            known = self.former.addresses_in(number, then, identity)
        return {at for at in known if at in then.resources and then.resources[at].kind == identity[0]}

    def _has_lines(self, identity: Identity) -> bool:
        top = self.former.names.address(identity).top
        return top not in self.snapshot.records.empty or top in self._tops_before

    @cached_property
    def _tops_before(self) -> Collection[Address]:
        return {address.top for address in self.snapshot.records.earlier}

    def _removed_since(self, identity: Identity, address: Address, then: Desired, newer: Desired) -> Removal:
        place = next((at for at in address.upward() if at in then.scopes), address.place)
        new_prune = not then.pruned(place) or then.policy.leaves(address)
        if new_prune and newer is not self.desired and not newer.pruned(place):
            return self._not_removed(
                identity, "no prune pattern covered the entry when the entry was removed"
            )
        other = self._other_file(address)
        if other is not None:
            return Removal(f"the entry is in {other}, which no file includes", other)
        file = then.resources[address].span.file
        reason = self._still_there(file, address, then)
        return Removal(f"the entry was in {file}, and {reason}" if reason else "", new_prune=new_prune)

    def _not_removed(self, identity: Identity, reason: str) -> Removal:
        """The reason, or the file of the project that has the entry and that nothing includes."""
        for file in self.desired.not_included:
            names = self.former.of(identity)
            if names & file.entries or self.former.before(identity, file.entries.__contains__) & file.entries:
                return Removal(f"the entry is in {file.file}, which no file includes", file.file)
        return Removal(reason)

    def _other_file(self, address: Address) -> str | None:
        return next((one.file for one in self.desired.not_included if address in one.entries), None)

    def _still_there(self, file: str, address: Address, then: Desired) -> str:
        """Why the file of an entry does not show its removal; "" if it does."""
        if file not in self.desired.texts:
            return self.base.missing_file(then.commit or "", file)
        if address in self.desired.entries_in(file):
            return "that file still has the entry, but an overlay or an environment removes the entry"
        return "that file seems to be incomplete" if self._is_cut(file, then) else ""

    def _is_cut(self, file: str, then: Desired) -> bool:
        """Whether a file ends in the middle of what it was: a person removes whole entries."""
        before, now = then.texts.get(file, ""), self.desired.texts[file]
        if before == now or not before.startswith(now):
            return False
        remaining = (
            (entry, self.desired.resources[address])
            for address, entry in then.resources.items()
            if entry.span.file == file and address in self.desired.resources
        )
        lost_fields = any(old.fields.keys() - new.fields.keys() for old, new in remaining)
        return lost_fields or (before.endswith("\n") and not now.endswith("\n"))

    def _unknown(self) -> str:
        if self.base.lacking or self.base.shallow:
            return DEEPER
        return NO_ENTRY if self.base.desired is not None else f"{NO_ENTRY} ({self.base.name})"
