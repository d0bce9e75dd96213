"""Which thing of a tree will have a flag of which there is always exactly one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dpsync.model.entries.address import Address
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.effects.tree import UNKNOWN, Branch
from dpsync.planner.inputs.lineage import PARENT


def with_flags(decided: Decisions, owner: Branch) -> Branch:
    """A tree with these flags as they will be."""
    names = {
        (item.name, item.one_per, one.kind.name)
        for one, _ in owner.walk()
        for item in one.kind.fields
        if item.one_per is not None
    }
    for name, place, kind in sorted(names):
        together: dict[Address, list[Branch]] = defaultdict(list)
        for one, above in owner.walk():
            if one.kind.name == kind:
                together[_around(one, above, place)].append(one)
        chosen = {
            one.address: value for found in together.values() for one, value in _chosen(decided, found, name)
        }
        owner = _with(owner, name, chosen)
    return owner


def _chosen(decided: Decisions, found: list[Branch], name: str) -> Iterator[tuple[Branch, Any]]:
    """Which of these has the flag. Where the platform chooses another one, nobody knows."""
    said = [one for one in found if _declares(decided, one, name)]
    has = [one for one in found if one.fields[name] is True]
    along = [one for one in found if one.address in decided.adopted]
    likely = next((some for some in (said, has, along, found) if some), [])
    for one in found:
        yield one, one is likely[0] if len(likely) == 1 else UNKNOWN


def _declares(decided: Decisions, one: Branch, name: str) -> bool:
    """Whether an entry says that it has a flag, and is heard."""
    sides = decided.sides
    resource = sides.resources.get(one.address)
    return (
        resource is not None
        and resource.fields.get(name) is True
        and one.address in decided.entries
        and not decided.blocking.noted(one.address, one.kind.field(name))
    )


def _around(one: Branch, above: tuple[Branch, ...], place: str) -> Address:
    """In what a flag of a thing is exclusive: its parent, or the nearest of a kind."""
    kinds = one.kind.parents if place == PARENT else (place,)
    return next(other.address for other in reversed(above) if other.kind.name in kinds)


def _with(branch: Branch, name: str, chosen: Mapping[Address, Any]) -> Branch:
    inside = tuple(_with(one, name, chosen) for one in branch.inside)
    fields = {**branch.fields, name: chosen[branch.address]} if branch.address in chosen else branch.fields
    return replace(branch, fields=fields, inside=inside)
