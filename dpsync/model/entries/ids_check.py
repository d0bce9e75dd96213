"""The ids file held against a reading of the platform: what differs, as values."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from dpsync.model.entries.address import Address
from dpsync.model.entries.ids import Edits, RecordedLine

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
