"""A navigation that changes its kind: from nodes that stand alone at the root to others, or back.

It is done only when somebody says so. Towards sections the platform itself decides what becomes of what is at
the root: so one section is made, the rest is planned anew from what is there then (`settling` recognises it).
Back again everything is deleted first, unseen, and the new root is built.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from dpsync.identity.alike import folded
from dpsync.kinds.base import Call, Field, Kind
from dpsync.kinds.base import Node as NodeShape
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Resource, Scope
from dpsync.model.plan import Note, Refusal
from dpsync.model.snapshot import Identity, LiveObject, Match, Snapshot
from dpsync.model.values import canonical, live_ids, references
from dpsync.planner.answers import RESTRUCTURE, Answer
from dpsync.planner.sides import Sides

BY_CONTENT = "what is in it"


@dataclass(frozen=True)
class Restructure:
    """One tree whose root changes its kind."""

    scope: Scope
    owner: LiveObject
    alone: bool
    """Whether the root will have nodes that stand alone."""

    @property
    def question(self) -> Answer:
        """What has to be confirmed."""
        return question(self.scope.parent)


def question(owner: Address) -> Answer:
    """What has to be confirmed before the tree of `owner` changes its kind."""
    return Answer(RESTRUCTURE, str(owner))


def restructures(sides: Sides) -> list[Restructure]:
    """Every tree that would change its kind, in the order of addresses."""
    found = []
    for address in sorted(sides.desired.scopes):
        scope = sides.desired.scopes[address]
        owner = sides.live(scope.parent)
        if sides.chosen is not None and not any(item.within(address) for item in sides.chosen):
            continue
        if owner is None or not any(stands_alone(sides.registry[name]) for name in scope.kinds):
            continue
        lane = sides.snapshot.lanes.get(owner.identity, ())
        live = {stands_alone(sides.registry[kind]) for kind, _ in lane}
        children = sides.desired.resources[scope.parent].children
        wanted = {stands_alone(sides.registry[sides.resources[child].kind]) for child in children}
        if live and wanted and live != wanted:
            found.append(Restructure(scope, owner, alone=True in wanted))
    return found


def confirmed(sides: Sides) -> list[Restructure]:
    """Those that somebody wants: in a run that deletes nothing, none that has to."""
    if not sides.answers.any(RESTRUCTURE):
        return []
    return [
        item
        for item in restructures(sides)
        if sides.answers.agree(item.question) and (sides.options.delete or not item.alone)
    ]


def leading_over(sides: Sides) -> dict[Address, Address]:
    """Entries that name a node of a navigation which goes, and are to name one of that built instead.

    They cannot be changed before the new node is there, and by then they went with the old one. With each
    comes the owner of the navigation.
    """
    found: dict[Address, Address] = {}
    for item in confirmed(sides):
        old = set(sides.snapshot.scopes[item.scope.address]) if item.alone else set()
        for address, resource in sides.resources.items() if old else ():
            live = sides.live(address)
            if live is None or address.within(item.scope.address) or sides.policy.ignored(address):
                continue
            for field in sides.kind(resource).fields:
                ids = live_ids(live.fields.get(field.name))
                named = {sides.names.named(live, kind, id) for kind in field.type.refers for id in ids}
                wanted = references(resource.fields.get(field.name))
                if named & old and any(other.within(item.scope.address) for other in wanted):
                    found[address] = item.scope.parent
    return found


def stands_alone(kind: Kind) -> bool:
    return isinstance(kind.shape, NodeShape) and kind.shape.alone


def refused(sides: Sides) -> Iterator[Refusal]:
    """What was not confirmed, and what would leave something hidden that was not declared to be seen."""
    agreed = {item.scope.address for item in confirmed(sides)}
    for item in restructures(sides):
        owner = item.scope.parent
        if item.scope.address not in agreed:
            now, then = ("sections", "spaces") if item.alone else ("spaces", "sections")
            yield Refusal(
                code="restructure",
                address=str(owner),
                message=f"its navigation has {now} at the root and would get {then}: every URL would change",
                way_out=f"if that is wanted: {item.question.flag}",
            )
        elif not item.alone and begins(sides, item, nodes_of(sides, item)) is None:
            yield Refusal(
                code="restructure",
                address=str(owner),
                message="nothing in its new navigation shows anything, so that it cannot begin",
                way_out="declare a section that shows a space",
            )
        elif item.alone:
            yield from _stays_seen(sides, item)


def _stays_seen(sides: Sides, item: Restructure) -> Iterator[Refusal]:
    """What was seen is hidden on the way, and only a declaration tells the next run what it was."""
    owner = item.scope.parent
    for field in shown_by(sides, item):
        if _can_hide(field) and field.name in sides.resources[owner].fields:
            continue
        way_out = f"declare {field.name}: what it shall be in the end"
        yield Refusal(
            code="restructure",
            address=str(owner),
            message=f"{field.name} is true, and has to be false while its navigation is built anew",
            way_out=way_out if _can_hide(field) else f"set {field.name} to false on the platform first",
        )


def shown_by(sides: Sides, item: Restructure) -> list[Field]:
    """The flags by which the owner is seen now."""
    kind = sides.kind(item.owner)
    return [
        field
        for field in kind.fields
        if field.exposure == (False, True) and item.owner.fields.get(field.name) is True
    ]


def _can_hide(field: Field) -> bool:
    return isinstance(field.via, Mapping) and {False, True} <= field.via.keys()


# Towards sections.


def nodes_of(sides: Sides, item: Restructure) -> list[Address]:
    """Every entry of the tree and what is below one."""
    return sorted(address for address in sides.resources if address.within(item.scope.address))


def begins(sides: Sides, item: Restructure, among: Iterable[Address]) -> Address | None:
    """The entry by which the tree begins: one that is made along with its child.

    It wants the least of what is at the root now, since that may become another entry of its kind. Nor has it
    a name that the platform may give to what it makes of the root: the two could not be told apart then.
    """
    lane = sides.snapshot.lanes.get(item.owner.identity, ())
    entries = [sides.resources[address] for address in among]
    able = [
        (_named_like(sides, entry, item.owner), _wants(sides, entry, lane), entry.address)
        for entry in entries
        if _with_child(sides, entry)
    ]
    return min(able)[2] if able else None


def _named_like(sides: Sides, entry: Resource, owner: LiveObject) -> bool:
    names = (entry.fields.get(name) for name in sides.kind(entry).identity_fields)
    return any(folded(name) == folded(sides.names.label(owner)) for name in names if isinstance(name, str))


def _with_child(sides: Sides, resource: Resource) -> bool:
    create = sides.kind(resource).create
    return isinstance(create, Call) and create.makes is not None and bool(resource.children)


def _wants(sides: Sides, entry: Resource, inside: Iterable[Identity]) -> int:
    """How much of what is live an entry would hold."""
    live = [sides.snapshot.objects[identity] for identity in inside]
    return sum(any(_is(sides, child, other) for other in live) for child in entry.children)


def settling(sides: Sides) -> tuple[dict[Address, str], list[Identity]]:
    """After the first section: what the platform made around the old root is the entry that wants it.

    Returns the ids that such entries have, and what nobody wants and was made by the platform, by its looks:
    it bears the title of its owner.
    """
    pins: dict[Address, str] = {}
    left: list[Identity] = []
    for address, scope in sorted(sides.desired.scopes.items()):
        if not sides.answers.gives(question(scope.parent)):
            continue
        owner = sides.live(scope.parent)
        if owner is None:
            continue
        if any(item.scope.address == address for item in restructures(sides)):
            continue
        for identity in sides.snapshot.lanes.get(owner.identity, ()):
            live = sides.snapshot.objects[identity]
            if identity in sides.names.declared or not sides.snapshot.lanes.get(identity):
                continue
            entry = _who_wants(sides, scope, live, set(pins))
            if entry is not None:
                pins[entry.address] = live.id
            elif sides.names.label(live) == sides.names.label(owner):
                left.append(identity)
        settled_by_now = any(
            match.by == BY_CONTENT and entry.within(address)
            for entry, match in sides.snapshot.matches.items()
        )
        if settled_by_now or pins or left:
            sides.answers.agree(question(scope.parent))
    return pins, left


def settled(desired: Desired, pins: Mapping[Address, str]) -> Desired:
    """The configuration with these entries pinned."""
    resources = {
        address: replace(item, pin=pins[address]) if address in pins else item
        for address, item in desired.resources.items()
    }
    return replace(desired, resources=resources)


def recognised(snapshot: Snapshot, pins: Mapping[Address, str]) -> Snapshot:
    """What they were recognised by: nobody has pinned them."""
    by = {address: Match(id, BY_CONTENT, first=False) for address, id in pins.items()}
    return replace(snapshot, matches={**snapshot.matches, **by})


def _who_wants(sides: Sides, scope: Scope, live: LiveObject, taken: set[Address]) -> Resource | None:
    """The new entry of the same kind that holds the most of what this object holds."""
    inside = sides.snapshot.lanes.get(live.identity, ())
    able = [
        (-_wants(sides, entry, inside), address)
        for address, entry in sides.resources.items()
        if entry.kind == live.kind and address.within(scope.address) and address not in taken
        if sides.live(address) is None and entry.pin is None
    ]
    number, best = min(able, default=(0, None))
    return sides.resources[best] if best is not None and number < 0 else None


def _is(sides: Sides, child: Address, live: LiveObject) -> bool:
    """Whether an entry names the same things as a live object of its kind."""
    entry = sides.resources[child]
    return entry.kind == live.kind and _shows(sides, entry) == _shows(sides, live)


def answered(sides: Sides) -> list[Address]:
    """The places and things whose deletion was agreed to with the answer, by name."""
    left = [sides.names.address(identity) for identity in settling(sides)[1]]
    return [*(item.scope.address for item in confirmed(sides)), *left]


# What people see of it.


def urls(sides: Sides) -> Iterator[Note]:
    """Every URL at which something of a tree that is rebuilt is seen now."""
    for item in confirmed(sides):
        for identity in sides.snapshot.scopes.get(item.scope.address, ()):
            live = sides.snapshot.objects[identity]
            if live.url:
                what = "goes" if item.alone else "changes"
                yield Note(address=str(sides.names.address(identity)), text=f"its URL {what}: {live.url}")


def remade(sides: Sides, gone: Callable[[Identity], bool]) -> Iterator[Note]:
    """Entries that were moved where the platform cannot move them: each is made anew in its new place.

    The git base tells that one was moved. Without a base it is told as a possibility, and only of an object
    that has all natural keys of the entry and lies in something that is declared.
    """
    kinds = {kind.name: nest for kind in sides.registry.ordered for nest in _fixed(kind)}
    strangers: dict[tuple[Identity, tuple[bytes, ...]], list[LiveObject]] = defaultdict(list)
    for identity, live in sides.snapshot.objects.items():
        if live.kind in kinds and identity not in sides.names.declared:
            strangers[_owner_of(sides, live), _shows(sides, live)].append(live)
    rebuilt = [item.scope.address for item in restructures(sides)] if strangers else []
    for address in sorted(sides.resources) if strangers else ():
        if any(address.within(tree) for tree in rebuilt):
            continue
        entry = sides.resources[address]
        fixed = kinds.get(entry.kind)
        if fixed is None or sides.live(address) is not None:
            continue
        owner = sides.live(_owner(sides, entry))
        for live in strangers.get((owner.identity, _shows(sides, entry)), ()) if owner else ():
            was = sides.names.address(live.identity)
            what = "goes" if gone(live.identity) else "stays"
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


def _owner(sides: Sides, entry: Resource) -> Address:
    """What the tree of an entry belongs to."""
    owner = sides.registry.tree_owner(sides.kind(entry))
    around = entry.parent
    while around is not None and sides.desired.resources[around].kind != owner:
        around = sides.desired.resources[around].parent
    assert around is not None
    return around


def _owner_of(sides: Sides, live: LiveObject) -> Identity:
    owner = sides.registry.tree_owner(sides.kind(live))
    return next(above for above in sides.snapshot.above(live) if above[0] == owner)


def _shows(sides: Sides, item: Resource | LiveObject) -> tuple[bytes, ...]:
    """What one names and cannot be without."""
    named = [field for field in sides.kind(item).fields if field.type.refers and field.required]
    return tuple(canonical(sides.values.normal(field, item.fields.get(field.name), item)) for field in named)
