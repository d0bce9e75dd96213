"""Define `dpsync plan`: show what apply would change in GitBook. Its client cannot write.

Input: the files and the live objects. Output: the plan in the chosen format, and with `--out` a saved plan.
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
    rehearse_option,
    selection_options,
    summary_option,
)
from dpsync.cli.output import make_output
from dpsync.cli.session import reading_plan
from dpsync.model.diagnostic import Exit


@click.command(
    "plan",
    cls=HelpCommand,
    examples="""
        dpsync plan
        dpsync plan --select acme/sites/docs
        dpsync plan --out plan.json
    """,
    groups={
        "Saving and exit code": ("--out", "--rehearse", "--detailed-exitcode"),
    },
)
@configuration_options
@profile_option
@selection_options
@planning_options
@click.option(
    "-o", "--out", "saved_as", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Save the plan to FILE. dpsync apply FILE applies the saved plan.",
)  # fmt: skip
@rehearse_option
@click.option("--detailed-exitcode", is_flag=True, help="Exit with code 2 if the plan has changes.")
@summary_option
@all_format_output_options
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    select: tuple[str, ...],
    exclude: tuple[str, ...], confirm: tuple[str, ...], no_delete: bool, base: str | None,
    ids_in: Path | None, parallelism: int, timeout: float, saved_as: Path | None, rehearse: bool,
    detailed_exitcode: bool,
    format_: str, color: str, verbose: int, quiet: bool, summary: bool,
) -> int:  # fmt: skip
    """Show what apply would change.

    dpsync compares your files with GitBook, or with the server at DPSYNC_URL. dpsync plan changes nothing.

    If the plan needs your answer, or if a limit refuses the plan, the exit code is 4, and --out saves no
    plan.
    """
    from dpsync.api import Options
    from dpsync.apply.saved_plan import save_plan
    from dpsync.cli.configuration import are_deletes_reviewed
    from dpsync.cli.rehearsing import rehearse_plan, start_recording
    from dpsync.model.text import format_command as in_words
    from dpsync.render.json_conversion import plan_document

    out = make_output(format_, color, verbose, quiet, summary)
    recording = start_recording(rehearse)
    with reading_plan(
        out, files, directory, environment, ids_in, profile, parallelism, base, timeout,
        Options(confirm, not no_delete, are_deletes_reviewed(), select=select, exclude=exclude), recording,
    ) as (session, planned):  # fmt: skip
        plan = planned.plan
        rehearsal = rehearse_plan(out, session, planned, recording)
        out.print_document(plan_document(plan, rehearsal))
        if not plan.can_apply or (rehearsal is not None and not rehearsal.went_as_planned):
            return Exit.REFUSED
        if saved_as is not None:
            save_plan(directory / saved_as, plan, rehearsal)
            out.print_message(f"The plan is saved. Apply the plan with: {in_words('apply', str(saved_as))}")
        return Exit.CHANGES if detailed_exitcode and not plan.empty else Exit.DONE
    raise AssertionError
