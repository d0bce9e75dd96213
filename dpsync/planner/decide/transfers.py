"""What is given to another organization: one call, with everything in it; never deleted and made anew.

The platform does not give away what a site shows. What lies in something that is given goes along with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from dpsync.model.address import Address
from dpsync.model.change import Cause, Difference, Note
from dpsync.model.diagnostic import Refusal
from dpsync.model.refusals import GOES_ALONG, SHOWN
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.planner.inputs.names import Names
from dpsync.planner.inputs.sides import Sides


class Transfers(Struct, frozen=True):
    """What is given away in one plan."""

    given: Mapping[Identity, Address]
    """Every object that is given away, with the entry that it is."""
    inside: Mapping[Identity, tuple[LiveObject, ...]]
    """By object that is given away: everything that lies in it."""
    calls: tuple[Address, ...]
    """The entries that need a call of their own: not those that go along with another one."""

    def given_with(self, identity: Identity) -> list[Address]:
        """The entries that are given along with one."""
        return [self.given[item.identity] for item in self.inside[identity] if item.identity in self.given]

    @property
    def everything(self) -> list[Identity]:
        """Every object that changes its owner, with all in it: no site may show any of it."""
        along = {live.identity for items in self.inside.values() for live in items}
        return sorted({*self.given} | along)


def transfers(sides: Sides) -> Transfers:
    """The objects that go to another organization: each lies below another parent than its entry has."""
    given = {
        live.identity: address
        for address in sorted(sides.snapshot.transferred)
        if (live := sides.live(address)) is not None and not sides.policy.ignored(address)
    }
    inside = {identity: tuple(sides.lineage.inside(identity)) for identity in given}
    along = {
        live.identity
        for identity, address in given.items()
        for live in inside[identity]
        if live.identity in given
        and _owner(sides.names, given[live.identity]) == _owner(sides.names, address)
    }
    calls = tuple(address for identity, address in given.items() if identity not in along)
    return Transfers(given, inside, calls)


def _owner(names: Names, address: Address) -> Address | None:
    return names.desired.resources[address].parent


def difference(names: Names, address: Address, cause: Cause | None) -> Difference:
    """The change of owner as a difference: whose it is and whose it will be."""
    live, resource = names.snapshot.objects[names.identities[address]], names.desired.resources[address]
    assert live.parent is not None
    assert resource.parent is not None
    before, after = names.address(live.parent), resource.parent
    return Difference(field=live.parent[0], before=str(before), after=str(after), cause=cause)


def refused(names: Names, decided: Transfers) -> Iterator[Refusal]:
    """A refusal for what the platform would not give away, and what would go along and is to stay."""
    for identity, address in decided.given.items():
        yield from _displayed(names, identity, address)
        for live in decided.inside[identity]:
            stays = _stays(names, live.identity)
            if stays is None:
                yield from _displayed(names, live.identity, address)
                continue
            yield GOES_ALONG.at(address, stays=stays, owner=_owner(names, address))


def _stays(names: Names, identity: Identity) -> Address | None:
    """The entry that an object is where it lies now."""
    address = names.declared.get(identity)
    return address if address not in names.snapshot.transferred else None


def _displayed(names: Names, identity: Identity, address: Address) -> Iterator[Refusal]:
    for shown_in, title in names.snapshot.evidence.shown_in.get(identity, ()):
        where = names.declared.get(shown_in) or title
        yield SHOWN.at(address, where=where, what=names.address(identity))


def notes(names: Names, decided: Transfers) -> Iterator[Note]:
    """A note for what goes along and is declared nowhere, and for what is lost on the way."""
    for identity, address in decided.given.items():
        for live in decided.inside[identity]:
            given = names.declared.get(live.identity)
            if given is None:
                text = f"{names.address(live.identity)} is inside this object and is transferred, too"
                yield Note(address=str(address), text=text, consequence=True)
            elif given in names.snapshot.transferred:
                text = f"this object is inside {address} and is transferred, too"
                yield Note(address=str(given), text=text, consequence=True)
    for address in decided.calls:
        text = "GitBook removes all roles on this object, and dpsync sets the roles in your files again"
        yield Note(address=str(address), text=text, consequence=True)
