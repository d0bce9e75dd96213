"""Decide which objects are deleted, with the objects deleted together with them.

`decide_deletions` decides for every undeclared object: delete it where `prune` covers its place, otherwise
keep it. `find_cascade` finds what the platform deletes along with some objects. It applies three rules until
they find nothing more: an object below a deleted object is deleted; an object that cannot exist without the
object that it refers to is deleted (a membership without its member); a node that must have children is
deleted with its last child.

Another field that refers to a deleted object only loses its value. Objects and fields that the plan itself
deletes or writes are not part of the cascade. Both functions are pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct
from msgspec import field as struct_field

from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.model.address import Address
from dpsync.model.change import Blocked, Effect, Kept
from dpsync.model.plan import DeleteCount
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Value, live_ids
from dpsync.planner.history import Names, is_container_field
from dpsync.planner.restructuring import Restructuring
from dpsync.planner.sides import Sides

INSIDE_DELETED, REFERS_TO_DELETED, LEFT_EMPTY = (
    "is also deleted",
    "refers to the deleted object and is also deleted",
    "would be empty and is also deleted",
)
"""Why an object is deleted along: it is inside another one, refers to it, or loses its last child."""
_REASONS_BY_PRIORITY = (INSIDE_DELETED, REFERS_TO_DELETED, LEFT_EMPTY)
"""The reasons by priority: if several apply, the first one is shown."""

Loss = tuple[Identity, str]
"""An object and the name of its field that loses its value; "" if the object itself is deleted."""


class Cascade(Struct, frozen=True, dict=True):
    """The objects and values lost with the deletes of `roots`.

    `roots_by_loss`: by loss the roots behind it.
    """

    roots: frozenset[Identity]
    objects: Mapping[Identity, str] = struct_field(default_factory=dict)
    """By object that is deleted along: one of the three reasons above."""
    cleared_fields: tuple[Loss, ...] = ()
    """Fields of kept objects that refer to a deleted object."""
    roots_by_loss: Mapping[Loss, frozenset[Identity]] = struct_field(default_factory=dict)
    redundant_roots: Mapping[Identity, frozenset[Identity]] = struct_field(default_factory=dict)
    """By root that would be deleted along with other roots anyway: those other roots."""
    contents_kept_inside: Mapping[Identity, tuple[LiveObject, ...]] = struct_field(default_factory=dict)
    """By deleted holder whose contents move out of it: the kept objects that are still inside."""

    def deletes(self, identity: Identity) -> bool:
        """Return whether an object is deleted."""
        return identity in self.roots or identity in self.objects

    @property
    def all_losses(self) -> list[Loss]:
        """Return everything that is lost along with the roots: objects and values."""
        return [*((identity, "") for identity in self.objects), *self.cleared_fields]

    @cached_property
    def losses_by_root(self) -> dict[Identity, list[Loss]]:
        """Return each loss once, under the first of its roots."""
        losses_by_root: dict[Identity, list[Loss]] = defaultdict(list)
        for lost in self.all_losses:
            losses_by_root[min(self.roots_by_loss[lost])].append(lost)
        return losses_by_root


def find_cascade(
    names: Names,
    roots: Collection[Identity],
    is_rewritten: Callable[[LiveObject, Field], bool],
    gets_new_child: Callable[[LiveObject], bool],
) -> Cascade:
    """Find everything that is lost along with some deletes.

    Args:
        names: The live objects and their references.
        roots: The objects with a delete of their own.
        written: Returns whether a field will have another value before the deletes.
        arrives: Returns whether a node will have a new child before the deletes.
    """
    return (
        _CascadeSearch(names, frozenset(roots), is_rewritten, gets_new_child).cascade()
        if roots
        else Cascade(frozenset())
    )


class _CascadeSearch:
    """Apply the rules of a cascade until they find nothing more."""

    def __init__(
        self,
        names: Names,
        roots: frozenset[Identity],
        is_rewritten: Callable[[LiveObject, Field], bool],
        gets_new_child: Callable[[LiveObject], bool],
    ) -> None:
        self.names, self.roots, self.is_rewritten, self.gets_new_child = (
            names,
            roots,
            is_rewritten,
            gets_new_child,
        )
        self.objects: dict[Identity, str] = {}
        self.cleared_fields: set[Loss] = set()
        self.roots_by_loss: dict[Loss, frozenset[Identity]] = {}
        self.redundant_roots: dict[Identity, frozenset[Identity]] = {}
        self.children: dict[Identity, list[LiveObject]] = defaultdict(list)
        self.references_to: dict[Identity, list[tuple[LiveObject, Field]]] = defaultdict(list)
        for live in names.snapshot.objects.values():
            if live.parent is not None:
                self.children[live.parent].append(live)
            for field in names.registry[live.kind].reference_fields:
                for target in self._referenced(live, field):
                    self.references_to[target].append((live, field))
        self.pending = sorted(roots)
        self.root_causes: dict[Identity, frozenset[Identity]] = {root: frozenset({root}) for root in roots}
        self.remaining_roots = dict(self.root_causes)
        """Like `root_causes`, without causes that only emptied a node: they do not spread to children."""
        self.staying_contents: dict[Identity, int] = {}
        """By node that must have children: the number of its kept children, as far as is known so far."""

    def _referenced(self, live: LiveObject, item: Field) -> Iterable[Identity]:
        ids = referenced_ids(item, live.fields.get(item.name))
        return [self.names.referenced_object(live, kind, id) for id in ids for kind in item.referenced_kinds]

    def cascade(self) -> Cascade:
        """Return everything that is lost along with the roots."""
        while self.pending:
            identity = self.pending.pop()
            causes = self.root_causes[identity]
            for child in self.children[identity]:
                covered = self._is_deleted(child.identity)
                self._add(child, INSIDE_DELETED, self.remaining_roots[identity] if covered else causes)
            for live, field in self.references_to[identity]:
                self._follow_reference(live, field, causes)
        return Cascade(
            self.roots,
            {key: self.objects[key] for key in sorted(self.objects)},
            tuple(sorted(lost for lost in self.cleared_fields if not self._is_deleted(lost[0]))),
            self.roots_by_loss,
            self.redundant_roots,
            {root: left for root in self.roots if (left := tuple(self._kept_contents(root)))},
        )

    def _is_deleted(self, identity: Identity) -> bool:
        return identity in self.roots or identity in self.objects

    def _follow_reference(self, live: LiveObject, field: Field, causes: frozenset[Identity]) -> None:
        if is_container_field(field) or self.is_rewritten(live, field):
            return
        kind = self.names.registry[live.kind]
        if is_deleted_with_reference(kind, field, live):
            self._add(live, REFERS_TO_DELETED, causes)
        else:
            lost = (live.identity, field.name)
            self.cleared_fields.add(lost)
            self.roots_by_loss[lost] = self.roots_by_loss.get(lost, frozenset()) | causes

    def _add(self, live: LiveObject, why: str, causes: frozenset[Identity]) -> None:
        identity = live.identity
        if identity in self.roots:
            self.redundant_roots[identity] = self.redundant_roots.get(identity, frozenset()) | causes - {
                identity
            }
            return
        if not causes:
            return
        known, unemptied = (
            by_identity.get(identity, frozenset()) for by_identity in (self.root_causes, self.remaining_roots)
        )
        self.remaining_roots[identity] = unemptied if why == LEFT_EMPTY else unemptied | causes
        if identity not in self.objects and live.parent in self.staying_contents:
            self.staying_contents[live.parent] -= self._needs_child(live.parent, live)
        self.objects[identity] = min(why, self.objects.get(identity, why), key=_REASONS_BY_PRIORITY.index)
        if causes <= known and self.remaining_roots[identity] == unemptied:
            return
        self.root_causes[identity] = self.roots_by_loss[identity, ""] = known | causes
        self.pending.append(identity)
        if live.parent is not None:
            self._add_if_empty(live.parent)

    def _add_if_empty(self, holder: Identity) -> None:
        """Delete a node that must have children after its last child is deleted along."""
        live = self.names.snapshot.objects.get(holder)
        shape = self.names.registry[live.kind].shape if live is not None else None
        if live is None or not isinstance(shape, NodeShape) or not shape.min_children:
            return
        if holder not in self.staying_contents:
            kept_children = (
                child for child in self._needed_children(holder) if not self._is_deleted(child.identity)
            )
            self.staying_contents[holder] = sum(1 for _ in kept_children)
        if self.staying_contents[holder] == 0 and not self.gets_new_child(live):
            children = (child.identity for child in self._needed_children(holder))
            deleted_children = [child for child in children if child in self.objects]
            causes = frozenset().union(*(self.root_causes[child] for child in deleted_children))
            if deleted_children and holder not in causes:
                self._add(live, LEFT_EMPTY, causes)

    def _needed_children(self, holder: Identity) -> Iterator[LiveObject]:
        """Yield the children without which a node cannot exist."""
        return (child for child in self.children[holder] if self._needs_child(holder, child))

    def _needs_child(self, holder: Identity, child: LiveObject) -> bool:
        """Return whether a child is of a kind that the node needs."""
        shape = self.names.registry[holder[0]].shape
        return isinstance(shape, NodeShape) and child.kind in shape.child_kinds

    def _kept_contents(self, root: Identity) -> Iterator[LiveObject]:
        """Yield the kept objects that are still inside a deleted holder whose contents move out of it."""
        if self.names.registry[root[0]].lifecycle.on_delete == "lifted":
            for live, field in self.references_to[root]:
                if (
                    is_container_field(field)
                    and not self._is_deleted(live.identity)
                    and not self.is_rewritten(live, field)
                ):
                    yield live


def is_deleted_with_reference(kind: Kind, field: Field, live: LiveObject) -> bool:
    """Return whether an object is deleted along with the object that this field refers to.

    Content is deleted along only by a field with `means`: the object is made of what the field refers to. A
    list with several references only loses one.
    """
    needed = field.refers_to_kind is not None or (
        (field.required or field.name == kind.key_field) and not kind.has_content
    )
    return needed and len(referenced_ids(field, live.fields.get(field.name))) == 1


def referenced_ids(field: Field, value: Value) -> set[str]:
    """Return the ids in the value of a field: of references, or the text itself if the text is an id."""
    if field.refers_to_kind and isinstance(value, str):
        return {value}
    return {value.id} if isinstance(value, LiveId) else live_ids(value)


_WAY_OUT = "use a token that can read these objects, or add an entry to keep this object"


class Deletions(Struct, frozen=True):
    """The deletes of a plan: `roots` have a delete request; objects in `cascade` are deleted with them."""

    roots: Mapping[Identity, LiveObject]
    addresses: Mapping[Address, Identity]
    """The identity of each root by its address."""
    cascade: Cascade
    kept_objects: tuple[Kept, ...]
    unreadable_dependents: Mapping[Identity, str]
    """Deletes left out because the list of what is deleted along is unreadable, with the URL of that list."""
    blocked_by_contents: Mapping[Identity, Address]
    """Deletes left out because no request moves this entry out of the object."""
    kept_for_protected: Mapping[Identity, Identity]
    """By object that is kept, the protected object that would be deleted (`protect` with `skip`)."""

    def deletes(self, identity: Identity) -> bool:
        """Return whether an object is deleted, directly or along with another one."""
        return self.cascade.deletes(identity)

    @property
    def all_deleted(self) -> list[Identity]:
        """Return every object that is deleted, directly or along with another one."""
        return [*self.roots, *self.cascade.objects]

    @property
    def count(self) -> DeleteCount:
        """Return how many objects are deleted."""
        return DeleteCount(len(self.roots), len(self.cascade.objects))

    @property
    def roots_by_contained(self) -> dict[Identity, Identity]:
        """Return the roots and everything inside them, each with the root of its delete."""
        own = {root: root for root in self.roots}
        inside = (identity for identity, why in self.cascade.objects.items() if why == INSIDE_DELETED)
        return {**own, **{item: min(self.cascade.roots_by_loss[item, ""]) for item in inside}}


def blocked_deletions(names: Names, planned: Deletions) -> Iterator[Blocked]:
    """Yield the deletes left out because their effects are unreadable or an entry cannot be moved out."""
    for identity, url in planned.unreadable_dependents.items():
        reason = (
            "this token cannot read the objects that GitBook would also delete: "
            f"GET {url} is not allowed (403)"
        )
        yield Blocked(address=str(names.address(identity)), reason=reason, todo=_WAY_OUT)
    for identity, address in planned.blocked_by_contents.items():
        reason = (
            f"the plan would delete this object, but must first move {address} out of this object, and the "
            "API cannot do so"
        )
        todo = f"move {address} in GitBook, or add an entry to keep this object"
        yield Blocked(address=str(names.address(identity)), reason=reason, todo=todo)


def decide_deletions(sides: Sides, restructuring: Restructuring) -> Deletions:
    """Decide for every undeclared object in a declared place; parents come before their children."""
    roots: dict[Identity, LiveObject] = {}
    objects = sides.snapshot.objects
    kept_by_place: dict[str, list[Identity]] = {}
    deleted: set[Identity] = set()
    skipped: dict[Identity, Identity] = {}
    only = sides.desired.policy.deletable_ids
    recreated = {tree.scope.address: tree.becomes_site_spaces for tree in restructuring.confirmed}
    left_over = set(restructuring.leftover_sections) if sides.options.delete else set()
    for address in sorted(sides.snapshot.scopes):
        if recreated.get(address) is False:
            continue  # a later plan decides, after the first section exists
        if address in sides.snapshot.prune_unsafe:
            continue  # the undeclared objects there are unknown
        undeclared = [
            identity
            for identity in sides.snapshot.scopes[address]
            if identity not in sides.names.declared
            and not sides.policy.is_ignored(sides.names.address(identity))
            and not sides.policy.is_forgotten(identity)
            and (only is None or identity in only)
        ]
        if not undeclared:
            continue
        pruned = address in sides.desired.scopes and sides.desired.is_pruned(address)
        if not ((pruned or address in recreated) and sides.options.delete):
            to_delete = {
                identity for identity in undeclared if {identity, objects[identity].parent} & left_over
            }
            kept_by_place[str(address)] = [identity for identity in undeclared if identity not in to_delete]
            undeclared = [identity for identity in undeclared if identity in to_delete]
        not_deleted = {
            identity for identity in undeclared if _cannot_be_declared(sides.names, objects[identity])
        }
        if pruned and address not in recreated and sides.options.delete:
            skipped |= {identity: identity for identity in undeclared if sides.policy.is_skipped(identity)}
            not_deleted |= skipped.keys() & set(undeclared)
        kept_by_place.setdefault(str(address), []).extend(not_deleted)
        for identity in undeclared:
            if identity in not_deleted:
                continue
            live = objects[identity]
            if not isinstance(sides.kind(live).delete, Call):
                continue
            if live.parent not in deleted:  # else it goes with its parent
                roots[identity] = live
            deleted.add(identity)
    movable, held = _without_blocked_by_contents(sides, roots)
    unprotected, protected = _without_protected(sides, movable, restructuring)
    readable, full_cascade, unreadable = _with_readable_effects(sides, unprotected, restructuring)
    names = {
        place: sorted(
            str(sides.names.address(identity)) for identity in items if not full_cascade.deletes(identity)
        )
        for place, items in kept_by_place.items()
    }
    return Deletions(
        roots=readable,
        addresses={sides.names.address(root): root for root in readable},
        cascade=full_cascade,
        kept_objects=tuple(
            Kept(place=place, addresses=tuple(addresses)) for place, addresses in names.items() if addresses
        ),
        unreadable_dependents=unreadable,
        blocked_by_contents=held,
        kept_for_protected={**skipped, **protected},
    )


def _without_protected(
    sides: Sides, roots: Mapping[Identity, LiveObject], restructuring: Restructuring
) -> tuple[Mapping[Identity, LiveObject], Mapping[Identity, Identity]]:
    """Return the deletes without those that would take along an object protected with `skip`, and these.

    A navigation is re-created as a whole or not at all: its protected objects refuse the plan instead.
    """
    if not sides.desired.policy.skip:
        return roots, {}
    recreated = [tree.scope.address for tree in restructuring.confirmed if tree.becomes_site_spaces]
    full_cascade, left_out = planned_cascade(sides, roots, restructuring), dict[Identity, Identity]()
    for identity in filter(sides.policy.is_skipped, full_cascade.objects):
        for root in full_cascade.roots_by_loss[identity, ""]:
            if not any(sides.names.address(root).is_at_or_below(place) for place in recreated):
                left_out.setdefault(root, identity)
    return {root: live for root, live in roots.items() if root not in left_out}, left_out


def _without_blocked_by_contents(
    sides: Sides, roots: Mapping[Identity, LiveObject]
) -> tuple[Mapping[Identity, LiveObject], Mapping[Identity, Address]]:
    """Return the deletes without those that would move a declared entry to the wrong place, and these.

    The platform moves the contents of such an object one level up when the object is deleted. An entry that
    is declared elsewhere, and that no request can move there, keeps the object and everything around it.
    """
    registry, names = sides.registry, sides.names
    lifted = {root for root in roots if registry[root[0]].lifecycle.on_delete == "lifted"}
    containers: dict[Identity, set[Identity]] = {}
    blocked: dict[Identity, Address] = {}
    for live in sides.snapshot.objects.values() if lifted else ():
        address = names.declared.get(live.identity)
        entry = sides.entries.get(address) if address is not None else None
        for field in filter(is_container_field, registry[live.kind].reference_fields):
            ids = referenced_ids(field, live.fields.get(field.name))
            inside = lifted & {
                names.referenced_object(live, kind, id) for id in ids for kind in field.referenced_kinds
            }
            if live.identity in lifted:
                containers.setdefault(live.identity, set()).update(inside)
            elif inside and address is not None and entry is not None and field.name in entry.fields:
                declared_value = sides.values.with_references(field, entry.fields[field.name], entry)
                if field.own_call is not None and field.call_for_value(declared_value) is None:
                    blocked |= dict.fromkeys(inside, address)
    pending = sorted(blocked)
    while pending:
        identity = pending.pop()
        outer = containers.get(identity, set()) - blocked.keys()
        blocked |= dict.fromkeys(outer, blocked[identity])
        pending += sorted(outer)
    return {root: live for root, live in roots.items() if root not in blocked}, blocked


def _with_readable_effects(
    sides: Sides, roots: Mapping[Identity, LiveObject], restructuring: Restructuring
) -> tuple[Mapping[Identity, LiveObject], Cascade, Mapping[Identity, str]]:
    """Return the deletes whose effects are readable, their cascade, and the deletes left out.

    The last mapping contains the unreadable URL by delete. A navigation is re-created as a whole or not at
    all.
    """
    recreated = [tree.scope.address for tree in restructuring.confirmed if tree.becomes_site_spaces]
    left_out: dict[Identity, str] = {}
    while True:
        full_cascade = planned_cascade(sides, roots, restructuring)
        newly_left_out = {}
        for identity, url in sides.snapshot.delete_evidence.unreadable_dependents.items():
            causes = full_cascade.roots_by_loss.get((identity, ""), frozenset())
            for root in {identity, *causes} & roots.keys():
                if not any(sides.names.address(root).is_at_or_below(place) for place in recreated):
                    newly_left_out[root] = url
        if not newly_left_out:
            return roots, full_cascade, left_out
        left_out |= newly_left_out
        roots = {root: live for root, live in roots.items() if root not in newly_left_out}


def _cannot_be_declared(names: Names, live: LiveObject) -> bool:
    """Return whether the platform does not return an object's name, so no entry can be written for it."""
    natural = names.kind(live).key_field
    return natural is not None and live.fields.get(natural) is None


def planned_cascade(
    sides: Sides, roots: Mapping[Identity, LiveObject], restructuring: Restructuring
) -> Cascade:
    """Return the cascade of the roots after everything else of the plan is done."""
    if not roots:
        return Cascade(frozenset())
    new = {
        entry.holder
        for address, entry in sides.entries.items()
        if entry.holder is not None and sides.live(address) is None and not sides.policy.is_ignored(address)
    }

    def is_rewritten(live: LiveObject, field: Field) -> bool:
        address = sides.names.declared.get(live.identity)
        if (
            address not in sides.entries
            or sides.policy.is_ignored(address)
            or address in restructuring.owners_of_replaced_targets
        ):
            return False
        return field.name in sides.entries[address].fields

    def gets_new_child(live: LiveObject) -> bool:
        return sides.names.declared.get(live.identity) in new

    return find_cascade(sides.names, roots, is_rewritten, gets_new_child)


def delete_effects(names: Names, cascade: Cascade, root: Identity) -> tuple[Effect, ...]:
    """Return the effects of one delete; an effect of several deletes is listed only under the first."""
    found_effects = []
    for identity, name in cascade.losses_by_root.get(root, ()):
        address, live = names.address(identity), names.snapshot.objects[identity]
        kind, label = live.kind, names.label(live)
        if name:
            field_address, text = str(address.field(name)), "this field refers to the deleted object"
            found_effects.append(
                Effect(address=field_address, what=text, counts=False, kind=kind, label=label)
            )
        else:
            text = cascade.objects[identity]
            found_effects.append(Effect(address=str(address), what=text, kind=kind, label=label))
    return tuple(sorted(found_effects, key=lambda effect: effect.address))
