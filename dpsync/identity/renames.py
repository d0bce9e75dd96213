"""Find renamed entries by `previously` and by the git base (the commit that dpsync compares with).

`match_renames` matches entries without a line in the ids file by their earlier names. A match is certain if
all best assignments of objects to entries have it (`candidates.certain_assignments`). For entries that
exchanged their names in a cycle, the unchanged fields decide, else the user.
`unknown_earlier_names` reports each `previously` without an object: a typing error would create a duplicate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.identity.candidates import (
    CandidateSearch,
    EntryCandidates,
    History,
    Rank,
    certain_assignments,
    key_from_fields,
)
from dpsync.identity.keys import (
    TEMPORARY_PREFIX,
    Key,
    KeyIndex,
    NaturalKeys,
    key_fields,
    key_span,
    key_text,
    temporary_name,
)
from dpsync.identity.questions import binding_answers, binding_text, candidate_objects, choice_hint
from dpsync.model.address import Address
from dpsync.model.cycles import find_simple_cycles
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import LiveObject, Match, MatchedBy
from dpsync.model.text import did_you_mean, format_count


class RenameMatches(Struct):
    """The matches by earlier names, and the questions that a person must answer."""

    matches: dict[Address, Match] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def match_renames(
    natural_keys: NaturalKeys, history: History, entries: Sequence[Entry], live: Sequence[LiveObject]
) -> RenameMatches:
    """Match the entries of one parent by their earlier names; `entries` has no entry with `id:`.

    First come temporary names of interrupted exchanges, then `previously` and names in the git base.
    """
    result = RenameMatches()
    _match_temporary_names(natural_keys.first_key, entries, live, result)
    matched_ids = {match.id for match in result.matches.values()}
    free = [live_object for live_object in live if live_object.id not in matched_ids]
    unmatched = [entry for entry in entries if entry.address not in result.matches]
    if history.base_entries or any(entry.has_earlier_name for entry in unmatched):
        candidates = CandidateSearch(natural_keys, history, KeyIndex(natural_keys, free))
        _RenameMatching(natural_keys, history, result).match_all(
            [candidates.find(entry) for entry in unmatched]
        )
    return result


def _match_temporary_names(
    key: Key, entries: Sequence[Entry], live: Sequence[LiveObject], result: RenameMatches
) -> None:
    """Match objects that have a temporary name since an interrupted exchange of names.

    The temporary name of an object follows from the address of its entry.
    """
    if not isinstance(key, str):
        return
    by_name = {
        name: live_object
        for live_object in live
        if isinstance(name := live_object.fields.get(key), str) and name.startswith(TEMPORARY_PREFIX)
    }
    for entry in entries if by_name else ():
        live_object = by_name.get(temporary_name(str(entry.address)))
        if live_object is not None:
            result.matches[entry.address] = Match(live_object.id, MatchedBy.TEMPORARY_NAME)


def _remove_taken(unmatched: Iterable[EntryCandidates], taken_ids: set[str]) -> None:
    """Remove the objects with these ids, which belong to other entries now, from all candidates."""
    for candidates in unmatched:
        candidates.with_present_name = [
            live_object for live_object in candidates.with_present_name if live_object.id not in taken_ids
        ]
        candidates.with_earlier_name = [
            live_object for live_object in candidates.with_earlier_name if live_object.id not in taken_ids
        ]
        candidates.with_both_names = [
            live_object for live_object in candidates.with_both_names if live_object.id not in taken_ids
        ]


class _RenameMatching(Struct, frozen=True, dict=True):
    """The decision which of its candidates each entry is."""

    natural_keys: NaturalKeys
    history: History
    result: RenameMatches

    @cached_property
    def earlier_natural_keys(self) -> NaturalKeys:
        """The reader of natural keys for entries of the git base."""
        return self.history.earlier_natural_keys(self.natural_keys)

    def match_all(self, unmatched: list[EntryCandidates]) -> None:
        """Match entries that have only one possible object, then cycles of exchanged names, repeatedly.

        If neither finds anything more, ask about the other entries that have an earlier name.
        """
        while True:
            unmatched = self._decide_certain(unmatched)
            # Of several objects with the present name, only those with an earlier name, too, remain.
            narrowed = [
                candidates
                for candidates in unmatched
                if candidates.with_both_names
                and len(candidates.with_both_names) < len(candidates.with_present_name)
            ]
            for candidates in narrowed:
                candidates.with_present_name = candidates.with_both_names
            if narrowed:
                continue
            cycles = list(
                self._exchange_cycles(
                    [candidates for candidates in unmatched if candidates.with_earlier_name]
                )
            )
            if not cycles:
                break
            for cycle in cycles:
                self._decide_cycle(cycle)
            id_by_address = {
                candidates.address: live_object.id
                for cycle in cycles
                for candidates in cycle
                for live_object in candidates.with_earlier_name
            }
            unmatched = [candidates for candidates in unmatched if candidates.address not in id_by_address]
            _remove_taken(unmatched, set(id_by_address.values()))
        for candidates in unmatched:
            # The natural key decides about a name that the entry has kept.
            if candidates.with_earlier_name and candidates.earlier_source != "kept":
                self._ask_about_earlier_name(candidates)

    def _decide_certain(self, unmatched: list[EntryCandidates]) -> list[EntryCandidates]:
        """Match the entries that have the same object in all best assignments; return the other entries.

        An assignment gives each object to at most one entry; entries that are unchanged come before renamed
        and new ones (`Rank`). Matched objects are no longer candidates of the other entries.
        """
        objects = {
            live.id: live
            for entry in unmatched
            for live in (*entry.with_present_name, *entry.with_earlier_name)
        }
        candidates = {
            entry.address: list(
                dict.fromkeys(live.id for live in (*entry.with_earlier_name, *entry.with_present_name))
            )
            for entry in unmatched
        }
        certain = certain_assignments(candidates, {entry.address: entry.rank for entry in unmatched})
        for entry in unmatched:
            if entry.address in certain:
                self._record_match(entry, objects[certain[entry.address]])
        others = [entry for entry in unmatched if entry.address not in certain]
        _remove_taken(others, set(certain.values()))
        return others

    def _record_match(self, candidates: EntryCandidates, live: LiveObject) -> None:
        """Record that an entry is an object, with the reason.

        Nothing is recorded if the first natural key will find the same object later (match.py).
        """
        if live in candidates.with_earlier_name and live not in candidates.with_present_name:
            by = MatchedBy.PREVIOUSLY if candidates.earlier_source == "previously" else MatchedBy.BASE
            self.result.matches[candidates.address] = Match(live.id, by)
        elif (
            candidates.rank < Rank.NEW
            and candidates.present_key is not None
            and candidates.present_key != self.natural_keys.first_key
        ):
            self.result.matches[candidates.address] = Match(
                live.id, MatchedBy.LATER_NATURAL_KEY, key_text(candidates.present_key)
            )

    def _exchange_cycles(self, unmatched: list[EntryCandidates]) -> Iterator[tuple[EntryCandidates, ...]]:
        """Return the cycles of entries that exchanged names.

        In such a cycle, the object with the present name of an entry is the object with the earlier name of
        the next entry.
        """
        candidates_by_former_id = {
            live.id: candidates
            for candidates in unmatched
            if len(candidates.with_earlier_name) == 1
            for live in candidates.with_earlier_name
        }
        starts = [
            candidates
            for candidates in candidates_by_former_id.values()
            if len(candidates.with_present_name) == 1
        ]
        return find_simple_cycles(
            starts,
            lambda candidates: (
                candidates_by_former_id.get(candidates.with_present_name[0].id)
                if len(candidates.with_present_name) == 1
                else None
            ),
        )

    def _decide_cycle(self, cycle: tuple[EntryCandidates, ...]) -> None:
        """Decide whether the objects of a cycle have exchanged their names already; ask if it is unclear.

        If the fields agree more with the objects of the earlier names, the plan will exchange the names. If
        they agree more with the objects of the present names, the exchange is done.
        """
        former_agreements = sum(
            self._count_agreements(candidates, former)
            for candidates in cycle
            for former in candidates.with_earlier_name
        )
        present_agreements = sum(
            self._count_agreements(candidates, present)
            for candidates in cycle
            for present in candidates.with_present_name
        )
        if former_agreements == present_agreements and not self._is_exchanged_in_base(cycle):
            for candidates in cycle:
                self._ask(candidates, *candidates.with_earlier_name, *candidates.with_present_name)
            return
        for candidates in cycle:
            for live in (
                candidates.with_earlier_name
                if former_agreements > present_agreements
                else candidates.with_present_name
            ):
                self._record_match(candidates, live)

    def _is_exchanged_in_base(self, cycle: tuple[EntryCandidates, ...]) -> bool:
        """Return whether the entries of a cycle had their present names already in the git base.

        The git base is the commit compared with. If so, the exchange is done, and `previously` is outdated.
        """
        first_key = self.natural_keys.first_key
        return all(
            (earlier := self.history.base_entries.get(candidates.address)) is not None
            and (value := self.earlier_natural_keys.declared_value(earlier, first_key)) is not None
            and value == self.natural_keys.declared_value(candidates.entry, first_key)
            for candidates in cycle
        )

    def _count_agreements(self, candidates: EntryCandidates, live: LiveObject) -> int:
        """Count the fields and later natural keys in which a live object agrees with an entry.

        Only values that are unchanged since the git base (the commit compared with) count. The number tells
        which of two objects the entry is if their names do not.
        """
        count = 0
        earlier = self.history.base_entries.get(candidates.address)
        first_key_fields = key_fields(self.natural_keys.first_key)
        for name, value in candidates.entry.fields.items():
            is_comparable = name in earlier.fields if earlier is not None else name not in first_key_fields
            if self.natural_keys.kind.field(name).response_path is None or not is_comparable:
                continue
            is_unchanged = earlier is None or self.natural_keys.comparable(
                earlier.fields[name]
            ) == self.natural_keys.comparable(value)
            count += is_unchanged and self.natural_keys.comparable(value) == self.natural_keys.comparable(
                live.fields.get(name)
            )
        for key in self.natural_keys.later_keys:
            declared = self.natural_keys.declared_value(candidates.entry, key)
            is_unchanged = earlier is None or declared == self.earlier_natural_keys.declared_value(
                earlier, key
            )
            count += (
                is_unchanged and declared is not None and self.natural_keys.object_has(live, key, declared)
            )
        return count

    def _ask_about_earlier_name(self, candidates: EntryCandidates) -> None:
        """Ask about an entry if several objects have its earlier name, or if both its names are live."""
        if len(candidates.with_earlier_name) > 1:
            self._ask(candidates, *candidates.with_earlier_name)
        elif candidates.with_present_name:
            (former,), (present, *_) = candidates.with_earlier_name, candidates.with_present_name
            former_agreements, present_agreements = (
                self._count_agreements(candidates, former),
                self._count_agreements(candidates, present),
            )
            # A rename would leave the same fields, so only a clear "no" is certain.
            if former_agreements >= present_agreements:
                self._ask(candidates, former, present)

    def _ask(self, candidates: EntryCandidates, *objects: LiveObject) -> None:
        """Add the question (DP305) which of these objects an entry is: by its earlier or its present name."""
        kind = self.natural_keys.kind
        first_id, second_id, *_ = (live.id for live in objects)
        earlier_name = (
            "the earlier name of this entry"
            if candidates.earlier_source == "previously"
            else "the name of this entry in the commit that dpsync compares with"
        )
        if len(candidates.with_earlier_name) > 1:
            ids = " and ".join(f'"{live.id}"' for live in objects)
            message = f"{format_count(len(objects), f'live {kind.noun}')} have {earlier_name}: {ids}"
            binding = binding_text(candidates.address, first_id, self.natural_keys.uses_ids_file)
            hint = f"choose the object: {binding}"
        else:
            message = (
                f'the object "{first_id}" has {earlier_name}, but the object "{second_id}" has the present '
                "name of this entry"
            )
            hint = choice_hint(
                "rename", candidates.address, first_id, second_id, self.natural_keys.uses_ids_file
            )
        entry = candidates.entry
        is_declared = candidates.earlier_source == "previously"
        span = entry.field_span("previously") if is_declared else key_span(entry, self.natural_keys.first_key)
        self.result.diagnostics.append(
            Diagnostic(
                "DP305",
                message,
                span,
                str(candidates.address),
                hint,
                candidates=candidate_objects(kind, candidates.entry, {live.id: live for live in objects}),
                answers=binding_answers(
                    candidates.entry, self.natural_keys.uses_ids_file, *(live.id for live in objects)
                ),
            )
        )


def unknown_earlier_names(
    natural_keys: NaturalKeys,
    history: History,
    unmatched: Iterable[Entry],
    live: Sequence[LiveObject],
    declared: Collection[Address],
) -> list[Diagnostic]:
    """Return an error (DP246) for each unmatched entry whose `previously` names nothing.

    A former name is known if a live object or an entry of the git base has it. A former address is known if
    a line of the ids file or a commit has it, and the files no longer declare it.
    """
    entries_with_earlier_name = [entry for entry in unmatched if entry.has_earlier_name and entry.pin is None]
    if not entries_with_earlier_name:
        return []
    index = KeyIndex(natural_keys, live)
    lines = set(history.recorded_lines.orphans.values())
    removed = [address for address in {*lines, *history.base_entries} if address not in declared]
    return [
        _unknown_name_error(natural_keys, entry, live, removed)
        for entry in entries_with_earlier_name
        if not _has_known_name(natural_keys, index, history, entry)
        and not any(
            address not in declared and (address in lines or any(history.earlier_entries(address)))
            for address in entry.former
        )
    ]


def _has_known_name(natural_keys: NaturalKeys, index: KeyIndex, history: History, entry: Entry) -> bool:
    """Return whether a live object or an entry of the git base has one of the former names."""
    earlier_keys = history.earlier_natural_keys(natural_keys)
    for fields in entry.previously:
        key = key_from_fields(natural_keys.kind, fields)
        value = natural_keys.declared_value(replace(entry, fields=fields), key)
        is_in_base = any(
            earlier_keys.declared_value(earlier, key) == value for earlier in history.base_entries.values()
        )
        if is_in_base or index.objects_with(key, value):
            return True
    return False


def _unknown_name_error(
    natural_keys: NaturalKeys, entry: Entry, live: Sequence[LiveObject], removed: Sequence[Address]
) -> Diagnostic:
    """Return the error (DP246) for a `previously` that names nothing, with the nearest known name."""
    kind = natural_keys.kind
    names = [value for fields in entry.previously for value in fields.values() if isinstance(value, str)]
    former_texts = list(dict.fromkeys(names or [address.last_segment for address in entry.former]))
    fields = {name for fields in entry.previously for name in fields}
    titles = [
        value
        for live_object in live
        for name in fields
        if isinstance(value := live_object.fields.get(name), str)
    ]
    former = [address for address in removed if address.list_address == entry.address.list_address]
    known_texts = [*titles, *(address.last_segment for address in former), *map(str, former)]
    nearest = next(filter(None, (did_you_mean(word, known_texts) for word in former_texts)), None)
    quoted = " and ".join(f'"{word}"' for word in former_texts) or "this"
    message = (
        f"the value of previously matches no object: no live {kind.noun} has the name {quoted}, "
        "and neither the ids file nor git has a removed entry with this key"
    )
    hint = f"if the {kind.noun} is new, remove previously"
    if nearest is not None:
        hint = f'did you mean "{nearest}"? Otherwise, {hint}'
    return Diagnostic("DP246", message, entry.field_span("previously"), str(entry.address), hint)
