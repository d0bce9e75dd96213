"""Find renamed entries by `previously` and by the commit that dpsync compares with.

`match_renames` matches entries without a line in the ids file by their earlier names. If a live object has
the earlier name, the plan renames it, unless another object has the present name already.

A match is certain if all best assignments have it (see `candidates.certain`). Entries that exchanged their
names in a circle look the same before and after. Then the unchanged fields decide, else the user.

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
    """Match the entries of one parent by their earlier names. `entries` has no entry with `id:`."""
    found = RenameMatches()
    _match_temporary_names(natural_keys.first_key, entries, live, found)
    stepped = {match.id for match in found.matches.values()}
    free = [item for item in live if item.id not in stepped]
    open_ = [resource for resource in entries if resource.address not in found.matches]
    if history.base_entries or any(resource.has_earlier_name for resource in open_):
        candidates = CandidateSearch(natural_keys, history, KeyIndex(natural_keys, free))
        _RenameMatching(natural_keys, history, found).match_all(
            [candidates.find(resource) for resource in open_]
        )
    return found


def _match_temporary_names(
    key: Key, entries: Sequence[Entry], live: Sequence[LiveObject], result: RenameMatches
) -> None:
    """Match objects that have a temporary name since an interrupted exchange of names."""
    if not isinstance(key, str):
        return
    by_name = {
        name: item
        for item in live
        if isinstance(name := item.fields.get(key), str) and name.startswith(TEMPORARY_PREFIX)
    }
    for resource in entries if by_name else ():
        item = by_name.get(temporary_name(str(resource.address)))
        if item is not None:
            result.matches[resource.address] = Match(item.id, MatchedBy.TEMPORARY_NAME)


def _remove_taken(entries: Iterable[EntryCandidates], taken: set[str]) -> None:
    """Remove the objects with these ids from the candidates: they belong to other entries."""
    for entry in entries:
        entry.with_present_name = [item for item in entry.with_present_name if item.id not in taken]
        entry.with_earlier_name = [item for item in entry.with_earlier_name if item.id not in taken]
        entry.with_both_names = [item for item in entry.with_both_names if item.id not in taken]


def _keep_candidates_with_both_names(entries: Iterable[EntryCandidates]) -> bool:
    """Keep only candidates with both names if several have the present name; return whether any changed."""
    found = False
    for entry in entries:
        if entry.with_both_names and len(entry.with_both_names) < len(entry.with_present_name):
            entry.with_present_name, found = entry.with_both_names, True
    return found


class _RenameMatching(Struct, frozen=True, dict=True):
    """The decision which candidate each entry is."""

    natural_keys: NaturalKeys
    history: History
    result: RenameMatches

    @cached_property
    def earlier_natural_keys(self) -> NaturalKeys:
        return self.history.earlier_natural_keys(self.natural_keys)

    def match_all(self, unmatched: list[EntryCandidates]) -> None:
        """Match the certain entries, then circles of exchanged names, repeatedly; ask about the rest."""
        while True:
            unmatched = self._decide_certain(unmatched)
            if _keep_candidates_with_both_names(unmatched):
                continue
            rings = list(self._exchange_cycles([entry for entry in unmatched if entry.with_earlier_name]))
            if not rings:
                break
            for ring in rings:
                self._decide_cycle(ring)
            passed = {
                entry.address: item.id for ring in rings for entry in ring for item in entry.with_earlier_name
            }
            unmatched = [entry for entry in unmatched if entry.address not in passed]
            _remove_taken(unmatched, set(passed.values()))
        for entry in unmatched:
            if (
                entry.with_earlier_name and entry.earlier_source != "kept"
            ):  # the natural key decides about a kept name
                self._ask_if_both_names_are_live(entry)

    def _decide_certain(self, unmatched: list[EntryCandidates]) -> list[EntryCandidates]:
        """Match the entries that have the same object in all best assignments; return the other entries."""
        items = {
            item.id: item
            for entry in unmatched
            for item in (*entry.with_present_name, *entry.with_earlier_name)
        }
        candidates = {
            entry.address: list(
                dict.fromkeys(item.id for item in (*entry.with_earlier_name, *entry.with_present_name))
            )
            for entry in unmatched
        }
        found = certain_assignments(candidates, {entry.address: entry.rank for entry in unmatched})
        for entry in unmatched:
            if entry.address in found:
                self._record_match(entry, items[found[entry.address]])
        left = [entry for entry in unmatched if entry.address not in found]
        _remove_taken(left, set(found.values()))
        return left

    def _record_match(self, entry: EntryCandidates, item: LiveObject) -> None:
        """Record the match of an entry, unless the first natural key finds the same object later."""
        if item in entry.with_earlier_name and item not in entry.with_present_name:
            by = MatchedBy.PREVIOUSLY if entry.earlier_source == "previously" else MatchedBy.BASE
            self.result.matches[entry.address] = Match(item.id, by)
        elif (
            entry.rank < Rank.NEW
            and entry.present_key is not None
            and entry.present_key != self.natural_keys.first_key
        ):
            self.result.matches[entry.address] = Match(
                item.id, MatchedBy.LATER_NATURAL_KEY, key_text(entry.present_key)
            )

    def _exchange_cycles(self, left: list[EntryCandidates]) -> Iterator[tuple[EntryCandidates, ...]]:
        """Return the circles of entries that exchanged names: each has the next one's earlier object."""
        bearer = {
            item.id: entry
            for entry in left
            if len(entry.with_earlier_name) == 1
            for item in entry.with_earlier_name
        }
        passed = [entry for entry in bearer.values() if len(entry.with_present_name) == 1]
        return find_simple_cycles(
            passed,
            lambda entry: (
                bearer.get(entry.with_present_name[0].id) if len(entry.with_present_name) == 1 else None
            ),
        )

    def _decide_cycle(self, ring: tuple[EntryCandidates, ...]) -> None:
        """Decide whether the names of a circle were exchanged already; ask if the fields do not tell."""
        still = sum(self._count_agreements(entry, was) for entry in ring for was in entry.with_earlier_name)
        done = sum(self._count_agreements(entry, now) for entry in ring for now in entry.with_present_name)
        if still == done and not self._is_exchanged_in_base(ring):
            for entry in ring:
                self._ask(entry, *entry.with_earlier_name, *entry.with_present_name)
            return
        for entry in ring:
            for item in entry.with_earlier_name if still > done else entry.with_present_name:
                self._record_match(entry, item)

    def _is_exchanged_in_base(self, ring: tuple[EntryCandidates, ...]) -> bool:
        """Return whether the git base has the same names already, so that `previously` is outdated."""
        first = self.natural_keys.first_key
        return all(
            (earlier := self.history.base_entries.get(entry.address)) is not None
            and (value := self.earlier_natural_keys.declared_value(earlier, first)) is not None
            and value == self.natural_keys.declared_value(entry.entry, first)
            for entry in ring
        )

    def _count_agreements(self, entry: EntryCandidates, item: LiveObject) -> int:
        """Return the number of unchanged fields and keys of an entry that a live object has as well."""
        return sum(self._agreements(entry, item))

    def _agreements(self, entry: EntryCandidates, item: LiveObject) -> Iterator[bool]:
        earlier = self.history.base_entries.get(entry.address)
        first = key_fields(self.natural_keys.first_key)
        for name, value in entry.entry.fields.items():
            known = name in earlier.fields if earlier is not None else name not in first
            if self.natural_keys.kind.field(name).response_path is None or not known:
                continue
            kept = earlier is None or self.natural_keys.comparable(
                earlier.fields[name]
            ) == self.natural_keys.comparable(value)
            yield kept and self.natural_keys.comparable(value) == self.natural_keys.comparable(
                item.fields.get(name)
            )
        for key in self.natural_keys.later_keys:
            wanted = self.natural_keys.declared_value(entry.entry, key)
            kept = earlier is None or wanted == self.earlier_natural_keys.declared_value(earlier, key)
            yield kept and wanted is not None and self.natural_keys.object_has(item, key, wanted)

    def _ask_if_both_names_are_live(self, entry: EntryCandidates) -> None:
        """Ask about an entry if several objects have its earlier name, or if both names are live."""
        if len(entry.with_earlier_name) > 1:
            self._ask(entry, *entry.with_earlier_name)
        elif entry.with_present_name:
            (was,), (now, *_) = entry.with_earlier_name, entry.with_present_name
            still, done = self._count_agreements(entry, was), self._count_agreements(entry, now)
            # A rename would leave the same fields, so only a clear "no" is certain.
            if still >= done:
                self._ask(entry, was, now)

    def _ask(self, entry: EntryCandidates, *items: LiveObject) -> None:
        kind = self.natural_keys.kind
        first, other, *_ = (item.id for item in items)
        before = (
            "the earlier name of this entry"
            if entry.earlier_source == "previously"
            else "the name of this entry in the commit that dpsync compares with"
        )
        if len(entry.with_earlier_name) > 1:
            ids = " and ".join(f'"{item.id}"' for item in items)
            message = f"{format_count(len(items), f'live {kind.noun}')} have {before}: {ids}"
            hint = f"choose the object: {binding_text(entry.address, first, self.natural_keys.uses_ids_file)}"
        else:
            message = (
                f'the object "{first}" has {before}, but the object "{other}" has the present name '
                "of this entry"
            )
            hint = choice_hint("rename", entry.address, first, other, self.natural_keys.uses_ids_file)
        resource = entry.entry
        by_hand = entry.earlier_source == "previously"
        where = (
            resource.field_span("previously") if by_hand else key_span(resource, self.natural_keys.first_key)
        )
        self.result.diagnostics.append(
            Diagnostic(
                "DP305",
                message,
                where,
                str(entry.address),
                hint,
                candidates=candidate_objects(kind, entry.entry, {item.id: item for item in items}),
                answers=binding_answers(
                    entry.entry, self.natural_keys.uses_ids_file, *(item.id for item in items)
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
    asking = [entry for entry in unmatched if entry.has_earlier_name and entry.pin is None]
    if not asking:
        return []
    index = KeyIndex(natural_keys, live)
    lines = set(history.recorded_lines.orphans.values())
    removed = [address for address in {*lines, *history.base_entries} if address not in declared]
    return [
        _unknown_name_error(natural_keys, entry, live, removed)
        for entry in asking
        if not _has_known_name(natural_keys, index, history, entry)
        and not any(
            address not in declared and (address in lines or any(history.earlier_entries(address)))
            for address in entry.former
        )
    ]


def _has_known_name(natural_keys: NaturalKeys, index: KeyIndex, history: History, entry: Entry) -> bool:
    """Return whether a live object or an entry of the git base has one of the former names."""
    before = history.earlier_natural_keys(natural_keys)
    for fields in entry.previously:
        key = key_from_fields(natural_keys.kind, fields)
        value = natural_keys.declared_value(replace(entry, fields=fields), key)
        in_base = any(
            before.declared_value(earlier, key) == value for earlier in history.base_entries.values()
        )
        if in_base or index.objects_with(key, value):
            return True
    return False


def _unknown_name_error(
    natural_keys: NaturalKeys, entry: Entry, live: Sequence[LiveObject], removed: Sequence[Address]
) -> Diagnostic:
    kind = natural_keys.kind
    names = [value for fields in entry.previously for value in fields.values() if isinstance(value, str)]
    written = list(dict.fromkeys(names or [address.last_segment for address in entry.former]))
    fields = {name for fields in entry.previously for name in fields}
    titles = [value for item in live for name in fields if isinstance(value := item.fields.get(name), str)]
    former = [address for address in removed if address.list_address == entry.address.list_address]
    known = [*titles, *(address.last_segment for address in former), *map(str, former)]
    nearest = next(filter(None, (did_you_mean(word, known) for word in written)), None)
    quoted = " and ".join(f'"{word}"' for word in written) or "this"
    message = (
        f"the value of previously matches no object: no live {kind.noun} has the name {quoted}, "
        "and neither the ids file nor git has a removed entry with this key"
    )
    hint = f"if the {kind.noun} is new, remove previously"
    if nearest is not None:
        hint = f'did you mean "{nearest}"? Otherwise, {hint}'
    return Diagnostic("DP246", message, entry.field_span("previously"), str(entry.address), hint)
