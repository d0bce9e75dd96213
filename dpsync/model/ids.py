"""Define the content of the ids file, its comparison with the platform, and its merge.

The ids file says which live object each entry is: one section per platform and organization, one line per
entry. A platform is named by its origin (`https://api.acme.example`), a local server by its data
(`world-NAME`). `merge_ids` merges the changes of an apply into the ids file of a branch. Lines that the apply
did not change stay. If both have changed a line, the line of the apply wins, and the other one is reported. A
line is removed only if it still equals the line that the apply has removed, so no id is lost without being
reported.
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
from dpsync.model.text import INVISIBLE_CHARACTERS


class RecordedLine(WithSpan, frozen=True, eq=False):
    """One line of an ids file: the address of an entry, and the id of its live object.

    `second_id` is the id of an object that the platform created with it: the first site space of a section,
    or the space of a translation. `span` is the position of the line; None for a line that is not in a file.
    `kept` marks a line without an entry: after the entry was removed, an apply has kept the object.
    """

    address: Address
    id: str
    second_id: str | None = None
    span: Span | None = None
    kept: bool = False

    def has_same_ids(self, other: RecordedLine | None) -> bool:
        """Return whether another line names the same ids, marked or not."""
        return other is not None and (self.id, self.second_id) == (other.id, other.second_id)


LinesByAddress = Mapping[Address, RecordedLine]

IdsEdits = Mapping[tuple[str, Address], RecordedLine | None]
"""By organization (its id) and address: the line that the address has from now on; None: no line."""


MAX_ID_LENGTH: Final = 500
"""Characters."""
_FORBIDDEN_IN_ID: Final = re.compile(rf"[/\\{{}}{INVISIBLE_CHARACTERS}]")


def is_id(text: str) -> bool:
    """Return whether an ids line can hold this id: a printable text without blanks or reserved characters."""
    if len(text) > MAX_ID_LENGTH or not text.isprintable() or any(map(str.isspace, text)):
        return False
    return declared_id_problem(text) is None


def id_problem(text: str) -> str | None:
    """Describe, for a message, why a text is not a valid id; None if it is valid.

    dpsync puts ids into URL paths, where dots, slashes and braces would change the path.
    """
    if not text:
        return "an empty text"
    if not text.strip("."):
        return "only dots"
    match = _FORBIDDEN_IN_ID.search(text)
    if match is None:
        return None
    return f'a text with "{match[0]}"' if match[0].isprintable() else "a text with an invisible character"


def declared_id_problem(text: str) -> str | None:
    """Describe why an id in a file is invalid; it may have several parts: `figma/installations/i1`."""
    return next(filter(None, map(id_problem, text.split("/"))), None)


def is_path_id(text: str, segments: int = 1) -> bool:
    """Return whether an id is safe in a URL path and has exactly this number of segments between slashes."""
    return is_id(text) and text.count("/") == segments - 1


class IdsFile(Struct, frozen=True):
    """The content of an ids file: sections by platform, then by organization id."""

    sections: Mapping[str, Mapping[str, LinesByAddress]] = field(default_factory=dict)
    duplicate_lines: tuple[RecordedLine, ...] = ()
    """Lines that the text gives once more, with the same ids. They are left out when it is written."""

    def lines(self, platform: str, organization: str, key: str | None = None) -> LinesByAddress:
        """Return the lines of one organization; empty if the file has none.

        `key` is the present key of the organization in the configuration. The file may have been written with
        an earlier key; all returned addresses begin with the present one.
        """
        lines = self.sections.get(platform, {}).get(organization, {})
        return lines if key is None else dict(_with_organization_key(lines, key))

    def with_edits(self, platform: str, edits: IdsEdits) -> IdsFile:
        """Return the ids file with changed lines: `edits` maps (organization id, address) to the new line.

        The line None removes the line of the address. If edits use another key of the organization than the
        file, the key has changed: then all lines of the organization get the new key in their addresses.
        """
        current_keys = {
            id: address.organization_key for (id, address), line in edits.items() if line is not None
        }
        current_keys = {id: address.organization_key for id, address in edits} | current_keys
        sections = {name: dict(section) for name, section in self.sections.items()}
        organizations = sections.setdefault(platform, {})
        for organization, key in current_keys.items():
            lines = dict(_with_organization_key(organizations.get(organization, {}), key))
            for (edited_organization, address), line in edits.items():
                if edited_organization != organization:
                    continue
                current_address = (
                    address
                    if address.organization_key == key
                    else Address((key, *address.segments_in_organization))
                )
                if line is None:
                    lines.pop(current_address, None)
                else:
                    lines[current_address] = (
                        line if line.address == current_address else replace(line, address=current_address)
                    )
            organizations[organization] = lines
        return IdsFile(_without_empty(sections))

    def with_section(self, platform: str, organization: str, lines: LinesByAddress) -> IdsFile:
        """Return the ids file with all lines of one organization replaced."""
        sections = {name: dict(section) for name, section in self.sections.items()}
        sections.setdefault(platform, {})[organization] = lines
        return IdsFile(_without_empty(sections))


def _with_organization_key(lines: LinesByAddress, key: str) -> Iterator[tuple[Address, RecordedLine]]:
    """Yield the lines with addresses that begin with the present key of the organization."""
    for address, line in lines.items():
        if address.organization_key != key:
            address = Address((key, *address.segments_in_organization))
            line = replace(line, address=address)
        yield address, line


def _without_empty(
    sections: Mapping[str, Mapping[str, LinesByAddress]],
) -> Mapping[str, Mapping[str, LinesByAddress]]:
    """Return the sections without empty organizations and platforms."""
    nonempty_sections = {
        platform: {organization: lines for organization, lines in section.items() if lines}
        for platform, section in sections.items()
    }
    return {platform: section for platform, section in nonempty_sections.items() if section}


NO_IDS = IdsFile()
"""Nothing is recorded."""


RemarkKind = Literal["missing", "wrong", "gone", "moved", "no entry"]
"""missing: recognised, and without a line. wrong: recognised as another one than its line says. gone: what
the line names is not there, and no other one was recognised. moved: nothing declared has this address, and
what the line names was recognised under another one. no entry: nothing declared has this address."""


class LineDifference(Struct, frozen=True):
    """An address with different lines: `line` in the file, `live_line` from the recognized live object."""

    organization: str
    address: Address
    kind: RemarkKind
    line: RecordedLine | None = None
    live_line: RecordedLine | None = None


class IdsComparison(Struct, frozen=True):
    """The comparison of an ids file with the platform.

    `recognized_count` is the number of recognized entries.
    """

    platform: str
    differences: tuple[LineDifference, ...]
    recognized_count: int

    @property
    def edits(self) -> IdsEdits:
        """Return the edits after which the ids file agrees with the objects on GitBook.

        A line without a live object stays. A line whose object now has another address ("moved") is removed.
        """
        return {
            (remark.organization, remark.address): remark.live_line
            for remark in self.differences
            if remark.live_line is not None or remark.kind == "moved"
        }

    @property
    def is_up_to_date(self) -> bool:
        """Return whether no line is missing, wrong, gone or moved. Lines without an entry are allowed."""
        return all(remark.kind == "no entry" for remark in self.differences)


class LineChange(Struct, frozen=True):
    """A line that an apply has added, changed or removed. `before` or `after` is None for no line."""

    platform: str
    organization: str
    address: Address
    before: RecordedLine | None
    after: RecordedLine | None


class MergedIds(Struct, frozen=True):
    """The merged ids file, and the lines of the branch that differ from what the apply knew."""

    ids: IdsFile
    replaced_lines: tuple[RecordedLine, ...] = ()
    """Lines of the branch that gave way to what the apply has seen."""
    kept_lines: tuple[RecordedLine, ...] = ()
    """Lines of the branch that stay, although the apply has removed its own at their address."""


def line_changes(before: IdsFile, after: IdsFile) -> tuple[LineChange, ...]:
    """Return the lines that differ between two ids files, by platform, organization and address.

    If the key of an organization has changed, addresses begin with the later key.
    """
    return tuple(_iterate_changes(before, after))


def _iterate_changes(before: IdsFile, after: IdsFile) -> Iterator[LineChange]:
    """Yield the lines that differ between two ids files, sorted by platform, organization and address.

    If the key of an organization has changed, the lines are compared by addresses with the later key.
    """
    for platform, organization in sorted({*_sections(before), *_sections(after)}):
        new_lines = after.lines(platform, organization)
        key = _organization_key(new_lines) or _organization_key(before.lines(platform, organization))
        new_lines, old_lines = (file.lines(platform, organization, key) for file in (after, before))
        for address in sorted({*old_lines, *new_lines}):
            if old_lines.get(address) != new_lines.get(address):
                yield LineChange(
                    platform, organization, address, old_lines.get(address), new_lines.get(address)
                )


def merge_ids(before: IdsFile, after: IdsFile, current: IdsFile) -> MergedIds:
    """Return the ids file `current` of a git branch, merged with the changes that an apply made.

    The apply changed the ids file `before` to `after`, while others may have changed the branch. The rules
    are in the docstring of this module.
    """
    merged = MergedIds(current)
    changes = groupby(
        _iterate_changes(before, after), key=lambda change: (change.platform, change.organization)
    )
    for (platform, organization), section_changes in changes:
        branch_lines = current.lines(platform, organization)
        # If the branch has changed the key of the organization, the key of the branch stays.
        key = (
            _organization_key(branch_lines)
            if _organization_key(branch_lines) != _organization_key(before.lines(platform, organization))
            else None
        )
        merged = _merge_section(merged, platform, organization, key, list(section_changes))
    return merged


def _merge_section(
    merged: MergedIds, platform: str, organization: str, key: str | None, changes: list[LineChange]
) -> MergedIds:
    """Merge the changes that an apply made to the lines of one organization into the branch's ids file.

    If the branch changed the same line, an apply's new line replaces it, but a removal keeps it; a change of
    only the mark `kept` never replaces another id. `key` is the organization's key on the branch; None if it
    is the same as in the changes.
    """
    key = key or changes[0].address.organization_key
    branch_lines = merged.ids.lines(platform, organization, key)
    edits: dict[tuple[str, Address], RecordedLine | None] = {}
    replaced_lines, kept_lines = list(merged.replaced_lines), list(merged.kept_lines)
    for change in changes:
        address = Address((key, *change.address.segments_in_organization))
        branch_line, old_line, new_line = (
            branch_lines.get(address),
            _with_address(change.before, address),
            _with_address(change.after, address),
        )
        only_mark_changed = (
            new_line is not None
            and new_line.has_same_ids(old_line)
            and not new_line.has_same_ids(branch_line)
        )
        if branch_line == new_line or only_mark_changed:
            continue
        if branch_line is not None and branch_line != old_line:
            if new_line is None:
                kept_lines.append(branch_line)
                continue
            replaced_lines.append(branch_line)
        edits[organization, address] = new_line
    return MergedIds(merged.ids.with_edits(platform, edits), tuple(replaced_lines), tuple(kept_lines))


def _with_address(line: RecordedLine | None, address: Address) -> RecordedLine | None:
    """Return a line with another address; None for no line."""
    return None if line is None else replace(line, address=address)


def _sections(ids: IdsFile) -> list[tuple[str, str]]:
    """Return the platform and organization id of each section."""
    return [(platform, id) for platform, section in ids.sections.items() for id in section]


def _organization_key(lines: LinesByAddress) -> str | None:
    """Return the key of the organization in the addresses of a section; None for an empty section."""
    return next((address.organization_key for address in lines), None)
