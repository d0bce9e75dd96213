"""Format the white space of a YAML file, and change nothing else.

`format_yaml` uses two spaces per level, single spaces as separators, no spaces at line ends and at most one
empty line. Comments, quotes, key order, CRLF and flow style stay. The result is checked: it must have the
same characters apart from white space, and the same values.
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
from dpsync.model.nodes import node_value

_INDENT: Final = 2
_LINE_BREAK: Final = re.compile("\r\n?|\n")
_OPENING_TOKENS: Final = (yaml.FlowMappingStartToken, yaml.FlowSequenceStartToken)
_CLOSING_TOKENS: Final = (yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)
_DOCUMENT_TOKENS: Final = (yaml.DocumentStartToken, yaml.DocumentEndToken, yaml.DirectiveToken)


class NotFormattableError(Exception):
    """A text cannot be formatted without a change of its meaning. The message has the reason."""

    def __init__(self, why: str, code: str = SYNTAX) -> None:
        super().__init__(why)
        self.code = code


class _Level(Struct, frozen=True):
    """An open block collection: its column before and after formatting."""

    old_column: int
    new_column: int
    is_list: bool


class _Line(Struct):
    """A line with the tokens that begin there."""

    tokens: list[Any] = field(default_factory=list)
    continues: bool = False
    """Whether the line continues a text or a flow collection from above."""
    ends_in_text: bool = False
    """Whether the end of the line is inside a quoted text over several lines."""


def format_yaml(text: str, name: str = "") -> str:
    """Return the formatted text. Formatting the result again changes nothing.

    Raises NotFormattableError for invalid YAML, and for a text whose meaning would change.
    """
    with collector_paused():  # the scanner creates three objects per token
        return _format_and_check(text, name)


def _format_and_check(text: str, name: str) -> str:
    """Return the formatted text, and check that only white space changed. See `format_yaml`.

    Raises NotFormattableError if the text is not valid YAML, or if the result would have another meaning.
    """
    before, problems = read(text.encode("utf-8", "surrogatepass"), name)
    if problems:
        line = problems[0].span.line if problems[0].span else 1
        raise NotFormattableError(f"line {line}: {problems[0].message}", problems[0].code)
    if before is None:
        return text
    formatted = _YamlFormatter(text.removeprefix("\ufeff")).formatted()
    if formatted == text:
        return text
    after, problems = read(formatted.encode("utf-8", "surrogatepass"), name)
    same = (
        not problems
        and after is not None
        and _with_key_order(node_value(before)) == _with_key_order(node_value(after))
    )
    if not same or "".join(text.removeprefix("\ufeff").split()) != "".join(formatted.split()):
        raise NotFormattableError("dpsync cannot format the file without changing its meaning")
    return formatted


def _with_key_order(value: Any) -> Any:
    """Return a value for comparisons in which the order of keys and the types of values count."""
    if isinstance(value, dict):
        return [(key, _with_key_order(child)) for key, child in value.items()]
    return [_with_key_order(child) for child in value] if isinstance(value, list) else (type(value), value)


class _YamlFormatter:
    """Formats one text, line by line."""

    def __init__(self, text: str) -> None:
        """Split a YAML text into lines, and assign its tokens to them."""
        self.lines = _LINE_BREAK.split(text)
        self.line_end = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
        """The line end that most lines have; all lines get it."""
        self.lines_with_tokens = [_Line() for _ in range(len(self.lines) + 1)]
        self.mappings: set[tuple[int, int]] = set()
        """The line and column of the first key of each block mapping."""
        self.levels: list[_Level] = []
        self.shift = 0
        """The number of columns by which lines move that continue the present line."""
        self._assign_tokens("\n".join(self.lines))

    def _assign_tokens(self, text: str) -> None:
        """Assign the tokens to the lines where they begin, and mark lines that continue from above."""
        opening_lines: list[int] = []
        for token in yaml.scan(text, Loader=yaml.CLoader):
            start, end = token.start_mark, token.end_mark
            if isinstance(token, yaml.BlockMappingStartToken):
                self.mappings.add((start.line, start.column))
            if start.index == end.index:
                continue
            self.lines_with_tokens[start.line].tokens.append(token)
            if isinstance(token, _OPENING_TOKENS):
                opening_lines.append(start.line)
            elif isinstance(token, _CLOSING_TOKENS):
                first = opening_lines.pop()
                if not opening_lines:
                    self._mark_continued(first, end.line)
            elif isinstance(token, yaml.ScalarToken):
                last = end.line if end.column or end.line == start.line else end.line - 1
                self._mark_continued(start.line, last)
                if last > start.line and token.style in ("'", '"'):
                    self.lines_with_tokens[start.line].ends_in_text = True

    def _mark_continued(self, first: int, last: int) -> None:
        """Mark the lines after the first one, up to the last one, as continuing from above."""
        for number in range(first + 1, last + 1):
            self.lines_with_tokens[number].continues = True

    def formatted(self) -> str:
        """Return the whole text, formatted."""
        lines = [self._format_line(number, line) for number, line in enumerate(self.lines)]
        text = "\n".join(self._without_extra_empty_lines(lines)).rstrip("\n")
        return self.line_end.join([*text.split("\n"), ""])

    @cached_property
    def _next_token_lines(self) -> list[int]:
        """Return for each line the number of the next line that begins with its own token."""
        numbers, next_line = list[int](), len(self.lines)
        for number in reversed(range(len(self.lines))):
            numbers.append(next_line)
            line = self.lines_with_tokens[number]
            next_line = number if line.tokens and not line.continues else next_line
        numbers.reverse()
        return numbers

    def _format_line(self, number: int, line: str) -> str:
        """Return a line with its new indentation and normal spaces between tokens.

        A line that continues a text or a flow collection moves with its first line.
        """
        line_tokens = self.lines_with_tokens[number]
        if line_tokens.continues:
            blanks = len(line) - len(line.lstrip(" "))
            return " " * max(0, blanks + self.shift) + line[blanks:]
        if not line.strip():
            return ""
        if not line_tokens.tokens:
            return " " * self._comment_column(number, line) + line.strip()
        column = self._open_levels(number, line_tokens.tokens)
        formatted = " " * column + _with_normal_spaces(line, line_tokens.tokens)
        return formatted if line_tokens.ends_in_text else formatted.rstrip()

    def _open_levels(self, number: int, tokens: list[Any]) -> int:
        """Open and close lists and mappings as this line requires, and return the new column of the line.

        `tokens` are the tokens that begin on the line. Each `- ` opens a list, and a key opens a mapping.
        `self.shift` becomes the number of columns by which the line moves.
        """
        if isinstance(tokens[0], _DOCUMENT_TOKENS):
            self.levels.clear()
            return 0
        first_column: int | None = None
        index = 0
        while index < len(tokens) and isinstance(tokens[index], yaml.BlockEntryToken):
            level = self._level_at(tokens[index].start_mark.column, is_list=True)
            first_column = level.new_column if first_column is None else first_column
            index += 1
        self.shift = self.levels[-1].new_column - self.levels[-1].old_column if self.levels else 0
        if index == len(tokens):
            return first_column or 0
        column = tokens[index].start_mark.column
        is_further_key = any(level.old_column == column and not level.is_list for level in self.levels)
        if (number, column) in self.mappings or is_further_key:
            level = self._level_at(column, is_list=False)
            self.shift = level.new_column - level.old_column
            return level.new_column if first_column is None else first_column
        if first_column is not None:
            return first_column
        self._close_deeper_levels(column)
        new_column = self.levels[-1].new_column + _INDENT if self.levels else 0
        self.shift = new_column - column
        return new_column

    def _close_deeper_levels(self, column: int) -> None:
        """Remove the open collections that begin right of a column, because a line there ends them."""
        while self.levels and self.levels[-1].old_column > column:
            self.levels.pop()

    def _level_at(self, column: int, is_list: bool) -> _Level:
        """Return the open list or mapping at a column before formatting; open it if necessary."""
        self._close_deeper_levels(column)
        if self.levels and self.levels[-1].old_column == column:
            if self.levels[-1].is_list == is_list:
                return self.levels[-1]
            if not is_list:  # a list may have the same column as its key; the next key ends the list
                self.levels.pop()
                if self.levels and self.levels[-1].old_column == column:
                    return self.levels[-1]
        new_column = self.levels[-1].new_column + _INDENT if self.levels else 0
        self.levels.append(_Level(column, new_column, is_list))
        return self.levels[-1]

    def _comment_column(self, number: int, line: str) -> int:
        """Return the new column of a comment line.

        A comment with the column of the next line moves with that line, otherwise with the collection around.
        """
        column = len(line) - len(line.lstrip())
        following = self._next_token_lines[number]
        tokens = self.lines_with_tokens[following].tokens
        if tokens and tokens[0].start_mark.column == column:
            levels, shift = [*self.levels], self.shift
            new_column = self._open_levels(following, tokens)
            self.levels, self.shift = levels, shift
            return new_column
        for level in reversed(self.levels):
            if level.old_column <= column:
                return level.new_column + column - level.old_column
        return 0

    def _without_extra_empty_lines(self, lines: list[str]) -> Iterator[str]:
        """Yield the lines without empty lines at the top, and without a second empty line in a row.

        Empty lines inside a text of several lines are kept, because they belong to its value.
        """
        in_text, empty = False, True
        for number, line in enumerate(lines):
            if line or self.lines_with_tokens[number].continues:
                in_text, empty = self.lines_with_tokens[number].continues, False
                yield line
            elif in_text or not empty:
                empty = True
                yield line


def _with_normal_spaces(line: str, tokens: list[Any]) -> str:
    """Return a line from its first token on, with one or no space between tokens."""
    parts: list[str] = []
    for token, next_token in pairwise(tokens):
        start, end = token.start_mark, token.end_mark
        parts.append(line[start.column : end.column])
        between = line[end.column : next_token.start_mark.column]
        parts.append(between if between.strip() else _spaces_between(token, next_token, between))
    return "".join(parts) + line[tokens[-1].start_mark.column :]


def _spaces_between(token: Any, next_token: Any, present: str) -> str:
    """Return the spaces between two tokens of a line; `present` are the spaces before formatting."""
    if isinstance(token, yaml.ValueToken):
        return present if isinstance(next_token, (yaml.FlowEntryToken, *_CLOSING_TOKENS)) else " "
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
