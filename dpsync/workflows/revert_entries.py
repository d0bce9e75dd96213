"""Read the changes of an apply from its journal or saved plan, and find the entries that they are about.

`applied` returns the changes that the apply carried out, and `read_changes` checks their values: somebody
else may have written the journal, so each value must be one that a configuration could contain.
`CurrentAddresses` finds the present entries by object id, because keys may have changed since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dpsync.config.recorded_values import (
    IncompleteValueError,
    UnsuitableValueError,
    check_secrets,
    parse_recorded,
)
from dpsync.kinds.kind import Field, Kind, SingleEntry
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.change import Change, Difference, Note
from dpsync.model.desired import Desired, Entry, Scope
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit, Findings
from dpsync.model.ids import is_path_id
from dpsync.model.journal import SUCCESSFUL, Report
from dpsync.model.plan import Plan
from dpsync.model.snapshot import Identity, Snapshot
from dpsync.model.values import LiveId, Ref, Value, map_leaves
from dpsync.planner.sides import Sides
from dpsync.workflows.session import Planned, Session

_REACHED_RESULTS: Final = frozenset({*SUCCESSFUL, "unknown"})


class Applied(Struct, frozen=True):
    """A planned change of which at least one step was, or may have been, carried out."""

    change: Change
    created_id: str | None = None
    """The id of the object that the change created, if the platform returned one."""
    complete: bool = True
    """Whether every step of the change succeeded."""


class AppliedPlan(Struct, frozen=True):
    """The changes of an apply. `ids` has, by declared address, the object id at the time of the apply."""

    platform: str
    changes: tuple[Applied, ...]
    ids: Mapping[str, str] = msgspec.field(default_factory=dict)
    profile: str = "full"
    """The API version that the apply was planned for."""


def applied(plan: Plan, report: Report | None = None) -> AppliedPlan:
    """Return the changes of a plan that an apply carried out, at least in part.

    `report` tells the results of the steps; without a report, all changes count as carried out. The ids of
    created objects are added to those that the plan knew.
    """
    if report is None:
        changes = [Applied(change) for change in plan.changes]
    else:
        outcomes = {outcome.step: outcome for outcome in report.outcomes}
        changes = []
        for change in plan.changes:
            own_outcomes = [outcomes[step.id] for step in change.steps if step.id in outcomes]
            reached = [outcome for outcome in own_outcomes if outcome.result in _REACHED_RESULTS]
            if change.steps and not reached:
                continue
            created_ids = (outcome.id for outcome in reached if outcome.verb == "create")
            successes = sum(outcome.result in SUCCESSFUL for outcome in own_outcomes)
            complete = successes == len(change.steps)
            changes.append(Applied(change, next(filter(None, created_ids), None), complete=complete))
    created = {item.change.address: item.created_id for item in changes if item.created_id is not None}
    return AppliedPlan(plan.platform, tuple(changes), {**plan.bindings, **created}, plan.profile)


RecordedValues = Mapping[str, "Value | IncompleteValueError"]
"""The value of each field, or the reason why a part of the value is not known."""
_INVALID_RECORD_CODE: Final = "DP149"


class RecordedChange(Struct, frozen=True):
    """A change of an apply, with recorded values that fit the types of their fields."""

    applied: Applied
    address: Address
    """The present address of the object; before dpsync has read the platform, the recorded address."""
    before: RecordedValues
    """The previous values of changed fields."""
    after: RecordedValues
    """The values that the apply wrote."""
    deleted: RecordedValues
    """The values of a deleted object with which it can be re-created."""

    @property
    def change(self) -> Change:
        """Return the change as the apply planned it."""
        return self.applied.change

    @property
    def id(self) -> str | None:
        """Return the id of the object that the apply changed or created; None if the id is unknown."""
        return self.change.id or self.applied.created_id


def read_changes(
    desired: Desired,
    registry: Registry,
    applied_plan: AppliedPlan,
    file: str,
    is_selected: Callable[[Address], bool],
) -> list[RecordedChange]:
    """Return the changes of an apply with their checked values, without unselected changes that are invalid.

    `file` names the journal or saved plan in messages. Raises DiagnosticError (exit code 5) with every value
    of a selected change that no file of the configuration could contain.
    """
    changes, findings = [], Findings()
    pinned = {(entry.kind, entry.pin or ""): entry for entry in desired.entries.values()}
    for applied in applied_plan.changes:
        change = applied.change
        id = change.id or applied.created_id
        entry = pinned.get((change.kind, id)) if id else None
        reader = _ChangeReader(desired, registry, file, change, entry or desired.entries.get(change.location))
        recorded = reader.read(applied)
        if not reader.findings:
            changes.append(recorded)
        elif is_selected(change.location):
            findings += reader.findings
    if findings:
        raise DiagnosticError(findings, Exit.INVALID)
    return changes


class _ChangeReader:
    """Reads one recorded change and collects the errors in it as `findings`.

    `entry` is the present entry of the object, if it has one.
    """

    def __init__(
        self, desired: Desired, registry: Registry, file: str, change: Change, entry: Entry | None
    ) -> None:
        self.desired = desired
        self.registry = registry
        self.file = file
        self.change = change
        self.entry = entry if entry is not None and entry.kind == change.kind else None
        self.findings = Findings()

    def read(self, applied: Applied) -> RecordedChange:
        """Return the recorded change with its values before and after, or those of a deleted object.

        The journal may have been edited, so everything is checked: `findings` gets an error for each invalid
        value.
        """
        change = self.change
        before: RecordedValues = {}
        after: RecordedValues = {}
        deleted: RecordedValues = {}
        kind = self.registry.kinds.get(change.kind)
        if kind is None:
            self.add_error(None, f'dpsync does not know the object type "{change.kind}"')
        elif not all(is_path_id(id, kind.id_segments) for id in (change.id, applied.created_id) if id):
            self.add_error(None, "the recorded id is not a valid GitBook id")
        elif change.id == "":
            self.add_error(None, "the recorded id is empty")
        elif change.action == "delete":
            deleted = self.read_deleted(kind)
        else:
            known = [
                difference
                for difference in change.differences
                if difference.known and change.action == "update"
            ]
            before = self.read_values(kind, known, "before")
            after = self.read_values(kind, change.differences, "after")
        return RecordedChange(applied, change.location, before, after, deleted)

    def read_deleted(self, kind: Kind) -> RecordedValues:
        """Return the values that a deleted object had, as far as a re-created object can have them."""
        list_address = self.change.location.list_address
        scope = self.desired.scopes.get(list_address)
        if scope is not None and kind.name not in scope.kinds:
            self.add_error(None, f"the list {list_address} cannot contain {kind.noun_with_article}")
            return {}
        orders = {order.name for order in kind.list_orders}
        previous = {difference.field: difference.before for difference in self.change.was}
        restorable = {
            field.name
            for field in kind.writable_fields
            if not (
                field.type_for(previous.get(field.form_selector or "")).may_be_secret
                or field.is_parent_reference
                or field.name in orders
            )
        }
        for name in [
            difference.field for difference in self.change.was if difference.field not in restorable
        ]:
            self.add_error(
                name, f"a plan that deletes {kind.noun_with_article} never contains the field {name}"
            )
        return self.read_values(
            kind, [difference for difference in self.change.was if difference.field in restorable], "before"
        )

    def read_values(self, kind: Kind, items: Iterable[Difference], side: str) -> RecordedValues:
        """Return the recorded values by field, in the order of the kind's fields.

        `side` is "before" or "after": the values before or after the recorded apply. If the record has only a
        part of a value, the result has an IncompleteValueError in its place. Other unsuitable values are
        reported with `add_error`.
        """
        recorded = {item.field: item for item in items}
        for name in recorded.keys() - {declared.name for declared in kind.fields} - {*kind.parents}:
            self.add_error(name, f"{kind.noun_with_article} has no field {name}")
        values: dict[str, Value | IncompleteValueError] = {}
        entry_fields = self.entry.fields if self.entry is not None and self.change.action != "delete" else {}
        for field in kind.fields:
            if field.name not in recorded or not (field.is_declarable or field.is_parent_reference):
                continue
            try:
                type_, item = (
                    field.type_for({**entry_fields, **values}.get(field.form_selector or "")),
                    recorded[field.name],
                )
                if side == "before":
                    parse_recorded(type_, item.before)
                    value = parse_recorded(type_, type_.reverting_value(item.before, item.after))
                    check_secrets(value, entry_fields.get(field.name))
                else:
                    value = parse_recorded(type_, item.after)
                values[field.name] = None if field.null_effect == "empty" and value == "" else value
            except IncompleteValueError as incomplete:
                values[field.name] = incomplete
            except UnsuitableValueError as unfit:
                self.add_error(field.name, str(unfit))
        return values

    def add_error(self, field: str | None, reason: str) -> None:
        """Record why the change, or one of its fields, cannot be used."""
        subject = self.change.address if field is None else f"{self.change.address}#{field}"
        hint = "somebody may have edited the file, or the file may be damaged"
        if self.change.action != "delete":
            hint = f"{hint}. To revert everything else, use --exclude {self.change.address}"
        message = f"{self.file} cannot be used, because the recorded change of {subject} is invalid: {reason}"
        self.findings.append(Diagnostic(_INVALID_RECORD_CODE, message, address=subject, hint=hint))


class CurrentAddresses:
    """Finds the present addresses of objects by the addresses that they had when the apply was recorded.

    `ids` maps the addresses at the time of the apply to object ids. `snapshot` has the live objects, matched
    with the entries of `desired`.
    """

    def __init__(
        self, registry: Registry, desired: Desired, snapshot: Snapshot, ids: Mapping[str, str]
    ) -> None:
        self.registry = registry
        self.desired = desired
        self.ids = ids
        self._by_id: dict[tuple[str, str], list[Address]] = defaultdict(list)
        for address, match in snapshot.matches.items():
            entry = desired.entries.get(address)
            if entry is not None:
                self._by_id[entry.kind, match.id].append(address)

    def find(self, address: Address, kinds: Collection[str]) -> Address | None:
        """Return the present address of the object that had a recorded address; None if it has no entry.

        The object must be of one of the `kinds`.
        """
        id = self.ids.get(str(address))
        for kind in map(self.registry.__getitem__, kinds):
            candidates = self._by_id.get((kind.name, id), ()) if id is not None else ()
            if len(candidates) == 1 and kind.has_unique_id:
                return candidates[0]
            parent = self.find_parent(address, kind)
            for candidate in candidates:
                if self.desired.entries[candidate].parent == parent:
                    return candidate
            if id is None and parent is not None:
                entry = self.desired.entries.get(self.with_parent(parent, address, kind))
                if entry is not None and entry.kind == kind.name:
                    return entry.address
        return None

    def find_parent(self, address: Address, kind: Kind) -> Address | None:
        """Return the present address of the parent of a recorded object; None if the files lack the parent.

        Keys may have changed since the apply, so the parent is found by its id.
        """
        owner = self._recorded_parent(address, kind)
        kinds = (self.registry.tree_owner(kind),) if kind.is_node else kind.parents
        return self.find(owner, kinds) if owner.segments else None

    def with_parent(self, parent: Address, address: Address, kind: Kind) -> Address:
        """Return the recorded address with its parent replaced by `parent` and the same key."""
        return Address(
            (*parent.segments, *address.segments[len(self._recorded_parent(address, kind).segments) :])
        )

    def _recorded_parent(self, address: Address, kind: Kind) -> Address:
        """Return the recorded address of the parent. For a navigation node, this is the site's address."""
        if kind.is_node:
            return Address(
                address.segments[: self._segment_count(self.registry[self.registry.tree_owner(kind)])]
            )
        words = len(kind.key.split("."))
        return Address(address.segments[: -words if isinstance(kind.shape, SingleEntry) else -words - 1])

    def _segment_count(self, kind: Kind) -> int:
        """Return the number of segments in an address of a kind, such as 3 for `acme/sites/docs`."""
        if not kind.parents:
            return 1
        return self._segment_count(self.registry[kind.parents[0]]) + len(kind.key.split(".")) + 1


def with_recorded_pins(desired: Desired, snapshot: Snapshot, ids: Mapping[str, str]) -> Desired:
    """Set `id:` in each unmatched entry whose recorded object still exists; return the configuration.

    `ids` has the recorded ids by address. Without this, a rename in GitBook since the apply would hide the
    object from the revert.
    """
    matched = {
        (desired.entries[address].kind, match.id)
        for address, match in snapshot.matches.items()
        if address in desired.entries
    }
    live = {(item.kind, item.id) for item in snapshot.objects.values() if item.has_unique_id} - matched
    pinned = {
        address: replace(entry, pin=ids[str(address)])
        for address, entry in desired.entries.items()
        if address not in snapshot.matches and (entry.kind, ids.get(str(address))) in live
    }
    return replace(desired, entries={**desired.entries, **pinned}) if pinned else desired


def with_missing_entries(
    current: CurrentAddresses, recorded: Collection[RecordedChange], missing: Collection[Address]
) -> tuple[Desired, list[RecordedChange]]:
    """Return the configuration with an entry for each recorded object, and the changes at present addresses.

    For each object without an entry, this adds an entry without fields and, if necessary, the scope of the
    entry. Navigation nodes get no entry, because an entry does not determine the position of a node.
    `missing` has the recorded addresses of objects that do not exist any more.
    """
    resources, scopes = dict(current.desired.entries), dict(current.desired.scopes)
    changes = []
    for record in recorded:
        kind, address = current.registry[record.change.kind], record.change.location
        parent = current.find_parent(address, kind)
        present_address = current.find(address, (kind.name,)) if record.change.action != "delete" else None
        if present_address is not None:
            changes.append(replace(record, address=present_address))
            continue
        if parent is None:
            changes.append(record)
            continue
        present_address = current.with_parent(parent, address, kind)
        scope_address = parent.child(*kind.key.split("."))
        if not kind.is_node:
            add_scope(current.registry, resources, scopes, parent, kind)
        if (
            record.change.action != "delete"
            and not kind.is_node
            and record.id is not None
            and address not in missing
        ):
            if present_address in resources:
                present_address = Address(
                    (*scope_address.segments, f"{present_address.last_segment}-{record.id}")
                )
            key = unquote(present_address.last_segment)
            resources[present_address] = Entry(
                kind=kind.name, address=present_address, key=key, parent=parent, holder=None, spans={},
                pin=record.id, fields={kind.key_field: key} if kind.key_field else {},
                span=scopes[scope_address].span,
            )  # fmt: skip
        changes.append(replace(record, address=present_address))
    for record in changes:
        outputs = current.registry[record.change.kind].platform_work.outputs
        if (
            outputs is not None
            and record.address in resources
            and (parent := resources[record.address].parent)
        ):
            add_scope(current.registry, resources, scopes, parent, current.registry[outputs.kind])
    return replace(current.desired, entries=resources, scopes=scopes), changes


def add_scope(
    registry: Registry,
    resources: Mapping[Address, Entry],
    scopes: dict[Address, Scope],
    parent: Address,
    kind: Kind,
) -> None:
    """Declare the list (scope) of a kind in a parent entry if it is missing, so that dpsync reads it.

    `scopes` gets the list; `resources` has the entries.
    """
    scope_address = parent.child(*kind.key.split("."))
    if scope_address not in scopes:
        owner = resources[parent]
        kinds = tuple(item.name for item in registry.kinds_by_list_key(owner.kind)[kind.key])
        scopes[scope_address] = Scope(scope_address, parent, kinds, owner.span)


class NotRestorableError(Exception):
    """A previous value cannot be restored. The message has the reason."""


class References:
    """Converts references in recorded values to references to present entries and objects.

    `restored` maps the recorded address of a deleted object to the address of its new entry. `recreated` maps
    the address of the new entry to the change that deleted the former object.
    """

    def __init__(
        self,
        current: CurrentAddresses,
        resources: Mapping[Address, Entry],
        sides: Sides,
        restored: Mapping[str, Address],
        recreated: Mapping[Address, RecordedChange],
    ) -> None:
        self._current = current
        self._resources = resources
        self._objects = sides.snapshot.objects
        self._restored = restored
        self._recreated = recreated
        self._by_name = {str(sides.names.address(identity)): identity for identity in self._objects}

    def value_of(self, recorded: Mapping[str, Value | IncompleteValueError], field: Field) -> Value:
        """Return the recorded value of a field, with references to the present entries and objects.

        Raises NotRestorableError if the record has only a part of the value, or a referenced object is gone.
        """
        value = recorded[field.name]
        if isinstance(value, IncompleteValueError):
            raise NotRestorableError(str(value))
        kinds = field.type.referenced_kinds
        return map_leaves(
            value,
            lambda leaf: self._current_reference(str(leaf.address), kinds) if isinstance(leaf, Ref) else leaf,
        )

    def reference_to_id(self, id: str, field: Field, organization: str) -> Ref | LiveId:
        """Return a reference to the object that had this id in an organization. Raises NotRestorableError."""
        for address, entry in self._resources.items():
            recreated_change = self._recreated.get(address)
            is_referenced = id == (entry.pin if recreated_change is None else recreated_change.change.id)
            if (
                is_referenced
                and address.organization_key == organization
                and entry.kind in field.type.referenced_kinds
            ):
                return Ref(address)
        for name, identity in self._by_name.items():
            is_referenced = (
                Address.parse(name).organization_key == organization and self._objects[identity].id == id
            )
            if is_referenced and identity[0] in field.type.referenced_kinds:
                return LiveId(id)
        raise NotRestorableError(f"the object with the id {id} no longer exists")

    def _current_reference(self, name: str, kinds: tuple[str, ...]) -> Ref | LiveId:
        """Return a present reference to the object that had this address: to its entry, or else by its id.

        Raises NotRestorableError if it no longer exists, or is of none of the `kinds`.
        """
        address = self._restored.get(name) or self._current.find(Address.parse(name), kinds)
        if address is not None and address in self._resources:
            return Ref(address)
        id = self._current.ids.get(name)
        identity = next(
            (
                candidate
                for candidate in self._objects
                if candidate[0] in kinds and self._objects[candidate].id == id
            ),
            None,
        )
        identity = identity or self._by_name.get(name)
        if identity is None:
            raise NotRestorableError(f"the previous value refers to {name}, which no longer exists")
        if identity[0] not in kinds:
            candidate = self._current.registry[identity[0]].noun_with_article
            raise NotRestorableError(f"the previous value refers to {name}, which is now {candidate}")
        return LiveId(self._objects[identity].id)


class RevertedEntries:
    """The entries of a revert while they are edited, and the notes about what is not reverted.

    `comparison` is a plan that compares the values that the apply wrote with the live values, so each
    difference in this plan was made after the apply. `used` maps each created object that must stay to the
    reason.
    """

    def __init__(
        self,
        session: Session,
        changes: Sequence[RecordedChange],
        comparison: Planned,
        current: CurrentAddresses,
        used: Mapping[Identity, str],
    ) -> None:
        self.session = session
        self.registry = session.registry
        self.changes = changes
        self.comparison = comparison
        self.current = current
        self.reasons_to_keep = used
        self.names = comparison.sides.names
        self.resources = dict(session.desired.entries)
        self.not_reverted: list[Note] = []
        """A note for each object or field that the revert does not restore."""
        self.notes: list[Note] = []
        """A note for each restored or re-created object, which needs a new entry in the files."""
        self.touched: set[Address] = set()
        self.changed_orders: set[tuple[Address, str]] = set()
        """The fields with a sibling order that the apply changed."""
        self.restored: dict[str, Address] = {}
        """Maps the recorded address of each deleted object to the address of its new entry."""
        self.recreated: dict[Address, RecordedChange] = {}
        """Maps the address of each re-created object to the change that deleted the former object."""
        self.later_changes: dict[Address, Change] = {
            change.location: change for change in comparison.plan.changes
        }
        self.references = References(current, self.resources, comparison.sides, self.restored, self.recreated)

    def record_not_reverted(self, address: object, reason: str) -> None:
        """Record the reason why an object or a field is not reverted."""
        self.not_reverted.append(
            Note(address=str(address), text=f"Not reverted: {reason}", severity="warning")
        )

    def record_restored(self, address: object, text: str) -> None:
        """Record that an object is restored or re-created, and how to keep the object."""
        self.notes.append(Note(address=str(address), text=text, severity="warning"))

    def live_id(self, address: Address) -> str | None:
        """Return the id of the live object at an address, None without an object."""
        live = self.comparison.sides.live(address)
        return None if live is None else live.id

    def exists(self, recorded: RecordedChange) -> bool:
        """Return whether the object of a recorded change is live, with or without an entry."""
        objects = self.comparison.snapshot.objects.values()
        return any(
            live.kind == recorded.change.kind and live.id == recorded.id and not live.deleted
            for live in objects
        )
