"""Bring both sides of a plan, the files and the live objects, under one set of addresses.

`Sides` has both states, the options of the run, and the git base (the commit compared with). `ValueConverter`
converts the values of fields between three forms: normal (to compare), display (plain JSON for a plan), and
sent (plain JSON of a request). In the normal form, the id of a declared object is a reference to its address.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.kinds.kind import Field
from dpsync.kinds.registry import Registry, SupportedKind
from dpsync.model.address import Address
from dpsync.model.desired import NO_BASE, NO_LABELS, Base, Desired, Entry, LabelCommits
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import PLAIN_TYPES, LiveId, Ref, Secret, Value, live_ids, map_leaves, to_plain
from dpsync.planner.answers import Answers, parse_answers
from dpsync.planner.names import FormerNames, Hierarchy, Names
from dpsync.planner.policy import EffectivePolicy, GitSyncedParts, RemovalSearch, git_synced_parts

NORMAL_TYPES = PLAIN_TYPES | {Ref, Secret}
"""The types of values that are their own normal form."""


class ValueConverter(Struct, frozen=True, dict=True):
    """The conversion of field values between ids and addresses."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot
    names: Names

    def with_references(self, field: Field, value: Value, item: Entry | LiveObject) -> Value:
        """Return the value of a field of `item`, with the ids of declared objects replaced by references."""
        if type(value) in NORMAL_TYPES:
            return value

        if isinstance(value, LiveId):
            return self._reference_or_id(field, value, item)
        return map_leaves(
            value, lambda leaf: self._reference_or_id(field, leaf, item) if isinstance(leaf, LiveId) else leaf
        )

    def _reference_or_id(self, field: Field, id: LiveId, item: Entry | LiveObject) -> Ref | LiveId:
        """Return a reference to the entry of the object with this id; the id if no entry has this object."""
        for kind in field.type.referenced_kinds:
            if address := self.names.declared.get(self.names.referenced_object(item, kind, id.id)):
                return Ref(address)
            if address := self._outputs.get(id.id):
                return Ref(address)
        return id

    def to_display(self, field: Field, value: Value, item: Entry | LiveObject) -> Value:
        """Return a field value as plain JSON for the differences of a plan.

        Ids become addresses, of declared and of undeclared objects. Unread objects keep their ids.
        """

        def to_address(leaf: Value) -> Value:
            """Return a reference to the object with an id, if it was read."""
            if isinstance(leaf, LiveId):
                for kind in field.type.referenced_kinds:
                    if (
                        identity := self.names.referenced_object(item, kind, leaf.id)
                    ) in self.snapshot.objects:
                        return Ref(self.names.address(identity))
            return leaf

        return to_plain(map_leaves(self.with_references(field, value, item), to_address))

    def live_id(self, address: Address) -> str | None:
        """Return the id that is sent for a reference to an address; None if the object is not live."""
        return self.snapshot.reference_id(address)

    def to_request(self, value: Value) -> Value:
        """Return plain JSON for a request: ids of live objects, and markers for objects to create."""

        def to_id(leaf: Value) -> Value:
            """Return the live id of the target of a reference, or a marker for an object to create."""
            if isinstance(leaf, LiveId):
                return leaf.id
            if isinstance(leaf, Ref):
                return self.live_id(leaf.address) or Ref(self.output_address(leaf.address) or leaf.address)
            return leaf

        return to_plain(map_leaves(value, to_id))

    def output_address(self, address: Address) -> Address | None:
        """Return the address of the object that the platform creates for an entry, if it creates one.

        For a translation, that is the translated space.
        """
        entry = self.desired.entries.get(address)
        outputs = self.registry[entry.kind].platform_work.outputs if entry is not None else None
        return address.child(outputs.kind) if outputs is not None else None

    @cached_property
    def _outputs(self) -> dict[str, Address]:
        """The entries whose objects the platform created for other entries (translated spaces), by id."""
        return {id: address for address, id in self.snapshot.outputs.items() if id is not None}


class Options(Struct, frozen=True):
    """The command-line options that affect a plan."""

    confirm: tuple[str, ...] = ()
    """Answers to questions of a plan, as typed (planner/answers.py)."""
    delete: bool = True
    reviewed: bool = False
    """Whether the plan is applied only if a merged pull request has listed all of its deletes."""
    proof: bool = False
    """Whether the plan only verifies an apply: then fields that cannot be read count as unchanged."""
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Address patterns: only the selected part is planned, with its dependencies."""


class Sides(Struct, frozen=True, eq=False, dict=True):
    """The configuration and the live state, with the options of this run and the git base."""

    registry: Registry
    loaded: Desired
    """The configuration as it was loaded; rules read `desired`."""
    snapshot: Snapshot
    options: Options = field(default_factory=Options)
    base: Base = NO_BASE
    selected_addresses: frozenset[Address] | None = None
    """The addresses that are planned; None for all."""
    label_commits: LabelCommits = NO_LABELS
    """The commits from which labels follow. No decision reads them."""

    @cached_property
    def desired(self) -> Desired:
        """The configuration without what this token may not read, which counts as unsupported."""
        return self.loaded.without_unsupported(self.snapshot.not_readable, self.snapshot.not_readable_fields)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The ancestors and descendants of entries and of live objects."""
        return Hierarchy(self.registry, self.desired, self.snapshot)

    @cached_property
    def names(self) -> Names:
        """The present addresses and titles of objects."""
        return Names(self.registry, self.desired, self.snapshot, self.base, self.hierarchy)

    @cached_property
    def former_names(self) -> FormerNames:
        """The addresses that objects had in the git base and in earlier commits."""
        return FormerNames(self.registry, self.desired, self.snapshot, self.base, self.names)

    @cached_property
    def removals(self) -> RemovalSearch:
        """The search for entries that were removed from the files."""
        return RemovalSearch(self.desired, self.snapshot, self.base, self.former_names)

    @cached_property
    def policy(self) -> EffectivePolicy:
        """The policy of the files and of the git base, with the selection of addresses."""
        return EffectivePolicy(
            self.desired.policy,
            self.base,
            self.names,
            self.former_names,
            self.selected_addresses,
            self.git_synced,
        )

    @cached_property
    def git_synced(self) -> GitSyncedParts:
        """The parts of entries that Git Sync keeps as in a repository."""
        return git_synced_parts(self.registry, self.desired, self.snapshot)

    @cached_property
    def values(self) -> ValueConverter:
        """The conversion of field values between ids and addresses."""
        return ValueConverter(self.registry, self.desired, self.snapshot, self.names)

    @cached_property
    def answers(self) -> Answers:
        """The answers of `--confirm`.

        Raises:
            DiagnosticError: A text is not an answer (exit 64).
        """
        return Answers(frozenset(parse_answers(self.options.confirm, self.registry)))

    @cached_property
    def entries(self) -> dict[Address, Entry]:
        """The entries in order of address, with values in normal form and without ignored fields."""
        entries: dict[Address, Entry] = {}
        for address in sorted(self.desired.entries):
            entry = self.desired.entries[address]
            if not self.desired.policy.ignore and NORMAL_TYPES.issuperset(map(type, entry.fields.values())):
                entries[address] = entry  # fast path: nearly every entry
                continue
            kind = self.kind(entry)
            fields = {
                name: self.values.with_references(kind.field(name), value, entry)
                for name, value in entry.fields.items()
                if not self.desired.policy.ignores(address, name)
            }
            is_unchanged = fields.keys() == entry.fields.keys() and all(
                value is entry.fields[name] for name, value in fields.items()
            )
            entries[address] = entry if is_unchanged else replace(entry, fields=fields)
        return entries

    def live(self, address: Address) -> LiveObject | None:
        """Return the live object of an entry; None if there is none."""
        identity = self.names.identities.get(address)
        return None if identity is None else self.snapshot.objects.get(identity)

    def is_nonempty(self, identity: Identity) -> bool:
        """Return whether a live object may have contents or references that a new object would not have.

        The result is False only for a kind that can be empty, if the lists of the object and all lists that
        could refer to it were read for this plan.
        """
        kind = self.registry[identity[0]]
        needed_kinds = {
            content_kind.name
            for content_kind in (
                *self.registry.with_all_kinds.children(kind.name),
                *self.registry.with_all_kinds.kinds_referring_to(kind.name),
            )
        }
        is_evidence_complete = (
            identity in self.snapshot.delete_evidence.checked_objects
            and needed_kinds <= self.registry.kinds.keys()
        )
        return not (kind.can_be_empty and is_evidence_complete) or identity in self.dependents

    @cached_property
    def dependents(self) -> Mapping[Identity, Collection[Identity]]:
        """The live objects inside each live object, and the live objects that refer to that object."""
        dependents: dict[Identity, set[Identity]] = {}
        for live in self.snapshot.objects.values():
            targets = {live.parent, live.holder}
            for name, value in live.fields.items():
                for id in live_ids(value):
                    kinds = self.kind(live).field(name).type.referenced_kinds
                    targets |= {self.names.referenced_object(live, kind, id) for kind in kinds}
            for identity in targets:
                if identity is not None:
                    dependents.setdefault(identity, set()).add(live.identity)
        return dependents

    def kind(self, item: Entry | LiveObject) -> SupportedKind:
        """Return the kind of an entry or a live object."""
        return self.registry[item.kind]
