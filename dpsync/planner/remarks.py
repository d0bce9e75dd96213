"""Write the notes of a plan about removed entries, impossible moves, and policy patterns.

`remarks` returns all notes. A note neither changes nor refuses anything.
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
from dpsync.model.snapshot import Identity, LiveObject, MatchedBy, Records, Snapshot
from dpsync.model.text import some
from dpsync.model.values import canonical
from dpsync.planner.deletions import Deletions
from dpsync.planner.history import FormerNames, Lineage, Names
from dpsync.planner.policy import Policies
from dpsync.planner.restructuring import Restructure, shows
from dpsync.planner.sides import Sides, Values


def remarks(sides: Sides, deletions: Deletions, restructures: Iterable[Restructure]) -> Iterator[Note]:
    """Yield all notes; with a selection, those about selected addresses and about the policy."""
    yield from (
        note for note in history_notes(sides, deletions) if _selected(sides.names, sides.chosen, note)
    )
    yield from _skipped_delete_notes(sides.names, deletions)
    yield from recreation_notes(sides, deletions, restructures)
    yield from pattern_notes(sides)
    yield from loosened_policy_notes(sides, deletions)


def _selected(names: Names, chosen: frozenset[Address] | None, note: Note) -> bool:
    """Return whether a note is about a planned address, or about an object with such an address."""
    if chosen is None:
        return True
    live = names.remembered.get(note.location)
    return note.location in chosen or bool(live and names.address(live) in chosen)


# History: objects that outlive their entry, and lines that can be removed.


def history_notes(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    """Yield notes about changed lines of the ids file, kept objects, and obsolete lines of entries."""
    yield from _changed_line_notes(sides.snapshot.records, sides.base.name)
    yield from _removed_entry_notes(sides, deletions)
    yield from _obsolete_line_notes(sides.desired, sides.snapshot)
    yield from _replaced_object_notes(sides.snapshot)


def _changed_line_notes(records: Records, base: str) -> Iterator[Note]:
    """Note each line of the ids file that changed since the git base: the entry is another object now."""
    for before, now in records.rewritten:
        was, is_ = (" ".join(filter(None, (line.id, line.also))) for line in (before, now))
        text = f"the line of this entry in the ids file changed from {was} (in {base}) to {is_}"
        yield Note(address=str(now.address), text=text)


def _removed_entry_notes(sides: Sides, deletions: Deletions) -> Iterator[Note]:
    """Note each entry that was removed since the git base and whose object the plan keeps."""
    removed = [
        address
        for address, identity in sides.names.remembered.items()
        if address not in sides.desired.resources
        and identity not in sides.names.declared
        and not sides.registry[identity[0]].comes_along
    ]
    among = set(removed)
    for address in sorted(removed):
        identity = sides.names.remembered[address]
        if sides.policy.forgotten(identity):
            if sides.desired.pruned(_place(address)):
                yield _lasting_forget_note(sides.names, address, identity)
            continue
        if deletions.covers(identity) or any(other in among for other in islice(address.upward(), 1, None)):
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
    place = next((one for one in places if not sides.desired.pruned(one)), None)
    return f". To delete the {noun}, add to policy prune: [{place}]" if place is not None else ""


def _place(address: Address) -> Address:
    return address.place


def _lasting_forget_note(names: Names, address: Address, identity: Identity) -> Note:
    """Note the line that keeps an object in `forget` after the git base has lost its entry."""
    live = names.snapshot.objects[identity]
    name = _place(names.address(identity)).unmanaged(names.label(live), live.id)
    text = f'policy.forget keeps the {names.kind(live).noun} "{names.label(live)}"'
    lasting = (name, names.address(identity))
    if not any(pattern.covers(one) for pattern in names.desired.policy.forget for one in lasting):
        text += f". Write {name} in policy.forget, because only git knows the former address"
    return Note(address=str(address), text=text)


def _obsolete_line_notes(desired: Desired, snapshot: Snapshot) -> Iterator[Note]:
    """Note each `previously` and `new` that has served its purpose."""
    for address, resource in desired.resources.items():
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
    for address, missing in snapshot.missing.items():
        if address in snapshot.matches:
            yield Note(
                address=str(address), text=f"the former object {missing.id} of this entry no longer exists"
            )


def _skipped_delete_notes(names: Names, deletions: Deletions) -> Iterator[Note]:
    """Note each object that a plan keeps because `protect` with `skip` names the object or its contents."""
    for identity, protected in deletions.skipped.items():
        what = (
            "the object is protected" if identity == protected else f"{names.address(protected)} is protected"
        )
        why = "" if identity == protected else " and would also be deleted"
        yield Note(address=str(names.address(identity)), text=f"kept: {what}{why}")


# Moves that the platform does not support.


def recreation_notes(sides: Sides, deletions: Deletions, changing: Iterable[Restructure]) -> Iterator[Note]:
    """Note each moved entry that the plan re-creates because the platform cannot move its object.

    The git base shows that an entry was moved. Without a base, the note mentions the possibility, and only if
    an object has all natural keys of the entry and its parent is declared.
    """
    kinds = {kind.name: nest for kind in sides.registry.ordered for nest in _fixed_parent_field(kind)}
    strangers: dict[tuple[Identity, tuple[bytes, ...]], list[LiveObject]] = defaultdict(list)
    for identity, live in sides.snapshot.objects.items():
        if live.kind in kinds and identity not in sides.names.declared:
            strangers[_tree_owner(sides.lineage, live), shows(sides.values, live)].append(live)
    rebuilt = [item.scope.address for item in changing]
    for address in sorted(sides.resources) if strangers else ():
        if any(address.is_in(tree) for tree in rebuilt):
            continue
        entry = sides.resources[address]
        fixed = kinds.get(entry.kind)
        if fixed is None or sides.live(address) is not None:
            continue
        around = sides.lineage.ancestor(entry, sides.registry.tree_owner(sides.kind(entry)))
        owner = sides.live(around) if around is not None else None
        for live in strangers.get((owner.identity, shows(sides.values, entry)), ()) if owner else ():
            was = sides.names.address(live.identity)
            what = "is deleted" if deletions.covers(live.identity) else "stays"
            url = f" (URL {live.url})" if live.url else ""
            if live.identity in sides.names.earlier_addresses:
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


def _differs_only_in_position(known: Names, values: Values, entry: Entry, live: LiveObject) -> bool:
    """Return whether there is no git base and a live object differs from an entry only in its position."""
    around = [item for item in (live.holder, live.parent) if item is not None]
    kind = known.kind(entry)
    names = kind.identity_fields
    return (
        known.base.desired is None
        and all(item in known.declared for item in around)
        and all(name in entry.fields for name in names)
        and all(
            canonical(entry.fields[name])
            == canonical(values.normal(kind.field(name), live.fields.get(name), live))
            for name in names
        )
    )


def _fixed_parent_field(kind: Kind) -> tuple[Field, ...]:
    """Return the field that names the parent, if the platform cannot change it, as a tuple."""
    return tuple(item for item in kind.fields if item.nest and item.on == "create" and item.via is None)


def _tree_owner(lineage: Lineage, live: LiveObject) -> Identity:
    """Return the owner of the tree that contains a node."""
    registry = lineage.registry
    owner = lineage.live_ancestor(live, registry.tree_owner(registry[live.kind]))
    assert owner is not None
    return owner


# Policy patterns without effect, and policy changes that allow more deletes.

NOTHING = "this pattern matches no entry and no live object"
GONE = "no object has this name: remove this line"
UNDECLARED_GONE = (
    "no object without an entry matches this pattern: the object was deleted or renamed, or has an entry now"
)
STAYS = (
    "dpsync does not delete this object, because no prune pattern covers the list that contains the object"
)
NEVER_DELETED = "dpsync never deletes objects of the types that this pattern matches"
NO_PROBLEM = "GitBook no longer reports this problem: remove this line"


def pattern_notes(sides: Sides) -> Iterator[Note]:
    """Warn of each policy pattern that matches neither an entry nor a live object.

    A pattern that can never match is an error of `validate`. A pattern that matches nothing now is often
    obsolete, and sometimes a typing error in a protection. A `removed` line that is done is an ordinary note.
    """
    desired, names = sides.desired, sides.names
    policy = desired.policy
    known = [*_all_addresses(names)] if policy.protect or policy.ignore else []
    prune = policy.prune if policy.only is None else ()  # with `only`, no file contains the patterns
    rules: dict[str, tuple[Iterable[Pattern], Callable[[Pattern], str | None]]] = {
        "prune": (prune, partial(_prunes_nothing, sides.registry, desired)),
        "protect": (policy.protect, partial(_protects_nothing, known)),
        "ignore": (policy.ignore, partial(_leaves_nothing_alone, known)),
        "forget": (policy.forget, partial(_forgets_nothing, sides.policy)),
        "watch": (
            [one for one in (*policy.watch, *policy.watch_fields) if one.group is None],
            partial(_watches_nothing, desired),
        ),
    }
    for pattern in policy.watch_values:
        if _matches_no_undeclared(sides, pattern):
            yield Note(address=where("watch", pattern), text=UNDECLARED_GONE, severity="warning")
    for pattern in policy.removed:
        if (why := _removes_nothing(sides.former, pattern)) is not None:
            yield Note(address=where("removed", pattern), text=why)
    yield from _accept_notes(sides)
    for name, (patterns, wrong) in rules.items():
        for pattern in patterns:
            if (why := wrong(pattern)) is not None:
                yield Note(address=where(name, pattern), text=why, severity="warning")


def environment_notes(desired: Desired) -> Iterator[Note]:
    """Warn of an address or a token variable that takes effect only once this change is merged."""
    chosen = desired.environment
    if chosen is not None and chosen.pending:
        yield Note(address=environment_key(chosen.name), text=chosen.pending, severity="warning")


def environment_key(name: str) -> str:
    """Return the key under which the plan stores the origin of an environment and the note about it."""
    return f'environment "{name}"'


def where(name: str, pattern: Pattern) -> str:
    """Return the key under which the plan stores the origin of a pattern and the notes about it."""
    return f'policy.{name} "{pattern.text}"'


def _prunes_nothing(registry: Registry, desired: Desired, pattern: Pattern) -> str | None:
    if any(pattern.matches(address) for address in desired.unserved):
        return None
    lists = [scope for address, scope in desired.scopes.items() if pattern.matches(address)]
    kinds = {name for scope in lists for name in scope.kinds}
    if any(isinstance(registry.whole[name].delete, Call) for name in kinds):
        return None
    return NEVER_DELETED if lists else NOTHING


def _protects_nothing(known: Iterable[Address], pattern: Pattern) -> str | None:
    found = [len(address.segments) for address in known if pattern.matches(address)]
    if not found:
        return NOTHING
    # dpsync never deletes an organization, and a protected organization does not protect its contents.
    return None if max(found) > 1 else f'{NEVER_DELETED}. To protect its contents, write "{pattern.text}/**"'


def _leaves_nothing_alone(known: Iterable[Address], pattern: Pattern) -> str | None:
    named = pattern.covers if pattern.field is None else pattern.matches
    return None if any(named(address) for address in known) else NOTHING


def _forgets_nothing(policy: Policies, pattern: Pattern) -> str | None:
    names = policy.names
    strangers = (identity for identity in names.snapshot.objects if identity not in names.declared)
    return None if any(policy.forgotten(identity, pattern) for identity in strangers) else NOTHING


def _removes_nothing(former: FormerNames, pattern: Pattern) -> str | None:
    """Return why a line under `removed` deletes nothing; None if it names one object in a pruned list."""
    found = former.named(pattern)
    if len(found) > 1:
        names = ", ".join(sorted(str(former.exactly(identity)) for identity in found))
        return f"this pattern matches several objects, so dpsync deletes none of them. Write one of: {names}"
    for identity in found:
        live = former.snapshot.objects[identity]
        lists = [scope for scope, items in former.snapshot.scopes.items() if identity in items]
        inside = live.parent is not None and live.parent not in former.names.declared
        return None if inside or any(map(former.desired.pruned, lists)) else STAYS
    for address in former.everywhere(pattern):
        for identity in former.meant(address) or ():
            if (now := former.names.declared.get(identity)) is not None:
                return f"the object has the entry {now}: remove this line"
    return GONE


def _watches_nothing(declared: Desired, pattern: Pattern) -> str | None:
    if pattern.field:
        return (
            None
            if any(pattern.matches(one) for one in (*declared.resources, *declared.unserved))
            else NOTHING
        )
    places = (*declared.scopes, *declared.watched, *declared.unserved)
    return None if any(pattern.matches(address) for address in places) else NOTHING


def _matches_no_undeclared(sides: Sides, pattern: Pattern) -> bool:
    """Return whether a pattern with a value matches no undeclared object, although its lists were read."""
    places = [place for place in sides.snapshot.scopes if pattern.place.matches(place)]
    return bool(places) and not any(sides.names.undeclared_matching(pattern))


def _accept_notes(sides: Sides) -> Iterator[Note]:
    """Warn of each line under `accept` that matches no entry; name each line whose problem is gone.

    A problem counts as gone only if every matching entry was read and is live, and the platform is done
    with it. In a revert, whose entries are in no file, no line is named.
    """
    desired = sides.desired
    for pattern in desired.policy.accept if desired.policy.only is None else ():
        entries = [
            entry
            for entry in desired.resources.values()
            if (trouble := sides.kind(entry).platform.trouble) is not None
            and pattern.field == trouble.field
            and pattern.matches(entry.address)
        ]
        unread = any(pattern.matches(address) for address in desired.unserved)
        if not entries and not unread:
            yield Note(address=where("accept", pattern), text=NOTHING, severity="warning")
        elif not unread and all(_is_fine(sides, entry) for entry in entries):
            yield Note(address=where("accept", pattern), text=NO_PROBLEM)


def _is_fine(sides: Sides, entry: Entry) -> bool:
    """Return whether the platform answered that it has no problem with the object of an entry."""
    kind, live = sides.kind(entry), sides.live(entry.address)
    trouble = kind.platform.trouble
    if live is None or trouble is None or trouble.field in kind.unsupported_fields:
        return False
    return not kind.is_busy(live.fields) and kind.trouble(live.fields) is None


def _all_addresses(names: Names) -> Iterator[Address]:
    """Yield the addresses of all entries and live objects, present and in the git base."""
    yield from names.desired.resources
    yield from names.desired.unserved
    yield from names.earlier_addresses.values()
    for identity in names.snapshot.objects:
        if identity not in names.declared:
            yield names.address(identity)


def loosened_policy_notes(sides: Sides, found: Deletions) -> Iterator[Note]:
    """Warn of each policy line because of which the plan deletes objects that the base's policy kept.

    `prune` matches more, or `ignore` or `forget` matches less. A reviewer who reads only the removed entries
    does not notice that.
    """
    then = sides.base.desired
    if then is None or not found.roots or sides.desired.policy.only is not None:
        return
    for pattern, items in _pruned_since(sides, then, found).items():
        added = pattern not in then.policy.prune
        since = (
            "This change adds the pattern"
            if added
            else f"The pattern now covers more objects than it did in {sides.base.name}"
        )
        text = (
            f"{since}, so these unmanaged objects will be deleted: {_outermost_addresses(sides.names, items)}"
        )
        yield Note(address=where("prune", pattern), text=text, severity="warning")
    for name, pattern, items in _ignored_until_now(sides.former, then, found):
        taken = pattern not in getattr(sides.desired.policy, name)
        why = "This change removes the pattern" if taken else "The pattern does not match the new names"
        text = f"{why}, so these objects will be deleted: {_outermost_addresses(sides.names, items)}"
        yield Note(address=where(name, pattern), text=text, severity="warning")


def _pruned_since(sides: Sides, then: Desired, found: Deletions) -> dict[Pattern, list[Identity]]:
    """Return, by pattern, the deletes in lists that the base did not prune under any of their addresses."""
    since: dict[Pattern, list[Identity]] = defaultdict(list)
    for place, items in sides.snapshot.scopes.items():
        deleted = [identity for identity in items if identity in found.roots]
        if not deleted or any(map(then.pruned, _addresses_of_list(sides, place))):
            continue
        for pattern in sides.desired.policy.prune:
            if pattern.matches(place):
                since[pattern] += deleted
                break
    return since


def _addresses_of_list(sides: Sides, place: Address) -> set[Address]:
    """Return the present and earlier addresses of a list, whose owner may have had another key."""
    for around in place.upward():
        live = sides.live(around)
        if live is not None:
            inside = place.segments[len(around.segments) :]
            return {place, *(Address((*name.segments, *inside)) for name in sides.former.of(live.identity))}
    return {place}


def _ignored_until_now(
    former: FormerNames, then: Desired, found: Deletions
) -> Iterator[tuple[str, Pattern, list[Identity]]]:
    """Yield each `ignore` or `forget` pattern of the base with the matching objects that the plan deletes."""
    for name in ("ignore", "forget"):
        for pattern in getattr(then.policy, name):
            covered = [
                identity
                for identity in found.everything
                if pattern.field is None and any(map(pattern.covers, former.of(identity)))
            ]
            if covered:
                yield name, pattern, covered


def _outermost_addresses(names: Names, items: Collection[Identity]) -> str:
    """Return the addresses of the outermost objects, for a message."""
    those = set(items)
    outermost = (one for one in those if not those & {*names.snapshot.above(names.snapshot.objects[one])})
    return some(sorted(str(names.address(one)) for one in outermost))
