"""Build the navigation trees of a site before and after a plan, as visitors see them.

`changed_trees` returns each tree that a change touches, `live_trees` all live trees, and `navigation_changes`
the changed navigations with titles, marks and order. A value that GitBook will choose is `UNKNOWN`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
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
from dpsync.planner.names import DIRECT_PARENT
from dpsync.planner.sibling_order import after_moves, fewest_moves


class _UnknownValue:
    """The type of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _UnknownValue()
"""Stands for a value that only the platform can choose."""


class TreeBranch(Struct, frozen=True):
    """A navigation node, or a site as the owner of a tree, with its fields and its children in order."""

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
        for child in self.children:
            yield from child.walk((*ancestors, self))


class NavigationTree(Struct, frozen=True):
    """The navigation tree of a site (its owner) before and after a plan; None if the site does not exist."""

    owner: Address
    before: TreeBranch | None
    after: TreeBranch | None
    is_read: bool
    """Whether the contents of the tree were read."""
    is_changed: bool
    """Whether a node or an object that a node shows changes; else only something above the tree changes."""
    is_predictable: bool
    """Whether the tree after the plan is known; a restructuring by the platform can make it unknown."""

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
    """Yield the navigation tree of each live or declared site (its owner) that a change touches, by address.

    A change touches a tree if it is in the tree, in an object that a node shows, or above the tree.
    """
    changes = list(changes)
    if not changes:
        return
    builder = _TreeBuilder(decisions)
    changed_objects = {change.location for change in changes}
    # The addresses of all changes and effects, and of everything above them.
    changed_addresses: set[Address] = set()
    for address in changed_objects | {effect.location for change in changes for effect in change.effects}:
        changed_addresses.update(
            takewhile(lambda other: other not in changed_addresses, address.self_and_ancestors())
        )
    changed_addresses.update(builder.owners_showing({change.id for change in changes if change.id}))
    for address, live in builder.owners():
        is_changed = address in changed_addresses
        if is_changed or not changed_objects.isdisjoint(address.self_and_ancestors()):
            yield builder.build_tree(address, live, is_changed)


def live_trees(decisions: Decisions) -> Iterator[TreeBranch]:
    """Yield each live tree (of a site) as a branch, by address of the owner."""
    builder = _TreeBuilder(decisions)
    return (builder.live_branch(live) for _, live in builder.owners() if live is not None)


class _TreeBuilder(Struct, frozen=True, dict=True):
    """The construction of trees before and after a plan."""

    decisions: Decisions

    @cached_property
    def _new_nodes(self) -> Mapping[Address | None, list[Address]]:
        """The nodes that the plan creates, by the address of the parent node or owner."""
        sides, nodes = self.decisions.sides, defaultdict[Address | None, list[Address]](list)
        for address, entry in sides.entries.items():
            if sides.kind(entry).is_node and sides.live(address) is None and self._is_created(address):
                nodes[entry.holder or entry.parent].append(address)
        return nodes

    def owners(self) -> Iterator[tuple[Address, LiveObject | None]]:
        """Yield the address and object of each live or planned site (owner of a tree); None if it is new."""
        sides = self.decisions.sides
        kinds = {
            sides.registry.tree_owner(kind) for kind in sides.registry.in_dependency_order if kind.is_node
        }
        owners: dict[Address, LiveObject | None] = {
            address: sides.live(address)
            for address, entry in sides.entries.items()
            if entry.kind in kinds and (sides.live(address) is not None or self._is_created(address))
        }
        for identity, live in sides.snapshot.objects.items():
            if live.kind in kinds:
                owners.setdefault(sides.names.address(identity), live)
        yield from sorted(owners.items(), key=lambda owner: owner[0])

    def owners_showing(self, ids: Container[str]) -> Iterator[Address]:
        """Yield the ancestors (sites) of the live nodes that show an object with one of these ids."""
        sides = self.decisions.sides
        for live in self._live_nodes.values():
            shown_values = (
                live.fields.get(field.name) for field in sides.kind(live).fields if field.required
            )
            if any(isinstance(value, LiveId) and value.id in ids for value in shown_values):
                yield from (sides.names.address(ancestor) for ancestor in sides.snapshot.ancestors(live))

    def build_tree(self, address: Address, live: LiveObject | None, is_changed: bool) -> NavigationTree:
        """Return the navigation tree of a site before and after the plan; `live` is the site's object.

        `is_changed` is stored in the result: whether a change is in the tree or in an object that it shows.
        """
        sides = self.decisions.sides
        kind = sides.registry[live.kind] if live is not None else sides.kind(sides.entries[address])
        list_addresses = [
            address.child(*key.split(".")) for key in sides.registry.kinds_by_list_key(kind.name)
        ]
        is_read = live is None or any(
            list_address in sides.snapshot.scopes and sides.registry[scope.kinds[0]].is_node
            for list_address in list_addresses
            if (scope := sides.desired.scopes.get(list_address)) is not None
        )
        is_deleted = live is not None and self.decisions.deletions.deletes(live.identity)
        becomes_site_spaces = {
            restructuring.scope.parent: restructuring.becomes_site_spaces
            for restructuring in self.decisions.restructuring.confirmed
        }
        restructured_owners = {
            restructuring.scope.parent for restructuring in self.decisions.restructuring.all_trees
        }
        return NavigationTree(
            address,
            self.live_branch(live) if live is not None else None,
            None
            if is_deleted
            else with_planned_flags(self.decisions, self._planned_branch(address, kind, live)),
            is_read or is_deleted,
            is_changed,
            is_predictable=address not in restructured_owners or becomes_site_spaces.get(address) is True,
        )

    def live_branch(self, live: LiveObject) -> TreeBranch:
        """Return a live object with the live nodes below as a branch."""
        sides = self.decisions.sides
        children = tuple(self.live_branch(child) for child in self._live_children(live))
        kind = sides.registry[live.kind]
        fields = {field.name: self._live_value(field.name, kind, live) for field in kind.fields}
        return TreeBranch(sides.names.address(live.identity), kind, fields, children, live.url, live.identity)

    def _live_children(self, live: LiveObject) -> list[LiveObject]:
        """Return the live nodes directly in a node or in a site, in order if the order was read."""
        sides = self.decisions.sides
        ordered_siblings = sides.snapshot.sibling_order.get(live.identity)
        if ordered_siblings is None:
            return self._unordered_children.get(live.identity, [])
        return [
            sides.snapshot.objects[identity]
            for identity in ordered_siblings
            if sides.registry[identity[0]].is_node
        ]

    @cached_property
    def _unordered_children(self) -> dict[Identity, list[LiveObject]]:
        """The live nodes by parent node or owner, for owners whose order of nodes was not read."""
        children: dict[Identity, list[LiveObject]] = defaultdict(list)
        for live in self._live_nodes.values():
            if (container := live.holder or live.parent) is not None:
                children[container].append(live)
        return children

    def _live_value(self, name: str, kind: Kind, live: LiveObject) -> Value:
        """Return the value of a field of a live object, with references for ids."""
        return self.decisions.sides.values.with_references(kind.field(name), live.fields.get(name), live)

    # Afterwards.

    def _planned_branch(self, address: Address, kind: Kind, live: LiveObject | None) -> TreeBranch:
        """Return a node or a site with all its descendants as it will be after the plan.

        `with_planned_flags` corrects flags afterwards.
        """
        sides = self.decisions.sides
        fields = {field.name: self._planned_value(address, field.name, kind, live) for field in kind.fields}
        children = []
        for child in self._planned_children(address, live):
            child_kind = sides.kind(sides.entries.get(child) or self._live_nodes[child])
            child_object = sides.live(child) or self._live_nodes.get(child)
            children.append(self._planned_branch(child, child_kind, child_object))
        if live is None:
            return TreeBranch(address, kind, fields, tuple(children))
        return TreeBranch(address, kind, fields, tuple(children), live.url, live.identity)

    @cached_property
    def _live_nodes(self) -> dict[Address, LiveObject]:
        """The live nodes of all trees by address."""
        sides = self.decisions.sides
        return {
            sides.names.address(identity): live
            for identity, live in sides.snapshot.objects.items()
            if sides.registry[live.kind].is_node
        }

    def _planned_value(self, address: Address, name: str, kind: Kind, live: LiveObject | None) -> Any:
        """Return the value of a field after the plan; UNKNOWN if the platform chooses it."""
        decision = self.decisions.entries.get(address)
        field = kind.field(name)
        if live is not None:
            for change in decision.separately_written if decision is not None else ():
                if change.field.name == name:
                    return change.after
            return self._live_value(name, kind, live)
        declared = self.decisions.sides.entries[address]
        if name in declared.fields and not self.decisions.blocking.is_field_blocked(address, field):
            return declared.fields[name]
        return field.value_when_absent if field.value_when_absent is not None else UNKNOWN

    def _is_created(self, address: Address) -> bool:
        """Return whether the plan creates the object of an entry that has no live object."""
        return address in self.decisions.entries

    def _planned_children(self, address: Address, live: LiveObject | None) -> list[Address]:
        """Return the nodes directly in a node or in a site after the plan, in order.

        New and moved nodes arrive after the nodes that stay; then the moves of the plan bring all into the
        declared order.
        """
        sides = self.decisions.sides
        staying = [
            sides.names.address(identity)
            for identity in (sides.snapshot.sibling_order.get(live.identity, ()) if live is not None else ())
            if sides.registry[identity[0]].is_node
            and not self.decisions.deletions.deletes(identity)
            and self._planned_parent_node(identity) == address
        ]
        entry = sides.entries.get(address)
        declared_order = list(entry.children) if entry is not None else []
        ranks = {child: rank for rank, child in enumerate(declared_order)}
        arriving = sorted(
            {*self._new_nodes.get(address, ()), *self._moved_nodes.get(address, ())}.difference(staying),
            key=lambda child: (ranks.get(child, len(declared_order)), child),
        )
        order_before_moves = [*staying, *arriving]
        known_children = set(order_before_moves)
        final_order = [
            child
            for child in declared_order
            if child in known_children and not sides.policy.is_unselected(child)
        ]
        return after_moves(order_before_moves, fewest_moves(order_before_moves, final_order))

    def _planned_parent_node(self, identity: Identity) -> Address | None:
        """Return the address of the node (or the site) that directly contains a live node after the plan."""
        sides = self.decisions.sides
        live = sides.snapshot.objects[identity]
        decision = self.decisions.entries.get(sides.names.address(identity))
        for change in decision.separately_written if decision is not None else ():
            if change.field.is_parent_reference:
                if isinstance(change.after, Ref):
                    return change.after.address
                return sides.names.address(live.parent) if live.parent is not None else None
        container = live.holder or live.parent
        return sides.names.address(container) if container is not None else None

    @cached_property
    def _moved_nodes(self) -> dict[Address | None, list[Address]]:
        """The live nodes that the plan moves into another node or site, by the address of the new one."""
        sides = self.decisions.sides
        moved_nodes: dict[Address | None, list[Address]] = defaultdict(list)
        for address, live in self._live_nodes.items():
            container = live.holder or live.parent
            if container is None or self.decisions.deletions.deletes(live.identity):
                continue
            if (planned_parent := self._planned_parent_node(live.identity)) != sides.names.address(container):
                moved_nodes[planned_parent].append(address)
        return moved_nodes


def with_planned_flags(decisions: Decisions, owner: TreeBranch) -> TreeBranch:
    """Return a tree with its exclusive flags (one default per parent) as they are after the plan."""
    flags = {
        (field.name, field.exclusive_within, branch.kind.name)
        for branch, _ in owner.walk()
        for field in branch.kind.fields
        if field.exclusive_within is not None
    }
    for flag, scope_kind, kind_name in sorted(flags):
        branches_by_scope: dict[Address, list[TreeBranch]] = defaultdict(list)
        for branch, ancestors in owner.walk():
            if branch.kind.name == kind_name:
                # The flag is exclusive in the parent, or in the nearest ancestor of a kind.
                scopes = branch.kind.parents if scope_kind == DIRECT_PARENT else (scope_kind,)
                owners = (other.address for other in reversed(ancestors) if other.kind.name in scopes)
                branches_by_scope[next(owners)].append(branch)
        flag_values = {
            branch.address: value
            for branches in branches_by_scope.values()
            for branch, value in _flag_values(decisions, branches, flag)
        }
        owner = _with_flag(owner, flag, flag_values)
    return owner


def _flag_values(
    decisions: Decisions, branches: list[TreeBranch], flag: str
) -> Iterator[tuple[TreeBranch, Any]]:
    """Yield, for each branch that shares an exclusive flag, whether it has the flag after the plan.

    Exactly one has the flag. The value is UNKNOWN for all if several could get it and the platform chooses.
    """
    declaring = [branch for branch in branches if _sets_flag(decisions, branch, flag)]
    having = [branch for branch in branches if branch.fields[flag] is True]
    created_with_parent = [branch for branch in branches if branch.address in decisions.created_with_parent]
    # The first of these groups that is not empty has the flag.
    groups = (declaring, having, created_with_parent, branches)
    candidates = next((group for group in groups if group), [])
    for branch in branches:
        yield branch, branch is candidates[0] if len(candidates) == 1 else UNKNOWN


def _sets_flag(decisions: Decisions, branch: TreeBranch, flag: str) -> bool:
    """Return whether the entry of a branch sets an exclusive flag, and the plan writes the flag."""
    sides = decisions.sides
    entry = sides.entries.get(branch.address)
    return (
        entry is not None
        and entry.fields.get(flag) is True
        and branch.address in decisions.entries
        and not decisions.blocking.is_field_blocked(branch.address, branch.kind.field(flag))
    )


def _with_flag(branch: TreeBranch, flag: str, values: Mapping[Address, Any]) -> TreeBranch:
    """Return a tree in which a flag has the given value for each address in `values`."""
    children = tuple(_with_flag(child, flag, values) for child in branch.children)
    fields = {**branch.fields, flag: values[branch.address]} if branch.address in values else branch.fields
    return replace(branch, fields=fields, children=children)


def navigation_changes(decisions: Decisions, trees: Iterable[NavigationTree]) -> Iterator[NavigationChange]:
    """Yield the navigation of each site (the owner of a tree) before and after the plan, if that differs.

    Trees that were not read are left out. For an unpredictable tree, the navigation after the plan is
    empty.
    """
    for tree in trees:
        if not tree.is_read:
            continue
        before = _navigation_nodes(decisions, tree.before, after=False)
        after = (
            _navigation_nodes(decisions, tree.after, after=True, shown_again=_nodes_showing_same(tree))
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


def _nodes_showing_same(tree: NavigationTree) -> ShownAgain:
    """Return the nodes that show the same object as other nodes, if some are new and some are not."""
    former_addresses = {node.address for node, _ in tree.before.walk()} if tree.before is not None else set()
    nodes_by_content: dict[Any, list[Address]] = defaultdict(list)
    for node, _ in tree.after.walk() if tree.after is not None else ():
        content = content_field(node.kind)
        value = node.fields.get(content.name) if content is not None else None
        if isinstance(value, Ref | LiveId):
            nodes_by_content[value].append(node.address)
    return {
        address: tuple(str(other) for other in addresses if other != address)
        for addresses in nodes_by_content.values()
        if len(addresses) > 1
        and any(node in former_addresses for node in addresses)
        and any(node not in former_addresses for node in addresses)
        for address in addresses
    }


def _navigation_nodes(
    decisions: Decisions,
    branch: TreeBranch | None,
    after: bool,
    shown_again: ShownAgain = MappingProxyType({}),
) -> tuple[NavigationNode, ...]:
    """Return the nodes inside a branch with all their descendants, as the plan shows a navigation.

    `after` says whether titles are those after the plan or the live ones. `shown_again` has, by node, other
    nodes that show the same object.
    """
    return tuple(
        NavigationNode(
            address=str(node.address),
            kind=node.kind.name,
            title=branch_title(decisions, node, after),
            path=_segment_or_url(node),
            marks=tuple(
                field.name
                for field in node.kind.fields
                if isinstance(field.type, Flag) and node.fields.get(field.name) is True
            ),
            inside=_navigation_nodes(decisions, node, after, shown_again),
            also=shown_again.get(node.address, ()),
        )
        for node in (branch.children if branch is not None else ())
    )


def _segment_or_url(branch: TreeBranch) -> str | None:
    """Return the URL segment of a node, or the target URL of a link."""
    url_fields = [field.name for field in branch.kind.fields if getattr(field.type, "format", None) == "url"]
    field_name = branch.kind.url.segment_field if branch.kind.url is not None else next(iter(url_fields), "")
    value = branch.fields.get(field_name)
    return value if isinstance(value, str) else None


def content_field(kind: Kind) -> Field | None:
    """Return the field that refers to the object that a node shows (such as a space), if the kind has one."""
    return next((field for field in kind.fields if field.required and field.type.referenced_kinds), None)


def branch_title(decisions: Decisions, branch: TreeBranch, after: bool) -> str:
    """Return the title of the object that a node shows, live or after the plan; else the node's title."""
    content = content_field(branch.kind)
    value = branch.fields.get(content.name if content is not None else branch.kind.title_field)
    if content is not None:
        value = _reference_title(decisions, content, value, after)
    return value if isinstance(value, str) else ""


def _reference_title(decisions: Decisions, field: Field, value: Any, after: bool) -> str:
    """Return the title of the object to which the value of a field refers; "" for other values.

    The title is the declared one if the object is new, or if the plan changes it and `after` is true.
    """
    sides = decisions.sides
    if isinstance(value, Ref):
        address = value.address
        live, entry, decision = (
            sides.live(address),
            sides.entries.get(address),
            decisions.entries.get(address),
        )
        title_changes = decision is not None and any(
            change.field.name == sides.kind(decision.entry).title_field
            for change in decision.separately_written
        )
        if entry is not None and (live is None or (after and title_changes)):
            return sides.names.label(entry)
        return sides.names.label(live) if live is not None else address.last_segment
    if isinstance(value, LiveId):
        objects = (sides.snapshot.objects.get((kind, value.id)) for kind in field.type.referenced_kinds)
        return next((sides.names.label(live) for live in objects if live is not None), value.id)
    return ""
