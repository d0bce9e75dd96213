"""Change values in the text of a YAML file, and keep every other character.

`YamlFile` finds the positions of values and returns `TextEdit`s, which `apply_edits` applies. A value on one
line is replaced in that line. Where entries are added to or removed from block lines, ruamel.yaml rewrites
these lines, and keeps their comments, anchors, quotes and order. `unfold_long_lines` then puts long new
lines into block style as a new import would. `insert_values` writes values into an overlay file, which may
not have the entry yet.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Container, Iterator
from collections.abc import Mapping as Mapping_
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any

import yaml
from msgspec import Struct

from dpsync.config.compose import ORGANIZATIONS_KEY, SINGLE_ORGANIZATION_KEY
from dpsync.config.yaml_reader import LINE_BREAK, decode, encode, read
from dpsync.importing.write_yaml import (
    MAX_LINE_CHARS,
    BlockMapping,
    ForeignAnchorError,
    block_lines,
    block_text,
    comparison_text,
    escape_variables,
    inline_or_none,
    on_one_line,
    replace_in_snippet,
    yaml_scalar,
)
from dpsync.kinds.kind import SingleEntry
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span, node_value

_COMMENT = re.compile("#.*")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def comments(text: str) -> Counter[str]:
    """Count the comments of a YAML text, so that an edit can check that none is lost.

    A comment is the text behind a # between two tokens. Not counted is a comment on the line on which a block
    of text begins (`key: | # comment`). Raises yaml.YAMLError for invalid YAML.
    """
    found: Counter[str] = Counter()
    at = 0
    for token in yaml.scan(text, _LOADER):
        found.update(_COMMENT.findall(text[at : token.start_mark.index]))
        at = max(at, token.end_mark.index)
    found.update(_COMMENT.findall(text[at:]))
    return found


_ANCHOR = re.compile(r"&\S+\s+")
_ALIAS = re.compile(r"\s*:\s*(\*[^\s,\]}]+)")


class UneditableError(Exception):
    """The reason why dpsync cannot write a value into a file."""


class ValueFromVariableError(UneditableError):
    """The value in the file comes from a variable, which only a person can decide to change."""


class EditChangesValueError(UneditableError):
    """The edited lines would not be read as the value."""


class TextEdit(Struct, frozen=True):
    """A new text for a range of characters."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: list[TextEdit]) -> str:
    """Return the text with all edits. Raises UneditableError if edits overlap."""
    end = len(text)
    for edit in sorted(edits, key=lambda item: (item.start, item.end), reverse=True):
        if edit.end > end:
            raise UneditableError("two changes would edit the same text")
        text = text[: edit.start] + edit.text + text[edit.end :]
        end = edit.start
    return text


class YamlFile:
    """The text of one file with the position of each key and value."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.line_end = "\r\n" if "\r\n" in text else "\n"
        self.starts = [0, *(found.end() for found in LINE_BREAK.finditer(text))]
        root, problems = read(text, name)
        if root is None or problems:
            raise UneditableError("dpsync cannot read the file")
        self.root = root

    def value_of(self, span: Span) -> tuple[Scalar | None, Node]:
        """Return the key at a position and its value. The key of a list item is None."""
        for key, value in _keys_and_values(self.root):
            if key is not None and key.span[1:] == span[1:]:
                return key, value
            if value.span[1:] == span[1:]:
                return None, value
        raise UneditableError("dpsync did not find the line of the value")

    def edits(self, key: Scalar | None, old: Node, value: Any) -> list[TextEdit]:
        """Return the smallest edits that replace a value. Raises UneditableError."""
        if key is not None and (alias := self.alias_range(key, old)):
            return [] if _has_value(old, value) else [TextEdit(*alias, on_one_line(value))]
        if _has_value(old, value):
            return []
        try:
            inner = self._nested_edits(old, value)
        except ValueFromVariableError:
            raise
        except UneditableError:
            inner = None
        if inner is not None:
            return inner
        if key is not None and not _same_shape(old, value) and (short := self._in_key_line(key, old, value)):
            return [short]
        try:
            return [self._replacement_edit(old, value)]
        except EditChangesValueError:
            short = self._in_key_line(key, old, value) if key is not None else None
            if short is None:
                raise
            return [short]

    def inline_edits(self, key: Scalar, old: Node, values: dict[str, Any]) -> list[TextEdit]:
        """Return the edits that put the words of a short form in place of one word and its value."""
        if values.keys() == {key.text}:
            return self.edits(key, old, values[key.text])
        (start, _), (_, end) = self.node_range(key), self.node_range(old)
        if "\n" in self.text[start:end].rstrip() or self.alias_range(key, old):
            raise UneditableError("the value in your file has several lines")
        _refuse_variables(old)
        written = on_one_line(values).removeprefix("{ ").removesuffix(" }")
        return [TextEdit(start, start + len(self.text[start:end].rstrip()), written)]

    def _nested_edits(self, old: Node, value: Any) -> list[TextEdit] | None:
        """Return the edits of nested values. Raises UneditableError if an entry is added or removed."""
        if isinstance(old, Mapping) and isinstance(value, dict) and set(old.keys()) == set(value):
            return [edit for name, item in old for edit in self.edits(name, item, value[name.text])]
        if isinstance(old, Sequence) and isinstance(value, list) and len(old) == len(value):
            pairs = zip(old, value, strict=True)
            return [edit for item, new in pairs for edit in self.edits(None, item, new)]
        return None

    def add_field_edits(
        self, entry: Span, name: str, value: Any, fields: set[str], shorthand: str | None = None
    ) -> list[TextEdit]:
        """Return the edits that add a field to an entry, after its last field on one line.

        `entry` is the position of the entry's key. `shorthand` is the field that a short form contains: `kim:
        read` becomes `kim: { role: read, sso: true }`.
        """
        mapping = self.mapping_of(entry)
        written = f"{yaml_scalar(name, key=True)}: {on_one_line(value)}"
        if mapping is None or not len(mapping):
            return self._expand_short_form(entry, shorthand, written)
        ends = [
            self.node_range(item)[1]
            for key, item in mapping
            if key.text in fields and isinstance(item, Scalar) and self._is_in_key_line(key, item)
        ]
        first, _ = next(iter(mapping))
        start, _ = self.node_range(first)
        flow = self.text[self.node_range(mapping)[0]] == "{"
        indent = self.line_end + " " * (first.span.column - 1)
        if not ends:
            return [TextEdit(start, start, written + (", " if flow else indent))]
        end = max(ends) if flow else self.end_of_line(max(ends))
        return [TextEdit(end, end, f", {written}" if flow else indent + written)]

    def add_block_edits(
        self, entry: Span, name: str, value: Any, beside: Container[str] = ()
    ) -> list[TextEdit] | None:
        """Return the edits that add a key at the end of a mapping in block style, otherwise None.

        `entry` is the position of the entry's key, as in `add_field_edits`. The keys in `beside` belong to
        something else: the new lines come after the last other key.
        """
        mapping = self.mapping_of(entry)
        if mapping is None or not len(mapping) or self.text[self.node_range(mapping)[0]] == "{":
            return None
        pairs = [pair for pair in mapping if pair[0].text not in beside]
        if not pairs:
            return None
        key, last = max(pairs, key=lambda pair: self.node_range(pair[0]))
        start, stop = self.node_range(last)
        if start < self.node_range(key)[0]:
            _, end = self.alias_range(key, last) or self.node_range(key)
        else:
            end = start + len(self.text[start:stop].rstrip())
        column = key.span.column - 1
        at = self._end_of_comments(self.end_of_line(end), column)
        lines = block_lines(BlockMapping({name: value}), " " * column)
        return [TextEdit(at, at, "".join(self.line_end + line for line in lines))]

    def _end_of_comments(self, at: int, column: int) -> int:
        """Return the end of the comments below a line that are indented more than the keys of a mapping."""
        while match := re.compile(rf"\r?\n {{{column + 1},}}#[^\r\n]*").match(self.text, at):
            at = match.end()
        return at

    def _expand_short_form(self, entry: Span, shorthand: str | None, written: str) -> list[TextEdit]:
        """Return the edits that make a mapping of a short form or of `{}`. Raises UneditableError."""
        key, value = self.value_of(entry)
        start, end = self.node_range(value)
        if isinstance(value, Mapping) and self.text[start:end].startswith("{"):
            return [TextEdit(start, end, f"{{ {written} }}")]
        short = isinstance(value, Scalar) and key is not None and self._is_in_key_line(key, value)
        if not short or shorthand is None or start == end:
            raise UneditableError(
                "the entry has the short form KEY: VALUE. Write the entry as "
                "KEY: { FIELD: VALUE }, and try again"
            )
        before = f"{{ {yaml_scalar(shorthand, key=True)}: "
        return [TextEdit(start, start, before), TextEdit(end, end, f", {written} }}")]

    def add_sibling_edit(self, sibling: Span, key: str, value: Any) -> TextEdit:
        """Return the edit that adds an entry to a mapping, after its last entry.

        `sibling` is the position of the key of any entry in the mapping.
        """
        mapping = next(
            (
                item
                for _, item in _keys_and_values(self.root)
                if isinstance(item, Mapping)
                and any(known_key.span[1:] == sibling[1:] for known_key, _ in item)
            ),
            None,
        )
        if mapping is None:
            raise UneditableError("dpsync did not find the other entries of the list")
        written = f"{yaml_scalar(key, key=True)}: {on_one_line(value)}"
        last_key, last = max(mapping, key=lambda pair: self.node_range(pair[0]))
        start, stop = self.node_range(last)
        if start < self.node_range(last_key)[0]:
            raise UneditableError("the last entry of the list is a YAML alias")
        end = start + len(self.text[start:stop].rstrip())
        if self.text[self.node_range(mapping)[0]] == "{":
            return TextEdit(end, end, f", {written}")
        at = self.end_of_line(end)
        indent = self.line_end + " " * (last_key.span.column - 1)
        return TextEdit(at, at, indent + written)

    def _is_in_key_line(self, key: Scalar, value: Scalar) -> bool:
        """Return whether a value is in the line of its key: neither below the key nor a YAML alias."""
        start, end = self.node_range(value)
        return start > self.node_range(key)[1] and "\n" not in self.text[self.node_range(key)[1] : end]

    def mapping_of(self, entry: Span) -> Mapping | None:
        """Return the mapping of an entry: the value of its key, or the node that contains the key."""
        for key, value in _keys_and_values(self.root):
            if key is not None and key.span[1:] == entry[1:]:
                return value if isinstance(value, Mapping) else None
            if isinstance(value, Mapping) and any(item.span[1:] == entry[1:] for _, item in value):
                return value
        return None

    def _in_key_line(self, key: Scalar, old: Node, value: Any) -> TextEdit | None:
        """Return the edit that replaces block lines by a value in the line of the key, if any."""
        (_, end), (start, stop) = self.node_range(key), self.node_range(old)
        between = self.text[end:start]
        if isinstance(old, Scalar) or "\n" not in between or between.strip() != ":":
            return None
        _refuse_variables(old)
        return TextEdit(end, start + len(self.text[start:stop].rstrip()), f": {on_one_line(value)}")

    def _replacement_edit(self, old: Node, value: Any) -> TextEdit:
        start, end = self.node_range(old)
        anchor = _ANCHOR.match(self.text, start)
        keep = anchor.end() if anchor else start
        _refuse_variables(old)
        if keep >= end:  # nothing stands there: an anchor at most
            return TextEdit(end, end, ("" if self.text[end - 1] == " " else " ") + on_one_line(value))
        one_line = "\n" not in self.text[start:end].rstrip("\r\n")
        in_block = isinstance(old, Mapping | Sequence) and self.text[keep] not in "{["
        if one_line and not in_block:
            return TextEdit(keep, end, self._in_old_style(old, self.text[keep:end], value))
        if isinstance(old, Scalar) and not isinstance(value, dict | list):
            return self._block_text_edit(keep, end, value)
        return self._merging_edit(start, end, value)

    def _in_old_style(self, old: Node, written: str, value: Any) -> str:
        """Return the new value in the style of the old value, with its quotes and spaces if possible."""
        if isinstance(old, Mapping) and isinstance(value, dict) and value:
            kept = {key.text: (self._source(key), item) for key, item in old}
            names = [*(name for name in kept if name in value), *(name for name in value if name not in kept)]
            parts = [
                f"{kept[name][0] if name in kept else yaml_scalar(name, key=True)}: "
                + (
                    self._part_in_old_style(kept[name][1], value[name])
                    if name in kept
                    else on_one_line(value[name])
                )
                for name in names
            ]
            space = " " if written[1:2] == " " else ""
            return f"{{{space}{', '.join(parts)}{space}}}"
        if isinstance(old, Sequence) and isinstance(value, list):
            known = {comparison_text(node_value(item)): self._source(item) for item in old}
            items = (known.get(comparison_text(escape_variables(item)), on_one_line(item)) for item in value)
            return f"[{', '.join(items)}]"
        return _with_quotes_of(written, value)

    def _part_in_old_style(self, old: Node, value: Any) -> str:
        source = self._source(old)
        return source if _has_value(old, value) else self._in_old_style(old, source, value)

    def _source(self, node: Node) -> str:
        start, end = self.node_range(node)
        return self.text[start:end]

    def alias_range(self, key: Scalar, old: Node) -> tuple[int, int] | None:
        """Return the range of the alias that is the value of a key; None if it is no alias."""
        if (old.span.line, old.span.column) > (key.span.line, key.span.column):
            return None
        _, end = self.node_range(key)
        found = _ALIAS.match(self.text, end)
        if found is None:
            raise UneditableError("dpsync did not find the YAML alias that stands for the value")
        return found.span(1)

    def node_range(self, node: Node) -> tuple[int, int]:
        """Return the offsets at which a node begins and ends."""
        span = node.span
        return self._offset(span.line, span.column), self._offset(span.end_line, span.end_column)

    def _offset(self, line: int, column: int) -> int:
        start = self.starts[line - 1] if line <= len(self.starts) else len(self.text)
        return min(start + column - 1, len(self.text))

    def end_of_line(self, at: int) -> int:
        """Return the offset at which the line of another offset ends."""
        found = LINE_BREAK.search(self.text, at)
        return found.start() if found else len(self.text)

    def _block_text_edit(self, start: int, end: int, value: Any) -> TextEdit:
        """Return the edit that replaces a text over several lines, with a block of lines if necessary."""
        end = start + len(self.text[start:end].rstrip())
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        indent = line.removesuffix(line.lstrip()) + "  "
        lines = value.split("\n") if isinstance(value, str) else []
        flat = (
            len(lines) < 2
            or "$" in value
            or any(text_line != text_line.rstrip() for text_line in lines)
            or not lines[0].strip()
        )
        if flat or lines[0].startswith(" ") or value.endswith("\n\n"):
            return TextEdit(start, end, yaml_scalar(value))
        head = "|" if value.endswith("\n") else "|-"
        body = value.removesuffix("\n").split("\n")
        return TextEdit(
            start,
            end,
            self.line_end.join([head, *(indent + text_line if text_line else "" for text_line in body)]),
        )

    def _merging_edit(self, start: int, end: int, value: Any) -> TextEdit:
        """Return the edit in which ruamel.yaml merges the value into the lines of a block collection."""
        begin = self.text.rfind("\n", 0, start) + 1
        before = self.text[begin:start]
        if before.strip():
            raise UneditableError("the value begins in the line of its key. Move the value to the next line")
        stop = start + len(self.text[start:end].rstrip())
        lines = self.text[begin:stop].splitlines()
        snippet = "\n".join(line.removeprefix(before) for line in lines) + "\n"
        if any(
            line.strip() and not line.startswith(before) and not line.lstrip().startswith("#")
            for line in lines
        ):
            raise UneditableError("dpsync does not understand the indentation of the value")
        try:
            merged_lines = replace_in_snippet(snippet, value).rstrip("\n").split("\n")
        except ForeignAnchorError:
            raise UneditableError("the value uses a YAML anchor from another part of the file") from None
        node, problems = read("\n".join(merged_lines), "made")
        if node is None or problems or not _has_value(node, value):
            raise EditChangesValueError("dpsync would read another value from the new lines")
        return TextEdit(
            begin, stop, self.line_end.join(before + line if line.strip() else line for line in merged_lines)
        )


def _keys_and_values(node: Node) -> Iterator[tuple[Scalar | None, Node]]:
    """Yield every value below a node with its key; items of lists have the key None."""
    waiting: deque[tuple[Scalar | None, Node]] = deque([(None, node)])
    while waiting:
        key, value = waiting.popleft()
        yield key, value
        if isinstance(value, Mapping):
            waiting += value.entries
        elif isinstance(value, Sequence):
            waiting += [(None, item) for item in value.items]


def _refuse_variables(node: Node) -> None:
    for _, item in _keys_and_values(node):
        if isinstance(item, Scalar) and isinstance(item.value, str) and "${" in item.value.replace("$$", ""):
            raise ValueFromVariableError(f"the value in your file comes from a variable ({item.text})")


def _same_shape(old: Node, value: Any) -> bool:
    """Return whether lines of the old value can become lines of the new value."""
    if isinstance(old, Mapping):
        return isinstance(value, dict) and bool(value)
    return isinstance(old, Sequence) and isinstance(value, list) and bool(value)


def _has_value(old: Node, value: Any) -> bool:
    return comparison_text(node_value(old)) == comparison_text(escape_variables(value))


def _with_quotes_of(old: str, value: Any) -> str:
    """Return the value with the kind of quotes that the old text has, if any."""
    written = on_one_line(value)
    if not isinstance(value, str) or written[0] == '"' or old[0] not in "\"'":
        return written
    return f'"{written}"' if old[0] == '"' else "'" + written.replace("'", "''") + "'"


def unfold_long_lines(before: str, after: str) -> str:
    """Return the edited text with long new lines in block style; only lines with new keys change.

    A line that was inserted gets the style of a new import. A line with additional keys keeps its flow style
    if it is short enough. A text that would change its meaning in block style stays as it is.
    """
    try:
        old, new = YamlFile(before, ""), YamlFile(after, "")
        lines = _lines_with_new_keys(old, new)
        made = apply_edits(after, list(_Unfolder(new, lines).edits(new.root)))
    except UneditableError:
        return after
    root, problems = read(made, "")
    same = (
        root is not None
        and not problems
        and comparison_text(node_value(root)) == comparison_text(node_value(new.root))
    )
    return made if same else after


def _lines_with_new_keys(old: YamlFile, new: YamlFile) -> dict[int, bool]:
    """Return the lines of the new text that have more keys than before, and whether the line is new."""
    before, after = old.text.splitlines(), new.text.splitlines()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    keys_before, keys_after = _keys_by_line(old.root), _keys_by_line(new.root)
    found: dict[int, bool] = {}
    for tag, i1, i2, j1, j2 in SequenceMatcher(
        None, before[same:], after[same:], autojunk=False
    ).get_opcodes():
        if tag not in ("insert", "replace"):
            continue
        for offset in range(j2 - j1):
            line, old_line = same + j1 + offset + 1, same + i1 + offset + 1
            is_new = i1 + offset >= i2
            if is_new or keys_after[line] > keys_before[old_line]:
                found[line] = is_new
    return found


def _keys_by_line(root: Node) -> Counter[int]:
    return Counter(key.span.line for key in _keys(root))


def _keys(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Mapping):
        for key, value in node:
            yield key
            yield from _keys(value)
    elif isinstance(node, Sequence):
        for item in node:
            yield from _keys(item)


class _Unfolder:
    """Puts flow mappings of the given lines into block style."""

    def __init__(self, document: YamlFile, lines: dict[int, bool]) -> None:
        self.document = document
        self.text = document.text
        self.lines = lines

    def edits(self, node: Node, key: Scalar | None = None, column: int = 0) -> Iterator[TextEdit]:
        """Yield the edits for a node in block style and for all nodes in it."""
        start, end = self.document.node_range(node)
        body = self._after_anchor(start)
        if isinstance(node, Mapping | Sequence) and self.text[body : body + 1] in ("{", "["):
            if edit := self._edit(node, key, column, start, end):
                yield edit
        elif isinstance(node, Mapping):
            for inner, value in node:
                if (
                    self.document.node_range(value)[0] >= self.document.node_range(inner)[1]
                ):  # not a YAML alias
                    yield from self.edits(value, inner, inner.span.column + 1)
        elif isinstance(node, Sequence):
            for item in node:
                yield from self.edits(item, None, item.span.column - 1)

    def _edit(
        self, node: Mapping | Sequence, key: Scalar | None, column: int, start: int, end: int
    ) -> TextEdit | None:
        line = node.span.line
        if line not in self.lines or not len(node) or "\n" in self.text[start:end]:
            return None
        begin = self.document.starts[line - 1]
        stop = self.document.end_of_line(end)
        fits = end - begin < MAX_LINE_CHARS and (
            inline_or_none(node_value(node)) is not None or not self.lines[line]
        )
        if fits or (key is not None and key.span.line != line):
            return None
        anchor = self.text[start : self._after_anchor(start)].rstrip()
        rest = self.text[end:stop].rstrip()
        lines = list(self._lines_inside(node, column))
        if key is None:
            if anchor:
                return None
            lines[0] = lines[0].lstrip() + rest
            return TextEdit(start, stop, self.document.line_end.join(lines))
        _, after_key = self.document.node_range(key)
        head = ":" + (f" {anchor}" if anchor else "") + rest
        return TextEdit(after_key, stop, self.document.line_end.join([head, *lines]))

    def _lines_inside(self, node: Mapping | Sequence, column: int) -> Iterator[str]:
        """Yield the lines of a flow collection in block style."""
        indent = " " * column
        if isinstance(node, Mapping):
            for key, value in node:
                yield from self._entry(
                    f"{indent}{self._source(key)}:", self._value(key, value), value, column
                )
            return
        last = -1
        for item in node:
            start, end = self.document.node_range(item)
            if start < last:
                raise UneditableError("an item of the list is a YAML alias")
            last = end
            first, *more = self._entry(f"{indent}-", self.text[start:end], item, column)
            if not first.endswith("-") or not more:
                yield from (first, *more)
            else:
                yield f"{indent}- {more[0].lstrip()}"
                yield from more[1:]

    def _entry(self, lead: str, source: str, node: Node, column: int) -> Iterator[str]:
        is_flow = isinstance(node, Mapping | Sequence) and source[:1] in ("{", "[") and len(node)
        if is_flow and (
            inline_or_none(node_value(node)) is None or len(lead) + len(source) >= MAX_LINE_CHARS
        ):
            assert isinstance(node, Mapping | Sequence)
            yield lead
            yield from self._lines_inside(node, column + 2)
            return
        text = node.value if isinstance(node, Scalar) and source.startswith('"') else None
        first, *more = (isinstance(text, str) and block_text(text, " " * (column + 2))) or [source]
        yield f"{lead} {first}".rstrip()
        yield from more

    def _value(self, key: Scalar, value: Node) -> str:
        """Return the source text of a value; for a YAML alias the text of the alias."""
        start, end = self.document.node_range(value)
        if start < self.document.node_range(key)[1]:
            start, end = self.document.alias_range(key, value) or (start, end)
        return self.text[start:end]

    def _source(self, node: Node) -> str:
        start, end = self.document.node_range(node)
        return self.text[start:end]

    def _after_anchor(self, start: int) -> int:
        anchor = _ANCHOR.match(self.text, start)
        return anchor.end() if anchor else start


class ListItem(Struct, frozen=True):
    """A step into a list: to the node with this key."""

    key: str


Step = str | ListItem


def steps_to(registry: Registry, resources: Mapping_[Address, Entry], resource: Entry) -> list[Step]:
    """Return the steps from the top of a file to an entry: keys of mappings, and nodes of lists."""
    kind = registry[resource.kind]
    if resource.parent is None:
        return [kind.key, resource.key]
    words = kind.key.split(".")
    if not isinstance(kind.shape, NodeShape):
        above = steps_to(registry, resources, resources[resource.parent])
        return [*above, *words] if isinstance(kind.shape, SingleEntry) else [*above, *words, resource.key]
    if resource.holder is not None:
        return [
            *steps_to(registry, resources, resources[resource.holder]),
            "children",
            ListItem(resource.key),
        ]
    return [*steps_to(registry, resources, resources[resource.parent]), *words, ListItem(resource.key)]


def insert_value(text: str, name: str, steps: list[Step], value: Any) -> str:
    """Return the text of a file with the value at the end of these steps. Raises UneditableError."""
    document = YamlFile(text, name)
    at: Node = document.root
    organization = at.get(SINGLE_ORGANIZATION_KEY) if isinstance(at, Mapping) else None
    if isinstance(organization, Scalar) and steps[:2] == [ORGANIZATIONS_KEY, organization.text]:
        steps = steps[2:]
    key: Scalar | None = None
    for done, step in enumerate(steps):
        child = _follow_step(at, step)
        if child is None:
            return _add_missing(document, key, at, steps[done:], value)
        key, at = child
    return apply_edits(text, document.edits(key, at, value))


def _follow_step(at: Node, step: Step) -> tuple[Scalar | None, Node] | None:
    if isinstance(step, ListItem):
        for item in at if isinstance(at, Sequence) else ():
            named = item.get("key") if isinstance(item, Mapping) else None
            if isinstance(named, Scalar) and named.text == step.key:
                return None, item
        return None
    pairs = at.entries if isinstance(at, Mapping) else ()
    return next(((key, node) for key, node in pairs if key.text == step), None)


def _add_missing(document: YamlFile, key: Scalar | None, at: Node, steps: list[Step], value: Any) -> str:
    """Return the text with the missing steps and the value added to the last existing node."""
    first, *rest = steps
    missing = value
    for step in reversed(rest):
        missing = {step: missing} if isinstance(step, str) else [_new_list_node(step, missing)]
    if isinstance(first, ListItem):
        if not isinstance(at, Sequence):
            raise UneditableError("the overlay file has no list for this entry of the navigation")
        nodes: Any = node_value(at)
        return apply_edits(document.text, document.edits(key, at, [*nodes, _new_list_node(first, missing)]))
    if not isinstance(at, Mapping):
        raise UneditableError(
            "the overlay file has the entry in the short form KEY: VALUE. Write the entry as "
            "KEY: { FIELD: VALUE }, and try again"
        )
    if not at.entries:
        return apply_edits(document.text, document.edits(key, at, {first: missing}))
    sibling, _ = next(iter(at))
    return apply_edits(document.text, [document.add_sibling_edit(sibling.span, first, missing)])


def _new_list_node(step: ListItem, inside: Any) -> dict[str, Any]:
    return {"key": step.key, **inside}


def insert_values(data: bytes, name: str, values: list[tuple[list[Step], Any]]) -> bytes:
    """Return the content of a file with all these values. Raises UneditableError."""
    before, _ = decode(data, name)
    text = before
    for steps, value in values:
        text = insert_value(text, name, steps, value)
    return encode(unfold_long_lines(before, text), data)
