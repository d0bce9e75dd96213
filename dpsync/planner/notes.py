"""Write the notes of a plan: hints about removed entries, impossible moves, and policy patterns.

`find_notes` returns all notes as sentences. A note neither changes nor refuses anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice

from dpsync.kinds.kind import Call
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, Pattern
from dpsync.model.change import Note
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import Identity, LiveObject, MatchedBy, RecordedIds, Snapshot
from dpsync.model.text import shorten_list
from dpsync.model.values import canonical_json
from dpsync.planner.delete_questions import address_for_policy
from dpsync.planner.deletions import Deletions
from dpsync.planner.names import FormerNames, Names
from dpsync.planner.policy import EffectivePolicy
from dpsync.planner.restructuring import RestructuredTree, content_references
from dpsync.planner.sides import Sides, ValueConverter


def find_notes(
    sides: Sides, deletions: Deletions, restructures: Iterable[RestructuredTree]
) -> Iterator[Note]:
    """Yield the remarks of a plan for the user (notes).

    If the user selected a part of the plan, yield only those about selected addresses and about the policy.
    """
    chosen, names = sides.selected_addresses, sides.names
    for note in history_notes(sides, deletions):
        live = names.objects_of_base_entries.get(note.location) if chosen is not None else None
        if chosen is None or note.location in chosen or (live and names.address(live) in chosen):
            yield note
    yield from _skipped_delete_notes(sides.names, deletions)
    yield from recreation_notes(sides, deletions, restructures)
    yield from pattern_notes(sides)
    yield from loosened_policy_notes(sides, deletions)


# History: objects that outlive their entry, and lines that can be removed.


def history_notes(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    """Yield notes about changed lines of the ids file, kept objects, and obsolete lines of entries."""
    yield from _changed_line_notes(sides.snapshot.recorded_ids, sides.base.name)
    yield from _removed_entry_notes(sides, deletions)
    yield from _obsolete_line_notes(sides.desired, sides.snapshot)
    yield from _replaced_object_notes(sides.snapshot)


def _changed_line_notes(records: RecordedIds, base_name: str) -> Iterator[Note]:
    """Yield a note for each line of the ids file that names another object than the line in the git base.

    The git base is the commit with which the configuration is compared. A line has one id or two: the second
    is that of the object that GitBook creates with the entry, its output or its first child.
    """
    for old_line, new_line in records.changed_lines:
        old_ids, new_ids = (
            " ".join(filter(None, (line.id, line.second_id))) for line in (old_line, new_line)
        )
        text = f"the line of this entry in the ids file changed from {old_ids} (in {base_name}) to {new_ids}"
        yield Note(address=str(new_line.address), text=text)


def _removed_entry_notes(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    """Yield a note for each entry that was removed since the git base and whose object the plan keeps.

    Objects inside another removed one have no note. Those kept by `policy.forget` have one only in a list
    that `prune` covers.
    """
    removed = [
        address
        for address, identity in sides.names.objects_of_base_entries.items()
        if address not in sides.desired.entries
        and identity not in sides.names.declared
        and not sides.registry[identity[0]].exists_with_parent
    ]
    removed_addresses = set(removed)
    for address in sorted(removed):
        identity = sides.names.objects_of_base_entries[address]
        if sides.policy.is_forgotten(identity):
            if sides.desired.is_pruned(address.list_address):
                yield _lasting_forget_note(sides.names, address, identity)
            continue
        if deletions.deletes(identity) or any(
            ancestor in removed_addresses for ancestor in islice(address.self_and_ancestors(), 1, None)
        ):
            continue
        live = sides.snapshot.objects[identity]
        noun, label = sides.kind(live).noun, sides.names.label(live)
        unpruned = (
            scope
            for scope, identities in sides.snapshot.scopes.items()
            if identity in identities and not sides.desired.is_pruned(scope)
        )
        scope = next(unpruned, None)
        hint = ""
        if scope is not None:
            removed_line = f", removed: [{address_for_policy(sides.former_names, identity)}]"
            hint = (
                f". To delete the {noun}, add to policy: prune: [{scope}]"
                f"{removed_line if sides.registry[identity[0]].has_content else ''}"
            )
        text = f'the entry was removed, but the {noun} "{label}" ({live.id}) is kept{hint}'
        yield Note(address=str(address), text=text)


def _lasting_forget_note(names: Names, address: Address, identity: Identity) -> Note:
    """Return the note that `policy.forget` keeps an object whose entry was removed from the files.

    If `forget` matches only the former address of the object, the note proposes a pattern for the present
    address: later, nothing but the git history knows the former one.
    """
    live = names.snapshot.objects[identity]
    name = names.address(identity).list_address.unmanaged_child(names.label(live), live.id)
    text = f'policy.forget keeps the {names.kind(live).noun} "{names.label(live)}"'
    lasting_names = (name, names.address(identity))
    if not any(
        pattern.matches_or_contains(lasting_name)
        for pattern in names.desired.policy.forget
        for lasting_name in lasting_names
    ):
        text += f". Write {name} in policy.forget, because only git knows the former address"
    return Note(address=str(address), text=text)


def _obsolete_line_notes(desired: Desired, snapshot: Snapshot) -> Iterator[Note]:
    """Yield a note for each `previously` or `new` line that is no longer needed, as its object is matched."""
    for address, entry in desired.entries.items():
        match = snapshot.matches.get(address)
        if match is None:
            continue
        if entry.has_earlier_name and match.by is not MatchedBy.PREVIOUSLY:
            text = "the object has been renamed: remove this line"
            yield Note(address=str(address.field("previously")), text=text, detail=True)
        if entry.new:
            yield Note(address=str(address.field("new")), text="the object exists now: remove this line")


def _replaced_object_notes(snapshot: Snapshot) -> Iterator[Note]:
    """Yield a note for each entry whose object in the ids file was deleted, and that matches another one."""
    for address, missing in snapshot.missing_objects.items():
        if address in snapshot.matches:
            yield Note(
                address=str(address), text=f"the former object {missing.id} of this entry no longer exists"
            )


def _skipped_delete_notes(names: Names, deletions: Deletions) -> Iterator[Note]:
    """Yield a note for each object that the plan keeps because of a `protect` pattern with `skip`.

    The pattern matches the object itself, or another object that deleting it would also delete.
    """
    for identity, protected in deletions.kept_for_protected.items():
        reason = (
            "the object is protected" if identity == protected else f"{names.address(protected)} is protected"
        )
        addition = "" if identity == protected else " and would also be deleted"
        yield Note(address=str(names.address(identity)), text=f"kept: {reason}{addition}")


# Moves that the platform does not support.


def recreation_notes(
    sides: Sides, deletions: Deletions, restructures: Iterable[RestructuredTree]
) -> Iterator[Note]:
    """Yield a note for each moved entry that is re-created because the platform cannot move its object.

    The git base (the commit compared with) shows that an entry was moved. Without it, the note only says that
    this is possible, if an object has all natural keys of the entry and its parent is declared.
    """
    fixed_parent_fields = {
        kind.name: field
        for kind in sides.registry.in_dependency_order
        for field in kind.fields
        if field.is_parent_reference and field.written_in == "create" and field.own_call is None
    }
    undeclared: dict[tuple[Identity, tuple[bytes, ...]], list[LiveObject]] = defaultdict(list)
    for identity, live in sides.snapshot.objects.items():
        if live.kind in fixed_parent_fields and identity not in sides.names.declared:
            owner_identity = sides.hierarchy.live_ancestor(live, sides.registry.tree_owner(sides.kind(live)))
            assert owner_identity is not None
            undeclared[owner_identity, content_references(sides.values, live)].append(live)
    restructured = [restructuring.scope.address for restructuring in restructures]
    for address in sorted(sides.entries) if undeclared else ():
        if any(address.is_at_or_below(tree) for tree in restructured):
            continue
        entry = sides.entries[address]
        parent_field = fixed_parent_fields.get(entry.kind)
        if parent_field is None or sides.live(address) is not None:
            continue
        owner_address = sides.hierarchy.ancestor(entry, sides.registry.tree_owner(sides.kind(entry)))
        owner = sides.live(owner_address) if owner_address is not None else None
        for live in (
            undeclared.get((owner.identity, content_references(sides.values, entry)), ()) if owner else ()
        ):
            old_address = sides.names.address(live.identity)
            outcome = "is deleted" if deletions.deletes(live.identity) else "stays"
            url = f" (URL {live.url})" if live.url else ""
            if live.identity in sides.names.base_addresses:
                text = (
                    f"GitBook cannot change the {parent_field.name} of this object. "
                    f"dpsync therefore creates a new object, and {old_address} {outcome}{url}"
                )
            elif _differs_only_in_position(sides.names, sides.values, entry, live):
                text = (
                    f"if you moved {old_address}: GitBook cannot change the {parent_field.name} of this "
                    f"object. dpsync therefore creates a new object, and {old_address} {outcome}{url}"
                )
            else:
                continue
            yield Note(address=str(address), text=text)


def _differs_only_in_position(names: Names, values: ValueConverter, entry: Entry, live: LiveObject) -> bool:
    """Return whether a live object may be an entry that was moved; only without a git base.

    The object has all natural keys of the entry, and what contains the object is declared.
    """
    containers = [identity for identity in (live.holder, live.parent) if identity is not None]
    kind = names.kind(entry)
    keys = kind.natural_key_fields
    return (
        names.base.desired is None
        and all(identity in names.declared for identity in containers)
        and all(key in entry.fields for key in keys)
        and all(
            canonical_json(entry.fields[key])
            == canonical_json(values.with_references(kind.field(key), live.fields.get(key), live))
            for key in keys
        )
    )


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
    """Yield a warning for each policy pattern that matches neither an entry nor a live object.

    A pattern that can never match is an error of `validate`. A pattern that matches nothing now is often
    obsolete, and sometimes a typing error in a protection. For a `removed` or `accept` line that has served
    its purpose, the note is no warning.
    """
    desired, names = sides.desired, sides.names
    policy = desired.policy
    addresses = [*_present_and_base_addresses(names)] if policy.protect or policy.ignore else []
    prune = policy.prune if policy.deletable_ids is None else ()  # with `only`, no file contains the patterns
    rules: dict[str, tuple[Iterable[Pattern], Callable[[Pattern], str | None]]] = {
        "prune": (prune, partial(_useless_prune_reason, sides.registry, desired)),
        "protect": (policy.protect, partial(_useless_protect_reason, addresses)),
        "ignore": (policy.ignore, partial(_useless_ignore_reason, addresses)),
        "forget": (policy.forget, partial(_useless_forget_reason, sides.policy)),
        "watch": (
            [pattern for pattern in (*policy.watch, *policy.watch_fields) if pattern.written_word is None],
            partial(_useless_watch_reason, desired),
        ),
    }
    for pattern in policy.watch_values:
        # A pattern with a value ("[Title]") is useless if its lists were read and no object matches.
        is_read = any(map(pattern.list_pattern.matches, sides.snapshot.scopes))
        if is_read and not any(sides.names.undeclared_matching(pattern)):
            yield Note(address=pattern_key("watch", pattern), text=NO_UNDECLARED_MATCH, severity="warning")
    for pattern in policy.removed:
        if (reason := _useless_removed_reason(sides.former_names, pattern)) is not None:
            yield Note(address=pattern_key("removed", pattern), text=reason)
    yield from _accept_notes(sides)
    for list_name, (patterns, find_reason) in rules.items():
        for pattern in patterns:
            if (reason := find_reason(pattern)) is not None:
                yield Note(address=pattern_key(list_name, pattern), text=reason, severity="warning")


def environment_notes(desired: Desired) -> Iterator[Note]:
    """Yield a warning if the address or token variable of the environment takes effect only once merged."""
    environment = desired.environment
    if environment is not None and environment.pending:
        yield Note(address=environment_key(environment.name), text=environment.pending, severity="warning")


def environment_key(name: str) -> str:
    """Return the key under which the plan stores the origin of an environment and the note about it."""
    return f'environment "{name}"'


def pattern_key(name: str, pattern: Pattern) -> str:
    """Return the key under which the plan stores the origin of a pattern and the notes about it."""
    return f'policy.{name} "{pattern.text}"'


def _useless_prune_reason(registry: Registry, desired: Desired, pattern: Pattern) -> str | None:
    """Return why a `prune` pattern has no effect; None if it matches a list whose objects can be deleted."""
    if any(pattern.matches(address) for address in desired.unsupported):
        return None
    lists = [scope for address, scope in desired.scopes.items() if pattern.matches(address)]
    kinds = {name for scope in lists for name in scope.kinds}
    if any(isinstance(registry.with_all_kinds[name].delete, Call) for name in kinds):
        return None
    return NEVER_DELETED if lists else MATCHES_NOTHING


def _useless_protect_reason(addresses: Iterable[Address], pattern: Pattern) -> str | None:
    """Return why a `protect` pattern has no effect; None if it matches an object that can be deleted."""
    depths = [len(address.segments) for address in addresses if pattern.matches(address)]
    if not depths:
        return MATCHES_NOTHING
    # dpsync never deletes an organization, and a protected organization does not protect its contents.
    return None if max(depths) > 1 else f'{NEVER_DELETED}. To protect its contents, write "{pattern.text}/**"'


def _useless_ignore_reason(addresses: Iterable[Address], pattern: Pattern) -> str | None:
    """Return why an `ignore` pattern has no effect; None if it matches an address or its contents."""
    matches = pattern.matches_or_contains if pattern.field is None else pattern.matches
    return None if any(matches(address) for address in addresses) else MATCHES_NOTHING


def _useless_forget_reason(policy: EffectivePolicy, pattern: Pattern) -> str | None:
    """Return why a `forget` pattern has no effect; None if it names a live object without an entry."""
    names = policy.names
    undeclared = (identity for identity in names.snapshot.objects if identity not in names.declared)
    return None if any(policy.is_forgotten(identity, pattern) for identity in undeclared) else MATCHES_NOTHING


def _useless_removed_reason(former_names: FormerNames, pattern: Pattern) -> str | None:
    """Return why a line under `policy.removed` has no effect; None if it allows the plan to delete an object.

    It has one if it names exactly one object without an entry, in a list that `prune` covers or inside
    another object without an entry.
    """
    identities = former_names.undeclared_named_by(pattern)
    if len(identities) > 1:
        names = ", ".join(sorted(str(former_names.address_with_id(identity)) for identity in identities))
        return f"this pattern matches several objects, so dpsync deletes none of them. Write one of: {names}"
    for identity in identities:
        live = former_names.snapshot.objects[identity]
        lists = [
            scope for scope, list_items in former_names.snapshot.scopes.items() if identity in list_items
        ]
        has_undeclared_parent = live.parent is not None and live.parent not in former_names.names.declared
        return (
            None
            if has_undeclared_parent or any(map(former_names.desired.is_pruned, lists))
            else NOT_COVERED_BY_PRUNE
        )
    for address in former_names.addresses_named_by(pattern):
        for identity in former_names.objects_at(address) or ():
            if (entry_address := former_names.names.declared.get(identity)) is not None:
                return f"the object has the entry {entry_address}: remove this line"
    return OBJECT_GONE


def _useless_watch_reason(declared: Desired, pattern: Pattern) -> str | None:
    """Return why a `watch` pattern has no effect; None if it matches a list, or an entry (with a field)."""
    if pattern.field:
        return (
            None
            if any(pattern.matches(address) for address in (*declared.entries, *declared.unsupported))
            else MATCHES_NOTHING
        )
    list_addresses = (*declared.scopes, *declared.watched_scopes, *declared.unsupported)
    return None if any(pattern.matches(address) for address in list_addresses) else MATCHES_NOTHING


def _accept_notes(sides: Sides) -> Iterator[Note]:
    """Yield a note for each line under `accept` that has no effect.

    An `accept` line accepts a problem that GitBook reports about an object. The note is a warning if the line
    matches no entry, and plain if the problem is solved: every matching entry has a live object that GitBook
    has processed without a problem. In a revert (`deletable_ids` is set), no file contains these lines.
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
        has_unsupported = any(pattern.matches(address) for address in desired.unsupported)
        if not entries and not has_unsupported:
            yield Note(address=pattern_key("accept", pattern), text=MATCHES_NOTHING, severity="warning")
        elif not has_unsupported and all(_has_no_problem(sides, entry) for entry in entries):
            yield Note(address=pattern_key("accept", pattern), text=PROBLEM_SOLVED)


def _has_no_problem(sides: Sides, entry: Entry) -> bool:
    """Return whether the platform answered that it has no problem with the object of an entry."""
    kind, live = sides.kind(entry), sides.live(entry.address)
    trouble = kind.platform_work.trouble
    if live is None or trouble is None or trouble.field in kind.unsupported_fields:
        return False
    return not kind.is_busy(live.fields) and kind.reported_problem(live.fields) is None


def _present_and_base_addresses(names: Names) -> Iterator[Address]:
    """Yield the addresses of all entries and live objects, present and in the git base."""
    yield from names.desired.entries
    yield from names.desired.unsupported
    yield from names.base_addresses.values()
    for identity in names.snapshot.objects:
        if identity not in names.declared:
            yield names.address(identity)


def loosened_policy_notes(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    """Yield a warning for each changed policy pattern because of which the plan deletes more objects.

    `prune` matches more than in the git base, or `ignore` or `forget` matches less. A reviewer who reads
    only the removed entries does not notice that.
    """
    base = sides.base.desired
    if base is None or not deletions.roots or sides.desired.policy.deletable_ids is not None:
        return
    for pattern, identities in _newly_pruned(sides, base, deletions).items():
        is_added = pattern not in base.policy.prune
        change = (
            "This change adds the pattern"
            if is_added
            else f"The pattern now covers more objects than it did in {sides.base.name}"
        )
        addresses = _outermost_addresses(sides.names, identities)
        text = f"{change}, so these unmanaged objects will be deleted: {addresses}"
        yield Note(address=pattern_key("prune", pattern), text=text, severity="warning")
    for list_name, pattern, identities in _no_longer_ignored(sides.former_names, base, deletions):
        is_removed = pattern not in getattr(sides.desired.policy, list_name)
        reason = (
            "This change removes the pattern" if is_removed else "The pattern does not match the new names"
        )
        text = f"{reason}, so these objects will be deleted: {_outermost_addresses(sides.names, identities)}"
        yield Note(address=pattern_key(list_name, pattern), text=text, severity="warning")


def _newly_pruned(
    sides: Sides, earlier_configuration: Desired, deletions: Deletions
) -> dict[Pattern, list[Identity]]:
    """Return by `prune` pattern the objects that the plan deletes in lists that the git base did not prune.

    A list counts as pruned in the base if one of its present or former addresses was.
    """
    deletes: dict[Pattern, list[Identity]] = defaultdict(list)
    for list_address, identities in sides.snapshot.scopes.items():
        deleted = [identity for identity in identities if identity in deletions.roots]
        if not deleted or any(map(earlier_configuration.is_pruned, _addresses_of_list(sides, list_address))):
            continue
        for pattern in sides.desired.policy.prune:
            if pattern.matches(list_address):
                deletes[pattern] += deleted
                break
    return deletes


def _addresses_of_list(sides: Sides, list_address: Address) -> set[Address]:
    """Return the present and former addresses of a list, whose ancestors may have had other keys."""
    for ancestor in list_address.self_and_ancestors():
        live = sides.live(ancestor)
        if live is not None:
            rest = list_address.segments[len(ancestor.segments) :]
            return {
                list_address,
                *(
                    Address((*former_address.segments, *rest))
                    for former_address in sides.former_names.addresses_of(live.identity)
                ),
            }
    return {list_address}


def _no_longer_ignored(
    former_names: FormerNames, earlier_configuration: Desired, deletions: Deletions
) -> Iterator[tuple[str, Pattern, list[Identity]]]:
    """Yield each `ignore` or `forget` pattern of the git base that covers objects the plan now deletes.

    Each item has the name of the policy list ("ignore" or "forget"), the pattern, and these objects.
    """
    for list_name in ("ignore", "forget"):
        patterns: tuple[Pattern, ...] = getattr(earlier_configuration.policy, list_name)
        for pattern in patterns:
            deleted = [
                identity
                for identity in deletions.all_deleted
                if pattern.field is None
                and any(map(pattern.matches_or_contains, former_names.addresses_of(identity)))
            ]
            if deleted:
                yield list_name, pattern, deleted


def _outermost_addresses(names: Names, identities: Collection[Identity]) -> str:
    """Return the addresses of those objects that are not inside another of them, for a message."""
    objects, all_identities = names.snapshot.objects, set(identities)
    outermost = (
        identity
        for identity in all_identities
        if all_identities.isdisjoint(names.snapshot.ancestors(objects[identity]))
    )
    return shorten_list(sorted(str(names.address(identity)) for identity in outermost))
