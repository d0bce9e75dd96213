"""The Markdown and the document of docs/documents.md are the same; its programs are run by tests/docs."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from dpsync.document import to_document, to_markdown

TEXT = (Path(__file__).parents[2] / "docs" / "documents.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
PAIRS = list(pairwise(BLOCKS))


def of(first: str, second: str) -> list[tuple[str, str]]:
    found = [(one[1], two[1]) for one, two in PAIRS if (one[0], two[0]) == (first, second)]
    assert found
    return found


@pytest.mark.parametrize(("markdown", "document"), of("markdown", "json"))
def test_documented_markdown_and_document_convert_both_ways(markdown: str, document: str) -> None:
    assert to_document(markdown) == json.loads(document)
    assert to_markdown(json.loads(document)) == markdown
