"""The navigation of a site before and after a plan, as its readers see it: titles, marks, order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.types import Flag
from dpsync.model.address import Address
from dpsync.model.change import NavigationChange, NavigationNode
from dpsync.model.values import LiveId, Ref
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.effects.tree import Branch, NavigationTree


def navigation_changes(decided: Decisions, trees: Iterable[NavigationTree]) -> Iterator[NavigationChange]:
    """Of every owner whose navigation changes, by address. What was not read is not told."""
    for tree in trees:
        if not tree.read:
            continue
        before = _nodes(decided, tree.before, then=False)
        after = _nodes(decided, tree.after, then=True, twice=_twice(tree)) if tree.certain else ()
        if before != after:
            yield NavigationChange(
                address=str(tree.owner), before=before, after=after, known=tree.certain or tree.after is None
            )


Twice = Mapping[Address, tuple[str, ...]]
"""By node: where else in its navigation the same is shown afterwards."""


def _twice(tree: NavigationTree) -> Twice:
    """What comes to a place, and stays at another one as well: both places."""
    was = {one.address for one, _ in tree.before.walk()} if tree.before is not None else set()
    places: dict[Any, list[Address]] = defaultdict(list)
    for one, _ in tree.after.walk() if tree.after is not None else ():
        content = shows(one.kind)
        value = one.fields.get(content.name) if content is not None else None
        if isinstance(value, Ref | LiveId):
            places[value].append(one.address)
    return {
        address: tuple(str(other) for other in found if other != address)
        for found in places.values()
        if len(found) > 1 and any(one in was for one in found) and any(one not in was for one in found)
        for address in found
    }


def _nodes(
    decided: Decisions, around: Branch | None, then: bool, twice: Twice = MappingProxyType({})
) -> tuple[NavigationNode, ...]:
    inside = around.inside if around is not None else ()
    return tuple(_node(decided, one, then, twice) for one in inside)


def _node(decided: Decisions, one: Branch, then: bool, twice: Twice) -> NavigationNode:
    flags = [item.name for item in one.kind.fields if isinstance(item.type, Flag)]
    return NavigationNode(
        address=str(one.address),
        kind=one.kind.name,
        title=title(decided, one, then),
        path=_path(one),
        marks=tuple(name for name in flags if one.fields.get(name) is True),
        inside=_nodes(decided, one, then, twice),
        also=twice.get(one.address, ()),
    )


def _path(one: Branch) -> str | None:
    """Its segment in a URL, or where it leads."""
    names = [item.name for item in one.kind.fields if getattr(item.type, "form", None) == "url"]
    name = one.kind.url.part if one.kind.url is not None else next(iter(names), "")
    value = one.fields.get(name)
    return value if isinstance(value, str) else None


def shows(kind: Kind) -> Field | None:
    """The field that says what a node shows."""
    return next((item for item in kind.fields if item.required and item.type.refers), None)


def title(decided: Decisions, one: Branch, then: bool) -> str:
    """The title of a node: that of what it shows, else its own."""
    content = shows(one.kind)
    value = one.fields.get(content.name if content is not None else one.kind.title)
    if content is not None:
        value = _label(decided, content, value, then)
    return value if isinstance(value, str) else ""


def _label(decided: Decisions, field: Field, value: Any, then: bool) -> str:
    """What people call the thing that a node shows."""
    sides = decided.sides
    if isinstance(value, Ref):
        return _label_of(decided, value.address, then)
    if isinstance(value, LiveId):
        objects = (sides.snapshot.objects.get((kind, value.id)) for kind in field.type.refers)
        return next((sides.names.label(live) for live in objects if live is not None), value.id)
    return ""


def _label_of(decided: Decisions, address: Address, then: bool) -> str:
    sides = decided.sides
    live, resource = sides.live(address), sides.resources.get(address)
    if resource is not None and (live is None or (then and _retitled(decided, address))):
        return sides.names.label(resource)
    return sides.names.label(live) if live is not None else address.last


def _retitled(decided: Decisions, address: Address) -> bool:
    """Whether a plan gives an object its title."""
    entry = decided.entries.get(address)
    title = decided.sides.kind(entry.resource).title if entry is not None else ""
    return entry is not None and any(item.field.name == title for item in entry.written)
