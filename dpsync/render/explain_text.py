"""Print `dpsync explain`: a heading, named facts in two columns, and an example."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from dpsync.model.text import format_command
from dpsync.model.urls import DOCS_URL
from dpsync.render.paint import Paint

if TYPE_CHECKING:
    from dpsync.render.explanations import Explanation


_WIDTH: Final = 80
_NAME_COLUMN_WIDTH: Final = 15


def render_explanation(said: Explanation, paint: Paint) -> str:
    """Return an explanation in lines of at most 80 columns; only examples and addresses may be longer."""
    lines = list(_wrapped(said.meaning.replace("`", ""), "  "))
    if said.facts:
        before = ("", *(name for name, _ in said.facts))
        named = zip(before, said.facts, strict=False)
        lines += ["", *(line for last, fact in named for line in _fact_lines(last, *fact))]
    if said.example:
        lines += ["", "  Example:", *(f"    {line}" for line in said.example.splitlines())]
    if said.page_url:
        lines += ["", f"  More: {said.page_url}"]
    return "\n".join([paint(said.heading, "bold"), *lines])


def render_code(code: str, section: Iterable[tuple[str, bool]], paint: Paint) -> str:
    """Return the section of docs/errors.md about a code, and the address of that section."""
    paragraphs = (
        [f"    {line}" for line in text.splitlines()] if block else _wrapped_paragraph(text)
        for text, block in section
    )
    more = f"  More: {DOCS_URL}/errors.md#{code.lower()}"
    return "\n".join([paint(code, "bold"), "\n\n".join([*map("\n".join, paragraphs), more])])


def render_overview(kinds: Iterable[tuple[str, str]], paint: Paint) -> str:
    """Return the list of all kinds, and the commands for the other words."""
    rows = list(kinds)
    side = max(len(name) for name, _ in rows) + 2
    lines = [paint("Object types (kinds), and the place of each object type in your files", "bold")]
    for name, where in rows:
        text = textwrap.wrap(where.replace("`", ""), _WIDTH - side - 2, break_long_words=False)
        lines += [f"  {name:<{side}}{text[0]}", *(" " * (side + 2) + line for line in text[1:])]
    lines += [
        "",
        f"Explain an object type:   {format_command('explain', 'site')}",
        f"Explain a field:          {format_command('explain', 'site.visibility')}",
        f"Explain a root-file key:  {format_command('explain', 'policy.prune')}",
        f"Explain an error code:    {format_command('explain', 'DP201')}",
        "",
        f"More: {DOCS_URL}/kinds/index.md",
    ]
    return "\n".join(lines)


def _fact_lines(last: str, name: str, words: str) -> Iterator[str]:
    """Yield the lines of a fact; a fact with the same name as the one before has no name."""
    side = "" if name == last else name
    first, *rest = textwrap.wrap(
        words, _WIDTH - _NAME_COLUMN_WIDTH - 2, break_long_words=False, break_on_hyphens=False
    )
    yield f"  {side:<{_NAME_COLUMN_WIDTH}}{first}"
    yield from (" " * (_NAME_COLUMN_WIDTH + 2) + line for line in rest)


def _wrapped_paragraph(text: str) -> list[str]:
    """Return the lines of a paragraph, or of an item of a list, whose other lines begin below its text."""
    return _wrapped(text, "  ", "    " if text.startswith("- ") else "  ")


def _wrapped(text: str, indent: str, indent_below: str = "") -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent_below or indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
