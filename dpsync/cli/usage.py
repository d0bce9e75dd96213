"""Define a usage error with several lines. In other errors, line breaks are shown as escapes."""

from __future__ import annotations

import click

from dpsync.render.visible import visible


class WrongUsage(click.UsageError):
    """Lines of our own; no text in them begins another one."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(visible, lines)))
