"""The index of the documentation (docs/README.md) has every page, once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .markdown import DOCS, PAGES

INDEX = DOCS / "README.md"
LINKS = re.findall(r"\]\(([^)#]+\.md)(?:#[^)]*)?\)", INDEX.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if DOCS in page.parents and page != INDEX], ids=lambda page: page.name
)
def test_each_page_is_in_the_index_once(page: Path) -> None:
    assert [(DOCS / link).resolve() for link in LINKS].count(page) == 1
