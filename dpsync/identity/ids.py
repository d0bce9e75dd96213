"""Match entries by the ids file, and find lines that are wrong or were swapped.

A line of the ids file has priority over each name, and `id:` in an entry has priority over a line.
`match_by_lines` returns the matches; `line_questions` returns what a person has to decide.

Swapped lines look like exchanged names: in both cases, each entry has the name of another entry's object.
Three facts distinguish the two cases: the names that the entries had in earlier commits, the other fields of
the entries, and whether the git base has the same lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.identity.keys import (
    TEMPORARY_PREFIX,
    ComparableValue,
    Key,
    KeyIndex,
    NaturalKeys,
    key_fields,
    key_span,
    key_text,
)
from dpsync.identity.questions import candidate_objects, forget_answer, pin_answer, pin_text, rebind_answer
from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.cycles import find_simple_cycles
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.ids import RecordedLine
from dpsync.model.nodes import Span
from dpsync.model.question import WayOut
from dpsync.model.snapshot import LiveObject, Match, MatchedBy
from dpsync.model.text import format_command

KeyWithValue = tuple[Key, tuple[ComparableValue, ...]]
"""A natural key with its value."""
EarlierEntries = Callable[[Address], Iterator[Entry]]
"""A function that returns the entries at an address in the git base and earlier commits, latest first."""


class RecognizedEntry(Struct, frozen=True):
    """An entry and the live object that matches it."""

    entry: Entry
    object: LiveObject
    has_line: bool
    """Whether a line of the ids file names the object for this entry."""
    has_same_line_in_base: bool
    """Whether the ids file in the git base has the same line for this entry."""

    @property
    def address(self) -> Address:
        return self.entry.address


def swapped_line_questions(
    natural_keys: NaturalKeys, recognized: Sequence[RecognizedEntry], earlier_entries: EarlierEntries
) -> Iterator[Diagnostic]:
    """Return a question for each entry whose line was probably swapped with another entry's line.

    Such entries form a circle: each entry has the name of the next entry's object. If no earlier commit has
    the entries, previous names are unknown. Then a pair is enough in which one entry has the name of the
    other entry's object.
    """
    found = _SwapSearch(natural_keys, {item.address: item for item in recognized}, earlier_entries)
    for circle in found.swapped_cycles():
        for address, after in zip(circle, (*circle[1:], circle[0]), strict=True):
            if found.recognized[address].has_line:
                yield _ask_about_swap(natural_keys, found.recognized, address, after, circle)


class _SwapSearch:
    """The search for swapped lines among the recognized entries of one parent."""

    def __init__(
        self,
        natural_keys: NaturalKeys,
        recognized: Mapping[Address, RecognizedEntry],
        earlier: EarlierEntries,
    ) -> None:
        self.natural_keys, self.recognized, self.earlier_entries = natural_keys, recognized, earlier
        self._names = {
            address: declared_name(natural_keys, item.entry) for address, item in recognized.items()
        }
        self._index = KeyIndex(natural_keys, [item.object for item in recognized.values()])
        self._address_by_id = {item.object.id: address for address, item in recognized.items()}

    def swapped_cycles(self) -> Iterator[tuple[Address, ...]]:
        """Return each circle of entries whose lines may have been swapped."""
        next_addresses = {
            address: self._address_by_id[object_.id]
            for address, item in self.recognized.items()
            if (object_ := self._object_with_name(item)) is not None and object_ is not item.object
        }
        for circle in [
            *find_simple_cycles(next_addresses, next_addresses.get),
            *self._incomplete_pairs(next_addresses),
        ]:
            if self._are_lines_swapped([self.recognized[address] for address in circle]):
                yield circle

    def _incomplete_pairs(
        self, next_addresses: Mapping[Address, Address]
    ) -> Iterator[tuple[Address, Address]]:
        """Return pairs in which only the first entry has the name of the other entry's object."""
        for address, other in next_addresses.items():
            if other in next_addresses or self._has_declared_name(self.recognized[other]):
                continue
            if not self._was_committed(address) and not self._was_committed(other):
                yield address, other

    def _was_committed(self, address: Address) -> bool:
        """Return whether the git base or an earlier commit has an entry at this address."""
        return next(self.earlier_entries(address), None) is not None

    def _has_declared_name(self, item: RecognizedEntry) -> bool:
        """Return whether the object has the name that its entry declares, or a temporary name.

        An apply gives an object a temporary name while it exchanges names.
        """
        name = self._names[item.address]
        if name is None or self.natural_keys.object_has(item.object, *name):
            return True
        key, _ = name
        value = item.object.fields.get(key) if isinstance(key, str) else None
        return isinstance(value, str) and value.startswith(TEMPORARY_PREFIX)

    def _object_with_name(self, item: RecognizedEntry) -> LiveObject | None:
        """Return the object that an entry means by its names; None if no name decides.

        If the entry's own object has the declared name, search for that name. Otherwise, search for the
        previous names of the entry, latest first, and then for the declared name.
        """
        now = self._names[item.address]
        if now is None:
            return None
        if self._has_declared_name(item):
            return self._best_match(item, self._index.objects_with(*now))
        before = (declared_name(self.natural_keys, entry) for entry in self.earlier_entries(item.address))
        for name in (*(name for name in before if name not in (None, now)), now):
            bearing = self._index.objects_with(*name) if name is not None else []
            if bearing:
                return self._best_match(item, bearing)
        return None

    def _best_match(self, item: RecognizedEntry, bearing: Sequence[LiveObject]) -> LiveObject | None:
        """Return the object that an entry means. If several have its name, its other fields decide."""
        if len(bearing) < 2:
            return next(iter(bearing), None)
        entry = next(self.earlier_entries(item.address), item.entry)
        nearer = [
            other
            for other in bearing
            if other is not item.object
            and self._distinguishing_fields(entry, other, item.object)
            and not self._distinguishing_fields(entry, item.object, other)
        ]
        misnamed = [other for other in nearer if not self._has_declared_name(self._recognized_as(other))]
        found = misnamed or nearer
        return found[0] if len(found) == 1 else None

    def _recognized_as(self, live: LiveObject) -> RecognizedEntry:
        return self.recognized[self._address_by_id[live.id]]

    def _are_lines_swapped(self, circle: Sequence[RecognizedEntry]) -> bool:
        """Return whether lines of the ids file were swapped; False if the objects got each other's names."""
        by_line, by_name = set[str](), set[str]()
        for item, after in zip(circle, (*circle[1:], circle[0]), strict=True):
            by_line |= self._distinguishing_fields(item.entry, item.object, after.object)
            by_name |= self._distinguishing_fields(item.entry, after.object, item.object)
        if by_line and not by_name:
            return False
        if all(self._was_committed(item.address) for item in circle if item.has_line):
            return bool(by_name) or not all(item.has_same_line_in_base for item in circle)
        return bool(by_name) and not by_line

    def _distinguishing_fields(self, entry: Entry, live: LiveObject, other: LiveObject) -> set[str]:
        """Return the fields, except the name, in which an entry agrees with `live` but not with `other`."""
        name = declared_name(self.natural_keys, entry)
        own = key_fields(name[0]) if name is not None else ()
        return {
            field
            for field, value in entry.fields.items()
            if field not in own and field in live.fields and field in other.fields
            if self.natural_keys.comparable(value) == self.natural_keys.comparable(live.fields[field])
            if self.natural_keys.comparable(value) != self.natural_keys.comparable(other.fields[field])
        }


def declared_name(natural_keys: NaturalKeys, entry: Entry) -> KeyWithValue | None:
    """Return the first natural key that an entry declares, with its value."""
    for key in natural_keys.kind.natural_keys:
        value = natural_keys.declared_value(entry, key)
        if value is not None:
            return key, value
    return None


def _ask_about_swap(
    natural_keys: NaturalKeys,
    recognized: Mapping[Address, RecognizedEntry],
    address: Address,
    other: Address,
    circle: Sequence[Address],
) -> Diagnostic:
    """Ask whether the line of an entry was swapped with the lines of the other entries in `circle`."""
    entry, mine, theirs = recognized[address].entry, recognized[address].object, recognized[other].object
    name = declared_name(natural_keys, entry)
    assert name is not None
    key, _ = name
    noun = natural_keys.kind.noun
    message = (
        f"the lines of {address} and {other} in the ids file may have been swapped: the line of this entry "
        f'has the id "{mine.id}", but the present or an earlier {key_text(key)} of this entry belongs to the '
        f'{noun} with the id "{theirs.id}", which is in the line of {other}'
    )
    swap_back = _swap_back_command(recognized, circle)
    hint = (
        f"if the lines are right, add {pin_text(mine.id, natural_keys.uses_ids_file)}. If the "
        f"lines were swapped, run {swap_back}"
    )
    return Diagnostic(
        "DP243", message, key_span(entry, key), str(address), hint,
        candidates=candidate_objects(natural_keys.kind, entry, {mine.id: mine, theirs.id: theirs}),
        answers=(
            pin_answer(entry, mine.id, natural_keys.uses_ids_file),
            WayOut(address=str(address), add=swap_back, means="the lines were swapped"),
        ),
    )  # fmt: skip


def _swap_back_command(recognized: Mapping[Address, RecognizedEntry], circle: Sequence[Address]) -> str:
    """Return the command that gives each swapped entry the id of the next one in the ids file."""
    pairs = zip(circle, (*circle[1:], circle[0]), strict=True)
    flags = (("--bind", f"{address}={recognized[other].object.id}") for address, other in pairs)
    return format_command("ids", *(word for flag in flags for word in flag))


class RecordedLines(Struct, frozen=True):
    """The lines of the ids file for the entries of one parent.

    `orphans` are lines without an entry, by id. `re_added` are entries that the git base lacks although its
    ids file has their line: somebody removed the entries and added them again. `same_in_base` are the
    entries with the same line in the ids file of the git base.
    """

    lines: Mapping[Address, RecordedLine] = field(default_factory=dict)
    orphans: Mapping[str, Address] = field(default_factory=dict)
    re_added: frozenset[Address] = frozenset()
    same_in_base: frozenset[Address] = frozenset()


NO_RECORDED_LINES = RecordedLines()
_MATCHES_BY_DECLARATION = (MatchedBy.PIN, MatchedBy.PREVIOUSLY)
"""Matches by `id:` or `previously:`. For these entries, swapped lines of the ids file have no effect."""


class LineMatches(Struct):
    """The matches by ids file, the ids without a live object, and the questions."""

    matches: dict[Address, Match] = field(default_factory=dict)
    missing: dict[Address, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def match_by_lines(
    natural_keys: NaturalKeys,
    recorded: RecordedLines,
    wanted: Iterable[Entry],
    live: Sequence[LiveObject],
    pinned: Mapping[str, Address],
    base_addresses: Collection[Address],
) -> LineMatches:
    """Match the entries of one parent by the lines of the ids file.

    `pinned` has the objects that entries claim by `id:`. `base_addresses` has the entries of the git base.
    """
    found = LineMatches()
    ids = {item.id: item for item in live}
    claims: dict[str, list[Entry]] = defaultdict(list)
    for resource in wanted:
        line = recorded.lines.get(resource.address)
        if line is None or resource.pin is not None:
            continue
        if line.id in ids:
            claims[line.id].append(resource)
        else:
            found.missing[resource.address] = line.id
    for id, entries in claims.items():
        if len(entries) == 1 and id not in pinned:
            found.matches[entries[0].address] = Match(id, MatchedBy.IDS_LINE)
            continue
        right = (
            None if id in pinned else _entry_with_correct_line(natural_keys, entries, ids[id], base_addresses)
        )
        for entry in entries:
            line = recorded.lines[entry.address]
            found.diagnostics.append(
                _shared_id_question(natural_keys.kind, line, entry, entries, pinned.get(id), right, ids[id])
            )
    return found


class _CorrectLine(Struct, frozen=True):
    """The entry with the right line, if several lines have the same id; and the reason, for the message."""

    entry: Entry
    reason: str


def _entry_with_correct_line(
    natural_keys: NaturalKeys, entries: Sequence[Entry], item: LiveObject, before: Collection[Address]
) -> _CorrectLine | None:
    """Return which of several entries with the same id has the right line; None if that is unknown.

    That is the only one of the entries in the git base, else the only one with the object's name.
    """
    known = [entry for entry in entries if entry.address in before]
    if len(known) == 1:
        return _CorrectLine(
            known[0], "the commit that dpsync compares your files with contains only this one of the entries"
        )
    named = [
        entry
        for entry in entries
        for key, value in [_declared_key_and_value(natural_keys, entry)]
        if key is not None and value is not None and natural_keys.object_has(item, key, value)
    ]
    return (
        _CorrectLine(named[0], "the object has the name that this entry declares")
        if len(named) == 1
        else None
    )


def _shared_id_question(
    kind: Kind, line: RecordedLine, entry: Entry, all_: Sequence[Entry], pinned: Address | None,
    right: _CorrectLine | None, item: LiveObject,
) -> Diagnostic:  # fmt: skip
    """Return the question (DP311) about an entry whose id another entry has as well."""
    rest = [other for other in all_ if other is not entry]
    names = [str(other.address) for other in rest] + ([str(pinned)] if pinned is not None else [])
    others = " and ".join(f'"{name}"' for name in names)
    message = f'the line of this entry in the ids file has the id "{line.id}", but {others} has the same id'
    wrong = [entry]
    if right is not None:
        wrong = [other for other in all_ if other is not right.entry]
        message += f". The line of {right.entry.address} is right: {right.reason}"
    first, *_ = wrong
    hint = f"remove the wrong line from the ids file: {_forget_command(first)}"
    answers = [forget_answer(other, _describe_line_removal(other, all_, item)) for other in wrong]
    if right is not None:
        answers += [forget_answer(right.entry, _describe_line_removal(right.entry, all_, item))]
    return Diagnostic(
        "DP311", message, _line_span(line, entry), str(entry.address), hint,
        candidates=candidate_objects(kind, entry, {item.id: item}), answers=tuple(answers),
    )  # fmt: skip


def _describe_line_removal(entry: Entry, all_: Sequence[Entry], item: LiveObject) -> str:
    """Describe, for an answer, what the removal of an entry's line means for the object."""
    rest = [str(other.address) for other in all_ if other is not entry]
    another = f"{entry.address} is another object"
    match rest:
        case [other]:
            return f'{another}. The object "{item.id}" and its contents belong to {other}'
    return another


def _line_span(line: RecordedLine, entry: Entry) -> Span:
    return line.span or entry.span


def match_renamed_keys(
    natural_keys: NaturalKeys, recorded: RecordedLines, unmatched: Sequence[Entry], live: Sequence[LiveObject]
) -> dict[Address, LiveObject]:
    """Match entries under a new key with objects that have a line under an old key, by name.

    An entry and an object match only if no other entry or object has that name.
    """
    orphans = [item for item in live if item.id in recorded.orphans]
    if not orphans:
        return {}
    index = KeyIndex(natural_keys, orphans)
    hits = {
        entry.address: _objects_with_declared_name(natural_keys, index, entry)
        for entry in unmatched
        if not entry.new
    }
    asked: dict[str, int] = defaultdict(int)
    for items in hits.values():
        for item in items:
            asked[item.id] += 1
    return {
        address: item
        for address, items in hits.items()
        if len(items) == 1
        for item in items
        if asked[item.id] == 1
    }


def _objects_with_declared_name(natural_keys: NaturalKeys, index: KeyIndex, entry: Entry) -> list[LiveObject]:
    """Return the objects with the first natural key that an entry declares."""
    key, value = _declared_key_and_value(natural_keys, entry)
    return [] if key is None else index.objects_with(key, value)


def _declared_key_and_value(
    natural_keys: NaturalKeys, entry: Entry
) -> tuple[Key, tuple[ComparableValue, ...]] | tuple[None, None]:
    return declared_name(natural_keys, entry) or (None, None)


def line_questions(
    natural_keys: NaturalKeys,
    recorded: RecordedLines,
    entries: Iterable[Entry],
    live: Sequence[LiveObject],
    matches: Mapping[Address, Match],
    earlier_entries: EarlierEntries,
) -> list[Diagnostic]:
    """Return the questions about lines of the ids file, once all entries of the parent are matched.

    There is a question if an unclaimed object has the name of the entry and the line's object has not
    (DP312), if `previously` means another object than the line (DP313), if an entry was removed and added
    again under another name (DP314), and if lines were probably swapped (DP243).
    """
    by_line = [
        entry
        for entry in entries
        if entry.address in matches and matches[entry.address].by is MatchedBy.IDS_LINE
    ]
    if not by_line:
        return []
    claimed = {match.id for match in matches.values()}
    index = KeyIndex(natural_keys, [item for item in live if item.id not in claimed])
    objects = {item.id: item for item in live}
    asked: list[Diagnostic] = []
    for entry in by_line:
        line = recorded.lines[entry.address]
        mine = objects[line.id]
        key, value = _declared_key_and_value(natural_keys, entry)
        bears_it = key is not None and value is not None and natural_keys.object_has(mine, key, value)
        before = [
            item
            for fields in entry.previously
            for item in _objects_with_declared_name(natural_keys, index, replace(entry, fields=fields))
        ] + [item for item in index.live_objects if recorded.orphans.get(item.id) in entry.former]
        if before:
            where = entry.field_span("previously")
            asked.append(
                _other_object_question(
                    natural_keys, entry, mine, before, "DP313", where, "an earlier name of this entry"
                )
            )
        elif bears_it or key is None:
            continue
        elif others := index.objects_with(key, value):
            has = f"the {key_text(key)} that this entry declares"
            asked.append(
                _other_object_question(natural_keys, entry, mine, others, "DP312", key_span(entry, key), has)
            )
        elif entry.address in recorded.re_added:
            asked.append(_returned_entry_question(natural_keys, entry, mine, key))
    recognized = [
        RecognizedEntry(
            entry, objects[match.id], match.by is MatchedBy.IDS_LINE, entry.address in recorded.same_in_base
        )
        for entry in entries
        if (match := matches.get(entry.address)) is not None and match.by not in _MATCHES_BY_DECLARATION
    ]
    return [*asked, *swapped_line_questions(natural_keys, recognized, earlier_entries)]


def _other_object_question(
    natural_keys: NaturalKeys,
    entry: Entry,
    mine: LiveObject,
    others: Sequence[LiveObject],
    code: str,
    where: Span,
    has: str,
) -> Diagnostic:
    """Return the question whether an entry is the object of its line or the first of `others`."""
    other, *_ = others
    noun = natural_keys.kind.noun
    message = (
        f'the line of this entry in the ids file has the id of the {noun} "{mine.id}", but the {noun} '
        f'"{other.id}" has {has}'
    )
    hint = (
        f'if this entry is the object "{mine.id}", add '
        f"{pin_text(mine.id, natural_keys.uses_ids_file)}. If this entry is the "
        f'object "{other.id}", run {rebind_answer(entry, other.id).add}'
    )
    return Diagnostic(
        code, message, where, str(entry.address), hint,
        candidates=candidate_objects(natural_keys.kind, entry, {mine.id: mine, other.id: other}),
        answers=(pin_answer(entry, mine.id, natural_keys.uses_ids_file), rebind_answer(entry, other.id)),
    )  # fmt: skip


def _returned_entry_question(
    natural_keys: NaturalKeys, entry: Entry, mine: LiveObject, key: Key
) -> Diagnostic:
    recorded = f'{natural_keys.kind.noun} "{mine.id}"'
    message = (
        f"this entry was removed and added again, but its former object, the {recorded}, now has another "
        f"{key_text(key)}"
    )
    forget_line = _forget_command(entry)
    hint = (
        f"if the entry is that object, add {pin_text(mine.id, natural_keys.uses_ids_file)}. "
        f"Otherwise, run {forget_line}"
    )
    return Diagnostic(
        "DP314", message, key_span(entry, key), str(entry.address), hint,
        candidates=candidate_objects(natural_keys.kind, entry, {mine.id: mine}),
        answers=(
            pin_answer(entry, mine.id, natural_keys.uses_ids_file),
            forget_answer(entry, "the entry is another object"),
        ),
    )  # fmt: skip


def _forget_command(entry: Entry) -> str:
    return format_command("ids", "--forget", str(entry.address))


def wrong_kind_error(line: RecordedLine, entry: Entry, noun: str, other: str) -> Diagnostic:
    """Return the error (DP315) for a line with the id of an object of another kind."""
    message = (
        f'the id "{line.id}" in the line of this entry in the ids file is the id of {other}, but this entry '
        f"is {noun}"
    )
    hint = f"remove the line from the ids file: {_forget_command(entry)}"
    answers = (forget_answer(entry, "remove the wrong line"),)
    return Diagnostic("DP315", message, _line_span(line, entry), str(entry.address), hint, answers=answers)
