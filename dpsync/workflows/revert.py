"""What an apply did, taken back: the configuration with the values of before, through the one planner.

Nothing else is wanted then than what the apply has changed: each field as it was, what was made gone, and
what can be restored back. A field that somebody has changed since is left alone, and so is everything that
the apply did not change. What cannot come back, or is left alone, is a note of the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Desired, Entry
from dpsync.model.entries.ids import Edits
from dpsync.model.entries.values import Ref, Value
from dpsync.model.findings.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.findings.refusals import BEYOND
from dpsync.model.plans.change import Change
from dpsync.model.plans.plan import Plan
from dpsync.model.plans.remark import Note
from dpsync.model.texts.loopback import is_loopback
from dpsync.planner.inputs.sides import Options
from dpsync.planner.selection import is_selected, patterns
from dpsync.workflows.reversal.applied import Applied
from dpsync.workflows.reversal.configuration import before, exactly
from dpsync.workflows.reversal.recorded import RecordedChange, read_changes
from dpsync.workflows.reversal.values import CannotComeBack, value_of
from dpsync.workflows.session import Planned, Session

if TYPE_CHECKING:
    from dpsync.apply.recorder import IdsStore

_DONE: Final = {"create": "made", "update": "changed", "delete": "deleted"}
ROUNDS: Final = 5
"""How often a plan is made without what the apply did not change, before it is refused."""


class Revert(Struct):
    """A session whose configuration takes an apply back, and what it leaves as it is."""

    session: Session
    touched: frozenset[Address]
    """What the apply has changed: nothing else may be in the plan."""
    deletes: frozenset[str]
    """The ids of what the apply has made, and that goes now."""
    notes: tuple[Note, ...]
    declared: frozenset[Address]
    """What the files declare."""

    def plan(self, client: ReadClient, options: Options) -> Planned:
        """The plan. Whatever else would change is left alone, and refused where it would change all the same.

        Raises as `Session.plan` does.
        """
        for _ in range(ROUNDS):
            planned = self.session.plan(client, options)
            others = [change for change in planned.plan.changes if not self._takes_back(change)]
            if not others:
                break
            left = {change.location for change in others}
            self.session = replace(self.session, desired=_ignoring(self.session.desired, left))
        refused = (BEYOND.at(one.address, done=_DONE[one.action], one=one.address) for one in others)
        more = {
            "notes": (*planned.plan.notes, *self.notes, *self._lines(planned.plan)),
            "refusals": (*planned.plan.refusals, *refused),
        }
        return replace(planned, plan=planned.plan.model_copy(update=more))

    def recording(self, store: IdsStore) -> IdsStore:
        """A store of the ids file for this apply: it gets no line for what no file declares."""
        return _Declared(store, self.declared)

    def _takes_back(self, change: Change) -> bool:
        if change.action == "delete":
            return change.id in self.deletes
        return change.location in self.touched

    def _lines(self, plan: Plan) -> Iterator[Note]:
        """Which lines of the files the next apply would write again."""
        for change in plan.changes:
            entry = self.session.desired.resources.get(change.location)
            if entry is None or change.action == "delete":
                continue
            for item in change.differences:
                at = entry.spans.get(item.field)
                if at is not None:
                    where = f"{at.file}:{at.line}"
                    text = f"{where} still says otherwise: the next apply puts {item.field} back to that"
                    yield Note(address=str(change.location.field(item.field)), text=text)


def _ignoring(desired: Desired, addresses: Iterable[Address]) -> Desired:
    more = tuple(exactly(address) for address in sorted(addresses))
    return replace(desired, policy=replace(desired.policy, ignore=(*desired.policy.ignore, *more)))


class _Declared(Struct, frozen=True):
    """The ids file without lines for what is only declared to be restored."""

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
    done: Sequence[Applied],
    platform: str | None = None,
    file: str = "the journal or saved plan",
    options: Options | None = None,
) -> Revert:
    """Read what is live, compare it with what the apply has left, and want what was before.

    `platform`: the address that the apply was for. `file`: the name of the journal or saved plan that `done`
    comes from. A value that no file of the configuration could contain is an error if `options` select its
    entry.

    Raises DiagnosticError for such a value and for another platform, and as `Session.plan` does.
    """
    here = client.url
    if platform is not None and platform != here and not (is_loopback(platform) and is_loopback(here)):
        message = f"that apply was for {platform}, and this is {here}"
        raise DiagnosticError([Diagnostic("DP145", message)], Exit.REFUSED)
    recorded = _read_recorded(session, done, file, options or Options())
    found = before(session, recorded, _now(client, session, recorded))
    changed = replace(session, desired=found.desired)
    return Revert(changed, found.touched, found.deletes, found.notes, frozenset(session.desired.resources))


def _read_recorded(
    session: Session, done: Sequence[Applied], file: str, options: Options
) -> list[RecordedChange]:
    select, exclude = (
        patterns(session.registry, session.desired, texts) for texts in (options.select, options.exclude)
    )
    return read_changes(
        session.desired, session.registry, done, file, lambda address: is_selected(address, select, exclude)
    )


def _now(client: ReadClient, session: Session, done: Sequence[RecordedChange]) -> Planned:
    """What is live, beside what the apply has left.

    What it changed is known by its id. Where that is gone by now, the entry is whatever it is without it.
    """
    missing: set[Address] = set()
    while True:
        left = _as_left(session, (one for one in done if one.location not in missing))
        try:
            return replace(session, desired=left).plan(client, Options(delete=False))
        except DiagnosticError as refused:
            unknown = {one.address for one in refused.findings if one.code == "DP301"}
            more = {one.location for one in done if one.change.address in unknown} - missing
            if not more:
                raise
            missing |= more


def _as_left(session: Session, done: Iterable[RecordedChange]) -> Desired:
    """The configuration with the values that an apply has left, whatever the files say by now."""
    resources = dict(session.desired.resources)

    def declared(name: str, kinds: tuple[str, ...]) -> Value:
        return _declared(resources, name, kinds)

    for one in done:
        entry = resources.get(one.location)
        if entry is None or entry.kind != one.change.kind or one.change.action == "delete":
            continue
        fields, kind = dict(entry.fields), session.registry[entry.kind]
        for name in one.after:
            try:
                fields[name] = value_of(one.after, kind.field(name), declared)
            except CannotComeBack:
                fields.pop(name, None)
        resources[entry.address] = replace(entry, fields=fields, pin=one.change.id or entry.pin)
    return replace(session.desired, resources=resources)


def _declared(resources: Mapping[Address, Entry], name: str, kinds: tuple[str, ...]) -> Ref:
    address = Address.parse(name)
    if address not in resources or resources[address].kind not in kinds:
        raise CannotComeBack(f"it names {name}, which is not there any more")
    return Ref(address)
