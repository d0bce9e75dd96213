"""Documents that somebody has forged: any text is hostile, also where dpsync writes words of its own."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from lxml import etree
from pydantic import BaseModel, ValidationError

from dpsync.model.plan import Origin
from dpsync.model.text import INVISIBLE_CHARACTERS, json_text
from dpsync.render.documents import Finding, FindingsDocument
from dpsync.render.formats import FORMATS, FormatOptions, render
from tests.render.hostile import DOCUMENTS, forge
from tests.soak import examples

_HIDDEN = re.compile(f"(?!\n)[{INVISIBLE_CHARACTERS}]")
_HALF = re.compile(r"(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}")
"""Half a character, which no JSON that is read has."""


def forged(document: BaseModel) -> BaseModel:
    """Return the document with a hostile text in every place that allows one."""
    kind = type(document)
    text = _HALF.sub("é", json_text(document))
    return kind.model_validate_json(forge(text, kind.model_validate_json))


@settings(max_examples=examples(15, soak=400))
@given(DOCUMENTS)
def test_forged_document_breaks_no_output_format(document: BaseModel) -> None:
    hostile = forged(document)
    for name in FORMATS:
        printed = render(hostile, name)
        lines = printed.split("\n")
        assert not _HIDDEN.search(printed), name
        assert not [line for line in lines if line.lstrip().startswith("::error::y")], name
        if name == "junit":
            etree.fromstring(printed.encode())
        if name in ("json", "sarif", "codequality"):
            json.loads(printed)
    for options in (FormatOptions(verbose=2), FormatOptions(summary=True), FormatOptions(quiet=True)):
        assert not _HIDDEN.search(render(hostile, "text", options))


@pytest.mark.parametrize(("line", "column"), [(0, 1), (-1, 1), (1, 0)])
def test_origin_line_and_column_start_at_one(line: int, column: int) -> None:
    """SARIF and annotations count from 1: a viewer refuses the whole file for one line 0."""
    finding = Finding(code="DP201", severity="error", message="x", at=Origin(file="a.yaml", line=7, column=7))
    text = json_text(FindingsDocument(exit=5, findings=(finding,)))
    document = json.loads(text)
    document["findings"][0]["at"].update(line=line, column=column)
    with pytest.raises(ValidationError):
        FindingsDocument.model_validate_json(json.dumps(document))
