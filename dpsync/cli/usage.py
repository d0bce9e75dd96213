"""Define a usage error whose message has several lines. In other errors, line breaks are shown as escapes."""

from __future__ import annotations

import click

from dpsync.render.visible import visible


class WrongUsage(click.UsageError):
    """A usage error of dpsync with several lines.

    Each line passes `visible`, so that no foreign text in it can begin another line.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(visible, lines)))
