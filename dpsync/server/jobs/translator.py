"""The stand-in translator: deterministic, without a real translation.

The translator puts the language in front of a text and leaves the text unchanged, so that readers recognize
it and the same text always has the same result. The companion cannot know what GitBook's translator would
write.
"""

from copy import deepcopy
from typing import Any

from msgspec import Struct

from ..content.editing import document_of
from ..content.markdown import to_markdown
from ..content.rich_text import text, text_of
from ..content.tree import walk
from ..store import Json

LONGEST_PAGE_TITLE = 255


class Translated(Struct, frozen=True):
    """A translated content. `words` counts the words of the original titles, descriptions and texts."""

    content: Json
    words: int
    pages: int


def translated(text: str, language: str, longest: int) -> str:
    """Return a text such as `[fr] Guides`, cut to the maximum length of the field."""
    return f"[{language}] {text}"[:longest].rstrip()


def words(text: str) -> int:
    return len(text.split())


def translated_content(content: Json, language: str) -> Translated:
    """Translate the titles, headings and paragraphs of all pages and reusable contents.

    Pages keep their ids and paths, so that links between pages still work.
    """
    made, count, pages = deepcopy(content), 0, 0
    for page, _ in walk(made["pages"]):
        pages += 1
        count += _translate(page, language)
    for reusable in made["reusableContents"]:
        count += _translate(reusable, language)
    return Translated(made, count, pages)


def _translate(item: Json, language: str) -> int:
    count = words(item["title"]) + words(item.get("description", ""))
    item["title"] = translated(item["title"], language, LONGEST_PAGE_TITLE)
    if item.get("description"):
        item["description"] = translated(item["description"], language, 1024)
    if "body" in item:
        document = document_of(item)
        count += words(text_of(document["nodes"]))
        turned = _led_by_language(document, language)
        item["body"] = (
            {"document": turned} if "document" in item["body"] else {"markdown": to_markdown(turned)}
        )
    return count


def _led_by_language(node: Any, language: str) -> Any:
    if isinstance(node, list):
        return [_led_by_language(child, language) for child in node]
    if not isinstance(node, dict):
        return node
    kind = str(node.get("type"))
    if kind == "code":
        return node
    inside = node.get("nodes")
    is_text = kind == "paragraph" or kind.startswith("heading-")
    if is_text and isinstance(inside, list) and text_of(inside).strip():
        return {**node, "nodes": [text(f"[{language}] "), *inside]}
    return {name: _led_by_language(value, language) for name, value in node.items()}
