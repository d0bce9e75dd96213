"""What every part of the planner looks things up in: both sides, under one set of names.

Live references are turned into addresses where the object is declared, so that the two sides compare as they
are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from dpsync.identity.remember import remember
from dpsync.kinds.base import Field, Kind
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain
from dpsync.model.address import Address, Pattern
from dpsync.model.base import NOT_ASKED, Base
from dpsync.model.desired import Desired, Lookup, Resource
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import LiveId, Ref, Value, to_plain, transform
from dpsync.planner.answers import Answers, parse_all


@dataclass(frozen=True)
class Options:
    """What the person asked for beside the configuration."""

    confirm: tuple[str, ...] = ()
    """Answers to what a plan asks, as they were typed (planner/answers.py)."""
    delete: bool = True
    proof: bool = False
    """Whether this only proves what was done: what cannot be read back is then taken as it is."""
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Address patterns: only the selected part is planned, with what it needs."""


@dataclass
class Context:
    """Both sides. `resources` is desired with everything that is ignored taken out."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot
    options: Options = field(default_factory=Options)
    base: Base = NOT_ASKED
    chosen: frozenset[Address] | None = None
    """The part that is planned, where that is not everything."""

    def __post_init__(self) -> None:
        """What this token may not read is planned no more than what the server does not serve."""
        self.desired = self.desired.without(self.snapshot.unread, self.snapshot.unread_fields)

    @cached_property
    def answers(self) -> Answers:
        """What was answered, and what the rules ask while they read this context.

        Raises DiagnosticError (exit 64) for a text that is no answer.
        """
        return Answers(parse_all(self.options.confirm, self.registry))

    @cached_property
    def resources(self) -> dict[Address, Resource]:
        edited: dict[Address, Resource] = {}
        for address in sorted(self.desired.resources):
            resource = self.desired.resources[address]
            kind = self.kind(resource)
            fields = {
                name: self.normal(kind.field(name), value, resource)
                for name, value in resource.fields.items()
                if not self.desired.policy.ignores(address, name)
            }
            edited[address] = replace(resource, fields=fields)
        return edited

    def ignored(self, address: Address, field: str | None = None) -> bool:
        """Whether the policy leaves it alone, or it was not selected."""
        return self.left_out(address) or self.desired.policy.ignores(address, field)

    def left_out(self, address: Address) -> bool:
        """Whether something was not selected."""
        return self.chosen is not None and address not in self.chosen

    def first_child(self, resource: Resource) -> Resource | None:
        return self.desired.resources.get(resource.children[0]) if resource.children else None

    def kind(self, item: Resource | LiveObject) -> Kind:
        return self.registry[item.kind]

    # The past.

    @cached_property
    def remembered(self) -> dict[Address, Identity]:
        """The live objects that the entries of the git base are."""
        if self.base.desired is None:
            return {}
        return remember(self.registry, self.base.desired, self.desired, self.snapshot)

    @cached_property
    def earlier_addresses(self) -> dict[Identity, Address]:
        """The address that a live object has in the git base."""
        return {identity: address for address, identity in self.remembered.items()}

    def protected(self, identity: Identity) -> Literal["now", "before"] | None:
        """Whether an object may not go: by what is written now, or by what the git base says."""
        addresses = [self.address(identity)]
        if identity in self.earlier_addresses:
            addresses.append(self.earlier_addresses[identity])
        if any(pattern.matches(address) for pattern in self.desired.policy.protect for address in addresses):
            return "now"
        before = self.base.desired.policy.protect if self.base.desired else ()
        return "before" if any(item.matches(address) for item in before for address in addresses) else None

    def forgotten(self, identity: Identity, pattern: Pattern | None = None) -> bool:
        """Whether nobody wants to hear of a live object any more: by what it is called, or was called.

        With a `pattern`, by that one alone.
        """
        patterns = self.desired.policy.forget if pattern is None else (pattern,)
        return bool(patterns) and any(
            pattern.covers(name) for name in self._all_names(identity) for pattern in patterns
        )

    def _all_names(self, identity: Identity) -> set[Address]:
        """The address of an object that nobody declares, in both its forms, and the one in the git base."""
        item = self.snapshot.objects[identity]
        place, title = self._place(item), self._title(item)
        names = {place.unmanaged(title), place.unmanaged(title, item.id)}
        return names | ({self.earlier_addresses[identity]} if identity in self.earlier_addresses else set())

    # Names of live things.

    @cached_property
    def declared(self) -> dict[Identity, Address]:
        """The address of each recognised live object; looked-up ones are among them."""
        known = {
            identity: address
            for address, resource in self.desired.resources.items()
            if (identity := self._identity(address, resource))
        }
        for address, lookup in self.desired.lookups.items():
            if identity := self._identity(address, lookup):
                known[identity] = address
        return known

    def _identity(self, address: Address, item: Resource | Lookup) -> Identity | None:
        id = self.snapshot.bound(address)
        if id is None:
            return None
        owner = None
        if item.parent is not None:
            owner = self.desired.resources[item.parent].kind, self.snapshot.bound(item.parent) or ""
        return self.registry[item.kind].identity_of(id, owner)

    def live(self, address: Address) -> LiveObject | None:
        resource = self.desired.resources.get(address)
        identity = self._identity(address, resource) if resource else None
        return None if identity is None else self.snapshot.objects.get(identity)

    def named(self, item: Resource | LiveObject, kind: str, id: str) -> Identity:
        """The object that an id in a field of `item` means: of people, the one in its own organization."""
        if kind not in self.registry or (target := self.registry[kind]).own_id:
            return kind, id
        around = next((above for above in self._around(item) if above[0] in target.parents), None)
        return target.identity_of(id, around)

    def _around(self, item: Resource | LiveObject) -> list[Identity]:
        """What is live of the item itself and of everything above it."""
        if isinstance(item, LiveObject):
            return [item.identity, *self.snapshot.above(item)]
        own = self.snapshot.bound(item.address)
        above = [(kind, id) for kind, id in self.chain(item) if not id.startswith("{")]
        return [(item.kind, own), *above] if own else above

    @cached_property
    def _same_title(self) -> Counter[tuple[Identity | None, str, str]]:
        """How many undeclared objects of one place have one title."""
        return Counter(
            (item.parent, self.kind(item).key, self._title(item))
            for identity, item in self.snapshot.objects.items()
            if identity not in self.declared
        )

    def _place(self, item: LiveObject) -> Address:
        if item.parent is None:
            return Address(())
        kind = self.kind(item)
        parent = self.address(item.parent)
        inside = self.registry[item.parent[0]].key == kind.key and item.parent[0] in kind.parents
        return parent if inside and item.holder == item.parent else parent.child(*kind.key.split("."))

    def _title(self, item: LiveObject) -> str:
        kind = self.kind(item)
        value = item.fields.get(kind.title)
        if isinstance(value, LiveId):
            meant = [self.named(item, name, value.id) for name in kind.field(kind.title).type.refers]
            known = [self.declared.get(identity) or self._titled(identity) for identity in meant]
            return next((str(name).rpartition("/")[2] for name in known if name), value.id)
        if isinstance(value, dict):  # of terms in several languages the first one
            value = value[min(value)] if value else None
        return str(value) if value else item.id

    def _titled(self, identity: Identity) -> str | None:
        other = self.snapshot.objects.get(identity)
        return self._title(other) if other else None

    def address(self, identity: Identity) -> Address:
        """The address of a live object: its entry's, or that of an unmanaged object."""
        if identity in self.declared:
            return self.declared[identity]
        item = self.snapshot.objects[identity]
        title = self._title(item)
        alone = self._same_title[item.parent, self.kind(item).key, title] == 1
        return self._place(item).unmanaged(title, None if alone else item.id)

    def label(self, item: Resource | LiveObject) -> str:
        """What people call it."""
        kind = self.kind(item)
        if isinstance(item, LiveObject):
            return self._title(item)
        value = item.fields.get(kind.title)
        return value if isinstance(value, str) else item.key

    # Values.

    def normal(self, field: Field, value: Value, item: Resource | LiveObject) -> Value:
        """The value of a field of `item` with every id that is declared here turned into its address."""

        def name(leaf: Value) -> Value:
            if isinstance(leaf, LiveId):
                for kind in field.type.refers:
                    if address := self.declared.get(self.named(item, kind, leaf.id)):
                        return Ref(address)
                    if address := self._outputs.get(leaf.id):
                        return Ref(address)
            return leaf

        return transform(value, name)

    @cached_property
    def _outputs(self) -> dict[str, Address]:
        return {id: address for address, id in self.snapshot.outputs.items() if id is not None}

    def shown(self, field: Field, value: Value, item: Resource | LiveObject) -> Value:
        """The normal form as plain JSON, for differences; what is known but undeclared shows its address."""

        def name(leaf: Value) -> Value:
            if isinstance(leaf, LiveId):
                for kind in field.type.refers:
                    if (identity := self.named(item, kind, leaf.id)) in self.snapshot.objects:
                        return Ref(self.address(identity))
            return leaf

        return to_plain(transform(self.normal(field, value, item), name))

    def known_id(self, address: Address) -> str | None:
        """The id that a reference to this address stands for, when it is live: its own, or its output's."""
        if address in self.snapshot.outputs:
            return self.snapshot.outputs[address]
        return self.snapshot.bound(address)

    def sent(self, value: Value) -> Value:
        """Plain JSON as a request carries it: ids for what is live, markers for what is not made yet."""

        def id(leaf: Value) -> Value:
            if isinstance(leaf, LiveId):
                return leaf.id
            if isinstance(leaf, Ref):
                return self.known_id(leaf.address) or Ref(self.output(leaf.address) or leaf.address)
            return leaf

        return to_plain(transform(value, id))

    def output(self, address: Address) -> Address | None:
        """The address of what an entry puts out, which is not its own; None where it puts nothing out."""
        resource = self.desired.resources.get(address)
        outputs = self.kind(resource).outputs if resource is not None else None
        return address.child(outputs.kind) if outputs is not None else None

    def id(self, address: Address) -> str:
        """For paths: the live id, or the address in braces."""
        return self.snapshot.bound(address) or f"{{{address}}}"

    def chain(self, resource: Resource) -> Chain:
        """Kind and id of everything above an entry."""
        chain: list[tuple[str, str]] = []
        around = resource.parent
        while around is not None:
            above = self.desired.resources[around]
            chain.append((above.kind, self.id(around)))
            around = above.parent
        return chain

    def ancestor(self, resource: Resource, kind: str) -> Address | None:
        """The entry around this one that is of a kind; "parent" is the parent whatever it is."""
        if kind == "parent":
            return resource.parent
        around = resource.parent
        while around is not None and self.desired.resources[around].kind != kind:
            around = self.desired.resources[around].parent
        return around

    def live_ancestor(self, item: LiveObject, kind: str) -> Identity | None:
        if kind == "parent":
            return item.parent
        return next((above for above in self.snapshot.above(item) if above[0] == kind), None)
