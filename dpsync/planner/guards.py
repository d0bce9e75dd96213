"""Refuse plans that would lose data or lock the user out.

Input: decisions (what happens to each object). Output: `find_refusals` returns a refusal for each problem,
with the ways to resolve it. No guard changes the decisions. Other modules have the guards about identity
(identity_questions.py, rebound_ids.py) and about the number of deletes (delete_questions.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.kinds.kind import Call, Field, Kind, LastHolderGuard
from dpsync.model import refusals as words
from dpsync.model.address import Address, Pattern
from dpsync.model.change import Exposure
from dpsync.model.cycles import format_cycle
from dpsync.model.desired import Entry
from dpsync.model.question import Refusal, WayOut
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.text import format_count
from dpsync.planner.answers import NOT_TOKEN_USER, Answer, Question
from dpsync.planner.decide import Decisions, Nesting, self_nesting_fields, transfer_refusals
from dpsync.planner.delete_questions import EffectiveLimits, address_for_policy, exposure_limit_questions
from dpsync.planner.deletions import referenced_ids
from dpsync.planner.names import is_container_field
from dpsync.planner.rebound_ids import rebound_object_questions
from dpsync.planner.restructuring import restructuring_refusals
from dpsync.planner.sides import Sides


def find_refusals(
    decisions: Decisions,
    limits: EffectiveLimits,
    exposures: tuple[Exposure, ...] = (),
    identity_refusals: Collection[Refusal] = (),
) -> Iterator[Refusal | Question]:
    """Yield all refusals and questions except those about identity and about the number of deletes.

    `identity_refusals` has the questions about which live object an entry is. Entries with such a question
    are not refused again for fields that only a create can set.
    """
    ambiguous_addresses = {refusal.address for refusal in identity_refusals}
    yield from _refuse_create_only_changes(decisions, ambiguous_addresses)
    yield from _refuse_protected_deletes(decisions)
    yield from unknown_protections(decisions)
    yield from _refuse_forgotten_deletes(decisions)
    yield from _refuse_unreadable_dependents(decisions)
    yield from _refuse_nonempty_deletes(decisions)
    yield from _refuse_referenced_deletes(decisions)
    yield from _refuse_cycles(decisions)
    yield from restructuring_refusals(decisions.sides, decisions.restructuring)
    yield from transfer_refusals(decisions.sides.names, decisions.transfers)
    yield from _check_last_holders(decisions)
    yield from rebound_object_questions(decisions)
    yield from exposure_limit_questions(limits, exposures)


def _refuse_create_only_changes(
    decisions: Decisions, ambiguous_addresses: Collection[str]
) -> Iterator[Refusal]:
    """Refuse changes of fields that only a create request can set.

    `ambiguous_addresses` has the entries of unclear identity, which get a question instead.
    """
    sides = decisions.sides
    changed_entries = {
        address: changes for address, changes in decisions.differences_by_entry.items() if changes
    }
    for address, changes_of_entry in sorted(changed_entries.items()):
        if str(address) in ambiguous_addresses:
            continue
        entry = sides.entries[address]
        kind = sides.kind(entry)
        for change in changes_of_entry:
            if (
                change.field.written_in == "create"
                and change.field.own_call is None
                and not change.field.is_parent_reference
            ):
                name, noun = change.field.name, kind.noun
                before = sides.values.to_display(change.field, change.before, entry)
                field_address = entry.address.field(name)
                yield words.CREATE_ONLY.refusal(
                    field_address, field=name, one=kind.noun_with_article, before=before, noun=noun
                )


def _refuse_protected_deletes(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse each delete, of its own or with another object, of an object that `policy.protect` matches.

    The policy in the git base (the commit compared with) counts as well, so that one change cannot both
    remove the protection and delete the object.
    """
    sides = decisions.sides
    for identity in decisions.deletions.all_deleted:
        protection = sides.policy.protected_by(identity)
        if protection is not None:
            until = "" if protection == "now" else " in the commit that dpsync compares with"
            address = sides.names.address(identity)
            is_restructured = any(
                restructuring.becomes_site_spaces and address.is_at_or_below(restructuring.scope.address)
                for restructuring in decisions.restructuring.confirmed
            )
            name = address_for_policy(sides.former_names, identity)
            skip = "" if is_restructured else f"add {{ address: {name}, skip: true }} to policy.protect, "
            yield words.PROTECTED.refusal(address, until=until, skip=skip)


def _refuse_forgotten_deletes(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse deletes of objects that `forget` names, or may name.

    A pattern whose object is unknown may name any of the deleted objects of its list.
    """
    sides = decisions.sides
    for identity in decisions.deletions.cascade.objects:
        if sides.policy.is_forgotten(identity):
            yield words.FORGOTTEN.refusal(sides.names.address(identity))
    for pattern in sides.desired.policy.forget:
        *list_segments, key = pattern.segments
        objects = sides.snapshot.objects
        if "*" in key or any(sides.policy.is_forgotten(identity, pattern) for identity in objects):
            continue
        # No object is known by this name: it may be any of the deleted objects of this list.
        list_pattern = Pattern(pattern.text, tuple(list_segments))
        to_delete = [sides.names.address(root) for root in decisions.deletions.roots]
        count = sum(list_pattern.matches(address.list_address) for address in to_delete)
        if count:
            yield words.PERHAPS_FORGOTTEN.refusal(pattern.text, count=format_count(count, "object"))


def _refuse_unreadable_dependents(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse to delete or transfer an object whose dependents this token cannot read.

    Dependents are objects inside the object or references to it. Without them, the plan cannot list all
    effects.
    """
    transferred = decisions.transfers.transferred
    for identity, url in sorted(decisions.sides.snapshot.delete_evidence.unreadable_dependents.items()):
        if decisions.deletions.deletes(identity) or identity in transferred:
            yield words.UNREADABLE_DEPENDENTS.refusal(decisions.sides.names.address(identity), url=url)


def _refuse_nonempty_deletes(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse to delete a nonempty object whose contents would move one level up (a collection).

    The contents are objects that no entry moves elsewhere, or whose move is blocked.
    """
    sides = decisions.sides
    for identity, contents in decisions.deletions.cascade.contents_kept_inside.items():
        for live in contents:
            inside = sides.names.address(live.identity)
            yield _nonempty_refusal(sides, identity, inside, _how_to_move_out(sides, identity, live))
    for identity, address in _containers_with_blocked_moves(decisions):
        yield _nonempty_refusal(sides, identity, address)


def _nonempty_refusal(sides: Sides, identity: Identity, inside: Address, how: str = "") -> Refusal:
    """Return the refusal to delete an object because of an object inside it.

    `how` is the instruction for moving the inner object out, or "".
    """
    noun = sides.registry[identity[0]].noun
    return words.NOT_EMPTY.refusal(sides.names.address(identity), noun=noun, inside=inside, how=how)


def _how_to_move_out(sides: Sides, container: Identity, live: LiveObject) -> str:
    """Return which line of the files moves a live object out of its container; "" for a node of a tree."""
    kind = sides.kind(live)
    fields = [
        field.name
        for field in kind.reference_fields
        if is_container_field(field) and container[0] in field.referenced_kinds
    ]
    if kind.is_node or not fields:
        return ""
    if sides.names.declared.get(live.identity) in sides.entries:
        return f" (write {fields[0]}: null in the entry of the {kind.noun})"
    return f" (add an entry for the {kind.noun} with {fields[0]}: null)"


def _containers_with_blocked_moves(decisions: Decisions) -> Iterator[tuple[Identity, Address]]:
    """Yield each deleted container and the address of an entry whose move out of it is blocked.

    Only containers whose contents would move one level up count (collections).
    """
    sides, registry = decisions.sides, decisions.sides.registry
    containers = {
        root for root in decisions.deletions.roots if registry[root[0]].lifecycle.on_delete == "lifted"
    }
    for address, entry in sides.entries.items() if containers else ():
        live = sides.live(address)
        if live is None:
            continue
        for field in filter(is_container_field, sides.kind(entry).reference_fields):
            is_blocked = decisions.blocking.is_entry_blocked(address) or decisions.blocking.is_field_blocked(
                address, field
            )
            if is_blocked and field.name in entry.fields:
                ids = referenced_ids(field, live.fields.get(field.name))
                live_containers = {
                    sides.names.referenced_object(live, kind, id)
                    for id in ids
                    for kind in field.referenced_kinds
                }
                yield from ((container, address) for container in sorted(live_containers & containers))


def _refuse_cycles(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse collections that would be inside themselves.

    The files decide where a declared collection is. An undeclared one, or one that the plan cannot move,
    stays where it is live.
    """
    sides = decisions.sides

    def is_blocked(address: Address, field: Field) -> bool:
        """Return whether the plan does not write the parent of a collection."""
        return decisions.blocking.is_entry_blocked(address) or decisions.blocking.is_field_blocked(
            address, field
        )

    for kind, field in self_nesting_fields(sides.registry):
        for cycle in Nesting(sides, kind, field, is_blocked).cycles():
            # A member of a cycle is the address of an entry or the identity of an undeclared live object.
            if any(
                not isinstance(member, Address) and decisions.deletions.deletes(member) for member in cycle
            ):
                continue  # a deleted collection must be empty (`_refuse_nonempty_deletes`)
            addresses = [
                member if isinstance(member, Address) else sides.names.address(member) for member in cycle
            ]
            path = format_cycle(list(map(str, (*addresses[1:], addresses[0]))), ", which is in ")
            yield words.CIRCLE.refusal(addresses[0].field(field.name), around=path, field=field.name)


def _refuse_referenced_deletes(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse to delete an object without an entry to which an entry in the files refers by `{ id: … }`."""
    sides = decisions.sides
    for entry in sides.entries.values() if decisions.deletions.roots else ():
        for field in sides.kind(entry).reference_fields:
            for id in sorted(referenced_ids(field, entry.fields.get(field.name))):
                targets = [sides.names.referenced_object(entry, name, id) for name in field.referenced_kinds]
                for identity in filter(decisions.deletions.deletes, targets):
                    target = sides.names.address(identity)
                    yield words.IN_USE.refusal(entry.address.field(field.name), named=target)


def _check_last_holders(decisions: Decisions) -> Iterator[Refusal | Question]:
    """Refuse to remove or demote the user of the token, or the last member with a guarded value (admin).

    A kind declares the guarded field and value in `guard`.
    """
    sides = decisions.sides
    for kind in sides.registry.in_dependency_order:
        if kind.guard is None:
            continue
        objects_by_parent: dict[Identity, list[LiveObject]] = {}
        for live in sides.snapshot.objects.values():
            if (
                live.kind == kind.name
                and live.parent is not None
                and not decisions.deletions.deletes(live.parent)
            ):
                objects_by_parent.setdefault(live.parent, []).append(live)
        for parent, objects in objects_by_parent.items():
            yield from _token_user_refusals(decisions, kind.guard, objects)
            yield from _last_holder_refusals(
                decisions, kind, kind.guard, sides.names.address(parent), objects
            )


def _guarded_value_after(decisions: Decisions, guard: LastHolderGuard, live: LiveObject) -> object:
    """Return the value that the guarded field (a role) will have after the plan; None if deleted.

    If the plan does not write the field, the live value stays.
    """
    sides = decisions.sides
    if decisions.deletions.deletes(live.identity):
        return None
    address = sides.names.declared.get(live.identity)
    declared = sides.entries.get(address) if address else None
    if (
        declared is None
        or sides.policy.is_ignored(declared.address)
        or _is_write_blocked(decisions, guard, declared)
    ):
        return live.fields.get(guard.field)
    return declared.fields.get(guard.field, live.fields.get(guard.field))


def _is_write_blocked(decisions: Decisions, guard: LastHolderGuard, entry: Entry) -> bool:
    """Return whether the plan does not write the guarded field of an entry."""
    field = decisions.sides.kind(entry).field(guard.field)
    return decisions.blocking.is_entry_blocked(entry.address) or decisions.blocking.is_field_blocked(
        entry.address, field
    )


def _token_user_refusals(
    decisions: Decisions, guard: LastHolderGuard, members: list[LiveObject]
) -> Iterator[Refusal | Question]:
    """Refuse to delete or demote the user of the token, who could lock themselves out of the organization.

    `guard` says which value counts, such as the role admin. If the server does not say who the user of the
    token is, ask about each member who loses the value.
    """
    token_user_id = decisions.sides.snapshot.token_user_id
    for live in members if guard.protects_token_user else ():
        is_deleted = decisions.deletions.deletes(live.identity)
        has_value = live.fields.get(guard.field) == guard.value
        if (
            token_user_id is None
            and has_value
            and _guarded_value_after(decisions, guard, live) != guard.value
        ):
            yield _possible_token_user_question(
                decisions, guard, decisions.sides.names.address(live.identity), is_deleted
            )
        if live.id != token_user_id:
            continue
        if is_deleted or (has_value and _guarded_value_after(decisions, guard, live) != guard.value):
            yield words.OWN_USER.refusal(
                decisions.sides.names.address(live.identity), lose=_loss_text(guard, is_deleted)
            )


def _loss_text(guard: LastHolderGuard, is_deleted: bool) -> str:
    """Return what happens to a member, for the words "would …": deleted, or without the guarded value."""
    return "be removed" if is_deleted else f"stop being {guard.value}"


def _possible_token_user_question(
    decisions: Decisions, guard: LastHolderGuard, address: Address, is_deleted: bool
) -> Question:
    """Ask whether a member who loses the guarded value (admin) is the user of the token.

    The question is needed on a server that does not tell who the user of the token is.
    """
    answer = Answer(NOT_TOKEN_USER, str(address))
    lacking = decisions.sides.registry.profile.missing_operation_text("showing the user of the token")
    lose = _loss_text(guard, is_deleted)
    resolution = WayOut(
        address=str(address), add=answer.flag, means="confirm that this member is not the user of the token"
    )
    refusal = words.PERHAPS_OWN_USER.refusal(
        address, answers=(resolution,), lose=lose, lacking=lacking, answer=answer.flag
    )
    return Question(answer, refusal)


def _last_holder_refusals(
    decisions: Decisions, kind: Kind, guard: LastHolderGuard, parent: Address, members: list[LiveObject]
) -> Iterator[Refusal]:
    """Refuse a plan that removes the last member with a guarded value, such as the last admin, from a parent.

    A parent in which nobody has the value now is left alone.
    """
    former_holders = [live for live in members if live.fields.get(guard.field) == guard.value]
    if not former_holders or any(
        _guarded_value_after(decisions, guard, live) == guard.value for live in members
    ):
        return
    has_new_holder = any(
        entry.kind == kind.name
        and entry.parent == parent
        and entry.fields.get(guard.field) == guard.value
        and decisions.sides.live(entry.address) is None
        and not decisions.sides.policy.is_unselected(entry.address)
        and not _is_write_blocked(decisions, guard, entry)
        for entry in decisions.sides.entries.values()
    )
    if not has_new_holder:
        address, value = decisions.sides.names.address(former_holders[0].identity), guard.value
        a_value = f"{'an' if value[0] in 'aeiou' else 'a'} {value}"
        yield words.LAST.refusal(address, parent=parent, value=value, a_value=a_value)


def unknown_protections(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse deletes in a list where `protect` names an object that dpsync does not know.

    The unknown object may be any of the deleted objects, under a new name.
    """
    if decisions.deletions.roots:
        yield from _UnknownProtections(decisions).find_refusals()


class _UnknownProtections:
    """The search for `protect` patterns that name an unknown object."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions, self.sides = decisions, decisions.sides

    def find_refusals(self) -> Iterator[Refusal]:
        """Yield a refusal for each such pattern in whose list the plan deletes objects."""
        for pattern in self.sides.desired.policy.protect:
            list_pattern = self._list_with_unknown_object(pattern)
            if list_pattern is None:
                continue
            deleted = []
            for identity in self.decisions.deletions.all_deleted:
                names = self.sides.former_names.addresses_of(identity)
                if any(list_pattern.matches_or_contains(name.list_address) for name in names):
                    deleted.append(str(self.sides.names.address(identity)))
            if deleted:
                yield words.PERHAPS_PROTECTED.refusal(pattern.text, names=", ".join(sorted(deleted)))

    def _list_with_unknown_object(self, pattern: Pattern) -> Pattern | None:
        """Return the list of the first unknown object on the path of a pattern; None if all are known."""
        for end in range(2, len(pattern.segments) + 1):
            if "*" in pattern.segments[end - 1]:
                return None
            part = Pattern(pattern.text, pattern.segments[:end])
            kinds = self._place_types.kinds(Address(part.segments))
            if any(isinstance(kind.delete, Call) for kind in kinds) and self._is_unknown_object(
                part, pattern
            ):
                return Pattern(pattern.text, part.segments[:-1])
        return None

    def _is_unknown_object(self, part: Pattern, whole: Pattern) -> bool:
        """Return whether the object that a part of a pattern names is unknown, live and in history.

        A title (`[Title]`) counts as unknown only if the git base protects it already: a new line may be
        for an object that will be created later.
        """
        is_title = part.last_segment.startswith("[")
        base_patterns = self.sides.base.desired.policy.protect if self.sides.base.desired is not None else ()
        if is_title and ("~" in part.last_segment or whole not in base_patterns):
            return False
        return not self.sides.former_names.matches_anything(part)

    @cached_property
    def _place_types(self) -> PlaceTypes:
        """The types of the lists and objects at an address."""
        return PlaceTypes(self.sides.registry)
