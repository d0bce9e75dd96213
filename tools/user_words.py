"""Count the words of the user docs: all pages that mkdocs.yml does not list under "For contributors".

    python -m tools.user_words

Prints the words of each page, as `wc -w` counts them, and the sum.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
MOST: Final = 60_000
"""The largest number of words of the user docs."""


def contributor_pages() -> set[str]:
    """Return the paths below docs/ of the pages for contributors."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    _, _, part = navigation.partition("  - For contributors:\n")
    return set(re.findall(r"^      - ([\w/-]+\.md)$", part, re.MULTILINE))


def user_words() -> dict[str, int]:
    """Return the number of words of each page for users, by its path below docs/."""
    pages = {page.relative_to(DOCS).as_posix(): page for page in sorted(DOCS.rglob("*.md"))}
    users = pages.keys() - contributor_pages()
    return {
        name: len(page.read_text(encoding="utf-8").split()) for name, page in pages.items() if name in users
    }


def main() -> None:
    """Print the pages, the longest first, and the sum."""
    words = user_words()
    for name, number in sorted(words.items(), key=lambda page: -page[1]):
        print(f"{number:7,}  {name}")
    print(f"{sum(words.values()):7,}  words of user docs; at most {MOST:,}")


if __name__ == "__main__":
    main()
