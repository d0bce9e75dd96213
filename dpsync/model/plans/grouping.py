"""A plan, or a drift, in two parts: what the files change since the git base, and what was there already.

Every output that tells them apart reads this. A change with fields of both parts stands in both, each time
with its own fields only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

from dpsync.model.plans.cause import TITLES, Cause, Group, group
from dpsync.model.plans.change import Change, Difference
from dpsync.model.plans.drift import Drift, Drifted, FieldDrift
from dpsync.model.plans.plan import Plan

Item = TypeVar("Item", Change, Drifted)

_PLANNED: Final[tuple[Group, ...]] = ("this change", "there already", "origin unknown")
_DRIFTED: Final[tuple[Group, ...]] = ("there already", "this change", "origin unknown")


class GroupedItems(Struct, Generic[Item], frozen=True):
    """One part: never empty. The items are in their order; each has its own steps and effects as a whole."""

    group: Group
    items: tuple[Item, ...]

    @property
    def title(self) -> str:
        return TITLES[self.group]


def parts(plan: Plan) -> tuple[GroupedItems[Change], ...]:
    """The changes of a plan: what this change does first. One part where nobody can tell."""
    if plan.changes and causes(plan) <= {"origin unknown"}:
        return (GroupedItems("origin unknown", plan.changes),)
    found = ((name, tuple(_changes(plan.changes, name))) for name in _PLANNED)
    return tuple(GroupedItems(name, items) for name, items in found if items)


def drifted_parts(drift: Drift) -> tuple[GroupedItems[Drifted], ...]:
    """What drift has found: what was there already first."""
    found = ((name, tuple(_drifted(drift.found, name))) for name in _DRIFTED)
    return tuple(GroupedItems(name, items) for name, items in found if items)


def _changes(changes: Iterable[Change], name: Group) -> Iterator[Change]:
    for change in changes:
        whole = change.action != "update"
        yield from _part_of(change, name, whole, change.differences, ("differences", "moved"))


def _drifted(found: Iterable[Drifted], name: Group) -> Iterator[Drifted]:
    for item in found:
        yield from _part_of(item, name, item.what != "different", item.fields, ("fields", "place"))


def _part_of(
    item: Item,
    name: Group,
    whole: bool,
    fields: Sequence[Difference | FieldDrift],
    called: tuple[str, str],
) -> Iterator[Item]:
    """What a part tells of an item, if anything.

    `whole`: it is told in one part, or in none. `called`: how its fields and its place are called in it.
    """
    own = group(item.cause) == name
    if whole:
        if own:
            yield item
        return
    here = tuple(one for one in fields if group(one.cause) == name)
    own = own and (item.cause is not None or not fields)
    if here or own:
        cleared = {} if own else {called[1]: None, "cause": None}
        yield item.model_copy(update={called[0]: here, **cleared})


def causes(plan: Plan) -> set[Cause]:
    """Every cause that a plan tells of."""
    return {cause for change in plan.changes for cause in change.causes}
