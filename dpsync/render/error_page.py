"""Read the sections of docs/errors.md, which is part of the package, as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dpsync import disk
from dpsync.model.urls import DOCS_URL

_PACKAGE: Final = Path(__file__).parents[1]
_PAGE_LOCATIONS: Final = (_PACKAGE / "errors.md", _PACKAGE.parent / "docs" / "errors.md")
"""Where it is in a wheel, and in a checkout."""
_MAX_PAGE_BYTES: Final = 1 << 20
_LINK: Final = re.compile(r"\[([^\]]+)\]\(([^)]*)\)")


def read_code_sections() -> dict[str, list[str]]:
    """Return the section of each error code in docs/errors.md, as lines without the heading.

    Raises OSError if the page is missing.
    """
    page = next((path for path in _PAGE_LOCATIONS if path.is_file()), _PAGE_LOCATIONS[0])
    sections: dict[str, list[str]] = {}
    section: list[str] = []
    fenced = False
    for line in disk.read(page, _MAX_PAGE_BYTES).decode().splitlines():
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("#"):
            section = []
            if line.startswith("### "):
                sections[line[4:].strip()] = section
            continue
        section.append(line)
    return sections


def find_code(word: str, sections: dict[str, list[str]]) -> str | None:
    """Return the code for a word that a user typed; case and `error[…]` around the code do not matter."""
    match = re.fullmatch(r"(?:\w+\[)?([\w-]+)\]?", word)
    code_name = (match[1] if match else word).casefold()
    return next((code for code in sections if code.casefold() == code_name), None)


def plain_section(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield the paragraphs of a Markdown section as plain text, and its code blocks unchanged.

    Each item is the text, and whether it is a code block. A link becomes its text, or its address if the
    text is only the name of a file.
    """

    def link_text(link: re.Match[str]) -> str:
        return f"{DOCS_URL}/{link[2]}" if link[1].endswith(".md") else link[1]

    def without_markdown(text: str) -> str:
        return _LINK.sub(link_text, text).replace("**", "").replace("`", "")

    paragraph: list[str] = []
    block: list[str] | None = None
    for line in (*lines, ""):
        if line.startswith("```"):
            if block is not None:
                yield "\n".join(block), True
            block = [] if block is None else None
        elif block is not None:
            block.append(line)
        elif line.strip() and not line.startswith("<!--"):
            if line.startswith("- ") and paragraph:
                yield without_markdown(" ".join(paragraph)), False
                paragraph = []
            paragraph.append(line.strip())
        elif paragraph:
            yield without_markdown(" ".join(paragraph)), False
            paragraph = []
