"""Three ids files: what one apply changed since a commit, put onto what the branch says by now.

Lines that the apply did not touch stay as the branch has them. A line that both have changed differently
becomes what the apply has seen, and the other one is told; a line is removed only where it still says what
the apply has removed. So no line goes without being named. A mark (`kept`) changes no id on the branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from dpsync.model.entries.address import Address
from dpsync.model.entries.ids import IdsFile, Lines, RecordedLine


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
