"""A longer text takes longer in proportion: counted in calls, since clocks depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from dpsync.document import MarkdownError, normalize, to_document, to_markdown

SHAPES: dict[str, Callable[[int], str]] = {
    "paragraphs": lambda n: "a *b*\n\n" * n,
    "one long paragraph": lambda n: "a &amp; *b* [c](d)\n" * n,
    "brackets": lambda n: "[" * n,
    "pictures that are none": lambda n: "![" * n,
    "stars": lambda n: "*a **b " * n,
    "overlapping marks": lambda n: "*a***b**_c_" * n,
    "letters with marks in turn": lambda n: "a*b*" * n,
    "backticks": lambda n: "`a ``b " * n,
    "quotes": lambda n: ">" * n,
    "items": lambda n: "- a\n" * n,
    "tasks": lambda n: "- [ ] a\n" * n,
    "rows": lambda n: "|a|b|\n|-|-|\n" + "|c|d|\n" * n,
    "lines of code": lambda n: "```\n" + "x\n\n" * n,
    "links without an end": lambda n: "[a](<b " * n,
    "refusals in one paragraph": lambda n: "a <b> c  \n" * n,
    "comments without an end": lambda n: "a <!-- " * n,
}


def calls(work: Callable[[], object]) -> int:
    count = 0

    def counted(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def there_and_back(markdown: str) -> None:
    try:
        document = to_document(markdown)
    except MarkdownError:
        return
    to_markdown(document)
    normalize(document)


@pytest.mark.parametrize("shape", SHAPES)
def test_markdown_conversion_time_grows_about_linearly(shape: str) -> None:
    make = SHAPES[shape]
    small, large = (calls(lambda size=size: there_and_back(make(size))) for size in (50, 200))
    assert large <= 6 * small
