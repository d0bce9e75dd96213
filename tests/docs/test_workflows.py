"""A workflow that a page shows is one of those in examples/, which tests/github runs."""

from __future__ import annotations

import pytest

from .markdown import PAGES, ROOT, Block, blocks

SHOWN = [
    block
    for page in PAGES
    for block in blocks(page)
    if block.name.startswith(".github/") or "runs-on:" in block.text
]


def test_a_workflow_is_shown() -> None:
    assert SHOWN


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.name)
def test_a_workflow_on_a_page_is_one_that_is_run(block: Block) -> None:
    folder, _, name = block.name.rpartition("/")
    assert folder == ".github/workflows"
    assert block.text == (ROOT / "examples" / "workflows" / name).read_text(encoding="utf-8")
