"""Find renamed entries by `previously` and by the commit that dpsync compares with.

`renames` matches entries without a line in the ids file by their earlier names. If a live object has the
earlier name, the plan renames it, unless another object has the present name already.

A match is certain if all best assignments have it (see `candidates.certain`). Entries that exchanged their
names in a circle look the same before and after. Then the unchanged fields decide, else the user.

`unknown_earlier_names` reports each `previously` without an object: a typing error would create a duplicate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.identity.candidates import Candidates, EntryCandidates, Past, Rank, certain, key_of
from dpsync.identity.keys import PREFIX, Index, Key, NaturalKeys, key_span, key_text, names, temporary
from dpsync.identity.questions import candidates, choice, it_is, meaning
from dpsync.model.address import Address
from dpsync.model.cycles import circles
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import LiveObject, Match, MatchedBy
from dpsync.model.text import counted, did_you_mean


class Renames(Struct):
    """The matches by earlier names, and the questions that a person must answer."""

    matches: dict[Address, Match] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def renames(view: NaturalKeys, past: Past, wanted: Sequence[Entry], live: Sequence[LiveObject]) -> Renames:
    """Match the entries of one parent by their earlier names. `wanted` has no entry with `id:`."""
    found = Renames()
    _match_temporary_names(view.first_key, wanted, live, found)
    stepped = {match.id for match in found.matches.values()}
    free = [item for item in live if item.id not in stepped]
    open_ = [resource for resource in wanted if resource.address not in found.matches]
    if past.entries or any(resource.has_earlier_name for resource in open_):
        candidates = Candidates(view, past, Index(view, free))
        _RenameMatching(view, past, found).match_all([candidates.of(resource) for resource in open_])
    return found


def _match_temporary_names(
    key: Key, wanted: Sequence[Entry], live: Sequence[LiveObject], found: Renames
) -> None:
    """Match objects that have a temporary name since an interrupted exchange of names."""
    if not isinstance(key, str):
        return
    by_name = {
        name: item
        for item in live
        if isinstance(name := item.fields.get(key), str) and name.startswith(PREFIX)
    }
    for resource in wanted if by_name else ():
        item = by_name.get(temporary(str(resource.address)))
        if item is not None:
            found.matches[resource.address] = Match(item.id, MatchedBy.TEMPORARY_NAME)


def _remove_taken(entries: Iterable[EntryCandidates], taken: set[str]) -> None:
    """Remove the objects with these ids from the candidates: they belong to other entries."""
    for entry in entries:
        entry.present = [item for item in entry.present if item.id not in taken]
        entry.earlier = [item for item in entry.earlier if item.id not in taken]
        entry.both = [item for item in entry.both if item.id not in taken]


def _keep_candidates_with_both_names(entries: Iterable[EntryCandidates]) -> bool:
    """Keep only candidates with both names if several have the present name; return whether any changed."""
    found = False
    for entry in entries:
        if entry.both and len(entry.both) < len(entry.present):
            entry.present, found = entry.both, True
    return found


class _RenameMatching(Struct, frozen=True, dict=True):
    """The decision which candidate each entry is."""

    view: NaturalKeys
    past: Past
    found: Renames

    @cached_property
    def before(self) -> NaturalKeys:
        return self.past.keys(self.view)

    def match_all(self, open_: list[EntryCandidates]) -> None:
        """Match the certain entries, then circles of exchanged names, repeatedly; ask about the rest."""
        while True:
            open_ = self._decide_certain(open_)
            if _keep_candidates_with_both_names(open_):
                continue
            rings = list(self._exchange_circles([entry for entry in open_ if entry.earlier]))
            if not rings:
                break
            for ring in rings:
                self._decide_circle(ring)
            passed = {entry.address: item.id for ring in rings for entry in ring for item in entry.earlier}
            open_ = [entry for entry in open_ if entry.address not in passed]
            _remove_taken(open_, set(passed.values()))
        for entry in open_:
            if entry.earlier and entry.earlier_source != "kept":  # the natural key decides about a kept name
                self._ask_if_both_names_are_live(entry)

    def _decide_certain(self, open_: list[EntryCandidates]) -> list[EntryCandidates]:
        """Match the entries that have the same object in all best assignments; return the other entries."""
        items = {item.id: item for entry in open_ for item in (*entry.present, *entry.earlier)}
        candidates = {
            entry.address: list(dict.fromkeys(item.id for item in (*entry.earlier, *entry.present)))
            for entry in open_
        }
        found = certain(candidates, {entry.address: entry.rank for entry in open_})
        for entry in open_:
            if entry.address in found:
                self._record_match(entry, items[found[entry.address]])
        left = [entry for entry in open_ if entry.address not in found]
        _remove_taken(left, set(found.values()))
        return left

    def _record_match(self, entry: EntryCandidates, item: LiveObject) -> None:
        """Record the match of an entry, unless the first natural key finds the same object later."""
        if item in entry.earlier and item not in entry.present:
            by = MatchedBy.PREVIOUSLY if entry.earlier_source == "previously" else MatchedBy.BASE
            self.found.matches[entry.address] = Match(item.id, by)
        elif (
            entry.rank < Rank.NEW
            and entry.present_key is not None
            and entry.present_key != self.view.first_key
        ):
            self.found.matches[entry.address] = Match(
                item.id, MatchedBy.LATER_KEY, key_text(entry.present_key)
            )

    def _exchange_circles(self, left: list[EntryCandidates]) -> Iterator[tuple[EntryCandidates, ...]]:
        """Return the circles of entries that exchanged names: each has the next one's earlier object."""
        bearer = {item.id: entry for entry in left if len(entry.earlier) == 1 for item in entry.earlier}
        passed = [entry for entry in bearer.values() if len(entry.present) == 1]
        return circles(
            passed, lambda entry: bearer.get(entry.present[0].id) if len(entry.present) == 1 else None
        )

    def _decide_circle(self, ring: tuple[EntryCandidates, ...]) -> None:
        """Decide whether the names of a circle were exchanged already; ask if the fields do not tell."""
        still = sum(self._count_agreements(entry, was) for entry in ring for was in entry.earlier)
        done = sum(self._count_agreements(entry, now) for entry in ring for now in entry.present)
        if still == done and not self._is_exchanged_in_base(ring):
            for entry in ring:
                self._ask(entry, *entry.earlier, *entry.present)
            return
        for entry in ring:
            for item in entry.earlier if still > done else entry.present:
                self._record_match(entry, item)

    def _is_exchanged_in_base(self, ring: tuple[EntryCandidates, ...]) -> bool:
        """Return whether the git base has the same names already, so that `previously` is outdated."""
        first = self.view.first_key
        return all(
            (earlier := self.past.entries.get(entry.address)) is not None
            and (value := self.before.wanted(earlier, first)) is not None
            and value == self.view.wanted(entry.resource, first)
            for entry in ring
        )

    def _count_agreements(self, entry: EntryCandidates, item: LiveObject) -> int:
        """Return the number of unchanged fields and keys of an entry that a live object has as well."""
        return sum(self._agreements(entry, item))

    def _agreements(self, entry: EntryCandidates, item: LiveObject) -> Iterator[bool]:
        earlier = self.past.entries.get(entry.address)
        first = names(self.view.first_key)
        for name, value in entry.resource.fields.items():
            known = name in earlier.fields if earlier is not None else name not in first
            if self.view.kind.field(name).source is None or not known:
                continue
            kept = earlier is None or self.view.form(earlier.fields[name]) == self.view.form(value)
            yield kept and self.view.form(value) == self.view.form(item.fields.get(name))
        for key in self.view.later_keys:
            wanted = self.view.wanted(entry.resource, key)
            kept = earlier is None or wanted == self.before.wanted(earlier, key)
            yield kept and wanted is not None and self.view.has(item, key, wanted)

    def _ask_if_both_names_are_live(self, entry: EntryCandidates) -> None:
        """Ask about an entry if several objects have its earlier name, or if both names are live."""
        if len(entry.earlier) > 1:
            self._ask(entry, *entry.earlier)
        elif entry.present:
            (was,), (now, *_) = entry.earlier, entry.present
            still, done = self._count_agreements(entry, was), self._count_agreements(entry, now)
            # A rename would leave the same fields, so only a clear "no" is certain.
            if still >= done:
                self._ask(entry, was, now)

    def _ask(self, entry: EntryCandidates, *items: LiveObject) -> None:
        kind = self.view.kind
        first, other, *_ = (item.id for item in items)
        before = (
            "the earlier name of this entry"
            if entry.earlier_source == "previously"
            else "the name of this entry in the commit that dpsync compares with"
        )
        if len(entry.earlier) > 1:
            ids = " and ".join(f'"{item.id}"' for item in items)
            message = f"{counted(len(items), f'live {kind.noun}')} have {before}: {ids}"
            hint = f"choose the object: {meaning(entry.address, first, self.view.shared)}"
        else:
            message = (
                f'the object "{first}" has {before}, but the object "{other}" has the present name '
                "of this entry"
            )
            hint = choice("rename", entry.address, first, other, self.view.shared)
        resource = entry.resource
        by_hand = entry.earlier_source == "previously"
        where = resource.where("previously") if by_hand else key_span(resource, self.view.first_key)
        self.found.diagnostics.append(
            Diagnostic(
                "DP305",
                message,
                where,
                str(entry.address),
                hint,
                candidates=candidates(kind, entry.resource, {item.id: item for item in items}),
                answers=it_is(entry.resource, self.view.shared, *(item.id for item in items)),
            )
        )


def unknown_earlier_names(
    view: NaturalKeys,
    past: Past,
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
    index = Index(view, live)
    lines = set(past.recorded.orphans.values())
    removed = [address for address in {*lines, *past.entries} if address not in declared]
    return [
        _unknown_name_error(view, entry, live, removed)
        for entry in asking
        if not _has_known_name(view, index, past, entry)
        and not any(
            address not in declared and (address in lines or any(past.earlier_entries(address)))
            for address in entry.former
        )
    ]


def _has_known_name(view: NaturalKeys, index: Index, past: Past, entry: Entry) -> bool:
    """Return whether a live object or an entry of the git base has one of the former names."""
    before = past.keys(view)
    for fields in entry.previously:
        key = key_of(view.kind, fields)
        value = view.wanted(replace(entry, fields=fields), key)
        in_base = any(before.wanted(earlier, key) == value for earlier in past.entries.values())
        if in_base or index.bearing(key, value):
            return True
    return False


def _unknown_name_error(
    view: NaturalKeys, entry: Entry, live: Sequence[LiveObject], removed: Sequence[Address]
) -> Diagnostic:
    kind = view.kind
    names = [value for fields in entry.previously for value in fields.values() if isinstance(value, str)]
    written = list(dict.fromkeys(names or [address.last for address in entry.former]))
    fields = {name for fields in entry.previously for name in fields}
    titles = [value for item in live for name in fields if isinstance(value := item.fields.get(name), str)]
    former = [address for address in removed if address.place == entry.address.place]
    known = [*titles, *(address.last for address in former), *map(str, former)]
    nearest = next(filter(None, (did_you_mean(word, known) for word in written)), None)
    quoted = " and ".join(f'"{word}"' for word in written) or "this"
    message = (
        f"the value of previously matches no object: no live {kind.noun} has the name {quoted}, "
        "and neither the ids file nor git has a removed entry with this key"
    )
    hint = f"if the {kind.noun} is new, remove previously"
    if nearest is not None:
        hint = f'did you mean "{nearest}"? Otherwise, {hint}'
    return Diagnostic("DP246", message, entry.where("previously"), str(entry.address), hint)
