"""A plan, or a drift, in two parts: what the files change since the git base, and what was there already.

Every output that tells them apart reads this. A change with fields of both parts stands in both, each time
with its own fields only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from dpsync.model.cause import TITLES, Cause, Group, group
from dpsync.model.change import Change
from dpsync.model.drift import Drift, Drifted
from dpsync.model.plan import Plan

Item = TypeVar("Item", Change, Drifted)

_PLANNED: Final[tuple[Group, ...]] = ("this change", "there already", "origin unknown")
_DRIFTED: Final[tuple[Group, ...]] = ("there already", "this change", "origin unknown")


@dataclass(frozen=True)
class Part(Generic[Item]):
    """One part: never empty. The items are in their order; each has its own steps and effects as a whole."""

    group: Group
    items: tuple[Item, ...]

    @property
    def title(self) -> str:
        return TITLES[self.group]


def parts(plan: Plan) -> tuple[Part[Change], ...]:
    """The changes of a plan: what this change does first. One part where nobody can tell."""
    if plan.changes and causes(plan) <= {"origin unknown"}:
        return (Part("origin unknown", plan.changes),)
    found = ((name, tuple(_changes(plan.changes, name))) for name in _PLANNED)
    return tuple(Part(name, items) for name, items in found if items)


def drifted_parts(drift: Drift) -> tuple[Part[Drifted], ...]:
    """What drift has found: what was there already first."""
    found = ((name, tuple(_drifted(drift.found, name))) for name in _DRIFTED)
    return tuple(Part(name, items) for name, items in found if items)


def _changes(changes: Iterable[Change], name: Group) -> Iterable[Change]:
    for change in changes:
        if change.action != "update":
            if group(change.cause) == name:
                yield change
            continue
        here = tuple(item for item in change.differences if group(item.cause) == name)
        own = group(change.cause) == name and (change.cause is not None or not change.differences)
        if here or own:
            moved, cause = (change.moved, change.cause) if own else (None, None)
            yield change.model_copy(update={"differences": here, "moved": moved, "cause": cause})


def _drifted(found: Iterable[Drifted], name: Group) -> Iterable[Drifted]:
    for item in found:
        if item.what != "different":
            if group(item.cause) == name:
                yield item
            continue
        here = tuple(part for part in item.fields if group(part.cause) == name)
        own = item.cause is not None and group(item.cause) == name
        if here or own:
            place, cause = (item.place, item.cause) if own else (None, None)
            yield item.model_copy(update={"fields": here, "place": place, "cause": cause})


def causes(plan: Plan) -> set[Cause]:
    """Every cause that a plan tells of."""
    return {cause for change in plan.changes for cause in change.causes}
