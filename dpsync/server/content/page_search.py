"""Search pages for the words of a query, in titles, descriptions and texts, ignoring case."""

from collections.abc import Sequence

from msgspec import Struct

from .documents import Json
from .page_refs import page_sections
from .page_tree import walk_pages

EXCERPT_LENGTH = 240


class MatchedSection(Struct, frozen=True):
    """A section that contains a word of the query. `body` is an excerpt of its text."""

    anchor: str
    title: str
    body: str


class SearchHit(Struct, frozen=True):
    """A page that a search found.

    `rank` is 0 if the title contains all words, else 1. `sections` are the sections with at least one of the
    words.
    """

    page: Json
    ancestors: tuple[Json, ...]
    rank: int
    sections: tuple[MatchedSection, ...]


def query_words(query: str) -> list[str]:
    """Return the words of a query, case-folded."""
    return query.casefold().split()


def contains_all(text: str, words: Sequence[str]) -> bool:
    """Return whether a text contains all of the case-folded words."""
    folded = text.casefold()
    return all(word in folded for word in words)


def search_pages(pages: list[Json], words: Sequence[str]) -> list[SearchHit]:
    """Return the pages that have all words, matches by title first. Without words, return []."""
    if not words:
        return []
    hits = [
        hit
        for page, ancestors in walk_pages(pages)
        if (hit := _match_page(page, ancestors, words)) is not None
    ]
    return sorted(hits, key=lambda hit: hit.rank)


def _match_page(page: Json, ancestors: tuple[Json, ...], words: Sequence[str]) -> SearchHit | None:
    """Return a page as a search hit, or None if it lacks one of the words (in lower case).

    The rank is 0 if the title has all words, else 1. The hit has the sections with at least one word.
    """
    parts = page_sections(page)
    texts = [page["title"], page.get("description") or ""]
    if not contains_all(" ".join([*texts, *(f"{title} {text}" for _, title, text in parts)]), words):
        return None
    sections = tuple(
        MatchedSection(anchor, title, _excerpt(text, words))
        for anchor, title, text in parts
        if any(word in f"{title} {text}".casefold() for word in words)
    )
    return SearchHit(page, ancestors, 0 if contains_all(page["title"], words) else 1, sections)


def _excerpt(text: str, words: Sequence[str]) -> str:
    """Return a part of the text that starts a little before the first match."""
    folded = text.casefold()
    positions = [folded.find(word) for word in words if word in folded]
    start = max(min(positions, default=0) - EXCERPT_LENGTH // 4, 0)
    start = text.rfind(" ", 0, start) + 1 if start else 0
    return text[start : start + EXCERPT_LENGTH].strip()
