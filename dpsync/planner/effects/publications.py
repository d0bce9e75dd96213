"""Content that comes onto a published site: at a new place, or at one that showed something else.

Only what is live has content. Where a field lets more people see a place, or what it is in, that field is
told (exposures.py). Here are the places of which no field tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from dpsync.kinds.kind import Field, Kind, Lifted
from dpsync.kinds.types import Flag
from dpsync.model.address import Address
from dpsync.model.change import Exposure
from dpsync.model.values import LiveId, Ref
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.effects.navigation import shows, title
from dpsync.planner.effects.outcome import current
from dpsync.planner.effects.tree import UNKNOWN, Branch, NavigationTree

Chain = tuple[Branch, ...]
"""A place with what it is in, from the outermost inward."""


def published(
    decided: Decisions, trees: Iterable[NavigationTree], exposures: Iterable[Exposure]
) -> Iterator[Exposure]:
    """Places that publish content which nobody could read as openly before. `exposures`: fields that do."""
    opened = {(item.location, item.field) for item in exposures}
    before: list[tuple[Any, _Openness]] | None = None
    for tree in trees:
        if tree.after is None:
            continue
        was = {one.address: (*above, one) for one, above in tree.before.walk()} if tree.before else {}
        for one, above in tree.after.walk():
            content = _content(decided, one)
            now = _openness((*above, one)) if content is not None else None
            if now is None or _opened(was.get(one.address), (*above, one), opened):
                continue
            if before is None:
                before = list(_places(decided))
            if not any(value == content and openness.covers(now) for value, openness in before):
                yield _exposure(decided, one)


class _Openness(Struct, frozen=True):
    """To how many people a place is open: how far its owner is, and what they have to fulfil."""

    ranks: tuple[int, ...]
    conditions: frozenset[Any]

    def covers(self, other: _Openness) -> bool:
        """Whether everybody who gets to the other one gets here, too."""
        higher = all(mine >= its for mine, its in zip(self.ranks, other.ranks, strict=True))
        return higher and self.conditions <= other.conditions


def _openness(chain: Chain) -> _Openness | None:
    """None where nobody sees it, whoever they are."""
    if any(_closed(one, name) for one in chain for name in one.kind.visible_when):
        return None
    owner, *nodes = chain
    ranks = tuple(_rank(item, owner.fields.get(item.name)) for item in owner.kind.fields if _graded(item))
    binding = (one.fields.get(item.name) for one in nodes for item in one.kind.fields if _binds(item))
    return _Openness(ranks, frozenset(value for value in binding if value not in (None, UNKNOWN)))


def _closed(one: Branch, name: str) -> bool:
    field, value = one.kind.field(name), one.fields.get(name)
    return isinstance(field.type, Flag) and value is not UNKNOWN and value not in one.kind.visible_when[name]


def _graded(field: Field) -> bool:
    return isinstance(field.exposure, tuple) and bool(field.exposure) and not isinstance(field.type, Flag)


def _rank(field: Field, value: Any) -> int:
    scale = field.exposure if isinstance(field.exposure, tuple) else ()
    return scale.index(value) if value in scale else len(scale)


def _binds(field: Field) -> bool:
    return isinstance(field.exposes, Lifted)


def _opened(was: Chain | None, chain: Chain, opened: set[tuple[Address, str]]) -> bool:
    """Whether a place that showed the same before has become visible by a field, which is told."""
    if was is None or _shows(was[-1]) != _shows(chain[-1]):
        return False
    names = ((one, item) for one in chain for item in one.kind.fields)
    return any((one.address, item.name) in opened for one, item in names if _opens(one.kind, item))


def _opens(kind: Kind, field: Field) -> bool:
    return field.name in kind.visible_when or bool(field.exposure) or _binds(field)


# What a place shows.


def _shows(one: Branch) -> Any:
    field = shows(one.kind) if one.kind.visible_when else None
    return one.fields.get(field.name) if field is not None else None


def _content(decided: Decisions, one: Branch) -> Ref | LiveId | None:
    """What it shows that is live."""
    value = _shows(one)
    if isinstance(value, Ref):
        return value if decided.sides.live(value.address) is not None else None
    return value if isinstance(value, LiveId) else None


def _places(decided: Decisions) -> Iterator[tuple[Any, _Openness]]:
    """Whatever is shown now, with how openly."""
    for branch in current(decided):
        for one, above in branch.walk():
            openness = _openness((*above, one)) if _shows(one) is not None else None
            if openness is not None:
                yield _shows(one), openness


def _exposure(decided: Decisions, one: Branch) -> Exposure:
    sides, field = decided.sides, shows(one.kind)
    item = sides.resources.get(one.address) or sides.snapshot.objects.get(one.identity or ("", ""))
    assert field is not None
    assert item is not None
    return Exposure(
        address=str(one.address),
        field=field.name,
        after=sides.values.display(field, one.fields[field.name], item),
        words=f'publishes the {field.name} "{title(decided, one, then=True)}"',
    )
