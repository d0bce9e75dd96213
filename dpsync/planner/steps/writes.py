"""From decisions to steps: which requests carry them out. Their edges come later."""

from __future__ import annotations

from dpsync.kinds.kind import Field
from dpsync.model.address import Address
from dpsync.model.change import Note, Phase
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import references
from dpsync.planner.decide.compare import Changed
from dpsync.planner.decide.concealment import hidden_by, hiding
from dpsync.planner.decide.decisions import Decisions, EntryDecision
from dpsync.planner.decide.escalation import direction
from dpsync.planner.decide.restructuring import Restructure, shown_by
from dpsync.planner.inputs.lineage import is_place
from dpsync.planner.steps.requests import Requests
from dpsync.planner.steps.stepset import StepDraft, StepSet


def write_steps(decisions: Decisions) -> StepSet:
    """Every request that the decisions take, but for those that only an order needs."""
    return _Writer(decisions).write()


def concealment_notes(decisions: Decisions) -> list[Note]:
    """A note for each site that is hidden while its navigation is built anew."""
    return [
        Note(
            address=str(item.scope.parent),
            text=f"{field.name} is false while dpsync rebuilds the navigation",
        )
        for item in decisions.restructuring.agreed
        if item.alone
        for field in shown_by(decisions.sides.kind(item.owner), item)
    ]


class _Writer:
    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self.sides = decisions.sides
        self.drafts: list[StepDraft] = []
        self.makers: dict[Address, str] = {}
        self.requests = Requests(decisions.sides)

    def write(self) -> StepSet:
        for entry in self.decisions.entries.values():
            if entry.live is None:
                self._create(entry)
            else:
                self._change(entry, entry.live)
        rebuilt = [item for item in self.decisions.restructuring.agreed if item.alone]
        for address, identity in self.decisions.deletions.addresses.items():
            live = self.decisions.deletions.roots[identity]
            early = any(address.is_in(item.scope.address) for item in rebuilt)
            self.drafts.append(self.requests.delete(live, address, early=early))
        for item in rebuilt:
            self._hide(item)
        for address in self.decisions.transfers.calls:
            self._transfer(address)
        self._await()
        return StepSet().plus(self.drafts, self.makers)

    def _create(self, entry: EntryDecision) -> None:
        resource = entry.resource
        if entry.created:
            self.drafts.append(
                self.requests.create(resource, hiding(entry.held) if entry.held is not None else None)
            )
        elif entry.held is not None:
            self._hold(entry, entry.held, None)
        plain = [item for item in entry.written if item.field.via is None]
        if plain:
            self.drafts.append(self.requests.update(resource, None, plain))
        for item in entry.written:
            if item.field.via is not None:
                self._link(resource, item)

    def _change(self, entry: EntryDecision, live: LiveObject) -> None:
        resource = entry.resource
        if not (entry.written or entry.acts or live.deleted) and entry.held is None:
            return  # as nearly every entry
        if live.deleted:
            step = self.requests.restore(resource)
            self.drafts.append(step)
            self.makers[resource.address] = step.id
        if entry.held is not None and live.fields.get(entry.held.name) not in hidden_by(entry.held):
            self._hold(entry, entry.held, live)
        plain: list[Changed] = []
        visible: dict[Phase, list[Changed]] = {"withdraw": [], "expose": []}
        for item in entry.written:
            how = direction(item.field, item.before, item.after)
            if item.field.via is not None:
                self._link(resource, item)
            elif how is not None:
                visible["expose" if entry.unfinished else how].append(item)
            elif item.field.nest:
                self.drafts.append(self.requests.update(resource, live, [item], "place"))
            else:
                plain.append(item)
        for phase, items in visible.items():
            if items:
                tag = "+".join(item.field.name for item in items)
                self.drafts.append(self.requests.update(resource, live, items, phase, tag))
        waiting = [item for item in plain if self._waits(item)]
        ready = [item for item in plain if item not in waiting]
        if ready:
            self.drafts.append(self.requests.update(resource, live, ready))
        for item in waiting:
            self.drafts.append(self.requests.update(resource, live, [item], tag=item.field.name))
        for word in entry.acts:
            self.drafts.append(self.requests.act(resource, word))

    def _hold(self, entry: EntryDecision, field: Field, live: LiveObject | None) -> None:
        """Hide what is made along with another one, while that one is hidden."""
        step = self.requests.update(entry.resource, live, [hiding(field)], "withdraw", field.name)
        self.drafts.append(step)

    def _waits(self, item: Changed) -> bool:
        """Whether it has to wait for another step: then it gets a request of its own."""
        return bool(item.field.after) or any(
            self.sides.values.known_id(ref) is None for ref in references(item.after)
        )

    def _link(self, resource: Entry, item: Changed) -> None:
        phase: Phase
        how = direction(item.field, item.before, item.after)
        if how is not None:
            phase = how
        elif item.field.one_per:
            phase = "default"
        else:
            phase = "place" if is_place(item.field) else "link"
        step = self.requests.link(resource, item, phase)
        if step is not None:
            self.drafts.append(step)

    def _hide(self, item: Restructure) -> None:
        """Hide a site while its navigation is rebuilt, and show it again at the end if its entry says so."""
        resource = self.sides.resources[item.scope.parent]
        for field in shown_by(self.sides.kind(item.owner), item):
            if resource.fields.get(field.name) is True:
                self._link(resource, Changed(field, after=False, before=True))
                self._link(resource, Changed(field, after=True, before=False))

    def _transfer(self, address: Address) -> None:
        """One request for an entry; what lies in it has its new place as soon as that was sent."""
        resource = self.sides.resources[address]
        live = self.sides.live(address)
        if self.sides.kind(resource).lifecycle.transfer is None or live is None:
            return
        step = self.requests.transfer(resource)
        self.drafts.append(step)
        for given in (address, *self.decisions.transfers.given_with(live.identity)):
            self.makers[given] = step.id

    def _await(self) -> None:
        """Wait for what the platform makes of an entry, where another step needs its id."""
        needed = {address for step in self.drafts for address in step.refers()}
        for address, resource in self.sides.resources.items():
            if self.sides.values.output(address) in needed:
                self.drafts.append(self.requests.awaiting(resource))
