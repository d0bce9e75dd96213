"""Find lines of the ids file that an edit or a merge may have swapped between entries.

Swapped lines look like exchanged names: in both cases, each entry has the name of another entry's object.
Exchanging names is ordinary work, in the files or in GitBook, and then the lines are right. Three facts
distinguish the two cases: the names that the entries had in earlier commits, the other fields of the entries,
and whether the git base has the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from dpsync.identity.natural_keys import Form, Index, Key, NaturalKeys, key_text, names, written
from dpsync.identity.questions import candidates, pin, pinned
from dpsync.identity.temporary_name import PREFIX
from dpsync.model.address import Address
from dpsync.model.cycles import circles
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic, WayOut
from dpsync.model.snapshot import LiveObject
from dpsync.model.text import command

Name = tuple[Key, tuple[Form, ...]]
"""A natural key with its value."""
EarlierEntries = Callable[[Address], Iterator[Entry]]
"""A function that returns the entries at an address in the git base and earlier commits, latest first."""


class Recognized(Struct, frozen=True):
    """An entry and the live object that matches it."""

    entry: Entry
    object: LiveObject
    by_line: bool
    """Whether a line of the ids file names the object for this entry."""
    line_is_in_base: bool
    """Whether the ids file in the git base has the same line for this entry."""

    @property
    def address(self) -> Address:
        return self.entry.address


def questions_about_swapped_ids(
    view: NaturalKeys, recognized: Sequence[Recognized], earlier: EarlierEntries
) -> Iterator[Diagnostic]:
    """Return a question for each entry whose line was probably swapped with another entry's line.

    Such entries form a circle: each entry has the name of the next entry's object. If no earlier commit has
    the entries, previous names are unknown. Then a pair is enough in which one entry has the name of the
    other entry's object.
    """
    found = _SwapSearch(view, {item.address: item for item in recognized}, earlier)
    for circle in found.swapped_circles():
        for address, after in zip(circle, (*circle[1:], circle[0]), strict=True):
            if found.recognized[address].by_line:
                yield _ask_about_swap(view, found.recognized, address, after, circle)


class _SwapSearch:
    def __init__(
        self, view: NaturalKeys, recognized: Mapping[Address, Recognized], earlier: EarlierEntries
    ) -> None:
        self.view, self.recognized, self.earlier = view, recognized, earlier
        self._names = {address: declared_name(view, item.entry) for address, item in recognized.items()}
        self._index = Index(view, [item.object for item in recognized.values()])
        self._address_by_id = {item.object.id: address for address, item in recognized.items()}

    def swapped_circles(self) -> Iterator[tuple[Address, ...]]:
        """Return each circle of entries whose lines may have been swapped."""
        next_addresses = {
            address: self._address_by_id[object_.id]
            for address, item in self.recognized.items()
            if (object_ := self._object_with_name(item)) is not None and object_ is not item.object
        }
        for circle in [*circles(next_addresses, next_addresses.get), *self._incomplete_pairs(next_addresses)]:
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
        """Whether the git base or an earlier commit has an entry at this address."""
        return next(self.earlier(address), None) is not None

    def _has_declared_name(self, item: Recognized) -> bool:
        """Whether the object has the name that its entry declares, or a temporary name.

        An apply gives an object a temporary name while it exchanges names.
        """
        name = self._names[item.address]
        if name is None or self.view.has(item.object, *name):
            return True
        key, _ = name
        value = item.object.fields.get(key) if isinstance(key, str) else None
        return isinstance(value, str) and value.startswith(PREFIX)

    def _object_with_name(self, item: Recognized) -> LiveObject | None:
        """Return the object that an entry means by its names; None if no name decides.

        If the entry's own object has the declared name, search for that name. Otherwise, search for the
        previous names of the entry, latest first, and then for the declared name.
        """
        now = self._names[item.address]
        if now is None:
            return None
        if self._has_declared_name(item):
            return self._best_match(item, self._index.bearing(*now))
        before = (declared_name(self.view, entry) for entry in self.earlier(item.address))
        for name in (*(name for name in before if name not in (None, now)), now):
            bearing = self._index.bearing(*name) if name is not None else []
            if bearing:
                return self._best_match(item, bearing)
        return None

    def _best_match(self, item: Recognized, bearing: Sequence[LiveObject]) -> LiveObject | None:
        """Return the object that an entry means. If several have its name, its other fields decide."""
        if len(bearing) < 2:
            return next(iter(bearing), None)
        entry = next(self.earlier(item.address), item.entry)
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

    def _recognized_as(self, live: LiveObject) -> Recognized:
        return self.recognized[self._address_by_id[live.id]]

    def _are_lines_swapped(self, circle: Sequence[Recognized]) -> bool:
        """Whether lines of the ids file were swapped. False if the objects got each other's names."""
        by_line, by_name = set[str](), set[str]()
        for item, after in zip(circle, (*circle[1:], circle[0]), strict=True):
            by_line |= self._distinguishing_fields(item.entry, item.object, after.object)
            by_name |= self._distinguishing_fields(item.entry, after.object, item.object)
        if by_line and not by_name:
            return False
        if all(self._was_committed(item.address) for item in circle if item.by_line):
            return bool(by_name) or not all(item.line_is_in_base for item in circle)
        return bool(by_name) and not by_line

    def _distinguishing_fields(self, entry: Entry, live: LiveObject, other: LiveObject) -> set[str]:
        """Return the fields, except the name, in which an entry agrees with `live` but not with `other`."""
        name = declared_name(self.view, entry)
        own = names(name[0]) if name is not None else ()
        return {
            field
            for field, value in entry.fields.items()
            if field not in own and field in live.fields and field in other.fields
            if self.view.form(value) == self.view.form(live.fields[field])
            if self.view.form(value) != self.view.form(other.fields[field])
        }


def declared_name(view: NaturalKeys, entry: Entry) -> Name | None:
    """Return the first natural key that an entry declares, with its value."""
    for key in view.kind.identity:
        value = view.wanted(entry, key)
        if value is not None:
            return key, value
    return None


def _ask_about_swap(
    view: NaturalKeys, recognized: Mapping[Address, Recognized], address: Address, other: Address,
    circle: Sequence[Address],
) -> Diagnostic:  # fmt: skip
    """Ask whether the line of an entry was swapped with the lines of the other entries in `circle`."""
    entry, mine, theirs = recognized[address].entry, recognized[address].object, recognized[other].object
    name = declared_name(view, entry)
    assert name is not None
    key, _ = name
    noun = view.kind.noun
    message = (
        f'lines of the ids file may have been swapped: this entry has the id "{mine.id}", but the '
        f'{noun} "{theirs.id}", whose id is in the line of {other}, has the present or an earlier '
        f"{key_text(key)} of this entry"
    )
    swap_back = _swap_back_command(recognized, circle)
    hint = (
        f"if the lines are right, add {pin(mine.id, view.shared)}. If the lines were swapped, run {swap_back}"
    )
    return Diagnostic(
        "DP243", message, written(entry, key), str(address), hint,
        candidates=candidates(view.kind, entry, {mine.id: mine, theirs.id: theirs}),
        answers=(
            pinned(entry, mine.id, view.shared),
            WayOut(address=str(address), add=swap_back, means="the lines were swapped"),
        ),
    )  # fmt: skip


def _swap_back_command(recognized: Mapping[Address, Recognized], circle: Sequence[Address]) -> str:
    """Return the command that gives each swapped entry the id of the next one in the ids file."""
    pairs = zip(circle, (*circle[1:], circle[0]), strict=True)
    flags = (("--bind", f"{address}={recognized[other].object.id}") for address, other in pairs)
    return command("ids", *(word for flag in flags for word in flag))
