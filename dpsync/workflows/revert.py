"""Plan the revert of an apply.

`reverting` reads the live objects and returns a `Revert`, whose `plan` gives the planner a configuration with
the previous values. A revert changes only objects that the apply changed: it restores previous values and
deleted objects, and deletes created objects that nobody has used. Later changes by others stay. The plan
lists everything that is not restored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.live.delete_evidence import page_counts
from dpsync.model.address import Address, Pattern
from dpsync.model.change import Change, Note
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.ids import IdsEdits
from dpsync.model.plan import Plan, Reverted
from dpsync.model.refusals import OUTSIDE_REVERT
from dpsync.model.snapshot import Identity
from dpsync.model.text import format_count
from dpsync.model.urls import is_loopback
from dpsync.model.values import references
from dpsync.planner.deletions import decide_deletions
from dpsync.planner.restructuring import decide_restructuring
from dpsync.planner.selection import is_selected, parse_patterns
from dpsync.planner.sides import Options
from dpsync.workflows.revert_changes import (
    outputs_of_created_objects,
    restore_fields,
    restore_moved_flag,
    restore_or_recreate,
    select_deletions,
    set_previous_values,
)
from dpsync.workflows.revert_entries import (
    AppliedPlan,
    CurrentAddresses,
    NotRestorableError,
    RecordedChange,
    References,
    RevertedEntries,
    read_changes,
    with_missing_entries,
    with_recorded_pins,
)
from dpsync.workflows.session import Planned, Session

if TYPE_CHECKING:
    from dpsync.apply.ids_recorder import IdsStore


class RevertTarget(Struct, frozen=True):
    """The configuration that reverts an apply, and what a plan of it may change.

    Only entries in `touched` may change, and only objects in `deleted` may be deleted. `outputs` has the
    deleted objects that the platform created together with other objects. `not_reverted` has a note for each
    object or field that is not restored; `notes` has a note for each restored or re-created object.
    """

    desired: Desired
    touched: frozenset[Address]
    deleted: Mapping[Identity, str]
    """The id of each deleted object, by object identity."""
    outputs: frozenset[Identity]
    recreated: Mapping[Address, str]
    """The former id of each object that is re-created, by the address of its new entry."""
    not_reverted: tuple[Note, ...]
    notes: tuple[Note, ...]


def make_revert_target(
    session: Session,
    changes: Sequence[RecordedChange],
    comparison: Planned,
    current: CurrentAddresses,
    reasons_to_keep: Mapping[Identity, str],
) -> RevertTarget:
    """Return the configuration that reverts an apply: the declared entries with the previous values.

    `comparison` is a plan that compares the values that the apply wrote with the live values.
    `reasons_to_keep` maps each created object that must stay to the reason.
    """
    entries = RevertedEntries(session, changes, comparison, current, reasons_to_keep)
    _keep_later_changes(entries)
    for recorded in changes:
        if recorded.change.action == "delete":
            restore_or_recreate(entries, recorded)
    set_previous_values(entries)
    for recorded in changes:
        if recorded.change.action == "update":
            restore_fields(entries, recorded)
    removed = select_deletions(entries)
    for recorded in changes:
        flags = [item for item in recorded.change.differences if item.taken_from is not None]
        for item in flags if recorded.address in removed else ():
            restore_moved_flag(entries, recorded, item)
    outputs = outputs_of_created_objects(entries, removed)
    objects = comparison.snapshot.objects
    created = {entries.names.identities[address] for address in removed}
    deleted = {identity: objects[identity].id for identity in created} | {
        identity: identity[1] for identity in outputs
    }
    resources = _without_missing_entries(entries, removed)
    desired = replace(
        session.desired,
        entries=resources,
        scopes={
            address: scope for address, scope in session.desired.scopes.items() if scope.parent in resources
        },
        policy=replace(
            session.desired.policy,
            prune=tuple(exact_pattern(scope) for scope in sorted(_scopes_to_prune(entries, deleted))),
            deletable_ids=frozenset(deleted),
        ),
    )
    return RevertTarget(
        desired,
        frozenset({*entries.touched, *entries.restored.values()}),
        deleted,
        frozenset(outputs),
        {address: recreated.change.id or "" for address, recreated in entries.recreated.items()},
        tuple(entries.not_reverted),
        tuple(entries.notes),
    )


def _keep_later_changes(entries: RevertedEntries) -> None:
    """Remove from the entries each value that was changed after the apply, so that the live value stays.

    An entry whose object was deleted after the apply is removed as a whole.
    """
    for address in entries.later_changes.keys() & entries.resources.keys():
        entry, change = entries.resources[address], entries.later_changes[address]
        if change.action == "create":
            del entries.resources[address]
        else:
            changed_fields = {difference.field for difference in change.differences}
            fields = {name: value for name, value in entry.fields.items() if name not in changed_fields}
            entries.resources[address] = replace(entry, fields=fields, pin=entries.live_id(address))


def _scopes_to_prune(entries: RevertedEntries, deleted: Collection[Identity]) -> set[Address]:
    """Return the lists in which the revert deletes objects.

    They include the lists with objects that GitBook created together with other objects (outputs).
    """
    scopes = entries.comparison.snapshot.scopes
    pruned = {scope for scope, items in scopes.items() if any(identity in deleted for identity in items)}
    kinds = {kind for kind, _ in deleted}
    return pruned | {
        address for address, scope in entries.session.desired.scopes.items() if kinds & {*scope.kinds}
    }


def _without_missing_entries(entries: RevertedEntries, removed: Collection[Address]) -> dict[Address, Entry]:
    """Return the entries without deleted and missing objects, their children, and references to them.

    Sibling orders that the apply did not change are omitted, too. `removed` has the entries whose objects the
    revert deletes.
    """
    remaining = dict(entries.resources)
    while to_remove := [
        address
        for address, entry in remaining.items()
        if any(ancestor in removed for ancestor in address.self_and_ancestors())
        or (entry.holder is not None and entry.holder not in remaining)
        or (entry.parent is not None and entry.parent not in remaining)
    ]:
        for address in to_remove:
            del remaining[address]
    missing = entries.session.desired.entries.keys() - remaining.keys()
    for address, entry in remaining.items():
        orders = {order.name for order in entries.registry[entry.kind].list_orders}
        fields = {
            name: value
            for name, value in entry.fields.items()
            if not references(value) & missing
            and (name not in orders or (address, name) in entries.changed_orders)
        }
        children = tuple(child for child in entry.children if child in remaining)
        remaining[address] = replace(entry, children=children, fields=fields)
    return remaining


def exact_pattern(address: Address) -> Pattern:
    """Return a pattern that matches only this address, even if a title in it contains a `*`."""
    return Pattern(str(address), address.segments)


_PAST_TENSE: Final = {"create": "created", "update": "changed", "delete": "deleted"}
MAX_ROUNDS: Final = 5
"""How often dpsync plans again without unrelated changes before it refuses the revert."""


class Revert:
    """The revert of one apply. `plan()` sets `session` to a session with the configuration of the revert.

    `comparison` is a plan that compares the values that the apply wrote with the live values. `files` is the
    configuration in the files. `file` is the name of the journal or saved plan of the apply.
    """

    def __init__(
        self,
        session: Session,
        changes: Sequence[RecordedChange],
        comparison: Planned,
        current: CurrentAddresses,
        files: Desired,
        file: str,
    ) -> None:
        self.session = session
        self.target: RevertTarget | None = None
        self._declared = session
        self._changes = changes
        self._comparison = comparison
        self._current = current
        self._files = files
        self._source_name = file

    @property
    def not_reverted(self) -> tuple[Note, ...]:
        """Return a note for each object or field that the last plan does not restore."""
        return self.target.not_reverted if self.target is not None else ()

    def plan(self, client: ReadClient, options: Options) -> Planned:
        """Return the plan of the revert.

        Plans repeatedly: objects that somebody has used since the apply are kept, and unrelated changes are
        ignored, until neither remains. If unrelated changes remain after MAX_ROUNDS, the plan refuses them.
        Raises as `Session.plan` does.
        """
        used: dict[Identity, str] = {}
        ignored: list[set[Address]] = []
        while True:
            target = make_revert_target(self._declared, self._changes, self._comparison, self._current, used)
            policy = target.desired.policy
            unrelated = tuple(exact_pattern(address) for address in sorted(set[Address]().union(*ignored)))
            policy = replace(policy, ignore=(*policy.ignore, *unrelated))
            session = replace(self._declared, desired=replace(target.desired, policy=policy))
            planned = session.plan(client, options)
            newly_used = _reasons_to_keep_created(client, session, planned, target)
            others = [change for change in planned.plan.changes if not _belongs_to_revert(change, target)]
            used |= newly_used  # so each round deletes fewer objects, and the loop ends
            if not newly_used and (not others or len(ignored) == MAX_ROUNDS):
                break
            if not newly_used:
                ignored.append({change.location for change in others})
        self.session, self.target = session, target
        refused = (
            OUTSIDE_REVERT.refusal(change.address, done=_PAST_TENSE[change.action], one=change.address)
            for change in others
        )
        plan = _label_as_reverted(planned.plan, self._files)
        notes = (
            *plan.notes, *target.not_reverted, *target.notes, *_output_notes(plan, target),
            *self._reapplied_line_notes(plan),
        )  # fmt: skip
        left_addresses = tuple(sorted({note.address for note in target.not_reverted}))
        update = {
            "notes": notes,
            "refusals": (*plan.refusals, *refused),
            "renamed_keys": {},
            "reverts": Reverted(file=self._source_name, left=left_addresses),
        }
        return replace(planned, plan=plan.model_copy(update=update))

    def recording(self, store: IdsStore) -> IdsStore:
        """Return an ids store that writes to `store`, but adds no lines for entries that no file declares."""
        return _DeclaredIds(store, frozenset(self._files.entries))

    def _reapplied_line_notes(self, plan: Plan) -> Iterator[Note]:
        """Yield a note for each value that the revert undoes in GitBook but that the files still declare.

        The next apply would write this value again, so the user has to edit the file, too.
        """
        for change in plan.changes:
            entry = self.session.desired.entries.get(change.location)
            if entry is None or change.action == "delete" or change.location not in self._files.entries:
                continue
            for difference in change.differences:
                span = entry.spans.get(difference.field)
                if span is not None:
                    position = f"{span.file}:{span.line}"
                    text = (
                        f"{position} still contains the value that the apply wrote, "
                        "so the next apply writes this value again"
                    )
                    yield Note(address=str(change.location.field(difference.field)), text=text)


def _belongs_to_revert(change: Change, target: RevertTarget) -> bool:
    """Return whether a planned change is part of the revert, not an unrelated change."""
    if change.action == "delete":
        return any(change.kind == kind and change.id == id for (kind, _), id in target.deleted.items())
    return change.location in target.touched


def _output_notes(plan: Plan, target: RevertTarget) -> Iterator[Note]:
    """Yield a warning for each deleted object that the platform created together with another object."""
    text = (
        "GitBook created this object together with an object that the apply created. "
        "Changes that were made to this object after the apply are lost"
    )
    for change in plan.changes:
        if change.action == "delete" and (change.kind, change.id) in target.outputs:
            yield Note(address=change.address, text=text, severity="warning")


def _reasons_to_keep_created(
    client: ReadClient, session: Session, planned: Planned, target: RevertTarget
) -> dict[Identity, str]:
    """Return the created objects that somebody has used since the apply, each with the reason to keep it.

    An object is in use if it has pages, or if its delete would also delete or change an object that the apply
    did not create. `planned` is a plan that would delete the objects.
    """
    deletions = decide_deletions(planned.sides, decide_restructuring(planned.sides))
    names, used = planned.sides.names, dict[Identity, str]()
    registry = session.registry
    for root in deletions.roots:
        noun = registry[root[0]].noun
        contents = [
            (live.identity, "is inside this object")
            for live in deletions.cascade.contents_kept_inside.get(root, ())
        ]
        losses = [  # objects come before fields
            (
                identity,
                f"refers to this object in the field {name}" if name else "would be deleted with this object",
            )
            for identity, name in deletions.cascade.losses_by_root.get(root, ())
        ]
        for identity, loss in (*contents, *losses):
            is_expected = registry[identity[0]].exists_with_parent or registry[identity[0]].is_part_of_output
            if identity not in target.deleted and not is_expected:
                used.setdefault(
                    root, f"somebody has used this {noun} since the apply: {names.address(identity)} {loss}"
                )
    checked = [identity for identity in deletions.all_deleted if identity not in target.outputs]
    for identity, number in page_counts(client, registry, session.parallelism, checked).items():
        root = deletions.roots_by_contained.get(identity, identity)
        noun = registry[root[0]].noun
        if number is None:
            used.setdefault(
                root,
                f"dpsync could not read the pages of this {noun}, and does not know whether somebody has "
                f"used the {noun} since the apply",
            )
        elif number:
            used.setdefault(
                root,
                f"somebody has used this {noun} since the apply: the {noun} has "
                f"{format_count(number, 'page')}",
            )
    return used


def _label_as_reverted(plan: Plan, desired: Desired) -> Plan:
    """Return the plan with "reverted" as the cause of each change, because no edit of the files caused it.

    Pins that are not in the files are omitted.
    """
    changes = []
    for change in plan.changes:
        differences = tuple(
            difference.model_copy(update={"cause": "reverted"}) for difference in change.differences
        )
        cause = "reverted" if change.cause is not None else None
        entry = desired.entries.get(change.location)
        matched = change.matched if entry is not None and entry.pin is not None else None
        update = {"differences": differences, "cause": cause, "matched": matched}
        changes.append(change.model_copy(update=update))
    return plan.model_copy(update={"changes": tuple(changes)})


class _DeclaredIds(Struct, frozen=True):
    """An ids store that adds no lines for entries that exist only during the revert."""

    inner: IdsStore
    declared: frozenset[Address]

    def edit(self, platform: str, edits: IdsEdits) -> None:
        """Write the edits of the ids file that are about declared entries, and all deletes of lines.

        Entries that exist only in the revert, in no file, get no line.
        """
        kept_edits = {
            (owner, address): line
            for (owner, address), line in edits.items()
            if line is None or address in self.declared
        }
        self.inner.edit(platform, kept_edits)


def reverting(
    client: ReadClient,
    session: Session,
    applied_plan: AppliedPlan,
    file: str = "the journal or saved plan",
    options: Options | None = None,
) -> Revert:
    """Read the live objects, compare them with the values that an apply wrote, and return its revert.

    `file` names the journal or saved plan that `applied_plan` comes from. A value that no file of the
    configuration could contain is an error if `options` select its entry. Raises DiagnosticError for such a
    value and for another platform, and as `Session.plan` does.
    """
    here, platform = client.url, applied_plan.platform
    if platform != here and not (is_loopback(platform) and is_loopback(here)):
        message = f"the apply changed the server {platform}, but this command uses the server {here}"
        raise DiagnosticError([Diagnostic("DP145", message)], Exit.REFUSED)
    chosen = options or Options()
    select, exclude = (
        parse_patterns(session.registry, session.desired, texts) for texts in (chosen.select, chosen.exclude)
    )
    recorded = read_changes(
        session.desired,
        session.registry,
        applied_plan,
        file,
        lambda address: is_selected(address, select, exclude),
    )
    files = session.desired
    sides = session.read(client, Options(delete=False))
    while (
        desired := with_recorded_pins(session.desired, sides.snapshot, applied_plan.ids)
    ) is not session.desired:
        session = replace(session, desired=desired)
        sides = session.read(client, Options(delete=False))
    current = CurrentAddresses(session.registry, session.desired, sides.snapshot, applied_plan.ids)
    missing: set[Address] = set()
    while True:
        desired, located = with_missing_entries(current, recorded, missing)
        extended = replace(session, desired=desired)
        applied_desired = _with_applied_values(
            extended, located, missing, References(current, desired.entries, sides, {}, {})
        )
        try:
            comparison = replace(extended, desired=applied_desired).plan(client, Options(delete=False))
        except DiagnosticError as error:
            unknown = {finding.address for finding in error.findings if finding.code == "DP301"}
            newly_missing = {
                record.change.location for record in located if str(record.address) in unknown
            } - missing
            if not newly_missing:
                raise
            missing |= newly_missing
            continue
        return Revert(extended, located, comparison, current, files, file)


def _with_applied_values(
    session: Session,
    applied_plan: Iterable[RecordedChange],
    missing: Collection[Address],
    references: References,
) -> Desired:
    """Return the configuration with the values that an apply wrote, in place of the declared values.

    A plan made from the result shows what was changed in GitBook after the apply. Objects in `missing`
    (addresses that the apply recorded) keep their declared values.
    """
    resources = dict(session.desired.entries)
    for recorded in applied_plan:
        entry = resources.get(recorded.address)
        unchanged = recorded.change.action == "delete" or recorded.change.location in missing
        if entry is None or entry.kind != recorded.change.kind or unchanged:
            continue
        fields, kind = dict(entry.fields), session.registry[entry.kind]
        for name in recorded.after:
            try:
                fields[name] = references.value_of(recorded.after, kind.field(name))
            except NotRestorableError:
                fields.pop(name, None)
        resources[entry.address] = replace(entry, fields=fields, pin=recorded.id or entry.pin)
    return replace(session.desired, entries=resources)
