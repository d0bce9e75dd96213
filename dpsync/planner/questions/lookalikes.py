"""New entries that look like something live which nobody declares: perhaps a rename that nobody spelled out.

It is only ever proposed, with the line to add; so is what would take the place of something live, under
another name altogether, and what lost its entry while the new one came. About content it is asked
(planner/questions/identity.py).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final

from msgspec import Struct

from dpsync.identity import likeness
from dpsync.identity.natural_keys import NaturalKeys
from dpsync.kinds.kind import Kind
from dpsync.kinds.places import Places
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Entry
from dpsync.model.entries.snapshot import Identity, LiveObject
from dpsync.model.entries.values import LiveId, Ref
from dpsync.model.plans.remark import Note
from dpsync.planner.decide.blocks import Blocking
from dpsync.planner.inputs.sides import Sides

MOST: Final = 250_000
"""Pairs of one place, with the same numbers in their names, that are held against each other.

Beyond, only names that fold to the same are.
"""
SHOWN: Final = 3


class Reason(Enum):
    """Why an entry could be an object that nobody claims. Rules compare these; the texts are for people."""

    LOOKS = "it looks like it"
    PLACE = "it is what is shown there now"
    REMOVED = "its entry was removed"
    NAME_TAKEN = "its entry was removed, and {} has its name"
    """Another entry, whose address stands in the text, was recognised by the name of a removed one."""
    OTHERS = ""
    """Others of its place are open, and so it could be any of what is there."""
    GOING = "it would be deleted in the same plan"
    UNSEEN_PAST = "it has no line, and the commit that would tell what was there before is not in this clone"
    BASE_LINE = "the ids file of the git base says so"
    NO_LINES = "the git base has this entry, and no line says which one it was"
    """Not where the base is HEAD: a project that was only just written looks the same there."""
    EARLIER_NAME = (
        "an earlier commit has this entry with the name of the object, and the ids file has no line for it"
    )
    NAME = "it has its name"
    NAMED = "it is what is found where this one is named"

    @property
    def weak(self) -> bool:
        """Whether it says that an entry could be any of several, and nothing about one of them."""
        return self in (Reason.OTHERS, Reason.GOING, Reason.UNSEEN_PAST)


class Lookalike(Struct, frozen=True):
    """A new entry and the live objects that look like it, the most alike first."""

    resource: Entry
    kind: Kind
    live: tuple[LiveObject, ...]
    why: Reason = Reason.LOOKS
    """They look like it, they only stand where it is to stand, or their entry was removed beside it."""

    def named(self) -> str:
        """The objects for people, by title and id."""
        named = [f'"{_title(self.kind, item)}" ({item.id})' for item in self.live[:SHOWN]]
        more = f" and {len(self.live) - SHOWN} more" if len(self.live) > SHOWN else ""
        return " or ".join(named) + more

    def line(self) -> str:
        """What to write when the entry is the first of them."""
        return previous_name(self.kind, self.live)


def previous_name(kind: Kind, live: Sequence[LiveObject]) -> str:
    """What to write into an entry that is the first of these: its name, or its id where others share that."""
    first, key = live[0], kind.identity[0]
    name = first.fields.get(key) if isinstance(key, str) else None
    same = [item for item in live if isinstance(key, str) and item.fields.get(key) == name]
    if isinstance(name, str) and len(same) == 1:
        return f"previously: {json.dumps(name, ensure_ascii=False)}"
    return f"id: {first.id}"


def lookalikes(sides: Sides, blocking: Blocking) -> list[Lookalike]:
    """Every new entry with a look-alike, in the order of addresses."""
    unclaimed: dict[tuple[str, Identity | None], list[LiveObject]] = defaultdict(list)
    inside: dict[Identity, list[LiveObject]] = defaultdict(list)
    for identity, item in sides.snapshot.objects.items():
        if identity not in sides.names.declared:
            unclaimed[item.kind, item.parent].append(item)
        if item.holder is not None:
            inside[item.holder].append(item)
    if not unclaimed:
        return []
    created = _created(sides, blocking)
    found: list[Lookalike] = []
    light = (items for (name, _), items in created.items() if not sides.registry[name].mistakable)
    places = _places(sides, {item.address for items in light for item in items})
    without_entry = removed(sides)
    for (name, parent), resources in created.items():
        candidates = unclaimed.get((name, parent), [])
        kind = sides.registry[name]
        view = NaturalKeys(
            kind, sides.snapshot.bound, sides.lineage.first_child, lambda item: inside[item.identity]
        )
        like = likeness.narrowed(kind, resources, candidates, MOST)
        standing_at = {item.identity: number for number, item in enumerate(candidates)}
        left = () if kind.mistakable else tuple(item for item in candidates if item.identity in without_entry)
        for resource in resources if candidates else ():
            live = likeness.lookalikes(view, resource, like(resource))
            if live:
                found.append(Lookalike(resource, kind, tuple(live)))
            elif standing := sorted(
                places.get(resource.address, set()) & standing_at.keys(), key=standing_at.__getitem__
            ):
                named = tuple(sides.snapshot.objects[identity] for identity in standing)
                found.append(Lookalike(resource, kind, named, Reason.PLACE))
            elif left:
                found.append(Lookalike(resource, kind, left, Reason.REMOVED))
    return sorted(found, key=lambda one: one.resource.address)


def _places(sides: Sides, new: set[Address]) -> dict[Address, set[Identity]]:
    """By new entry, what live things now name where they are to name it."""
    found: dict[Address, set[Identity]] = defaultdict(set)
    for address, resource in sides.resources.items():
        live = sides.live(address)
        for name, value in resource.fields.items() if live is not None else ():
            if isinstance(value, Ref) and value.address in new and live is not None:
                now = live.fields.get(name)
                kinds = sides.kind(live).field(name).type.refers
                if isinstance(now, LiveId):
                    found[value.address] |= {sides.names.named(live, kind, now.id) for kind in kinds}
    return found


def _created(sides: Sides, blocking: Blocking) -> dict[tuple[str, Identity], list[Entry]]:
    """Entries that would be made below something live, and that are not said to be new."""
    found: dict[tuple[str, Identity], list[Entry]] = defaultdict(list)
    for address, resource in sides.resources.items():
        kind = sides.kind(resource)
        if not kind.can_be_renamed or resource.new or resource.parent is None:
            continue
        owner = sides.live(resource.parent)
        new = (
            sides.live(address) is None and not sides.policy.ignored(address) and not blocking.entry(address)
        )
        if new and owner is not None:
            found[kind.name, owner.identity].append(resource)
    return found


def _title(kind: Kind, item: LiveObject) -> str:
    value = item.fields.get(kind.title)
    return value if isinstance(value, str) else item.id


def proposals(found: list[Lookalike]) -> Iterator[Note]:
    """Notes about what is no content; about the rest it is asked (planner/questions/identity.py)."""
    for one in found:
        if one.kind.mistakable:
            continue
        text = f"{_WHY[one.why].format(one.named())}, add {one.line()}"
        yield Note(address=str(one.resource.address), text=text)


_WHY: Final = {
    Reason.LOOKS: "it looks like {}, which nobody declares; if it is that one",
    Reason.PLACE: "it takes the place of {}, which nobody declares; if it is that one, renamed",
    Reason.REMOVED: "perhaps renamed: the entry of {} was removed; if it is that one",
}


def removed(sides: Sides) -> set[Identity]:
    """The objects of entries that were removed; another entry may be one of them now."""
    records, known = sides.snapshot.records, sides.desired.resources.keys() | sides.desired.unserved.keys()
    lines = [
        (address, line.id)
        for lines in (records.lines, records.earlier)
        for address, line in lines.items()
        if address not in known
    ]
    places = Places(sides.registry)
    named = {(kind.name, id) for address, id in lines for kind in places.kinds(address)}
    found = {identity for identity in sides.snapshot.objects if identity in named}
    return found | {identity for address, identity in sides.names.remembered.items() if address not in known}
