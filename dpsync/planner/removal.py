"""What goes: undeclared things where `prune` covers their place, what goes along; and what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dpsync.kinds.base import Call, Field
from dpsync.model.address import Address
from dpsync.model.plan import Effect, Kept
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, live_ids
from dpsync.planner.context import Context
from dpsync.planner.restructuring import confirmed, settling


@dataclass
class Removal:
    """`roots` get a delete of their own; `riders` go with a root and are its effects."""

    roots: dict[Identity, LiveObject] = field(default_factory=dict)
    riders: dict[Identity, Identity] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)

    def gone(self, identity: Identity) -> bool:
        return identity in self.roots or identity in self.riders

    def with_riders(self, root: Identity) -> list[Identity]:
        return [root, *(rider for rider, goes_with in self.riders.items() if goes_with == root)]


def removal(context: Context) -> Removal:
    """Decide for every undeclared object in a declared place; parents come before their children."""
    found = Removal()
    objects = context.snapshot.objects
    rebuilt = {item.scope.address: item.alone for item in confirmed(context)}
    left_over = set(settling(context)[1]) if context.options.delete else set()
    for address in sorted(context.snapshot.scopes):
        if rebuilt.get(address) is False:
            continue  # what becomes of it is seen when the first section is there
        strangers = [
            identity
            for identity in context.snapshot.scopes[address]
            if identity not in context.declared
            and not context.ignored(context.address(identity))
            and not context.forgotten(identity)
        ]
        if not strangers:
            continue
        if not ((context.desired.pruned(address) or address in rebuilt) and context.options.delete):
            going = [item for item in strangers if {item, objects[item].parent} & left_over]
            names = tuple(sorted(str(context.address(item)) for item in strangers if item not in going))
            if names:
                found.kept.append(Kept(place=str(address), addresses=names))
            strangers = going
        for identity in strangers:
            live = objects[identity]
            parent = live.parent
            if not isinstance(context.kind(live).delete, Call):
                continue
            if parent is not None and found.gone(parent) and context.registry[parent[0]].on_delete == "gone":
                found.riders[identity] = found.riders.get(parent, parent)
            else:
                found.roots[identity] = live
    _go_along(context, found)
    return found


def _go_along(context: Context, found: Removal) -> None:
    """Objects below a root that were read only as evidence: they go with it."""
    grown = True
    while grown:
        grown = False
        for live in context.snapshot.objects.values():
            parent = live.parent
            if parent is None or found.gone(live.identity) or not found.gone(parent):
                continue
            if context.registry[parent[0]].on_delete == "gone":
                found.riders[live.identity] = found.riders.get(parent, parent)
                grown = True


def effects(context: Context, going: Removal, root: Identity) -> tuple[Effect, ...]:
    """What goes or changes along with one delete."""
    found: dict[str, Effect] = {}
    for rider in going.with_riders(root)[1:]:
        address = str(context.address(rider))
        found[address] = Effect(address=address, what="goes with it")
    for doomed in going.with_riders(root):
        for live, name, whole in losses(context, going, doomed):
            address = str(context.address(live.identity))
            if whole:
                found.setdefault(address, Effect(address=address, what="shows it and goes with it"))
            else:
                what = f"names it as {name} and loses it"
                found.setdefault(f"{address}#{name}", Effect(address=f"{address}#{name}", what=what))
    for identity, title in context.snapshot.evidence.shown_in.get(root, ()):
        known = any(_tree_read(context, identity, address) for address in context.snapshot.scopes)
        if not known and not going.gone(identity):
            name = str(context.declared.get(identity) or f"[{title}~{identity[1]}]")
            found[name] = Effect(address=name, what="shows it and loses that place")
    return tuple(found[key] for key in sorted(found))


def _tree_read(context: Context, owner: Identity, scope: Address) -> bool:
    """Whether this scope is the tree of that owner: then its nodes are known one by one."""
    declared = context.desired.scopes[scope]
    return context.snapshot.bound(declared.parent) == owner[1] and len(declared.kinds) > 1


def losses(context: Context, going: Removal, doomed: Identity) -> Iterator[tuple[LiveObject, str, bool]]:
    """Kept objects that still name a doomed one in a field this plan does not write.

    With each comes the field's name, and whether the object goes as a whole.
    """
    for live in context.snapshot.objects.values():
        if going.gone(live.identity) or live.identity == doomed:
            continue
        kind = context.kind(live)
        address = context.declared.get(live.identity)
        written = context.resources[address].fields if address in context.resources else {}
        for item in kind.fields:
            named = live_ids(live.fields.get(item.name)) if doomed[0] in item.type.refers else set()
            if not any(context.named(live, doomed[0], id) == doomed for id in named):
                continue
            whole = item.required or item.name == kind.natural
            if item.name not in written and not is_place(item):
                yield live, item.name, whole


def is_place(item: Field) -> bool:
    """Whether the field says what the object is in (a collection, a group)."""
    return item.nest or (item.via is not None and bool(item.type.refers) and item.one_per is None)


def inside(context: Context, going: Removal, doomed: Identity) -> list[LiveObject]:
    """What would still be in a doomed holder when its turn to go comes: neither moved out nor deleted."""
    left = []
    for kind, item in context.registry.referring(doomed[0]):
        for live in context.snapshot.objects.values():
            if live.kind != kind.name or live.fields.get(item.name) != LiveId(doomed[1]):
                continue
            address = context.declared.get(live.identity)
            moved = address in context.resources and item.name in context.resources[address].fields
            if not moved and not going.gone(live.identity):
                left.append(live)
    return left
