"""The tables of docs/platforms.md and docs/api-versions.md are current."""

from __future__ import annotations

import re

import pytest

from tests.contract import disagreements, editions
from tools import platforms_page

TODAY = "0.202.0"


def test_platform_tables_match_generator_output() -> None:
    for path, content in platforms_page.pages().items():
        assert path.read_text(encoding="utf-8") == content, "run: make schemas"


def test_api_version_table_lists_every_difference() -> None:
    known = {name: platforms_page.operations(one) for name, one in platforms_page.documents().items()}
    table = platforms_page.editions_table()
    words = set(re.findall(r"\w+", table))
    for first, then in (("reference", "full"), ("full", "published")):
        for name in known[first].keys() ^ known[then].keys():
            assert name in words
        for name in known[first].keys() & known[then].keys():
            for place, _, _ in platforms_page.differences(known[first][name], known[then][name]):
                assert f"| `{first}`, `{then}` |" in table
                assert f" {place} |" in table


def test_api_versions_page_lists_known_disagreements() -> None:
    assert disagreements.table() in platforms_page.VERSIONS.read_text(encoding="utf-8"), disagreements.table()


def test_documented_oauth_scopes_match_gitbook_openapi_document() -> None:
    if not editions.is_here(TODAY):
        pytest.skip(f"make contract fetches the vendor's document {TODAY}")
    document = editions.document(TODAY)
    said = {
        (method.upper(), platforms_page.plain(path)): scope
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if isinstance(operation, dict)
        for one in operation.get("security", ())
        for scope in [" ".join(one.get("oauth", ()))]
        if scope
    }
    assert platforms_page.scopes() == said
