"""The job summary: the same Markdown as in a comment, in a place that holds more of it."""

from __future__ import annotations

from typing import Final

from dpsync.render.layout.view import View
from dpsync.render.pages.markdown import render_markdown

LIMIT: Final = 1_000_000
"""Bytes: from 1 MiB on the runner throws a summary away as a whole."""


def summary(view: View, said: str = "") -> str:
    """What the summary of the job says; `said` stands first. Never longer than the limit."""
    head = f"{said}\n\n" if said else ""
    for limit in (LIMIT, LIMIT // 3):  # no UTF-16 unit takes more than three bytes of UTF-8
        text = f"{head}{render_markdown(view, limit - len(head.encode()) - 1)}\n"
        if len(text.encode()) <= LIMIT:
            return text
    raise AssertionError
