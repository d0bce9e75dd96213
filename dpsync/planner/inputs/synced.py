"""What the platform itself keeps as a repository has it (Git Sync): the parts of what is declared that have
another owner than the files.

Two owners of one thing would undo each other's work for ever. So nothing of such a part is compared, written
or deleted, unless the entry says `takeover: true`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import LiveObject, Snapshot, SyncedRepository


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
