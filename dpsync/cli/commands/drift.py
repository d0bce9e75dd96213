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
    help="Count as drift what no entry declares in a place of policy: watch.",
)  # fmt: skip
@click.option(
    "--unwatched", is_flag=True,
    help="List what the files leave out, each with the line that makes dpsync compare it.",
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

    Drift is the plan seen the other way round. For each difference dpsync prints what is live, what the file
    says, why the two differ (by the git base), and two ways out. Exit code 2 means drift, 0 none. A check
    that could not be made ends with another code (1, 5). dpsync does not compare what the files leave out:
    it counts it, and --unwatched lists it.
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
