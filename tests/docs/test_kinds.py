"""docs/kinds.md is what the declarations say, and every word that it explains is one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dpsync.kinds.kind import Call, Entries, Field, Kind, Lifecycle, ListOrder, Pages, PlatformWork, Post
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Flag, Text
from tools.kinds_page import WORDS, kinds_reference, page, words_of

from .examples import REGISTRY
from .markdown import DOCS, ROOT, sections

PAGE = DOCS / "kinds.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make schemas"


def test_the_page_is_written_by_a_command() -> None:
    command = [sys.executable, "-m", "tools.kinds_page"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout == PAGE.read_bytes()


@pytest.mark.parametrize("kind", REGISTRY.ordered, ids=lambda kind: kind.name)
def test_every_kind_has_its_section_with_every_field_that_can_be_written(kind: Kind) -> None:
    section = next(one for one in sections(PAGE) if one.title.lower() == kind.noun.lower())
    text = "\n".join(section.words)
    assert all(f"`{field.name}`" in text for field in kind.fields if not field.nest)


@pytest.mark.parametrize("of", [Kind, Lifecycle, PlatformWork, Field, ListOrder, Call])
def test_every_word_of_a_declaration_is_explained(of: type) -> None:
    assert list(WORDS[of]) == words_of(of)


def test_the_page_follows_from_any_registry() -> None:
    top = Kind(
        "shelf", None, "shelves", Entries(), "/shelves/{id}", Pages("/shelves"), (Field("title", Text()),)
    )
    book = Kind(
        "book", "shelf", "books", Entries(natural="isbn"), "{parent}/books/{id}", Pages("{parent}/books"),
        (Field("isbn", Text(13, 13), on="neither"),
         Field("lent", Flag(), via={True: Post("{self}/lend", repeat="safe")})),
        identity=("isbn",), create=Post("{parent}/books", repeat="look_up"),
    )  # fmt: skip
    text = kinds_reference(Registry([top, book]), {"book": "Books on a shelf."})
    assert "## Book\n\nBooks on a shelf.\n" in text
    assert "- In the file: entries of `books:` of a shelf; the key is its `isbn`." in text
    assert "- Address: `SHELF/books/BOOK`." in text
    assert "| `lent` |  | `true` or `false` | created, `true` by `POST {self}/lend` |" in text
