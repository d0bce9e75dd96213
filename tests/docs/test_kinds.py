"""docs/kinds/ and docs/kind-internals.md are what the declarations say, and users can read them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dpsync.kinds.field_descriptions import kind_page_file_name
from dpsync.kinds.kind import (
    Call,
    EntryMapping,
    Field,
    Kind,
    Lifecycle,
    ListOrder,
    ListRead,
    PlatformWork,
    Post,
)
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Flag, Text
from tools.kind_internals import WORDS, words_of
from tools.kind_internals import page as internals_page
from tools.kinds_page import GROUPS, kind_page, pages

from .examples import REGISTRY
from .markdown import DOCS, ROOT, sections

FOLDER = DOCS / "kinds"
INTERNALS = DOCS / "kind-internals.md"
MADE = pages(REGISTRY)
KIND_PAGES = sorted(set(MADE) - {"index.md"})
ROW = re.compile(r"^\|(.*)\|(.*)\|(.*)\|$", re.MULTILINE)
MOST_WORDS = 8_600


def rows(text: str) -> list[tuple[str, str, str]]:
    """Return the rows of every table with three columns: field, meaning, example."""
    return [found for found in ROW.findall(text) if found[0] not in ("field", "key", "---")]


def test_kinds_folder_matches_generated_pages() -> None:
    assert {page.name: page.read_text(encoding="utf-8") for page in FOLDER.iterdir()} == MADE, (
        "run: make schemas"
    )


def test_internals_page_matches_generator_output() -> None:
    command = [sys.executable, "-m", "tools.kind_internals"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    assert printed == INTERNALS.read_bytes(), "run: make schemas"


def test_kinds_index_lists_every_kind_once() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(REGISTRY.kinds)


def test_kind_pages_stay_within_word_limit() -> None:
    assert sum(len(text.split()) for text in MADE.values()) <= MOST_WORDS


@pytest.mark.parametrize("kind", REGISTRY.in_dependency_order, ids=lambda kind: str(kind.name))
def test_kind_page_lists_every_writable_field(kind: Kind) -> None:
    text = MADE[kind_page_file_name(kind.noun)]
    named = {re.sub(r"[`\\]", "", name) for name, _, _ in rows(text)}
    writable = {field.name for field in kind.fields if not field.is_parent_reference and field.is_declarable}
    assert writable - named == set()


@pytest.mark.parametrize("kind", REGISTRY.in_dependency_order, ids=lambda kind: str(kind.name))
def test_kind_page_mentions_every_field(kind: Kind) -> None:
    text = MADE[kind_page_file_name(kind.noun)]
    assert [
        field.name for field in kind.fields if not field.is_parent_reference and f"`{field.name}`" not in text
    ] == []


@pytest.mark.parametrize("kind", REGISTRY.in_dependency_order, ids=lambda kind: str(kind.name))
def test_internals_page_lists_every_field(kind: Kind) -> None:
    section = next(one for one in sections(INTERNALS) if one.title.lower() == kind.noun.lower())
    text = "\n".join(section.words)
    assert all(f"| `{field.name}` |" in text for field in kind.fields if not field.is_parent_reference)


@pytest.mark.parametrize("name", KIND_PAGES)
def test_kind_page_starts_with_sentence_and_example(name: str) -> None:
    assert re.match(r"# [^\n]+\n\n[^\n]+\.\n\n```yaml\n", MADE[name])


@pytest.mark.parametrize("name", sorted(MADE))
def test_kind_page_rows_have_sentence_and_yaml(name: str) -> None:
    for field, said, example in rows(MADE[name]):
        assert said.rstrip("`").endswith("."), field
        assert "  " not in said, field
        yaml.safe_load(example.strip("`").replace("\\|", "|"))


@pytest.mark.parametrize("name", sorted(MADE))
def test_kind_pages_contain_no_internal_terms(name: str) -> None:
    internal = re.compile(r"\b(POST|PUT|PATCH|DELETE|profile|edition|digest)\b|\{self\}|\{parent\}")
    assert internal.findall(MADE[name]) == []


@pytest.mark.parametrize("of", [Kind, Lifecycle, PlatformWork, Field, ListOrder, Call])
def test_internals_page_explains_every_declaration_attribute(of: type) -> None:
    assert list(WORDS[of]) == words_of(of)


def test_kind_pages_are_generated_from_any_registry() -> None:
    top = Kind(
        "shelf",
        None,
        "shelves",
        EntryMapping(),
        "/shelves/{id}",
        ListRead("/shelves"),
        (Field("title", Text()),),
    )
    book = Kind(
        "book", "shelf", "books", EntryMapping(key_field="isbn"), "{parent}/books/{id}",
        ListRead("{parent}/books"),
        (
            Field("isbn", Text(13, 13), written_in="neither"),
            Field("lent", Flag(), own_call={True: Post("{self}/lend", repeat="safe")}),
        ),
        natural_keys=("isbn",), create=Post("{parent}/books", repeat="look_up"), delete=None,
    )  # fmt: skip
    registry = Registry([top, book])
    text = kind_page(registry, registry["book"])
    assert text.startswith("# Book\n")
    assert "- Address: `shelf/books/book`.\n- dpsync cannot delete a book.\n" in text
    assert "|`isbn`|Length: 13 characters. Write this value as the key of the entry.|`book`|" in text
    assert "| `lent` | create, `true` by `POST {self}/lend` |" in internals_page(registry)


def test_page_of_deleted_kind_is_removed(tmp_path: Path) -> None:
    from tools.kinds_page import write

    (tmp_path / "gone.md").write_text("# Gone\n", encoding="utf-8")
    write(tmp_path)
    assert {page.name for page in tmp_path.iterdir()} == set(MADE)
