"""What one reading has found so far, and the few questions that every part of it asks.

`reader` says in which order things are read; the other modules each add one sort of thing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from dpsync.client.client import ReadClient
from dpsync.identity.ids import NOTHING_RECORDED, Recorded
from dpsync.kinds.kind import Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain
from dpsync.live.sources import Source, Sources
from dpsync.live.wrappers import has_automatic_wrapper
from dpsync.model.address import Address
from dpsync.model.desired import Base, Desired, Entry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.ids import NO_IDS, IdsFile
from dpsync.model.snapshot import Identity, LiveObject, Match, Missing, Records


class ReadingState(Struct, dict=True):
    """The state of a reading. `ids` is the ids file of the working tree."""

    client: ReadClient
    registry: Registry
    desired: Desired
    parallelism: int
    base: Base
    ids: IdsFile = NO_IDS
    matches: dict[Address, Match] = field(default_factory=dict)
    objects: dict[Identity, LiveObject] = field(default_factory=dict)
    scopes: dict[Address, list[Identity]] = field(default_factory=dict)
    lanes: dict[Identity, tuple[Identity, ...]] = field(default_factory=dict)
    output_identities: set[Identity] = field(default_factory=set)
    outputs: dict[Address, str | None] = field(default_factory=dict)
    transferred: set[Address] = field(default_factory=set)
    deleted: set[Address] = field(default_factory=set)
    """Entries that are deleted and are brought back by their pin."""
    missing: dict[Address, Missing] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    records: Records = field(default_factory=Records)
    """What the ids files say of the declared organizations, once these are known."""
    recorded: Recorded = NOTHING_RECORDED
    """What the lines mean for the entries."""

    @cached_property
    def sources(self) -> Sources:
        return Sources(self.client, self.registry, self.parallelism)

    @cached_property
    def by_parent(self) -> dict[tuple[str, Address | None], list[Entry]]:
        """The declared entries, by their kind and what they are in."""
        found: dict[tuple[str, Address | None], list[Entry]] = defaultdict(list)
        for resource in self.desired.resources.values():
            found[resource.kind, resource.parent].append(resource)
        return found

    @cached_property
    def earlier(self) -> Mapping[Address, Entry]:
        """The entries of the git base."""
        return self.base.desired.resources if self.base.desired else {}

    @cached_property
    def earlier_by_parent(self) -> dict[tuple[str, Address | None], dict[Address, Entry]]:
        """The entries of the git base by kind and parent, with those that were perhaps given away."""
        found: dict[tuple[str, Address | None], dict[Address, Entry]] = defaultdict(dict)
        for address, resource in self.earlier.items():
            found[resource.kind, resource.parent][address] = resource
        for address, entry, was in self._given_away():
            found[entry.kind, entry.parent][address] = was
        return found

    def _given_away(self) -> Iterator[tuple[Address, Entry, Entry]]:
        """Entries that the git base has under the same key in another organization, and nobody has there now.

        One may have been given away by a run that was interrupted: then it still bears its earlier name here.
        Each with its address, and as it was.
        """
        removed: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
        for address, entry in self.earlier.items():
            if address not in self.desired.resources:
                removed[address.rest].append(entry)
        for address, entry in self.desired.resources.items() if removed else ():
            was = removed[address.rest] if address not in self.earlier else []
            transferable = self.registry[entry.kind].lifecycle.transfer is not None
            if transferable and len(was) == 1 and was[0].kind == entry.kind:
                yield address, entry, was[0]

    def is_there(self, address: Address) -> bool:
        """Whether an entry was found and lists can be read below it.

        What is on something else is lost when that is transferred: it is not there any more. Of what is
        deleted and will be brought back it is not there yet.
        """
        return address in self.matches and address not in self.transferred and address not in self.deleted

    def resource(self, address: Address) -> Entry:
        return self.desired.resources[address]

    def identity(self, address: Address) -> Identity:
        """The kind and id of an entry that was recognised."""
        return self.resource(address).kind, self.matches[address].id

    def chain(self, address: Address) -> Chain:
        """The entry itself and everything above it, as URLs need them."""
        chain: list[tuple[str, str]] = []
        around: Address | None = address
        while around is not None:
            chain.append(self.identity(around))
            around = self.resource(around).parent
        return chain

    def source(self, kind: Kind, parent: Address) -> Source:
        """Where objects of a kind are read: below their parent, or in the tree that the parent is in."""
        owner = self._tree_owner(kind, parent)
        source = self.sources.source(kind, self.identity(owner), self.chain(owner))
        live = self.objects.get(self.identity(owner)) if kind.in_tree else None
        if has_automatic_wrapper(self.registry, kind, live) and self._declares_flat_tree(kind, owner):
            self.sources.unwrapped.add(source.url)
        return source

    def _declares_flat_tree(self, kind: Kind, owner: Address) -> bool:
        """Return whether the files declare a tree whose root holds only nodes that may stand alone there."""
        shapes = [self.registry[self.resource(child).kind].shape for child in self.resource(owner).children]
        declared = owner.child(*kind.key.split(".")) in self.desired.scopes
        return declared and all(isinstance(shape, NodeShape) and shape.alone for shape in shapes)

    def _tree_owner(self, kind: Kind, parent: Address) -> Address:
        """The entry that owns the whole tree which an entry is in."""
        at = parent
        if kind.in_tree:
            owner = self.registry.tree_owner(kind)
            while self.resource(at).kind != owner:
                above = self.resource(at).parent
                assert above is not None
                at = above
        return at

    def bound(self, address: Address) -> str | None:
        """The id that a reference means. For an entry with an output, that is the id of the output."""
        if address in self.outputs:
            return self.outputs[address]
        found = self.matches.get(address)
        return found.id if found else None

    def first_child(self, resource: Entry) -> Entry | None:
        return self.desired.resources.get(resource.children[0]) if resource.children else None

    def earlier_first_child(self, resource: Entry) -> Entry | None:
        return self.earlier.get(resource.children[0]) if resource.children else None

    def stop(self, code: Exit) -> None:
        """Raises DiagnosticError when there are questions that nobody here can answer."""
        if self.diagnostics:
            raise DiagnosticError(self.diagnostics, code)
