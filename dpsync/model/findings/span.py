"""Where something was written: a file and a range in it. Lines and columns start at 1."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct


class Span(NamedTuple):
    """A range in one file. `file` is relative to the project; columns count characters, the end excluded.

    A tuple, since a large configuration has hundreds of thousands of them.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def start_of(cls, file: str) -> Span:
        """Where a file begins: for what is about a whole file, or stands in none (then `file` says what)."""
        return cls(file, 1, 1, 1, 1)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class WithSpan(Struct, frozen=True, eq=False):
    """The base of values with a `span`: two are equal when the rest of them is, wherever it is written."""

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name != "span")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._compared() == other._compared()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._compared())
