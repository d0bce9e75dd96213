"""Decide which objects are deleted, with the objects deleted together with them.

`deletions` decides for every undeclared object: delete it where `prune` covers its place, otherwise keep it.
`cascade` finds what the platform deletes along with some objects. It applies three rules until they find
nothing more: an object below a deleted object is deleted; an object that cannot exist without the object that
it refers to is deleted (a membership without its member); a node that must have children is deleted with its
last child.

Another field that refers to a deleted object only loses its value. Objects and fields that the plan itself
deletes or writes are not part of the cascade. Both functions are pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.model.address import Address
from dpsync.model.change import Blocked, Effect, Kept
from dpsync.model.plan import DeleteCount
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Value, live_ids
from dpsync.planner.history import Names, is_place
from dpsync.planner.restructuring import Restructuring
from dpsync.planner.sides import Sides

INSIDE, NAMES, EMPTY = (
    "is also deleted",
    "refers to the deleted object and is also deleted",
    "would be empty and is also deleted",
)
"""Why an object is deleted along: it is inside another one, refers to it, or loses its last child."""
_REASONS = (INSIDE, NAMES, EMPTY)
"""The reasons by priority: if several apply, the first one is shown."""

Lost = tuple[Identity, str]
"""An object and the name of its field that loses its value; "" if the object itself is deleted."""


class Cascade(Struct, frozen=True, dict=True):
    """The objects and values lost with the deletes of `roots`. `causes`: by loss the roots behind it."""

    roots: frozenset[Identity]
    objects: Mapping[Identity, str] = field(default_factory=dict)
    """By object that is deleted along: one of the three reasons above."""
    losses: tuple[Lost, ...] = ()
    """Fields of kept objects that refer to a deleted object."""
    causes: Mapping[Lost, frozenset[Identity]] = field(default_factory=dict)
    also: Mapping[Identity, frozenset[Identity]] = field(default_factory=dict)
    """By root that would be deleted along with other roots anyway: those other roots."""
    left_inside: Mapping[Identity, tuple[LiveObject, ...]] = field(default_factory=dict)
    """By deleted holder whose contents move out of it: the kept objects that are still inside."""

    def covers(self, identity: Identity) -> bool:
        """Return whether an object is deleted."""
        return identity in self.roots or identity in self.objects

    @property
    def lost(self) -> list[Lost]:
        """Return everything that is lost along with the roots: objects and values."""
        return [*((identity, "") for identity in self.objects), *self.losses]

    @cached_property
    def by_root(self) -> dict[Identity, list[Lost]]:
        """Return each loss once, under the first of its roots."""
        found: dict[Identity, list[Lost]] = defaultdict(list)
        for lost in self.lost:
            found[min(self.causes[lost])].append(lost)
        return found


def cascade(
    names: Names,
    roots: Collection[Identity],
    written: Callable[[LiveObject, Field], bool],
    arrives: Callable[[LiveObject], bool],
) -> Cascade:
    """Find everything that is lost along with some deletes.

    Args:
        names: The live objects and their references.
        roots: The objects with a delete of their own.
        written: Returns whether a field will have another value before the deletes.
        arrives: Returns whether a node will have a new child before the deletes.
    """
    return _Spread(names, frozenset(roots), written, arrives).cascade() if roots else Cascade(frozenset())


class _Spread:
    """Apply the rules of a cascade until they find nothing more."""

    def __init__(
        self,
        names: Names,
        roots: frozenset[Identity],
        written: Callable[[LiveObject, Field], bool],
        arrives: Callable[[LiveObject], bool],
    ) -> None:
        self.names, self.roots, self.written, self.arrives = names, roots, written, arrives
        self.objects: dict[Identity, str] = {}
        self.losses: set[Lost] = set()
        self.causes: dict[Lost, frozenset[Identity]] = {}
        self.also: dict[Identity, frozenset[Identity]] = {}
        self.below: dict[Identity, list[LiveObject]] = defaultdict(list)
        self.naming: dict[Identity, list[tuple[LiveObject, Field]]] = defaultdict(list)
        for live in names.snapshot.objects.values():
            if live.parent is not None:
                self.below[live.parent].append(live)
            for item in names.registry[live.kind].reference_fields:
                for target in self._targets(live, item):
                    self.naming[target].append((live, item))
        self.waiting = sorted(roots)
        self.because: dict[Identity, frozenset[Identity]] = {root: frozenset({root}) for root in roots}
        self.unemptied = dict(self.because)
        """Like `because`, without causes that only emptied a node: these do not spread to its children."""
        self.staying: dict[Identity, int] = {}
        """By node that must have children: the number of its kept children, as far as is known so far."""

    def _targets(self, live: LiveObject, item: Field) -> Iterable[Identity]:
        ids = named_ids(item, live.fields.get(item.name))
        return [self.names.named(live, kind, id) for id in ids for kind in item.names]

    def cascade(self) -> Cascade:
        """Return everything that is lost along with the roots."""
        while self.waiting:
            identity = self.waiting.pop()
            causes = self.because[identity]
            for child in self.below[identity]:
                covered = self._covers(child.identity)
                self._goes(child, INSIDE, self.unemptied[identity] if covered else causes)
            for live, item in self.naming[identity]:
                self._named_by(live, item, causes)
        return Cascade(
            self.roots,
            {key: self.objects[key] for key in sorted(self.objects)},
            tuple(sorted(lost for lost in self.losses if not self._covers(lost[0]))),
            self.causes,
            self.also,
            {root: left for root in self.roots if (left := tuple(self._left_inside(root)))},
        )

    def _covers(self, identity: Identity) -> bool:
        return identity in self.roots or identity in self.objects

    def _named_by(self, live: LiveObject, item: Field, causes: frozenset[Identity]) -> None:
        if is_place(item) or self.written(live, item):
            return
        kind = self.names.registry[live.kind]
        if cannot_be_without(kind, item, live):
            self._goes(live, NAMES, causes)
        else:
            lost = (live.identity, item.name)
            self.losses.add(lost)
            self.causes[lost] = self.causes.get(lost, frozenset()) | causes

    def _goes(self, live: LiveObject, why: str, causes: frozenset[Identity]) -> None:
        identity = live.identity
        if identity in self.roots:
            self.also[identity] = self.also.get(identity, frozenset()) | causes - {identity}
            return
        if not causes:
            return
        known, unemptied = (found.get(identity, frozenset()) for found in (self.because, self.unemptied))
        self.unemptied[identity] = unemptied if why == EMPTY else unemptied | causes
        if identity not in self.objects and live.parent in self.staying:
            self.staying[live.parent] -= self._holds(live.parent, live)
        self.objects[identity] = min(why, self.objects.get(identity, why), key=_REASONS.index)
        if causes <= known and self.unemptied[identity] == unemptied:
            return
        self.because[identity] = self.causes[identity, ""] = known | causes
        self.waiting.append(identity)
        if live.parent is not None:
            self._perhaps_empty(live.parent)

    def _perhaps_empty(self, holder: Identity) -> None:
        """Delete a node that must have children after its last child is deleted along."""
        live = self.names.snapshot.objects.get(holder)
        shape = self.names.registry[live.kind].shape if live is not None else None
        if live is None or not isinstance(shape, NodeShape) or not shape.least:
            return
        if holder not in self.staying:
            stays = (child for child in self._children(holder) if not self._covers(child.identity))
            self.staying[holder] = sum(1 for _ in stays)
        if self.staying[holder] == 0 and not self.arrives(live):
            children = (child.identity for child in self._children(holder))
            taken = [child for child in children if child in self.objects]
            causes = frozenset().union(*(self.because[child] for child in taken))
            if taken and holder not in causes:
                self._goes(live, EMPTY, causes)

    def _children(self, holder: Identity) -> Iterator[LiveObject]:
        """Yield the children without which a node cannot exist."""
        return (child for child in self.below[holder] if self._holds(holder, child))

    def _holds(self, holder: Identity, child: LiveObject) -> bool:
        """Return whether a child is of a kind that the node needs."""
        shape = self.names.registry[holder[0]].shape
        return isinstance(shape, NodeShape) and child.kind in shape.holds

    def _left_inside(self, root: Identity) -> Iterator[LiveObject]:
        """Yield the kept objects that are still inside a deleted holder whose contents move out of it."""
        if self.names.registry[root[0]].lifecycle.on_delete == "lifted":
            for live, item in self.naming[root]:
                if is_place(item) and not self._covers(live.identity) and not self.written(live, item):
                    yield live


def cannot_be_without(kind: Kind, item: Field, live: LiveObject) -> bool:
    """Return whether an object is deleted along with the object that this field refers to.

    Content is deleted along only by a field with `means`: the object is made of what the field refers to. A
    list with several references only loses one.
    """
    needed = item.means is not None or ((item.required or item.name == kind.natural) and not kind.content)
    return needed and len(named_ids(item, live.fields.get(item.name))) == 1


def named_ids(item: Field, value: Value) -> set[str]:
    """Return the ids in the value of a field: of references, or the text itself if the text is an id."""
    if item.means and isinstance(value, str):
        return {value}
    return {value.id} if isinstance(value, LiveId) else live_ids(value)


_WAY_OUT = "use a token that can read these objects, or add an entry to keep this object"


class Deletions(Struct, frozen=True):
    """The deletes of a plan: `roots` get a delete of their own, objects in `cascade` are deleted along."""

    roots: Mapping[Identity, LiveObject]
    addresses: Mapping[Address, Identity]
    """The identity of each root by its address."""
    cascade: Cascade
    kept: tuple[Kept, ...]
    unseen: Mapping[Identity, str]
    """Deletes left out because the list of what is deleted along is unreadable, with the URL of that list."""
    held: Mapping[Identity, Address]
    """Deletes left out because no request moves this entry out of the object."""
    skipped: Mapping[Identity, Identity]
    """By object that is kept, the protected object that would be deleted (`protect` with `skip`)."""

    def covers(self, identity: Identity) -> bool:
        """Return whether an object is deleted, directly or along with another one."""
        return self.cascade.covers(identity)

    @property
    def everything(self) -> list[Identity]:
        """Return every object that is deleted, directly or along with another one."""
        return [*self.roots, *self.cascade.objects]

    @property
    def count(self) -> DeleteCount:
        """Return how many objects are deleted."""
        return DeleteCount(len(self.roots), len(self.cascade.objects))

    @property
    def inside(self) -> dict[Identity, Identity]:
        """Return the roots and everything inside them, each with the root of its delete."""
        own = {root: root for root in self.roots}
        inside = (item for item, why in self.cascade.objects.items() if why == INSIDE)
        return {**own, **{item: min(self.cascade.causes[item, ""]) for item in inside}}


def blocked_deletions(names: Names, found: Deletions) -> Iterator[Blocked]:
    """Yield the deletes left out because their effects are unreadable or an entry cannot be moved out."""
    for identity, url in found.unseen.items():
        reason = (
            "this token cannot read the objects that GitBook would also delete: "
            f"GET {url} is not allowed (403)"
        )
        yield Blocked(address=str(names.address(identity)), reason=reason, todo=_WAY_OUT)
    for identity, address in found.held.items():
        reason = f"the plan would delete this object, but the API cannot first move {address} elsewhere"
        todo = f"move {address} in GitBook, or add an entry to keep this object"
        yield Blocked(address=str(names.address(identity)), reason=reason, todo=todo)


def deletions(sides: Sides, decided: Restructuring) -> Deletions:
    """Decide for every undeclared object in a declared place; parents come before their children."""
    roots: dict[Identity, LiveObject] = {}
    objects = sides.snapshot.objects
    kept: dict[str, list[Identity]] = {}
    inside: set[Identity] = set()
    skipped: dict[Identity, Identity] = {}
    only = sides.desired.policy.only
    rebuilt = {item.scope.address: item.alone for item in decided.agreed}
    left_over = set(decided.left_over) if sides.options.delete else set()
    for address in sorted(sides.snapshot.scopes):
        if rebuilt.get(address) is False:
            continue  # what becomes of it is seen when the first section is there
        if address in sides.snapshot.unsettled:
            continue  # nobody can tell what is undeclared there
        strangers = [
            identity
            for identity in sides.snapshot.scopes[address]
            if identity not in sides.names.declared
            and not sides.policy.ignored(sides.names.address(identity))
            and not sides.policy.forgotten(identity)
            and (only is None or identity in only)
        ]
        if not strangers:
            continue
        pruned = address in sides.desired.scopes and sides.desired.pruned(address)
        if not ((pruned or address in rebuilt) and sides.options.delete):
            to_delete = {item for item in strangers if {item, objects[item].parent} & left_over}
            kept[str(address)] = [item for item in strangers if item not in to_delete]
            strangers = [item for item in strangers if item in to_delete]
        unnamed = {identity for identity in strangers if _cannot_be_declared(sides.names, objects[identity])}
        if pruned and address not in rebuilt and sides.options.delete:
            skipped |= {identity: identity for identity in strangers if sides.policy.skips(identity)}
            unnamed |= skipped.keys() & set(strangers)
        kept.setdefault(str(address), []).extend(unnamed)
        for identity in strangers:
            if identity in unnamed:
                continue
            live = objects[identity]
            if not isinstance(sides.kind(live).delete, Call):
                continue
            if live.parent not in inside:  # else it goes with its parent
                roots[identity] = live
            inside.add(identity)
    emptied, held = _without_held(sides, roots)
    unshielded, shielded = _without_protected(sides, emptied, decided)
    seen, found, left_out = _seen_only(sides, unshielded, decided)
    names = {
        place: sorted(str(sides.names.address(item)) for item in items if not found.covers(item))
        for place, items in kept.items()
    }
    return Deletions(
        roots=seen,
        addresses={sides.names.address(root): root for root in seen},
        cascade=found,
        kept=tuple(Kept(place=place, addresses=tuple(left)) for place, left in names.items() if left),
        unseen=left_out,
        held=held,
        skipped={**skipped, **shielded},
    )


def _without_protected(
    sides: Sides, roots: Mapping[Identity, LiveObject], decided: Restructuring
) -> tuple[Mapping[Identity, LiveObject], Mapping[Identity, Identity]]:
    """Return the deletes without those that would take along an object protected with `skip`, and these.

    A navigation is re-created as a whole or not at all: its protected objects refuse the plan instead.
    """
    if not sides.desired.policy.skip:
        return roots, {}
    rebuilt = [item.scope.address for item in decided.agreed if item.alone]
    found, left_out = planned_cascade(sides, roots, decided), dict[Identity, Identity]()
    for identity in filter(sides.policy.skips, found.objects):
        for root in found.causes[identity, ""]:
            if not any(sides.names.address(root).is_in(place) for place in rebuilt):
                left_out.setdefault(root, identity)
    return {root: live for root, live in roots.items() if root not in left_out}, left_out


def _without_held(
    sides: Sides, roots: Mapping[Identity, LiveObject]
) -> tuple[Mapping[Identity, LiveObject], Mapping[Identity, Address]]:
    """Return the deletes without those that would move a declared entry to the wrong place, and these.

    The platform moves the contents of such an object one level up when the object is deleted. An entry that
    is declared elsewhere, and that no request can move there, keeps the object and everything around it.
    """
    registry, names = sides.registry, sides.names
    lifted = {root for root in roots if registry[root[0]].lifecycle.on_delete == "lifted"}
    around: dict[Identity, set[Identity]] = {}
    held: dict[Identity, Address] = {}
    for live in sides.snapshot.objects.values() if lifted else ():
        address = names.declared.get(live.identity)
        resource = sides.resources.get(address) if address is not None else None
        for item in filter(is_place, registry[live.kind].reference_fields):
            ids = named_ids(item, live.fields.get(item.name))
            inside = lifted & {names.named(live, kind, id) for id in ids for kind in item.names}
            if live.identity in lifted:
                around.setdefault(live.identity, set()).update(inside)
            elif inside and address is not None and resource is not None and item.name in resource.fields:
                wanted = sides.values.normal(item, resource.fields[item.name], resource)
                if item.via is not None and item.setting(wanted) is None:
                    held |= dict.fromkeys(inside, address)
    waiting = sorted(held)
    while waiting:
        one = waiting.pop()
        outer = around.get(one, set()) - held.keys()
        held |= dict.fromkeys(outer, held[one])
        waiting += sorted(outer)
    return {root: live for root, live in roots.items() if root not in held}, held


def _seen_only(
    sides: Sides, roots: Mapping[Identity, LiveObject], decided: Restructuring
) -> tuple[Mapping[Identity, LiveObject], Cascade, Mapping[Identity, str]]:
    """Return the deletes whose effects are readable, their cascade, and the deletes left out.

    The last mapping contains the unreadable URL by delete. A navigation is re-created as a whole or not at
    all.
    """
    rebuilt = [item.scope.address for item in decided.agreed if item.alone]
    left_out: dict[Identity, str] = {}
    while True:
        found = planned_cascade(sides, roots, decided)
        left = {}
        for identity, url in sides.snapshot.evidence.unseen.items():
            causes = found.causes.get((identity, ""), frozenset())
            for root in {identity, *causes} & roots.keys():
                if not any(sides.names.address(root).is_in(place) for place in rebuilt):
                    left[root] = url
        if not left:
            return roots, found, left_out
        left_out |= left
        roots = {root: live for root, live in roots.items() if root not in left}


def _cannot_be_declared(names: Names, live: LiveObject) -> bool:
    """Return whether the platform does not return an object's name, so no entry can be written for it."""
    natural = names.kind(live).natural
    return natural is not None and live.fields.get(natural) is None


def planned_cascade(sides: Sides, roots: Mapping[Identity, LiveObject], decided: Restructuring) -> Cascade:
    """Return the cascade of the roots after everything else of the plan is done."""
    if not roots:
        return Cascade(frozenset())
    new = {
        resource.holder
        for address, resource in sides.resources.items()
        if resource.holder is not None and sides.live(address) is None and not sides.policy.ignored(address)
    }

    def written(live: LiveObject, item: Field) -> bool:
        address = sides.names.declared.get(live.identity)
        if address not in sides.resources or sides.policy.ignored(address) or address in decided.replaced:
            return False
        return item.name in sides.resources[address].fields

    def arrives(live: LiveObject) -> bool:
        return sides.names.declared.get(live.identity) in new

    return cascade(sides.names, roots, written, arrives)


def effects(names: Names, found: Cascade, root: Identity) -> tuple[Effect, ...]:
    """Return the effects of one delete; an effect of several deletes is listed only under the first."""
    found_effects = []
    for identity, name in found.by_root.get(root, ()):
        address, live = names.address(identity), names.snapshot.objects[identity]
        kind, label = live.kind, names.label(live)
        if name:
            where, what = str(address.field(name)), "this field refers to the deleted object"
            found_effects.append(Effect(address=where, what=what, counts=False, kind=kind, label=label))
        else:
            what = found.objects[identity]
            found_effects.append(Effect(address=str(address), what=what, kind=kind, label=label))
    return tuple(sorted(found_effects, key=lambda effect: effect.address))
