"""What the past has to say beside the changes: what was removed and lives on, words that have served."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.address import Address
from dpsync.model.plan import Note
from dpsync.model.snapshot import Identity
from dpsync.planner.context import Context
from dpsync.planner.removal import Removal


def past_notes(context: Context, going: Removal) -> Iterator[Note]:
    yield from _removed(context, going)
    yield from _served(context)


def _removed(context: Context, going: Removal) -> Iterator[Note]:
    """Entries of the git base that nobody declares any more, while what they were lives on."""
    gone = [
        address
        for address, identity in context.remembered.items()
        if address not in context.desired.resources
        and identity not in context.declared
        and not context.registry[identity[0]].comes_along
    ]
    for address in sorted(gone):
        identity = context.remembered[address]
        if context.forgotten(identity):
            if context.desired.pruned(_place(address)):
                yield _lasting(context, address, identity)
            continue
        if going.gone(identity) or any(other != address and address.within(other) for other in gone):
            continue
        live = context.snapshot.objects[identity]
        text = (
            f'removed here, still live: {context.kind(live).noun} "{context.label(live)}" ({live.id}) is kept'
        )
        yield Note(address=str(address), text=text)


def _place(address: Address) -> Address:
    return Address(address.segments[:-1])


def _lasting(context: Context, address: Address, identity: Identity) -> Note:
    """What to write so that it stays forgotten when the git base does not have its entry any more."""
    live = context.snapshot.objects[identity]
    name = _place(context.address(identity)).unmanaged(context.label(live), live.id)
    text = f'forgotten: {context.kind(live).noun} "{context.label(live)}" stays'
    if not any(pattern.covers(name) for pattern in context.desired.policy.forget):
        text += f"; its key is known to the git base only, so forget {name} instead"
    return Note(address=str(address), text=text)


def _served(context: Context) -> Iterator[Note]:
    """`previously` and `new` are for one change; then they can go."""
    for address, resource in context.desired.resources.items():
        match = context.snapshot.matches.get(address)
        if match is None:
            continue
        if resource.previously and match.by != "previously":
            yield Note(address=f"{address}#previously", text="it has its present name: this line can go")
        if resource.new:
            yield Note(address=f"{address}#new", text="it is live: this line can go")
