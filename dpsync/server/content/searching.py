"""Search pages for the words of a query, in titles, descriptions and texts, ignoring case."""

from collections.abc import Sequence

from msgspec import Struct

from .documents import Json
from .targets import sections_of
from .tree import walk

EXCERPT = 240


class Section(Struct, frozen=True):
    anchor: str
    title: str
    body: str


class Hit(Struct, frozen=True):
    """A page that a search found.

    `rank` is 0 if the title contains all words, else 1. `sections` are the sections with at least one of the
    words.
    """

    page: Json
    above: tuple[Json, ...]
    rank: int
    sections: tuple[Section, ...]


def words_of(query: str) -> list[str]:
    return query.casefold().split()


def has_all(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def search(pages: list[Json], words: Sequence[str]) -> list[Hit]:
    """Return the pages that have all words, matches by title first. Without words, return []."""
    if not words:
        return []
    hits = [hit for page, above in walk(pages) if (hit := _hit(page, above, words)) is not None]
    return sorted(hits, key=lambda hit: hit.rank)


def _hit(page: Json, above: tuple[Json, ...], words: Sequence[str]) -> Hit | None:
    parts = sections_of(page)
    texts = [page["title"], page.get("description") or ""]
    if not has_all(" ".join([*texts, *(f"{title} {text}" for _, title, text in parts)]), words):
        return None
    found = tuple(
        Section(anchor, title, _excerpt(text, words))
        for anchor, title, text in parts
        if any(word in f"{title} {text}".casefold() for word in words)
    )
    return Hit(page, above, 0 if has_all(page["title"], words) else 1, found)


def _excerpt(text: str, words: Sequence[str]) -> str:
    """Return a part of the text that starts a little before the first match."""
    folded = text.casefold()
    places = [folded.find(word) for word in words if word in folded]
    start = max(min(places, default=0) - EXCERPT // 4, 0)
    start = text.rfind(" ", 0, start) + 1 if start else 0
    return text[start : start + EXCERPT].strip()
