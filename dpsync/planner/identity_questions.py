"""Ask which object an entry stands for.

`identity_questions` asks before dpsync creates content that may be live under another name: without its
pages, members or roles, a second object is a loss that no guard against deletes notices. dpsync asks only if
there is evidence for a live object without an entry (planner/rebound_ids.py). The new entries of one parent
are one question.

`exchanged` asks if names of objects without lines in the ids file were perhaps exchanged by hand: without a
line, a mistake looks like a real exchange, and the contents of both objects would seem to move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dpsync.identity.questions import meaning
from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.cycles import circles
from dpsync.model.desired import Entry
from dpsync.model.question import Candidate, Refusal, WayOut
from dpsync.model.refusals import EXCHANGED, RENAMED, SHALLOW_CLONE
from dpsync.model.snapshot import Identity, LiveObject, MatchedBy, Snapshot
from dpsync.model.text import FEW, counted, plural, some
from dpsync.model.values import live_ids, references
from dpsync.planner.answers import NEW, Answer, confirmed_by
from dpsync.planner.decide import Decisions
from dpsync.planner.delete_questions import OpenDeletes, delete_question
from dpsync.planner.history import Names
from dpsync.planner.policy import DEEPER
from dpsync.planner.rebound_ids import Lookalike, Reason, previous_names, undecidable
from dpsync.planner.sides import Sides

MOST: Final = 50
"""The number of candidates that a question lists as data; the message counts all of them."""


class IdentityQuestions(Struct, frozen=True):
    """The unanswered questions, and all answers that the plan asks for."""

    refusals: tuple[Refusal, ...]
    asked: frozenset[Answer]
    deletes: frozenset[Identity]
    """The content whose deletion is part of a question."""


class _Group(Struct, frozen=True):
    """New entries of one kind and place, and the live objects that they could be."""

    kind: Kind
    entries: tuple[Address, ...]
    could_be: Mapping[Identity, Reason]


def identity_questions(
    decided: Decisions, similar: Sequence[Lookalike], undecided: OpenDeletes, over_limits: bool = False
) -> IdentityQuestions:
    """Ask about the new entries of each place, and once about a clone that cannot tell what is new."""
    sides = decided.sides
    groups = _groups(decided, similar)
    untold = _undecidable_entries(decided, similar)
    entries = [address for group in (*(one.entries for one in groups), *untold.values()) for address in group]
    single = {Answer(NEW, str(address)): [address] for address in entries}
    several = {answer: found for answer in sides.answers.given if (found := answer.covered(entries))}
    answered = {
        address
        for answer, found in {**single, **several}.items()
        if sides.answers.gives(answer)
        for address in found
    }
    refusals: list[Refusal] = []
    deletes: set[Identity] = set()
    for group in groups:
        if left := [address for address in group.entries if address not in answered]:
            mine = _deletes(group, undecided)
            deletes |= set(mine)
            refusals.append(
                _renamed_question(sides, group, left, _delete_flags(decided, mine, undecided, over_limits))
            )
    for root, found in untold.items():
        if left := [address for address in found if address not in answered]:
            number = sum(address.is_in(root) and address not in answered for address in entries)
            mine = _deletes_in_shallow_clone(sides, root, undecided)
            deletes |= set(mine)
            flags = _delete_flags(decided, mine, undecided, over_limits)
            refusals.append(_shallow_clone(sides, root, len(left), number, mine, flags))
    return IdentityQuestions(tuple(refusals), frozenset({*single, *several}), frozenset(deletes))


def perhaps_renamed(decided: Decisions, similar: Sequence[Lookalike]) -> dict[Address, Lookalike]:
    """Return each entry that is not live and about which the plan asks or, if it is no content, proposes."""
    asked = {address for group in _groups(decided, similar) for address in group.entries}
    return {
        one.entry.address: one
        for one in similar
        if one.entry.address in asked or (not one.kind.mistakable and _is_created(decided, one.entry.address))
    }


def _groups(decided: Decisions, similar: Sequence[Lookalike]) -> list[_Group]:
    """Return the new entries with content by kind and place.

    An entry that this plan does not create counts only if the plan deletes an object that it could be.
    """
    found: dict[tuple[str, Address], list[Lookalike]] = defaultdict(list)
    for one in similar:
        deleted = any(map(decided.deletions.covers, one.could_be))
        if one.kind.mistakable and (deleted or _is_created(decided, one.entry.address)):
            found[one.kind.name, one.entry.address.place].append(one)
    return [
        _Group(
            group[0].kind,
            tuple(one.entry.address for one in group),
            {identity: reason for one in reversed(group) for identity, reason in one.could_be.items()},
        )
        for group in found.values()
    ]


def _is_created(decided: Decisions, address: Address) -> bool:
    return not decided.sides.policy.ignored(address) and not decided.blocking.entry(address)


def _undecidable_entries(decided: Decisions, similar: Sequence[Lookalike]) -> Mapping[Address, list[Address]]:
    """Return, by organization, the new entries about which neither the ids file nor git says anything."""
    asked = {one.entry.address for one in similar if one.kind.mistakable}
    found: dict[Address, list[Address]] = defaultdict(list)
    for entry in undecidable(decided.sides):
        if entry.address not in asked and _is_created(decided, entry.address):
            found[entry.address.top].append(entry.address)
    return found


# Deletes that are a part of a question.


def _deletes(group: _Group, undecided: OpenDeletes) -> list[Identity]:
    """Return the candidates that the plan deletes, unless a file that is no longer included has them."""
    mine = [
        one for one in undecided.unanswered if group.could_be.get(one) in (Reason.LOST, Reason.OTHER_NAME)
    ]
    left_out = any(one in undecided.to_name and undecided.to_name[one].file is not None for one in mine)
    return [] if left_out else mine


def _deletes_in_shallow_clone(sides: Sides, root: Address, undecided: OpenDeletes) -> list[Identity]:
    """Return the objects to delete whose entry was perhaps not removed; this clone cannot tell."""
    return [
        identity
        for identity, removal in undecided.to_name.items()
        if removal.reason == DEEPER and sides.names.address(identity).is_in(root)
    ]


def _delete_flags(
    decided: Decisions, deletes: Sequence[Identity], undecided: OpenDeletes, over_limits: bool
) -> list[str]:
    if not deletes:
        return []
    answers = delete_question(decided, undecided, deletes, over_limits).answers
    return [way.add for way in answers if confirmed_by(way.add) is not None]


# What a question says.


def _renamed_question(
    sides: Sides, group: _Group, left: Sequence[Address], delete_flags: Sequence[str]
) -> Refusal:
    """Return the question whether entries are new or one of them is an object under another name."""
    first, only, shown = str(left[0]), len(left) == 1, list(group.could_be)[:MOST]
    lines = previous_names(sides, sides.resources[left[0]], shown)
    new = Answer(NEW, first if only else f"{len(left)} {left[0].place}/*").flag
    flags = " ".join([new, *delete_flags])
    renamed = " or ".join(map(_instruction, lines))
    renamed = (
        renamed if len(lines) <= FEW else "add previously: NAME with the former key or title of the object"
    )
    answers = [
        (line, f"the entry is {_title_and_id(sides, one)}") for line, one in zip(lines, shown, strict=True)
    ]
    answers += [("new: true", "the entry is new")] if only else []
    answers += [(new, f"create {counted(len(left), group.kind.noun)}")]
    answers += [(flag, "delete this object") for flag in delete_flags]
    showing = _showing(sides.names)
    return RENAMED.at(
        first,
        tuple(candidate(sides.names, one, group.could_be[one].value, showing) for one in shown),
        tuple(WayOut(address=first, add=add, means=means) for add, means in answers),
        question=_question(sides, group, left),
        new=f"add new: true, or {flags}" if only and not delete_flags else f"add {flags}",
        renamed=renamed if only else f"{renamed} to the entry with the new name",
    )


def _question(sides: Sides, group: _Group, left: Sequence[Address]) -> str:
    noun = group.kind.noun
    several = len(group.could_be) > 1
    titles = [_title_and_id(sides, one) for one in group.could_be]
    if len(left) == 1 and not several:
        return f"Is {left[0]} a new {noun}, or the {noun} {titles[0]} renamed?"
    if len(left) == 1:
        return f"Is {left[0]} a new {noun}, or one of these {plural(noun)} renamed: {some(titles)}?"
    names = some([str(address) for address in left])
    if not several:
        renamed = f"does one of the entries rename the {noun} {titles[0]}"
    else:
        renamed = f"do some of the entries rename these {plural(noun)}: {some(titles)}"
    return f"Are all {len(left)} {plural(noun)} new, or {renamed}? The entries: {names}"


def _shallow_clone(
    sides: Sides,
    root: Address,
    new: int,
    asked: int,
    deletes: Sequence[Identity],
    delete_flags: Sequence[str],
) -> Refusal:
    answer = Answer(NEW, f"{asked} {root}/**")
    answers = [(answer.flag, "the entries are new"), *((flag, "delete this object") for flag in delete_flags)]
    removed = [f"{sides.registry[one[0]].noun} {_title_and_id(sides, one)}" for one in deletes]
    return SHALLOW_CLONE.at(
        root,
        answers=tuple(WayOut(address=str(root), add=add, means=means) for add, means in answers),
        entries=counted(new, "entry"),
        deletes=f", or whether you removed the entry of {some(removed)}" if removed else "",
        base=sides.base.name,
        meant=" and the deletes are correct" if removed else "",
        answer=" ".join(add for add, _ in answers),
    )


def _title_and_id(sides: Sides, identity: Identity) -> str:
    item = sides.snapshot.objects[identity]
    return f'"{sides.names.label(item)}" (id {item.id})'


def _instruction(line: str) -> str:
    """Return what to do with a line, or with a command."""
    return f"run {line}" if line.startswith("`") else f"add {line}"


def candidate(
    names: Names, identity: Identity, why: str, showing: Mapping[str, list[str]] | None = None
) -> Candidate:
    """Return a live object as a candidate; `showing` has the addresses of the nodes that show it, by id."""
    item = names.snapshot.objects[identity]
    return Candidate(
        address=str(names.address(identity)),
        id=item.id,
        title=names.label(item),
        why=why,
        changed=item.changed,
        shown_in=tuple(sorted((showing or {}).get(item.id, ()))),
    )


def _showing(names: Names) -> Mapping[str, list[str]]:
    """Return, by id, the addresses of the nodes that refer to it, as far as they were read."""
    found: dict[str, list[str]] = defaultdict(list)
    for identity, item in names.snapshot.objects.items():
        if names.kind(item).in_tree:
            for id in {id for value in item.fields.values() for id in live_ids(value)}:
                found[id].append(str(names.address(identity)))
    return found


def answer_text(names: Names, address: Address, id: str) -> str:
    """Return what to do if an entry is an object, in a sentence."""
    return _instruction(meaning(address, id, bool(names.desired.environments)))


def it_is(names: Names, address: Address, candidates: Sequence[Candidate]) -> tuple[WayOut, ...]:
    """Return one answer for each candidate: the entry is that object."""
    shared = bool(names.desired.environments)
    return tuple(
        WayOut(address=str(address), add=meaning(address, one.id, shared), means="the entry is this object")
        for one in candidates
    )


_DECLARED: Final = frozenset({MatchedBy.PIN, MatchedBy.PREVIOUSLY, MatchedBy.BASE, MatchedBy.EARLIER_COMMIT})
"""The matches by which the files or git identify the object of an entry."""


def found_by_name(snapshot: Snapshot, address: Address) -> bool:
    """Return whether only its name identifies an entry: no line of the ids file, and no answer."""
    match = snapshot.matches.get(address)
    return match is not None and address not in snapshot.records.lines and match.by not in _DECLARED


def exchanged(sides: Sides) -> Iterator[Refusal]:
    """Refuse circles of entries whose names were perhaps exchanged by hand.

    In such a circle, each live reference to an entry leads to the object of the next entry.
    """
    standing = _displaced_entries(sides)
    ring_of = {one: ring for ring in circles(standing, standing.get) for one in ring}
    for address in sorted(ring_of):
        if not all(sides.policy.ignored(one) for one in ring_of[address]):
            yield _exchange_refusal(sides, address, standing[address])


def _displaced_entries(sides: Sides) -> Mapping[Address, Address]:
    """Return, by entry matched by name, the other entry to whose object all live references lead."""
    found: dict[Address, set[Address | None]] = defaultdict(set)
    by_name = {
        address
        for address, entry in sides.resources.items()
        if sides.kind(entry).mistakable
        and found_by_name(sides.snapshot, address)
        and sides.live(address) is not None
    }
    in_place: set[Address] = set()
    """The entries to which at least one live reference leads correctly: they are in no circle."""
    for address, entry in sides.resources.items() if by_name else ():
        live = sides.live(address)
        for field in sides.kind(entry).reference_fields if live is not None else ():
            wanted = references(entry.fields.get(field.name))
            if len(wanted) != 1 or wanted.isdisjoint(by_name) or not wanted.isdisjoint(in_place):
                continue
            if _differs_from_base(sides.names, entry, field.name):
                continue
            assert live is not None
            (named,) = wanted
            now = _referenced_entry(sides.names, live, field.name)
            found[named].add(now)
            if now == named:
                in_place.add(named)
    only = {address: next(iter(now)) for address, now in found.items() if len(now) == 1}
    return {address: now for address, now in only.items() if now in by_name and now != address}


def _differs_from_base(names: Names, entry: Entry, name: str) -> bool:
    """Return whether a field differs from the git base, so that a person wants to change the reference."""
    before = names.base.desired.resources.get(entry.address) if names.base.desired is not None else None
    return before is not None and before.fields.get(name) != entry.fields[name]


def _referenced_entry(names: Names, live: LiveObject, name: str) -> Address | None:
    """Return the entry of the object to which a live field refers, if it refers to exactly one."""
    ids = live_ids(live.fields.get(name))
    if len(ids) != 1:
        return None
    (id,) = ids
    kinds = names.kind(live).field(name).type.refers
    known = (names.declared.get(names.named(live, kind, id)) for kind in kinds)
    return next((address for address in known if address is not None), None)


def _exchange_refusal(sides: Sides, address: Address, other: Address) -> Refusal:
    mine, theirs = sides.live(address), sides.live(other)
    assert mine is not None
    assert theirs is not None
    candidates = (
        candidate(sides.names, mine.identity, "this object has the name of this entry"),
        candidate(sides.names, theirs.identity, "references to this entry lead to this object"),
    )
    return EXCHANGED.at(
        address,
        candidates,
        it_is(sides.names, address, candidates),
        id=mine.id,
        other_id=theirs.id,
        other=other,
        by_name=answer_text(sides.names, address, mine.id),
        by_place=answer_text(sides.names, address, theirs.id),
    )
