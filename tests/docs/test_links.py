"""Links and names of files in the documentation lead to files and headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.site_pages import anchor

from .markdown import PAGES, ROOT, blocks, sections

LINK = re.compile(r'(?<!!)\[[^\]]*\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?(?: "[^"]*")?\)')


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_links_have_existing_targets(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target, place in LINK.findall(prose):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        if place:
            assert place in {anchor(section.title) for section in sections(file)}, f"{target}#{place}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_files_mentioned_on_page_exist(page: Path) -> None:
    places = (ROOT, ROOT / "dpsync")
    shown = {block.name for block in blocks(page)}
    for name in re.findall(r"`([\w./]+\.py)`", page.read_text(encoding="utf-8")):
        found = any((place / name).is_file() for place in places)
        alone = "/" not in name and any((ROOT / "dpsync").rglob(name)) | any((ROOT / "tests").rglob(name))
        assert found or alone or name in shown, name
