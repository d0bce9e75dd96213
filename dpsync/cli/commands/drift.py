"""Define `dpsync drift`: show how live objects differ from the files. Its client cannot write.

Input: the files and the live objects. Output: the differences in the chosen format, and an exit code.
"""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import (
    all_format_output_options,
    base_option,
    configuration_options,
    profile_option,
    reading_options,
    selection_options,
    summary_option,
)
from dpsync.cli.output import make_output
from dpsync.cli.progress import READING
from dpsync.cli.session import reading_session
from dpsync.model.diagnostic import Exit


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
@configuration_options
@profile_option
@selection_options
@click.option(
    "--everything", is_flag=True,
    help="Also report objects without an entry in your files, in the lists that are in policy: watch.",
)  # fmt: skip
@click.option(
    "--unwatched", is_flag=True,
    help="List the fields and lists of objects that your files leave out, each with the line to add to "
    "your files.",
)  # fmt: skip
@base_option
@reading_options
@summary_option
@all_format_output_options
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    select: tuple[str, ...],
    exclude: tuple[str, ...], everything: bool, unwatched: bool, base: str | None, ids_in: Path | None,
    parallelism: int, timeout: float, format_: str, color: str, verbose: int, quiet: bool, summary: bool,
) -> int:  # fmt: skip
    """Show where GitBook differs from your files.

    For each difference, dpsync prints the value in your files, the value in GitBook, and two commands: undo
    changes GitBook to match your files, and keep changes your files to match GitBook. Exit code 2 means
    drift, and exit code 0 means no drift. Exit code 1 or 5 means that dpsync could not compare.

    dpsync compares only the objects and fields that are in your files or in policy: watch. --unwatched lists
    all other fields and lists of objects.
    """
    from dpsync.api import Options
    from dpsync.render.json_conversion import drift_document

    out = make_output(format_, color, verbose, quiet, summary)
    with reading_session(
        out, files, directory, environment, ids_in, profile, parallelism, base, timeout
    ) as (session, client):  # fmt: skip
        options = Options(select=select, exclude=exclude)
        with out.progress.show_during(READING):
            drift = session.drift(client, options, everything, unwatched)
        out.print_document(drift_document(drift))
        return Exit.CHANGES if drift.drifted else Exit.DONE
    raise AssertionError
