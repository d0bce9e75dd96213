"""`dpsync drift`: what is live instead of what the files say. It holds a client that cannot write."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.arguments.options import (
    layered,
    output_in_every_format,
    profiled,
    reading,
    selecting,
    summarizing,
)
from dpsync.cli.opening import reading_session
from dpsync.cli.terminal.output import as_output
from dpsync.cli.terminal.progress import READING
from dpsync.model.findings.diagnostic import Exit


@click.command("drift")
@layered
@profiled
@selecting
@click.option(
    "--everything", is_flag=True,
    help="What is undeclared in a place of policy: watch is drift, too.",
)  # fmt: skip
@click.option(
    "--unwatched", is_flag=True,
    help="List what no entry names, each with the line that would watch it.",
)  # fmt: skip
@reading
@summarizing
@output_in_every_format
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    select: tuple[str, ...],
    exclude: tuple[str, ...], everything: bool, unwatched: bool, base: str | None, ids_in: Path | None,
    parallelism: int, timeout: float, format_: str, color: str, verbose: int, quiet: bool, summary: bool,
) -> int:  # fmt: skip
    """Show what the platform has that the files do not say; writes nothing.

    The plan seen the other way round: for each difference what is live, what the file says, by the git base
    why, and the two ways out. Exit code 2 when there is drift, 0 when there is none; a check that could
    not be made ends with another one (1, 5). What no entry names is not watched: it is counted, and
    --unwatched lists it.
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
