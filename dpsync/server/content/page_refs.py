"""Find the references of a page to other objects, and the anchors and sections that links can name.

Input: pages and documents as plain JSON. Output: references and ids.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from .documents import Json
from .editing import page_document
from .rich_text import node_data, node_ref, plain_text, to_document
from .slugs import make_slug, unique_slug

REFERENCE, DEPENDS_ON = "reference", "dependsOn"
PageRef = tuple[str, Json]
"""A relation (REFERENCE or DEPENDS_ON), and a content reference."""
PageSection = tuple[str, str, str]
"""The anchor, the title and the text of a section."""
TEXT_CACHE_SIZE = 2048


def page_refs(page: Json) -> Iterator[PageRef]:
    """Yield (relation, reference) for each reference in a page or reusable content, including duplicates.

    First the references of cover, target, metadata and dependencies, then those of the text in its order.
    """
    cover = page.get("cover") or {}
    meta = page.get("metaLinks") or {}
    single_refs = [cover.get("ref"), cover.get("refDark"), page.get("target"), meta.get("canonical")]
    for ref in (*single_refs, *(meta.get("alternates") or ())):
        if ref:
            yield REFERENCE, ref
    for dependency in ((page.get("computed") or {}).get("dependencies") or {}).values():
        if isinstance(dependency.get("ref"), dict) and "kind" in dependency["ref"]:
            yield DEPENDS_ON, dependency["ref"]
    body = page.get("body") or {}
    body_refs = _markdown_refs(body["markdown"]) if "markdown" in body else _node_refs(page_document(page))
    for ref in body_refs:
        yield REFERENCE, ref


@lru_cache(TEXT_CACHE_SIZE)
def _markdown_refs(markdown: str) -> tuple[Json, ...]:
    """Return the references in a Markdown text, cached because parsing is slow."""
    return tuple(_node_refs(to_document(markdown)))


def _node_refs(node: Any) -> Iterator[Json]:
    """Yield the references in a node, a list of nodes or a Document, in document order."""
    if isinstance(node, list):
        for child in node:
            yield from _node_refs(child)
    if not isinstance(node, dict):
        return
    for name in ("ref", "refDark"):
        if isinstance(node_ref(node, name).get("kind"), str):
            yield node_ref(node, name)
    for part in ("nodes", "fragments"):
        yield from _node_refs(node.get(part))


def page_sections(page: Json) -> Sequence[PageSection]:
    """Return the sections of the text of a page. Sections of Markdown are cached."""
    body = page.get("body") or {"markdown": ""}
    return (
        _markdown_sections(body["markdown"]) if "markdown" in body else document_sections(page_document(page))
    )


@lru_cache(TEXT_CACHE_SIZE)
def _markdown_sections(markdown: str) -> tuple[PageSection, ...]:
    """Return the sections of a Markdown text, cached because parsing is slow."""
    return tuple(document_sections(to_document(markdown)))


def document_sections(document: Json) -> list[PageSection]:
    """Split a document at its headings into (anchor, title, text).

    The text before the first heading has the anchor "" and the title "".
    """
    sections: list[tuple[str, str, list[str]]] = [("", "", [])]
    anchors: set[str] = set()
    for node in document.get("nodes", []):
        if str(node.get("type")).startswith("heading-"):
            title = " ".join(plain_text(node.get("nodes")).split())
            anchor = unique_slug(make_slug(title, "section"), anchors, "section")
            anchors.add(anchor)
            sections.append((anchor, title, []))
        else:
            sections[-1][2].append(plain_text(node))
    return [(anchor, title, " ".join(" ".join(parts).split())) for anchor, title, parts in sections]


def page_anchors(page: Json) -> set[str]:
    """Return the anchors of a page: its headings, and the blocks of its Document that have an id."""
    heading_anchors = {anchor for anchor, _, _ in page_sections(page) if anchor}
    document = (page.get("body") or {}).get("document") or {}
    return heading_anchors | {
        str(node_data(node)["id"]) for node in document.get("nodes", []) if "id" in node_data(node)
    }
