"""Ask which object an entry stands for.

`identity_questions` asks before dpsync creates content that may be live under another name: without its
pages, members or roles, a second object is a loss that no guard against deletes notices. dpsync asks only if
there is evidence for a live object without an entry (planner/rebound_ids.py). The new entries of one parent
are one question.

`exchanged_name_refusals` asks if names of objects without lines in the ids file were perhaps exchanged by
hand: without a line, a mistake looks like a real exchange, and the contents of both objects would seem to
move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dpsync.identity.questions import binding_text
from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.cycles import find_simple_cycles
from dpsync.model.desired import Entry
from dpsync.model.question import Candidate, Refusal, WayOut
from dpsync.model.refusals import EXCHANGED, RENAMED, SHALLOW_CLONE
from dpsync.model.snapshot import Identity, LiveObject, MatchedBy, Snapshot
from dpsync.model.text import MAX_LISTED_NAMES, format_count, plural, shorten_list
from dpsync.model.values import live_ids, references
from dpsync.planner.answers import NEW, Answer, answer_in_flag
from dpsync.planner.decide import Decisions
from dpsync.planner.delete_questions import OpenDeletes, delete_question
from dpsync.planner.history import Names
from dpsync.planner.policy import COMMITS_MISSING
from dpsync.planner.rebound_ids import (
    RenameCandidates,
    SimilarityReason,
    binding_lines,
    entries_without_history,
)
from dpsync.planner.sides import Sides

MAX_QUESTIONS: Final = 50
"""The number of candidates that a question lists as data; the message counts all of them."""


class IdentityQuestions(Struct, frozen=True):
    """The unanswered questions, and all answers that the plan asks for."""

    refusals: tuple[Refusal, ...]
    requested_answers: frozenset[Answer]
    questioned_deletes: frozenset[Identity]
    """The content whose deletion is part of a question."""


class _Group(Struct, frozen=True):
    """New entries of one kind and place, and the live objects that they could be."""

    kind: Kind
    entries: tuple[Address, ...]
    candidates: Mapping[Identity, SimilarityReason]


def identity_questions(
    decisions: Decisions,
    similar: Sequence[RenameCandidates],
    undecided_deletes: OpenDeletes,
    over_limits: bool = False,
) -> IdentityQuestions:
    """Ask about the new entries of each place, and once about a clone that cannot tell what is new."""
    sides = decisions.sides
    groups = _group_new_entries(decisions, similar)
    untold = _undecidable_entries(decisions, similar)
    entries = [address for group in (*(one.entries for one in groups), *untold.values()) for address in group]
    single = {Answer(NEW, str(address)): [address] for address in entries}
    several = {
        answer: found for answer in sides.answers.confirmed if (found := answer.matching_addresses(entries))
    }
    answered = {
        address
        for answer, found in {**single, **several}.items()
        if sides.answers.contains(answer)
        for address in found
    }
    refusals: list[Refusal] = []
    deletes: set[Identity] = set()
    for group in groups:
        if left := [address for address in group.entries if address not in answered]:
            mine = _deleted_candidates(group, undecided_deletes)
            deletes |= set(mine)
            refusals.append(
                _renamed_question(
                    sides, group, left, _delete_flags(decisions, mine, undecided_deletes, over_limits)
                )
            )
    for root, found in untold.items():
        if left := [address for address in found if address not in answered]:
            number = sum(address.is_at_or_below(root) and address not in answered for address in entries)
            mine = _deletes_in_shallow_clone(sides, root, undecided_deletes)
            deletes |= set(mine)
            flags = _delete_flags(decisions, mine, undecided_deletes, over_limits)
            refusals.append(_shallow_clone(sides, root, len(left), number, mine, flags))
    return IdentityQuestions(tuple(refusals), frozenset({*single, *several}), frozenset(deletes))


def possibly_renamed_entries(
    decisions: Decisions, similar: Sequence[RenameCandidates]
) -> dict[Address, RenameCandidates]:
    """Return each entry that is not live and about which the plan asks or, if it is no content, proposes."""
    asked = {address for group in _group_new_entries(decisions, similar) for address in group.entries}
    return {
        one.entry.address: one
        for one in similar
        if one.entry.address in asked
        or (not one.kind.asks_before_create and _is_created(decisions, one.entry.address))
    }


def _group_new_entries(decisions: Decisions, similar: Sequence[RenameCandidates]) -> list[_Group]:
    """Return the new entries with content by kind and place.

    An entry that this plan does not create counts only if the plan deletes an object that it could be.
    """
    found: dict[tuple[str, Address], list[RenameCandidates]] = defaultdict(list)
    for one in similar:
        deleted = any(map(decisions.deletions.deletes, one.candidates))
        if one.kind.asks_before_create and (deleted or _is_created(decisions, one.entry.address)):
            found[one.kind.name, one.entry.address.list_address].append(one)
    return [
        _Group(
            group[0].kind,
            tuple(one.entry.address for one in group),
            {identity: reason for one in reversed(group) for identity, reason in one.candidates.items()},
        )
        for group in found.values()
    ]


def _is_created(decisions: Decisions, address: Address) -> bool:
    return not decisions.sides.policy.is_ignored(address) and not decisions.blocking.is_entry_blocked(address)


def _undecidable_entries(
    decisions: Decisions, similar: Sequence[RenameCandidates]
) -> Mapping[Address, list[Address]]:
    """Return, by organization, the new entries about which neither the ids file nor git says anything."""
    asked = {one.entry.address for one in similar if one.kind.asks_before_create}
    found: dict[Address, list[Address]] = defaultdict(list)
    for entry in entries_without_history(decisions.sides):
        if entry.address not in asked and _is_created(decisions, entry.address):
            found[entry.address.organization].append(entry.address)
    return found


# Deletes that are a part of a question.


def _deleted_candidates(group: _Group, undecided_deletes: OpenDeletes) -> list[Identity]:
    """Return the candidates that the plan deletes, unless a file that is no longer included has them."""
    mine = [
        one
        for one in undecided_deletes.unanswered
        if group.candidates.get(one) in (SimilarityReason.ENTRY_REMOVED, SimilarityReason.ENTRY_RENAMED)
    ]
    left_out = any(
        one in undecided_deletes.need_address and undecided_deletes.need_address[one].file is not None
        for one in mine
    )
    return [] if left_out else mine


def _deletes_in_shallow_clone(sides: Sides, root: Address, undecided_deletes: OpenDeletes) -> list[Identity]:
    """Return the objects to delete whose entry was perhaps not removed; this clone cannot tell."""
    return [
        identity
        for identity, removal in undecided_deletes.need_address.items()
        if removal.missing_evidence == COMMITS_MISSING and sides.names.address(identity).is_at_or_below(root)
    ]


def _delete_flags(
    decisions: Decisions, deletes: Sequence[Identity], undecided_deletes: OpenDeletes, over_limits: bool
) -> list[str]:
    if not deletes:
        return []
    answers = delete_question(decisions, undecided_deletes, deletes, over_limits).answers
    return [way.add for way in answers if answer_in_flag(way.add) is not None]


# What a question says.


def _renamed_question(
    sides: Sides, group: _Group, left: Sequence[Address], delete_flags: Sequence[str]
) -> Refusal:
    """Return the question whether entries are new or one of them is an object under another name."""
    first, only, shown = str(left[0]), len(left) == 1, list(group.candidates)[:MAX_QUESTIONS]
    lines = binding_lines(sides, sides.entries[left[0]], shown)
    new = Answer(NEW, first if only else f"{len(left)} {left[0].list_address}/*").flag
    flags = " ".join([new, *delete_flags])
    renamed = " or ".join(map(_instruction, lines))
    renamed = (
        renamed
        if len(lines) <= MAX_LISTED_NAMES
        else "add previously: NAME with the former key or title of the object"
    )
    answers = [
        (line, f"the entry is {_title_and_id(sides, one)}") for line, one in zip(lines, shown, strict=True)
    ]
    answers += [("new: true", "the entry is new")] if only else []
    answers += [(new, f"create {format_count(len(left), group.kind.noun)}")]
    answers += [(flag, "delete this object") for flag in delete_flags]
    showing = _addresses_showing(sides.names)
    return RENAMED.refusal(
        first,
        tuple(candidate(sides.names, one, group.candidates[one].value, showing) for one in shown),
        tuple(WayOut(address=first, add=add, means=means) for add, means in answers),
        question=_question(sides, group, left),
        new=f"add new: true, or {flags}" if only and not delete_flags else f"add {flags}",
        renamed=renamed if only else f"{renamed} to the entry with the new name",
    )


def _question(sides: Sides, group: _Group, left: Sequence[Address]) -> str:
    noun = group.kind.noun
    several = len(group.candidates) > 1
    titles = [_title_and_id(sides, one) for one in group.candidates]
    if len(left) == 1 and not several:
        return f"Is {left[0]} a new {noun}, or the {noun} {titles[0]} renamed?"
    if len(left) == 1:
        return f"Is {left[0]} a new {noun}, or one of these {plural(noun)} renamed: {shorten_list(titles)}?"
    names = shorten_list([str(address) for address in left])
    if not several:
        renamed = f"does one of the entries rename the {noun} {titles[0]}"
    else:
        renamed = f"do some of the entries rename these {plural(noun)}: {shorten_list(titles)}"
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
    return SHALLOW_CLONE.refusal(
        root,
        answers=tuple(WayOut(address=str(root), add=add, means=means) for add, means in answers),
        entries=format_count(new, "entry"),
        deletes=f", or whether you removed the entry of {shorten_list(removed)}" if removed else "",
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
        changed=item.changed_at,
        shown_in=tuple(sorted((showing or {}).get(item.id, ()))),
    )


def _addresses_showing(names: Names) -> Mapping[str, list[str]]:
    """Return, by id, the addresses of the nodes that refer to it, as far as they were read."""
    found: dict[str, list[str]] = defaultdict(list)
    for identity, item in names.snapshot.objects.items():
        if names.kind(item).is_node:
            for id in {id for value in item.fields.values() for id in live_ids(value)}:
                found[id].append(str(names.address(identity)))
    return found


def binding_instruction(names: Names, address: Address, id: str) -> str:
    """Return what to do if an entry is an object, in a sentence."""
    return _instruction(binding_text(address, id, bool(names.desired.environments)))


def binding_answers(names: Names, address: Address, candidates: Sequence[Candidate]) -> tuple[WayOut, ...]:
    """Return one answer for each candidate: the entry is that object."""
    shared = bool(names.desired.environments)
    return tuple(
        WayOut(
            address=str(address), add=binding_text(address, one.id, shared), means="the entry is this object"
        )
        for one in candidates
    )


_DECLARED_MATCHES: Final = frozenset(
    {MatchedBy.PIN, MatchedBy.PREVIOUSLY, MatchedBy.BASE, MatchedBy.EARLIER_COMMIT}
)
"""The matches by which the files or git identify the object of an entry."""


def is_matched_by_name_only(snapshot: Snapshot, address: Address) -> bool:
    """Return whether only its name identifies an entry: no line of the ids file, and no answer."""
    match = snapshot.matches.get(address)
    return (
        match is not None and address not in snapshot.recorded_ids.lines and match.by not in _DECLARED_MATCHES
    )


def exchanged_name_refusals(sides: Sides) -> Iterator[Refusal]:
    """Refuse circles of entries whose names were perhaps exchanged by hand.

    In such a circle, each live reference to an entry leads to the object of the next entry.
    """
    standing = _displaced_entries(sides)
    ring_of = {one: ring for ring in find_simple_cycles(standing, standing.get) for one in ring}
    for address in sorted(ring_of):
        if not all(sides.policy.is_ignored(one) for one in ring_of[address]):
            yield _exchange_refusal(sides, address, standing[address])


def _displaced_entries(sides: Sides) -> Mapping[Address, Address]:
    """Return, by entry matched by name, the other entry to whose object all live references lead."""
    found: dict[Address, set[Address | None]] = defaultdict(set)
    by_name = {
        address
        for address, entry in sides.entries.items()
        if sides.kind(entry).asks_before_create
        and is_matched_by_name_only(sides.snapshot, address)
        and sides.live(address) is not None
    }
    in_place: set[Address] = set()
    """The entries to which at least one live reference leads correctly: they are in no circle."""
    for address, entry in sides.entries.items() if by_name else ():
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
    before = names.base.desired.entries.get(entry.address) if names.base.desired is not None else None
    return before is not None and before.fields.get(name) != entry.fields[name]


def _referenced_entry(names: Names, live: LiveObject, name: str) -> Address | None:
    """Return the entry of the object to which a live field refers, if it refers to exactly one."""
    ids = live_ids(live.fields.get(name))
    if len(ids) != 1:
        return None
    (id,) = ids
    kinds = names.kind(live).field(name).type.referenced_kinds
    known = (names.declared.get(names.referenced_object(live, kind, id)) for kind in kinds)
    return next((address for address in known if address is not None), None)


def _exchange_refusal(sides: Sides, address: Address, other: Address) -> Refusal:
    mine, theirs = sides.live(address), sides.live(other)
    assert mine is not None
    assert theirs is not None
    candidates = (
        candidate(sides.names, mine.identity, "this object has the name of this entry"),
        candidate(sides.names, theirs.identity, "references to this entry lead to this object"),
    )
    return EXCHANGED.refusal(
        address,
        candidates,
        binding_answers(sides.names, address, candidates),
        id=mine.id,
        other_id=theirs.id,
        other=other,
        by_name=binding_instruction(sides.names, address, mine.id),
        by_place=binding_instruction(sides.names, address, theirs.id),
    )
