"""Decide which objects are deleted, with the objects deleted together with them.

What goes along with deletes: pure, from live objects and from what their kinds declare.

Three rules, applied until nothing more is found. What lies below a deleted object goes with it. What cannot
be without the thing that it names (a place without its space, a membership without its member) goes with it.
A node that must have children, and loses its last one in this way, goes too.

A field that merely names a deleted object loses that value; its object stays. What the plan itself writes or
deletes is not listed here.

What goes: undeclared things where `prune` covers their place, with what goes along; and what is kept.
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
"""Why an object goes along: it lies below another one, names it, or loses the last of its children."""
_REASONS = (INSIDE, NAMES, EMPTY)
"""Where there are several, the first of these is told."""

Lost = tuple[Identity, str]
"""An object and the field of it that loses its value; no name where the object goes itself."""


class Cascade(Struct, frozen=True, dict=True):
    """What goes along with the deletes of `roots`, and why. `causes` says with which of them."""

    roots: frozenset[Identity]
    objects: Mapping[Identity, str] = field(default_factory=dict)
    """By object that goes along: one of the three reasons above."""
    losses: tuple[Lost, ...] = ()
    """Fields of objects that stay, which name something that goes."""
    causes: Mapping[Lost, frozenset[Identity]] = field(default_factory=dict)
    also: Mapping[Identity, frozenset[Identity]] = field(default_factory=dict)
    """By deleted object that would go along with other ones anyway: these."""
    left_inside: Mapping[Identity, tuple[LiveObject, ...]] = field(default_factory=dict)
    """By deleted holder whose contents would be lifted out of it: what is still in it, and stays."""

    def covers(self, identity: Identity) -> bool:
        return identity in self.roots or identity in self.objects

    @property
    def lost(self) -> list[Lost]:
        """Everything that goes along: objects and values."""
        return [*((identity, "") for identity in self.objects), *self.losses]

    @cached_property
    def by_root(self) -> dict[Identity, list[Lost]]:
        """Each of these once, under the first of the deletes that take it along."""
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
    """What goes along with these deletes.

    `written` says whether a field will have another value before the deletes are carried out, `arrives`
    whether a node will have got a new child by then.
    """
    return _Spread(names, frozenset(roots), written, arrives).cascade() if roots else Cascade(frozenset())


class _Spread:
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
        """The same without those that only leave it empty: what emptied it does not go because of these."""
        self.staying: dict[Identity, int] = {}
        """By node that must have children: how many of them do not go, as far as is known by now."""

    def _targets(self, live: LiveObject, item: Field) -> Iterable[Identity]:
        ids = named_ids(item, live.fields.get(item.name))
        return [self.names.named(live, kind, id) for id in ids for kind in item.names]

    def cascade(self) -> Cascade:
        """Everything that goes along."""
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
        """A node that must have children goes when the last of them went along with something else."""
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
        """The nodes in a node, of the kinds without which it cannot be."""
        return (child for child in self.below[holder] if self._holds(holder, child))

    def _holds(self, holder: Identity, child: LiveObject) -> bool:
        shape = self.names.registry[holder[0]].shape
        return isinstance(shape, NodeShape) and child.kind in shape.holds

    def _left_inside(self, root: Identity) -> Iterator[LiveObject]:
        if self.names.registry[root[0]].lifecycle.on_delete == "lifted":
            for live, item in self.naming[root]:
                if is_place(item) and not self._covers(live.identity) and not self.written(live, item):
                    yield live


def cannot_be_without(kind: Kind, item: Field, live: LiveObject) -> bool:
    """Whether an object goes with what this field of it names.

    Content is taken along only by a name that `means` what it is made of. A list of names loses only one.
    """
    needed = item.means is not None or ((item.required or item.name == kind.natural) and not kind.content)
    return needed and len(named_ids(item, live.fields.get(item.name))) == 1


def named_ids(item: Field, value: Value) -> set[str]:
    """The ids in the value of a field: of references, or the text itself where that is one."""
    if item.means and isinstance(value, str):
        return {value}
    return {value.id} if isinstance(value, LiveId) else live_ids(value)


_WAY_OUT = "use a token that can read these objects, or add an entry to keep this object"


class Deletions(Struct, frozen=True):
    """`roots` get a delete of their own; what is in `cascade` goes along with one of them."""

    roots: Mapping[Identity, LiveObject]
    addresses: Mapping[Address, Identity]
    """The same by address."""
    cascade: Cascade
    kept: tuple[Kept, ...]
    unseen: Mapping[Identity, str]
    """What would be deleted, if a list could be read that says what goes along with it."""
    held: Mapping[Identity, Address]
    """What would be deleted, if this entry could be moved out of it."""
    skipped: Mapping[Identity, Identity]
    """By object that is kept, the protected object that would be deleted (`protect` with `skip`)."""

    def covers(self, identity: Identity) -> bool:
        """Whether an object is deleted or goes along."""
        return self.cascade.covers(identity)

    @property
    def everything(self) -> list[Identity]:
        """Every object that is deleted or goes along with a delete."""
        return [*self.roots, *self.cascade.objects]

    @property
    def count(self) -> DeleteCount:
        """How many objects are deleted."""
        return DeleteCount(len(self.roots), len(self.cascade.objects))

    @property
    def inside(self) -> dict[Identity, Identity]:
        """What is deleted and what lies in it, each with the delete that it goes with."""
        own = {root: root for root in self.roots}
        inside = (item for item, why in self.cascade.objects.items() if why == INSIDE)
        return {**own, **{item: min(self.cascade.causes[item, ""]) for item in inside}}


def blocked_deletions(names: Names, found: Deletions) -> Iterator[Blocked]:
    """What is not deleted because nobody can see what goes with it, or because it cannot be emptied."""
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
    """The deletes, and those left out: they would take along an object that is protected with `skip`.

    A navigation is built anew whole or not: its protected objects refuse the plan.
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
    """The deletes of what is empty by then, and those left out: the platform would lift an entry out of them
    that is declared elsewhere, and to where no request moves it. What such a one is in stays, too.
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
    """The deletes with their cascade, and those left out since they would take along what cannot be seen.

    A navigation is built anew whole or not.
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
    """Whether the platform does not say what its entry would be called: then none could be written."""
    natural = names.kind(live).natural
    return natural is not None and live.fields.get(natural) is None


def planned_cascade(sides: Sides, roots: Mapping[Identity, LiveObject], decided: Restructuring) -> Cascade:
    """What goes along, when everything else of the plan has been done by then."""
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
    """What goes or changes along with one delete. What goes with several is named once."""
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
