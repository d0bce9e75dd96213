"""Questions about deletes of objects that the ids file assigned to an entry that is another object now.

A pin overrides the line of its entry, and `dpsync ids --bind` replaces a line. Either may be a mistake, so
dpsync deletes the former object only if a person names it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dpsync.kinds.places import Places
from dpsync.model.address import Address
from dpsync.model.diagnostic import WayOut
from dpsync.model.ids import RecordedLine
from dpsync.model.refusals import PASSED_OVER
from dpsync.model.snapshot import Identity
from dpsync.model.text import command
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.inputs.answers import DELETE, Answer, Question
from dpsync.planner.inputs.sides import Sides


class Former(Struct, frozen=True):
    """The entry that an object was, and what says that it is not that one now."""

    address: Address
    evidence: str
    back: WayOut | None
    """How the entry becomes that object again."""


def passed_over(decided: Decisions) -> Iterator[Question]:
    """A question about each such object that would be deleted, or go along."""
    sides = decided.sides
    former = formerly(sides) if decided.deletions.roots else {}
    for identity in decided.deletions.everything:
        if identity not in former:
            continue
        was, address = former[identity], sides.names.address(identity)
        answer = Answer(DELETE, str(address))
        if sides.policy.removed(identity):
            yield Question(answer)
            continue
        back = f". To keep the object, {_said(was.back)}" if was.back is not None else ""
        may_go = WayOut(address=str(was.address), add=answer.flag, means="delete this object")
        refusal = PASSED_OVER.at(
            address,
            answers=(may_go,) if was.back is None else (may_go, was.back),
            evidence=was.evidence,
            answer=answer.flag,
            back=back,
        )
        yield Question(answer, refusal)


def _said(back: WayOut) -> str:
    return f"add {back.add}" if back.add.startswith("id: ") else back.add


def formerly(sides: Sides) -> dict[Identity, Former]:
    """By live object that no line of now names, or whose entry is pinned to another one."""
    records, places = sides.snapshot.records, Places(sides.registry)
    now = {line.id for line in records.lines.values()}
    found: dict[Identity, Former] = {}
    for address, line in sorted(records.earlier.items()):
        if line.id not in now:
            found |= dict.fromkeys(_meant(places, line), _rebound(sides, address, line))
    for address, line in sorted(records.lines.items()):
        entry = sides.desired.resources.get(address)
        if entry is not None and entry.pin is not None and entry.pin != line.id:
            said = f"the ids file assigns this object to {address}, but that entry has id: {entry.pin}"
            back = WayOut(address=str(address), add=f"id: {line.id}", means="use this object")
            found[entry.kind, line.id] = Former(address, said, back)
    return found


def _meant(places: Places, line: RecordedLine) -> list[Identity]:
    return [(kind.name, line.id) for kind in places.kinds(line.address) if kind.recorded]


def _rebound(sides: Sides, address: Address, line: RecordedLine) -> Former:
    said = f"the ids file of {sides.base.name} assigns this object to {address}"
    present = sides.snapshot.records.lines.get(address)
    is_now = (
        f", and the ids file now assigns {present.id} to that entry"
        if present is not None
        else ", and the ids file now has no line for that entry"
    )
    if address not in sides.desired.resources:
        return Former(address, f"{said}{is_now}", None)
    add = command("ids", "--bind", f"{address}={line.id}")
    back = WayOut(
        address=str(address), add=add, means="use this object, and replace the line in the ids file"
    )
    return Former(address, f"{said}{is_now}", back)
