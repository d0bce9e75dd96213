"""What the flags of the command that runs have said about where it works, for the commands that it prints."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from dpsync.model.texts.command import Invocation


def invocation() -> Invocation:
    """What was typed. What a variable of the environment said is left out: it still counts afterwards."""
    context = click.get_current_context(silent=True)
    if context is None:
        return Invocation()

    def typed(name: str) -> Any:
        flag = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        return context.params.get(name) if flag else None

    def text(name: str) -> str | None:
        value = typed(name)
        return None if value is None else str(value)

    directory = text("directory")
    return Invocation(
        directory=None if directory == "." else directory,
        files=tuple(typed("files") or ()),
        environment=text("environment"),
        profile=text("profile"),
        ids=text("ids_in"),
        base=text("base"),
    )
