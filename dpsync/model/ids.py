"""Define the content of the ids file, its comparison with the platform, and its merge.

What the ids file says: which live object each entry is. Ids only, nothing to compare with.

One section per platform and organization, one line per entry. A platform is named by its origin, a companion
by its world; an organization by its id there. All values here are frozen: a change makes a new one.

The ids file held against a reading of the platform: what differs, as values.

Three ids files: what one apply changed since a commit, put onto what the branch says by now.

Lines that the apply did not touch stay as the branch has them. A line that both have changed differently
becomes what the apply has seen, and the other one is told; a line is removed only where it still says what
the apply has removed. So no line goes without being named. A mark (`kept`) changes no id on the branch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.model.address import Address
from dpsync.model.nodes import Span, WithSpan
from dpsync.model.text import UNSEEN


class RecordedLine(WithSpan, frozen=True, eq=False):
    """One entry and the live object that it is.

    `also` is the id of what the platform made along with it, or put out for it: a section's first site space,
    the space of a translation. `span` is where the line is written; None for one that is not in a file.
    `kept` marks a line without an entry: since the entry was removed, an apply has left the object alone.
    """

    address: Address
    id: str
    also: str | None = None
    span: Span | None = None
    kept: bool = False

    def names_same(self, other: RecordedLine | None) -> bool:
        """Return whether another line names the same ids, marked or not."""
        return other is not None and (self.id, self.also) == (other.id, other.also)


Lines = Mapping[Address, RecordedLine]

Edits = Mapping[tuple[str, Address], RecordedLine | None]
"""By organization (its id) and address: the line that the address has from now on; None: no line."""


LONGEST_ID: Final = 500
"""Characters."""
_NOT_IN_AN_ID: Final = re.compile(rf"[/\\{{}}{UNSEEN}]")


def is_id(text: str) -> bool:
    """Whether a line can hold it: an id is printable and has no blanks."""
    if len(text) > LONGEST_ID or not text.isprintable() or any(map(str.isspace, text)):
        return False
    return written_id_fault(text) is None


def id_fault(text: str) -> str | None:
    """Describe, for a message, why a text is not a valid id; None if it is valid.

    dpsync puts ids into URL paths, where dots, slashes and braces would change the path.
    """
    if not text:
        return "an empty text"
    if not text.strip("."):
        return "only dots"
    found = _NOT_IN_AN_ID.search(text)
    if found is None:
        return None
    return f'a text with "{found[0]}"' if found[0].isprintable() else "a text with an invisible character"


def written_id_fault(text: str) -> str | None:
    """Describe why an id in a file is invalid; it may have several parts: `figma/installations/i1`."""
    return next(filter(None, map(id_fault, text.split("/"))), None)


def is_path_id(text: str, segments: int = 1) -> bool:
    """Return whether an id is safe in a URL path and has exactly this number of segments."""
    return is_id(text) and text.count("/") == segments - 1


class IdsFile(Struct, frozen=True):
    """All sections of an ids file: by platform, then by organization."""

    sections: Mapping[str, Mapping[str, Lines]] = field(default_factory=dict)
    repeated: tuple[RecordedLine, ...] = ()
    """Lines that the text gives once more, with the same ids. They are left out when it is written."""

    def lines(self, platform: str, organization: str, key: str | None = None) -> Lines:
        """The lines of one organization; none where the file does not know it.

        `key` is the organization's key in the configuration, as it is now. It may have been another one when
        the file was written, and the section says whose lines they are: so every address begins with it.
        """
        found = self.sections.get(platform, {}).get(organization, {})
        return found if key is None else dict(_renamed(found, key))

    def edited(self, platform: str, edits: Edits) -> IdsFile:
        """With these lines in place of those that their addresses have.

        A line whose address begins with another key of the organization is a line of the same entry: it is
        replaced too, and the rest of that section takes over the present key.
        """
        present = {owner: at.first for (owner, at), line in edits.items() if line is not None}
        present = {owner: at.first for owner, at in edits} | present
        sections = {name: dict(section) for name, section in self.sections.items()}
        mine = sections.setdefault(platform, {})
        for organization, key in present.items():
            lines = dict(_renamed(mine.get(organization, {}), key))
            for (owner, address), line in edits.items():
                if owner != organization:
                    continue
                at = address if address.first == key else Address((key, *address.rest))
                if line is None:
                    lines.pop(at, None)
                else:
                    lines[at] = line if line.address == at else replace(line, address=at)
            mine[organization] = lines
        return IdsFile(_without_empty(sections))

    def replaced(self, platform: str, organization: str, lines: Lines) -> IdsFile:
        """With other lines for one whole organization."""
        sections = {name: dict(section) for name, section in self.sections.items()}
        sections.setdefault(platform, {})[organization] = lines
        return IdsFile(_without_empty(sections))


def _renamed(lines: Lines, key: str) -> Iterator[tuple[Address, RecordedLine]]:
    for address, line in lines.items():
        if address.first != key:
            address = Address((key, *address.rest))
            line = replace(line, address=address)
        yield address, line


def _without_empty(
    sections: Mapping[str, Mapping[str, Lines]],
) -> Mapping[str, Mapping[str, Lines]]:
    full = {
        platform: {organization: lines for organization, lines in section.items() if lines}
        for platform, section in sections.items()
    }
    return {platform: section for platform, section in full.items() if section}


NO_IDS = IdsFile()
"""Nothing is recorded."""


What = Literal["missing", "wrong", "gone", "moved", "no entry"]
"""missing: recognised, and without a line. wrong: recognised as another one than its line says. gone: what
the line names is not there, and no other one was recognised. moved: nothing declared has this address, and
what the line names was recognised under another one. no entry: nothing declared has this address."""


class Remark(Struct, frozen=True):
    """One address about which the two differ: `line` is what the file says, `found` what was recognised."""

    organization: str
    address: Address
    what: What
    line: RecordedLine | None = None
    found: RecordedLine | None = None


class IdsComparison(Struct, frozen=True):
    """What a reading says of an ids file. `count` is how many entries were recognised."""

    platform: str
    remarks: tuple[Remark, ...]
    count: int

    @property
    def edits(self) -> Edits:
        """The lines that the reading gives. One of a former key goes; what is not known stays."""
        return {
            (remark.organization, remark.address): remark.found
            for remark in self.remarks
            if remark.found is not None or remark.what == "moved"
        }

    @property
    def right(self) -> bool:
        """Whether nothing is missing, wrong, gone or moved. A line without an entry is none of it."""
        return all(remark.what == "no entry" for remark in self.remarks)


class LineChange(Struct, frozen=True):
    """One line that an apply has made, changed or removed; None: no line."""

    platform: str
    organization: str
    address: Address
    before: RecordedLine | None
    after: RecordedLine | None


class MergedIds(Struct, frozen=True):
    """What the branch's file is to say, and its lines about which the apply knew something else."""

    ids: IdsFile
    replaced: tuple[RecordedLine, ...] = ()
    """Lines of the branch that gave way to what the apply has seen."""
    kept: tuple[RecordedLine, ...] = ()
    """Lines of the branch that stay, although the apply has removed its own at their address."""


def line_changes(before: IdsFile, after: IdsFile) -> tuple[LineChange, ...]:
    """The lines that differ, by platform, organization and address. Addresses begin with the later key."""
    return tuple(_changes(before, after))


def _changes(before: IdsFile, after: IdsFile) -> Iterator[LineChange]:
    for platform, organization in sorted({*_sections(before), *_sections(after)}):
        new = after.lines(platform, organization)
        key = _key(new) or _key(before.lines(platform, organization))
        new, old = (file.lines(platform, organization, key) for file in (after, before))
        for address in sorted({*old, *new}):
            if old.get(address) != new.get(address):
                yield LineChange(platform, organization, address, old.get(address), new.get(address))


def merge_ids(before: IdsFile, after: IdsFile, present: IdsFile) -> MergedIds:
    """`present` with what changed from `before` to `after`."""
    merged = MergedIds(present)
    changes = groupby(_changes(before, after), key=lambda change: (change.platform, change.organization))
    for (platform, organization), found in changes:
        theirs = present.lines(platform, organization)
        # The key of the organization may be another one, too: where the branch has changed it, it stays.
        key = _key(theirs) if _key(theirs) != _key(before.lines(platform, organization)) else None
        merged = _merged(merged, platform, organization, key, list(found))
    return merged


def _merged(
    merged: MergedIds, platform: str, organization: str, key: str | None, changes: list[LineChange]
) -> MergedIds:
    """One section. `key` is how its addresses begin on the branch; None: as those of the changes."""
    key = key or changes[0].address.first
    theirs = merged.ids.lines(platform, organization, key)
    edits: dict[tuple[str, Address], RecordedLine | None] = {}
    replaced, kept = list(merged.replaced), list(merged.kept)
    for change in changes:
        at = Address((key, *change.address.rest))
        mine, old, new = theirs.get(at), _moved(change.before, at), _moved(change.after, at)
        marked = new is not None and new.names_same(old) and not new.names_same(mine)
        if mine == new or marked:
            continue
        if mine is not None and mine != old:
            if new is None:
                kept.append(mine)
                continue
            replaced.append(mine)
        edits[organization, at] = new
    return MergedIds(merged.ids.edited(platform, edits), tuple(replaced), tuple(kept))


def _moved(line: RecordedLine | None, address: Address) -> RecordedLine | None:
    return None if line is None else replace(line, address=address)


def _sections(ids: IdsFile) -> list[tuple[str, str]]:
    return [(platform, id) for platform, section in ids.sections.items() for id in section]


def _key(lines: Lines) -> str | None:
    return next((address.first for address in lines), None)
