"""The search of the site finds user pages, and how-to guides first."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.browser import chromium
from tools.site_pages import CONTRIBUTORS, on_page_content
from tools.user_words import contributor_pages

from .built_site import build, search, served
from .markdown import DOCS

FIRST = {
    "rename a team": {"how-to/renames.html", "kinds/team.html"},
    "renaming teams": {"how-to/renames.html", "kinds/team.html"},
    "delete a site": {"how-to/prune-safely.html", "kinds/site.html"},
    "secrets": {"how-to/secrets.html"},
    "redirect": {"kinds/redirect.html"},
    "roles": {"kinds/index.html"},
    "DP201": {"errors.html"},
}
"""The pages that a search may find first, by what people type."""


def settings(*parts: str, path: str = "page.md") -> dict[str, Any]:
    """Return the search settings of a page in these parts of the navigation."""
    page = SimpleNamespace(
        meta={}, ancestors=[SimpleNamespace(title=part) for part in parts], file=SimpleNamespace(src_uri=path)
    )
    assert on_page_content("<p>", page, None, None) == "<p>"
    found: dict[str, Any] = page.meta["search"]
    return found


@pytest.mark.parametrize(
    ("found", "excluded"),
    [
        pytest.param(settings(CONTRIBUTORS), True, id="contributors"),
        pytest.param(settings("How-to guides"), False, id="guide"),
        pytest.param(settings(), False, id="front page"),
    ],
)
def test_site_search_excludes_only_contributor_pages(found: dict[str, Any], excluded: bool) -> None:
    assert found["exclude"] is excluded


def test_site_search_ranks_guides_before_kinds_and_api() -> None:
    guide, kind, other = settings("How-to guides"), settings("Object types"), settings("Commands")
    api = settings("Local server, Python and API", path="api.md")
    assert guide["boost"] > kind["boost"] > other["boost"] > api["boost"]


def test_contributor_pages_include_internals_pages() -> None:
    assert {"promises.md", "kind-internals.md", "architecture.md"} <= contributor_pages()


def test_site_search_finds_user_pages_first(tmp_path: Path) -> None:
    build(tmp_path)
    index = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))
    indexed = {entry["location"].partition(".html")[0] for entry in index["docs"]}
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - contributor_pages()
    assert indexed == {page.removesuffix(".md").replace("README", "index") for page in pages}
    with served(tmp_path) as address, chromium() as browser, browser.new_page() as opened:
        opened.set_viewport_size({"width": 1280, "height": 900})
        found = {query: search(opened, address, query) for query in FIRST}
    assert {query: links[0] for query, links in found.items() if links[0] not in FIRST[query]} == {}
