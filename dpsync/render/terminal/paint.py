"""Colour, or none: decided once, from the flag, the environment and the stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TextIO

import click

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
