"""What holds for all Documents of the core and for all texts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dpsync.config.yaml_reader import decode
from dpsync.document import MarkdownError, Problem, normalised, same, to_document, to_markdown
from tests.soak import examples

from .documents import HARD, code_that_no_file_may_hold, documents, markdown_lines

Json = dict[str, Any]


@given(documents)
def test_a_document_written_and_read_says_the_same(document: Json) -> None:
    assert normalised(to_document(to_markdown(document))) == normalised(document)


@given(documents)
def test_what_was_written_is_written_the_same_again(document: Json) -> None:
    written = to_markdown(document)
    assert to_markdown(to_document(written)) == written


@given(documents.filter(lambda document: not code_that_no_file_may_hold(document)))
def test_what_is_written_can_stand_in_a_file(document: Json) -> None:
    written = to_markdown(document)
    assert decode(written.encode(), "a.md") == (written, [])


@given(st.one_of(markdown_lines, st.text(HARD), st.text()))
@settings(max_examples=examples(50, soak=3000))
def test_a_text_becomes_a_document_that_can_be_written_or_is_refused_with_places(text: str) -> None:
    read = _read(text)
    if isinstance(read, tuple):
        count = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        assert read
        assert all(1 <= problem.line <= count and problem.column >= 1 for problem in read)
        return
    document, written = read, to_markdown(read)
    assert same(to_document(written), document)
    assert to_markdown(to_document(written)) == written


def _read(text: str) -> Json | tuple[Problem, ...]:
    try:
        return to_document(text)
    except MarkdownError as error:
        return error.problems


@given(documents)
def test_a_text_begins_with_its_first_block_and_ends_with_one_line_end(document: Json) -> None:
    written = to_markdown(document)
    assert not written or (written[0] != "\n" and written.endswith("\n") and written[-2] != "\n")


@given(documents)
def test_nothing_is_changed_in_a_document_that_is_compared_or_written(document: Json) -> None:
    before = json.dumps(document)
    to_markdown(document)
    assert json.dumps(document) == before


@given(documents, st.data())
def test_cutting_a_text_into_leaves_changes_nothing(document: Json, data: st.DataObject) -> None:
    assert same(_cut(document, data), document)


def _cut(value: Any, data: st.DataObject) -> Any:
    """The value with every leaf cut in two, its marks turned round, and keys everywhere."""
    if isinstance(value, list):
        return [part for one in value for part in _halves(_cut(one, data), data)]
    if not isinstance(value, dict):
        return value
    changed = {name: _cut(one, data) for name, one in value.items()}
    return {**changed, "key": "made"} if changed.get("object") in ("block", "inline", "text") else changed


def _halves(value: Any, data: st.DataObject) -> list[Any]:
    if not isinstance(value, dict) or value.get("object") != "leaf":
        return [value]
    at = data.draw(st.integers(0, len(value["text"])))
    marks = value["marks"][::-1]
    return [{**value, "text": value["text"][:at]}, {**value, "text": value["text"][at:], "marks": marks}]
