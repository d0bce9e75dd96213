"""Prepare the pages of docs/ for the site (mkdocs.yml), which shows the same Markdown as GitHub.

A link that leaves docs/ leads to the file in the repository. The name after the language of a code block
becomes the title of the block. Headings get the same anchors as on GitHub. The search does not find pages for
contributors, and ranks how-to guides first.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any, Final

_LINK = re.compile(r"(?<=\]\()((?:\.\./)[^)\s]*)(?=\))")
_FENCE = re.compile(r"^```(\w+) +(\S.*)$", re.MULTILINE)

CONTRIBUTORS: Final = "For contributors"
"""The part of the navigation whose pages the search does not find."""
_BOOSTS: Final[Mapping[str, float]] = {"How-to guides": 4, "Object types": 2, "api.md": 0.2}
"""The weight of pages in search results, by the part of the navigation or by the page; other pages have 1."""
_WIDE: Final = {"Object types"}
"""The parts of the navigation whose pages have few headings, so that their tables can be wider."""


def anchor(title: str, separator: str = "-") -> str:
    """Return the anchor of a heading, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", separator)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return the Markdown of a page in the form that MkDocs needs."""
    del files
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def within(link: re.Match[str]) -> str:
        path, _, place = link[1].partition("#")
        target = posixpath.normpath(posixpath.join(folder, path))
        if target == "docs" or target.startswith("docs/"):
            return link[1]
        return f"{config.extra['repository']}/blob/main/{target}{f'#{place}' if place else ''}"

    return _FENCE.sub(r'```\1 title="\2"', _LINK.sub(within, markdown))


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Set how the theme shows and finds a page, and return the HTML of the page unchanged."""
    del config, files
    parts = [page.file.src_uri, *(section.title for section in page.ancestors)]
    boost = next((_BOOSTS[part] for part in parts if part in _BOOSTS), 1)
    if any(part in _WIDE for part in parts):
        page.meta["hide"] = ["toc"]
    page.meta["search"] = {"exclude": CONTRIBUTORS in parts, "boost": boost}
    return html
