"""What the ids file says: which live object each entry is. Ids only, nothing to compare with.

One section per platform and organization, one line per entry. A platform is named by its origin, a companion
by its world; an organization by its id there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpsync.model.address import Address
from dpsync.model.span import Span


@dataclass(frozen=True, slots=True)
class Line:
    """One entry and the live object that it is.

    `also` is the id of what the platform made along with it, or put out for it: a section's first site space,
    the space of a translation. `span` is where the line is written; None for one that is not in a file.
    """

    address: Address
    id: str
    also: str | None = None
    span: Span | None = field(default=None, compare=False)


Lines = Mapping[Address, Line]


@dataclass(frozen=True, slots=True)
class IdsFile:
    """All sections of an ids file: by platform, then by organization."""

    sections: Mapping[str, Mapping[str, Lines]] = field(default_factory=dict)

    def lines(self, platform: str, organization: str) -> Lines:
        """The lines of one organization; none where the file does not know it."""
        return self.sections.get(platform, {}).get(organization, {})


NO_IDS = IdsFile()
"""Nothing is recorded."""
