"""What the past has to say beside the changes: what was removed and lives on, words that have served."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from dpsync.model.entries.address import Address
from dpsync.model.entries.match import MatchedBy
from dpsync.model.entries.snapshot import Identity
from dpsync.model.plans.remark import Note
from dpsync.planner.decide.deletions import Deletions
from dpsync.planner.inputs.sides import Sides


def past_notes(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    yield from _rewritten(sides)
    yield from _removed(sides, deletions)
    yield from _obsolete(sides)
    yield from _replaced(sides)


def _rewritten(sides: Sides) -> Iterator[Note]:
    """Lines of the ids file that somebody has changed: from then on the entry is another object."""
    for before, now in sides.rewritten:
        was, is_ = (" ".join(filter(None, (line.id, line.also))) for line in (before, now))
        text = f"its line in the ids file is {is_}, and was {was} in {sides.base.said}"
        yield Note(address=str(now.address), text=text)


def _removed(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    """Entries that the git base has and the files do not, and whose objects are still live."""
    removed = [
        address
        for address, identity in sides.names.remembered.items()
        if address not in sides.desired.resources
        and identity not in sides.names.declared
        and not sides.registry[identity[0]].comes_along
    ]
    among = set(removed)
    for address in sorted(removed):
        identity = sides.names.remembered[address]
        if sides.policy.forgotten(identity):
            if sides.desired.pruned(_place(address)):
                yield _lasting(sides, address, identity)
            continue
        if deletions.covers(identity) or any(other in among for other in islice(address.upward(), 1, None)):
            continue
        live = sides.snapshot.objects[identity]
        noun, label = sides.kind(live).noun, sides.names.label(live)
        text = f'removed here, still live: {noun} "{label}" ({live.id}) is kept'
        yield Note(address=str(address), text=text)


def _place(address: Address) -> Address:
    return Address(address.segments[:-1])


def _lasting(sides: Sides, address: Address, identity: Identity) -> Note:
    """The line to write, so that an object stays forgotten when the git base has lost its entry."""
    live = sides.snapshot.objects[identity]
    name = _place(sides.names.address(identity)).unmanaged(sides.names.label(live), live.id)
    text = f'forgotten: {sides.kind(live).noun} "{sides.names.label(live)}" stays'
    if not any(pattern.covers(name) for pattern in sides.desired.policy.forget):
        text += f"; its key is known to the git base only, so forget {name} instead"
    return Note(address=str(address), text=text)


def _obsolete(sides: Sides) -> Iterator[Note]:
    """`previously` and `new` are for one change; then they can go."""
    for address, resource in sides.desired.resources.items():
        match = sides.snapshot.matches.get(address)
        if match is None:
            continue
        if resource.previously and match.by is not MatchedBy.PREVIOUSLY:
            yield Note(address=f"{address}#previously", text="it has its present name: this line can go")
        if resource.new:
            yield Note(address=f"{address}#new", text="it is live: this line can go")


def _replaced(sides: Sides) -> Iterator[Note]:
    """Entries whose recorded object is gone, and that were recognised as another one by their names."""
    for address, missing in sides.snapshot.missing.items():
        if address in sides.snapshot.matches:
            yield Note(address=str(address), text=f"it was {missing.id}, which is gone")
