"""Derive labels from commits: who changed each value that differs, as far as git knows.

- "edited here": the commit compared with has another value than the files.
- "changed outside": the commit that was applied last has the value of the files, and the live value differs
  from the value in each commit since then.
- "both": the value differs from the commit compared with, and the live value is from outside.

A label is never a guess. If a commit cannot tell the value (a variable, an object that was not recognized, a
field that it does not declare), there is no label. Labels send no request, and no decision depends on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cached_property
from operator import eq
from typing import Final

from msgspec import Struct

from dpsync.identity.match import match_earlier_entries
from dpsync.kinds.kind import Field
from dpsync.kinds.places import container_and_order
from dpsync.model.address import Address
from dpsync.model.change import Cause
from dpsync.model.desired import CommittedFiles, Entry
from dpsync.model.ids import RecordedLine
from dpsync.model.snapshot import Identity, LiveObject, MatchedBy
from dpsync.model.values import LiveId, Ref, Value, canonical_json, leaves, map_leaves
from dpsync.planner.compare import FieldChange, equals_live, write_only_part
from dpsync.planner.sides import Sides


class NoCommittedValue(Enum):
    """Why a commit has no value to compare."""

    UNKNOWN = "dpsync cannot find the value or the object in the commit"
    UNDECLARED = "the files of the commit do not contain the value"


UNKNOWN: Final = NoCommittedValue.UNKNOWN
UNDECLARED: Final = NoCommittedValue.UNDECLARED
CommittedValue = Value | NoCommittedValue

_MATCHES_WITHOUT_RENAME: Final = (
    MatchedBy.PIN,
    MatchedBy.IDS_LINE,
    MatchedBy.FIRST_NATURAL_KEY,
    MatchedBy.ONLY_OBJECT_IN_PLACE,
)
"""How dpsync recognizes an object whose entry has had the same key and name all along."""


def label_of_value(
    declared: Value,
    live: CommittedValue,
    compared_value: CommittedValue,
    values_since_apply: Iterable[CommittedValue],
    equal: Callable[[Value, Value], bool],
    is_live: Callable[[Value, Value], bool],
) -> Cause | None:
    """Return the label of a value that differs from the live value.

    `commits_since_apply` has the values since the last apply, the applied value first; it is empty if they
    are unknown. `live` is UNKNOWN if the platform does not return the value. `equal` compares two values of
    files, and `is_live` a value of files with the live value.
    """
    edited = compared_value is UNDECLARED or (
        compared_value is not UNKNOWN and not equal(declared, compared_value)
    )
    applied = list(values_since_apply)
    outside = (
        bool(applied)
        and live is not UNKNOWN
        and not any(isinstance(value, NoCommittedValue) or is_live(value, live) for value in applied)
    )
    if edited:
        return "both" if outside else "edited here"
    return "changed outside" if outside and equal(declared, applied[0]) else None


class Labels(Struct, frozen=True, dict=True):
    """The labels of the differences between two sides."""

    sides: Sides
    moving_addresses: frozenset[Address] = frozenset()
    """The addresses that the plan moves among their siblings."""

    @cached_property
    def compared_commit(self) -> CommitState | None:
        """The commit of which "edited here" is a fact."""
        files = self.sides.label_commits.compared_commit
        if files is not None:
            return CommitState(self.sides, files)
        return self.commits_since_apply[0] if self.commits_since_apply else None

    @cached_property
    def commits_since_apply(self) -> tuple[CommitState, ...]:
        """The commit that was applied last, and those since then; empty if git does not know."""
        applies = self.sides.label_commits.applies
        return tuple(CommitState(self.sides, files) for files in applies[0].commits) if applies else ()

    # Fields.

    def field_label(self, entry: Entry, item: FieldChange) -> Cause | None:
        """Return the label of a field of a live object."""
        live, field = self.sides.live(entry.address), item.field
        if live is None or field.name not in entry.fields:
            return None

        def value(history: CommitState) -> CommittedValue:
            return history.value(entry, live, field)

        differs = field.response_path is not None and not equals_live(field, item.after, item.before)
        return label_of_value(
            item.after,
            item.before if differs else UNKNOWN,
            value(self.compared_commit) if self.compared_commit is not None else UNKNOWN,
            map(value, self._commits_since_field_was_applied(entry, live, field.name)) if differs else (),
            lambda one, other: _is_unedited(field, one, other),
            lambda one, other: equals_live(field, one, other),
        )

    def _commits_since_field_was_applied(
        self, resource: Entry, live: LiveObject, name: str | None
    ) -> Iterable[CommitState]:
        """Return the commits since the last apply, if that apply wrote this field of this object."""
        if not self.commits_since_apply or live.synced_repository is not None:
            return ()
        entry = self.commits_since_apply[0].entry(resource, live)
        then = self.commits_since_apply[0].files.desired.policy
        ignored = isinstance(entry, NoCommittedValue) or then.ignores(entry.address, name)
        return () if ignored else self.commits_since_apply

    def parent_label(self, resource: Entry) -> Cause | None:
        """Return the label of an object that is below another parent than in the files."""
        live = self.sides.live(resource.address)
        if live is None or live.parent is None:
            return None

        def value(history: CommitState) -> CommittedValue:
            entry = history.entry(resource, live)
            return entry if isinstance(entry, NoCommittedValue) else history.address_now(entry.parent)

        return label_of_value(
            resource.parent,
            self.sides.names.address(live.parent),
            value(self.compared_commit) if self.compared_commit is not None else UNKNOWN,
            map(value, self._commits_since_field_was_applied(resource, live, None)),
            eq,
            eq,
        )

    # Whole objects.

    def create_label(self, address: Address) -> Cause | None:
        """Return the label of an entry without a live object."""
        entry = self.sides.desired.entries[address]

        def declares(history: CommitState) -> bool:
            found = history.files.desired.entries.get(address)
            return found is not None and found.kind == entry.kind

        if self.compared_commit is not None and address not in self.compared_commit.files.desired.entries:
            renamed = entry.has_earlier_name or self.compared_commit.has_unidentified_entry(entry.kind)
            return None if renamed else "edited here"
        outside = (
            self.commits_since_apply
            and all(map(declares, self.commits_since_apply))
            and not entry.has_earlier_name
            and not self.commits_since_apply[0].files.desired.policy.ignores(address)
            and address not in self.commits_since_apply[0].identities  # else the object has another key today
            and self._had_same_parent(entry)
        )
        return "changed outside" if outside else None

    def _had_same_parent(self, entry: Entry) -> bool:
        """Return whether the last apply had an entry below the object that is its parent today."""
        if entry.parent is None:
            return True
        live = self.sides.live(entry.parent)
        if live is None:
            return self.create_label(entry.parent) == "changed outside"
        return self.commits_since_apply[0].identities.get(entry.parent) == live.identity

    def delete_label(self, identity: Identity | None) -> Cause | None:
        """Return the label of a live object without an entry."""
        if identity is None:
            return None
        if (
            self.compared_commit is not None
            and (at := self.compared_commit.addresses.get(identity)) is not None
        ):
            return "edited here" if at not in self.sides.desired.entries else None
        return "changed outside" if self._was_created_outside(identity) else None

    def _was_created_outside(self, identity: Identity) -> bool:
        """Return whether the last apply would have deleted an object if it had existed."""
        kind, place = identity[0], self.sides.names.address(identity).list_address
        if not self.commits_since_apply or not self.sides.label_commits.applies[0].is_complete:
            return False
        then = self.commits_since_apply[0].files.desired
        unbound = any(
            entry.kind == kind
            and self.sides.live(address) is None
            and address
            not in self.sides.snapshot.missing_objects  # else its line says that it was another object
            and any(
                address in past.files.desired.entries for past in self.commits_since_apply
            )  # else it is new
            for address, entry in self.sides.desired.entries.items()
        )
        recorded = any(line.id == identity[1] for line in self.sides.snapshot.recorded_ids.lines.values())
        return (
            then.policy == self.sides.desired.policy
            and place in then.scopes
            and then.is_pruned(place)
            and not unbound
            and not recorded
            and not any(
                identity in past.addresses or past.has_unidentified_entry(kind)
                for past in self.commits_since_apply
            )
        )

    # Positions.

    def position_label(self, entry: Entry) -> Cause | None:
        """Return the label of an entry in another position among its siblings.

        The order of siblings has one label: which of them a person moved is unknown. If both sides changed
        the order, there is no label.
        """
        listed = container_and_order(self.sides.registry, self.sides.entries, entry)
        holder = listed[0] if listed is not None else entry.holder or entry.parent
        if holder is None or holder not in self.sides.entries:
            return None
        key = holder, listed[1].name if listed is not None else None
        if key not in self._position_labels:
            kind = listed[1].item_kind if listed is not None else None
            self._position_labels[key] = self._find_position_labels(self.sides.entries[holder], key[1], kind)
        return self._position_labels[key].get(entry.address)

    @cached_property
    def _position_labels(self) -> dict[tuple[Address, str | None], Mapping[Address, Cause | None]]:
        """The labels of the children of each holder, or of the items of its list, as they are compared."""
        return {}

    def _find_position_labels(
        self, holder: Entry, name: str | None, kind: str | None
    ) -> Mapping[Address, Cause | None]:
        """Return the labels of the children of a holder; of one kind, if they have a list `name`."""
        live = self.sides.live(holder.address)
        if live is None:
            return {}
        snapshot, declared = self.sides.snapshot, self.sides.names.declared
        lane = snapshot.sibling_order.get(live.identity, ())
        siblings = lane if kind is None else snapshot.siblings(live.identity, kind)
        here = _ranks(_siblings(holder, name))
        now = _ranks(declared[one] for one in siblings if one in declared)
        edited: dict[Address, Cause | None] = {}
        if self.compared_commit is not None:
            before = self.compared_commit.sibling_order(holder, live, name)
            if not _have_same_sequence(before, here, here):
                edited = dict.fromkeys(
                    before, "edited here" if _have_same_sequence(before, now, here) else None
                )
        orders = [
            past.sibling_order(holder, live, name)
            for past in self._commits_since_field_was_applied(holder, live, name)
        ]
        common = {one for one in here if one in now and all(one in order for order in orders)}
        if not orders or not _have_same_sequence(orders[0], here, common):
            return edited
        ignores = self.commits_since_apply[0].files.desired.policy.ignores
        if any(map(ignores, common)) or any(_have_same_sequence(one, now, common) for one in orders):
            return edited
        return {**dict.fromkeys(common, "changed outside"), **edited}


class CommitState(Struct, frozen=True, dict=True):
    """The files of a commit, with the live objects that their entries are today."""

    sides: Sides
    files: CommittedFiles

    @cached_property
    def identities(self) -> Mapping[Address, Identity]:
        """The live object of each entry of the commit, if dpsync recognizes it."""
        return match_earlier_entries(
            self.sides.registry, self.files.desired, self.sides.desired, self.sides.snapshot
        )

    @cached_property
    def addresses(self) -> Mapping[Identity, Address]:
        """The entry of each live object. An entry whose line names another object is left out."""
        return {
            identity: address
            for address, identity in self.identities.items()
            if (line := self._lines.get(address)) is None or line.id == identity[1]
        }

    @cached_property
    def _lines(self) -> Mapping[Address, RecordedLine]:
        """The lines that the ids file of the commit has for this platform."""
        found: dict[Address, RecordedLine] = {}
        for address, match in self.sides.snapshot.matches.items():
            if len(address.segments) == 1:
                found.update(self.files.ids.lines(self.sides.label_commits.platform, match.id, str(address)))
        return found

    def entry(self, resource: Entry, live: LiveObject) -> Entry | NoCommittedValue:
        """Return the entry that a live object has in the commit."""
        at = self.addresses.get(live.identity)
        entry = self.files.desired.entries.get(at) if at is not None else None
        if entry is not None:
            return entry if entry.kind == resource.kind else UNKNOWN
        match = self.sides.snapshot.matches.get(resource.address)
        known = any(line.id == live.id for line in self._lines.values())
        unrenamed = (
            match is not None and match.by in _MATCHES_WITHOUT_RENAME and not resource.has_earlier_name
        )
        is_new = (
            resource.address not in self.files.desired.entries
            and unrenamed
            and not known
            and not self.has_unidentified_entry(resource.kind)
        )
        return UNDECLARED if is_new else UNKNOWN

    def has_unidentified_entry(self, kind: str) -> bool:
        """Return whether an entry of this kind has another address today, or none, and its object is unknown.

        Such an entry may be one that the files declare under another key today.
        """
        return kind in self._kinds_with_unidentified_entries

    @cached_property
    def _kinds_with_unidentified_entries(self) -> frozenset[str]:
        now = self.sides.desired.entries
        return frozenset(
            entry.kind
            for address, entry in self.files.desired.entries.items()
            if address not in now and address not in self.identities
        )

    def value(self, resource: Entry, live: LiveObject, field: Field) -> CommittedValue:
        """Return the value of a field in the commit, with the addresses that objects have today."""
        entry = self.entry(resource, live)
        if isinstance(entry, NoCommittedValue):
            return entry
        if field.name not in entry.fields:
            # A field with a position and no value has a variable or could not be read.
            return UNKNOWN if field.name in entry.spans or entry.takeover else UNDECLARED
        value = map_leaves(entry.fields[field.name], self._current)
        if any(leaf is UNKNOWN or (isinstance(leaf, str) and "${" in leaf) for leaf in leaves(value)):
            return UNKNOWN
        return self.sides.values.with_references(field, value, resource)

    def _current(self, leaf: Value) -> Value:
        """Return a reference as the id of its live object; UNKNOWN if its target is not in the files now."""
        if not isinstance(leaf, Ref):
            return leaf
        live = self.sides.snapshot.objects.get(self.identities.get(leaf.address, ("", "")))
        if live is not None:
            return LiveId(live.id)
        now = self.sides.desired
        return leaf if leaf.address in now.entries or leaf.address in now.lookups else UNKNOWN

    def address_now(self, address: Address | None) -> Address | NoCommittedValue:
        """Return the address that an object has today."""
        identity = self.identities.get(address) if address is not None else None
        return self.sides.names.address(identity) if identity is not None else UNKNOWN

    def sibling_order(self, holder: Entry, live: LiveObject, name: str | None) -> Mapping[Address, int]:
        """Return the order of the siblings in the commit, by the addresses that they have today."""
        entry = self.entry(holder, live)
        if isinstance(entry, NoCommittedValue):
            return {}
        return _ranks(
            address
            for one in _siblings(entry, name)
            if not isinstance(address := self.address_now(one), NoCommittedValue)
        )


def _is_unedited(field: Field, here: Value, then: Value) -> bool:
    """Return whether the files have the value of a commit, also in parts that the platform never returns."""
    if canonical_json(write_only_part(field, here)) != canonical_json(write_only_part(field, then)):
        return False
    return equals_live(field, here, then) or (then is None and here == field.value_when_absent)


def _siblings(holder: Entry, name: str | None) -> Iterable[Address]:
    """Return the children of a holder in order: the nodes of a tree, or the items of its list `name`."""
    if name is None:
        return holder.children
    return [item.address for item in holder.fields.get(name) or () if isinstance(item, Ref)]


def _ranks(order: Iterable[Address]) -> dict[Address, int]:
    return {item: number for number, item in enumerate(order)}


def _have_same_sequence(
    one: Mapping[Address, int], other: Mapping[Address, int], common: Iterable[Address]
) -> bool:
    """Return whether two orders have the common items in the same sequence."""
    items = [item for item in common if item in one and item in other]
    return sorted(items, key=one.__getitem__) == sorted(items, key=other.__getitem__)
