"""`dpsync doctor`: what a run works with, where that is from, and what is wrong with it. It only reads."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.arguments.options import (
    color_option,
    ids_option,
    layered,
    profiled,
    timeout_option,
    trusting,
)
from dpsync.cli.terminal.help import HelpCommand
from dpsync.cli.terminal.output import as_output


@click.command(
    "doctor",
    cls=HelpCommand,
    examples="""
        dpsync doctor
        dpsync doctor --env staging
    """,
)
@layered
@profiled
@click.option("--base", metavar="REF", help="The git base that plan would take. [default: that of plan]")
@ids_option
@timeout_option
@trusting
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="How the result is printed.",
)  # fmt: skip
@color_option
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None, base: str | None,
    ids_in: Path | None, timeout: float, format_: str, color: str,
) -> int:  # fmt: skip
    """Check the settings, the platform and the token.

    dpsync prints each setting and its source, the owner of the token, and what the token may read and write.
    It checks the clock, the rate limit, the git base, the ids file, and in a GitHub workflow the permissions.
    It lists the declared objects for which the platform reports a problem. Each finding has a remedy. dpsync
    never shows the token. Exit code 5 means an invalid configuration, 1 any other problem, and 0 no problem.
    """
    from dpsync.cli.endings import endings
    from dpsync.cli.examination.whole import Examination

    out = as_output(format_, color)
    with endings(out):
        document = Examination(out, timeout).document((files, directory, environment, ids_in, profile), base)
        if out.json:
            out.document(document)
        else:
            from dpsync.render.terminal.doctor_text import render_doctor

            out.prose(render_doctor(out.printable(document), out.paint()))
        return document.exit
    raise AssertionError
