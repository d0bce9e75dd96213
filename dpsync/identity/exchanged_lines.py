"""Lines of the ids file that contradict the names of their objects: an edit or a merge may have swapped them.

A line counts more than a name, and exchanging two names is ordinary work, in the files or by hand. Swapped
lines look alike. Three facts tell the two apart: the names that the entries had in earlier commits, the other
fields of the entries, and whether the lines are those of the git base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from dpsync.identity.natural_keys import Form, Index, Key, NaturalKeys, key_text, names, written
from dpsync.identity.questions import candidates, pin, pinned
from dpsync.identity.temporary_name import PREFIX
from dpsync.model.circles import circles
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Entry
from dpsync.model.entries.snapshot import LiveObject
from dpsync.model.findings.diagnostic import Diagnostic
from dpsync.model.findings.question import WayOut
from dpsync.model.texts.command import command

Name = tuple[Key, tuple[Form, ...]]
"""A natural key with its value."""
EarlierEntries = Callable[[Address], Iterator[Entry]]
"""The entries that earlier commits have at an address, the latest first."""


class Recognized(Struct, frozen=True):
    """An entry and the live object that it was recognized as."""

    entry: Entry
    object: LiveObject
    by_line: bool
    """Whether the entry's line of the ids file names the object."""
    unedited: bool
    """Whether the ids file of the git base has the same line."""

    @property
    def address(self) -> Address:
        return self.entry.address


def exchanged_lines(
    view: NaturalKeys, recognized: Sequence[Recognized], earlier: EarlierEntries
) -> Iterator[Diagnostic]:
    """Return a question for each entry whose line was probably exchanged with the lines of other entries.

    Such entries form a circle: each has the name of the object that the line of the next one names. Without
    earlier commits, a name that was just edited is unknown: then the circle may have a gap.
    """
    found = _Exchanges(view, {item.address: item for item in recognized}, earlier)
    for circle in found.circles():
        for address, after in zip(circle, (*circle[1:], circle[0]), strict=True):
            if found.recognized[address].by_line:
                yield _question(view, found.recognized, address, after, circle)


class _Exchanges:
    def __init__(
        self, view: NaturalKeys, recognized: Mapping[Address, Recognized], earlier: EarlierEntries
    ) -> None:
        self.view, self.recognized, self.earlier = view, recognized, earlier
        self._names = {address: declared_name(view, item.entry) for address, item in recognized.items()}
        self._index = Index(view, [item.object for item in recognized.values()])
        self._entry_of = {item.object.id: address for address, item in recognized.items()}

    def circles(self) -> Iterator[tuple[Address, ...]]:
        """Return each circle of entries whose lines may be exchanged."""
        following = {
            address: self._entry_of[bearer.id]
            for address, item in self.recognized.items()
            if (bearer := self._bearer(item)) is not None and bearer is not item.object
        }
        for circle in [*circles(following, following.get), *self._with_gap(following)]:
            if self._are_exchanged([self.recognized[address] for address in circle]):
                yield circle

    def _with_gap(self, following: Mapping[Address, Address]) -> Iterator[tuple[Address, Address]]:
        """Return pairs of entries of which only the first has the name of the other one's object."""
        for address, other in following.items():
            if other in following or self._has_own_name(self.recognized[other]):
                continue
            if not self._is_known(address) and not self._is_known(other):
                yield address, other

    def _is_known(self, address: Address) -> bool:
        """Whether an earlier commit has the entry."""
        return next(self.earlier(address), None) is not None

    def _has_own_name(self, item: Recognized) -> bool:
        """Whether the object has the name of its entry, or a name that an interrupted exchange gave it."""
        name = self._names[item.address]
        if name is None or self.view.has(item.object, *name):
            return True
        key, _ = name
        value = item.object.fields.get(key) if isinstance(key, str) else None
        return isinstance(value, str) and value.startswith(PREFIX)

    def _bearer(self, item: Recognized) -> LiveObject | None:
        """Return the object with the latest other name of an entry, or else with its present name.

        None if that is unclear. It is the entry's own object if only that has the present name.
        """
        now = self._names[item.address]
        if now is None:
            return None
        if self._has_own_name(item):
            return self._nearest(item, self._index.bearing(*now))
        before = (declared_name(self.view, entry) for entry in self.earlier(item.address))
        for name in (*(name for name in before if name not in (None, now)), now):
            bearing = self._index.bearing(*name) if name is not None else []
            if bearing:
                return self._nearest(item, bearing)
        return None

    def _nearest(self, item: Recognized, bearing: Sequence[LiveObject]) -> LiveObject | None:
        """Return the only one of these objects that an entry can mean; its fields decide between several."""
        if len(bearing) < 2:
            return next(iter(bearing), None)
        entry = next(self.earlier(item.address), item.entry)
        nearer = [
            other
            for other in bearing
            if other is not item.object
            and self._agreeing(entry, other, item.object)
            and not self._agreeing(entry, item.object, other)
        ]
        strangers = [other for other in nearer if not self._has_own_name(self._of(other))]
        found = strangers or nearer
        return found[0] if len(found) == 1 else None

    def _of(self, live: LiveObject) -> Recognized:
        return self.recognized[self._entry_of[live.id]]

    def _are_exchanged(self, circle: Sequence[Recognized]) -> bool:
        """Whether the lines of a circle may be exchanged, and not the names of its objects."""
        by_line, by_name = set[str](), set[str]()
        for item, after in zip(circle, (*circle[1:], circle[0]), strict=True):
            by_line |= self._agreeing(item.entry, item.object, after.object)
            by_name |= self._agreeing(item.entry, after.object, item.object)
        if by_line and not by_name:
            return False
        if all(self._is_known(item.address) for item in circle if item.by_line):
            return bool(by_name) or not all(item.unedited for item in circle)
        return bool(by_name) and not by_line

    def _agreeing(self, entry: Entry, live: LiveObject, other: LiveObject) -> set[str]:
        """Return the declared fields, except those of the name, that only the first of two objects has."""
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


def _question(
    view: NaturalKeys, recognized: Mapping[Address, Recognized], address: Address, other: Address,
    circle: Sequence[Address],
) -> Diagnostic:  # fmt: skip
    """Ask whether the lines of these entries are exchanged."""
    entry, mine, theirs = recognized[address].entry, recognized[address].object, recognized[other].object
    name = declared_name(view, entry)
    assert name is not None
    key, _ = name
    noun = view.kind.noun
    message = (
        f'its line in the ids file says "{mine.id}", but the {noun} "{theirs.id}", which is the line of '
        f"{other}, has the {key_text(key)} of this entry. The lines may have been exchanged"
    )
    right = _unexchanged(recognized, circle)
    hint = f"if they were: {right}; if they are right, add {pin(mine.id, view.shared)}"
    return Diagnostic(
        "DP243", message, written(entry, key), str(address), hint,
        candidates=candidates(view.kind, entry, {mine.id: mine, theirs.id: theirs}),
        answers=(
            pinned(entry, mine.id, view.shared),
            WayOut(address=str(address), add=right, means="the lines were exchanged"),
        ),
    )  # fmt: skip


def _unexchanged(recognized: Mapping[Address, Recognized], circle: Sequence[Address]) -> str:
    """Return the command that gives each entry of a circle the line of the next entry."""
    pairs = zip(circle, (*circle[1:], circle[0]), strict=True)
    flags = (("--bind", f"{address}={recognized[other].object.id}") for address, other in pairs)
    return command("ids", *(word for flag in flags for word in flag))
