"""Plan the revert of an apply: its target is a configuration that goes through the planner like any other.

Only what the apply changed is restored: previous values, deleted objects, and nothing in place of created
objects that nobody has used. Changes that others made since stay. The plan names everything that is not
restored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.live.pages import page_counts
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Desired
from dpsync.model.entries.ids import Edits
from dpsync.model.entries.snapshot import Identity
from dpsync.model.findings.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.findings.refusals import BEYOND
from dpsync.model.plans.change import Change
from dpsync.model.plans.plan import Plan
from dpsync.model.plans.remark import Note
from dpsync.model.texts.loopback import is_loopback
from dpsync.model.texts.words import counted
from dpsync.planner.decide.deletions import deletions
from dpsync.planner.decide.restructuring import restructuring
from dpsync.planner.inputs.sides import Options
from dpsync.planner.selection import is_selected, patterns
from dpsync.workflows.reversal.addresses import CurrentAddresses, with_entries, with_recorded_ids
from dpsync.workflows.reversal.applied import AppliedPlan
from dpsync.workflows.reversal.configuration import Target, exactly, make_target
from dpsync.workflows.reversal.entries import CannotRestore, References
from dpsync.workflows.reversal.recorded import RecordedChange, read_changes
from dpsync.workflows.session import Planned, Session

if TYPE_CHECKING:
    from dpsync.apply.recorder import IdsStore

_DONE: Final = {"create": "created", "update": "changed", "delete": "deleted"}
_USED: Final = "somebody has used it since the apply"
ROUNDS: Final = 5
"""How often other changes are left out of the plan before the revert is refused."""


class Revert:
    """The revert of one apply. After `plan()`, `session` has the configuration as it is before the apply.

    `now` is the plan from the values that the apply wrote to what is live. `files` is the
    configuration.
    """

    def __init__(
        self,
        session: Session,
        done: Sequence[RecordedChange],
        now: Planned,
        current: CurrentAddresses,
        files: Desired,
    ) -> None:
        self.session = session
        self.target: Target | None = None
        self._declared = session
        self._done = done
        self._now = now
        self._current = current
        self._files = files

    @property
    def left(self) -> tuple[Note, ...]:
        """What the last plan does not restore."""
        return self.target.left if self.target is not None else ()

    def plan(self, client: ReadClient, options: Options) -> Planned:
        """Return the plan. It refuses any other change that it cannot leave out.

        Raises as `Session.plan` does.
        """
        used: dict[Identity, str] = {}
        ignored: list[set[Address]] = []
        while True:
            target = make_target(self._declared, self._done, self._now, self._current, used)
            session = replace(self._declared, desired=_ignoring(target.desired, set().union(*ignored)))
            planned = session.plan(client, options)
            newly_used = _used_since(client, session, planned, target)
            others = [one for one in planned.plan.changes if not _is_part(one, target)]
            used |= newly_used  # each round has fewer objects to delete
            if not newly_used and (not others or len(ignored) == ROUNDS):
                break
            if not newly_used:
                ignored.append({change.location for change in others})
        self.session, self.target = session, target
        refused = (BEYOND.at(one.address, done=_DONE[one.action], one=one.address) for one in others)
        plan = _as_revert(planned.plan, self._files)
        notes = (
            *plan.notes, *target.left, *target.notes, *_output_notes(plan, target), *self._reapplied(plan)
        )  # fmt: skip
        more = {"notes": notes, "refusals": (*plan.refusals, *refused)}
        return replace(planned, plan=plan.model_copy(update=more))

    def recording(self, store: IdsStore) -> IdsStore:
        """Return a store of the ids file that adds lines only for entries of the files."""
        return _DeclaredIds(store, frozenset(self._files.resources))

    def _reapplied(self, plan: Plan) -> Iterator[Note]:
        """Return the lines of the files that the next apply would write again."""
        for change in plan.changes:
            entry = self.session.desired.resources.get(change.location)
            if entry is None or change.action == "delete" or change.location not in self._files.resources:
                continue
            for item in change.differences:
                at = entry.spans.get(item.field)
                if at is not None:
                    where = f"{at.file}:{at.line}"
                    text = f"{where} still has the value that the apply wrote: the next apply writes it again"
                    yield Note(address=str(change.location.field(item.field)), text=text)


def _is_part(change: Change, target: Target) -> bool:
    """Return whether a change belongs to the revert."""
    if change.action == "delete":
        return any(change.kind == kind and change.id == id for (kind, _), id in target.deleted.items())
    return change.location in target.touched


def _output_notes(plan: Plan, target: Target) -> Iterator[Note]:
    """Say that changes to what the platform created along with a created object are lost."""
    for change in plan.changes:
        if change.action == "delete" and (change.kind, change.id) in target.outputs:
            text = (
                "The platform created this object together with an object that the apply created."
                " Later changes to this object are lost"
            )
            yield Note(address=change.address, text=text, severity="warning")


def _used_since(
    client: ReadClient, session: Session, planned: Planned, target: Target
) -> dict[Identity, str]:
    """Return the created objects that somebody has used since the apply, each with the reason to keep it.

    An object is in use if its delete would take along, or change, anything that the apply did not create, or
    if it has pages.
    """
    found = deletions(planned.sides, restructuring(planned.sides))
    names, used = planned.sides.names, dict[Identity, str]()
    registry = session.registry
    for root in found.roots:
        lost = [
            (identity, "would be deleted with it")
            for identity, name in found.cascade.by_root.get(root, ())
            if not name
        ]
        named = [
            (identity, f"refers to it as {name}")
            for identity, name in found.cascade.by_root.get(root, ())
            if name
        ]
        inside = [(live.identity, "is in it") for live in found.cascade.left_inside.get(root, ())]
        for identity, what in (*inside, *lost, *named):
            comes_along = registry[identity[0]].comes_along or registry[identity[0]].of_output
            if identity not in target.deleted and not comes_along:
                used.setdefault(root, f"{_USED}: {names.address(identity)} {what}")
    own = [one for one in found.everything if one not in target.outputs]
    for identity, number in page_counts(client, registry, session.parallelism, own).items():
        root = found.inside.get(identity, identity)
        if number is None:
            used.setdefault(
                root, "dpsync could not read its pages, so somebody may have used it since the apply"
            )
        elif number:
            used.setdefault(root, f"{_USED}: it has {counted(number, 'page')}")
    return used


def _as_revert(plan: Plan, desired: Desired) -> Plan:
    """Return the plan with each change labeled "reverted", because no edit of the files caused it.

    A pin that is only in the revert is not shown.
    """
    changes = []
    for change in plan.changes:
        differences = tuple(item.model_copy(update={"cause": "reverted"}) for item in change.differences)
        cause = "reverted" if change.cause is not None else None
        entry = desired.resources.get(change.location)
        matched = change.matched if entry is not None and entry.pin is not None else None
        update = {"differences": differences, "cause": cause, "matched": matched}
        changes.append(change.model_copy(update=update))
    return plan.model_copy(update={"changes": tuple(changes)})


def _ignoring(desired: Desired, addresses: Iterable[Address]) -> Desired:
    more = tuple(exactly(address) for address in sorted(addresses))
    return replace(desired, policy=replace(desired.policy, ignore=(*desired.policy.ignore, *more)))


class _DeclaredIds(Struct, frozen=True):
    """An ids file that gets no lines for entries that exist only during the revert."""

    inner: IdsStore
    declared: frozenset[Address]

    def edit(self, platform: str, edits: Edits) -> None:
        kept = {
            (owner, address): line
            for (owner, address), line in edits.items()
            if line is None or address in self.declared
        }
        self.inner.edit(platform, kept)


def reverting(
    client: ReadClient,
    session: Session,
    done: AppliedPlan,
    file: str = "the journal or saved plan",
    options: Options | None = None,
) -> Revert:
    """Read what is live, and compare it with what an apply left.

    `file` names the journal or saved plan that `done` comes from. A value that no file of the configuration
    could contain is an error if `options` select its entry.

    Raises DiagnosticError for such a value and for another platform, and as `Session.plan` does.
    """
    _require_same_platform(client.url, done.platform)
    asked = options or Options()
    select, exclude = (
        patterns(session.registry, session.desired, texts) for texts in (asked.select, asked.exclude)
    )
    recorded = read_changes(
        session.desired, session.registry, done, file, lambda address: is_selected(address, select, exclude)
    )
    files = session.desired
    sides = session.read(client, Options(delete=False))
    while (desired := with_recorded_ids(session.desired, sides.snapshot, done.ids)) is not session.desired:
        session = replace(session, desired=desired)
        sides = session.read(client, Options(delete=False))
    current = CurrentAddresses(session.registry, session.desired, sides.snapshot, done.ids)
    gone: set[Address] = set()
    while True:
        desired, located = with_entries(current, recorded, gone)
        extended = replace(session, desired=desired)
        left = _as_left(extended, located, gone, References(current, desired.resources, sides, {}))
        try:
            now = replace(extended, desired=left).plan(client, Options(delete=False))
        except DiagnosticError as refused:
            unknown = {finding.address for finding in refused.findings if finding.code == "DP301"}
            more = {one.change.location for one in located if str(one.address) in unknown} - gone
            if not more:
                raise
            gone |= more
            continue
        return Revert(extended, located, now, current, files)


def _require_same_platform(here: str, platform: str) -> None:
    if platform != here and not (is_loopback(platform) and is_loopback(here)):
        message = f"that apply was for {platform}, and this is {here}"
        raise DiagnosticError([Diagnostic("DP145", message)], Exit.REFUSED)


def _as_left(
    session: Session, done: Iterable[RecordedChange], gone: Collection[Address], references: References
) -> Desired:
    """Return the configuration with the values that an apply left, whatever the files say now."""
    resources = dict(session.desired.resources)
    for one in done:
        entry = resources.get(one.address)
        unchanged = one.change.action == "delete" or one.change.location in gone
        if entry is None or entry.kind != one.change.kind or unchanged:
            continue
        fields, kind = dict(entry.fields), session.registry[entry.kind]
        for name in one.after:
            try:
                fields[name] = references.value_of(one.after, kind.field(name))
            except CannotRestore:
                fields.pop(name, None)
        resources[entry.address] = replace(entry, fields=fields, pin=one.id or entry.pin)
    return replace(session.desired, resources=resources)
