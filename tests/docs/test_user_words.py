"""The user docs stay short (tools/user_words.py)."""

from __future__ import annotations

from tools.user_words import DOCS, MOST, contributor_pages, user_words


def test_docs_word_count_excludes_contributor_pages() -> None:
    counted = user_words()
    assert counted.keys() | contributor_pages() == {
        page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")
    }
    assert counted.keys().isdisjoint(contributor_pages())
    assert counted["glossary.md"] == len((DOCS / "glossary.md").read_text(encoding="utf-8").split())


def test_user_docs_stay_within_word_limit() -> None:
    assert sum(user_words().values()) <= MOST
