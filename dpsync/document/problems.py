"""What has no counterpart on the other side, as values: nothing here is a sentence to be parsed."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Problem(Struct, frozen=True, order=True):
    """Markdown that no Document can hold. Lines and columns start at 1, within the Markdown text."""

    line: int
    column: int
    message: str
    hint: str


class Outside(Struct, frozen=True):
    """A node of a Document that Markdown cannot hold.

    `path` leads to it from the document (`nodes[2].nodes[0]`); `type` is its type, or its `object` when it
    has none.
    """

    path: str
    type: str
    message: str


class MarkdownError(ValueError):
    """All the problems of one Markdown text, in the order of their places."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__(self.problems)


class DocumentError(ValueError):
    """All the nodes of one Document that Markdown cannot hold, in the order of the document."""

    def __init__(self, problems: Iterable[Outside]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)
