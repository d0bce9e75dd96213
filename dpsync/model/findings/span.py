"""Where something was written: a file and a range in it. Lines and columns start at 1."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A range in one file. `file` is relative to the project; columns count characters, the end excluded.

    A tuple, since a large configuration has hundreds of thousands of them.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
