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
from dpsync.cli.terminal.output import as_output


@click.command("doctor")
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
    """Check the settings, the platform and the token; writes nothing.

    dpsync prints each setting and where it is from, whose token it is, and what that token may read and
    write. It checks the clock, the rate limit, the git base, the ids file, and in a workflow on GitHub the
    permissions. It lists the declared objects with which the platform reports a problem. Each finding says
    what to do. The token is never shown. Exit code 5 when the configuration is invalid, 1 for any other
    problem, else 0.
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
