"""Entries that were moved where the platform cannot move them: what is told about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dpsync.kinds.kind import Field, Kind
from dpsync.model.entries.desired import Resource
from dpsync.model.entries.snapshot import Identity, LiveObject
from dpsync.model.entries.values import canonical
from dpsync.model.plans.remark import Note
from dpsync.planner.decide.deletions import Deletions
from dpsync.planner.decide.restructuring import Restructure, shows
from dpsync.planner.inputs.sides import Sides


def remade(sides: Sides, deletions: Deletions, changing: Iterable[Restructure]) -> Iterator[Note]:
    """Entries that were moved where the platform cannot move them: each is made anew in its new place.

    The git base tells that one was moved. Without a base it is told as a possibility, and only of an object
    that has all natural keys of the entry and lies in something that is declared.
    """
    kinds = {kind.name: nest for kind in sides.registry.ordered for nest in _fixed(kind)}
    strangers: dict[tuple[Identity, tuple[bytes, ...]], list[LiveObject]] = defaultdict(list)
    for identity, live in sides.snapshot.objects.items():
        if live.kind in kinds and identity not in sides.names.declared:
            strangers[_owner(sides, live), shows(sides, live)].append(live)
    rebuilt = [item.scope.address for item in changing]
    for address in sorted(sides.resources) if strangers else ():
        if any(address.is_in(tree) for tree in rebuilt):
            continue
        entry = sides.resources[address]
        fixed = kinds.get(entry.kind)
        if fixed is None or sides.live(address) is not None:
            continue
        around = sides.lineage.ancestor(entry, sides.registry.tree_owner(sides.kind(entry)))
        owner = sides.live(around) if around is not None else None
        for live in strangers.get((owner.identity, shows(sides, entry)), ()) if owner else ():
            was = sides.names.address(live.identity)
            what = "goes" if deletions.covers(live.identity) else "stays"
            url = f"; its URL: {live.url}" if live.url else ""
            if live.identity in sides.names.earlier_addresses:
                text = f"it cannot change its {fixed.name}: it is made anew, and {was} {what}{url}"
            elif _could_be(sides, entry, live):
                text = f"if it is {was}, moved: it cannot change its {fixed.name} and is made anew; "
                text += f"{was} {what}{url}"
            else:
                continue
            yield Note(address=str(address), text=text)


def _could_be(sides: Sides, entry: Resource, live: LiveObject) -> bool:
    """Whether nothing but its place tells a live object from an entry, as far as is known without a base."""
    around = [item for item in (live.holder, live.parent) if item is not None]
    names = sides.kind(entry).identity_fields
    return (
        sides.base.desired is None
        and all(item in sides.names.declared for item in around)
        and all(name in entry.fields for name in names)
        and all(
            canonical(entry.fields[name])
            == canonical(sides.values.normal(sides.kind(entry).field(name), live.fields.get(name), live))
            for name in names
        )
    )


def _fixed(kind: Kind) -> tuple[Field, ...]:
    """The field that says what one is in, where that never changes."""
    return tuple(item for item in kind.fields if item.nest and item.on == "create" and item.via is None)


def _owner(sides: Sides, live: LiveObject) -> Identity:
    """What the tree of a node belongs to."""
    owner = sides.lineage.live_ancestor(live, sides.registry.tree_owner(sides.kind(live)))
    assert owner is not None
    return owner
