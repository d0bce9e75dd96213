"""Puts flow mappings of edited lines into block style where a new import would not write them on one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import takewhile

from dpsync.config.yaml_reader import read
from dpsync.importing.yaml_text.edit import Document, TextEdit, Uneditable, apply_edits
from dpsync.importing.yaml_text.emit import WIDTH, block_text, inline
from dpsync.importing.yaml_text.round_trip import compared
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, plain

_ANCHOR = re.compile(r"&\S+\s+")


def unfolded(before: str, after: str) -> str:
    """Return the edited text with long new lines in block style; only lines with new keys change.

    A line that was inserted has the style of a new import. A line that got more keys keeps its flow style if
    it is short enough. If the text would say something else in block style, it stays as it is.
    """
    try:
        old, new = Document(before, ""), Document(after, "")
        lines = _lines_with_new_keys(old, new)
        made = apply_edits(after, list(_Unfolding(new, lines).edits(new.root)))
    except Uneditable:
        return after
    root, problems = read(made, "")
    same = root is not None and not problems and compared(plain(root)) == compared(plain(new.root))
    return made if same else after


def _lines_with_new_keys(old: Document, new: Document) -> dict[int, bool]:
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


class _Unfolding:
    def __init__(self, document: Document, lines: dict[int, bool]) -> None:
        self.document = document
        self.text = document.text
        self.lines = lines

    def edits(self, node: Node, key: Scalar | None = None, column: int = 0) -> Iterator[TextEdit]:
        """Yield the edits for a node in block style and for all nodes in it."""
        start, end = self.document.range(node)
        body = self._after_anchor(start)
        if isinstance(node, Mapping | Sequence) and self.text[body : body + 1] in ("{", "["):
            if edit := self._edit(node, key, column, start, end):
                yield edit
        elif isinstance(node, Mapping):
            for inner, value in node:
                if self._is_own(inner, value):
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
        fits = end - begin < WIDTH and (inline(plain(node)) is not None or not self.lines[line])
        if fits or (key is not None and key.span.line != line):
            return None
        anchor = self.text[start : self._after_anchor(start)].rstrip()
        rest = self.text[end:stop].rstrip()
        lines = list(self._inside(node, column))
        if key is None:
            if anchor:
                return None
            lines[0] = lines[0].lstrip() + rest
            return TextEdit(start, stop, self.document.line_end.join(lines))
        _, after_key = self.document.range(key)
        head = ":" + (f" {anchor}" if anchor else "") + rest
        return TextEdit(after_key, stop, self.document.line_end.join([head, *lines]))

    def _inside(self, node: Mapping | Sequence, column: int) -> Iterator[str]:
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
            start, end = self.document.range(item)
            if start < last:
                raise Uneditable("an item of the list is a YAML alias")
            last = end
            first, *more = self._entry(f"{indent}-", self.text[start:end], item, column)
            if not first.endswith("-") or not more:
                yield from (first, *more)
            else:
                yield f"{indent}- {more[0].lstrip()}"
                yield from more[1:]

    def _entry(self, lead: str, source: str, node: Node, column: int) -> Iterator[str]:
        is_flow = isinstance(node, Mapping | Sequence) and source[:1] in ("{", "[") and len(node)
        if is_flow and (inline(plain(node)) is None or len(lead) + len(source) >= WIDTH):
            assert isinstance(node, Mapping | Sequence)
            yield lead
            yield from self._inside(node, column + 2)
            return
        text = node.value if isinstance(node, Scalar) and source.startswith('"') else None
        first, *more = (isinstance(text, str) and block_text(text, " " * (column + 2))) or [source]
        yield f"{lead} {first}".rstrip()
        yield from more

    def _value(self, key: Scalar, value: Node) -> str:
        """Return the source text of a value; for a YAML alias the text of the alias."""
        start, end = self.document.range(value)
        if start < self.document.range(key)[1]:
            start, end = self.document.alias(key, value) or (start, end)
        return self.text[start:end]

    def _source(self, node: Node) -> str:
        start, end = self.document.range(node)
        return self.text[start:end]

    def _after_anchor(self, start: int) -> int:
        anchor = _ANCHOR.match(self.text, start)
        return anchor.end() if anchor else start

    def _is_own(self, key: Scalar, value: Node) -> bool:
        """Return whether a value is written behind its key; a YAML alias is not."""
        return self.document.range(value)[0] >= self.document.range(key)[1]
