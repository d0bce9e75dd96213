"""Apply the policy, and find entries that were removed from the files.

`Policies` answers for an object or address whether the policy, now or in the git base, ignores or protects
the object. `synced_parts` returns what Git Sync keeps as in a repository: without `takeover: true`, dpsync
does not compare, write or delete these parts.

`Removals` decides whether an entry was removed or only disappeared. An entry was removed if a commit has the
entry, and its file no longer has it or git shows the file as deleted. An entry disappeared if its file is no
longer included, was renamed or cut off, or belongs to another overlay: such deletes need a confirmation.
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
    """An entry of which Git Sync keeps a part as in a repository."""

    entry: Entry
    live: LiveObject
    repository: SyncedRepository
    fields: tuple[str, ...]
    """The fields that come from the repository."""
    tree: Address | None
    """The address of the tree that comes from the repository."""


class SyncedParts(Struct, frozen=True):
    """The parts of entries that come from repositories, without entries with `takeover: true`."""

    fields: frozenset[tuple[Address, str]] = frozenset()
    nodes: frozenset[Address] = frozenset()
    """The entries of nodes in trees, without other entries inside nodes."""
    trees: frozenset[Address] = frozenset()

    def has(self, address: Address, field: str | None = None) -> bool:
        """Return whether an entry, a field, a tree, or an undeclared node comes from a repository."""
        if address in self.nodes or address in self.trees:
            return True
        if field is not None and (address, field) in self.fields:
            return True
        undeclared = address.last.startswith("[")
        return undeclared and any(above in self.trees for above in address.upward())


def synced_entries(registry: Registry, desired: Desired, snapshot: Snapshot) -> Iterator[SyncedEntry]:
    """Yield each entry whose live object comes from a repository, also with `takeover: true`."""
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
    """Return the parts of entries that come from repositories."""
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
    """The policy of the configuration and of the git base, applied to the names of objects."""

    now: Policy
    base: Base
    names: Names
    former: FormerNames
    chosen: frozenset[Address] | None
    """The addresses that are planned; None for all."""
    synced: SyncedParts

    def ignored(self, address: Address, field: str | None = None) -> bool:
        """Return whether the plan ignores an address: by policy, by Git Sync, or by selection."""
        return self.left_out(address) or self.leaves_alone(address, field)

    def leaves_alone(self, address: Address, field: str | None = None) -> bool:
        """Return whether the policy ignores an address, or Git Sync keeps it as in a repository."""
        return self.now.ignores(address, field) or self.synced.has(address, field)

    def left_out(self, address: Address) -> bool:
        """Return whether an address was not selected."""
        return self.chosen is not None and address not in self.chosen

    def protected(self, identity: Identity) -> Literal["now", "before"] | None:
        """Return which policy protects an object: the present one, or that of the git base ("before").

        All earlier names count, so that the removal of an entry does not end the protection.
        """
        then = self.base.desired.policy.protect if self.base.desired else ()
        if self._protects(self.now.protect, identity):
            return "now"
        return "before" if self._protects(then, identity) else None

    def skips(self, identity: Identity) -> bool:
        """Return whether an object is kept without a refusal (`protect` with `skip`)."""
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
        """Return whether `removed` names an object. A pattern with several objects names none of them."""
        return any(named == {identity} for named in map(self.former.named, self.now.removed))

    def forgotten(self, identity: Identity, pattern: Pattern | None = None) -> bool:
        """Return whether `forget` names a live object, by its present name or the name in the git base.

        With a `pattern`, only that pattern counts.
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
    """The reason why an object does not count as removed in git; empty if it does."""

    reason: str = ""
    file: str | None = None
    """The file of the project that still has the entry and that no file includes."""
    new_prune: bool = False
    """Whether the change that removes the entry also adds the prune pattern."""


class Removals(Struct, frozen=True, dict=True):
    """The search for removed entries of undeclared objects. It reads old commits only if needed."""

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
            return self._not_removed(identity, self._unknown_reason())
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
        """Return the addresses of the entries that an object had in an earlier configuration."""
        if self.former.registry[identity[0]].recorded and self._has_lines(identity):
            # The ids file identifies the entry; the name may belong to another object today.
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
        reason = self._missing_removal_reason(file, address, then)
        return Removal(f"the entry was in {file}, and {reason}" if reason else "", new_prune=new_prune)

    def _not_removed(self, identity: Identity, reason: str) -> Removal:
        """Return the reason, or the file of the project that has the entry and that no file includes."""
        for file in self.desired.not_included:
            names = self.former.of(identity)
            if names & file.entries or self.former.before(identity, file.entries.__contains__) & file.entries:
                return Removal(f"the entry is in {file.file}, which no file includes", file.file)
        return Removal(reason)

    def _other_file(self, address: Address) -> str | None:
        return next((one.file for one in self.desired.not_included if address in one.entries), None)

    def _missing_removal_reason(self, file: str, address: Address, then: Desired) -> str:
        """Return why the file of an entry does not show the removal; "" if it does."""
        if file not in self.desired.texts:
            return self.base.missing_file(then.commit or "", file)
        if address in self.desired.entries_in(file):
            return "that file still has the entry, but an overlay or an environment removes the entry"
        return "that file seems to be incomplete" if self._is_cut(file, then) else ""

    def _is_cut(self, file: str, then: Desired) -> bool:
        """Return whether a file seems cut off, in contrast to a removal of whole entries."""
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

    def _unknown_reason(self) -> str:
        if self.base.lacking or self.base.shallow:
            return DEEPER
        return NO_ENTRY if self.base.desired is not None else f"{NO_ENTRY} ({self.base.name})"
