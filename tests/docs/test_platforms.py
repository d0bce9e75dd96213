"""The tables of docs/platforms.md and docs/api-versions.md are current."""

from __future__ import annotations

import re

import pytest

from tests.contract import disagreements, editions
from tools import platforms_page

TODAY = "0.202.0"


def test_tables_are_current() -> None:
    for path, content in platforms_page.pages().items():
        assert path.read_text(encoding="utf-8") == content, "run: make schemas"


def test_the_documents_differ_in_nothing_that_the_table_does_not_say() -> None:
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


def test_each_known_disagreement_with_the_document_of_its_time_has_its_row() -> None:
    assert disagreements.table() in platforms_page.VERSIONS.read_text(encoding="utf-8"), disagreements.table()


def test_the_scopes_are_those_of_the_vendors_document() -> None:
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
