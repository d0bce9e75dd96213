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


def test_sentences_follow_heading_and_exclude_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading that has many words\n\nThe first sentence is here. The second one\nis longer.\n\n"
        "<!-- a comment with five words -->\n```console\n$ one two three four five\n```\n\n"
        "| a | b |\n|---|---|\n| `x` | this cell has some words |\n| `x` | `one two three four five` |\n\n"
        "1. Read [the page about plans](plan.md) first.\n2. Follow the next page after it.\n"
        "3. Write the secret as `{ env: NAME }`, `{ file: NAME }` or here. [test_x](tests/test_x.py), "
        "[test_y](tests/test_y.py)\n",
        encoding="utf-8",
    )
    assert list(sentences(page)) == [
        "(A heading that has many words) The first sentence is here.",
        "(A heading that has many words) The second one is longer.",
        "(A heading that has many words; a · b) | `x` | this cell has some words |",
        "(A heading that has many words) Read the page about plans first.",
        "(A heading that has many words) Follow the next page after it.",
        "(A heading that has many words) Write the secret as `{ env: NAME }`, `{ file: NAME }` or here.",
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
    assert list(messages(module)) == ["the file {x} cannot be read at all", "delete the line or change it"]
