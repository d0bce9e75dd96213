"""docs/architecture.md names files and names that exist: a contributor opens what the page says."""

from __future__ import annotations

import re

import pytest

from .markdown import DOCS, ROOT

PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
_PATH = re.compile(r"`((?:\w+/)+(?:\w+\.\w+)?|(?:\w+/)*\w+\.py|action\.yml)`")
_NAMED = re.compile(r"`((?:\w+/)*\w+\.\w+)`(?:\*\*)? \((`[^)]*)\)")
_NAME = re.compile(r"`([A-Za-z_]\w*(?:\.\w+)*)`")


def find(name: str) -> str:
    """Return the content of a file that the page names, below dpsync/ or below the repository."""
    places = (ROOT / "dpsync" / name, ROOT / name)
    return next((path.read_text(encoding="utf-8") for path in places if path.is_file()), "")


def test_architecture_page_has_at_most_250_lines() -> None:
    assert len(PAGE.splitlines()) <= 250


@pytest.mark.parametrize("name", sorted(set(_PATH.findall(PAGE))))
def test_architecture_page_paths_exist(name: str) -> None:
    assert (ROOT / "dpsync" / name).exists() or (ROOT / name).exists()


@pytest.mark.parametrize(("file", "words"), sorted(set(_NAMED.findall(PAGE))))
def test_architecture_page_names_exist_in_files(file: str, words: str) -> None:
    text = find(file)
    names = [part for name in _NAME.findall(words) for part in name.split(".")]
    assert names
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_architecture_page_lists_every_planner_stage() -> None:
    stages = {file.partition("/")[0] for file, _ in _NAMED.findall(PAGE)}
    assert {"cli", "config", "live", "identity", "planner", "render", "apply", "workflows"} <= stages
