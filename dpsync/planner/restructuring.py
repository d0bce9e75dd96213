"""Decide about navigations whose root changes its kind: from site spaces to sections, or back.

`decide_restructuring` needs an answer (`--confirm "restructure SITE"`). Towards sections, GitBook decides
what becomes of the site spaces at the root. So dpsync creates one section, and the next plan recognizes the
objects that GitBook made (`Restructuring.recognized_ids`). Towards site spaces, dpsync hides the site,
deletes all nodes, and builds the new root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec import field as _field
from msgspec.structs import replace

from dpsync.identity.similarity import fold_name
from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.model import refusals
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry, Scope
from dpsync.model.question import Refusal, WayOut
from dpsync.model.snapshot import Identity, LiveObject, Match, MatchedBy, Snapshot
from dpsync.model.values import canonical_json, live_ids, references
from dpsync.planner.answers import RESTRUCTURE, Answer, Answers
from dpsync.planner.history import Names
from dpsync.planner.sides import Sides, ValueConverter


class RestructuredTree(Struct, frozen=True):
    """A tree whose root changes its kind."""

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
    """The decisions about all navigations whose root changes its kind."""

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
    """Decide about the navigations whose root changes its kind, from both sides and the answers."""
    found = tuple(_changing_trees(sides))
    agreed = tuple(_confirmed_trees(sides.answers, found, sides.options.delete))
    settled = _settle_earlier_restructurings(sides, found)
    return Restructuring(
        found,
        agreed,
        _entries_with_replaced_targets(sides, agreed),
        settled.pins,
        settled.left_over,
        frozenset(item.confirmation for item in found) | settled.requested_answers,
    )


def _changing_trees(sides: Sides) -> Iterator[RestructuredTree]:
    for address in sorted(sides.desired.scopes):
        scope = sides.desired.scopes[address]
        owner = sides.live(scope.parent)
        if sides.selected_addresses is not None and not any(
            item.is_at_or_below(address) for item in sides.selected_addresses
        ):
            continue
        if sides.git_synced.contains(address):
            continue  # the repository determines the kind
        if owner is None or not any(excludes_sections(sides.registry[name]) for name in scope.kinds):
            continue
        lane = sides.snapshot.sibling_order.get(owner.identity, ())
        live = {excludes_sections(sides.registry[kind]) for kind, _ in lane}
        children = sides.desired.entries[scope.parent].children
        wanted = {excludes_sections(sides.registry[sides.entries[child].kind]) for child in children}
        if live and wanted and live != wanted:
            yield RestructuredTree(scope, owner, becomes_site_spaces=True in wanted)


def _confirmed_trees(
    answers: Answers, found: Iterable[RestructuredTree], delete: bool
) -> Iterator[RestructuredTree]:
    for item in found:
        if answers.contains(item.confirmation) and (delete or not item.becomes_site_spaces):
            yield item


def _entries_with_replaced_targets(
    sides: Sides, agreed: Iterable[RestructuredTree]
) -> dict[Address, Address]:
    found: dict[Address, Address] = {}
    for item in agreed:
        old = set(sides.snapshot.scopes[item.scope.address]) if item.becomes_site_spaces else set()
        for address, resource in sides.entries.items() if old else ():
            live = sides.live(address)
            if live is None or address.is_at_or_below(item.scope.address) or sides.policy.is_ignored(address):
                continue
            for its in sides.kind(resource).fields:
                ids = live_ids(live.fields.get(its.name))
                named = {
                    sides.names.referenced_object(live, kind, id)
                    for kind in its.type.referenced_kinds
                    for id in ids
                }
                wanted = references(resource.fields.get(its.name))
                if named & old and any(other.is_at_or_below(item.scope.address) for other in wanted):
                    found[address] = item.scope.parent
    return found


def excludes_sections(kind: Kind) -> bool:
    return isinstance(kind.shape, NodeShape) and kind.shape.excludes_other_kinds_at_root


def restructuring_refusals(sides: Sides, restructuring: Restructuring) -> Iterator[Refusal]:
    """Refuse each unconfirmed restructuring, and each after which the site would stay hidden."""
    agreed = {item.scope.address for item in restructuring.confirmed}
    for item in restructuring.all_trees:
        owner = item.scope.parent
        if item.scope.address not in agreed:
            now, then = ("sections", "spaces") if item.becomes_site_spaces else ("spaces", "sections")
            flag = item.confirmation.flag
            way = WayOut(address=str(owner), add=flag, means="rebuild the navigation")
            yield refusals.RESTRUCTURE.refusal(owner, answers=(way,), now=now, then=then, answer=flag)
        elif (
            not item.becomes_site_spaces
            and first_entry_to_create(sides, item, sides.hierarchy.subtree(item.scope.address)) is None
        ):
            yield refusals.NO_FIRST_SPACE.refusal(owner)
        elif item.becomes_site_spaces:
            yield from _refuse_hidden_site(sides.kind(item.owner), sides.entries[owner], item)


def _refuse_hidden_site(kind: Kind, entry: Entry, tree: RestructuredTree) -> Iterator[Refusal]:
    """Refuse a restructuring if no entry sets the flag that shows the site again.

    dpsync hides the site meanwhile. After an interruption, only `published` in the entry tells the next run
    to show the site.
    """
    for field in visibility_flags(kind, tree):
        if _can_hide(field) and field.name in entry.fields:
            continue
        words = refusals.STAYS_HIDDEN if _can_hide(field) else refusals.CANNOT_HIDE
        yield words.refusal(entry.address, field=field.name)


def visibility_flags(kind: Kind, tree: RestructuredTree) -> list[Field]:
    """Return the flags of the owner that make it visible now."""
    return [
        field
        for field in kind.fields
        if field.exposure == (False, True) and tree.owner.fields.get(field.name) is True
    ]


def _can_hide(field: Field) -> bool:
    return isinstance(field.own_call, Mapping) and {False, True} <= field.own_call.keys()


# Towards sections.


def first_entry_to_create(sides: Sides, tree: RestructuredTree, among: Iterable[Address]) -> Address | None:
    """Return the entry to create first: one whose create call also creates its first child; None if none.

    Preferred is an entry with the fewest of the nodes now at the root, because these may become another entry
    of the same kind, and with another name than the site, because the platform gives that name to the section
    that it makes of the root.
    """
    entries = [sides.entries[address] for address in among]
    able = [
        (
            _has_title_of_owner(sides.names, entry, tree.owner),
            _count_common_children(sides, entry, tree.owner),
            entry.address,
        )
        for entry in entries
        if _creates_first_child(sides.registry, entry)
    ]
    return min(able)[2] if able else None


def _has_title_of_owner(names: Names, entry: Entry, owner: LiveObject) -> bool:
    own = (entry.fields.get(name) for name in names.kind(entry).natural_key_fields)
    return any(fold_name(name) == fold_name(names.label(owner)) for name in own if isinstance(name, str))


def _creates_first_child(registry: Registry, entry: Entry) -> bool:
    create = registry[entry.kind].create
    return isinstance(create, Call) and create.first_child_id_path is not None and bool(entry.children)


def _count_common_children(sides: Sides, entry: Entry, holder: LiveObject) -> int:
    """Return how many of the nodes in a live object an entry has as children."""
    inside = [sides.snapshot.objects[one] for one in sides.snapshot.sibling_order.get(holder.identity, ())]
    children = [sides.entries[child] for child in entry.children]
    return sum(any(_has_same_content(sides.values, child, other) for other in inside) for child in children)


class _EarlierRestructuring(Struct, frozen=True):
    """The state of trees whose first section an earlier apply created; fields as in `Restructuring`."""

    pins: Mapping[Address, str]
    left_over: tuple[Identity, ...]
    requested_answers: frozenset[Answer]


def _settle_earlier_restructurings(sides: Sides, found: Iterable[RestructuredTree]) -> _EarlierRestructuring:
    changing = {item.scope.address for item in found}
    pins: dict[Address, str] = {}
    left: list[Identity] = []
    asked: set[Answer] = set()
    for address, scope in sorted(sides.desired.scopes.items()):
        if not sides.answers.contains(restructuring_answer(scope.parent)):
            continue
        owner = sides.live(scope.parent)
        if owner is None:
            continue
        if address in changing:
            continue
        for identity in sides.snapshot.sibling_order.get(owner.identity, ()):
            live = sides.snapshot.objects[identity]
            if identity in sides.names.declared or not sides.snapshot.sibling_order.get(identity):
                continue
            entry = _best_new_entry(sides, scope, live, set(pins))
            if entry is not None:
                pins[entry.address] = live.id
            elif sides.names.label(live) == sides.names.label(owner):
                left.append(identity)
        settled_by_now = any(
            match.by is MatchedBy.SAME_CONTENTS and entry.is_at_or_below(address)
            for entry, match in sides.snapshot.matches.items()
        )
        if settled_by_now or pins or left:
            asked.add(restructuring_answer(scope.parent))
    return _EarlierRestructuring(pins, tuple(left), frozenset(asked))


def with_pins(desired: Desired, pins: Mapping[Address, str]) -> Desired:
    """Return the configuration with these ids as `id:` of the entries."""
    resources = {
        address: replace(item, pin=pins[address]) if address in pins else item
        for address, item in desired.entries.items()
    }
    return replace(desired, entries=resources)


def with_content_matches(snapshot: Snapshot, pins: Mapping[Address, str]) -> Snapshot:
    """Return the snapshot with these entries matched by contents, because no person wrote their `id:`."""
    by = {address: Match(id, MatchedBy.SAME_CONTENTS) for address, id in pins.items()}
    return replace(snapshot, matches={**snapshot.matches, **by})


def _best_new_entry(sides: Sides, scope: Scope, live: LiveObject, taken: set[Address]) -> Entry | None:
    """Return the new entry of the same kind with the most children in common with a live object, if any."""
    able = [
        (-_count_common_children(sides, entry, live), address)
        for address, entry in sides.entries.items()
        if entry.kind == live.kind and address.is_at_or_below(scope.address) and address not in taken
        if sides.live(address) is None and entry.pin is None
    ]
    number, best = min(able, default=(0, None))
    return sides.entries[best] if best is not None and number < 0 else None


def _has_same_content(values: ValueConverter, entry: Entry, live: LiveObject) -> bool:
    """Return whether an entry and a live object have the same kind and the same required references."""
    return entry.kind == live.kind and content_references(values, entry) == content_references(values, live)


def restructured_addresses(names: Names, restructuring: Restructuring) -> list[Address]:
    """Return the addresses of restructured navigations, and of sections that a restructuring leaves over.

    `--confirm "restructure SITE"` confirms every deletion in them.
    """
    left = (names.address(identity) for identity in restructuring.leftover_sections)
    return [*(item.scope.address for item in restructuring.all_trees), *left]


def confirmed_addresses(names: Names, restructuring: Restructuring) -> list[Address]:
    """Return the addresses of confirmed navigations and of leftovers, whose deletes are thereby confirmed."""
    left = [names.address(identity) for identity in restructuring.leftover_sections]
    return [*(item.scope.address for item in restructuring.confirmed), *left]


def content_references(values: ValueConverter, item: Entry | LiveObject) -> tuple[bytes, ...]:
    """Return the required references of an entry or object in normal form, such as a site space's space."""
    named = [its for its in values.registry[item.kind].fields if its.type.referenced_kinds and its.required]
    return tuple(
        canonical_json(values.with_references(its, item.fields.get(its.name), item)) for its in named
    )
