"""Define `dpsync apply`: plan, ask for confirmation, send the changes to GitBook, and verify the result.

Input: the files, flags, and the answers of a person. Output: a report, a journal, lines of the ids file, and
an exit code.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from dpsync.cli.applying import (
    apply_plan,
    confirm_apply,
    end_without_apply,
    exit_code_without_apply,
    forget_apply,
    locked_journal,
    remember_apply,
)
from dpsync.cli.configuration import ConfigurationPaths, SavedBase, are_deletes_reviewed, prepare_session
from dpsync.cli.connection import check_server_is_explicit, find_connection
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import (
    all_format_output_options,
    configuration_options,
    confirmation_options,
    journal_option,
    no_input_option,
    planning_options,
    profile_option,
    rehearse_option,
    selection_options,
    summary_option,
)
from dpsync.cli.output import make_output
from dpsync.cli.questions import can_ask, show_and_answer
from dpsync.cli.session import check_answers, load_with_connection, open_client, plan_now, reload_for_server

if TYPE_CHECKING:
    from dpsync.api import Planned
    from dpsync.workflows.open_questions import TypedAnswers


@click.command(
    "apply",
    cls=HelpCommand,
    examples="""
        dpsync apply
        dpsync apply plan.json
        dpsync apply --yes --select acme/sites/docs
    """,
    groups={
        "Before the apply": ("--rehearse",),
    },
)
@click.argument("saved_in", required=False, type=click.Path(path_type=Path), metavar="[PLAN]")
@configuration_options
@profile_option
@selection_options
@planning_options
@confirmation_options
@journal_option
@rehearse_option
@no_input_option
@summary_option
@all_format_output_options
def command(
    saved_in: Path | None, files: tuple[str, ...], directory: Path, environment: str | None,
    profile: str | None, select: tuple[str, ...], exclude: tuple[str, ...], confirm: tuple[str, ...],
    no_delete: bool, base: str | None, ids_in: Path | None, parallelism: int, timeout: float, yes: bool,
    approved: str | None, journal_in: Path | None, rehearse: bool, no_input: bool, format_: str,
    color: str, verbose: int, quiet: bool, summary: bool,
) -> int:  # fmt: skip
    """Apply the plan, and verify the result.

    dpsync shows the plan, asks for your confirmation, and makes the changes in GitBook. dpsync then reads
    the changed objects again and makes a new plan, to verify the result. The report lists the changes that
    succeeded, failed or were skipped, and the changes with an unknown result. dpsync writes a journal to
    .dpsync/journal.

    PLAN is a file that plan --out saved. dpsync makes a new plan, and applies PLAN only if the new plan is
    the same.
    """
    from dpsync.api import Expected, Options
    from dpsync.apply.saved_plan import check_approved, options_of, read_saved_plan
    from dpsync.cli.exit_codes import exit_on_errors, report_nothing_applied
    from dpsync.cli.rehearsing import rehearse_plan, show_rehearsal, start_recording
    from dpsync.client.client import WriteClient

    out = make_output(format_, color, verbose, quiet, summary)
    options = Options(confirm, not no_delete, select=select, exclude=exclude)
    if saved_in is not None and options != Options():
        raise click.UsageError(
            "a saved plan already contains the values of --select, --exclude, --confirm and --no-delete. "
            "Omit these flags"
        )
    options = replace(options, reviewed=are_deletes_reviewed())
    with report_nothing_applied(out):
        with exit_on_errors(out):
            saved = read_saved_plan(directory / saved_in) if saved_in is not None else None
            if saved is not None:
                check_approved(saved.plan, approved)
                options, profile = options_of(saved.plan), saved.plan.profile
            paths = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
            desired, connection = load_with_connection(out, paths, find_connection)
            check_server_is_explicit(connection, no_input)
        with exit_on_errors(out, connection):
            saved_base = SavedBase(saved.plan.base, saved.plan.base_from) if saved is not None else None
            recording = start_recording(rehearse)
            with open_client(WriteClient, out, connection, timeout, recording) as client:
                paths, desired = reload_for_server(out, client, paths, desired)
                session, ids, notes = prepare_session(
                    out, paths, desired, connection, parallelism, base, saved_base
                )
                planned = plan_now(out, session, client, options)
                if saved is None:  # a saved plan must be the same, with the same answers
                    check_answers(planned.plan, no_input)
                expect = Expected(saved.plan) if saved is not None else Expected(approved=approved)
                is_interactive = saved is None and approved is None and can_ask(out, no_input)

                def make_plan(answers: TypedAnswers) -> Planned:
                    return plan_now(
                        out, answers.add_to_session(session), client, answers.add_to_options(options)
                    )

                answered = show_and_answer(out, planned, expect, make_plan, is_interactive)
                planned, agreed = answered.planned, yes or approved is not None or answered.agreed
                session, options = (
                    answered.answers.add_to_session(session),
                    answered.answers.add_to_options(options),
                )
                rehearsal = rehearse_plan(out, session, planned, recording)
                show_rehearsal(out, planned.plan, rehearsal)
                code = exit_code_without_apply(planned.plan, rehearsal)
                if code is None and not agreed:
                    code = confirm_apply(out, planned.plan, no_input)
                    if code is None:  # time has passed: the plan of now must be what was shown
                        expect = Expected.shown(planned.plan)
                        planned = plan_now(out, session, client, options)
                if code is not None:
                    code = end_without_apply(out, session, client, planned, ids, code, rehearsal)
                    if planned.plan.empty:
                        remember_apply(out, notes, desired, client, planned, code)
                    return code
                journals = None if journal_in is None else directory / journal_in
                with locked_journal(out, connection.url, planned, paths, journals) as journal:
                    forget_apply(out, notes, client, planned)
                    return apply_plan(
                        out, session, client, planned, expect, journal, ids, rehearsal,
                        remember=lambda code: remember_apply(out, notes, desired, client, planned, code),
                    )  # fmt: skip
    raise AssertionError
