"""Apply the policy (`policy:` in the root file), and find entries that were removed from the files.

`EffectivePolicy` answers whether the policy, now or in the git base (the commit compared with), ignores or
protects an object. `git_synced_parts` returns what GitBook's Git Sync keeps as in a repository and dpsync
leaves alone. `RemovalSearch` decides whether an entry was removed on purpose: a commit has it, and its file
no longer does. It only disappeared if its file is no longer included, was renamed or cut off, or belongs to
another overlay; such deletes need a confirmation.
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
from dpsync.planner.names import FormerNames, Names


class GitSyncedEntry(Struct, frozen=True):
    """An entry whose live object Git Sync keeps, in part, as in a repository."""

    entry: Entry
    live: LiveObject
    repository: SyncedRepository
    fields: tuple[str, ...]
    """The fields that come from the repository."""
    tree: Address | None
    """The address of the tree that comes from the repository."""


class GitSyncedParts(Struct, frozen=True):
    """The parts of entries that come from repositories, without entries with `takeover: true`."""

    fields: frozenset[tuple[Address, str]] = frozenset()
    nodes: frozenset[Address] = frozenset()
    """The entries of nodes in trees, without other entries inside nodes."""
    trees: frozenset[Address] = frozenset()

    def contains(self, address: Address, field: str | None = None) -> bool:
        """Return whether an entry, a field, a tree, or an undeclared node comes from a repository."""
        if address in self.nodes or address in self.trees:
            return True
        if field is not None and (address, field) in self.fields:
            return True
        is_undeclared = address.last_segment.startswith("[")
        return is_undeclared and any(ancestor in self.trees for ancestor in address.self_and_ancestors())


def git_synced_entries(registry: Registry, desired: Desired, snapshot: Snapshot) -> Iterator[GitSyncedEntry]:
    """Yield each entry whose live object Git Sync connects to a repository, also with `takeover: true`."""
    if not any(live.synced_repository for live in snapshot.objects.values()):
        return
    for address in sorted(desired.entries):
        entry = desired.entries[address]
        kind, id = registry[entry.kind], snapshot.live_id(address)
        if kind.git_sync is None or id is None:
            continue
        live = snapshot.objects.get((kind.name, id))
        if live is not None and live.synced_repository is not None:
            tree = (
                address.child(*registry.tree_key(kind.name).split("."))
                if kind.git_sync.includes_tree
                else None
            )
            yield GitSyncedEntry(
                entry,
                live,
                live.synced_repository,
                kind.git_sync.synced_fields(live.synced_repository.synced_with_owner),
                tree,
            )


def git_synced_parts(registry: Registry, desired: Desired, snapshot: Snapshot) -> GitSyncedParts:
    """Return what Git Sync keeps as in a repository: fields, navigation nodes and whole navigations.

    The plan leaves these alone. Entries with `takeover: true` are left out: dpsync manages them anyway.
    """
    synced = [part for part in git_synced_entries(registry, desired, snapshot) if not part.entry.takeover]
    trees = frozenset(part.tree for part in synced if part.tree is not None)
    return GitSyncedParts(
        frozenset((part.entry.address, name) for part in synced for name in part.fields),
        frozenset(
            address
            for address, entry in (desired.entries.items() if trees else ())
            if registry[entry.kind].is_node
            and any(ancestor in trees for ancestor in address.self_and_ancestors())
        ),
        trees,
    )


class EffectivePolicy(Struct, frozen=True):
    """The policy of the configuration and of the git base, applied to the names of objects."""

    current: Policy
    base: Base
    names: Names
    former_names: FormerNames
    selected: frozenset[Address] | None
    """The addresses that are planned; None for all."""
    synced: GitSyncedParts

    def is_ignored(self, address: Address, field: str | None = None) -> bool:
        """Return whether the plan ignores an address: by policy, by Git Sync, or by selection."""
        return self.is_unselected(address) or self.is_unmanaged(address, field)

    def is_unmanaged(self, address: Address, field: str | None = None) -> bool:
        """Return whether the policy ignores an address, or Git Sync keeps it as in a repository."""
        return self.current.ignores(address, field) or self.synced.contains(address, field)

    def is_unselected(self, address: Address) -> bool:
        """Return whether the user selected a part of the plan without this address."""
        return self.selected is not None and address not in self.selected

    def protected_by(self, identity: Identity) -> Literal["now", "before"] | None:
        """Return which policy protects an object: "now" the present one, "before" that of the git base.

        None means that neither does. The git base is the configuration in the commit compared with. All
        earlier names count, so that the removal of an entry does not end the protection.
        """
        base_patterns = self.base.desired.policy.protect if self.base.desired else ()
        if self._protects(self.current.protect, identity):
            return "now"
        return "before" if self._protects(base_patterns, identity) else None

    def is_skipped(self, identity: Identity) -> bool:
        """Return whether an object is kept without a refusal (`protect` with `skip`)."""
        return self._protects(self.current.skip, identity)

    def _protects(self, patterns: tuple[Pattern, ...], identity: Identity) -> bool:
        """Return whether a pattern matches any present or former address of an object.

        Earlier commits are searched last, because reading them takes long.
        """

        def matches_any(address: Address) -> bool:
            """Return whether one of the patterns matches an address."""
            return any(pattern.matches(address) for pattern in patterns)

        if not patterns:
            return False
        return any(map(matches_any, self.former_names.addresses_of(identity))) or any(
            map(matches_any, self.former_names.addresses_before_base(identity, matches_any))
        )

    def is_listed_as_removed(self, identity: Identity) -> bool:
        """Return whether a pattern of the policy `removed` names exactly this object.

        A pattern that matches several objects names none of them.
        """
        return any(
            objects == {identity}
            for objects in map(self.former_names.undeclared_named_by, self.current.removed)
        )

    def is_forgotten(self, identity: Identity, pattern: Pattern | None = None) -> bool:
        """Return whether `forget` names a live object, by its present name or the name in the git base.

        With a `pattern`, only that pattern counts.
        """
        patterns = self.current.forget if pattern is None else (pattern,)
        return bool(patterns) and any(
            pattern.matches_or_contains(name)
            for name in self.names.all_addresses(identity)
            for pattern in patterns
        )


NO_ENTRY = "neither the ids file nor git has an entry for the object"
KEPT_BY_APPLY = "an apply kept the object after the entry was removed"
NOT_PRUNED = "no prune pattern covers the list that contains the object"
COMMITS_MISSING = "this clone lacks the commits that show whether the entry was removed"


class Removal(Struct, frozen=True):
    """The reason why an object does not count as removed in git; empty if it does."""

    missing_evidence: str = ""
    file: str | None = None
    """The file of the project that still has the entry and that no file includes."""
    is_prune_new: bool = False
    """Whether the change that removes the entry also adds the prune pattern."""


class RemovalSearch(Struct, frozen=True, dict=True):
    """The search for removed entries of undeclared objects. It reads old commits only if needed."""

    desired: Desired
    snapshot: Snapshot
    base: Base
    former_names: FormerNames

    def find(self, identity: Identity) -> Removal:
        """Decide whether an object lacks an entry because somebody removed the entry on purpose.

        Otherwise, the result has the reason. The object must be in a list that `prune` covers, an apply must
        not have kept the object, and a commit must have its entry.
        """
        if identity not in self._objects_in_pruned_scopes:
            return self._no_removal(identity, NOT_PRUNED)
        if any(line.kept for line in self.former_names.lines_of(identity).values()):
            return self._no_removal(identity, KEPT_BY_APPLY)
        if (newest := self._newest_configurations(identity)) is None:
            if self.base.is_commit_missing or self.base.is_shallow_clone:
                return self._no_removal(identity, COMMITS_MISSING)
            reason = NO_ENTRY if self.base.desired is not None else f"{NO_ENTRY} ({self.base.name})"
            return self._no_removal(identity, reason)
        return self._judge_removal(identity, *newest)

    def newest_entry(self, identity: Identity) -> Entry | None:
        """Return the newest entry of an undeclared object in the base or in a commit before it, if any."""
        newest = self._newest_configurations(identity)
        return newest[1].entries[newest[0]] if newest else None

    def _newest_configurations(self, identity: Identity) -> tuple[Address, Desired, Desired] | None:
        """Find the latest commit with an entry for an object that the files no longer declare; None without.

        Return the address of the entry, the configuration in that commit, and the next newer configuration,
        which lacks the entry.
        """
        newer = self.desired
        for number, configuration in enumerate(self._earlier_configurations):
            if addresses := self._addresses_in(identity, number, configuration):
                return min(addresses), configuration, newer
            newer = configuration
        return None

    @property
    def _earlier_configurations(self) -> Iterator[Desired]:
        """The configurations of the base and of commits before it, the latest first."""
        if self.base.desired is not None:
            yield self.base.desired
            yield from self.base.earlier_configurations

    @cached_property
    def _objects_in_pruned_scopes(self) -> Collection[Identity]:
        """The live objects in lists that a prune pattern covers."""
        scopes = self.snapshot.scopes
        return {
            identity
            for list_address, identities in scopes.items()
            if self.desired.is_pruned(list_address)
            for identity in identities
        }

    def _addresses_in(self, identity: Identity, number: int, earlier_configuration: Desired) -> set[Address]:
        """Return the addresses of the entries that an object had in an earlier configuration."""
        if self.former_names.registry[identity[0]].has_ids_line and self._has_ids_lines(identity):
            # The ids file identifies the entry; the name may belong to another object today.
            lines, this_object = self.former_names.lines_of(identity), frozenset({identity})
            known = {address for address in lines if self.former_names.objects_at(address) == this_object}
        else:
            known = self.former_names.addresses_in_commit(number, earlier_configuration, identity)
        entries = earlier_configuration.entries
        return {address for address in known if address in entries and entries[address].kind == identity[0]}

    def _has_ids_lines(self, identity: Identity) -> bool:
        """Return whether the ids file, now or in the base, has lines for the organization of an object."""
        organization = self.former_names.names.address(identity).organization
        return (
            organization not in self.snapshot.recorded_ids.organizations_without_lines
            or organization in self._organizations_with_base_lines
        )

    @cached_property
    def _organizations_with_base_lines(self) -> Collection[Address]:
        """The organizations for which the ids file of the base has lines."""
        return {address.organization for address in self.snapshot.recorded_ids.base_lines}

    def _judge_removal(
        self, identity: Identity, address: Address, earlier_configuration: Desired, newer: Desired
    ) -> Removal:
        """Return whether an entry was removed on purpose between two consecutive configurations.

        `earlier_configuration` has the entry at `address`, `newer` does not. The entry only disappeared if
        another file that is not included has it, or if its file does not show the removal.
        """
        scope = next(
            (
                ancestor
                for ancestor in address.self_and_ancestors()
                if ancestor in earlier_configuration.scopes
            ),
            address.list_address,
        )
        is_prune_new = not earlier_configuration.is_pruned(
            scope
        ) or earlier_configuration.policy.ignores_or_forgets(address)
        if is_prune_new and newer is not self.desired and not newer.is_pruned(scope):
            return self._no_removal(identity, "no prune pattern covered the entry when the entry was removed")
        unincluded_file = next(
            (file.file for file in self.desired.not_included if address in file.entries), None
        )
        if unincluded_file is not None:
            return Removal(f"the entry is in {unincluded_file}, which no file includes", unincluded_file)
        file = earlier_configuration.entries[address].span.file
        reason = self._missing_removal_reason(file, address, earlier_configuration)
        return Removal(f"the entry was in {file}, and {reason}" if reason else "", is_prune_new=is_prune_new)

    def _no_removal(self, identity: Identity, reason: str) -> Removal:
        """Return that an object does not count as removed, with a reason.

        If a project file that is not included has the entry, that is the reason, whatever `reason` is.
        """
        for file in self.desired.not_included:
            names = self.former_names.addresses_of(identity)
            if (
                names & file.entries
                or self.former_names.addresses_before_base(identity, file.entries.__contains__) & file.entries
            ):
                return Removal(f"the entry is in {file.file}, which no file includes", file.file)
        return Removal(reason)

    def _missing_removal_reason(self, file: str, address: Address, earlier_configuration: Desired) -> str:
        """Return why the file of an entry does not show that a person removed the entry; "" if it does."""
        if file not in self.desired.texts:
            return self.base.describe_missing_file(earlier_configuration.commit or "", file)
        if address in self.desired.addresses_declared_in(file):
            return "that file still has the entry, but an overlay or an environment removes the entry"
        return "that file seems to be incomplete" if self._is_truncated(file, earlier_configuration) else ""

    def _is_truncated(self, file: str, earlier_configuration: Desired) -> bool:
        """Return whether a file seems to be cut off at its end.

        Then its text is a prefix of the old one, and an entry lost fields or the last line is incomplete.
        Otherwise a person removed whole entries.
        """
        old_text, new_text = earlier_configuration.texts.get(file, ""), self.desired.texts[file]
        if old_text == new_text or not old_text.startswith(new_text):
            return False
        remaining = (
            (entry, self.desired.entries[address])
            for address, entry in earlier_configuration.entries.items()
            if entry.span.file == file and address in self.desired.entries
        )
        lost_fields = any(old.fields.keys() - new.fields.keys() for old, new in remaining)
        return lost_fields or (old_text.endswith("\n") and not new_text.endswith("\n"))
