"""What the ids file says: which live object each entry is. Ids only, nothing to compare with.

One section per platform and organization, one line per entry. A platform is named by its origin, a companion
by its world; an organization by its id there. All values here are frozen: a change makes a new one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.model.entries.address import Address
from dpsync.model.findings.span import Span, WithSpan
from dpsync.model.texts.characters import UNSEEN


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
