"""The front page, docs/README.md, links every page once; docs/kinds/index.md links its folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .markdown import DOCS, PAGES

INDEX = DOCS / "README.md"
LINKS = re.findall(r"\]\(([^)#]+\.md)(?:#[^)]*)?\)", INDEX.read_text(encoding="utf-8"))


def in_kinds(page: Path) -> bool:
    return page.parent.name == "kinds" and page.name != "index.md"


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if DOCS in page.parents and page != INDEX and not in_kinds(page)],
    ids=lambda page: page.name,
)
def test_docs_index_links_each_page_once(page: Path) -> None:
    assert [(DOCS / link).resolve() for link in LINKS].count(page) == 1
