"""What is given to another organization: one call, with everything in it; never deleted and made anew.

The platform does not give away what a site shows. What lies in something that is given goes along with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.address import Address
from dpsync.model.plan import Difference, Note, Refusal
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId
from dpsync.planner.cascade import is_place
from dpsync.planner.context import Context


def transferred(context: Context) -> dict[Identity, Address]:
    """Every object that is given away, with the entry that it is."""
    found = {}
    for address in sorted(context.snapshot.transferred):
        live = context.live(address)
        if live is not None and not context.ignored(address):
            found[live.identity] = address
    return found


def inside(context: Context, holder: Identity) -> Iterator[LiveObject]:
    """Everything that lies in an object, at any depth."""
    waiting, seen = [holder], {holder}
    while waiting:
        around = waiting.pop()
        for live in context.snapshot.objects.values():
            if live.identity not in seen and _holder(context, live) == around:
                seen.add(live.identity)
                waiting.append(live.identity)
                yield live


def _holder(context: Context, live: LiveObject) -> Identity | None:
    for item in context.kind(live).fields:
        value = live.fields.get(item.name)
        if is_place(item) and isinstance(value, LiveId):
            return item.type.refers[0], value.id
    return None


def looked_at(context: Context) -> list[Identity]:
    """What must be known not to be shown anywhere."""
    given = transferred(context)
    along = {live.identity for identity in given for live in inside(context, identity)}
    return sorted({*given} | along)


def calls(context: Context) -> list[Address]:
    """The entries that need a call of their own: not those that go along with another one."""
    given = transferred(context)
    along = {
        live.identity
        for identity, address in given.items()
        for live in inside(context, identity)
        if live.identity in given and _owner(context, given[live.identity]) == _owner(context, address)
    }
    return [address for identity, address in given.items() if identity not in along]


def _owner(context: Context, address: Address) -> Address | None:
    return context.resources[address].parent


def with_it(context: Context, address: Address) -> list[Address]:
    """The entries that are given along with this one."""
    given = transferred(context)
    live = context.live(address)
    items = inside(context, live.identity) if live is not None else ()
    return [given[item.identity] for item in items if item.identity in given]


def difference(context: Context, address: Address) -> Difference:
    """Whose it is and whose it will be."""
    live, resource = context.live(address), context.resources[address]
    assert live is not None
    assert live.parent is not None
    assert resource.parent is not None
    before, after = context.address(live.parent), resource.parent
    return Difference(field=live.parent[0], before=str(before), after=str(after))


def refused(context: Context) -> Iterator[Refusal]:
    """What the platform would not give away, and what would go along although it is to stay."""
    for identity, address in transferred(context).items():
        yield from _shown(context, identity, address)
        for live in inside(context, identity):
            stays = _stays(context, live.identity)
            if stays is None:
                yield from _shown(context, live.identity, address)
                continue
            yield Refusal(
                code="goes-along",
                address=str(address),
                message=f"{stays} is in it and would be given to {_owner(context, address)} with it",
                way_out="move that one out of it first and apply, or declare it there, too",
            )


def _stays(context: Context, identity: Identity) -> Address | None:
    """The entry that an object is where it lies now."""
    address = context.declared.get(identity)
    return address if address not in context.snapshot.transferred else None


def _shown(context: Context, identity: Identity, address: Address) -> Iterator[Refusal]:
    for shown_in, title in context.snapshot.evidence.shown_in.get(identity, ()):
        place = context.declared.get(shown_in)
        yield Refusal(
            code="shown",
            address=str(address),
            message=f"{place or title} shows {context.address(identity)}, which cannot be given away then",
            way_out="take it out of that site first and apply, then move the entry",
        )


def notes(context: Context) -> Iterator[Note]:
    """What goes along and is declared nowhere; and what is lost on the way."""
    for identity, address in transferred(context).items():
        for live in inside(context, identity):
            given = context.declared.get(live.identity)
            if given is None:
                text = f"{context.address(live.identity)} is in it and goes along"
                yield Note(address=str(address), text=text)
            elif given in context.snapshot.transferred:
                yield Note(address=str(given), text=f"it is in {address} and goes along with it")
    for address in calls(context):
        text = "roles that were given on it are lost; those declared are given anew"
        yield Note(address=str(address), text=text)
