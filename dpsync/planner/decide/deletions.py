"""What goes: undeclared things where `prune` covers their place, with what goes along; and what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from dpsync.kinds.kind import Call, Field
from dpsync.model.address import Address
from dpsync.model.change import Blocked, Effect, Kept
from dpsync.model.plan import DeleteCount
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.planner.decide.cascade import INSIDE, Cascade, cascade, named_ids
from dpsync.planner.decide.restructuring import Restructuring
from dpsync.planner.inputs.lineage import is_place
from dpsync.planner.inputs.names import Names
from dpsync.planner.inputs.sides import Sides

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
