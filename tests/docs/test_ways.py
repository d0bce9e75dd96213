"""A stranger's way through the code (docs/architecture.md) names files and names that are there."""

from __future__ import annotations

import re

import pytest

from .markdown import DOCS, ROOT, sections

WAYS = [one for one in sections(DOCS / "architecture.md") if one.above == "A stranger's way"]
_ROW = re.compile(r"\| (.+?) \| (.+) \|")
_FILE = re.compile(r"`([\w./]+/[\w.]+\.\w+|Makefile)`")
_NAME = re.compile(r"`(\w+)`")


def rows() -> list[tuple[str, str, str]]:
    """Way, file and what is said of it: of each row that names one file that is there today."""
    found = []
    for way in WAYS:
        for line in way.words:
            row = _ROW.fullmatch(line)
            files = _FILE.findall(row[1]) if row else []
            found += [(way.title, file, row[2]) for file in files if row]
    return found


@pytest.mark.parametrize(("way", "file", "said"), rows())
def test_each_file_of_a_way_has_the_names_that_the_way_gives_it(way: str, file: str, said: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    others = "\n".join((ROOT / other).read_text(encoding="utf-8") for other in _FILE.findall(said))
    missing = [name for name in _NAME.findall(said) if not re.search(rf"\b{name}\b", text + others)]
    assert missing == []


def test_there_are_ways_to_an_output_a_guard_and_a_field() -> None:
    assert {way for way, _, _ in rows()} == {
        "A new output",
        "A new guard that asks",
        "A new field that exposes",
    }
