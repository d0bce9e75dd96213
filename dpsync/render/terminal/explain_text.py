"""Print `dpsync explain`: a heading, named facts in two columns, and an example."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from dpsync.model.texts.command import command
from dpsync.render.terminal.paint import Paint

if TYPE_CHECKING:
    from dpsync.render.words.explanations import Explanation

_WIDTH: Final = 80
_SIDE: Final = 15


def render_explanation(said: Explanation, paint: Paint) -> str:
    """An explanation in lines of at most 80 columns, but for what cannot be broken."""
    lines = list(_wrapped(said.meaning.replace("`", ""), "  "))
    if said.facts:
        before = ("", *(name for name, _ in said.facts))
        named = zip(before, said.facts, strict=False)
        lines += ["", *(line for last, fact in named for line in _fact(last, *fact))]
    if said.example:
        lines += ["", "  Example:", *(f"    {line}" for line in said.example.splitlines())]
    return "\n".join([paint(said.head, "bold"), *lines])


def render_code(code: str, section: Iterable[tuple[str, bool]], paint: Paint) -> str:
    """What the page of errors says of a code."""
    paragraphs = (
        [f"    {line}" for line in text.splitlines()] if block else _wrapped(text, "  ")
        for text, block in section
    )
    return "\n".join([paint(code, "bold"), "\n\n".join(map("\n".join, paragraphs))])


def render_overview(kinds: Iterable[tuple[str, str]], paint: Paint) -> str:
    """Every kind, and what else can be explained."""
    rows = list(kinds)
    side = max(len(name) for name, _ in rows) + 2
    lines = [paint("Kinds", "bold")]
    for name, where in rows:
        text = textwrap.wrap(where.replace("`", ""), _WIDTH - side - 2, break_long_words=False)
        lines += [f"  {name:<{side}}{text[0]}", *(" " * (side + 2) + line for line in text[1:])]
    lines += [
        "",
        f"More: {command('explain', 'KIND')} or {command('explain', 'KIND.FIELD')}.",
        "It also explains root-file keys (policy.prune) and error codes (DP201).",
    ]
    return "\n".join(lines)


def _fact(last: str, name: str, words: str) -> Iterator[str]:
    """A fact; its name is left out where the one before has the same."""
    side = "" if name == last else name
    first, *rest = textwrap.wrap(words, _WIDTH - _SIDE - 2, break_long_words=False, break_on_hyphens=False)
    yield f"  {side:<{_SIDE}}{first}"
    yield from (" " * (_SIDE + 2) + line for line in rest)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
