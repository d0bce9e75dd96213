"""tools/sample_text.py finds the sentences and messages that users read, and nothing else."""

from __future__ import annotations

from pathlib import Path

from tools.sample_text import messages, sentences, user_pages

from .markdown import DOCS, ROOT


def test_user_pages_exclude_contributor_pages() -> None:
    pages = user_pages()
    assert {ROOT / "README.md", DOCS / "plan.md", DOCS / "how-to" / "renames.md"} <= set(pages)
    assert DOCS / "architecture.md" not in pages
    assert all(page.exists() for page in pages)


def test_sentences_exclude_code_headings_and_comments(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading that has many words\n\nThe first sentence is here. The second one\nis longer.\n\n"
        "<!-- a comment with five words -->\n```console\n$ one two three four five\n```\n\n"
        "| a | b |\n|---|---|\n| `x` | this cell has some words |\n",
        encoding="utf-8",
    )
    assert list(sentences(page)) == [
        "The first sentence is here.",
        "The second one is longer.",
        "| `x` | this cell has some words |",
    ]


def test_messages_exclude_docstrings_and_show_placeholders(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""A docstring that has many words."""\n'
        'def f(x):\n    """Another docstring with many words."""\n'
        '    yield f"the file {x} cannot be read at all"\n    yield "delete the line or change it"\n'
        '    yield "short one"\n',
        encoding="utf-8",
    )
    assert list(messages(module)) == ["the file {…} cannot be read at all", "delete the line or change it"]
