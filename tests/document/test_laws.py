"""What holds for all Documents of the core and for all texts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dpsync.config.yaml_reader import decode
from dpsync.document import MarkdownError, Problem, have_same_meaning, normalize, to_document, to_markdown
from tests.soak import examples

from .documents import HARD, code_that_no_file_may_hold, documents, markdown_lines

Json = dict[str, Any]


@given(documents)
def test_document_markdown_roundtrip_preserves_meaning(document: Json) -> None:
    assert normalize(to_document(to_markdown(document))) == normalize(document)


@given(documents)
def test_markdown_output_is_stable_after_roundtrip(document: Json) -> None:
    written = to_markdown(document)
    assert to_markdown(to_document(written)) == written


@given(documents.filter(lambda document: not code_that_no_file_may_hold(document)))
def test_markdown_output_decodes_as_file(document: Json) -> None:
    written = to_markdown(document)
    assert decode(written.encode(), "a.md") == (written, [])


@given(st.one_of(markdown_lines, st.text(HARD), st.text()))
@settings(max_examples=examples(50, soak=3000))
def test_any_markdown_roundtrips_or_is_rejected_with_location(text: str) -> None:
    read = _read(text)
    if isinstance(read, tuple):
        count = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        assert read
        assert all(1 <= problem.line <= count and problem.column >= 1 for problem in read)
        return
    document, written = read, to_markdown(read)
    assert have_same_meaning(to_document(written), document)
    assert to_markdown(to_document(written)) == written


def _read(text: str) -> Json | tuple[Problem, ...]:
    try:
        return to_document(text)
    except MarkdownError as error:
        return error.problems


@given(documents)
def test_markdown_output_ends_with_single_newline(document: Json) -> None:
    written = to_markdown(document)
    assert not written or (written[0] != "\n" and written.endswith("\n") and written[-2] != "\n")


@given(documents)
def test_to_markdown_does_not_modify_document(document: Json) -> None:
    before = json.dumps(document)
    to_markdown(document)
    assert json.dumps(document) == before


@given(documents, st.data())
def test_document_with_split_leaves_is_equal(document: Json, data: st.DataObject) -> None:
    assert have_same_meaning(_cut(document, data), document)


def _cut(value: Any, data: st.DataObject) -> Any:
    """Return the value with every leaf cut in two, marks in reverse order, and keys in all nodes."""
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
