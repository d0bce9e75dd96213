"""Decide which objects are deleted, and find the objects deleted together with them (the cascade).

`decide_deletions` decides for every undeclared object: delete it where `prune` covers its list, else keep it.
`find_cascade` applies three rules until they find nothing more: an object below a deleted object is deleted;
an object that cannot exist without the object that it refers to is deleted (a membership without its member);
a node that must have children is deleted with its last child. Other fields that refer to a deleted object
lose their value. Fields that the plan itself writes are not part of the cascade.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
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
from dpsync.planner.names import Names, is_container_field
from dpsync.planner.restructuring import Restructuring
from dpsync.planner.sides import Sides

INSIDE_DELETED, REFERS_TO_DELETED, LEFT_EMPTY = (
    "is also deleted",
    "refers to the deleted object and is also deleted",
    "would be empty and is also deleted",
)
"""Why an object is in a cascade: it is inside a deleted object, refers to one, or loses its last child."""
_REASONS_BY_PRIORITY = (INSIDE_DELETED, REFERS_TO_DELETED, LEFT_EMPTY)
"""The reasons by priority: if several apply, the first one is shown."""

Loss = tuple[Identity, str]
"""An object and the name of its field that loses its value; "" if the object itself is deleted."""


class Cascade(Struct, frozen=True, dict=True):
    """What is lost if `roots` are deleted: further objects and field values, and because of which roots."""

    roots: frozenset[Identity]
    objects: Mapping[Identity, str] = struct_field(default_factory=dict)
    """By object that is deleted together with a root: one of the three reasons above."""
    cleared_fields: tuple[Loss, ...] = ()
    """Fields of kept objects that refer to a deleted object."""
    roots_by_loss: Mapping[Loss, frozenset[Identity]] = struct_field(default_factory=dict)
    redundant_roots: Mapping[Identity, frozenset[Identity]] = struct_field(default_factory=dict)
    """By root that would be deleted together with other roots anyway: those other roots."""
    contents_kept_inside: Mapping[Identity, tuple[LiveObject, ...]] = struct_field(default_factory=dict)
    """By root whose contents the platform moves to its parent: the kept objects that are still inside."""

    def deletes(self, identity: Identity) -> bool:
        """Return whether an object is deleted, as a root or together with one."""
        return identity in self.roots or identity in self.objects

    @property
    def all_losses(self) -> list[Loss]:
        """Return the objects and field values that are lost together with the roots."""
        return [*((identity, "") for identity in self.objects), *self.cleared_fields]

    @cached_property
    def losses_by_root(self) -> dict[Identity, list[Loss]]:
        """Return, by root, the losses of its delete; a loss with several roots only under the first."""
        losses_by_root: dict[Identity, list[Loss]] = defaultdict(list)
        for loss in self.all_losses:
            losses_by_root[min(self.roots_by_loss[loss])].append(loss)
        return losses_by_root


def find_cascade(
    names: Names,
    roots: Collection[Identity],
    is_rewritten: Callable[[LiveObject, Field], bool],
    gets_new_child: Callable[[LiveObject], bool],
) -> Cascade:
    """Return what the platform also deletes or clears if some objects are deleted (the cascade).

    Args:
        names: The live objects and their references.
        roots: The objects that dpsync deletes by a request of their own.
        is_rewritten: Returns whether the plan writes a field before the deletes.
        gets_new_child: Returns whether the plan creates a child of a node before the deletes.
    """
    if not roots:
        return Cascade(frozenset())
    return _CascadeSearch(names, frozenset(roots), is_rewritten, gets_new_child).cascade()


class _CascadeSearch:
    """Find a cascade: take deleted objects from `pending`, and add those that are deleted because of them.

    `roots` are the objects with a delete request of their own. For each deleted object, `root_causes`
    contains the roots because of which it is deleted.
    """

    def __init__(
        self,
        names: Names,
        roots: frozenset[Identity],
        is_rewritten: Callable[[LiveObject, Field], bool],
        gets_new_child: Callable[[LiveObject], bool],
    ) -> None:
        """Index the live objects by parent and by the objects to which they refer. Start with the roots."""
        self.names = names
        self.roots = roots
        self.is_rewritten = is_rewritten
        self.gets_new_child = gets_new_child
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
                for id in referenced_ids(field, live.fields.get(field.name)):
                    for kind in field.referenced_kinds:
                        target = names.referenced_object(live, kind, id)
                        self.references_to[target].append((live, field))
        self.pending = sorted(roots)
        self.root_causes: dict[Identity, frozenset[Identity]] = {root: frozenset({root}) for root in roots}
        self.spreading_causes = dict(self.root_causes)
        """Like `root_causes`, without causes that only emptied a node: they do not spread to children."""
        self.kept_child_counts: dict[Identity, int] = {}
        """By node that must have children: the number of its kept children, as far as is known so far."""

    def cascade(self) -> Cascade:
        """Return the objects and field values that are lost when the root objects are deleted.

        Follow each deleted object to its children and to the objects that refer to it, until nothing changes.
        """
        while self.pending:
            identity = self.pending.pop()
            causes = self.root_causes[identity]
            for child in self.children[identity]:
                is_deleted = self._is_deleted(child.identity)
                child_causes = self.spreading_causes[identity] if is_deleted else causes
                self._note_deleted(child, INSIDE_DELETED, child_causes)
            for live, field in self.references_to[identity]:
                if is_container_field(field) or self.is_rewritten(live, field):
                    continue
                if is_deleted_with_reference(self.names.registry[live.kind], field, live):
                    self._note_deleted(live, REFERS_TO_DELETED, causes)
                else:
                    loss = (live.identity, field.name)
                    self.cleared_fields.add(loss)
                    self.roots_by_loss[loss] = self.roots_by_loss.get(loss, frozenset()) | causes
        return Cascade(
            self.roots,
            {key: self.objects[key] for key in sorted(self.objects)},
            tuple(sorted(loss for loss in self.cleared_fields if not self._is_deleted(loss[0]))),
            self.roots_by_loss,
            self.redundant_roots,
            {root: contents for root in self.roots if (contents := tuple(self._kept_contents(root)))},
        )

    def _is_deleted(self, identity: Identity) -> bool:
        """Return whether an object has a delete request of its own, or was found to be deleted by one."""
        return identity in self.roots or identity in self.objects

    def _note_deleted(self, live: LiveObject, reason: str, causes: frozenset[Identity]) -> None:
        """Record that an object is deleted because some other objects (`causes`) are deleted.

        The search visits the object again whenever it gets a new cause. If the object has a delete request
        of its own, that request is recorded as redundant instead. `reason` is one of
        `_REASONS_BY_PRIORITY`; the first of several reasons is kept.
        """
        identity = live.identity
        if identity in self.roots:
            other_roots = causes - {identity}
            self.redundant_roots[identity] = self.redundant_roots.get(identity, frozenset()) | other_roots
            return
        if not causes:
            return
        known_causes = self.root_causes.get(identity, frozenset())
        known_spreading = self.spreading_causes.get(identity, frozenset())
        spreading = known_spreading if reason == LEFT_EMPTY else known_spreading | causes
        self.spreading_causes[identity] = spreading
        if identity not in self.objects and live.parent in self.kept_child_counts:
            self.kept_child_counts[live.parent] -= self._is_needed_child(live.parent, live)
        reasons = (reason, self.objects.get(identity, reason))
        self.objects[identity] = min(reasons, key=_REASONS_BY_PRIORITY.index)
        if causes <= known_causes and spreading == known_spreading:
            return
        self.root_causes[identity] = self.roots_by_loss[identity, ""] = known_causes | causes
        self.pending.append(identity)
        if live.parent is not None:
            self._note_deleted_if_empty(live.parent)

    def _note_deleted_if_empty(self, node: Identity) -> None:
        """Record a node that must have children as deleted if all its children are deleted."""
        live = self.names.snapshot.objects.get(node)
        shape = self.names.registry[live.kind].shape if live is not None else None
        if live is None or not isinstance(shape, NodeShape) or not shape.min_children:
            return
        if node in self.kept_child_counts and self.kept_child_counts[node] > 0:
            return
        children = [child.identity for child in self.children[node] if self._is_needed_child(node, child)]
        if node not in self.kept_child_counts:
            self.kept_child_counts[node] = sum(not self._is_deleted(child) for child in children)
        if self.kept_child_counts[node] == 0 and not self.gets_new_child(live):
            deleted_children = [child for child in children if child in self.objects]
            causes = frozenset().union(*(self.root_causes[child] for child in deleted_children))
            if deleted_children and node not in causes:
                self._note_deleted(live, LEFT_EMPTY, causes)

    def _is_needed_child(self, node: Identity, child: LiveObject) -> bool:
        """Return whether a child is of a kind of which a node must have children."""
        shape = self.names.registry[node[0]].shape
        return isinstance(shape, NodeShape) and child.kind in shape.child_kinds

    def _kept_contents(self, root: Identity) -> Iterator[LiveObject]:
        """Yield the objects inside an object to delete (`root`) that the platform moves up to its parent.

        Objects that the plan moves elsewhere before the delete are left out. Yield nothing for a kind whose
        contents are deleted with it.
        """
        if self.names.registry[root[0]].lifecycle.on_delete == "lifted":
            for live, field in self.references_to[root]:
                if (
                    is_container_field(field)
                    and not self._is_deleted(live.identity)
                    and not self.is_rewritten(live, field)
                ):
                    yield live


def is_deleted_with_reference(kind: Kind, field: Field, live: LiveObject) -> bool:
    """Return whether an object is deleted together with the object to which a field of it refers.

    That is so if the field is required or the object's key. An object with content is deleted only by a field
    with `refers_to_kind`, which makes the object a part of the other one. A list with several references only
    loses one.
    """
    needed = field.refers_to_kind is not None or (
        (field.required or field.name == kind.key_field) and not kind.has_content
    )
    return needed and len(referenced_ids(field, live.fields.get(field.name))) == 1


def referenced_ids(field: Field, value: Value) -> set[str]:
    """Return the ids of the objects to which the value of a field refers; the value itself can be an id."""
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
    """By object that is kept because the objects deleted together with it are unreadable: their URL."""
    blocked_by_contents: Mapping[Identity, Address]
    """By object that is kept: the entry inside that no request can move out before the delete."""
    kept_for_protected: Mapping[Identity, Identity]
    """By object that is kept, the protected object that would be deleted (`protect` with `skip`)."""

    def deletes(self, identity: Identity) -> bool:
        """Return whether an object is deleted, directly or together with another one."""
        return self.cascade.deletes(identity)

    @property
    def all_deleted(self) -> list[Identity]:
        """Return every object that is deleted, directly or together with another one."""
        return [*self.roots, *self.cascade.objects]

    @property
    def count(self) -> DeleteCount:
        """Return how many objects are deleted directly, and how many together with these."""
        return DeleteCount(len(self.roots), len(self.cascade.objects))

    @property
    def roots_by_contained(self) -> dict[Identity, Identity]:
        """Return, for each root and each object inside a root, the root whose delete request deletes it.

        A root is an object with a delete request of its own.
        """
        contained = {
            identity: min(self.cascade.roots_by_loss[identity, ""])
            for identity, reason in self.cascade.objects.items()
            if reason == INSIDE_DELETED
        }
        return {**{root: root for root in self.roots}, **contained}


def blocked_deletions(names: Names, planned: Deletions) -> Iterator[Blocked]:
    """Yield the deletes that the plan leaves out, each with the reason and what the user can do.

    Either the objects that the platform would also delete are unreadable, or no request can first move an
    entry out of the object.
    """
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
    """Decide for every object without an entry, in a list that the files declare: delete or keep it.

    Start with the objects that `prune` or a rebuild of the navigation deletes. Then leave out deletes that
    would move objects of entries to another parent than declared, would delete protected objects, or may
    delete objects that dpsync cannot read.
    """
    roots, kept_by_list, skipped = _roots_to_delete(sides, restructuring)
    movable, blocked = _without_blocked_by_contents(sides, roots)
    unprotected, protected = _without_protected(sides, movable, restructuring)
    readable, full_cascade, unreadable = _with_readable_effects(sides, unprotected, restructuring)
    kept_addresses = {
        place: sorted(
            str(sides.names.address(identity)) for identity in kept if not full_cascade.deletes(identity)
        )
        for place, kept in kept_by_list.items()
    }
    return Deletions(
        roots=readable,
        addresses={sides.names.address(root): root for root in readable},
        cascade=full_cascade,
        kept_objects=tuple(
            Kept(place=place, addresses=tuple(addresses))
            for place, addresses in kept_addresses.items()
            if addresses
        ),
        unreadable_dependents=unreadable,
        blocked_by_contents=blocked,
        kept_for_protected={**skipped, **protected},
    )


def _roots_to_delete(
    sides: Sides, restructuring: Restructuring
) -> tuple[dict[Identity, LiveObject], dict[str, list[Identity]], dict[Identity, Identity]]:
    """Return the objects without an entry: (to delete, kept by the address of their list, skipped).

    An object is deleted if `prune` covers its list, or if the plan re-creates the navigation that contains
    it. An object inside another deleted object needs no request of its own, so it is not returned: lists are
    visited parents first. Skipped objects are protected with `skip`; each is mapped to itself.
    """
    roots: dict[Identity, LiveObject] = {}
    objects = sides.snapshot.objects
    kept_by_list: dict[str, list[Identity]] = {}
    deleted: set[Identity] = set()
    skipped: dict[Identity, Identity] = {}
    deletable_ids = sides.desired.policy.deletable_ids
    recreated = {tree.scope.address: tree.becomes_site_spaces for tree in restructuring.confirmed}
    leftover_sections = set(restructuring.leftover_sections) if sides.options.delete else set()
    for address in sorted(sides.snapshot.scopes):
        if recreated.get(address) is False:
            continue  # A later plan decides, after the first section exists.
        if address in sides.snapshot.prune_unsafe:
            continue  # Which objects in this list are undeclared is unknown.
        undeclared = [
            identity
            for identity in sides.snapshot.scopes[address]
            if identity not in sides.names.declared
            and not sides.policy.is_ignored(sides.names.address(identity))
            and not sides.policy.is_forgotten(identity)
            and (deletable_ids is None or identity in deletable_ids)
        ]
        if not undeclared:
            continue
        pruned = address in sides.desired.scopes and sides.desired.is_pruned(address)
        if not ((pruned or address in recreated) and sides.options.delete):
            # Keep everything except sections that an earlier restructuring has left, and their contents.
            to_delete = {
                identity
                for identity in undeclared
                if {identity, objects[identity].parent} & leftover_sections
            }
            kept_by_list[str(address)] = [identity for identity in undeclared if identity not in to_delete]
            undeclared = [identity for identity in undeclared if identity in to_delete]
        not_deleted = {
            identity for identity in undeclared if _cannot_be_declared(sides.names, objects[identity])
        }
        if pruned and address not in recreated and sides.options.delete:
            skipped |= {identity: identity for identity in undeclared if sides.policy.is_skipped(identity)}
            not_deleted |= skipped.keys() & set(undeclared)
        kept_by_list.setdefault(str(address), []).extend(not_deleted)
        for identity in undeclared:
            if identity in not_deleted:
                continue
            live = objects[identity]
            if not isinstance(sides.kind(live).delete, Call):
                continue
            if live.parent not in deleted:  # Otherwise it is deleted together with its parent.
                roots[identity] = live
            deleted.add(identity)
    return roots, kept_by_list, skipped


def _without_protected(
    sides: Sides, roots: Mapping[Identity, LiveObject], restructuring: Restructuring
) -> tuple[Mapping[Identity, LiveObject], Mapping[Identity, Identity]]:
    """Leave out deletes (`roots`) that would also delete an object protected with `skip`.

    The second mapping contains the deletes left out, each with the protected object. A navigation is
    re-created as a whole or not at all: a protected object in it refuses the plan instead.
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
    """Leave out deletes (`roots`) that would move the object of an entry to another parent than declared.

    When the platform deletes certain objects (`on_delete` is "lifted"), it moves their contents one level up.
    If an entry inside is declared elsewhere, and no request can move it there, the object and everything
    around it is kept. The second mapping contains the deletes left out, each with such an entry.
    """
    registry, names = sides.registry, sides.names
    lifting_roots = {root for root in roots if registry[root[0]].lifecycle.on_delete == "lifted"}
    containers: dict[Identity, set[Identity]] = {}
    blocked: dict[Identity, Address] = {}
    for live in sides.snapshot.objects.values() if lifting_roots else ():
        address = names.declared.get(live.identity)
        entry = sides.entries.get(address) if address is not None else None
        for field in filter(is_container_field, registry[live.kind].reference_fields):
            ids = referenced_ids(field, live.fields.get(field.name))
            roots_around = lifting_roots & {
                names.referenced_object(live, kind, id) for id in ids for kind in field.referenced_kinds
            }
            if live.identity in lifting_roots:
                containers.setdefault(live.identity, set()).update(roots_around)
            elif roots_around and address is not None and entry is not None and field.name in entry.fields:
                declared_value = sides.values.with_references(field, entry.fields[field.name], entry)
                if field.own_call is not None and field.call_for_value(declared_value) is None:
                    blocked |= dict.fromkeys(roots_around, address)
    pending = sorted(blocked)
    while pending:
        identity = pending.pop()
        outer_roots = containers.get(identity, set()) - blocked.keys()
        blocked |= dict.fromkeys(outer_roots, blocked[identity])
        pending += sorted(outer_roots)
    return {root: live for root, live in roots.items() if root not in blocked}, blocked


def _with_readable_effects(
    sides: Sides, roots: Mapping[Identity, LiveObject], restructuring: Restructuring
) -> tuple[Mapping[Identity, LiveObject], Cascade, Mapping[Identity, str]]:
    """Leave out deletes (`roots`) that may also delete objects that dpsync cannot read.

    Return the other deletes, everything that these also delete or clear (their cascade), and the deletes left
    out, each with the URL of an unreadable list. Leaving out a delete changes the cascade, so the check is
    repeated. A navigation is re-created as a whole or not at all: its objects are not left out.
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
    key_field = names.kind(live).key_field
    return key_field is not None and live.fields.get(key_field) is None


def planned_cascade(
    sides: Sides, roots: Mapping[Identity, LiveObject], restructuring: Restructuring
) -> Cascade:
    """Return what some deletes also delete or clear (the cascade), after all other changes of the plan.

    A field that an entry declares is written before the deletes, so it does not refer to a deleted object. A
    node that gets a new child is not deleted for being empty.
    """
    if not roots:
        return Cascade(frozenset())
    parents_of_new = {
        entry.holder
        for address, entry in sides.entries.items()
        if entry.holder is not None and sides.live(address) is None and not sides.policy.is_ignored(address)
    }

    def is_rewritten(live: LiveObject, field: Field) -> bool:
        """Return whether a managed entry declares the field of a live object, so that the plan writes it."""
        address = sides.names.declared.get(live.identity)
        if (
            address not in sides.entries
            or sides.policy.is_ignored(address)
            or address in restructuring.owners_of_replaced_targets
        ):
            return False
        return field.name in sides.entries[address].fields

    def gets_new_child(live: LiveObject) -> bool:
        """Return whether the plan creates a child of a navigation node."""
        return sides.names.declared.get(live.identity) in parents_of_new

    return find_cascade(sides.names, roots, is_rewritten, gets_new_child)


def delete_effects(names: Names, cascade: Cascade, root: Identity) -> tuple[Effect, ...]:
    """Return what the delete of one object (`root`) also deletes, and which fields it clears, as effects.

    An effect that several deletes have is listed only under the first of them.
    """
    effects = []
    for identity, name in cascade.losses_by_root.get(root, ()):
        address, live = names.address(identity), names.snapshot.objects[identity]
        kind, label = live.kind, names.label(live)
        if name:
            field_address, text = str(address.field(name)), "this field refers to the deleted object"
            effects.append(Effect(address=field_address, what=text, counts=False, kind=kind, label=label))
        else:
            text = cascade.objects[identity]
            effects.append(Effect(address=str(address), what=text, kind=kind, label=label))
    return tuple(sorted(effects, key=lambda effect: effect.address))
