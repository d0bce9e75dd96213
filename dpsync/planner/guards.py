"""Refuse plans that would lose data or lock the user out.

`find_refusals` reads the decisions and returns a refusal, with the ways to resolve it, for each problem. No
guard changes the decisions. Other modules have the guards about identity and about the number of deletes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from dpsync.kinds.kind import Call, Field, Kind, LastHolderGuard
from dpsync.kinds.places import PlaceTypes
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
from dpsync.planner.history import is_container_field
from dpsync.planner.rebound_ids import rebound_object_questions
from dpsync.planner.restructuring import restructuring_refusals
from dpsync.planner.sides import Sides


def find_refusals(
    decisions: Decisions,
    limits: EffectiveLimits,
    exposures: tuple[Exposure, ...] = (),
    identity_refusals: Collection[Refusal] = (),
) -> Iterator[Refusal | Question]:
    """Return all refusals and questions except those about identity and about the number of deletes.

    `identity_refusals` has the questions about which object an entry is.
    """
    asked = {item.address for item in identity_refusals}
    yield from _refuse_create_only_changes(decisions, asked)
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
    """Refuse changes of fields that only a create can set.

    `ambiguous_addresses` has the entries of unclear identity.
    """
    sides = decisions.sides
    found = {address: items for address, items in decisions.differences_by_entry.items() if items}
    for address, compared in sorted(found.items()):
        if str(address) in ambiguous_addresses:
            continue
        resource = sides.entries[address]
        kind = sides.kind(resource)
        for item in compared:
            if (
                item.field.written_in == "create"
                and item.field.own_call is None
                and not item.field.is_parent_reference
            ):
                name, noun = item.field.name, kind.noun
                before = sides.values.to_display(item.field, item.before, resource)
                at = resource.address.field(name)
                yield words.CREATE_ONLY.refusal(
                    at, field=name, one=kind.noun_with_article, before=before, noun=noun
                )


def _refuse_protected_deletes(decisions: Decisions) -> Iterator[Refusal]:
    sides = decisions.sides
    for identity in decisions.deletions.all_deleted:
        since = sides.policy.protected_by(identity)
        if since is not None:
            until = "" if since == "now" else " in the commit that dpsync compares with"
            address = sides.names.address(identity)
            rebuilt = any(
                item.becomes_site_spaces and address.is_at_or_below(item.scope.address)
                for item in decisions.restructuring.confirmed
            )
            name = address_for_policy(sides.former_names, identity)
            skip = "" if rebuilt else f"add {{ address: {name}, skip: true }} to policy.protect, "
            yield words.PROTECTED.refusal(address, until=until, skip=skip)


def _refuse_forgotten_deletes(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse deletes of objects that `forget` names, or perhaps names by a key whose object is unknown."""
    sides = decisions.sides
    for identity in decisions.deletions.cascade.objects:
        if sides.policy.is_forgotten(identity):
            yield words.FORGOTTEN.refusal(sides.names.address(identity))
    for pattern in sides.desired.policy.forget:
        *place, key = pattern.segments
        if "*" in key or any(sides.policy.is_forgotten(one, pattern) for one in sides.snapshot.objects):
            continue
        around = Pattern(pattern.text, tuple(place))
        to_delete = [sides.names.address(root) for root in decisions.deletions.roots]
        count = sum(around.matches(address.list_address) for address in to_delete)
        if count:
            yield words.PERHAPS_FORGOTTEN.refusal(pattern.text, count=format_count(count, "object"))


def _refuse_unreadable_dependents(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse to delete or transfer an object whose dependents this token cannot read."""
    given = decisions.transfers.transferred
    for identity, url in sorted(decisions.sides.snapshot.delete_evidence.unreadable_dependents.items()):
        if decisions.deletions.deletes(identity) or identity in given:
            yield words.UNREADABLE_DEPENDENTS.refusal(decisions.sides.names.address(identity), url=url)


def _refuse_nonempty_deletes(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse to delete a nonempty object whose contents would move one level up (a collection)."""
    sides = decisions.sides
    for identity, left in decisions.deletions.cascade.contents_kept_inside.items():
        for live in left:
            inside = sides.names.address(live.identity)
            yield _nonempty_refusal(sides, identity, inside, _how_to_move_out(sides, identity, live))
    for identity, address in _containers_with_blocked_moves(decisions):
        yield _nonempty_refusal(sides, identity, address)


def _nonempty_refusal(sides: Sides, identity: Identity, inside: Address, how: str = "") -> Refusal:
    noun = sides.registry[identity[0]].noun
    return words.NOT_EMPTY.refusal(sides.names.address(identity), noun=noun, inside=inside, how=how)


def _how_to_move_out(sides: Sides, holder: Identity, live: LiveObject) -> str:
    """Return which line of the files moves a live object out of its holder; "" in a navigation."""
    kind = sides.kind(live)
    fields = [
        field.name
        for field in kind.reference_fields
        if is_container_field(field) and holder[0] in field.referenced_kinds
    ]
    if kind.is_node or not fields:
        return ""
    if sides.names.declared.get(live.identity) in sides.entries:
        return f" (write {fields[0]}: null in the entry of the {kind.noun})"
    return f" (add an entry for the {kind.noun} with {fields[0]}: null)"


def _containers_with_blocked_moves(decisions: Decisions) -> Iterator[tuple[Identity, Address]]:
    """Yield each such holder that the plan deletes, with an entry in it whose move out is blocked."""
    sides, registry = decisions.sides, decisions.sides.registry
    holders = {
        root for root in decisions.deletions.roots if registry[root[0]].lifecycle.on_delete == "lifted"
    }
    for address, resource in sides.entries.items() if holders else ():
        live = sides.live(address)
        if live is None:
            continue
        for item in filter(is_container_field, sides.kind(resource).reference_fields):
            stays = decisions.blocking.is_entry_blocked(address) or decisions.blocking.is_field_blocked(
                address, item
            )
            if stays and item.name in resource.fields:
                ids = referenced_ids(item, live.fields.get(item.name))
                named = {
                    sides.names.referenced_object(live, kind, id)
                    for id in ids
                    for kind in item.referenced_kinds
                }
                yield from ((holder, address) for holder in sorted(named & holders))


def _refuse_cycles(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse a collection that would be inside itself, by declared or live parents."""
    sides = decisions.sides

    def stays(address: Address, item: Field) -> bool:
        return decisions.blocking.is_entry_blocked(address) or decisions.blocking.is_field_blocked(
            address, item
        )

    for kind, item in self_nesting_fields(sides.registry):
        for circle in Nesting(sides, kind, item, stays).cycles():
            if any(not isinstance(one, Address) and decisions.deletions.deletes(one) for one in circle):
                continue  # a deleted collection must be empty (`_refuse_nonempty_deletes`)
            names = [one if isinstance(one, Address) else sides.names.address(one) for one in circle]
            around = format_cycle([str(one) for one in (*names[1:], names[0])], ", which is in ")
            yield words.CIRCLE.refusal(names[0].field(item.name), around=around, field=item.name)


def _refuse_referenced_deletes(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse to delete an object that a declared entry names by `{ id: … }`."""
    sides = decisions.sides
    for resource in sides.entries.values() if decisions.deletions.roots else ():
        for item in sides.kind(resource).reference_fields:
            for id in sorted(referenced_ids(item, resource.fields.get(item.name))):
                meant = [sides.names.referenced_object(resource, name, id) for name in item.referenced_kinds]
                for identity in filter(decisions.deletions.deletes, meant):
                    named = sides.names.address(identity)
                    yield words.IN_USE.refusal(resource.address.field(item.name), named=named)


def _check_last_holders(decisions: Decisions) -> Iterator[Refusal | Question]:
    """Refuse to remove or demote the token's own user, or the last member with a guarded value (admin)."""
    sides = decisions.sides
    for kind in sides.registry.in_dependency_order:
        if kind.guard is None:
            continue
        parents: dict[Identity, list[LiveObject]] = {}
        for live in sides.snapshot.objects.values():
            if (
                live.kind == kind.name
                and live.parent is not None
                and not decisions.deletions.deletes(live.parent)
            ):
                parents.setdefault(live.parent, []).append(live)
        for parent, members in parents.items():
            yield from _token_user_refusals(decisions, kind.guard, members)
            yield from _last_holder_refusals(
                decisions, kind, kind.guard, sides.names.address(parent), members
            )


def _value_after(decisions: Decisions, guard: LastHolderGuard, live: LiveObject) -> object:
    """Return the guarded value that a live object will have; None if the plan deletes the object."""
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
    item = decisions.sides.kind(entry).field(guard.field)
    return decisions.blocking.is_entry_blocked(entry.address) or decisions.blocking.is_field_blocked(
        entry.address, item
    )


def _token_user_refusals(
    decisions: Decisions, guard: LastHolderGuard, members: list[LiveObject]
) -> Iterator[Refusal | Question]:
    user = decisions.sides.snapshot.token_user_id
    for live in members if guard.protects_token_user else ():
        goes = decisions.deletions.deletes(live.identity)
        had = live.fields.get(guard.field) == guard.value
        if user is None and had and _value_after(decisions, guard, live) != guard.value:
            yield _possible_token_user_question(
                decisions, guard, decisions.sides.names.address(live.identity), goes
            )
        if live.id != user:
            continue
        if goes or (had and _value_after(decisions, guard, live) != guard.value):
            yield words.OWN_USER.refusal(
                decisions.sides.names.address(live.identity), lose=_loss_text(guard, goes)
            )


def _loss_text(guard: LastHolderGuard, goes: bool) -> str:
    return "be removed" if goes else f"stop being {guard.value}"


def _possible_token_user_question(
    decisions: Decisions, guard: LastHolderGuard, address: Address, goes: bool
) -> Question:
    """Return the question whether a leaving admin is the token's user, for a server that does not tell."""
    answer = Answer(NOT_TOKEN_USER, str(address))
    lacking = decisions.sides.registry.profile.missing_operation_text("showing the user of the token")
    lose = _loss_text(guard, goes)
    way = WayOut(
        address=str(address), add=answer.flag, means="confirm that this member is not the user of the token"
    )
    refusal = words.PERHAPS_OWN_USER.refusal(
        address, answers=(way,), lose=lose, lacking=lacking, answer=answer.flag
    )
    return Question(answer, refusal)


def _last_holder_refusals(
    decisions: Decisions, kind: Kind, guard: LastHolderGuard, parent: Address, holders: list[LiveObject]
) -> Iterator[Refusal]:
    had = [live for live in holders if live.fields.get(guard.field) == guard.value]
    if not had or any(_value_after(decisions, guard, live) == guard.value for live in holders):
        return
    arrives = any(
        resource.kind == kind.name
        and resource.parent == parent
        and resource.fields.get(guard.field) == guard.value
        and decisions.sides.live(resource.address) is None
        and not decisions.sides.policy.is_unselected(resource.address)
        and not _is_write_blocked(decisions, guard, resource)
        for resource in decisions.sides.entries.values()
    )
    if not arrives:
        at, value = decisions.sides.names.address(had[0].identity), guard.value
        yield words.LAST.refusal(at, parent=parent, value=value, a_value=_article(value))


def _article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def unknown_protections(decisions: Decisions) -> Iterator[Refusal]:
    """Refuse deletes in a place where `protect` names an object that dpsync does not know."""
    if decisions.deletions.roots:
        yield from _UnknownProtections(decisions).find_refusals()


class _UnknownProtections:
    """The search for `protect` patterns that name an unknown object."""

    def __init__(self, decisions: Decisions) -> None:
        self.decided, self.sides = decisions, decisions.sides

    def find_refusals(self) -> Iterator[Refusal]:
        for pattern in self.sides.desired.policy.protect:
            place = self._unknown_list(pattern)
            names = self._deletes_in(place) if place is not None else []
            if names:
                yield words.PERHAPS_PROTECTED.refusal(pattern.text, names=", ".join(names))

    def _unknown_list(self, pattern: Pattern) -> Pattern | None:
        """Return the place of the first unknown object on the path of a pattern; None if all are known."""
        for end in range(2, len(pattern.segments) + 1):
            if "*" in pattern.segments[end - 1]:
                return None
            part = Pattern(pattern.text, pattern.segments[:end])
            kinds = self._places.kinds(Address(part.segments))
            if any(isinstance(kind.delete, Call) for kind in kinds) and self._is_unknown(part, pattern):
                return Pattern(pattern.text, part.segments[:-1])
        return None

    def _is_unknown(self, part: Pattern, whole: Pattern) -> bool:
        """Return whether a part of a pattern is unknown.

        A title (`[Title]`) counts only if the git base protects it already: a new line may be for later.
        """
        title = part.last_segment.startswith("[")
        before = self.sides.base.desired.policy.protect if self.sides.base.desired is not None else ()
        if title and ("~" in part.last_segment or whole not in before):
            return False
        return not self.sides.former_names.matches_anything(part)

    def _deletes_in(self, place: Pattern) -> list[str]:
        found = []
        for identity in self.decided.deletions.all_deleted:
            names = self.sides.former_names.addresses_of(identity)
            if any(place.matches_or_contains(name.list_address) for name in names):
                found.append(str(self.sides.names.address(identity)))
        return sorted(found)

    @cached_property
    def _places(self) -> PlaceTypes:
        return PlaceTypes(self.sides.registry)
