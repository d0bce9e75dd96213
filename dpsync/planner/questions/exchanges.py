"""Questions about names that were perhaps exchanged by hand between objects without lines in the ids file.

If two collections exchange their titles, everything in them seems to move, and if two spaces do, every site
seems to show the wrong one. Without a line or an answer nobody can tell that from a real exchange.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from dpsync.model.address import Address
from dpsync.model.cycles import circles
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Refusal
from dpsync.model.refusals import EXCHANGED
from dpsync.model.snapshot import LiveObject, MatchedBy, Snapshot
from dpsync.model.values import live_ids, references
from dpsync.planner.inputs.names import Names
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.questions.identity import answer_text, candidate, it_is

_DECLARED: Final = frozenset({MatchedBy.PIN, MatchedBy.PREVIOUSLY, MatchedBy.BASE, MatchedBy.EARLIER_COMMIT})
"""By these, the files or git say which object an entry is."""


def found_by_name(snapshot: Snapshot, address: Address) -> bool:
    """Return whether only its name says what an entry is: no line of the ids file, and no answer."""
    match = snapshot.matches.get(address)
    return match is not None and address not in snapshot.records.lines and match.by not in _DECLARED


def exchanged(sides: Sides) -> Iterator[Refusal]:
    """A refusal for each entry of a ring: all that names one of them names the object of the next one now."""
    standing = _standing(sides)
    ring_of = {one: ring for ring in circles(standing, standing.get) for one in ring}
    for address in sorted(ring_of):
        if not all(sides.policy.ignored(one) for one in ring_of[address]):
            yield _exchange(sides, address, standing[address])


def _standing(sides: Sides) -> Mapping[Address, Address]:
    """By entry that was found by its name, the one whose object stands everywhere in its place."""
    found: dict[Address, set[Address | None]] = defaultdict(set)
    by_name = {
        address
        for address, entry in sides.resources.items()
        if sides.kind(entry).mistakable
        and found_by_name(sides.snapshot, address)
        and sides.live(address) is not None
    }
    in_place: set[Address] = set()
    """What is named somewhere by what names it in the files: it is in no ring, wherever else it is named."""
    for address, entry in sides.resources.items() if by_name else ():
        live = sides.live(address)
        for field in sides.kind(entry).reference_fields if live is not None else ():
            wanted = references(entry.fields.get(field.name))
            if len(wanted) != 1 or wanted.isdisjoint(by_name) or not wanted.isdisjoint(in_place):
                continue
            if _edited(sides.names, entry, field.name):
                continue
            assert live is not None
            (named,) = wanted
            now = _named(sides.names, live, field.name)
            found[named].add(now)
            if now == named:
                in_place.add(named)
    only = {address: next(iter(now)) for address, now in found.items() if len(now) == 1}
    return {address: now for address, now in only.items() if now in by_name and now != address}


def _edited(names: Names, entry: Entry, name: str) -> bool:
    """Whether the git base has the field otherwise: then somebody wants what stands there to change."""
    before = names.base.desired.resources.get(entry.address) if names.base.desired is not None else None
    return before is not None and before.fields.get(name) != entry.fields[name]


def _named(names: Names, live: LiveObject, name: str) -> Address | None:
    """The entry whose object a field names now, where it names one thing."""
    ids = live_ids(live.fields.get(name))
    if len(ids) != 1:
        return None
    (id,) = ids
    kinds = names.kind(live).field(name).type.refers
    known = (names.declared.get(names.named(live, kind, id)) for kind in kinds)
    return next((address for address in known if address is not None), None)


def _exchange(sides: Sides, address: Address, other: Address) -> Refusal:
    mine, theirs = sides.live(address), sides.live(other)
    assert mine is not None
    assert theirs is not None
    candidates = (
        candidate(sides.names, mine.identity, "this object has the name of this entry"),
        candidate(sides.names, theirs.identity, "references to this entry lead to this object"),
    )
    return EXCHANGED.at(
        address,
        candidates,
        it_is(sides.names, address, candidates),
        id=mine.id,
        other_id=theirs.id,
        other=other,
        by_name=answer_text(sides.names, address, mine.id),
        by_place=answer_text(sides.names, address, theirs.id),
    )
