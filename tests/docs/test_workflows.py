"""Workflows on pages are those that tests/github runs; the tables of the action are those of action.yml."""

from __future__ import annotations

import re

import pytest
import yaml

from .markdown import DOCS, PAGES, ROOT, Block, blocks, sections

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SHOWN = [
    block
    for page in PAGES
    for block in blocks(page)
    if block.name.startswith(".github/") or "runs-on:" in block.text
]


def test_docs_contain_workflow_examples() -> None:
    assert SHOWN


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.name)
def test_documented_workflow_matches_example_file(block: Block) -> None:
    folder, _, name = block.name.rpartition("/")
    assert folder == ".github/workflows"
    assert block.text == (ROOT / "examples" / "workflows" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("table", ["inputs", "outputs"])
def test_action_page_matches_action_yml_descriptions(table: str) -> None:
    section = next(one for one in sections(DOCS / "github-action.md") if one.title == table.capitalize())
    rows = [line.strip("| ").split(" | ") for line in section.words if line.startswith("| `")]
    shown = {cells[0].strip("`"): re.sub(r"\[([^]]+)\]\([^)]+\)|`", r"\1", cells[-1]) for cells in rows}
    assert shown == {name: one["description"] for name, one in ACTION[table].items()}
