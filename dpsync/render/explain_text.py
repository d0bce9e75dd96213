"""Print `dpsync explain`: a heading, facts with their names in two columns, and an example."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from dpsync.model.text import format_command
from dpsync.model.urls import DOCS_URL
from dpsync.render.paint import Paint

if TYPE_CHECKING:
    from dpsync.render.explanations import Explanation


_WIDTH: Final = 80
_NAME_COLUMN_WIDTH: Final = 15


def render_explanation(explanation: Explanation, paint: Paint) -> str:
    """Return an explanation as text: heading, meaning, facts in two columns, example, link.

    Lines have at most 80 columns; only examples and URLs may be longer. Of several facts with the same name,
    only the first shows the name.
    """
    lines = list(_wrapped(explanation.meaning.replace("`", ""), "  "))
    if explanation.facts:
        lines.append("")
    previous_name = ""
    for name, text in explanation.facts:
        shown_name = "" if name == previous_name else name
        previous_name = name
        first_line, *other_lines = textwrap.wrap(
            text, _WIDTH - _NAME_COLUMN_WIDTH - 2, break_long_words=False, break_on_hyphens=False
        )
        lines.append(f"  {shown_name:<{_NAME_COLUMN_WIDTH}}{first_line}")
        lines += [" " * (_NAME_COLUMN_WIDTH + 2) + line for line in other_lines]
    if explanation.example:
        lines += ["", "  Example:", *(f"    {line}" for line in explanation.example.splitlines())]
    if explanation.page_url:
        lines += ["", f"  More: {explanation.page_url}"]
    return "\n".join([paint(explanation.heading, "bold"), *lines])


def render_code(code: str, section: Iterable[tuple[str, bool]], paint: Paint) -> str:
    """Return the section of docs/errors.md about an error code as text, with the URL of the section.

    `section` has paragraphs and code blocks: the text, and whether it is a code block.
    """
    paragraphs = (
        [f"    {line}" for line in text.splitlines()]
        if block
        else _wrapped(text, "  ", "    " if text.startswith("- ") else "  ")  # a list item: below its text
        for text, block in section
    )
    link = f"  More: {DOCS_URL}/errors.md#{code.lower()}"
    return "\n".join([paint(code, "bold"), "\n\n".join([*map("\n".join, paragraphs), link])])


def render_overview(kinds: Iterable[tuple[str, str]], paint: Paint) -> str:
    """Return the text of `dpsync explain` without an argument: all kinds, and examples of other words.

    `kinds` has the name of each kind, and where its entries are in the files.
    """
    rows = list(kinds)
    column_width = max(len(name) for name, _ in rows) + 2
    lines = [paint("Object types (kinds), and the place of each object type in your files", "bold")]
    for name, location in rows:
        location_lines = textwrap.wrap(
            location.replace("`", ""), _WIDTH - column_width - 2, break_long_words=False
        )
        lines += [
            f"  {name:<{column_width}}{location_lines[0]}",
            *(" " * (column_width + 2) + line for line in location_lines[1:]),
        ]
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


def _wrapped(text: str, indent: str, indent_below: str = "") -> list[str]:
    """Return a text as indented lines of at most 80 columns, broken only between words.

    `indent_below` is the indentation of the second and later lines, if it is not the same.
    """
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent_below or indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
