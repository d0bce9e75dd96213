"""Format the white space of a YAML file, and change nothing else.

`tidy` uses two spaces per level, single spaces as separators, no spaces at line ends and at most one empty
line. Comments, quotes, key order, CRLF and flow style stay. The result is checked: it must have the same
characters apart from white space, and the same values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import yaml
from msgspec import Struct, field

from dpsync.collector import collector_paused
from dpsync.config.codes import SYNTAX
from dpsync.config.yaml_reader import read
from dpsync.model.nodes import plain

_STEP: Final = 2
_BREAK: Final = re.compile("\r\n?|\n")
_OPEN: Final = (yaml.FlowMappingStartToken, yaml.FlowSequenceStartToken)
_CLOSE: Final = (yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)
_OF_DOCUMENTS: Final = (yaml.DocumentStartToken, yaml.DocumentEndToken, yaml.DirectiveToken)


class Untidy(Exception):
    """A text cannot be formatted without a change of its meaning. The message has the reason."""

    def __init__(self, why: str, code: str = SYNTAX) -> None:
        super().__init__(why)
        self.code = code


class _Level(Struct, frozen=True):
    """An open block collection: its column before and after formatting."""

    before: int
    after: int
    is_list: bool


class _Line(Struct):
    """A line with the tokens that begin there, and whether it continues a text or collection from above."""

    tokens: list[Any] = field(default_factory=list)
    continues: bool = False
    """Whether the line continues a text or a flow collection from above."""
    ends_in_text: bool = False
    """Whether the end of the line is inside a quoted text over several lines."""


def tidy(text: str, name: str = "") -> str:
    """Return the formatted text. Formatting the result again changes nothing.

    Raises Untidy for invalid YAML, and for a text whose meaning would change.
    """
    with collector_paused():  # each token is a value, and its two marks are others
        return _checked(text, name)


def _checked(text: str, name: str) -> str:
    before, problems = read(text.encode("utf-8", "surrogatepass"), name)
    if problems:
        line = problems[0].span.line if problems[0].span else 1
        raise Untidy(f"line {line}: {problems[0].message}", problems[0].code)
    if before is None:
        return text
    made = _TidyText(text.removeprefix("\ufeff")).tidied()
    if made == text:
        return text
    after, problems = read(made.encode("utf-8", "surrogatepass"), name)
    same = (
        not problems and after is not None and _with_key_order(plain(before)) == _with_key_order(plain(after))
    )
    if not same or "".join(text.removeprefix("\ufeff").split()) != "".join(made.split()):
        raise Untidy("dpsync cannot format the file without changing its meaning")
    return made


def _with_key_order(value: Any) -> Any:
    """Return a value for comparisons in which the order of keys and the types of values count."""
    if isinstance(value, dict):
        return [(key, _with_key_order(item)) for key, item in value.items()]
    return [_with_key_order(item) for item in value] if isinstance(value, list) else (type(value), value)


class _TidyText:
    """Formats one text, line by line."""

    def __init__(self, text: str) -> None:
        self.lines = _BREAK.split(text)
        self.end = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
        """The line end that most lines have; all lines get it."""
        self.known = [_Line() for _ in range(len(self.lines) + 1)]
        self.mappings: set[tuple[int, int]] = set()
        """The line and column of the first key of each block mapping."""
        self.levels: list[_Level] = []
        self.shift = 0
        """The number of columns by which lines move that continue the present line."""
        self._scan("\n".join(self.lines))

    def _scan(self, text: str) -> None:
        opened: list[int] = []
        for token in yaml.scan(text, Loader=yaml.CLoader):
            start, end = token.start_mark, token.end_mark
            if isinstance(token, yaml.BlockMappingStartToken):
                self.mappings.add((start.line, start.column))
            if start.index == end.index:
                continue
            self.known[start.line].tokens.append(token)
            if isinstance(token, _OPEN):
                opened.append(start.line)
            elif isinstance(token, _CLOSE):
                first = opened.pop()
                if not opened:
                    self._mark_continued(first, end.line)
            elif isinstance(token, yaml.ScalarToken):
                last = end.line if end.column or end.line == start.line else end.line - 1
                self._mark_continued(start.line, last)
                if last > start.line and token.style in ("'", '"'):
                    self.known[start.line].ends_in_text = True

    def _mark_continued(self, first: int, last: int) -> None:
        for number in range(first + 1, last + 1):
            self.known[number].continues = True

    def tidied(self) -> str:
        """Return the whole text, formatted."""
        lines = [self._line(number, line) for number, line in enumerate(self.lines)]
        return self.end.join([*"\n".join(self._without_holes(lines)).rstrip("\n").split("\n"), ""])

    @cached_property
    def _next_token_lines(self) -> list[int]:
        """Return for each line the number of the next line that begins with its own token."""
        found, following = list[int](), len(self.lines)
        for number in reversed(range(len(self.lines))):
            found.append(following)
            at = self.known[number]
            following = number if at.tokens and not at.continues else following
        found.reverse()
        return found

    def _line(self, number: int, line: str) -> str:
        at = self.known[number]
        if at.continues:
            return self._moved(line)
        if not line.strip():
            return ""
        if not at.tokens:
            return " " * self._column_of_comment(number, line) + line.strip()
        column = self._open_levels(number, at.tokens)
        made = " " * column + _spaced(line, at.tokens)
        return made if at.ends_in_text else made.rstrip()

    def _moved(self, line: str) -> str:
        blanks = len(line) - len(line.lstrip(" "))
        return " " * max(0, blanks + self.shift) + line[blanks:]

    def _open_levels(self, number: int, tokens: list[Any]) -> int:
        """Open and close collections as this line requires, and return the new column of the line."""
        if isinstance(tokens[0], _OF_DOCUMENTS):
            self.levels.clear()
            return 0
        first: int | None = None
        at = 0
        while at < len(tokens) and isinstance(tokens[at], yaml.BlockEntryToken):
            level = self._level(tokens[at].start_mark.column, is_list=True)
            first = level.after if first is None else first
            at += 1
        self.shift = self.levels[-1].after - self.levels[-1].before if self.levels else 0
        if at == len(tokens):
            return first or 0
        column = tokens[at].start_mark.column
        if (number, column) in self.mappings or self._is_key(column):
            level = self._level(column, is_list=False)
            self.shift = level.after - level.before
            return level.after if first is None else first
        if first is not None:
            return first
        self._close(column)
        alone = self.levels[-1].after + _STEP if self.levels else 0
        self.shift = alone - column
        return alone

    def _is_key(self, column: int) -> bool:
        """Return whether a further key of an open mapping is at this column."""
        return any(level.before == column and not level.is_list for level in self.levels)

    def _close(self, column: int) -> None:
        while self.levels and self.levels[-1].before > column:
            self.levels.pop()

    def _level(self, column: int, is_list: bool) -> _Level:
        """Return the collection at this column, which is opened if necessary."""
        self._close(column)
        if self.levels and self.levels[-1].before == column:
            if self.levels[-1].is_list == is_list:
                return self.levels[-1]
            if not is_list:  # a list at the column of the key that it belongs to has ended
                self.levels.pop()
                if self.levels and self.levels[-1].before == column:
                    return self.levels[-1]
        after = self.levels[-1].after + _STEP if self.levels else 0
        self.levels.append(_Level(column, after, is_list))
        return self.levels[-1]

    def _column_of_comment(self, number: int, line: str) -> int:
        """Return the column of a comment line: that of the next line, else that of the open collection."""
        column = len(line) - len(line.lstrip())
        following = self._next_token_lines[number]
        tokens = self.known[following].tokens
        if tokens and tokens[0].start_mark.column == column:
            levels, shift = [*self.levels], self.shift
            found = self._open_levels(following, tokens)
            self.levels, self.shift = levels, shift
            return found
        for level in reversed(self.levels):
            if level.before <= column:
                return level.after + column - level.before
        return 0

    def _without_holes(self, made: list[str]) -> Iterator[str]:
        """Return the lines without empty lines at the top, and without repeated empty lines."""
        in_text, empty = False, True
        for number, line in enumerate(made):
            if line or self.known[number].continues:
                in_text, empty = self.known[number].continues, False
                yield line
            elif in_text or not empty:
                empty = True
                yield line


def _spaced(line: str, tokens: list[Any]) -> str:
    """Return a line from its first token on, with one or no space between tokens."""
    parts: list[str] = []
    for token, next_token in pairwise(tokens):
        start, end = token.start_mark, token.end_mark
        parts.append(line[start.column : end.column])
        between = line[end.column : next_token.start_mark.column]
        parts.append(between if between.strip() else _between(token, next_token, between))
    return "".join(parts) + line[tokens[-1].start_mark.column :]


def _between(token: Any, next_token: Any, present: str) -> str:
    """Return the spaces between two tokens of a line."""
    if isinstance(token, yaml.ValueToken):
        return present if isinstance(next_token, (yaml.FlowEntryToken, *_CLOSE)) else " "
    if isinstance(next_token, yaml.ValueToken):
        return " " if isinstance(token, yaml.AliasToken) else ""
    if isinstance(token, yaml.FlowMappingStartToken):
        return "" if isinstance(next_token, yaml.FlowMappingEndToken) else " "
    if isinstance(token, yaml.FlowSequenceStartToken) or isinstance(next_token, yaml.FlowSequenceEndToken):
        return ""
    if isinstance(next_token, yaml.FlowEntryToken):
        return ""
    if isinstance(next_token, yaml.FlowMappingEndToken) or isinstance(
        token, yaml.BlockEntryToken | yaml.FlowEntryToken | yaml.AnchorToken | yaml.TagToken
    ):
        return " "
    return present
