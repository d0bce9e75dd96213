"""Define `dpsync rehearse`: apply the plan to a copy of the live organization, in a local server.

Its client cannot write to GitBook. Output: deviations from the plan, and what the rehearsal could not check.
"""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import (
    all_format_output_options,
    configuration_options,
    planning_options,
    profile_option,
    selection_options,
    summary_option,
)
from dpsync.cli.output import make_output
from dpsync.cli.session import reading_plan
from dpsync.model.diagnostic import Exit


@click.command(
    "rehearse",
    cls=HelpCommand,
    examples="""
        dpsync rehearse
        dpsync rehearse --faults 5
    """,
    groups={
        "Faults": ("--faults", "--seed"),
    },
)
@configuration_options
@profile_option
@selection_options
@planning_options
@click.option(
    "--faults", type=click.IntRange(0, 1000), default=0, metavar="N",
    help="Repeat the rehearsal N times with failing requests. After each failure, a second apply must "
    "finish the plan.",
)  # fmt: skip
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    help="Make the same requests fail as in the rehearsal that printed this N. [default: a new random N]",
)
@summary_option
@all_format_output_options
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    select: tuple[str, ...], exclude: tuple[str, ...], confirm: tuple[str, ...], no_delete: bool,
    base: str | None, ids_in: Path | None, parallelism: int, timeout: float, faults: int, seed: int | None,
    format_: str, color: str,
    verbose: int, quiet: bool, summary: bool,
) -> int:  # fmt: skip
    """Try the plan on a copy of your organization.

    dpsync reads GitBook, loads a copy into a local server in memory, and applies the plan to the copy.
    The report says what the rehearsal showed, what a rehearsal cannot show, and how long an apply will
    take. dpsync sends only GET requests to GitBook: the token needs no write access, and dpsync needs no
    other secrets.

    Exit code 4 means that the rehearsal failed. Do not apply the plan in this case.
    """
    from dpsync.api import Options
    from dpsync.cli.rehearsing import rehearsal_exit_code, rehearse_plan
    from dpsync.client.recording import Recording
    from dpsync.render.documents import RehearseDocument
    from dpsync.render.json_conversion import plan_document

    out = make_output(format_, color, verbose, quiet, summary)
    recording = Recording()
    with reading_plan(
        out, files, directory, environment, ids_in, profile, parallelism, base, timeout,
        Options(confirm, not no_delete, select=select, exclude=exclude), recording,
    ) as (session, planned):  # fmt: skip
        plan = planned.plan
        rehearsal = rehearse_plan(out, session, planned, recording, faults, seed)
        code = rehearsal_exit_code(plan, rehearsal)
        fit = code != Exit.REFUSED
        out.print_document(
            RehearseDocument(exit=code, fit=fit, plan=plan_document(plan), rehearsal=rehearsal)
        )
        return code
    raise AssertionError
