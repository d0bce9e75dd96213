"""Ask the user which live object an entry stands for.

`identity_questions` asks before dpsync creates content that may be live under another name, because a second
object without the pages and members would be a loss. It asks only if there is evidence of a live object
without an entry (rebound_ids.py), once for the new entries of each list. `exchanged_name_refusals` asks if
names of objects that the ids file does not list were perhaps exchanged by hand: a mistake looks like a real
exchange.
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
from dpsync.model.question import Candidate, Refusal, WayOut
from dpsync.model.refusals import EXCHANGED, RENAMED, SHALLOW_CLONE
from dpsync.model.snapshot import Identity, LiveObject, MatchedBy, Snapshot
from dpsync.model.text import MAX_LISTED_NAMES, format_count, plural, shorten_list
from dpsync.model.values import live_ids, references
from dpsync.planner.answers import NEW, Answer, answer_in_flag
from dpsync.planner.decide import Decisions
from dpsync.planner.delete_questions import OpenDeletes, delete_question
from dpsync.planner.names import Names
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
    """New entries of one kind in one list, and the live objects that they could be."""

    kind: Kind
    entries: tuple[Address, ...]
    candidates: Mapping[Identity, SimilarityReason]


def identity_questions(
    decisions: Decisions,
    rename_candidates: Sequence[RenameCandidates],
    undecided_deletes: OpenDeletes,
    over_limits: bool = False,
) -> IdentityQuestions:
    """Ask which new entries are renamed live objects, except those confirmed with `--confirm "new ..."`.

    There is one question for each list, and one per organization about entries for which a shallow clone
    cannot tell if they are new. `over_limits`: the plan exceeds a limit of deletes, so that the proposed
    flags must confirm their number.
    """
    sides = decisions.sides
    groups = _group_new_entries(decisions, rename_candidates)
    undecidable_entries = _undecidable_entries(decisions, rename_candidates)
    entries = [
        address
        for addresses in (*(group.entries for group in groups), *undecidable_entries.values())
        for address in addresses
    ]
    answer_per_entry = {Answer(NEW, str(address)): [address] for address in entries}
    count_answers = {
        answer: entries_of_answer
        for answer in sides.answers.confirmed
        if (entries_of_answer := answer.matching_addresses(entries))
    }
    answered = {
        address
        for answer, entries_of_answer in {**answer_per_entry, **count_answers}.items()
        if sides.answers.contains(answer)
        for address in entries_of_answer
    }
    refusals: list[Refusal] = []
    deletes: set[Identity] = set()
    for group in groups:
        if unanswered := [address for address in group.entries if address not in answered]:
            deletes_of_question = _deleted_candidates(group, undecided_deletes)
            deletes |= set(deletes_of_question)
            refusals.append(
                _rename_question(
                    sides,
                    group,
                    unanswered,
                    _delete_flags(decisions, deletes_of_question, undecided_deletes, over_limits),
                )
            )
    for organization, new_entries in undecidable_entries.items():
        if unanswered := [address for address in new_entries if address not in answered]:
            answer_count = sum(
                address.is_at_or_below(organization) and address not in answered for address in entries
            )
            # Objects whose entry was perhaps not removed: this clone lacks the commits that would tell.
            deletes_of_question = [
                identity
                for identity, removal in undecided_deletes.need_address.items()
                if removal.missing_evidence == COMMITS_MISSING
                and sides.names.address(identity).is_at_or_below(organization)
            ]
            deletes |= set(deletes_of_question)
            flags = _delete_flags(decisions, deletes_of_question, undecided_deletes, over_limits)
            refusals.append(
                _shallow_clone_question(
                    sides, organization, len(unanswered), answer_count, deletes_of_question, flags
                )
            )
    return IdentityQuestions(
        tuple(refusals), frozenset({*answer_per_entry, *count_answers}), frozenset(deletes)
    )


def possibly_renamed_entries(
    decisions: Decisions, rename_candidates: Sequence[RenameCandidates]
) -> dict[Address, RenameCandidates]:
    """Return the entries without a live object that may be renamed objects, with their candidates.

    For entries with content the plan asks a question, for others it only makes a proposal.
    """
    addresses = {
        address for group in _group_new_entries(decisions, rename_candidates) for address in group.entries
    }
    return {
        candidates.entry.address: candidates
        for candidates in rename_candidates
        if candidates.entry.address in addresses
        or (not candidates.kind.asks_before_create and _is_created(decisions, candidates.entry.address))
    }


def _group_new_entries(decisions: Decisions, rename_candidates: Sequence[RenameCandidates]) -> list[_Group]:
    """Group the new entries with content, and the objects that they could be, by kind and list.

    An entry that this plan does not create counts only if the plan deletes an object that it could be.
    """
    groups: dict[tuple[str, Address], list[RenameCandidates]] = defaultdict(list)
    for entry_candidates in rename_candidates:
        is_candidate_deleted = any(map(decisions.deletions.deletes, entry_candidates.candidates))
        if entry_candidates.kind.asks_before_create and (
            is_candidate_deleted or _is_created(decisions, entry_candidates.entry.address)
        ):
            groups[entry_candidates.kind.name, entry_candidates.entry.address.list_address].append(
                entry_candidates
            )
    return [
        _Group(
            group[0].kind,
            tuple(entry_candidates.entry.address for entry_candidates in group),
            {
                identity: reason
                for entry_candidates in reversed(group)
                for identity, reason in entry_candidates.candidates.items()
            },
        )
        for group in groups.values()
    ]


def _is_created(decisions: Decisions, address: Address) -> bool:
    """Return whether the plan creates the object of a new entry: it is neither ignored nor blocked."""
    return not decisions.sides.policy.is_ignored(address) and not decisions.blocking.is_entry_blocked(address)


def _undecidable_entries(
    decisions: Decisions, rename_candidates: Sequence[RenameCandidates]
) -> Mapping[Address, list[Address]]:
    """Return, by organization, the new entries that may be live, although no candidate is known.

    Neither the ids file nor git, of which commits are missing, says anything about them.
    """
    asked_addresses = {
        candidates.entry.address for candidates in rename_candidates if candidates.kind.asks_before_create
    }
    entries: dict[Address, list[Address]] = defaultdict(list)
    for entry in entries_without_history(decisions.sides):
        if entry.address not in asked_addresses and _is_created(decisions, entry.address):
            entries[entry.address.organization].append(entry.address)
    return entries


# Deletes that are a part of a question.


def _deleted_candidates(group: _Group, undecided_deletes: OpenDeletes) -> list[Identity]:
    """Return the objects that new entries could be but that the plan deletes, if no user has decided that.

    The question about the entries then also asks about these deletes. The result is empty if the entry of
    one of the objects is in a file that is no longer included: that is another question.
    """
    deletes = [
        identity
        for identity in undecided_deletes.unanswered
        if group.candidates.get(identity) in (SimilarityReason.ENTRY_REMOVED, SimilarityReason.ENTRY_RENAMED)
    ]
    is_file_not_included = any(
        identity in undecided_deletes.need_address
        and undecided_deletes.need_address[identity].file is not None
        for identity in deletes
    )
    return [] if is_file_not_included else deletes


def _delete_flags(
    decisions: Decisions, deletes: Sequence[Identity], undecided_deletes: OpenDeletes, over_limits: bool
) -> list[str]:
    """Return the `--confirm` flags that confirm these deletes, to propose them with the flag for the entries.

    So one command answers all.
    """
    if not deletes:
        return []
    answers = delete_question(decisions, undecided_deletes, deletes, over_limits).answers
    return [answer.add for answer in answers if answer_in_flag(answer.add) is not None]


# What a question says.


def _rename_question(
    sides: Sides, group: _Group, addresses: Sequence[Address], delete_flags: Sequence[str]
) -> Refusal:
    """Return the question whether entries are new, or one of them is a live object under another name.

    `addresses` has the entries of the group that no answer covers.
    """
    first, is_single = str(addresses[0]), len(addresses) == 1
    identities = list(group.candidates)[:MAX_QUESTIONS]
    lines = binding_lines(sides, sides.entries[addresses[0]], identities)
    new_flag = Answer(NEW, first if is_single else f"{len(addresses)} {addresses[0].list_address}/*").flag
    flags = " ".join([new_flag, *delete_flags])
    renamed = " or ".join(map(_instruction, lines))
    renamed = (
        renamed
        if len(lines) <= MAX_LISTED_NAMES
        else "add previously: NAME with the former key or title of the object"
    )
    answers = [
        (line, f"the entry is {_title_and_id(sides, identity)}")
        for line, identity in zip(lines, identities, strict=True)
    ]
    answers += [("new: true", "the entry is new")] if is_single else []
    answers += [(new_flag, f"create {format_count(len(addresses), group.kind.noun)}")]
    answers += [(flag, "delete this object") for flag in delete_flags]
    nodes_by_shown_id = _nodes_by_shown_id(sides.names)
    return RENAMED.refusal(
        first,
        tuple(
            candidate(sides.names, identity, group.candidates[identity].value, nodes_by_shown_id)
            for identity in identities
        ),
        tuple(WayOut(address=first, add=add, means=means) for add, means in answers),
        question=_rename_question_text(sides, group, addresses),
        new=f"add new: true, or {flags}" if is_single and not delete_flags else f"add {flags}",
        renamed=renamed if is_single else f"{renamed} to the entry that has the new name",
    )


def _rename_question_text(sides: Sides, group: _Group, addresses: Sequence[Address]) -> str:
    """Return the first sentence of the question: are these entries new, or these objects renamed?"""
    noun = group.kind.noun
    has_several_candidates = len(group.candidates) > 1
    titles = [_title_and_id(sides, identity) for identity in group.candidates]
    if len(addresses) == 1 and not has_several_candidates:
        return f"Is {addresses[0]} a new {noun}, or the {noun} {titles[0]} renamed?"
    if len(addresses) == 1:
        return (
            f"Is {addresses[0]} a new {noun}, or one of these {plural(noun)} renamed: {shorten_list(titles)}?"
        )
    names = shorten_list([str(address) for address in addresses])
    if not has_several_candidates:
        renamed = f"does one of the entries rename the {noun} {titles[0]}"
    else:
        renamed = f"do some of the entries rename these {plural(noun)}: {shorten_list(titles)}"
    return f"Are all {len(addresses)} {plural(noun)} new, or {renamed}? The entries: {names}"


def _shallow_clone_question(
    sides: Sides,
    root: Address,
    entry_count: int,
    confirmed_count: int,
    deletes: Sequence[Identity],
    delete_flags: Sequence[str],
) -> Refusal:
    """Ask whether entries are new if the clone is shallow and lacks the commits that would tell.

    `entry_count` entries cause the question; its `--confirm "new N root/**"` flag covers all
    `confirmed_count` unanswered entries in the organization `root`. `deletes` has objects that the plan
    deletes although their entry was perhaps not removed.
    """
    answer = Answer(NEW, f"{confirmed_count} {root}/**")
    answers = [(answer.flag, "the entries are new"), *((flag, "delete this object") for flag in delete_flags)]
    removed = [f"{sides.registry[identity[0]].noun} {_title_and_id(sides, identity)}" for identity in deletes]
    return SHALLOW_CLONE.refusal(
        root,
        answers=tuple(WayOut(address=str(root), add=add, means=means) for add, means in answers),
        entries=format_count(entry_count, "entry"),
        deletes=f", or whether you removed the entry of {shorten_list(removed)}" if removed else "",
        base=sides.base.name,
        meant=" and the deletes are correct" if removed else "",
        answer=" ".join(add for add, _ in answers),
    )


def _title_and_id(sides: Sides, identity: Identity) -> str:
    """Return a live object as text: '"Sales" (id abc)'."""
    live = sides.snapshot.objects[identity]
    return f'"{sides.names.label(live)}" (id {live.id})'


def _instruction(line: str) -> str:
    """Return the instruction for a line to add to a file, or for a command (in backticks) to run."""
    return f"run {line}" if line.startswith("`") else f"add {line}"


def candidate(
    names: Names, identity: Identity, reason: str, nodes_by_shown_id: Mapping[str, list[str]] | None = None
) -> Candidate:
    """Return a live object as a candidate of a question, with the reason why it is one.

    `nodes_by_shown_id` has the addresses of the nodes that show each object, by its id.
    """
    live = names.snapshot.objects[identity]
    return Candidate(
        address=str(names.address(identity)),
        id=live.id,
        title=names.label(live),
        why=reason,
        changed=live.changed_at,
        shown_in=tuple(sorted((nodes_by_shown_id or {}).get(live.id, ()))),
    )


def _nodes_by_shown_id(names: Names) -> Mapping[str, list[str]]:
    """Return the addresses of the live tree nodes that refer to each object (such as a space), by its id."""
    addresses: dict[str, list[str]] = defaultdict(list)
    for identity, live in names.snapshot.objects.items():
        if names.kind(live).is_node:
            for id in {id for value in live.fields.values() for id in live_ids(value)}:
                addresses[id].append(str(names.address(identity)))
    return addresses


def binding_instruction(names: Names, address: Address, id: str) -> str:
    """Return, as a part of a sentence, how a user binds an entry to the live object with an id."""
    return _instruction(binding_text(address, id, bool(names.desired.environments)))


def binding_answers(names: Names, address: Address, candidates: Sequence[Candidate]) -> tuple[WayOut, ...]:
    """Return the possible answers to which object an entry is: one for each candidate.

    Each has the line or command that binds the entry to the object.
    """
    has_environments = bool(names.desired.environments)
    return tuple(
        WayOut(
            address=str(address),
            add=binding_text(address, chosen.id, has_environments),
            means="the entry is this object",
        )
        for chosen in candidates
    )


_DECLARED_MATCHES: Final = frozenset(
    {MatchedBy.PIN, MatchedBy.PREVIOUSLY, MatchedBy.BASE, MatchedBy.EARLIER_COMMIT}
)
"""The matches by which the files or git identify the object of an entry."""


def is_matched_by_name_only(snapshot: Snapshot, address: Address) -> bool:
    """Return whether only the name of an entry identifies its object.

    That is the case if it has no line in the ids file, and no pin, `previously` or commit identifies the
    object.
    """
    match = snapshot.matches.get(address)
    return (
        match is not None and address not in snapshot.recorded_ids.lines and match.by not in _DECLARED_MATCHES
    )


def exchanged_name_refusals(sides: Sides) -> Iterator[Refusal]:
    """Refuse cycles of entries whose names were perhaps exchanged by hand on the platform.

    In such a cycle, each live reference to an entry leads to the object of the next entry, because
    references follow the object and not its name.
    """
    displacing_entries = _displaced_entries(sides)
    cycles = find_simple_cycles(displacing_entries, displacing_entries.get)
    cycle_by_address = {address: cycle for cycle in cycles for address in cycle}
    for address in sorted(cycle_by_address):
        if not all(sides.policy.is_ignored(member) for member in cycle_by_address[address]):
            yield _exchange_refusal(sides, address, displacing_entries[address])


def _displaced_entries(sides: Sides) -> Mapping[Address, Address]:
    """Return, for entries matched by name only, the other entry to whose object all live references lead.

    A file says that a reference leads to A. If the live reference leads to the object that is matched with
    B, for all references to A, the result has A: B.
    """
    live_targets: dict[Address, set[Address | None]] = defaultdict(set)
    by_name = {
        address
        for address, entry in sides.entries.items()
        if sides.kind(entry).asks_before_create
        and is_matched_by_name_only(sides.snapshot, address)
        and sides.live(address) is not None
    }
    # Entries to which at least one live reference leads correctly: they are in no cycle.
    correct_entries: set[Address] = set()
    for address, entry in sides.entries.items() if by_name else ():
        live = sides.live(address)
        for field in sides.kind(entry).reference_fields if live is not None else ():
            declared_targets = references(entry.fields.get(field.name))
            if (
                len(declared_targets) != 1
                or declared_targets.isdisjoint(by_name)
                or not declared_targets.isdisjoint(correct_entries)
            ):
                continue
            base = sides.names.base.desired
            base_entry = base.entries.get(entry.address) if base is not None else None
            if base_entry is not None and base_entry.fields.get(field.name) != entry.fields[field.name]:
                continue  # a person changed this reference in the files, so it differs from the live one
            assert live is not None
            (declared_target,) = declared_targets
            live_target = _sole_referenced_entry(sides.names, live, field.name)
            live_targets[declared_target].add(live_target)
            if live_target == declared_target:
                correct_entries.add(declared_target)
    sole_targets = {
        address: next(iter(targets)) for address, targets in live_targets.items() if len(targets) == 1
    }
    return {
        address: live_target
        for address, live_target in sole_targets.items()
        if live_target in by_name and live_target != address
    }


def _sole_referenced_entry(names: Names, live: LiveObject, field_name: str) -> Address | None:
    """Return the entry of the only object to which a field of a live object refers, else None."""
    ids = live_ids(live.fields.get(field_name))
    if len(ids) != 1:
        return None
    (id,) = ids
    kinds = names.kind(live).field(field_name).type.referenced_kinds
    addresses = (names.declared.get(names.referenced_object(live, kind, id)) for kind in kinds)
    return next((address for address in addresses if address is not None), None)


def _exchange_refusal(sides: Sides, address: Address, other: Address) -> Refusal:
    """Return the question whether an entry is the object with its name, or that of the `other` entry."""
    own_object, other_object = sides.live(address), sides.live(other)
    assert own_object is not None
    assert other_object is not None
    candidates = (
        candidate(sides.names, own_object.identity, "this object has the name of this entry"),
        candidate(sides.names, other_object.identity, "references to this entry lead to this object"),
    )
    return EXCHANGED.refusal(
        address,
        candidates,
        binding_answers(sides.names, address, candidates),
        id=own_object.id,
        other_id=other_object.id,
        other=other,
        by_name=binding_instruction(sides.names, address, own_object.id),
        by_place=binding_instruction(sides.names, address, other_object.id),
    )
