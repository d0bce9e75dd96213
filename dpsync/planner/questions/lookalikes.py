"""New entries that look like something live which nobody declares: perhaps a rename that nobody spelled out.

It is only ever proposed, with the line to add; so is what would take the place of something live, under
another name altogether, and what lost its entry while the new one came. About content it is asked
(planner/questions/identity.py).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dpsync.identity import likeness
from dpsync.identity.natural_keys import NaturalKeys
from dpsync.kinds.kind import Kind
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Resource
from dpsync.model.entries.snapshot import Identity, LiveObject
from dpsync.model.entries.values import LiveId, Ref
from dpsync.model.plans.remark import Note
from dpsync.planner.decide.blocks import Blocking
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.questions.removed import removed

MOST: Final = 250_000
"""Pairs of one place, with the same numbers in their names, that are held against each other.

Beyond, only names that fold to the same are.
"""
SHOWN: Final = 3


@dataclass(frozen=True)
class Lookalike:
    """A new entry and the live objects that look like it, the most alike first."""

    resource: Resource
    kind: Kind
    live: tuple[LiveObject, ...]
    why: Literal["looks", "place", "removed"] = "looks"
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
                found.append(Lookalike(resource, kind, named, "place"))
            elif left:
                found.append(Lookalike(resource, kind, left, "removed"))
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


def _created(sides: Sides, blocking: Blocking) -> dict[tuple[str, Identity], list[Resource]]:
    """Entries that would be made below something live, and that are not said to be new."""
    found: dict[tuple[str, Identity], list[Resource]] = defaultdict(list)
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
    "looks": "it looks like {}, which nobody declares; if it is that one",
    "place": "it takes the place of {}, which nobody declares; if it is that one, renamed",
    "removed": "perhaps renamed: the entry of {} was removed; if it is that one",
}
