"""Build the trees of a site before and after a plan, and the navigation that visitors see.

`changed_trees` returns each tree that a change touches, `live_trees` all live trees, and
`navigation_changes` the changed navigations with titles, marks and order. A value that the platform will
choose is `UNKNOWN`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.types import Flag
from dpsync.model.address import Address
from dpsync.model.change import Change, NavigationChange, NavigationNode
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Ref, Value
from dpsync.planner.decide import Decisions
from dpsync.planner.history import DIRECT_PARENT
from dpsync.planner.sibling_order import after_moves, fewest_moves


class _UnknownValue:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _UnknownValue()
"""Stands for a value that only the platform can choose."""


class TreeBranch(Struct, frozen=True):
    """A node or owner of a tree with its fields and its children in order."""

    address: Address
    kind: Kind
    fields: Mapping[str, Any]
    children: tuple[TreeBranch, ...] = ()
    url: str | None = None
    """The live URL; None if the object is not live."""
    identity: Identity | None = None
    """The live object; None if there is none."""

    def walk(
        self, ancestors: tuple[TreeBranch, ...] = ()
    ) -> Iterator[tuple[TreeBranch, tuple[TreeBranch, ...]]]:
        """Yield the branch and everything below, each with its ancestors, the outermost first."""
        yield self, ancestors
        for one in self.children:
            yield from one.walk((*ancestors, self))


class NavigationTree(Struct, frozen=True):
    """A tree before and after; None if there is none. `is_predictable`: whether the result is predictable."""

    owner: Address
    before: TreeBranch | None
    after: TreeBranch | None
    is_read: bool
    """Whether the contents of the tree were read."""
    is_changed: bool
    """Whether a node or an object that a node shows changes; else only something above the tree changes."""
    is_predictable: bool

    @property
    def kind(self) -> Kind:
        """The kind of the tree's owner."""
        branch = self.after or self.before
        assert branch is not None
        return branch.kind

    def walk_both(self) -> Iterator[tuple[TreeBranch, tuple[TreeBranch, ...]]]:
        """Yield all nodes before the plan, then all nodes after the plan, each with its ancestors."""
        for branch in (self.before, self.after):
            if branch is not None:
                yield from branch.walk()


def changed_trees(decisions: Decisions, changes: Iterable[Change]) -> Iterator[NavigationTree]:
    """Yield the tree of each live or declared owner that a change touches, by address."""
    changes = list(changes)
    if not changes:
        return
    reader = _TreeBuilder(decisions)
    inside = _changed_addresses(changes)
    inside.update(reader.owners_showing({change.id for change in changes if change.id}))
    changing = {change.location for change in changes}
    for address, live in reader.owners():
        touched = address in inside
        if touched or not changing.isdisjoint(address.self_and_ancestors()):
            yield reader.build_tree(address, live, touched)


def live_trees(decisions: Decisions) -> Iterator[TreeBranch]:
    """Yield each live tree, by address."""
    reader = _TreeBuilder(decisions)
    return (reader.live_branch(live) for _, live in reader.owners() if live is not None)


def _changed_addresses(changes: Iterable[Change]) -> set[Address]:
    """Return the addresses of all changed objects, and of everything above them."""
    changing = {change.location for change in changes}
    changing |= {effect.location for change in changes for effect in change.effects}
    found: set[Address] = set()
    for address in changing:
        found.update(takewhile(lambda one: one not in found, address.self_and_ancestors()))
    return found


class _TreeBuilder(Struct, frozen=True, dict=True):
    """The construction of trees before and after a plan."""

    decided: Decisions

    @cached_property
    def _new_nodes(self) -> Mapping[Address | None, list[Address]]:
        """The nodes to create, by the address of the parent node or owner."""
        sides, found = self.decided.sides, defaultdict[Address | None, list[Address]](list)
        for address, resource in sides.entries.items():
            if sides.kind(resource).is_node and sides.live(address) is None and self._is_created(address):
                found[resource.holder or resource.parent].append(address)
        return found

    def owners(self) -> Iterator[tuple[Address, LiveObject | None]]:
        """Yield each live or planned owner of a tree, by address; the object is None if it is new."""
        sides = self.decided.sides
        kinds = {
            sides.registry.tree_owner(kind) for kind in sides.registry.in_dependency_order if kind.is_node
        }
        found: dict[Address, LiveObject | None] = {
            address: sides.live(address)
            for address, resource in sides.entries.items()
            if resource.kind in kinds and (sides.live(address) is not None or self._is_created(address))
        }
        for identity, live in sides.snapshot.objects.items():
            if live.kind in kinds:
                found.setdefault(sides.names.address(identity), live)
        yield from sorted(found.items(), key=lambda item: item[0])

    def owners_showing(self, ids: Container[str]) -> Iterator[Address]:
        """Yield the owners of trees with a node that shows one of these objects."""
        sides = self.decided.sides
        for live in self._live_nodes.values():
            content = (live.fields.get(item.name) for item in sides.kind(live).fields if item.required)
            if any(isinstance(value, LiveId) and value.id in ids for value in content):
                yield from (sides.names.address(around) for around in sides.snapshot.ancestors(live))

    def build_tree(self, address: Address, live: LiveObject | None, touched: bool) -> NavigationTree:
        """Return the tree of an owner before and after the plan."""
        sides = self.decided.sides
        kind = sides.registry[live.kind] if live is not None else sides.kind(sides.entries[address])
        places = [address.child(*word.split(".")) for word in sides.registry.kinds_by_list_key(kind.name)]
        read = live is None or any(
            place in sides.snapshot.scopes and sides.registry[scope.kinds[0]].is_node
            for place in places
            if (scope := sides.desired.scopes.get(place)) is not None
        )
        deleted = live is not None and self.decided.deletions.deletes(live.identity)
        agreed = {
            item.scope.parent: item.becomes_site_spaces for item in self.decided.restructuring.confirmed
        }
        found = {item.scope.parent for item in self.decided.restructuring.all_trees}
        return NavigationTree(
            address,
            self.live_branch(live) if live is not None else None,
            None if deleted else self._planned_branch(address, kind, live),
            read or deleted,
            touched,
            is_predictable=address not in found or agreed.get(address) is True,
        )

    def live_branch(self, live: LiveObject) -> TreeBranch:
        """Return a live object and the live nodes below as a branch."""
        sides = self.decided.sides
        nodes = tuple(self.live_branch(one) for one in self._live_children(live))
        kind = sides.registry[live.kind]
        fields = {item.name: self._live_value(item.name, kind, live) for item in kind.fields}
        return TreeBranch(sides.names.address(live.identity), kind, fields, nodes, live.url, live.identity)

    def _live_children(self, live: LiveObject) -> list[LiveObject]:
        """Return the live nodes in a node or owner, in order if the order was read."""
        sides = self.decided.sides
        lane = sides.snapshot.sibling_order.get(live.identity)
        if lane is None:
            return self._unordered_children.get(live.identity, [])
        return [sides.snapshot.objects[one] for one in lane if sides.registry[one[0]].is_node]

    @cached_property
    def _unordered_children(self) -> dict[Identity, list[LiveObject]]:
        """The live nodes by parent node or owner, in the order in which they were read."""
        found: dict[Identity, list[LiveObject]] = defaultdict(list)
        for live in self._live_nodes.values():
            if (around := live.holder or live.parent) is not None:
                found[around].append(live)
        return found

    def _live_value(self, name: str, kind: Kind, live: LiveObject) -> Value:
        return self.decided.sides.values.with_references(kind.field(name), live.fields.get(name), live)

    # Afterwards.

    def _planned_branch(self, address: Address, kind: Kind, live: LiveObject | None) -> TreeBranch:
        return with_planned_flags(self.decided, self._branch(address, kind, live))

    def _branch(self, address: Address, kind: Kind, live: LiveObject | None) -> TreeBranch:
        sides = self.decided.sides
        fields = {item.name: self._planned_value(address, item.name, kind, live) for item in kind.fields}
        inside = tuple(
            self._branch(one, sides.registry[self._kind_of_node(one)], self._object(one))
            for one in self._planned_children(address, live)
        )
        if live is None:
            return TreeBranch(address, kind, fields, inside)
        return TreeBranch(address, kind, fields, inside, live.url, live.identity)

    def _kind_of_node(self, address: Address) -> str:
        known = self.decided.sides.entries.get(address)
        return known.kind if known is not None else self._live_nodes[address].kind

    def _object(self, address: Address) -> LiveObject | None:
        return self.decided.sides.live(address) or self._live_nodes.get(address)

    @cached_property
    def _live_nodes(self) -> dict[Address, LiveObject]:
        sides = self.decided.sides
        return {
            sides.names.address(identity): live
            for identity, live in sides.snapshot.objects.items()
            if sides.registry[live.kind].is_node
        }

    def _planned_value(self, address: Address, name: str, kind: Kind, live: LiveObject | None) -> Any:
        """Return the value of a field after the plan."""
        entry = self.decided.entries.get(address)
        field = kind.field(name)
        if live is not None:
            for item in entry.separately_written if entry is not None else ():
                if item.field.name == name:
                    return item.after
            return self._live_value(name, kind, live)
        resource = self.decided.sides.entries[address]
        if name in resource.fields and not self.decided.blocking.is_field_blocked(address, field):
            return resource.fields[name]
        return field.value_when_absent if field.value_when_absent is not None else UNKNOWN

    def _is_created(self, address: Address) -> bool:
        """Return whether the plan creates an entry without a live object."""
        return address in self.decided.entries

    def _planned_children(self, address: Address, live: LiveObject | None) -> list[Address]:
        """Return the nodes in a node or owner after the plan, in order."""
        sides = self.decided.sides
        stay = [
            sides.names.address(one)
            for one in (sides.snapshot.sibling_order.get(live.identity, ()) if live is not None else ())
            if sides.registry[one[0]].is_node
            and not self.decided.deletions.deletes(one)
            and self._planned_parent_node(one) == address
        ]
        come = [*self._new_nodes.get(address, ()), *self._moved_nodes.get(address, ())]
        resource = sides.entries.get(address)
        order = list(resource.children) if resource is not None else []
        here = set(stay)
        come = sorted((one for one in come if one not in here), key=_sort_key(order))
        then = [*stay, *come]
        there = set(then)
        wanted = [one for one in order if one in there and not sides.policy.is_unselected(one)]
        return after_moves(then, fewest_moves(then, wanted))

    def _planned_parent_node(self, identity: Identity) -> Address | None:
        """Return the node or owner that contains a live node after the plan."""
        sides = self.decided.sides
        live = sides.snapshot.objects[identity]
        entry = self.decided.entries.get(sides.names.address(identity))
        for item in entry.separately_written if entry is not None else ():
            if item.field.is_parent_reference:
                if isinstance(item.after, Ref):
                    return item.after.address
                return sides.names.address(live.parent) if live.parent is not None else None
        around = live.holder or live.parent
        return sides.names.address(around) if around is not None else None

    @cached_property
    def _moved_nodes(self) -> dict[Address | None, list[Address]]:
        """The live nodes that the plan moves into another node or owner, by the new one."""
        sides = self.decided.sides
        found: dict[Address | None, list[Address]] = defaultdict(list)
        for address, live in self._live_nodes.items():
            around = live.holder or live.parent
            if around is None or self.decided.deletions.deletes(live.identity):
                continue
            if (holder := self._planned_parent_node(live.identity)) != sides.names.address(around):
                found[holder].append(address)
        return found


def _sort_key(order: list[Address]) -> Callable[[Address], tuple[int, Address]]:
    places = {address: number for number, address in enumerate(order)}
    return lambda one: (places.get(one, len(order)), one)


def with_planned_flags(decisions: Decisions, owner: TreeBranch) -> TreeBranch:
    """Return a tree with its exclusive flags (one default per parent) as they are after the plan."""
    names = {
        (item.name, item.exclusive_within, one.kind.name)
        for one, _ in owner.walk()
        for item in one.kind.fields
        if item.exclusive_within is not None
    }
    for name, place, kind in sorted(names):
        together: dict[Address, list[TreeBranch]] = defaultdict(list)
        for one, above in owner.walk():
            if one.kind.name == kind:
                together[_flag_scope(one, above, place)].append(one)
        chosen = {
            one.address: value
            for found in together.values()
            for one, value in _flag_values(decisions, found, name)
        }
        owner = _with_flag(owner, name, chosen)
    return owner


def _flag_values(
    decisions: Decisions, found: list[TreeBranch], name: str
) -> Iterator[tuple[TreeBranch, Any]]:
    """Yield each branch with its exclusive flag: true for one; UNKNOWN if the platform chooses."""
    said = [one for one in found if _declares(decisions, one, name)]
    has = [one for one in found if one.fields[name] is True]
    along = [one for one in found if one.address in decisions.created_with_parent]
    likely = next((some for some in (said, has, along, found) if some), [])
    for one in found:
        yield one, one is likely[0] if len(likely) == 1 else UNKNOWN


def _declares(decisions: Decisions, branch: TreeBranch, name: str) -> bool:
    """Return whether an entry sets a flag and the plan writes the flag."""
    sides = decisions.sides
    resource = sides.entries.get(branch.address)
    return (
        resource is not None
        and resource.fields.get(name) is True
        and branch.address in decisions.entries
        and not decisions.blocking.is_field_blocked(branch.address, branch.kind.field(name))
    )


def _flag_scope(branch: TreeBranch, above: tuple[TreeBranch, ...], place: str) -> Address:
    """Return the object within which a flag is exclusive: the parent, or the nearest ancestor of a kind."""
    kinds = branch.kind.parents if place == DIRECT_PARENT else (place,)
    return next(other.address for other in reversed(above) if other.kind.name in kinds)


def _with_flag(branch: TreeBranch, name: str, chosen: Mapping[Address, Any]) -> TreeBranch:
    inside = tuple(_with_flag(one, name, chosen) for one in branch.children)
    fields = {**branch.fields, name: chosen[branch.address]} if branch.address in chosen else branch.fields
    return replace(branch, fields=fields, children=inside)


def navigation_changes(decisions: Decisions, trees: Iterable[NavigationTree]) -> Iterator[NavigationChange]:
    """Yield the changed navigation of each owner, by address, without trees that were not read."""
    for tree in trees:
        if not tree.is_read:
            continue
        before = _nodes(decisions, tree.before, then=False)
        after = (
            _nodes(decisions, tree.after, then=True, twice=_nodes_shown_twice(tree))
            if tree.is_predictable
            else ()
        )
        if before != after:
            yield NavigationChange(
                address=str(tree.owner),
                before=before,
                after=after,
                known=tree.is_predictable or tree.after is None,
            )


ShownAgain = Mapping[Address, tuple[str, ...]]
"""By node, the addresses of other nodes in the navigation that show the same object after the plan."""


def _nodes_shown_twice(tree: NavigationTree) -> ShownAgain:
    """Return the nodes that show the same object as another node, if at least one of them is new."""
    was = {one.address for one, _ in tree.before.walk()} if tree.before is not None else set()
    places: dict[Any, list[Address]] = defaultdict(list)
    for one, _ in tree.after.walk() if tree.after is not None else ():
        content = content_field(one.kind)
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
    decisions: Decisions, around: TreeBranch | None, then: bool, twice: ShownAgain = MappingProxyType({})
) -> tuple[NavigationNode, ...]:
    inside = around.children if around is not None else ()
    return tuple(_node(decisions, one, then, twice) for one in inside)


def _node(decisions: Decisions, branch: TreeBranch, then: bool, twice: ShownAgain) -> NavigationNode:
    flags = [item.name for item in branch.kind.fields if isinstance(item.type, Flag)]
    return NavigationNode(
        address=str(branch.address),
        kind=branch.kind.name,
        title=branch_title(decisions, branch, then),
        path=_segment_or_url(branch),
        marks=tuple(name for name in flags if branch.fields.get(name) is True),
        inside=_nodes(decisions, branch, then, twice),
        also=twice.get(branch.address, ()),
    )


def _segment_or_url(branch: TreeBranch) -> str | None:
    """Return the URL segment of a node, or the target URL of a link."""
    names = [item.name for item in branch.kind.fields if getattr(item.type, "format", None) == "url"]
    name = branch.kind.url.segment_field if branch.kind.url is not None else next(iter(names), "")
    value = branch.fields.get(name)
    return value if isinstance(value, str) else None


def content_field(kind: Kind) -> Field | None:
    """Return the field that refers to the object that a node shows."""
    return next((item for item in kind.fields if item.required and item.type.referenced_kinds), None)


def branch_title(decisions: Decisions, branch: TreeBranch, after: bool) -> str:
    """Return the title of the object that a node shows, else the node's own title."""
    content = content_field(branch.kind)
    value = branch.fields.get(content.name if content is not None else branch.kind.title_field)
    if content is not None:
        value = _reference_title(decisions, content, value, after)
    return value if isinstance(value, str) else ""


def _reference_title(decisions: Decisions, field: Field, value: Any, then: bool) -> str:
    """Return the title of the object to which the value of a field refers."""
    sides = decisions.sides
    if isinstance(value, Ref):
        return _title_at(decisions, value.address, then)
    if isinstance(value, LiveId):
        objects = (sides.snapshot.objects.get((kind, value.id)) for kind in field.type.referenced_kinds)
        return next((sides.names.label(live) for live in objects if live is not None), value.id)
    return ""


def _title_at(decisions: Decisions, address: Address, then: bool) -> str:
    sides = decisions.sides
    live, resource = sides.live(address), sides.entries.get(address)
    if resource is not None and (live is None or (then and _is_title_changed(decisions, address))):
        return sides.names.label(resource)
    return sides.names.label(live) if live is not None else address.last_segment


def _is_title_changed(decisions: Decisions, address: Address) -> bool:
    """Return whether the plan changes the title of an object."""
    entry = decisions.entries.get(address)
    title = decisions.sides.kind(entry.entry).title_field if entry is not None else ""
    return entry is not None and any(item.field.name == title for item in entry.separately_written)
