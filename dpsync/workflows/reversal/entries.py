"""The entries of a configuration while they become what they were before an apply."""

from __future__ import annotations

from collections.abc import Sequence

from dpsync.model.entries.address import Address
from dpsync.model.entries.values import LiveId, Ref, Value
from dpsync.model.plans.change import Change
from dpsync.model.plans.remark import Note
from dpsync.workflows.reversal.recorded import RecordedChange
from dpsync.workflows.reversal.values import CannotComeBack
from dpsync.workflows.session import Planned, Session


class RevertedEntries:
    """What they are so far. `now`: the plan from what the apply has left to what is live."""

    def __init__(self, session: Session, done: Sequence[RecordedChange], now: Planned) -> None:
        self.session = session
        self.registry = session.registry
        self.done = done
        self.now = now
        self.names = now.sides.names
        self.resources = dict(session.desired.resources)
        self.notes: list[Note] = []
        self.touched: set[Address] = set()
        self.orders: set[tuple[Address, str]] = set()
        """Orders of siblings that the apply has changed."""
        self.restored: dict[str, Address] = {}
        """By the address of what the apply has deleted, that of its new entry."""
        self.anew: dict[Address, RecordedChange] = {}
        """What is made anew, with the change that deleted what was before it."""
        self.live = {str(self.names.address(one)): one for one in now.snapshot.objects}
        self.differs: dict[Address, Change] = {change.location: change for change in now.plan.changes}

    def note(self, address: object, text: str) -> None:
        """Say of a thing or a field why it does not become what it was, or not wholly."""
        self.notes.append(Note(address=str(address), text=text, severity="warning"))

    def id_of(self, address: Address) -> str | None:
        """The id of what is live at an address."""
        live = self.now.sides.live(address)
        return None if live is None else live.id

    def named(self, name: str, kinds: tuple[str, ...]) -> Value:
        """Return the present reference for an address in a previous value. Raises CannotComeBack."""
        address = self.restored.get(name, Address.parse(name))
        found: Ref | LiveId
        if address in self.resources:
            kind, found = self.resources[address].kind, Ref(address)
        elif name in self.live:
            live = self.now.snapshot.objects[self.live[name]]
            kind, found = live.kind, LiveId(live.id)
        else:
            raise CannotComeBack(f"it referred to {name}, which does not exist any more")
        if kind not in kinds:
            raise CannotComeBack(f"it referred to {name}, which is {self.registry[kind].one} now")
        return found
