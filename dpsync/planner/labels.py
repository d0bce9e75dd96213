"""Derive labels from commits: who changed each value that differs, as far as git knows.

"edited here": the files differ from the commit with which they are compared. "changed outside": the files
have the value that was applied last, and the live value differs from the value in each commit since then.
"both": both are true. Labels send no request, and no decision depends on them. There is no label if a commit
cannot tell the value (a variable, an unknown object).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cached_property
from operator import eq
from typing import Final

from msgspec import Struct

from dpsync.identity.match import match_earlier_entries
from dpsync.kinds.address_patterns import container_and_order
from dpsync.kinds.kind import Field
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
    """Return the label ("edited here", …) of a value that differs from the live value; None if unknown.

    `declared` is the value in the files, `compared_value` that of the commit with which the files are
    compared. `values_since_apply` has the values since the last apply, the applied value first; it is empty
    if they are unknown. `live` is UNKNOWN if the platform does not return the value. `equal` compares two
    values of files, and `is_live` a value of files with the live value.
    """
    is_edited = compared_value is UNDECLARED or (
        compared_value is not UNKNOWN and not equal(declared, compared_value)
    )
    applied_values = list(values_since_apply)
    is_changed_outside = (
        bool(applied_values)
        and live is not UNKNOWN
        and not any(isinstance(value, NoCommittedValue) or is_live(value, live) for value in applied_values)
    )
    if is_edited:
        return "both" if is_changed_outside else "edited here"
    return "changed outside" if is_changed_outside and equal(declared, applied_values[0]) else None


class Labels(Struct, frozen=True, dict=True):
    """Tell who made each difference between the files and the live objects, as far as git knows."""

    sides: Sides
    moving_addresses: frozenset[Address] = frozenset()
    """The addresses that the plan moves among their siblings."""

    @cached_property
    def compared_commit(self) -> CommitState | None:
        """The commit with which the files are compared to find edits ("edited here")."""
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

    def field_label(self, entry: Entry, change: FieldChange) -> Cause | None:
        """Return who changed a field: "edited here", "changed outside" or "both"; None if git cannot tell.

        Compare the value in the files and the live value with the value in the commit compared with and in
        the commits since the last apply.
        """
        live, field = self.sides.live(entry.address), change.field
        if live is None or field.name not in entry.fields:
            return None

        def value_in(commit: CommitState) -> CommittedValue:
            """Return the value of the field in a commit."""
            return commit.value(entry, live, field)

        def is_unedited(declared: Value, committed: Value) -> bool:
            """Return whether the files still have a committed value, also in parts that are not readable."""
            if canonical_json(write_only_part(field, declared)) != canonical_json(
                write_only_part(field, committed)
            ):
                return False
            is_default = committed is None and declared == field.value_when_absent
            return equals_live(field, declared, committed) or is_default

        differs = field.response_path is not None and not equals_live(field, change.after, change.before)
        commits = self._commits_since_field_was_applied(entry, live, field.name) if differs else ()
        return label_of_value(
            change.after,
            change.before if differs else UNKNOWN,
            value_in(self.compared_commit) if self.compared_commit is not None else UNKNOWN,
            map(value_in, commits),
            is_unedited,
            lambda committed, live_value: equals_live(field, committed, live_value),
        )

    def _commits_since_field_was_applied(
        self, entry: Entry, live: LiveObject, field_name: str | None
    ) -> Iterable[CommitState]:
        """Return the commits since the last apply, if that apply wrote this field of this object.

        The result is empty if the apply ignored the field, did not have the entry, or Git Sync owns the
        object. Without a field name, the whole object is meant.
        """
        if not self.commits_since_apply or live.synced_repository is not None:
            return ()
        applied_entry = self.commits_since_apply[0].entry(entry, live)
        applied_policy = self.commits_since_apply[0].files.desired.policy
        if isinstance(applied_entry, NoCommittedValue) or applied_policy.ignores(
            applied_entry.address, field_name
        ):
            return ()
        return self.commits_since_apply

    def parent_label(self, entry: Entry) -> Cause | None:
        """Return who moved an object that is live in another parent than in the files.

        The result is "edited here", "changed outside" or "both"; None if git cannot tell.
        """
        live = self.sides.live(entry.address)
        if live is None or live.parent is None:
            return None

        def parent_in(commit: CommitState) -> CommittedValue:
            """Return the parent of the entry in a commit, as its present address."""
            committed = commit.entry(entry, live)
            return (
                committed if isinstance(committed, NoCommittedValue) else commit.address_now(committed.parent)
            )

        return label_of_value(
            entry.parent,
            self.sides.names.address(live.parent),
            parent_in(self.compared_commit) if self.compared_commit is not None else UNKNOWN,
            map(parent_in, self._commits_since_field_was_applied(entry, live, None)),
            eq,
            eq,
        )

    # Whole objects.

    def create_label(self, address: Address) -> Cause | None:
        """Return why an entry has no live object; None if git cannot tell.

        "edited here" means that the files added the entry, "changed outside" that somebody deleted the
        object.
        """
        entry = self.sides.desired.entries[address]

        def declares_entry(commit: CommitState) -> bool:
            old_entry = commit.files.desired.entries.get(address)
            return old_entry is not None and old_entry.kind == entry.kind

        if self.compared_commit is not None and address not in self.compared_commit.files.desired.entries:
            may_be_renamed = entry.has_earlier_name or self.compared_commit.has_unidentified_entry(entry.kind)
            return None if may_be_renamed else "edited here"
        was_deleted_outside = (
            self.commits_since_apply
            and all(map(declares_entry, self.commits_since_apply))
            and not entry.has_earlier_name
            and not self.commits_since_apply[0].files.desired.policy.ignores(address)
            and address not in self.commits_since_apply[0].identities  # else the object has another key today
            and self._had_same_parent(entry)
        )
        return "changed outside" if was_deleted_outside else None

    def _had_same_parent(self, entry: Entry) -> bool:
        """Return whether the parent of an entry was the same live object when the last apply ran.

        If it was not, a missing object says nothing about who deleted it.
        """
        if entry.parent is None:
            return True
        live = self.sides.live(entry.parent)
        if live is None:
            return self.create_label(entry.parent) == "changed outside"
        return self.commits_since_apply[0].identities.get(entry.parent) == live.identity

    def delete_label(self, identity: Identity | None) -> Cause | None:
        """Return why a live object has no entry; None if git cannot tell.

        "edited here" means that the files removed the entry, "changed outside" that somebody created the
        object.
        """
        if identity is None:
            return None
        if (
            self.compared_commit is not None
            and (address := self.compared_commit.addresses.get(identity)) is not None
        ):
            return "edited here" if address not in self.sides.desired.entries else None
        return "changed outside" if self._was_created_outside(identity) else None

    def _was_created_outside(self, identity: Identity) -> bool:
        """Return whether a live object without an entry was created after the last apply, outside dpsync.

        This is known only if the last apply would have deleted such an object (it pruned the list) and no
        entry, neither now nor then, may be this object under another name.
        """
        kind, list_address = identity[0], self.sides.names.address(identity).list_address
        if not self.commits_since_apply or not self.sides.label_commits.applies[0].is_complete:
            return False
        applied = self.commits_since_apply[0].files.desired
        # An entry that a commit had and that has no object may be this object under another name, unless the
        # ids line of the entry has the id of another object.
        has_unbound_entry = any(
            entry.kind == kind
            and self.sides.live(address) is None
            and address not in self.sides.snapshot.missing_objects
            and any(address in commit.files.desired.entries for commit in self.commits_since_apply)
            for address, entry in self.sides.desired.entries.items()
        )
        has_line = any(line.id == identity[1] for line in self.sides.snapshot.recorded_ids.lines.values())
        return (
            applied.policy == self.sides.desired.policy
            and list_address in applied.scopes
            and applied.is_pruned(list_address)
            and not has_unbound_entry
            and not has_line
            and not any(
                identity in commit.addresses or commit.has_unidentified_entry(kind)
                for commit in self.commits_since_apply
            )
        )

    # Positions.

    def position_label(self, entry: Entry) -> Cause | None:
        """Return who changed the order of siblings, for an entry in another position than its live object.

        "edited here" means that the files changed the order, "changed outside" that somebody did so in
        GitBook. All siblings share one label, because git does not tell which of them a person moved. Return
        None if both changed the order, or if git cannot tell.
        """
        list_position = container_and_order(self.sides.registry, self.sides.entries, entry)
        container = list_position[0] if list_position is not None else entry.holder or entry.parent
        if container is None or container not in self.sides.entries:
            return None
        key = container, list_position[1].name if list_position is not None else None
        if key not in self._position_labels:
            kind = list_position[1].item_kind if list_position is not None else None
            self._position_labels[key] = self._find_position_labels(
                self.sides.entries[container], key[1], kind
            )
        return self._position_labels[key].get(entry.address)

    @cached_property
    def _position_labels(self) -> dict[tuple[Address, str | None], Mapping[Address, Cause | None]]:
        """The labels that are computed already, by container and name of its list field (None for a tree)."""
        return {}

    def _find_position_labels(
        self, container: Entry, list_field: str | None, kind: str | None
    ) -> Mapping[Address, Cause | None]:
        """Return the labels of the children of a container whose order differs from the live order.

        "edited here": the files changed the order of the compared commit. "changed outside": the files have
        the order of the last apply, and no commit since then has the live order. `list_field` and `kind`
        select one list of the container; they are None for the nodes of a tree.
        """
        live = self.sides.live(container.address)
        if live is None:
            return {}
        snapshot, declared = self.sides.snapshot, self.sides.names.declared
        live_order = snapshot.sibling_order.get(live.identity, ())
        siblings = live_order if kind is None else snapshot.siblings(live.identity, kind)
        declared_ranks = _ranks(_siblings(container, list_field))
        live_ranks = _ranks(declared[identity] for identity in siblings if identity in declared)
        labels: dict[Address, Cause | None] = {}
        if self.compared_commit is not None:
            compared_ranks = self.compared_commit.sibling_order(container, live, list_field)
            if not _have_same_sequence(compared_ranks, declared_ranks, declared_ranks):
                labels = dict.fromkeys(
                    compared_ranks,
                    "edited here"
                    if _have_same_sequence(compared_ranks, live_ranks, declared_ranks)
                    else None,
                )
        orders = [
            commit.sibling_order(container, live, list_field)
            for commit in self._commits_since_field_was_applied(container, live, list_field)
        ]
        common_addresses = {
            address
            for address in declared_ranks
            if address in live_ranks and all(address in order for order in orders)
        }
        if not orders or not _have_same_sequence(orders[0], declared_ranks, common_addresses):
            return labels
        ignores = self.commits_since_apply[0].files.desired.policy.ignores
        if any(map(ignores, common_addresses)) or any(
            _have_same_sequence(order, live_ranks, common_addresses) for order in orders
        ):
            return labels
        return {**dict.fromkeys(common_addresses, "changed outside"), **labels}


class CommitState(Struct, frozen=True, dict=True):
    """The files of a commit, with the live objects that its entries describe today."""

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
        lines: dict[Address, RecordedLine] = {}
        for address, match in self.sides.snapshot.matches.items():
            if len(address.segments) == 1:
                lines.update(self.files.ids.lines(self.sides.label_commits.platform, match.id, str(address)))
        return lines

    def entry(self, entry: Entry, live: LiveObject) -> Entry | NoCommittedValue:
        """Return the entry that the commit has for a live object.

        Without such an entry, the result is UNDECLARED if the commit certainly does not declare the object,
        else UNKNOWN. `entry` is the present entry of the object.
        """
        address = self.addresses.get(live.identity)
        committed = self.files.desired.entries.get(address) if address is not None else None
        if committed is not None:
            return committed if committed.kind == entry.kind else UNKNOWN
        match = self.sides.snapshot.matches.get(entry.address)
        has_line = any(line.id == live.id for line in self._lines.values())
        was_never_renamed = (
            match is not None and match.by in _MATCHES_WITHOUT_RENAME and not entry.has_earlier_name
        )
        is_new = (
            entry.address not in self.files.desired.entries
            and was_never_renamed
            and not has_line
            and not self.has_unidentified_entry(entry.kind)
        )
        return UNDECLARED if is_new else UNKNOWN

    def has_unidentified_entry(self, kind: str) -> bool:
        """Return whether an entry of this kind at a former address cannot be identified today.

        The files may declare the object of such an entry under another key now.
        """
        return kind in self._kinds_with_unidentified_entries

    @cached_property
    def _kinds_with_unidentified_entries(self) -> frozenset[str]:
        """The kinds for which `has_unidentified_entry` is true."""
        present = self.sides.desired.entries
        return frozenset(
            entry.kind
            for address, entry in self.files.desired.entries.items()
            if address not in present and address not in self.identities
        )

    def value(self, entry: Entry, live: LiveObject, field: Field) -> CommittedValue:
        """Return the value of a field of a live object in the commit; references have present addresses."""
        committed = self.entry(entry, live)
        if isinstance(committed, NoCommittedValue):
            return committed
        if field.name not in committed.fields:
            # A field with a position and no value has a variable or could not be read.
            return UNKNOWN if field.name in committed.spans or committed.takeover else UNDECLARED
        value = map_leaves(committed.fields[field.name], self._with_present_reference)
        if any(leaf is UNKNOWN or (isinstance(leaf, str) and "${" in leaf) for leaf in leaves(value)):
            return UNKNOWN
        return self.sides.values.with_references(field, value, entry)

    def _with_present_reference(self, leaf: Value) -> Value:
        """Return the id of the live object to which a reference leads; other values unchanged.

        The result is UNKNOWN if the target of the reference is not in the files now.
        """
        if not isinstance(leaf, Ref):
            return leaf
        live = self.sides.snapshot.objects.get(self.identities.get(leaf.address, ("", "")))
        if live is not None:
            return LiveId(live.id)
        present = self.sides.desired
        return leaf if leaf.address in present.entries or leaf.address in present.lookups else UNKNOWN

    def address_now(self, address: Address | None) -> Address | NoCommittedValue:
        """Return the present address of the object at an address of the commit; UNKNOWN if unclear."""
        identity = self.identities.get(address) if address is not None else None
        return self.sides.names.address(identity) if identity is not None else UNKNOWN

    def sibling_order(
        self, container: Entry, live: LiveObject, list_field: str | None
    ) -> Mapping[Address, int]:
        """Return the positions of siblings in the commit, by their present addresses; {} if unknown."""
        entry = self.entry(container, live)
        if isinstance(entry, NoCommittedValue):
            return {}
        return _ranks(
            address
            for child in _siblings(entry, list_field)
            if not isinstance(address := self.address_now(child), NoCommittedValue)
        )


def _siblings(container: Entry, list_field: str | None) -> Iterable[Address]:
    """Return the children of a container in order: the nodes of a tree, or the items of a list field."""
    if list_field is None:
        return container.children
    return [ref.address for ref in container.fields.get(list_field) or () if isinstance(ref, Ref)]


def _ranks(addresses: Iterable[Address]) -> dict[Address, int]:
    """Return the position of each address in an order."""
    return {address: position for position, address in enumerate(addresses)}


def _have_same_sequence(
    first: Mapping[Address, int], second: Mapping[Address, int], common: Iterable[Address]
) -> bool:
    """Return whether two orders have the `common` addresses, as far as both contain them, in one sequence."""
    addresses = [address for address in common if address in first and address in second]
    return sorted(addresses, key=first.__getitem__) == sorted(addresses, key=second.__getitem__)
