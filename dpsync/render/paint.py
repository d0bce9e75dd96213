"""Color and wrap text for a terminal.

Colour, or none: decided once, from the flag, the environment and the stream.

Lines that are longer than a terminal is wide, broken between words, with their indent kept.

Only for a terminal. A line with a command stays whole, so that it can be copied, and so does a line of a file
with its number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, Literal, TextIO

import click
from click import unstyle

When = Literal["auto", "always", "never"]


class Paint:
    """`paint(text, "red bold")` styles a text when colour is on: a colour, "bold", "dim", or nothing."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, text: str, style: str) -> str:
        if not self.on or not text or not style:
            return text
        words = style.split()
        colour = next((word for word in words if word not in ("bold", "dim")), None)
        return click.style(text, fg=colour, bold="bold" in words or None, dim="dim" in words or None)


def wants_colour(when: When, stream: TextIO, env: Mapping[str, str]) -> bool:
    """`auto` is colour on a terminal, unless NO_COLOR is set or the terminal is a dumb one."""
    if when != "auto":
        return when == "always"
    return not env.get("NO_COLOR") and env.get("TERM") != "dumb" and stream.isatty()


NARROW: Final = 40
"""Columns. Below this nothing is broken: there is no room for an indent."""
_MORE: Final = 2
"""How much further the rest of a line is indented than its beginning."""
_WHOLE: Final = re.compile(r"(^|[\s`])dpsync [a-z-]|^ *[0-9]* \|")


def wrapped(text: str, width: int) -> str:
    """A text, styled or not, of which no line is longer than so many columns where it can be broken."""
    if width < NARROW:
        return text
    return "\n".join(_line(line, width) for line in text.split("\n"))


def columns(text: str) -> int:
    """How many columns a terminal gives a text: wide characters two, combining ones none."""
    number = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
            continue
        number += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
    return number


def _line(line: str, width: int) -> str:
    plain = unstyle(line)
    if len(plain) <= width // 2 or columns(plain) <= width or _WHOLE.search(plain):
        return line
    indent = len(plain) - len(plain.lstrip(" ")) + _MORE
    if indent > width // 2:
        return line
    lines, now, used = [], "", 0
    for space, word in re.findall(r"( *)([^ ]+)", line):
        room = columns(unstyle(word))
        if now and used + len(space) + room > width and used > indent:
            lines.append(now)
            now, used = f"{' ' * indent}{word}", indent + room
        else:
            now, used = f"{now}{space}{word}", used + len(space) + room
    return "\n".join([*lines, now])
