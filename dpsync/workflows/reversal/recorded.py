"""Read the recorded changes of an apply, and check their values against the field declarations.

Somebody else may have written a journal or saved plan. Before dpsync reads the platform for a revert, the
reader of the configuration checks each value. A value that no file could contain ends the revert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from dpsync.config.recorded import IncompleteValue, UnfitValue, check_secrets, parse_recorded
from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.change import Change, Difference
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit, Findings
from dpsync.model.ids import is_path_id
from dpsync.model.values import Value
from dpsync.workflows.reversal.applied import Applied, AppliedPlan

Read = Mapping[str, "Value | IncompleteValue"]
"""The value of each field, or the reason why a part of the value is not known."""
_CODE: Final = "DP149"


class RecordedChange(Struct, frozen=True):
    """A change that an apply carried out completely or partly, with recorded values that fit their fields."""

    applied: Applied
    address: Address
    """The present address of the object; before dpsync has read the platform, the recorded address."""
    before: Read
    """The previous values of changed fields."""
    after: Read
    """The values that the apply wrote."""
    deleted: Read
    """The values of a deleted object with which it can be re-created."""

    @property
    def change(self) -> Change:
        return self.applied.change

    @property
    def id(self) -> str | None:
        """The id of the object that the apply changed or created; None if it is unknown."""
        return self.change.id or self.applied.created_id


def read_changes(
    desired: Desired,
    registry: Registry,
    done: AppliedPlan,
    file: str,
    is_selected: Callable[[Address], bool],
) -> list[RecordedChange]:
    """Return the changes with their values. Leave out unselected changes with invalid values.

    `file` names the journal or saved plan in messages. Raises DiagnosticError (exit 5) with every value of a
    selected change that no file of the configuration could contain.
    """
    changes, findings = [], Findings()
    pinned = {(entry.kind, entry.pin or ""): entry for entry in desired.resources.values()}
    for applied in done.changes:
        change = applied.change
        id = change.id or applied.created_id
        entry = pinned.get((change.kind, id)) if id else None
        reader = _Reader(desired, registry, file, change, entry or desired.resources.get(change.location))
        recorded = reader.read(applied)
        if not reader.findings:
            changes.append(recorded)
        elif is_selected(change.location):
            findings += reader.findings
    if findings:
        raise DiagnosticError(findings, Exit.INVALID)
    return changes


class _Reader:
    """Reads one change and collects errors in its values. `entry` is the present entry of the object."""

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
        """Return the change with its values. `findings` has an error for each value that is invalid."""
        change = self.change
        before: Read = {}
        after: Read = {}
        deleted: Read = {}
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
            known = [item for item in change.differences if item.known and change.action == "update"]
            before = self.read_values(kind, known, "before")
            after = self.read_values(kind, change.differences, "after")
        return RecordedChange(applied, change.location, before, after, deleted)

    def read_deleted(self, kind: Kind) -> Read:
        """Return the values of a deleted object."""
        place = self.change.location.place
        scope = self.desired.scopes.get(place)
        if scope is not None and kind.name not in scope.kinds:
            self.add_error(None, f"the list {place} cannot contain {kind.one}")
            return {}
        orders = {order.name for order in kind.list_orders}
        previous = {item.field: item.before for item in self.change.was}
        kept = {
            one.name
            for one in kind.writable_fields
            if not (
                one.form(previous.get(one.formed_by or "")).may_be_secret or one.nest or one.name in orders
            )
        }
        for name in [item.field for item in self.change.was if item.field not in kept]:
            self.add_error(name, f"a plan that deletes {kind.one} never contains the field {name}")
        return self.read_values(kind, [item for item in self.change.was if item.field in kept], "before")

    def read_values(self, kind: Kind, items: Iterable[Difference], side: str) -> Read:
        """Return the values of one side ("before" or "after"), in the order of the declared fields."""
        recorded = {item.field: item for item in items}
        for name in recorded.keys() - {one.name for one in kind.fields} - {*kind.parents}:
            self.add_error(name, f"{kind.one} has no field {name}")
        found: dict[str, Value | IncompleteValue] = {}
        today = self.entry.fields if self.entry is not None and self.change.action != "delete" else {}
        for field in kind.fields:
            if field.name not in recorded or not (field.declarable or field.nest):
                continue
            try:
                type_, item = field.form({**today, **found}.get(field.formed_by or "")), recorded[field.name]
                if side == "before":
                    parse_recorded(type_, item.before)
                    value = parse_recorded(type_, type_.reverting_value(item.before, item.after))
                    check_secrets(value, today.get(field.name))
                else:
                    value = parse_recorded(type_, item.after)
                found[field.name] = None if field.null == "empty" and value == "" else value
            except IncompleteValue as incomplete:
                found[field.name] = incomplete
            except UnfitValue as unfit:
                self.add_error(field.name, str(unfit))
        return found

    def add_error(self, field: str | None, reason: str) -> None:
        """Record why the change or one of its fields cannot be used."""
        at = self.change.address if field is None else f"{self.change.address}#{field}"
        hint = "somebody may have edited the file, or the file may be damaged"
        if self.change.action != "delete":
            hint = f"{hint}. To revert everything else, use --exclude {self.change.address}"
        message = f"{self.file} cannot be used, because the recorded change of {at} is invalid: {reason}"
        self.findings.append(Diagnostic(_CODE, message, address=at, hint=hint))
