"""Match entries with live objects by the ids file, and find its lines that are wrong or were swapped.

A line of the ids file has priority over each name, and `id:` in an entry has priority over a line.
`match_by_lines` returns the matches; `line_questions` returns what a person has to decide. Swapped lines look
like exchanged names: in both cases, each entry has the name of another entry's object. Three facts
distinguish them: the names of the entries in earlier commits, their other fields, and whether the git base
(the commit compared with) has the same lines.
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
        """Return the address of the entry."""
        return self.entry.address


def swapped_line_questions(
    natural_keys: NaturalKeys, recognized: Sequence[RecognizedEntry], earlier_entries: EarlierEntries
) -> Iterator[Diagnostic]:
    """Yield a question for each entry whose line was probably swapped with another entry's line.

    Such entries form a cycle: each entry has the name of the next entry's object. If no earlier commit has
    the entries, previous names are unknown. Then a pair is enough in which one entry has the name of the
    other entry's object.
    """
    search = _SwapSearch(
        natural_keys,
        {recognized_entry.address: recognized_entry for recognized_entry in recognized},
        earlier_entries,
    )
    for cycle in search.swapped_cycles():
        for address, next_address in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            if search.recognized[address].has_line:
                yield _swap_question(natural_keys, search.recognized, address, next_address, cycle)


class _SwapSearch:
    """The search for swapped lines among the recognized entries of one parent."""

    def __init__(
        self,
        natural_keys: NaturalKeys,
        recognized: Mapping[Address, RecognizedEntry],
        earlier_entries: EarlierEntries,
    ) -> None:
        """Index the recognized entries by declared name, and their objects by id and by name."""
        self.natural_keys, self.recognized, self.earlier_entries = natural_keys, recognized, earlier_entries
        self._names = {
            address: declared_name(natural_keys, recognized_entry.entry)
            for address, recognized_entry in recognized.items()
        }
        self._index = KeyIndex(
            natural_keys, [recognized_entry.object for recognized_entry in recognized.values()]
        )
        self._address_by_id = {
            recognized_entry.object.id: address for address, recognized_entry in recognized.items()
        }

    def swapped_cycles(self) -> Iterator[tuple[Address, ...]]:
        """Yield each cycle of entries whose lines may have been swapped."""
        next_addresses = {
            address: self._address_by_id[named_object.id]
            for address, entry in self.recognized.items()
            if (named_object := self._object_with_name(entry)) is not None
            and named_object is not entry.object
        }
        for cycle in [
            *find_simple_cycles(next_addresses, next_addresses.get),
            *self._incomplete_pairs(next_addresses),
        ]:
            if self._are_lines_swapped([self.recognized[address] for address in cycle]):
                yield cycle

    def _incomplete_pairs(
        self, next_addresses: Mapping[Address, Address]
    ) -> Iterator[tuple[Address, Address]]:
        """Yield pairs of entries whose lines may be swapped although only one has the other object's name.

        The first entry has the name of the second entry's object. No earlier commit has either entry, and the
        second entry's own object does not have its name.
        """
        for address, other in next_addresses.items():
            if other in next_addresses or self._has_declared_name(self.recognized[other]):
                continue
            if not self._was_committed(address) and not self._was_committed(other):
                yield address, other

    def _was_committed(self, address: Address) -> bool:
        """Return whether the git base or an earlier commit has an entry at this address."""
        return next(self.earlier_entries(address), None) is not None

    def _has_declared_name(self, entry: RecognizedEntry) -> bool:
        """Return whether the object has the name that its entry declares, or a temporary name.

        An apply gives an object a temporary name while it exchanges names.
        """
        name = self._names[entry.address]
        if name is None or self.natural_keys.object_has(entry.object, *name):
            return True
        key, _ = name
        value = entry.object.fields.get(key) if isinstance(key, str) else None
        return isinstance(value, str) and value.startswith(TEMPORARY_PREFIX)

    def _object_with_name(self, entry: RecognizedEntry) -> LiveObject | None:
        """Return the object that an entry means by its names; None if no name decides.

        If the entry's own object has the declared name, search for that name. Otherwise, search for the
        previous names of the entry, latest first, and then for the declared name.
        """
        present_name = self._names[entry.address]
        if present_name is None:
            return None
        if self._has_declared_name(entry):
            return self._best_match(entry, self._index.objects_with(*present_name))
        earlier_names = (
            declared_name(self.natural_keys, earlier) for earlier in self.earlier_entries(entry.address)
        )
        other_names = (name for name in earlier_names if name not in (None, present_name))
        for name in (*other_names, present_name):
            objects = self._index.objects_with(*name) if name is not None else []
            if objects:
                return self._best_match(entry, objects)
        return None

    def _best_match(self, recognized: RecognizedEntry, objects: Sequence[LiveObject]) -> LiveObject | None:
        """Return the object that an entry means among the objects with its name; None if that is unclear.

        If several objects have the name, the other fields of the entry decide.
        """
        if len(objects) < 2:
            return next(iter(objects), None)
        entry = next(self.earlier_entries(recognized.address), recognized.entry)
        nearer = [
            other
            for other in objects
            if other is not recognized.object
            and self._distinguishing_fields(entry, other, recognized.object)
            and not self._distinguishing_fields(entry, recognized.object, other)
        ]
        # An object without the name of its own entry is the more likely one.
        misnamed = [
            other
            for other in nearer
            if not self._has_declared_name(self.recognized[self._address_by_id[other.id]])
        ]
        best = misnamed or nearer
        return best[0] if len(best) == 1 else None

    def _are_lines_swapped(self, cycle: Sequence[RecognizedEntry]) -> bool:
        """Return whether lines of the ids file were swapped; False if the objects got each other's names.

        Fields that agree only with the object of the line speak for the line, fields that agree only with
        the object of the name against it.
        """
        fields_for_line, fields_for_name = set[str](), set[str]()
        for recognized, next_entry in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            fields_for_line |= self._distinguishing_fields(
                recognized.entry, recognized.object, next_entry.object
            )
            fields_for_name |= self._distinguishing_fields(
                recognized.entry, next_entry.object, recognized.object
            )
        if fields_for_line and not fields_for_name:
            return False
        if all(self._was_committed(recognized.address) for recognized in cycle if recognized.has_line):
            return bool(fields_for_name) or not all(recognized.has_same_line_in_base for recognized in cycle)
        return bool(fields_for_name) and not fields_for_line

    def _distinguishing_fields(self, entry: Entry, live: LiveObject, other: LiveObject) -> set[str]:
        """Return the fields, except the name, in which an entry agrees with `live` but not with `other`."""
        name = declared_name(self.natural_keys, entry)
        name_fields = key_fields(name[0]) if name is not None else ()
        return {
            field
            for field, value in entry.fields.items()
            if field not in name_fields and field in live.fields and field in other.fields
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


def _swap_question(
    natural_keys: NaturalKeys,
    recognized: Mapping[Address, RecognizedEntry],
    address: Address,
    other: Address,
    cycle: Sequence[Address],
) -> Diagnostic:
    """Return the question (DP243) whether the line of an entry was swapped with others in the cycle."""
    entry, own_object, other_object = (
        recognized[address].entry,
        recognized[address].object,
        recognized[other].object,
    )
    name = declared_name(natural_keys, entry)
    assert name is not None
    key, _ = name
    noun = natural_keys.kind.noun
    message = (
        f"the lines of {address} and {other} in the ids file may have been swapped: the line of this entry "
        f'has the id "{own_object.id}", but the present or an earlier {key_text(key)} of this entry '
        f'belongs to the {noun} with the id "{other_object.id}", which is in the line of {other}'
    )
    # The command gives each swapped entry the id of the next one.
    pairs = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    flags = (("--bind", f"{entry_address}={recognized[next_].object.id}") for entry_address, next_ in pairs)
    swap_back = format_command("ids", *(word for flag in flags for word in flag))
    hint = (
        f"if the lines are right, add {pin_text(own_object.id, natural_keys.uses_ids_file)}. If the "
        f"lines were swapped, run {swap_back}"
    )
    return Diagnostic(
        "DP243", message, key_span(entry, key), str(address), hint,
        candidates=candidate_objects(
            natural_keys.kind, entry, {own_object.id: own_object, other_object.id: other_object}
        ),
        answers=(
            pin_answer(entry, own_object.id, natural_keys.uses_ids_file),
            WayOut(address=str(address), add=swap_back, means="the lines were swapped"),
        ),
    )  # fmt: skip


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
    entries: Iterable[Entry],
    live: Sequence[LiveObject],
    pinned: Mapping[str, Address],
    base_addresses: Collection[Address],
) -> LineMatches:
    """Match the entries of one parent by the lines of the ids file, which map addresses to ids of objects.

    If an id is in the lines of several entries, or in a line and in `id:` of an entry, match none of them,
    and ask. `pinned` has the entries that name an object by `id:`, `base_addresses` the addresses of entries
    in the git base (the commit compared with).
    """
    result = LineMatches()
    objects = {live_object.id: live_object for live_object in live}
    entries_by_id: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        line = recorded.lines.get(entry.address)
        if line is None or entry.pin is not None:
            continue
        if line.id in objects:
            entries_by_id[line.id].append(entry)
        else:
            result.missing[entry.address] = line.id
    for id, claiming in entries_by_id.items():
        if len(claiming) == 1 and id not in pinned:
            result.matches[claiming[0].address] = Match(id, MatchedBy.IDS_LINE)
            continue
        correct = (
            None
            if id in pinned
            else _entry_with_correct_line(natural_keys, claiming, objects[id], base_addresses)
        )
        for entry in claiming:
            line = recorded.lines[entry.address]
            result.diagnostics.append(
                _shared_id_question(
                    natural_keys.kind, line, entry, claiming, pinned.get(id), correct, objects[id]
                )
            )
    return result


class _CorrectLine(Struct, frozen=True):
    """The entry with the right line, if several lines have the same id; and the reason, for the message."""

    entry: Entry
    reason: str


def _entry_with_correct_line(
    natural_keys: NaturalKeys, entries: Sequence[Entry], live: LiveObject, base_addresses: Collection[Address]
) -> _CorrectLine | None:
    """Return which of several entries with the same id has the right line; None if that is unknown.

    That is the only one of the entries in the git base, else the only one with the object's name.
    """
    entries_in_base = [entry for entry in entries if entry.address in base_addresses]
    if len(entries_in_base) == 1:
        return _CorrectLine(
            entries_in_base[0],
            "of these entries, only this entry is in the commit with which dpsync compares your files",
        )
    entries_with_name = [
        entry
        for entry in entries
        if (name := declared_name(natural_keys, entry)) is not None and natural_keys.object_has(live, *name)
    ]
    return (
        _CorrectLine(entries_with_name[0], "the object has the name that this entry declares")
        if len(entries_with_name) == 1
        else None
    )


def _shared_id_question(
    kind: Kind, line: RecordedLine, entry: Entry, entries_with_id: Sequence[Entry], pinned: Address | None,
    correct: _CorrectLine | None, live: LiveObject,
) -> Diagnostic:  # fmt: skip
    """Return the question (DP311) about an entry whose id another entry has as well.

    `pinned` is the entry that has the id by `id:`; `correct` is the entry that probably has the right line.
    """
    others_with_id = [other for other in entries_with_id if other is not entry]
    names = [str(other.address) for other in others_with_id] + ([str(pinned)] if pinned is not None else [])
    others = " and ".join(f'"{name}"' for name in names)
    message = f'the line of this entry in the ids file has the id "{line.id}", but {others} has the same id'
    wrong_entries = [entry]
    if correct is not None:
        wrong_entries = [other for other in entries_with_id if other is not correct.entry]
        message += f". The line of {correct.entry.address} is right: {correct.reason}"
    first_wrong, *_ = wrong_entries
    hint = f"remove the wrong line from the ids file: {_forget_command(first_wrong)}"
    answers = [
        forget_answer(other, _line_removal_text(other, entries_with_id, live)) for other in wrong_entries
    ]
    if correct is not None:
        answers += [forget_answer(correct.entry, _line_removal_text(correct.entry, entries_with_id, live))]
    return Diagnostic(
        "DP311", message, _line_span(line, entry), str(entry.address), hint,
        candidates=candidate_objects(kind, entry, {live.id: live}), answers=tuple(answers),
    )  # fmt: skip


def _line_removal_text(entry: Entry, entries_with_id: Sequence[Entry], live: LiveObject) -> str:
    """Return what the user confirms by removing the line of an entry from the ids file, as a sentence.

    The object then belongs to another of the entries whose lines have its id.
    """
    others = [str(other.address) for other in entries_with_id if other is not entry]
    another = f"{entry.address} is another object"
    match others:
        case [other]:
            return f'{another}. The object "{live.id}" and its contents belong to {other}'
    return another


def _line_span(line: RecordedLine, entry: Entry) -> Span:
    """Return the position of a line in the ids file; that of its entry if the position is unknown."""
    return line.span or entry.span


def match_renamed_keys(
    natural_keys: NaturalKeys, recorded: RecordedLines, unmatched: Sequence[Entry], live: Sequence[LiveObject]
) -> dict[Address, LiveObject]:
    """Match entries under a new key with objects whose ids line has an old key, by name.

    A line with an old key has no entry any more. An entry and an object match only if no other entry or
    object has that name.
    """
    orphans = [live_object for live_object in live if live_object.id in recorded.orphans]
    if not orphans:
        return {}
    index = KeyIndex(natural_keys, orphans)
    hits = {
        entry.address: _objects_with_declared_name(natural_keys, index, entry)
        for entry in unmatched
        if not entry.new
    }
    claims: dict[str, int] = defaultdict(int)
    for objects in hits.values():
        for live_object in objects:
            claims[live_object.id] += 1
    return {
        address: live_object
        for address, objects in hits.items()
        if len(objects) == 1
        for live_object in objects
        if claims[live_object.id] == 1
    }


def _objects_with_declared_name(natural_keys: NaturalKeys, index: KeyIndex, entry: Entry) -> list[LiveObject]:
    """Return the objects with the first natural key that an entry declares."""
    name = declared_name(natural_keys, entry)
    return [] if name is None else index.objects_with(*name)


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
    index = KeyIndex(natural_keys, [live_object for live_object in live if live_object.id not in claimed])
    objects = {live_object.id: live_object for live_object in live}
    questions: list[Diagnostic] = []
    for entry in by_line:
        line = recorded.lines[entry.address]
        own_object = objects[line.id]
        name = declared_name(natural_keys, entry)
        earlier_objects = [
            live_object
            for fields in entry.previously
            for live_object in _objects_with_declared_name(natural_keys, index, replace(entry, fields=fields))
        ] + [
            live_object
            for live_object in index.live_objects
            if recorded.orphans.get(live_object.id) in entry.former
        ]
        if earlier_objects:
            span, name_text = entry.field_span("previously"), "an earlier name of this entry"
            questions.append(
                _other_object_question(
                    natural_keys, entry, own_object, earlier_objects, "DP313", span, name_text
                )
            )
            continue
        if name is None or natural_keys.object_has(own_object, *name):
            continue
        key, value = name
        if others := index.objects_with(key, value):
            span, name_text = key_span(entry, key), f"the {key_text(key)} that this entry declares"
            questions.append(
                _other_object_question(natural_keys, entry, own_object, others, "DP312", span, name_text)
            )
        elif entry.address in recorded.re_added:
            questions.append(_returned_entry_question(natural_keys, entry, own_object, key))
    recognized = [
        RecognizedEntry(
            entry, objects[match.id], match.by is MatchedBy.IDS_LINE, entry.address in recorded.same_in_base
        )
        for entry in entries
        if (match := matches.get(entry.address)) is not None and match.by not in _MATCHES_BY_DECLARATION
    ]
    return [*questions, *swapped_line_questions(natural_keys, recognized, earlier_entries)]


def _other_object_question(
    natural_keys: NaturalKeys,
    entry: Entry,
    own_object: LiveObject,
    others: Sequence[LiveObject],
    code: str,
    span: Span,
    name_text: str,
) -> Diagnostic:
    """Return the question whether an entry is the object of its line or the first of `others`.

    `name_text` says which name of the entry the other object has; `span` is the position of that name.
    """
    other, *_ = others
    noun = natural_keys.kind.noun
    message = (
        f'the line of this entry in the ids file has the id of the {noun} "{own_object.id}", but the {noun} '
        f'"{other.id}" has {name_text}'
    )
    hint = (
        f'if this entry is the object "{own_object.id}", add '
        f"{pin_text(own_object.id, natural_keys.uses_ids_file)}. If this entry is the "
        f'object "{other.id}", run {rebind_answer(entry, other.id).add}'
    )
    return Diagnostic(
        code, message, span, str(entry.address), hint,
        candidates=candidate_objects(natural_keys.kind, entry, {own_object.id: own_object, other.id: other}),
        answers=(
            pin_answer(entry, own_object.id, natural_keys.uses_ids_file),
            rebind_answer(entry, other.id),
        ),
    )  # fmt: skip


def _returned_entry_question(
    natural_keys: NaturalKeys, entry: Entry, own_object: LiveObject, key: Key
) -> Diagnostic:
    """Return the question (DP314) about an entry that was removed and added again.

    Its line in the ids file names an object that has another name now.
    """
    recorded = f'{natural_keys.kind.noun} "{own_object.id}"'
    message = (
        f"this entry was removed and added again, but its former object, the {recorded}, now has another "
        f"{key_text(key)}"
    )
    forget_line = _forget_command(entry)
    hint = (
        f"if the entry is that object, add {pin_text(own_object.id, natural_keys.uses_ids_file)}. "
        f"Otherwise, run {forget_line}"
    )
    return Diagnostic(
        "DP314", message, key_span(entry, key), str(entry.address), hint,
        candidates=candidate_objects(natural_keys.kind, entry, {own_object.id: own_object}),
        answers=(
            pin_answer(entry, own_object.id, natural_keys.uses_ids_file),
            forget_answer(entry, "the entry is another object"),
        ),
    )  # fmt: skip


def _forget_command(entry: Entry) -> str:
    """Return the command that removes the line of an entry from the ids file."""
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
