"""Names that may have gone round by hand: entries that only their names were found by.

When two collections exchange their titles, everything that lies in them seems to want to move, and when two
spaces do, every site seems to show the wrong one. Without a line of the ids file or an answer nobody can
tell that from things that were really exchanged. So it is asked, instead of dealing them out anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from dpsync.model.circles import circles
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Resource
from dpsync.model.entries.snapshot import LiveObject
from dpsync.model.entries.values import live_ids, references
from dpsync.model.findings.question import Refusal
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.questions.candidates import found_by_name
from dpsync.planner.questions.identity import candidate, it_is, said

BY_NAME = "it has its name"
BY_PLACE = "it is what is found where this one is named"


def exchanged(sides: Sides) -> Iterator[Refusal]:
    """A refusal for each entry of a ring: all that names one of them names the object of the next one now."""
    standing = _standing(sides)
    ring_of = {one: ring for ring in circles(standing, standing.get) for one in ring}
    for address in sorted(ring_of):
        if not all(sides.policy.ignored(one) for one in ring_of[address]):
            yield _refusal(sides, address, standing[address])


def _standing(sides: Sides) -> Mapping[Address, Address]:
    """By entry that was found by its name, the one whose object stands everywhere in its place."""
    found: dict[Address, set[Address | None]] = defaultdict(set)
    by_name = {
        address
        for address, entry in sides.resources.items()
        if sides.kind(entry).mistakable and found_by_name(sides, address) and sides.live(address) is not None
    }
    for address, entry in sides.resources.items() if by_name else ():
        live = sides.live(address)
        for field in sides.kind(entry).reference_fields if live is not None else ():
            wanted = references(entry.fields.get(field.name))
            if len(wanted) != 1 or wanted.isdisjoint(by_name) or _edited(sides, entry, field.name):
                continue
            assert live is not None
            found[next(iter(wanted))].add(_named(sides, live, field.name))
    only = {address: next(iter(now)) for address, now in found.items() if len(now) == 1}
    return {address: now for address, now in only.items() if now in by_name and now != address}


def _edited(sides: Sides, entry: Resource, name: str) -> bool:
    """Whether the git base has the field otherwise: then somebody wants what stands there to change."""
    before = sides.base.desired.resources.get(entry.address) if sides.base.desired is not None else None
    return before is not None and before.fields.get(name) != entry.fields[name]


def _named(sides: Sides, live: LiveObject, name: str) -> Address | None:
    """The entry whose object a field names now, where it names one thing."""
    ids = live_ids(live.fields.get(name))
    if len(ids) != 1:
        return None
    (id,) = ids
    kinds = sides.kind(live).field(name).type.refers
    known = (sides.names.declared.get(sides.names.named(live, kind, id)) for kind in kinds)
    return next((address for address in known if address is not None), None)


def _refusal(sides: Sides, address: Address, other: Address) -> Refusal:
    mine, theirs = sides.live(address), sides.live(other)
    assert mine is not None
    assert theirs is not None
    candidates = (candidate(sides, mine.identity, BY_NAME), candidate(sides, theirs.identity, BY_PLACE))
    return Refusal(
        code="exchanged",
        address=str(address),
        message=f"nothing but its name says that it is {mine.id}, and wherever the files name it is "
        f"{theirs.id}, which has the name of {other}: perhaps only their names were exchanged",
        way_out=f"{said(sides, address, mine.id)} if its name is right, or "
        f"{said(sides, address, theirs.id)} if its place is",
        candidates=candidates,
        answers=it_is(sides, address, candidates),
    )
