"""What would be public or powerful for a moment, and neither before nor afterwards: told, and asked about.

The order of requests prevents it wherever it can (holding, edges). It cannot where a server makes a new thing
neither hidden nor as weak as it is declared, and where something comes out of, or goes into, what hides it
while it is changed: a navigation is changed before it is put in order, and deletes come last.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.kinds.kind import Field
from dpsync.model.address import Address
from dpsync.model.change import Exposure
from dpsync.planner.decide.concealment import at_first, hides_itself
from dpsync.planner.decide.decisions import Decisions, EntryDecision
from dpsync.planner.effects.navigation import shows
from dpsync.planner.steps.stepset import PlannedSteps
from dpsync.planner.steps.surroundings import Around


def moments(decided: Decisions, steps: PlannedSteps) -> tuple[Exposure, ...]:
    """All of a plan: what is new, then what is changed where something is moved."""
    return (*_new(decided), *_moved(decided, steps))


def _new(decided: Decisions) -> Iterator[Exposure]:
    for address, entry in decided.entries.items():
        if entry.live is not None:
            continue
        if later := decided.holding.momentary(entry.resource):
            names = " and ".join(item.name for item in later)
            yield _moment(address, f"{names} can be set only after GitBook has created the object", later[0])
        if powerful := decided.holding.powerful(entry.resource):
            first = " and ".join(f"{item.name} is {at_first(item)}" for item in powerful)
            words = (
                f"more access for a moment than in your files: {first} until GitBook has created the object"
            )
            yield Exposure(address=str(address), field=powerful[0].name, words=words, moment=True)


def _moved(decided: Decisions, steps: PlannedSteps) -> Iterator[Exposure]:
    around = Around(decided)
    moving = {step.address: out for step, out in around.moves(steps.drafts)}
    found: dict[Address, Exposure] = {}
    for address in steps.drafts.by_address if moving else ():
        for above in (address, *around.of(address)):
            if above in moving and not _hidden_owner(decided, above):
                late = [
                    step
                    for step in steps.drafts.of(address, "update")
                    if not around.may_be_before(step, steps.drafts)
                ]
                telling = (
                    _late(decided, address, above, bool(late))
                    if moving[above]
                    else (_changed(decided, address, above))
                )
                for words in telling:
                    found.setdefault(address, _moment(address, words))
    yield from found.values()


def _late(decided: Decisions, address: Address, moved: Address, changed: bool) -> Iterator[str]:
    if address in decided.deletions.addresses and address != moved:
        yield f"dpsync deletes this object after {moved} becomes visible"
    elif changed:
        yield f"dpsync changes this object after {moved} becomes visible"


def _changed(decided: Decisions, address: Address, moved: Address) -> Iterator[str]:
    entry = decided.entries.get(address)
    if entry is not None and entry.live is not None and decided.sides.kind(entry.resource).in_tree:
        names = [item.field.name for item in entry.written if _what_is_seen(entry, decided, item.field)]
        if names:
            yield f"dpsync changes the {names[0]} of this object before dpsync hides {moved}"


def _what_is_seen(entry: EntryDecision, decided: Decisions, field: Field) -> bool:
    return field == shows(decided.sides.kind(entry.resource)) or field.raised == "changed"


def _hidden_owner(decided: Decisions, address: Address) -> bool:
    """Whether nobody sees the tree that a node is in, now or afterwards."""
    sides = decided.sides
    parent = sides.resources[address].parent
    while parent is not None:
        entry, live = sides.resources[parent], sides.live(parent)
        now = live.fields if live is not None else {}
        if any(hides_itself(sides.kind(entry), fields) for fields in (now, {**now, **entry.fields})):
            return True
        parent = entry.parent
    return False


def _moment(address: Address, why: str, field: Field | None = None) -> Exposure:
    name = field.name if field is not None else ""
    return Exposure(address=str(address), field=name, words=f"public for a moment: {why}", moment=True)
