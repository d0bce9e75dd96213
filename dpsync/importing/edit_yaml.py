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
    """Count how often each comment occurs in a YAML text, so that an edit can check that none is lost.

    A comment is the text behind a # between two tokens. Not counted is a comment on the line on which a block
    of text begins (`key: | # comment`). Raises yaml.YAMLError for invalid YAML.
    """
    counts: Counter[str] = Counter()
    position = 0
    for token in yaml.scan(text, _LOADER):
        counts.update(_COMMENT.findall(text[position : token.start_mark.index]))
        position = max(position, token.end_mark.index)
    counts.update(_COMMENT.findall(text[position:]))
    return counts


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
    for edit in sorted(edits, key=lambda change: (change.start, change.end), reverse=True):
        if edit.end > end:
            raise UneditableError("two changes would edit the same text")
        text = text[: edit.start] + edit.text + text[edit.end :]
        end = edit.start
    return text


class YamlFile:
    """The text of one file with the position of each key and value."""

    def __init__(self, text: str, name: str) -> None:
        """Parse the text of a YAML file. Raises UneditableError if it is empty or invalid."""
        self.text = text
        self.line_end = "\r\n" if "\r\n" in text else "\n"
        self.starts = [0, *(line_break.end() for line_break in LINE_BREAK.finditer(text))]
        root, problems = read(text, name)
        if root is None or problems:
            raise UneditableError("dpsync cannot read the file")
        self.root = root

    def value_of(self, span: Span) -> tuple[Scalar | None, Node]:
        """Return the key and the value at a position in the file; the key of a list item is None.

        The position is that of the key, or of a list item. Raises UneditableError if there is no node.
        """
        for key, value in _keys_and_values(self.root):
            if key is not None and key.span[1:] == span[1:]:
                return key, value
            if value.span[1:] == span[1:]:
                return None, value
        raise UneditableError("dpsync did not find the line of the value")

    def edits(self, key: Scalar | None, old: Node, value: Any) -> list[TextEdit]:
        """Return the smallest edits that replace the value `old` of a key by the YAML data `value`.

        Nested values are edited one by one if no entry is added or removed; otherwise the whole value is
        replaced. Raises UneditableError if the edits would be read as another value, or if the value comes
        from a variable.
        """
        if key is not None and (alias := self.alias_range(key, old)):
            return [] if _has_value(old, value) else [TextEdit(*alias, on_one_line(value))]
        if _has_value(old, value):
            return []
        try:
            if isinstance(old, Mapping) and isinstance(value, dict) and set(old.keys()) == set(value):
                return [edit for name, node in old for edit in self.edits(name, node, value[name.text])]
            if isinstance(old, Sequence) and isinstance(value, list) and len(old) == len(value):
                pairs = zip(old, value, strict=True)
                return [edit for node, new in pairs for edit in self.edits(None, node, new)]
        except ValueFromVariableError:
            raise
        except UneditableError:
            pass  # replace the whole value
        if isinstance(old, Mapping):
            stays_a_collection = isinstance(value, dict) and bool(value)
        else:
            stays_a_collection = isinstance(old, Sequence) and isinstance(value, list) and bool(value)
        if key is not None and not stays_a_collection and (short := self._edit_in_key_line(key, old, value)):
            return [short]
        try:
            return [self._replacement_edit(old, value)]
        except EditChangesValueError:
            short = self._edit_in_key_line(key, old, value) if key is not None else None
            if short is None:
                raise
            return [short]

    def inline_edits(self, key: Scalar, old: Node, values: dict[str, Any]) -> list[TextEdit]:
        """Return the edits that replace one key and its value by other entries in the same line.

        Some fields have several short forms with keys of their own: `key` is one of them, and `values` has
        the new keys and values. Raises UneditableError for a value over several lines.
        """
        if values.keys() == {key.text}:
            return self.edits(key, old, values[key.text])
        (start, _), (_, end) = self.node_range(key), self.node_range(old)
        if "\n" in self.text[start:end].rstrip() or self.alias_range(key, old):
            raise UneditableError("the value in your file has several lines")
        _refuse_variables(old)
        flow_entries = on_one_line(values).removeprefix("{ ").removesuffix(" }")
        return [TextEdit(start, start + len(self.text[start:end].rstrip()), flow_entries)]

    def add_field_edits(
        self, entry: Span, name: str, value: Any, fields: set[str], shorthand: str | None = None
    ) -> list[TextEdit]:
        """Return the edits that add a field to an entry, after its last field on one line.

        `entry` is the position of the entry's key. `shorthand` is the field that a short form contains: `kim:
        read` becomes `kim: { role: read, sso: true }`.
        """
        mapping = self.mapping_of(entry)
        entry_text = f"{yaml_scalar(name, key=True)}: {on_one_line(value)}"
        if mapping is None or not len(mapping):
            return self._expand_short_form(entry, shorthand, entry_text)
        ends = [
            self.node_range(value_node)[1]
            for key, value_node in mapping
            if key.text in fields and isinstance(value_node, Scalar) and self._is_in_key_line(key, value_node)
        ]
        first, _ = next(iter(mapping))
        start, _ = self.node_range(first)
        flow = self.text[self.node_range(mapping)[0]] == "{"
        indent = self.line_end + " " * (first.span.column - 1)
        if not ends:
            return [TextEdit(start, start, entry_text + (", " if flow else indent))]
        end = max(ends) if flow else self.end_of_line(max(ends))
        return [TextEdit(end, end, f", {entry_text}" if flow else indent + entry_text)]

    def add_block_edits(
        self, entry: Span, name: str, value: Any, excluded_keys: Container[str] = ()
    ) -> list[TextEdit] | None:
        """Return the edits that add a key at the end of a mapping in block style, otherwise None.

        `entry` is the position of the entry's key, as in `add_field_edits`. The keys in `excluded_keys`
        belong to something else, such as a tree: the new lines come after the last other key.
        """
        mapping = self.mapping_of(entry)
        if mapping is None or not len(mapping) or self.text[self.node_range(mapping)[0]] == "{":
            return None
        pairs = [pair for pair in mapping if pair[0].text not in excluded_keys]
        if not pairs:
            return None
        key, last = max(pairs, key=lambda pair: self.node_range(pair[0]))
        start, stop = self.node_range(last)
        if start < self.node_range(key)[0]:
            _, end = self.alias_range(key, last) or self.node_range(key)
        else:
            end = start + len(self.text[start:stop].rstrip())
        column = key.span.column - 1
        # The new lines come after comments below the last value that are indented more than the keys.
        insert_position = self.end_of_line(end)
        deeper_comment = re.compile(rf"\r?\n {{{column + 1},}}#[^\r\n]*")
        while match := deeper_comment.match(self.text, insert_position):
            insert_position = match.end()
        lines = block_lines(BlockMapping({name: value}), " " * column)
        return [TextEdit(insert_position, insert_position, "".join(self.line_end + line for line in lines))]

    def _expand_short_form(self, entry: Span, shorthand: str | None, entry_text: str) -> list[TextEdit]:
        """Return the edits that replace a short form or `{}` by a mapping with one more entry.

        `kim: read` becomes `kim: { role: read, ENTRY_TEXT }` if `shorthand` is "role".

        Raises UneditableError.
        """
        key, value = self.value_of(entry)
        start, end = self.node_range(value)
        if isinstance(value, Mapping) and self.text[start:end].startswith("{"):
            return [TextEdit(start, end, f"{{ {entry_text} }}")]
        short = isinstance(value, Scalar) and key is not None and self._is_in_key_line(key, value)
        if not short or shorthand is None or start == end:
            raise UneditableError(
                "the entry has the short form KEY: VALUE. Write the entry as "
                "KEY: { FIELD: VALUE }, and try again"
            )
        before = f"{{ {yaml_scalar(shorthand, key=True)}: "
        return [TextEdit(start, start, before), TextEdit(end, end, f", {entry_text} }}")]

    def add_sibling_edit(self, sibling: Span, key: str, value: Any) -> TextEdit:
        """Return the edit that adds an entry to a mapping, after its last entry.

        `sibling` is the position of the key of any entry in the mapping.
        """
        mapping = next(
            (
                node
                for _, node in _keys_and_values(self.root)
                if isinstance(node, Mapping)
                and any(known_key.span[1:] == sibling[1:] for known_key, _ in node)
            ),
            None,
        )
        if mapping is None:
            raise UneditableError("dpsync did not find the other entries of the list")
        entry_text = f"{yaml_scalar(key, key=True)}: {on_one_line(value)}"
        last_key, last = max(mapping, key=lambda pair: self.node_range(pair[0]))
        start, stop = self.node_range(last)
        if start < self.node_range(last_key)[0]:
            raise UneditableError("the last entry of the list is a YAML alias")
        end = start + len(self.text[start:stop].rstrip())
        if self.text[self.node_range(mapping)[0]] == "{":
            return TextEdit(end, end, f", {entry_text}")
        insert_position = self.end_of_line(end)
        indent = self.line_end + " " * (last_key.span.column - 1)
        return TextEdit(insert_position, insert_position, indent + entry_text)

    def _is_in_key_line(self, key: Scalar, value: Scalar) -> bool:
        """Return whether a value is in the line of its key: neither in a later line nor a YAML alias."""
        start, end = self.node_range(value)
        return start > self.node_range(key)[1] and "\n" not in self.text[self.node_range(key)[1] : end]

    def mapping_of(self, entry: Span) -> Mapping | None:
        """Return the mapping with the fields of an entry; None if the entry has no mapping.

        `entry` is the position of the entry's key, whose value is the mapping. A node of a list has no key:
        there, `entry` is the position of the first key in the mapping.
        """
        for key, value in _keys_and_values(self.root):
            if key is not None and key.span[1:] == entry[1:]:
                return value if isinstance(value, Mapping) else None
            if isinstance(value, Mapping) and any(key_node.span[1:] == entry[1:] for _, key_node in value):
                return value
        return None

    def _edit_in_key_line(self, key: Scalar, old: Node, value: Any) -> TextEdit | None:
        """Return the edit that replaces a list or mapping in the lines after its key by a value on one line.

        None if the old value is a scalar, or is not in lines of its own after the key.
        """
        (_, end), (start, stop) = self.node_range(key), self.node_range(old)
        between = self.text[end:start]
        if isinstance(old, Scalar) or "\n" not in between or between.strip() != ":":
            return None
        _refuse_variables(old)
        return TextEdit(end, start + len(self.text[start:stop].rstrip()), f": {on_one_line(value)}")

    def _replacement_edit(self, old: Node, value: Any) -> TextEdit:
        """Return the edit that replaces a whole value, and keeps its style, comments and anchor if possible.

        Raises UneditableError, and EditChangesValueError if the new lines would be read as another value.
        """
        start, end = self.node_range(old)
        anchor = _ANCHOR.match(self.text, start)
        value_start = anchor.end() if anchor else start
        _refuse_variables(old)
        if value_start >= end:  # an empty value, perhaps with an anchor
            return TextEdit(end, end, ("" if self.text[end - 1] == " " else " ") + on_one_line(value))
        one_line = "\n" not in self.text[start:end].rstrip("\r\n")
        in_block = isinstance(old, Mapping | Sequence) and self.text[value_start] not in "{["
        if one_line and not in_block:
            return TextEdit(value_start, end, self._text_in_old_style(old, self.text[value_start:end], value))
        if isinstance(old, Scalar) and not isinstance(value, dict | list):
            return self._block_text_edit(value_start, end, value)
        return self._merging_edit(start, end, value)

    def _text_in_old_style(self, old: Node, old_text: str, value: Any) -> str:
        """Return the new value on one line in the style of the old value.

        Keys keep their order, unchanged parts their text, mappings their spaces after `{`, and texts their
        quotes if possible.
        """
        if isinstance(old, Mapping) and isinstance(value, dict) and value:
            old_entries = {key.text: (self._source_text(key), value_node) for key, value_node in old}
            names_in_order = [
                *(name for name in old_entries if name in value),
                *(name for name in value if name not in old_entries),
            ]
            parts = []
            for name in names_in_order:
                if name not in old_entries:
                    parts.append(f"{yaml_scalar(name, key=True)}: {on_one_line(value[name])}")
                    continue
                key_text, old_value = old_entries[name]
                value_text = self._source_text(old_value)
                if not _has_value(old_value, value[name]):
                    value_text = self._text_in_old_style(old_value, value_text, value[name])
                parts.append(f"{key_text}: {value_text}")
            space = " " if old_text[1:2] == " " else ""
            return f"{{{space}{', '.join(parts)}{space}}}"
        if isinstance(old, Sequence) and isinstance(value, list):
            old_sources = {comparison_text(node_value(node)): self._source_text(node) for node in old}
            items = (
                old_sources.get(comparison_text(escape_variables(new_item)), on_one_line(new_item))
                for new_item in value
            )
            return f"[{', '.join(items)}]"
        text = on_one_line(value)
        if not isinstance(value, str) or text[0] == '"' or old_text[0] not in "\"'":
            return text
        return f'"{text}"' if old_text[0] == '"' else "'" + text.replace("'", "''") + "'"

    def _source_text(self, node: Node) -> str:
        """Return the text of a node in the file."""
        start, end = self.node_range(node)
        return self.text[start:end]

    def alias_range(self, key: Scalar, old: Node) -> tuple[int, int] | None:
        """Return the offsets of the YAML alias that is the value of a key; None for another value.

        For an alias, the parser returns the node of the anchor, so the position of the value is before its
        key.
        """
        if (old.span.line, old.span.column) > (key.span.line, key.span.column):
            return None
        _, end = self.node_range(key)
        match = _ALIAS.match(self.text, end)
        if match is None:
            raise UneditableError("dpsync did not find the YAML alias that stands for the value")
        return match.span(1)

    def node_range(self, node: Node) -> tuple[int, int]:
        """Return the offsets in the text at which a node begins and ends."""
        span = node.span
        return self._offset(span.line, span.column), self._offset(span.end_line, span.end_column)

    def _offset(self, line: int, column: int) -> int:
        """Return the offset in the text of a line and a column, which start at 1."""
        start = self.starts[line - 1] if line <= len(self.starts) else len(self.text)
        return min(start + column - 1, len(self.text))

    def end_of_line(self, offset: int) -> int:
        """Return the offset at which the line of another offset ends."""
        match = LINE_BREAK.search(self.text, offset)
        return match.start() if match else len(self.text)

    def _block_text_edit(self, start: int, end: int, value: Any) -> TextEdit:
        """Return the edit that replaces a text over several lines by a scalar.

        A new text of several lines becomes a block (`|`) if that keeps it unchanged, otherwise a quoted text.
        """
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
        """Return the edit that replaces a collection in block style, and keeps its comments and anchors.

        ruamel.yaml merges the new value into the old lines. Raises EditChangesValueError if the new lines
        would be read as another value, and UneditableError if the lines cannot be edited alone.
        """
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
    """Yield a node and every value inside it, each with its key; the node and items of lists have no key."""
    waiting: deque[tuple[Scalar | None, Node]] = deque([(None, node)])
    while waiting:
        key, value = waiting.popleft()
        yield key, value
        if isinstance(value, Mapping):
            waiting += value.entries
        elif isinstance(value, Sequence):
            waiting += [(None, child) for child in value.items]


def _refuse_variables(node: Node) -> None:
    """Raise ValueFromVariableError if a text in a node contains a variable (`${NAME}`)."""
    for _, value_node in _keys_and_values(node):
        if (
            isinstance(value_node, Scalar)
            and isinstance(value_node.value, str)
            and "${" in value_node.value.replace("$$", "")
        ):
            raise ValueFromVariableError(f"the value in your file comes from a variable ({value_node.text})")


def _has_value(old: Node, value: Any) -> bool:
    """Return whether a node of the file is read as this value."""
    return comparison_text(node_value(old)) == comparison_text(escape_variables(value))


def unfold_long_lines(before: str, after: str) -> str:
    """Return the edited text with long new lines in block style; only lines with new keys change.

    A line that was inserted gets the style of a new import. A line with additional keys keeps its flow style
    if it is short enough. A text that would change its meaning in block style stays as it is.
    """
    try:
        old, new = YamlFile(before, ""), YamlFile(after, "")
        lines = _lines_with_new_keys(old, new)
        edited = apply_edits(after, list(_Unfolder(new, lines).edits(new.root)))
    except UneditableError:
        return after
    root, problems = read(edited, "")
    is_unchanged = (
        root is not None
        and not problems
        and comparison_text(node_value(root)) == comparison_text(node_value(new.root))
    )
    return edited if is_unchanged else after


def _lines_with_new_keys(old: YamlFile, new: YamlFile) -> dict[int, bool]:
    """Return the numbers of the new lines that contain more keys than the old line, or that were inserted.

    The value of each number is whether the line was inserted. Lines are numbered from 1.
    """
    before, after = old.text.splitlines(), new.text.splitlines()
    unchanged_count = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    )
    keys_before, keys_after = _keys_by_line(old.root), _keys_by_line(new.root)
    lines: dict[int, bool] = {}
    for tag, i1, i2, j1, j2 in SequenceMatcher(
        None, before[unchanged_count:], after[unchanged_count:], autojunk=False
    ).get_opcodes():
        if tag not in ("insert", "replace"):
            continue
        for offset in range(j2 - j1):
            line, old_line = unchanged_count + j1 + offset + 1, unchanged_count + i1 + offset + 1
            is_new = i1 + offset >= i2
            if is_new or keys_after[line] > keys_before[old_line]:
                lines[line] = is_new
    return lines


def _keys_by_line(root: Node) -> Counter[int]:
    """Count the mapping keys in each line."""
    return Counter(key.span.line for key in _mapping_keys(root))


def _mapping_keys(node: Node) -> Iterator[Scalar]:
    """Yield all mapping keys in a node."""
    if isinstance(node, Mapping):
        for key, value in node:
            yield key
            yield from _mapping_keys(value)
    elif isinstance(node, Sequence):
        for child in node:
            yield from _mapping_keys(child)


class _Unfolder:
    """Puts flow collections (`{ … }` and `[ … ]`) of the given lines into block style if they are too long.

    `lines` has the numbers of the lines, each with whether the line is new.
    """

    def __init__(self, document: YamlFile, lines: dict[int, bool]) -> None:
        self.document = document
        self.text = document.text
        self.lines = lines

    def edits(self, node: Node, key: Scalar | None = None, column: int = 0) -> Iterator[TextEdit]:
        """Yield the edits for a node and all nodes in it.

        `key` is the key of the node, and `column` the indentation that its entries get in block style.
        """
        start, end = self.document.node_range(node)
        body = self._after_anchor(start)
        if isinstance(node, Mapping | Sequence) and self.text[body : body + 1] in ("{", "["):
            if edit := self._unfolding_edit(node, key, column, start, end):
                yield edit
        elif isinstance(node, Mapping):
            for inner, value in node:
                if (
                    self.document.node_range(value)[0] >= self.document.node_range(inner)[1]
                ):  # not a YAML alias
                    yield from self.edits(value, inner, inner.span.column + 1)
        elif isinstance(node, Sequence):
            for child in node:
                yield from self.edits(child, None, child.span.column - 1)

    def _unfolding_edit(
        self, node: Mapping | Sequence, key: Scalar | None, column: int, start: int, end: int
    ) -> TextEdit | None:
        """Return the edit that puts a flow collection from `start` to `end` into block style.

        None if the collection fits into its line, or if its line is not among the lines to change.
        """
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
        text_after = self.text[end:stop].rstrip()
        lines = list(self._lines_inside(node, column))
        if key is None:
            if anchor:
                return None
            lines[0] = lines[0].lstrip() + text_after
            return TextEdit(start, stop, self.document.line_end.join(lines))
        _, after_key = self.document.node_range(key)
        head = ":" + (f" {anchor}" if anchor else "") + text_after
        return TextEdit(after_key, stop, self.document.line_end.join([head, *lines]))

    def _lines_inside(self, node: Mapping | Sequence, column: int) -> Iterator[str]:
        """Yield the lines of a flow collection in block style. Raises UneditableError for an alias."""
        indent = " " * column
        if isinstance(node, Mapping):
            for key, value in node:
                yield from self._entry_lines(
                    f"{indent}{self._source_text(key)}:", self._value_text(key, value), value, column
                )
            return
        last = -1
        for child in node:
            start, end = self.document.node_range(child)
            if start < last:
                raise UneditableError("an item of the list is a YAML alias")
            last = end
            first, *following_lines = self._entry_lines(f"{indent}-", self.text[start:end], child, column)
            if not first.endswith("-") or not following_lines:
                yield from (first, *following_lines)
            else:
                yield f"{indent}- {following_lines[0].lstrip()}"
                yield from following_lines[1:]

    def _entry_lines(self, lead: str, source: str, node: Node, column: int) -> Iterator[str]:
        """Yield the lines of one entry in block style.

        `lead` is its key or dash with the indentation, `source` the text of its value, and `column` the
        indentation.
        """
        is_flow = isinstance(node, Mapping | Sequence) and source[:1] in ("{", "[") and len(node)
        if is_flow and (
            inline_or_none(node_value(node)) is None or len(lead) + len(source) >= MAX_LINE_CHARS
        ):
            assert isinstance(node, Mapping | Sequence)
            yield lead
            yield from self._lines_inside(node, column + 2)
            return
        text = node.value if isinstance(node, Scalar) and source.startswith('"') else None
        first, *following_lines = (isinstance(text, str) and block_text(text, " " * (column + 2))) or [source]
        yield f"{lead} {first}".rstrip()
        yield from following_lines

    def _value_text(self, key: Scalar, value: Node) -> str:
        """Return the source text of a value; for a YAML alias the text of the alias."""
        start, end = self.document.node_range(value)
        if start < self.document.node_range(key)[1]:
            start, end = self.document.alias_range(key, value) or (start, end)
        return self.text[start:end]

    def _source_text(self, node: Node) -> str:
        """Return the text of a node in the file."""
        start, end = self.document.node_range(node)
        return self.text[start:end]

    def _after_anchor(self, start: int) -> int:
        """Return the offset behind the YAML anchor at an offset, if there is one."""
        anchor = _ANCHOR.match(self.text, start)
        return anchor.end() if anchor else start


class ListItem(Struct, frozen=True):
    """A step into a list: to the node with this key."""

    key: str


Step = str | ListItem


def steps_to(registry: Registry, resources: Mapping_[Address, Entry], resource: Entry) -> list[Step]:
    """Return the path from the top of a file to an entry: keys of mappings, and `ListItem` for list nodes.

    An example is `["organizations", "acme", "sites", "docs"]`.
    """
    kind = registry[resource.kind]
    if resource.parent is None:
        return [kind.key, resource.key]
    words = kind.key.split(".")
    if not isinstance(kind.shape, NodeShape):
        parent_steps = steps_to(registry, resources, resources[resource.parent])
        return (
            [*parent_steps, *words]
            if isinstance(kind.shape, SingleEntry)
            else [*parent_steps, *words, resource.key]
        )
    if resource.holder is not None:
        return [
            *steps_to(registry, resources, resources[resource.holder]),
            "children",
            ListItem(resource.key),
        ]
    return [*steps_to(registry, resources, resources[resource.parent]), *words, ListItem(resource.key)]


def insert_value(text: str, name: str, steps: list[Step], value: Any) -> str:
    """Return the text of a YAML file in which the value at a path is set, and missing nodes are added.

    `steps` is the path (see `steps_to`) and `name` the name of the file. Raises UneditableError.
    """
    document = YamlFile(text, name)
    node: Node = document.root
    organization = node.get(SINGLE_ORGANIZATION_KEY) if isinstance(node, Mapping) else None
    if isinstance(organization, Scalar) and steps[:2] == [ORGANIZATIONS_KEY, organization.text]:
        steps = steps[2:]
    key: Scalar | None = None
    for done, step in enumerate(steps):
        child = _child_at(node, step)
        if child is None:
            return _text_with_added_nodes(document, key, node, steps[done:], value)
        key, node = child
    return apply_edits(text, document.edits(key, node, value))


def _child_at(parent: Node, step: Step) -> tuple[Scalar | None, Node] | None:
    """Return the key and the value that a step leads to; None if the parent has no such child.

    A node of a list has no key.
    """
    if isinstance(step, ListItem):
        for child in parent if isinstance(parent, Sequence) else ():
            child_key = child.get("key") if isinstance(child, Mapping) else None
            if isinstance(child_key, Scalar) and child_key.text == step.key:
                return None, child
        return None
    pairs = parent.entries if isinstance(parent, Mapping) else ()
    return next(((key, node) for key, node in pairs if key.text == step), None)


def _text_with_added_nodes(
    document: YamlFile, key: Scalar | None, node: Node, steps: list[Step], value: Any
) -> str:
    """Return the text of an overlay file in which a value is added, with the missing part of its path.

    `node` is the last existing node on the path of the value, `key` the key of this node, and `steps` the
    missing part. Raises UneditableError.
    """
    first, *other_steps = steps
    missing = value
    for step in reversed(other_steps):
        missing = {step: missing} if isinstance(step, str) else [_new_list_node(step, missing)]
    if isinstance(first, ListItem):
        if not isinstance(node, Sequence):
            raise UneditableError("the overlay file has no list for this entry of the navigation")
        nodes: Any = node_value(node)
        return apply_edits(document.text, document.edits(key, node, [*nodes, _new_list_node(first, missing)]))
    if not isinstance(node, Mapping):
        raise UneditableError(
            "the overlay file has the entry in the short form KEY: VALUE. Write the entry as "
            "KEY: { FIELD: VALUE }, and try again"
        )
    if not node.entries:
        return apply_edits(document.text, document.edits(key, node, {first: missing}))
    sibling, _ = next(iter(node))
    return apply_edits(document.text, [document.add_sibling_edit(sibling.span, first, missing)])


def _new_list_node(step: ListItem, inside: Any) -> dict[str, Any]:
    """Return a new node of a list: a mapping with its key and its other entries."""
    return {"key": step.key, **inside}


def insert_values(data: bytes, name: str, values: list[tuple[list[Step], Any]]) -> bytes:
    """Return the content of a YAML file in which each value is set at its path. Raises UneditableError.

    `data` is the present content, and `name` the name of the file.
    """
    before, _ = decode(data, name)
    text = before
    for steps, value in values:
        text = insert_value(text, name, steps, value)
    return encode(unfold_long_lines(before, text), data)
