"""Translate content without a real translation: a deterministic stand-in for GitBook's translator.

The translator puts the language in front of a text and leaves the text unchanged, so that readers recognize
it and the same text always has the same result.
"""

from copy import deepcopy
from typing import Any

from msgspec import Struct

from ..content.editing import page_document
from ..content.markdown import to_markdown
from ..content.page_tree import walk_pages
from ..content.rich_text import plain_text, text_node
from ..store import Json

MAX_PAGE_TITLE_LENGTH = 255


class TranslatedContent(Struct, frozen=True):
    """A translated content. `word_count` counts the words of the original titles, descriptions and texts."""

    content: Json
    word_count: int
    page_count: int


def translate_text(text: str, language: str, max_length: int) -> str:
    """Return a text such as `[fr] Guides`, cut to the maximum length of the field."""
    return f"[{language}] {text}"[:max_length].rstrip()


def count_words(text: str) -> int:
    """Return the number of words in a text."""
    return len(text.split())


def translate_content(content: Json, language: str) -> TranslatedContent:
    """Translate the titles, headings and paragraphs of all pages and reusable contents.

    Pages keep their ids and paths, so that links between pages still work.
    """
    translated, count, pages = deepcopy(content), 0, 0
    for page, _ in walk_pages(translated["pages"]):
        pages += 1
        count += _translate(page, language)
    for reusable in translated["reusableContents"]:
        count += _translate(reusable, language)
    return TranslatedContent(translated, count, pages)


def _translate(content: Json, language: str) -> int:
    """Translate a page or a reusable content in place, and return the number of words before.

    This only puts the language in front of texts (see `translate_text`). A text in Markdown stays Markdown.
    """
    count = count_words(content["title"]) + count_words(content.get("description", ""))
    content["title"] = translate_text(content["title"], language, MAX_PAGE_TITLE_LENGTH)
    if content.get("description"):
        content["description"] = translate_text(content["description"], language, 1024)
    if "body" in content:
        document = page_document(content)
        count += count_words(plain_text(document["nodes"]))
        translated = _prefix_language(document, language)
        content["body"] = (
            {"document": translated}
            if "document" in content["body"]
            else {"markdown": to_markdown(translated)}
        )
    return count


def _prefix_language(node: Any, language: str) -> Any:
    """Return a node with the language in front of each heading and paragraph. Code stays unchanged."""
    if isinstance(node, list):
        return [_prefix_language(child, language) for child in node]
    if not isinstance(node, dict):
        return node
    kind = str(node.get("type"))
    if kind == "code":
        return node
    children = node.get("nodes")
    is_text = kind == "paragraph" or kind.startswith("heading-")
    if is_text and isinstance(children, list) and plain_text(children).strip():
        return {**node, "nodes": [text_node(f"[{language}] "), *children]}
    return {name: _prefix_language(value, language) for name, value in node.items()}
