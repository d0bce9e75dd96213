"""Write the notes of a plan about removed entries, impossible moves, and policy patterns.

`find_notes` returns all notes. A note neither changes nor refuses anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice

from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, Pattern
from dpsync.model.change import Note
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import Identity, LiveObject, MatchedBy, RecordedIds, Snapshot
from dpsync.model.text import shorten_list
from dpsync.model.values import canonical_json
from dpsync.planner.deletions import Deletions
from dpsync.planner.history import FormerNames, Hierarchy, Names
from dpsync.planner.policy import EffectivePolicy
from dpsync.planner.restructuring import RestructuredTree, content_references
from dpsync.planner.sides import Sides, ValueConverter


def find_notes(
    sides: Sides, deletions: Deletions, restructures: Iterable[RestructuredTree]
) -> Iterator[Note]:
    """Yield all notes; with a selection, those about selected addresses and about the policy."""
    yield from (
        note
        for note in history_notes(sides, deletions)
        if _is_note_selected(sides.names, sides.selected_addresses, note)
    )
    yield from _skipped_delete_notes(sides.names, deletions)
    yield from recreation_notes(sides, deletions, restructures)
    yield from pattern_notes(sides)
    yield from loosened_policy_notes(sides, deletions)


def _is_note_selected(names: Names, chosen: frozenset[Address] | None, note: Note) -> bool:
    """Return whether a note is about a planned address, or about an object with such an address."""
    if chosen is None:
        return True
    live = names.objects_of_base_entries.get(note.location)
    return note.location in chosen or bool(live and names.address(live) in chosen)


# History: objects that outlive their entry, and lines that can be removed.


def history_notes(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    """Yield notes about changed lines of the ids file, kept objects, and obsolete lines of entries."""
    yield from _changed_line_notes(sides.snapshot.recorded_ids, sides.base.name)
    yield from _removed_entry_notes(sides, deletions)
    yield from _obsolete_line_notes(sides.desired, sides.snapshot)
    yield from _replaced_object_notes(sides.snapshot)


def _changed_line_notes(records: RecordedIds, base: str) -> Iterator[Note]:
    """Note each line of the ids file that changed since the git base: the entry is another object now."""
    for before, now in records.changed_lines:
        was, is_ = (" ".join(filter(None, (line.id, line.second_id))) for line in (before, now))
        text = f"the line of this entry in the ids file changed from {was} (in {base}) to {is_}"
        yield Note(address=str(now.address), text=text)


def _removed_entry_notes(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    """Note each entry that was removed since the git base and whose object the plan keeps."""
    removed = [
        address
        for address, identity in sides.names.objects_of_base_entries.items()
        if address not in sides.desired.entries
        and identity not in sides.names.declared
        and not sides.registry[identity[0]].exists_with_parent
    ]
    among = set(removed)
    for address in sorted(removed):
        identity = sides.names.objects_of_base_entries[address]
        if sides.policy.is_forgotten(identity):
            if sides.desired.is_pruned(_place(address)):
                yield _lasting_forget_note(sides.names, address, identity)
            continue
        if deletions.deletes(identity) or any(
            other in among for other in islice(address.self_and_ancestors(), 1, None)
        ):
            continue
        live = sides.snapshot.objects[identity]
        noun, label = sides.kind(live).noun, sides.names.label(live)
        text = (
            f'the entry was removed, but the {noun} "{label}" ({live.id}) is '
            f"kept{_how_to_delete(sides, identity, noun)}"
        )
        yield Note(address=str(address), text=text)


def _how_to_delete(sides: Sides, identity: Identity, noun: str) -> str:
    """Return how to delete an object that the plan keeps, if only a prune pattern is missing, else ""."""
    places = (place for place, items in sides.snapshot.scopes.items() if identity in items)
    place = next((one for one in places if not sides.desired.is_pruned(one)), None)
    return f". To delete the {noun}, add to policy prune: [{place}]" if place is not None else ""


def _place(address: Address) -> Address:
    return address.list_address


def _lasting_forget_note(names: Names, address: Address, identity: Identity) -> Note:
    """Note the line that keeps an object in `forget` after the git base has lost its entry."""
    live = names.snapshot.objects[identity]
    name = _place(names.address(identity)).unmanaged_child(names.label(live), live.id)
    text = f'policy.forget keeps the {names.kind(live).noun} "{names.label(live)}"'
    lasting = (name, names.address(identity))
    if not any(
        pattern.matches_or_contains(one) for pattern in names.desired.policy.forget for one in lasting
    ):
        text += f". Write {name} in policy.forget, because only git knows the former address"
    return Note(address=str(address), text=text)


def _obsolete_line_notes(desired: Desired, snapshot: Snapshot) -> Iterator[Note]:
    """Note each `previously` and `new` that has served its purpose."""
    for address, resource in desired.entries.items():
        match = snapshot.matches.get(address)
        if match is None:
            continue
        if resource.has_earlier_name and match.by is not MatchedBy.PREVIOUSLY:
            text = "the object has been renamed: remove this line"
            yield Note(address=str(address.field("previously")), text=text, detail=True)
        if resource.new:
            yield Note(address=str(address.field("new")), text="the object exists now: remove this line")


def _replaced_object_notes(snapshot: Snapshot) -> Iterator[Note]:
    """Note each entry whose object in the ids file was deleted and that matches another object by name."""
    for address, missing in snapshot.missing_objects.items():
        if address in snapshot.matches:
            yield Note(
                address=str(address), text=f"the former object {missing.id} of this entry no longer exists"
            )


def _skipped_delete_notes(names: Names, deletions: Deletions) -> Iterator[Note]:
    """Note each object that a plan keeps because `protect` with `skip` names the object or its contents."""
    for identity, protected in deletions.kept_for_protected.items():
        what = (
            "the object is protected" if identity == protected else f"{names.address(protected)} is protected"
        )
        why = "" if identity == protected else " and would also be deleted"
        yield Note(address=str(names.address(identity)), text=f"kept: {what}{why}")


# Moves that the platform does not support.


def recreation_notes(
    sides: Sides, deletions: Deletions, changing: Iterable[RestructuredTree]
) -> Iterator[Note]:
    """Note each moved entry that the plan re-creates because the platform cannot move its object.

    The git base shows that an entry was moved. Without a base, the note mentions the possibility, and only if
    an object has all natural keys of the entry and its parent is declared.
    """
    kinds = {
        kind.name: nest for kind in sides.registry.in_dependency_order for nest in _fixed_parent_field(kind)
    }
    strangers: dict[tuple[Identity, tuple[bytes, ...]], list[LiveObject]] = defaultdict(list)
    for identity, live in sides.snapshot.objects.items():
        if live.kind in kinds and identity not in sides.names.declared:
            strangers[_tree_owner(sides.hierarchy, live), content_references(sides.values, live)].append(live)
    rebuilt = [item.scope.address for item in changing]
    for address in sorted(sides.entries) if strangers else ():
        if any(address.is_at_or_below(tree) for tree in rebuilt):
            continue
        entry = sides.entries[address]
        fixed = kinds.get(entry.kind)
        if fixed is None or sides.live(address) is not None:
            continue
        around = sides.hierarchy.ancestor(entry, sides.registry.tree_owner(sides.kind(entry)))
        owner = sides.live(around) if around is not None else None
        for live in (
            strangers.get((owner.identity, content_references(sides.values, entry)), ()) if owner else ()
        ):
            was = sides.names.address(live.identity)
            what = "is deleted" if deletions.deletes(live.identity) else "stays"
            url = f" (URL {live.url})" if live.url else ""
            if live.identity in sides.names.base_addresses:
                text = (
                    f"GitBook cannot change the {fixed.name} of this object. dpsync therefore creates a "
                    f"new object, and {was} {what}{url}"
                )
            elif _differs_only_in_position(sides.names, sides.values, entry, live):
                text = (
                    f"if you moved {was}: GitBook cannot change the {fixed.name} of this object. dpsync "
                    "therefore creates a new object, and "
                )
                text += f"{was} {what}{url}"
            else:
                continue
            yield Note(address=str(address), text=text)


def _differs_only_in_position(known: Names, values: ValueConverter, entry: Entry, live: LiveObject) -> bool:
    """Return whether there is no git base and a live object differs from an entry only in its position."""
    around = [item for item in (live.holder, live.parent) if item is not None]
    kind = known.kind(entry)
    names = kind.natural_key_fields
    return (
        known.base.desired is None
        and all(item in known.declared for item in around)
        and all(name in entry.fields for name in names)
        and all(
            canonical_json(entry.fields[name])
            == canonical_json(values.with_references(kind.field(name), live.fields.get(name), live))
            for name in names
        )
    )


def _fixed_parent_field(kind: Kind) -> tuple[Field, ...]:
    """Return the field that names the parent, if the platform cannot change it, as a tuple."""
    return tuple(
        item
        for item in kind.fields
        if item.is_parent_reference and item.written_in == "create" and item.own_call is None
    )


def _tree_owner(lineage: Hierarchy, live: LiveObject) -> Identity:
    """Return the owner of the tree that contains a node."""
    registry = lineage.registry
    owner = lineage.live_ancestor(live, registry.tree_owner(registry[live.kind]))
    assert owner is not None
    return owner


# Policy patterns without effect, and policy changes that allow more deletes.

MATCHES_NOTHING = "this pattern matches no entry and no live object"
OBJECT_GONE = "no object has this name: remove this line"
NO_UNDECLARED_MATCH = (
    "no object without an entry matches this pattern: the object was deleted or renamed, or has an entry now"
)
NOT_COVERED_BY_PRUNE = (
    "dpsync does not delete this object, because no prune pattern covers the list that contains the object"
)
NEVER_DELETED = "dpsync never deletes objects of the types that this pattern matches"
PROBLEM_SOLVED = "GitBook no longer reports this problem: remove this line"


def pattern_notes(sides: Sides) -> Iterator[Note]:
    """Warn of each policy pattern that matches neither an entry nor a live object.

    A pattern that can never match is an error of `validate`. A pattern that matches nothing now is often
    obsolete, and sometimes a typing error in a protection. A `removed` line that is done is an ordinary note.
    """
    desired, names = sides.desired, sides.names
    policy = desired.policy
    known = [*_all_addresses(names)] if policy.protect or policy.ignore else []
    prune = policy.prune if policy.deletable_ids is None else ()  # with `only`, no file contains the patterns
    rules: dict[str, tuple[Iterable[Pattern], Callable[[Pattern], str | None]]] = {
        "prune": (prune, partial(_useless_prune_reason, sides.registry, desired)),
        "protect": (policy.protect, partial(_useless_protect_reason, known)),
        "ignore": (policy.ignore, partial(_useless_ignore_reason, known)),
        "forget": (policy.forget, partial(_useless_forget_reason, sides.policy)),
        "watch": (
            [one for one in (*policy.watch, *policy.watch_fields) if one.written_word is None],
            partial(_useless_watch_reason, desired),
        ),
    }
    for pattern in policy.watch_values:
        if _matches_no_undeclared(sides, pattern):
            yield Note(address=pattern_key("watch", pattern), text=NO_UNDECLARED_MATCH, severity="warning")
    for pattern in policy.removed:
        if (why := _useless_removed_reason(sides.former_names, pattern)) is not None:
            yield Note(address=pattern_key("removed", pattern), text=why)
    yield from _accept_notes(sides)
    for name, (patterns, wrong) in rules.items():
        for pattern in patterns:
            if (why := wrong(pattern)) is not None:
                yield Note(address=pattern_key(name, pattern), text=why, severity="warning")


def environment_notes(desired: Desired) -> Iterator[Note]:
    """Warn of an address or a token variable that takes effect only once this change is merged."""
    chosen = desired.environment
    if chosen is not None and chosen.pending:
        yield Note(address=environment_key(chosen.name), text=chosen.pending, severity="warning")


def environment_key(name: str) -> str:
    """Return the key under which the plan stores the origin of an environment and the note about it."""
    return f'environment "{name}"'


def pattern_key(name: str, pattern: Pattern) -> str:
    """Return the key under which the plan stores the origin of a pattern and the notes about it."""
    return f'policy.{name} "{pattern.text}"'


def _useless_prune_reason(registry: Registry, desired: Desired, pattern: Pattern) -> str | None:
    if any(pattern.matches(address) for address in desired.unsupported):
        return None
    lists = [scope for address, scope in desired.scopes.items() if pattern.matches(address)]
    kinds = {name for scope in lists for name in scope.kinds}
    if any(isinstance(registry.with_all_kinds[name].delete, Call) for name in kinds):
        return None
    return NEVER_DELETED if lists else MATCHES_NOTHING


def _useless_protect_reason(known: Iterable[Address], pattern: Pattern) -> str | None:
    found = [len(address.segments) for address in known if pattern.matches(address)]
    if not found:
        return MATCHES_NOTHING
    # dpsync never deletes an organization, and a protected organization does not protect its contents.
    return None if max(found) > 1 else f'{NEVER_DELETED}. To protect its contents, write "{pattern.text}/**"'


def _useless_ignore_reason(known: Iterable[Address], pattern: Pattern) -> str | None:
    named = pattern.matches_or_contains if pattern.field is None else pattern.matches
    return None if any(named(address) for address in known) else MATCHES_NOTHING


def _useless_forget_reason(policy: EffectivePolicy, pattern: Pattern) -> str | None:
    names = policy.names
    strangers = (identity for identity in names.snapshot.objects if identity not in names.declared)
    return None if any(policy.is_forgotten(identity, pattern) for identity in strangers) else MATCHES_NOTHING


def _useless_removed_reason(former_names: FormerNames, pattern: Pattern) -> str | None:
    """Return why a line under `removed` deletes nothing; None if it names one object in a pruned list."""
    found = former_names.undeclared_named_by(pattern)
    if len(found) > 1:
        names = ", ".join(sorted(str(former_names.address_with_id(identity)) for identity in found))
        return f"this pattern matches several objects, so dpsync deletes none of them. Write one of: {names}"
    for identity in found:
        live = former_names.snapshot.objects[identity]
        lists = [scope for scope, items in former_names.snapshot.scopes.items() if identity in items]
        inside = live.parent is not None and live.parent not in former_names.names.declared
        return None if inside or any(map(former_names.desired.is_pruned, lists)) else NOT_COVERED_BY_PRUNE
    for address in former_names.addresses_named_by(pattern):
        for identity in former_names.objects_at(address) or ():
            if (now := former_names.names.declared.get(identity)) is not None:
                return f"the object has the entry {now}: remove this line"
    return OBJECT_GONE


def _useless_watch_reason(declared: Desired, pattern: Pattern) -> str | None:
    if pattern.field:
        return (
            None
            if any(pattern.matches(one) for one in (*declared.entries, *declared.unsupported))
            else MATCHES_NOTHING
        )
    places = (*declared.scopes, *declared.watched_scopes, *declared.unsupported)
    return None if any(pattern.matches(address) for address in places) else MATCHES_NOTHING


def _matches_no_undeclared(sides: Sides, pattern: Pattern) -> bool:
    """Return whether a pattern with a value matches no undeclared object, although its lists were read."""
    places = [place for place in sides.snapshot.scopes if pattern.list_pattern.matches(place)]
    return bool(places) and not any(sides.names.undeclared_matching(pattern))


def _accept_notes(sides: Sides) -> Iterator[Note]:
    """Warn of each line under `accept` that matches no entry; name each line whose problem is gone.

    A problem counts as gone only if every matching entry was read and is live, and the platform is done
    with it. In a revert, whose entries are in no file, no line is named.
    """
    desired = sides.desired
    for pattern in desired.policy.accept if desired.policy.deletable_ids is None else ():
        entries = [
            entry
            for entry in desired.entries.values()
            if (trouble := sides.kind(entry).platform_work.trouble) is not None
            and pattern.field == trouble.field
            and pattern.matches(entry.address)
        ]
        unread = any(pattern.matches(address) for address in desired.unsupported)
        if not entries and not unread:
            yield Note(address=pattern_key("accept", pattern), text=MATCHES_NOTHING, severity="warning")
        elif not unread and all(_has_no_problem(sides, entry) for entry in entries):
            yield Note(address=pattern_key("accept", pattern), text=PROBLEM_SOLVED)


def _has_no_problem(sides: Sides, entry: Entry) -> bool:
    """Return whether the platform answered that it has no problem with the object of an entry."""
    kind, live = sides.kind(entry), sides.live(entry.address)
    trouble = kind.platform_work.trouble
    if live is None or trouble is None or trouble.field in kind.unsupported_fields:
        return False
    return not kind.is_busy(live.fields) and kind.reported_problem(live.fields) is None


def _all_addresses(names: Names) -> Iterator[Address]:
    """Yield the addresses of all entries and live objects, present and in the git base."""
    yield from names.desired.entries
    yield from names.desired.unsupported
    yield from names.base_addresses.values()
    for identity in names.snapshot.objects:
        if identity not in names.declared:
            yield names.address(identity)


def loosened_policy_notes(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    """Warn of each policy line because of which the plan deletes objects that the base's policy kept.

    `prune` matches more, or `ignore` or `forget` matches less. A reviewer who reads only the removed entries
    does not notice that.
    """
    then = sides.base.desired
    if then is None or not deletions.roots or sides.desired.policy.deletable_ids is not None:
        return
    for pattern, items in _newly_pruned(sides, then, deletions).items():
        added = pattern not in then.policy.prune
        since = (
            "This change adds the pattern"
            if added
            else f"The pattern now covers more objects than it did in {sides.base.name}"
        )
        text = (
            f"{since}, so these unmanaged objects will be deleted: {_outermost_addresses(sides.names, items)}"
        )
        yield Note(address=pattern_key("prune", pattern), text=text, severity="warning")
    for name, pattern, items in _no_longer_ignored(sides.former_names, then, deletions):
        taken = pattern not in getattr(sides.desired.policy, name)
        why = "This change removes the pattern" if taken else "The pattern does not match the new names"
        text = f"{why}, so these objects will be deleted: {_outermost_addresses(sides.names, items)}"
        yield Note(address=pattern_key(name, pattern), text=text, severity="warning")


def _newly_pruned(
    sides: Sides, earlier_configuration: Desired, deletions: Deletions
) -> dict[Pattern, list[Identity]]:
    """Return, by pattern, the deletes in lists that the base did not prune under any of their addresses."""
    since: dict[Pattern, list[Identity]] = defaultdict(list)
    for place, items in sides.snapshot.scopes.items():
        deleted = [identity for identity in items if identity in deletions.roots]
        if not deleted or any(map(earlier_configuration.is_pruned, _addresses_of_list(sides, place))):
            continue
        for pattern in sides.desired.policy.prune:
            if pattern.matches(place):
                since[pattern] += deleted
                break
    return since


def _addresses_of_list(sides: Sides, place: Address) -> set[Address]:
    """Return the present and earlier addresses of a list, whose owner may have had another key."""
    for around in place.self_and_ancestors():
        live = sides.live(around)
        if live is not None:
            inside = place.segments[len(around.segments) :]
            return {
                place,
                *(
                    Address((*name.segments, *inside))
                    for name in sides.former_names.addresses_of(live.identity)
                ),
            }
    return {place}


def _no_longer_ignored(
    former_names: FormerNames, earlier_configuration: Desired, deletions: Deletions
) -> Iterator[tuple[str, Pattern, list[Identity]]]:
    """Yield each `ignore` or `forget` pattern of the base with the matching objects that the plan deletes."""
    for name in ("ignore", "forget"):
        for pattern in getattr(earlier_configuration.policy, name):
            covered = [
                identity
                for identity in deletions.all_deleted
                if pattern.field is None
                and any(map(pattern.matches_or_contains, former_names.addresses_of(identity)))
            ]
            if covered:
                yield name, pattern, covered


def _outermost_addresses(names: Names, items: Collection[Identity]) -> str:
    """Return the addresses of the outermost objects, for a message."""
    those = set(items)
    outermost = (one for one in those if not those & {*names.snapshot.ancestors(names.snapshot.objects[one])})
    return shorten_list(sorted(str(names.address(one)) for one in outermost))
