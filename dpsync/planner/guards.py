"""Refuse plans that would lose data or lock the user out.

`refusals` reads the decisions and returns a refusal, with the ways to resolve it, for each problem. No guard
changes the decisions. Other modules have the guards about identity and about the number of deletes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from dpsync.kinds.kind import Call, Field, Guard, Kind
from dpsync.kinds.places import Places
from dpsync.model import refusals as words
from dpsync.model.address import Address, Pattern
from dpsync.model.change import Exposure
from dpsync.model.cycles import chain
from dpsync.model.desired import Entry
from dpsync.model.question import Refusal, WayOut
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.text import counted
from dpsync.planner.answers import NOT_MY_OWN, Answer, Question
from dpsync.planner.decide import Decisions, Nesting, own_places, transfer_refusals
from dpsync.planner.delete_questions import LimitsInForce, limited, policy_address
from dpsync.planner.deletions import named_ids
from dpsync.planner.history import is_place
from dpsync.planner.rebound_ids import rebound_object_questions
from dpsync.planner.restructuring import refused
from dpsync.planner.sides import Sides


def refusals(
    decided: Decisions,
    bounds: LimitsInForce,
    exposures: tuple[Exposure, ...] = (),
    who_is_who: Collection[Refusal] = (),
) -> Iterator[Refusal | Question]:
    """Return all refusals and questions except those about identity and about the number of deletes.

    `who_is_who` has the questions about which object an entry is.
    """
    asked = {item.address for item in who_is_who}
    yield from _create_only(decided, asked)
    yield from _protected(decided)
    yield from unknown_protections(decided)
    yield from _forgotten(decided)
    yield from _unseen(decided)
    yield from _not_empty(decided)
    yield from _named_by_declared(decided)
    yield from _circles(decided)
    yield from refused(decided.sides, decided.restructuring)
    yield from transfer_refusals(decided.sides.names, decided.transfers)
    yield from _holders(decided)
    yield from rebound_object_questions(decided)
    yield from limited(bounds, exposures)


def _create_only(decided: Decisions, asked: Collection[str]) -> Iterator[Refusal]:
    """Refuse changes of fields that only a create can set; `asked` has the entries of unclear identity."""
    sides = decided.sides
    found = {address: items for address, items in decided.compared.items() if items}
    for address, compared in sorted(found.items()):
        if str(address) in asked:
            continue
        resource = sides.resources[address]
        kind = sides.kind(resource)
        for item in compared:
            if item.field.on == "create" and item.field.via is None and not item.field.nest:
                name, noun = item.field.name, kind.noun
                before = sides.values.display(item.field, item.before, resource)
                at = resource.address.field(name)
                yield words.CREATE_ONLY.at(at, field=name, one=kind.one, before=before, noun=noun)


def _protected(decided: Decisions) -> Iterator[Refusal]:
    sides = decided.sides
    for identity in decided.deletions.everything:
        since = sides.policy.protected(identity)
        if since is not None:
            until = "" if since == "now" else " in the commit that dpsync compares with"
            address = sides.names.address(identity)
            rebuilt = any(
                item.alone and address.is_in(item.scope.address) for item in decided.restructuring.agreed
            )
            name = policy_address(sides.former, identity)
            skip = "" if rebuilt else f"add {{ address: {name}, skip: true }} to policy.protect, "
            yield words.PROTECTED.at(address, until=until, skip=skip)


def _forgotten(decided: Decisions) -> Iterator[Refusal]:
    """Refuse deletes of objects that `forget` names, or perhaps names by a key whose object is unknown."""
    sides = decided.sides
    for identity in decided.deletions.cascade.objects:
        if sides.policy.forgotten(identity):
            yield words.FORGOTTEN.at(sides.names.address(identity))
    for pattern in sides.desired.policy.forget:
        *place, key = pattern.segments
        if "*" in key or any(sides.policy.forgotten(one, pattern) for one in sides.snapshot.objects):
            continue
        around = Pattern(pattern.text, tuple(place))
        to_delete = [sides.names.address(root) for root in decided.deletions.roots]
        count = sum(around.matches(address.place) for address in to_delete)
        if count:
            yield words.PERHAPS_FORGOTTEN.at(pattern.text, count=counted(count, "object"))


def _unseen(decided: Decisions) -> Iterator[Refusal]:
    """Refuse to delete or transfer an object whose dependents this token cannot read."""
    given = decided.transfers.given
    for identity, url in sorted(decided.sides.snapshot.evidence.unseen.items()):
        if decided.deletions.covers(identity) or identity in given:
            yield words.UNSEEN.at(decided.sides.names.address(identity), url=url)


def _not_empty(decided: Decisions) -> Iterator[Refusal]:
    """Refuse to delete a nonempty object whose contents would move one level up (a collection)."""
    sides = decided.sides
    for identity, left in decided.deletions.cascade.left_inside.items():
        for live in left:
            inside = sides.names.address(live.identity)
            yield _still_contains(sides, identity, inside, _how_to_move_out(sides, identity, live))
    for identity, address in _kept_inside(decided):
        yield _still_contains(sides, identity, address)


def _still_contains(sides: Sides, identity: Identity, inside: Address, how: str = "") -> Refusal:
    noun = sides.registry[identity[0]].noun
    return words.NOT_EMPTY.at(sides.names.address(identity), noun=noun, inside=inside, how=how)


def _how_to_move_out(sides: Sides, holder: Identity, live: LiveObject) -> str:
    """Return which line of the files moves a live object out of its holder; "" in a navigation."""
    kind = sides.kind(live)
    fields = [field.name for field in kind.reference_fields if is_place(field) and holder[0] in field.names]
    if kind.in_tree or not fields:
        return ""
    if sides.names.declared.get(live.identity) in sides.resources:
        return f" (write {fields[0]}: null in the entry of the {kind.noun})"
    return f" (add an entry for the {kind.noun} with {fields[0]}: null)"


def _kept_inside(decided: Decisions) -> Iterator[tuple[Identity, Address]]:
    """Yield each such holder that the plan deletes, with an entry in it whose move out is blocked."""
    sides, registry = decided.sides, decided.sides.registry
    holders = {root for root in decided.deletions.roots if registry[root[0]].lifecycle.on_delete == "lifted"}
    for address, resource in sides.resources.items() if holders else ():
        live = sides.live(address)
        if live is None:
            continue
        for item in filter(is_place, sides.kind(resource).reference_fields):
            stays = decided.blocking.entry(address) or decided.blocking.noted(address, item)
            if stays and item.name in resource.fields:
                ids = named_ids(item, live.fields.get(item.name))
                named = {sides.names.named(live, kind, id) for id in ids for kind in item.names}
                yield from ((holder, address) for holder in sorted(named & holders))


def _circles(decided: Decisions) -> Iterator[Refusal]:
    """Refuse a collection that would be inside itself, by declared or live parents."""
    sides = decided.sides

    def stays(address: Address, item: Field) -> bool:
        return decided.blocking.entry(address) or decided.blocking.noted(address, item)

    for kind, item in own_places(sides.registry):
        for circle in Nesting(sides, kind, item, stays).circles():
            if any(not isinstance(one, Address) and decided.deletions.covers(one) for one in circle):
                continue  # a deleted collection must be empty (`_not_empty`)
            names = [one if isinstance(one, Address) else sides.names.address(one) for one in circle]
            around = chain([str(one) for one in (*names[1:], names[0])], ", which is in ")
            yield words.CIRCLE.at(names[0].field(item.name), around=around, field=item.name)


def _named_by_declared(decided: Decisions) -> Iterator[Refusal]:
    """Refuse to delete an object that a declared entry names by `{ id: … }`."""
    sides = decided.sides
    for resource in sides.resources.values() if decided.deletions.roots else ():
        for item in sides.kind(resource).reference_fields:
            for id in sorted(named_ids(item, resource.fields.get(item.name))):
                meant = [sides.names.named(resource, name, id) for name in item.names]
                for identity in filter(decided.deletions.covers, meant):
                    named = sides.names.address(identity)
                    yield words.IN_USE.at(resource.address.field(item.name), named=named)


def _holders(decided: Decisions) -> Iterator[Refusal | Question]:
    """Refuse to remove or demote the token's own user, or the last member with a guarded value (admin)."""
    sides = decided.sides
    for kind in sides.registry.ordered:
        if kind.guard is None:
            continue
        parents: dict[Identity, list[LiveObject]] = {}
        for live in sides.snapshot.objects.values():
            if (
                live.kind == kind.name
                and live.parent is not None
                and not decided.deletions.covers(live.parent)
            ):
                parents.setdefault(live.parent, []).append(live)
        for parent, members in parents.items():
            yield from _own(decided, kind.guard, members)
            yield from _last(decided, kind, kind.guard, sides.names.address(parent), members)


def _value_after(decided: Decisions, guard: Guard, live: LiveObject) -> object:
    """Return the guarded value that a live object will have; None if the plan deletes the object."""
    sides = decided.sides
    if decided.deletions.covers(live.identity):
        return None
    address = sides.names.declared.get(live.identity)
    declared = sides.resources.get(address) if address else None
    if (
        declared is None
        or sides.policy.ignored(declared.address)
        or _is_write_blocked(decided, guard, declared)
    ):
        return live.fields.get(guard.field)
    return declared.fields.get(guard.field, live.fields.get(guard.field))


def _is_write_blocked(decided: Decisions, guard: Guard, entry: Entry) -> bool:
    """Return whether the plan does not write the guarded field of an entry."""
    item = decided.sides.kind(entry).field(guard.field)
    return decided.blocking.entry(entry.address) or decided.blocking.noted(entry.address, item)


def _own(decided: Decisions, guard: Guard, members: list[LiveObject]) -> Iterator[Refusal | Question]:
    user = decided.sides.snapshot.user
    for live in members if guard.own else ():
        goes = decided.deletions.covers(live.identity)
        had = live.fields.get(guard.field) == guard.value
        if user is None and had and _value_after(decided, guard, live) != guard.value:
            yield _perhaps_own(decided, guard, decided.sides.names.address(live.identity), goes)
        if live.id != user:
            continue
        if goes or (had and _value_after(decided, guard, live) != guard.value):
            yield words.OWN_USER.at(decided.sides.names.address(live.identity), lose=_loss_text(guard, goes))


def _loss_text(guard: Guard, goes: bool) -> str:
    return "be removed" if goes else f"stop being {guard.value}"


def _perhaps_own(decided: Decisions, guard: Guard, address: Address, goes: bool) -> Question:
    """Return the question whether a leaving admin is the token's user, for a server that does not tell."""
    answer = Answer(NOT_MY_OWN, str(address))
    lacking = decided.sides.registry.profile.lacks("showing the user of the token")
    lose = _loss_text(guard, goes)
    way = WayOut(
        address=str(address), add=answer.flag, means="confirm that this member is not the user of the token"
    )
    refusal = words.PERHAPS_OWN_USER.at(
        address, answers=(way,), lose=lose, lacking=lacking, answer=answer.flag
    )
    return Question(answer, refusal)


def _last(
    decided: Decisions, kind: Kind, guard: Guard, parent: Address, members: list[LiveObject]
) -> Iterator[Refusal]:
    had = [live for live in members if live.fields.get(guard.field) == guard.value]
    if not had or any(_value_after(decided, guard, live) == guard.value for live in members):
        return
    arrives = any(
        resource.kind == kind.name
        and resource.parent == parent
        and resource.fields.get(guard.field) == guard.value
        and decided.sides.live(resource.address) is None
        and not decided.sides.policy.left_out(resource.address)
        and not _is_write_blocked(decided, guard, resource)
        for resource in decided.sides.resources.values()
    )
    if not arrives:
        at, value = decided.sides.names.address(had[0].identity), guard.value
        yield words.LAST.at(at, parent=parent, value=value, a_value=_article(value))


def _article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def unknown_protections(decided: Decisions) -> Iterator[Refusal]:
    """Refuse deletes in a place where `protect` names an object that dpsync does not know."""
    if decided.deletions.roots:
        yield from _UnknownProtections(decided).refusals()


class _UnknownProtections:
    """The search for `protect` patterns that name an unknown object."""

    def __init__(self, decided: Decisions) -> None:
        self.decided, self.sides = decided, decided.sides

    def refusals(self) -> Iterator[Refusal]:
        for pattern in self.sides.desired.policy.protect:
            place = self._place(pattern)
            names = self._deleted_in(place) if place is not None else []
            if names:
                yield words.PERHAPS_PROTECTED.at(pattern.text, names=", ".join(names))

    def _place(self, pattern: Pattern) -> Pattern | None:
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
        title = part.last.startswith("[")
        before = self.sides.base.desired.policy.protect if self.sides.base.desired is not None else ()
        if title and ("~" in part.last or whole not in before):
            return False
        return not self.sides.former.knows(part)

    def _deleted_in(self, place: Pattern) -> list[str]:
        found = []
        for identity in self.decided.deletions.everything:
            names = self.sides.former.of(identity)
            if any(place.covers(name.place) for name in names):
                found.append(str(self.sides.names.address(identity)))
        return sorted(found)

    @cached_property
    def _places(self) -> Places:
        return Places(self.sides.registry)
