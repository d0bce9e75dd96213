"""Decide about navigations of sites whose root changes its kind: from site spaces to sections, or back.

A site space is the position of a space in a site. `decide_restructuring` needs a confirmation
(`--confirm "restructure SITE"`). Towards sections, GitBook decides what becomes of the site spaces at the
root. So dpsync creates one section, and the next plan recognizes the objects that GitBook made
(`Restructuring.recognized_ids`). Towards site spaces, dpsync hides the site, deletes all nodes, and builds
the new root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec import field as _field
from msgspec.structs import replace

from dpsync.identity.similarity import fold_name
from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.model import refusals
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry, Scope
from dpsync.model.question import Refusal, WayOut
from dpsync.model.snapshot import Identity, LiveObject, Match, MatchedBy, Snapshot
from dpsync.model.values import canonical_json, live_ids, references
from dpsync.planner.answers import RESTRUCTURE, Answer
from dpsync.planner.names import Names
from dpsync.planner.sides import Sides, ValueConverter


class RestructuredTree(Struct, frozen=True):
    """A site's navigation whose top level changes from sections to site spaces or back."""

    scope: Scope
    owner: LiveObject
    becomes_site_spaces: bool
    """Whether the root will have site spaces instead of sections."""

    @property
    def confirmation(self) -> Answer:
        """The answer that confirms the restructuring."""
        return restructuring_answer(self.scope.parent)


def restructuring_answer(owner: Address) -> Answer:
    """Return the answer that confirms the restructuring of the tree of `owner`."""
    return Answer(RESTRUCTURE, str(owner))


class Restructuring(Struct, frozen=True):
    """The decisions about all navigations whose top level changes from sections to site spaces or back."""

    all_trees: tuple[RestructuredTree, ...] = ()
    """All trees whose root would change its kind, in the order of addresses."""
    confirmed: tuple[RestructuredTree, ...] = ()
    """The confirmed trees; with --no-delete, without those that need deletes."""
    owners_of_replaced_targets: Mapping[Address, Address] = _field(default_factory=dict)
    """The owner of the navigation, by entry that refers to an old node and will refer to a new one.

    The platform deletes such objects with the old node, before the new node exists.
    """
    recognized_ids: Mapping[Address, str] = _field(default_factory=dict)
    """The ids of objects that the platform made after the first section, by the entry that matches."""
    leftover_sections: tuple[Identity, ...] = ()
    """Sections with the title of the site that the platform made and that match no entry."""
    requested_answers: frozenset[Answer] = frozenset()
    """The answers for these trees, and for trees with pins or leftovers that an answer has settled."""


def decide_restructuring(sides: Sides) -> Restructuring:
    """Decide which navigations to rebuild because their top level changes from sections to spaces or back.

    GitBook allows only one of the two at the top level of a site. A rebuild re-creates nodes, so it needs the
    user's confirmation (`--confirm "restructure ..."`).
    """
    trees = tuple(_changing_trees(sides))
    confirmed = tuple(
        tree
        for tree in trees
        if sides.answers.contains(tree.confirmation)
        and (sides.options.delete or not tree.becomes_site_spaces)
    )
    earlier = _settle_earlier_restructurings(sides, trees)
    return Restructuring(
        trees,
        confirmed,
        _entries_with_replaced_targets(sides, confirmed),
        earlier.pins,
        earlier.left_over,
        frozenset(tree.confirmation for tree in trees) | earlier.requested_answers,
    )


def _changing_trees(sides: Sides) -> Iterator[RestructuredTree]:
    """Yield each selected navigation whose top level changes from sections to site spaces or back.

    Navigations that Git Sync sets are left out.
    """
    for address in sorted(sides.desired.scopes):
        scope = sides.desired.scopes[address]
        owner = sides.live(scope.parent)
        if sides.selected_addresses is not None and not any(
            selected.is_at_or_below(address) for selected in sides.selected_addresses
        ):
            continue
        if sides.git_synced.contains(address):
            continue  # the repository determines the kind
        if owner is None or not any(excludes_sections(sides.registry[name]) for name in scope.kinds):
            continue
        root_nodes = sides.snapshot.sibling_order.get(owner.identity, ())
        live_types = {excludes_sections(sides.registry[kind]) for kind, _ in root_nodes}
        children = sides.desired.entries[scope.parent].children
        declared_types = {excludes_sections(sides.registry[sides.entries[child].kind]) for child in children}
        if live_types and declared_types and live_types != declared_types:
            yield RestructuredTree(scope, owner, becomes_site_spaces=True in declared_types)


def _entries_with_replaced_targets(
    sides: Sides, confirmed: Iterable[RestructuredTree]
) -> dict[Address, Address]:
    """Return the entries that refer to a node that the rebuild deletes and will refer to a new node.

    Only entries outside the tree count, such as share links. The value is the address of the site with the
    tree.
    """
    owners: dict[Address, Address] = {}
    for tree in confirmed:
        old_nodes = set(sides.snapshot.scopes[tree.scope.address]) if tree.becomes_site_spaces else set()
        for address, entry in sides.entries.items() if old_nodes else ():
            live = sides.live(address)
            if live is None or address.is_at_or_below(tree.scope.address) or sides.policy.is_ignored(address):
                continue
            for field in sides.kind(entry).fields:
                ids = live_ids(live.fields.get(field.name))
                old_targets = {
                    sides.names.referenced_object(live, kind, id)
                    for kind in field.type.referenced_kinds
                    for id in ids
                }
                new_targets = references(entry.fields.get(field.name))
                if old_targets & old_nodes and any(
                    other.is_at_or_below(tree.scope.address) for other in new_targets
                ):
                    owners[address] = tree.scope.parent
    return owners


def excludes_sections(kind: Kind) -> bool:
    """Return whether a node of this kind at the root of a tree excludes sections there (a site space)."""
    return isinstance(kind.shape, NodeShape) and kind.shape.excludes_other_kinds_at_root


def restructuring_refusals(sides: Sides, restructuring: Restructuring) -> Iterator[Refusal]:
    """Refuse each restructuring that is unconfirmed, impossible, or would leave the site hidden."""
    confirmed = {tree.scope.address for tree in restructuring.confirmed}
    for tree in restructuring.all_trees:
        owner = tree.scope.parent
        if tree.scope.address not in confirmed:
            current, planned = ("sections", "spaces") if tree.becomes_site_spaces else ("spaces", "sections")
            flag = tree.confirmation.flag
            option = WayOut(address=str(owner), add=flag, means="rebuild the navigation")
            yield refusals.RESTRUCTURE.refusal(
                owner, answers=(option,), now=current, then=planned, answer=flag
            )
        elif (
            not tree.becomes_site_spaces
            and first_entry_to_create(sides, tree, sides.hierarchy.subtree(tree.scope.address)) is None
        ):
            yield refusals.NO_FIRST_SPACE.refusal(owner)
        elif tree.becomes_site_spaces:
            # dpsync hides the site meanwhile. After an interruption, only the entry (`published`) tells the
            # next run to show the site again.
            for field in visibility_flags(sides.kind(tree.owner), tree):
                can_hide = isinstance(field.own_call, Mapping) and {False, True} <= field.own_call.keys()
                if not can_hide or field.name not in sides.entries[owner].fields:
                    words = refusals.STAYS_HIDDEN if can_hide else refusals.CANNOT_HIDE
                    yield words.refusal(sides.entries[owner].address, field=field.name)


def visibility_flags(kind: Kind, tree: RestructuredTree) -> list[Field]:
    """Return the flags of the owner of a tree that make it visible and are set now (`published`)."""
    return [
        field
        for field in kind.fields
        if field.exposure == (False, True) and tree.owner.fields.get(field.name) is True
    ]


# Towards sections.


def first_entry_to_create(sides: Sides, tree: RestructuredTree, among: Iterable[Address]) -> Address | None:
    """Return the entry (section) to create first when a tree gets sections; None if no entry is suitable.

    Its create call must also create its first child. On that call, the platform puts the present top-level
    nodes into a section named after the site. So prefer an entry with another name than the site, then one
    with the fewest of these nodes, because that section may become another entry.
    """
    entries = [sides.entries[address] for address in among]
    ranked = []
    for entry in entries:
        create = sides.registry[entry.kind].create
        if isinstance(create, Call) and create.first_child_id_path is not None and entry.children:
            has_title_of_owner = _has_title_of_owner(sides.names, entry, tree.owner)
            common_children = _count_common_children(sides, entry, tree.owner)
            ranked.append((has_title_of_owner, common_children, entry.address))
    return min(ranked)[2] if ranked else None


def _has_title_of_owner(names: Names, entry: Entry, owner: LiveObject) -> bool:
    """Return whether an entry has the name of the owner of the tree, except for case and punctuation."""
    key_values = (entry.fields.get(name) for name in names.kind(entry).natural_key_fields)
    return any(
        fold_name(name) == fold_name(names.label(owner)) for name in key_values if isinstance(name, str)
    )


def _count_common_children(sides: Sides, entry: Entry, container: LiveObject) -> int:
    """Return how many children of an entry show the same content (a space) as a node directly in `container`.

    This tells which entry a section that GitBook made most likely is.
    """
    nodes = [
        sides.snapshot.objects[identity]
        for identity in sides.snapshot.sibling_order.get(container.identity, ())
    ]
    children = [sides.entries[child] for child in entry.children]
    values = sides.values
    return sum(
        any(
            child.kind == node.kind and content_references(values, child) == content_references(values, node)
            for node in nodes
        )
        for child in children
    )


class _EarlierRestructuring(Struct, frozen=True):
    """The state of trees whose first section an earlier apply created; fields as in `Restructuring`."""

    pins: Mapping[Address, str]
    left_over: tuple[Identity, ...]
    requested_answers: frozenset[Answer]


def _settle_earlier_restructurings(sides: Sides, trees: Iterable[RestructuredTree]) -> _EarlierRestructuring:
    """Find the sections that GitBook made when an earlier, confirmed apply created the first section.

    A live section without an entry is either the new entry with the most children in common (a pin), or, if
    it has the title of the site, left over: later it is deleted. `trees` are trees still to restructure.
    """
    unfinished = {tree.scope.address for tree in trees}
    pins: dict[Address, str] = {}
    leftovers: list[Identity] = []
    answers: set[Answer] = set()
    for address, scope in sorted(sides.desired.scopes.items()):
        if not sides.answers.contains(restructuring_answer(scope.parent)):
            continue
        owner = sides.live(scope.parent)
        if owner is None or address in unfinished:
            continue
        for identity in sides.snapshot.sibling_order.get(owner.identity, ()):
            live = sides.snapshot.objects[identity]
            if identity in sides.names.declared or not sides.snapshot.sibling_order.get(identity):
                continue
            new_entry = _best_new_entry(sides, scope, live, set(pins))
            if new_entry is not None:
                pins[new_entry.address] = live.id
            elif sides.names.label(live) == sides.names.label(owner):
                leftovers.append(identity)
        is_settled = any(
            match.by is MatchedBy.SAME_CONTENTS and matched.is_at_or_below(address)
            for matched, match in sides.snapshot.matches.items()
        )
        if is_settled or pins or leftovers:
            answers.add(restructuring_answer(scope.parent))
    return _EarlierRestructuring(pins, tuple(leftovers), frozenset(answers))


def with_pins(desired: Desired, pins: Mapping[Address, str]) -> Desired:
    """Return the configuration with the id of an object in `id:` of each of these entries."""
    entries = {
        address: replace(entry, pin=pins[address]) if address in pins else entry
        for address, entry in desired.entries.items()
    }
    return replace(desired, entries=entries)


def with_content_matches(snapshot: Snapshot, pins: Mapping[Address, str]) -> Snapshot:
    """Return the snapshot with these entries matched by contents, because no person wrote their `id:`."""
    matches = {address: Match(id, MatchedBy.SAME_CONTENTS) for address, id in pins.items()}
    return replace(snapshot, matches={**snapshot.matches, **matches})


def _best_new_entry(
    sides: Sides, scope: Scope, live: LiveObject, taken_addresses: set[Address]
) -> Entry | None:
    """Return the new section entry with the most children in common with a live section.

    GitBook made the live section, so no entry matches it yet. Return None if no entry has common children.
    Entries in `taken_addresses` are already assigned to other sections.
    """
    ranked = [
        (-_count_common_children(sides, entry, live), address)
        for address, entry in sides.entries.items()
        if entry.kind == live.kind
        and address.is_at_or_below(scope.address)
        and address not in taken_addresses
        if sides.live(address) is None and entry.pin is None
    ]
    negative_count, best = min(ranked, default=(0, None))
    return sides.entries[best] if best is not None and negative_count < 0 else None


def restructured_addresses(names: Names, restructuring: Restructuring) -> list[Address]:
    """Return the addresses of restructured navigations, and of sections that a restructuring leaves over.

    `--confirm "restructure SITE"` confirms every deletion in them.
    """
    leftovers = (names.address(identity) for identity in restructuring.leftover_sections)
    return [*(tree.scope.address for tree in restructuring.all_trees), *leftovers]


def confirmed_addresses(names: Names, restructuring: Restructuring) -> list[Address]:
    """Return the addresses of confirmed navigations and of leftovers, whose deletes are thereby confirmed."""
    leftovers = [names.address(identity) for identity in restructuring.leftover_sections]
    return [*(tree.scope.address for tree in restructuring.confirmed), *leftovers]


def content_references(values: ValueConverter, item: Entry | LiveObject) -> tuple[bytes, ...]:
    """Return the required references of an entry or object in normal form, such as a site space's space."""
    reference_fields = [
        field for field in values.registry[item.kind].fields if field.type.referenced_kinds and field.required
    ]
    return tuple(
        canonical_json(values.with_references(field, item.fields.get(field.name), item))
        for field in reference_fields
    )
