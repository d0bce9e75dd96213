"""Lets the site (mkdocs.yml) show the pages of docs/ as GitHub shows them, from the same Markdown.

Links that leave docs/ lead to the file in the repository. The name behind the word of a fence becomes the
title of the block. Headings get the anchors that GitHub gives them.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"(?<=\]\()((?:\.\./)[^)\s]*)(?=\))")
_FENCE = re.compile(r"^```(\w+) +(\S.*)$", re.MULTILINE)


def anchor(title: str, separator: str = "-") -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", separator)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The Markdown of a page as the site's renderer wants it."""
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def within(link: re.Match[str]) -> str:
        path, _, place = link[1].partition("#")
        target = posixpath.normpath(posixpath.join(folder, path))
        if target == "docs" or target.startswith("docs/"):
            return link[1]
        return f"{config.extra['repository']}/blob/main/{target}{f'#{place}' if place else ''}"

    return _FENCE.sub(r'```\1 title="\2"', _LINK.sub(within, markdown))
