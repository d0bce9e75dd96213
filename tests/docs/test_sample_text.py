"""tools/sample_text.py finds the sentences and messages that users read, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.sample_text import messages, sentences, user_pages

from .markdown import DOCS, ROOT


def test_readability_sample_excludes_contributor_pages() -> None:
    pages = user_pages()
    assert {ROOT / "README.md", DOCS / "plan.md", DOCS / "how-to" / "renames.md"} <= set(pages)
    assert DOCS / "architecture.md" not in pages
    assert all(page.exists() for page in pages)


def test_readability_sample_sentences_include_preceding_context(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading that has many words\n\nThe first sentence is here. The second one\nis longer.\n\n"
        "<!-- a comment with five words -->\n```console\n$ one two three four five\n```\n\n"
        "| a | b |\n|---|---|\n| `x` | this cell has some words |\n| `x` | `one two three four five` |\n\n"
        "These are the three steps:\n\n"
        "1. Read [the page about plans](plan.md) first.\n2. Follow the next page after it.\n"
        "3. Write the secret as `{ env: NAME }`, `{ file: NAME }` or here. [test_x](tests/test_x.py), "
        "[test_y](tests/test_y.py)\n",
        encoding="utf-8",
    )
    heading = "A heading that has many words"
    example = "⟨example: $ one two three four five⟩"
    two = f"{heading}: … The first sentence is here. The second one is longer. {example}"
    steps = f"{heading}: … {example} These are the three steps:"
    assert list(sentences(page)) == [
        ("The first sentence is here.", heading),
        ("The second one is longer.", f"{heading}: … The first sentence is here."),
        ("| `x` | this cell has some words |", f"{two}; table: a · b"),
        ("These are the three steps:", two),
        ("Read the page about plans first.", steps),
        ("Follow the next page after it.", steps),
        ("Write the secret as `{ env: NAME }`, `{ file: NAME }` or here.", steps),
    ]


def test_readability_sample_messages_exclude_docstrings(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""A docstring that has many words."""\n'
        'def f(x):\n    """Another docstring with many words."""\n'
        '    yield f"the file {x} cannot be read at all"\n    yield "short one"\n',
        encoding="utf-8",
    )
    assert list(messages(module)) == [("the file {x} cannot be read at all", "")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a key of JSON": "and its value of words"}', id="json"),
        pytest.param(r"Got unexpected extra arguments? \(.*\)", id="regular expression"),
        pytest.param("query ($id: ID!) { node(id: $id) { body createdAt } }", id="graphql query"),
        pytest.param("first_name of second third fourth", id="python names"),
    ],
)
def test_readability_sample_messages_exclude_data_strings(text: str, tmp_path: Path) -> None:
    """A reader would otherwise be asked to read a query to a server."""
    module = tmp_path / "module.py"
    module.write_text(f"TEXT = {text!r}\n", encoding="utf-8")
    assert list(messages(module)) == []


def test_readability_sample_messages_include_field_and_call(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        'HINT = error("taken", hint="choose another name for the team")\n'
        'FIELDS = {"team": {"title": "The name of the team in GitBook."}}\n',
        encoding="utf-8",
    )
    assert list(messages(module)) == [
        ("choose another name for the team", "HINT · taken"),
        ("The name of the team in GitBook.", "FIELDS · team · title"),
    ]
