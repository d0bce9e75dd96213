"""Find the references of a page, and the anchors and sections of a text that links can name."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from .documents import Json
from .editing import document_of
from .rich_text import data_of, ref_of, text_of, to_document
from .slugs import slug, unique_slug

REFERENCE, DEPENDS_ON = "reference", "dependsOn"
Use = tuple[str, Json]
"""A relation, and the content reference that has it."""
Section = tuple[str, str, str]
"""Anchor, title, text."""
TEXTS_REMEMBERED = 2048


def uses_of(page: Json) -> Iterator[Use]:
    """Yield the references of a page or of a reusable content in document order, including duplicates."""
    cover = page.get("cover") or {}
    meta = page.get("metaLinks") or {}
    around = [cover.get("ref"), cover.get("refDark"), page.get("target"), meta.get("canonical")]
    for ref in (*around, *(meta.get("alternates") or ())):
        if ref:
            yield REFERENCE, ref
    for dependency in ((page.get("computed") or {}).get("dependencies") or {}).values():
        if isinstance(dependency.get("ref"), dict) and "kind" in dependency["ref"]:
            yield DEPENDS_ON, dependency["ref"]
    for ref in _refs_in(page):
        yield REFERENCE, ref


def _refs_in(page: Json) -> Iterable[Json]:
    body = page.get("body") or {}
    return _refs_in_markdown(body["markdown"]) if "markdown" in body else _refs(document_of(page))


@lru_cache(TEXTS_REMEMBERED)
def _refs_in_markdown(markdown: str) -> tuple[Json, ...]:
    return tuple(_refs(to_document(markdown)))


def _refs(node: Any) -> Iterator[Json]:
    if isinstance(node, list):
        for child in node:
            yield from _refs(child)
    if not isinstance(node, dict):
        return
    for name in ("ref", "refDark"):
        if isinstance(ref_of(node, name).get("kind"), str):
            yield ref_of(node, name)
    for part in ("nodes", "fragments"):
        yield from _refs(node.get(part))


def sections_of(page: Json) -> Sequence[Section]:
    """Return the sections of the text of a page. Sections of Markdown are cached."""
    body = page.get("body") or {"markdown": ""}
    return _sections_in_markdown(body["markdown"]) if "markdown" in body else sections(document_of(page))


@lru_cache(TEXTS_REMEMBERED)
def _sections_in_markdown(markdown: str) -> tuple[Section, ...]:
    return tuple(sections(to_document(markdown)))


def sections(document: Json) -> list[Section]:
    """Split a document at its headings into (anchor, title, text).

    The text before the first heading has the anchor "" and the title "".
    """
    found: list[tuple[str, str, list[str]]] = [("", "", [])]
    taken: set[str] = set()
    for node in document.get("nodes", []):
        if str(node.get("type")).startswith("heading-"):
            title = " ".join(text_of(node.get("nodes")).split())
            anchor = unique_slug(slug(title, "section"), taken, "section")
            taken.add(anchor)
            found.append((anchor, title, []))
        else:
            found[-1][2].append(text_of(node))
    return [(anchor, title, " ".join(" ".join(parts).split())) for anchor, title, parts in found]


def anchors_of(page: Json) -> set[str]:
    """Return the anchors of a page: its headings, and the blocks of its Document that have an id."""
    named = {anchor for anchor, _, _ in sections_of(page) if anchor}
    document = (page.get("body") or {}).get("document") or {}
    return named | {str(data_of(node)["id"]) for node in document.get("nodes", []) if "id" in data_of(node)}
