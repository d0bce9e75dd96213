"""Wrong usage that is said in several lines. In any other message a line break is shown, and begins none."""

from __future__ import annotations

import click

from dpsync.render.visible import visible


class WrongUsage(click.UsageError):
    """Lines of our own; no text in them begins another one."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(visible, lines)))
