"""`dpsync drift`: what is live instead of what the files say. It holds a client that cannot write."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.arguments.options import (
    base_option,
    layered,
    output_in_every_format,
    profiled,
    reading,
    selecting,
    summarizing,
)
from dpsync.cli.opening import reading_session
from dpsync.cli.terminal.help import HelpCommand
from dpsync.cli.terminal.output import as_output
from dpsync.cli.terminal.progress import READING
from dpsync.model.findings.diagnostic import Exit


@click.command(
    "drift",
    cls=HelpCommand,
    examples="""
        dpsync drift
        dpsync drift --select acme/members
        dpsync drift --unwatched
    """,
    groups={
        "What counts as drift": ("--everything", "--unwatched"),
    },
)
@layered
@profiled
@selecting
@click.option(
    "--everything", is_flag=True,
    help="Count as drift what no entry declares in a place of policy: watch.",
)  # fmt: skip
@click.option(
    "--unwatched", is_flag=True,
    help="List what the files leave out, each with the line that makes dpsync compare it.",
)  # fmt: skip
@base_option
@reading
@summarizing
@output_in_every_format
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    select: tuple[str, ...],
    exclude: tuple[str, ...], everything: bool, unwatched: bool, base: str | None, ids_in: Path | None,
    parallelism: int, timeout: float, format_: str, color: str, verbose: int, quiet: bool, summary: bool,
) -> int:  # fmt: skip
    """Show where the platform differs from the files.

    For each difference, dpsync prints the live value, the value in the file, and how to undo or keep the live
    value. Exit code 2 means drift, and 0 no drift. If dpsync could not compare, the exit code is another one
    (1 or 5).

    dpsync compares only what the files declare or policy: watch names. --unwatched lists everything else.
    """
    from dpsync.api import Options
    from dpsync.render.json.conversion import drift_document

    out = as_output(format_, color, verbose, quiet, summary)
    with reading_session(
        out, files, directory, environment, ids_in, profile, parallelism, base, timeout
    ) as (session, client):  # fmt: skip
        options = Options(select=select, exclude=exclude)
        with out.progress.during(READING):
            drift = session.drift(client, options, everything, unwatched)
        out.show(drift_document(drift))
        return Exit.CHANGES if drift.drifted else Exit.DONE
    raise AssertionError
