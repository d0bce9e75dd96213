"""What an apply did, taken back: the configuration with the values of before, through the one planner.

Nothing else is wanted then than what the apply has changed: each field as it was, what was made gone, and
what can be restored back. A field that somebody has changed since is left alone, and so is everything that
the apply did not change. What cannot come back, or is left alone, is a note of the plan.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.kinds.kind import Call
from dpsync.kinds.registry import Registry
from dpsync.model.entries.address import Address, Pattern
from dpsync.model.entries.desired import Desired, Entry, Policy, Scope
from dpsync.model.entries.ids import Edits
from dpsync.model.entries.snapshot import LiveObject
from dpsync.model.entries.values import (
    ENV,
    LIVE,
    LiveId,
    Ref,
    Secret,
    Value,
    fill,
    leaves,
    live_ids,
    references,
)  # fmt: skip
from dpsync.model.findings.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.findings.refusals import BEYOND
from dpsync.model.findings.span import Span
from dpsync.model.plans.change import Change, Difference
from dpsync.model.plans.journal import Report
from dpsync.model.plans.plan import Plan
from dpsync.model.plans.remark import Note
from dpsync.model.texts.loopback import is_loopback
from dpsync.model.texts.mask import HIDDEN
from dpsync.planner.inputs.sides import Options
from dpsync.workflows.session import Planned, Session

if TYPE_CHECKING:
    from dpsync.apply.recorder import IdsStore

_TRIED: Final = frozenset({"done", "already", "requested", "unknown"})
_DONE: Final = {"create": "made", "update": "changed", "delete": "deleted"}
ROUNDS: Final = 5
"""How often a plan is made without what the apply did not change, before it is refused."""


class Applied(Struct, frozen=True):
    """One change of an apply that was carried out, or may have been. `made`: the id of what it has made."""

    change: Change
    made: str | None = None


def applied(plan: Plan, report: Report | None = None) -> list[Applied]:
    """The changes of a plan that were carried out; without a report all of them may have been."""
    found = []
    for change in plan.changes:
        if report is None:
            found.append(Applied(change))
            continue
        steps = {step.id for step in change.steps}
        mine = [one for one in report.outcomes if one.step in steps and one.result in _TRIED]
        made = next((one.id for one in mine if one.verb == "create" and one.id is not None), None)
        if mine or not steps:
            found.append(Applied(change, made))
    return found


class _CannotComeBack(Exception):
    """A value of before that cannot be written again: why."""


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
    more = tuple(_exactly(address) for address in sorted(addresses))
    return replace(desired, policy=replace(desired.policy, ignore=(*desired.policy.ignore, *more)))


def _exactly(address: Address) -> Pattern:
    """The pattern of one address, whatever is in its titles."""
    return Pattern(str(address), address.segments)


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
    client: ReadClient, session: Session, done: Sequence[Applied], platform: str | None = None
) -> Revert:
    """Read what is live, compare it with what the apply has left, and want what was before.

    `platform`: the address that the apply was for. Raises DiagnosticError where that is another one, and as
    `Session.plan` does.
    """
    here = client.url
    if platform is not None and platform != here and not (is_loopback(platform) and is_loopback(here)):
        message = f"that apply was for {platform}, and this is {here}"
        raise DiagnosticError([Diagnostic("DP145", message)], Exit.REFUSED)
    return _Before(session, done, _now(client, session, done)).revert()


def _now(client: ReadClient, session: Session, done: Sequence[Applied]) -> Planned:
    """What is live, beside what the apply has left.

    What it changed is known by its id. Where that is gone by now, the entry is whatever it is without it.
    """
    missing: set[Address] = set()
    while True:
        left = _Making(session.registry, session.desired).as_left(
            one for one in done if one.change.location not in missing
        )
        try:
            return replace(session, desired=left).plan(client, Options(delete=False))
        except DiagnosticError as refused:
            unknown = {one.address for one in refused.findings if one.code == "DP301"}
            more = {one.change.location for one in done if one.change.address in unknown} - missing
            if not more:
                raise
            missing |= more


class _Making(Struct):
    """Entries with other values."""

    registry: Registry
    desired: Desired

    def as_left(self, done: Iterable[Applied]) -> Desired:
        """The configuration with the values that an apply has left, whatever the files say by now."""
        resources = dict(self.desired.resources)
        for one in done:
            entry = resources.get(one.change.location)
            if entry is None or one.change.action == "delete":
                continue
            fields = dict(entry.fields)
            for item in one.change.differences:
                try:
                    fields[item.field] = _value(item.after, lambda name: _declared(resources, name))
                except _CannotComeBack:
                    fields.pop(item.field, None)
            resources[entry.address] = replace(entry, fields=fields, pin=one.change.id or entry.pin)
        return replace(self.desired, resources=resources)


def _declared(resources: Mapping[Address, Entry], name: str) -> Ref:
    address = Address.parse(name)
    if address not in resources:
        raise _CannotComeBack(f"it names {name}, which is not there any more")
    return Ref(address)


def _value(plain: Any, known: Callable[[str], Value]) -> Value:
    """The value that a plan shows, as a file would say it. Raises _CannotComeBack."""

    def of(marker: str, name: str) -> Value:
        if marker == ENV:
            return Secret(name)
        return LiveId(name) if marker == LIVE else known(name)

    value = fill(plain, of)
    if any(isinstance(leaf, str) and HIDDEN in leaf for leaf in leaves(value)):
        raise _CannotComeBack("it held a secret, which is in no plan and no journal")
    return value


class _Before:
    """The configuration with the values of before, made from what is live now."""

    def __init__(self, session: Session, done: Sequence[Applied], now: Planned) -> None:
        self.session = session
        self.registry = session.registry
        self.done = done
        self.now = now
        self.names = now.sides.names
        self.resources = dict(session.desired.resources)
        self.notes: list[Note] = []
        self.touched: set[Address] = set()
        self.removed: set[Address] = set()
        """Entries that the apply has made and that are deleted now."""
        self.orders: set[tuple[Address, str]] = set()
        """Orders of siblings that the apply has changed."""
        self.restored: dict[str, Address] = {}
        """By the address of what the apply has deleted, that of its new entry."""
        self.anew: dict[Address, Change] = {}
        """What is made anew, with the change that deleted what was before it."""
        self.live = {str(self.names.address(one)): one for one in now.snapshot.objects}
        self.differs: dict[Address, Change] = {change.location: change for change in now.plan.changes}

    def note(self, address: object, text: str) -> None:
        self.notes.append(Note(address=str(address), text=text, severity="warning"))

    def revert(self) -> Revert:
        """What takes the apply back."""
        self._leave_alone()
        for one in self.done:
            if one.change.action == "delete":
                self._restore(one.change)
        self._fill()
        for one in self.done:
            if one.change.action == "update":
                self._back(one.change)
        self._unmake()
        self._forget_what_is_gone()
        desired = replace(
            self.session.desired, resources=self.resources, scopes=self._scopes(), policy=self._policy()
        )
        touched = frozenset({*self.touched, *self.restored.values()})
        changed = replace(self.session, desired=desired)
        declared = frozenset(self.session.desired.resources)
        return Revert(changed, touched, frozenset(self._ids()), tuple(self.notes), declared)

    # What the apply has not done.

    def _leave_alone(self) -> None:
        """Whatever is live otherwise than the files say is wanted as it is."""
        for address, change in self.differs.items():
            entry = self.resources.get(address)
            if entry is None:
                continue
            if change.action == "create":
                del self.resources[address]
                continue
            named = {item.field for item in change.differences}
            fields = {name: value for name, value in entry.fields.items() if name not in named}
            self.resources[address] = replace(entry, fields=fields, pin=self._id(address))

    def _id(self, address: Address) -> str | None:
        live = self.now.sides.live(address)
        return None if live is None else live.id

    def _scopes(self) -> dict[Address, Any]:
        return {at: item for at, item in self.session.desired.scopes.items() if item.parent in self.resources}

    def _policy(self) -> Policy:
        """Only what the apply has made may be deleted."""
        places = {
            scope
            for scope, items in self.now.snapshot.scopes.items()
            if any(identity in self._made for identity in items)
        }
        prune = tuple(_exactly(place) for place in sorted(places))
        return replace(self.session.desired.policy, prune=prune, only=frozenset(self._made))

    @property
    def _made(self) -> set[tuple[str, str]]:
        found = (self.names.identities.get(address) for address in self.removed)
        return {identity for identity in found if identity is not None}

    def _ids(self) -> set[str]:
        """The ids of what is deleted."""
        return {self.now.snapshot.objects[identity].id for identity in self._made}

    # What was made.

    def _unmake(self) -> None:
        """Choose what the apply has made and nobody has changed or used since."""
        chosen = {one.change.location for one in self.done if one.change.action == "create"}
        candidates = {address for address in chosen if self._is_as_made(address)}
        users = self._users(frozenset(candidates))
        while kept := {
            address: why
            for address in sorted(candidates)
            for user, why in users[address]
            if user not in candidates
        }:
            candidates -= kept.keys()
            for address, why in kept.items():
                self.note(address, f"it is not deleted: {why}")
        for address in sorted(candidates):
            kind = self.registry[self.resources[address].kind]
            around = {*address.upward()} - {address}
            if not isinstance(kind.delete, Call) and not around & candidates:
                self.note(address, "it is not deleted: no request does that")
                candidates.discard(address)
        self.removed = candidates

    def _is_as_made(self, address: Address) -> bool:
        """Whether a thing is live, is the one that the apply has made, and is as the apply has left it."""
        live, since = self.now.sides.live(address), self.differs.get(address)
        if address not in self.session.desired.resources:
            self.note(address, "it was made and is in no file any more: it is left as it is")
            return False
        if live is None or address not in self.resources:
            return False
        made = next(one.made for one in self.done if one.change.location == address)
        if made is not None and live.id != made:
            self.note(address, "it is another one than the apply has made: it is left as it is")
            return False
        if since is not None and (since.differences or since.moved):
            fields = ", ".join(item.field for item in since.differences) or "its place"
            self.note(address, f"somebody has changed it since ({fields}): it is not deleted")
            return False
        return True

    def _users(self, made: frozenset[Address]) -> dict[Address, list[tuple[Address | None, str]]]:
        """By what was made, each live thing that is in it or will name it, with what to say of that."""
        found: dict[Address, list[tuple[Address | None, str]]] = defaultdict(list)
        objects = self.now.snapshot.objects
        at = {self.names.identities[address]: address for address in made}
        by_id = {objects[identity].id: address for identity, address in at.items()}
        for other in objects.values():
            inner, name = self.names.declared.get(other.identity), str(self.names.address(other.identity))
            for around in (other.holder, other.parent):
                if around is not None and around in at:
                    found[at[around]].append((inner, f"it holds {name}, which stays"))
            entry = self.resources.get(inner) if inner is not None else None
            orders = {one.name for one in self.registry[other.kind].list_orders}
            for field in other.fields.keys() - orders:
                if entry is not None and field in entry.fields:
                    named = references(entry.fields[field]) & made
                else:
                    named = {by_id[id] for id in live_ids(other.fields[field]) & by_id.keys()}
                for address in named:
                    found[address].append((inner, f"{name} names it as {field}"))
        return found

    def _forget_what_is_gone(self) -> None:
        """Take out the entries of what is deleted or not live, with what is in them and what names them.

        The order of siblings that the apply did not change is nobody's business here.
        """
        kept = dict(self.resources)
        while out := [
            address
            for address, entry in kept.items()
            if any(above in self.removed for above in address.upward())
            or (entry.holder is not None and entry.holder not in kept)
            or (entry.parent is not None and entry.parent not in kept)
        ]:
            for address in out:
                del kept[address]
        lost = self.session.desired.resources.keys() - kept.keys()
        for address, entry in kept.items():
            orders = {one.name for one in self.registry[entry.kind].list_orders}
            fields = {
                name: value
                for name, value in entry.fields.items()
                if not references(value) & lost and (name not in orders or (address, name) in self.orders)
            }
            children = tuple(child for child in entry.children if child in kept)
            if children != entry.children or len(fields) != len(entry.fields):
                kept[address] = replace(entry, children=children, fields=fields)
        self.resources = kept

    # What was changed.

    def _back(self, change: Change) -> None:
        address = change.location
        entry = self.resources.get(address)
        if entry is None or self._id(address) != change.id:
            self.note(address, "it is gone, in no file any more, or another one by now: it is left as it is")
            return
        if change.moved or any(step.verb == "move" or step.phase == "place" for step in change.steps):
            self.note(address, "its place among its siblings may stay another one: no plan says what it was")
        fields = dict(entry.fields)
        for item in change.differences:
            why = self._kept(change, item)
            if why is not None:
                fields.pop(item.field, None)
                if why:
                    self.note(address.field(item.field), why)
                continue
            try:
                fields[item.field] = _value(item.before, self._named)
                self.orders.add((address, item.field))
            except _CannotComeBack as unknown:
                fields.pop(item.field, None)
                self.note(address.field(item.field), f"it is not taken back: {unknown}")
        for effect in change.effects:
            self.note(effect.address, "it went along with that change: it does not come back by itself")
        self.touched.add(address)
        self.resources[address] = replace(entry, fields=fields, pin=change.id)

    def _kept(self, change: Change, item: Difference) -> str | None:
        """Why a field is left as it is, "" where it is as before already; None: it is taken back."""
        writable = {one.name for one in self.registry[change.kind].writable_fields}
        if item.field not in writable or self.registry[change.kind].field(item.field).nest:
            return "it is not taken back: no request writes it by itself"
        refused = ("refused", "by hand")
        if item.before is None and self.registry[change.kind].field(item.field).null in refused:
            return "it is not taken back: it had no value before, and no request takes one away"
        if not item.known:
            return "it is not taken back: what it was before cannot be read"
        since = self.differs.get(change.location)
        differences = since.differences if since is not None else ()
        now = next((one for one in differences if one.field == item.field), None)
        if now is None:
            return None
        if now.before == item.before:
            return ""
        return "somebody has changed it since: it is left as it is"

    def _named(self, name: str) -> Value:
        """What an address in a value of before stands for now."""
        address = Address.parse(name)
        if name in self.restored:
            return Ref(self.restored[name])
        if address in self.resources and address not in self.removed:
            return Ref(address)
        if name in self.live:
            return LiveId(self.now.snapshot.objects[self.live[name]].id)
        raise _CannotComeBack(f"it named {name}, which is not there any more")

    # What was deleted.

    def _restore(self, change: Change) -> None:
        kind = self.registry[change.kind]
        address = change.location
        for effect in change.effects:
            self.note(effect.address, f"it went along when {address} was deleted: it may not come back")
        scope = address.place
        place = self.session.desired.scopes.get(scope)
        if kind.lifecycle.restore is None or change.id is None:
            why = self._cannot_be_made(change, scope)
            if why is not None:
                self.note(address, f"it was deleted and does not come back: {why}")
            elif place is not None:
                self._make_anew(change, scope, place)
            return
        if place is None:
            self.note(address, f"it was deleted: to restore it, declare {scope} with id: {change.id}")
            return
        if any(entry.pin == change.id for entry in self.resources.values()):
            return
        days = kind.lifecycle.restore.days
        key = f"restored-{change.id}"
        at = scope.child(key)
        span = Span.start_of("restored")
        self.resources[at] = Entry(
            kind=change.kind, address=at, key=key, parent=place.parent, holder=None, fields={},
            span=span, spans={}, pin=change.id,
        )  # fmt: skip
        self.restored[change.address] = at
        self.note(
            address,
            f"it is restored, which the platform allows for {days} days, with what was in it;"
            f" to keep it, give it an entry with id: {change.id}",
        )

    def _cannot_be_made(self, change: Change, scope: Address) -> str | None:
        """Why no new one is made in its place; None where one can be."""
        kind, was = self.registry[change.kind], {item.field for item in change.was}
        if kind.in_tree:
            return "its place in the navigation is in no plan. With its entry, apply makes a new one"
        if not isinstance(kind.create, Call) or not was:
            return "no request makes one like it"
        if scope not in self.session.desired.scopes or scope not in self.now.snapshot.scopes:
            return f"{scope} is not declared any more. With its entry, apply makes a new one"
        lacking = {one.name for one in kind.fields if one.required and one.name not in was}
        if kind.natural is not None and (kind.natural not in was or kind.field(kind.natural).type.refers):
            lacking.add(kind.natural)
        if lacking:
            return f"a new one needs {', '.join(sorted(lacking))}, which no plan has as it is written"
        live = self._like(change, scope)
        return f"{self.names.address(live.identity)} is like it, and is there by now" if live else None

    def _like(self, change: Change, scope: Address) -> LiveObject | None:
        """What is live where it was, and is recognised by the same values."""
        was = {item.field: item.before for item in change.was}
        kind, display = self.registry[change.kind], self.now.sides.values.display
        for identity in self.now.snapshot.scopes[scope]:
            live = self.now.snapshot.objects[identity]
            now = {
                one.name: display(one, live.fields.get(one.name), live)
                for one in kind.fields
                if live.kind == change.kind
            }
            for names in kind.identity:
                key = (names,) if isinstance(names, str) else names
                if all(_part(was, one) is not None and _part(was, one) == _part(now, one) for one in key):
                    return live
        return None

    def _lacks(self, change: Change) -> str | None:
        """A value without which none is made, and that cannot be had; None where it has all."""
        for item in change.was:
            try:
                _value(item.before, self._named)
            except _CannotComeBack as unknown:
                return f"{item.field}: {unknown}"
        return None

    def _make_anew(self, change: Change, scope: Address, place: Scope) -> None:
        """Want a new one with the values of before. What refers to it is known when all of them are."""
        kind = self.registry[change.kind]
        named = next((item.before for item in change.was if item.field == kind.natural), None)
        key = named if isinstance(named, str) else f"anew-{change.id}"
        at = scope.child(key)
        if at in self.resources:
            self.note(change.location, f"it was deleted and does not come back: {at} is declared by now")
            return
        self.resources[at] = Entry(
            kind=change.kind, address=at, key=key, parent=place.parent, holder=None, fields={},
            span=Span.start_of("made anew"), spans={}, new=True,
        )  # fmt: skip
        self.restored[change.address] = at
        self.anew[at] = change
        self.note(
            change.location,
            "it is made anew, with a new id: what was in it or named it is not in it again."
            f" To keep it, give it an entry in {scope}, or the next apply may delete it",
        )

    def _fill(self) -> None:
        """Give what is made anew its values of before. What lacks one that making it needs is not made."""
        while lacking := {at: name for at, change in self.anew.items() if (name := self._lacks(change))}:
            for at, name in lacking.items():
                change = self.anew.pop(at)
                del self.resources[at], self.restored[change.address]
                self.note(
                    change.location, f"it was deleted and does not come back: a new one needs its {name}"
                )
        for at, change in self.anew.items():
            fields = {item.field: _value(item.before, self._named) for item in change.was}
            self.resources[at] = replace(self.resources[at], fields=fields)
            writable = self.registry[change.kind].writable_fields
            lost = [one.name for one in writable if one.type.may_be_secret or one.source is None]
            if lost:
                self.note(change.location, f"in no plan is what it had as {', '.join(sorted(lost))}")


def _part(values: Any, name: str) -> Any:
    """A value by its name, with dots between the members that lead to it; None where there is none."""
    for part in name.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values
