"""Color and wrap text for a terminal.

`wants_color` decides once whether to use color; `Paint` adds it. `wrap_text` breaks long lines between words
and keeps their indent. A line with a command stays whole so that it can be copied, and so does a source line
with its number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, Literal, TextIO

import click
from click import unstyle

ColorMode = Literal["auto", "always", "never"]


class Paint:
    """Style texts if color is on: `paint(text, "red bold")`.

    A style is a color, "bold" and "dim" in any combination.
    """

    def __init__(self, on: bool) -> None:
        self.is_on = on

    def __call__(self, text: str, style: str) -> str:
        """Return a text in a style such as "red bold"; unchanged if color is off."""
        if not self.is_on or not text or not style:
            return text
        style_words = style.split()
        color = next((word for word in style_words if word not in ("bold", "dim")), None)
        return click.style(
            text, fg=color, bold="bold" in style_words or None, dim="dim" in style_words or None
        )


def wants_color(when: ColorMode, stream: TextIO, env: Mapping[str, str]) -> bool:
    """Return whether to color the output on a stream.

    `when` is the flag --color: "auto" means color on a terminal unless NO_COLOR is set or TERM is "dumb".
    """
    if when != "auto":
        return when == "always"
    return not env.get("NO_COLOR") and env.get("TERM") != "dumb" and stream.isatty()


MIN_WRAP_COLUMNS: Final = 40
"""The number of columns below which no line is broken, because an indent would leave no room."""
_CONTINUATION_INDENT: Final = 2
"""The additional indent of the rest of a broken line."""
_UNWRAPPED: Final = re.compile(r"(^|[\s`])dpsync [a-z-]|^ *[0-9]* \|")


def wrap_text(text: str, width: int) -> str:
    """Break lines that are longer than `width` columns, between words. The text may contain colors.

    The rest of a broken line keeps the indent of the line, and two columns more. A line with a command, or
    with a source line and its number, is not broken.
    """
    if width < MIN_WRAP_COLUMNS:
        return text
    result = []
    for line in text.split("\n"):
        plain = unstyle(line)
        indent = len(plain) - len(plain.lstrip(" ")) + _CONTINUATION_INDENT
        # The first condition is only faster: a character has at most two columns.
        fits = len(plain) <= width // 2 or display_width(plain) <= width
        if fits or _UNWRAPPED.search(plain) or indent > width // 2:
            result.append(line)
            continue
        current, width_used = "", 0
        for spaces, word in re.findall(r"( *)([^ ]+)", line):
            word_width = display_width(unstyle(word))
            if current and width_used + len(spaces) + word_width > width and width_used > indent:
                result.append(current)
                current, width_used = f"{' ' * indent}{word}", indent + word_width
            else:
                current, width_used = f"{current}{spaces}{word}", width_used + len(spaces) + word_width
        result.append(current)
    return "\n".join(result)


def display_width(text: str) -> int:
    """Return the number of terminal columns of a text: wide characters take two, combining ones none."""
    number = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
            continue
        number += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
    return number
