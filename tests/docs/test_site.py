"""The site has the pages that GitHub shows (mkdocs.yml, tools/site_pages.py). `make site` builds it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.site_pages import anchor, on_page_markdown

from .markdown import DOCS, PAGES, ROOT


def shown(markdown: str, page: str = "plan.md") -> str:
    file, config = (
        SimpleNamespace(src_uri=page),
        SimpleNamespace(extra={"repository": "https://git.example/dpsync"}),
    )
    return on_page_markdown(markdown, SimpleNamespace(file=file), config, None)


def test_site_navigation_lists_every_page_once() -> None:
    named = re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = [page.relative_to(DOCS).as_posix() for page in PAGES if DOCS in page.parents]
    assert sorted(named) == sorted(pages)


def test_site_keeps_links_between_pages() -> None:
    assert shown("[a](drift.md#exit-codes) [b](how-to/ci.md)") == "[a](drift.md#exit-codes) [b](how-to/ci.md)"
    assert shown("[a](../plan.md)", "how-to/ci.md") == "[a](../plan.md)"


def test_site_rewrites_links_outside_docs_to_repository() -> None:
    assert shown("[a](../CONTRIBUTING.md#set-up)") == (
        "[a](https://git.example/dpsync/blob/main/CONTRIBUTING.md#set-up)"
    )
    assert shown("[a](../../examples/gitlab/.gitlab-ci.yml)", "how-to/ci.md") == (
        "[a](https://git.example/dpsync/blob/main/examples/gitlab/.gitlab-ci.yml)"
    )


def test_site_shows_block_name_as_title() -> None:
    assert shown("```yaml prod.yaml\na: 1\n```\n") == '```yaml title="prod.yaml"\na: 1\n```\n'
    assert shown("```sh\nls\n```\n") == "```sh\nls\n```\n"


def test_heading_anchor_matches_github() -> None:
    assert anchor("Taking over changes: `--update`") == "taking-over-changes---update"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_parses_as_html(page: Path) -> None:
    """MkDocs reads each page so before it is Markdown, and stops at `<![` of a regular expression."""
    parser = HTMLParser()
    parser.feed(page.read_text(encoding="utf-8"))
    parser.close()
    assert parser.rawdata == ""
