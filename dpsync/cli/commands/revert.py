"""Define `dpsync revert`: undo an earlier apply, by a plan that restores the previous values and objects.

Input: the journal of the apply, or its saved plan. Output: a plan, and the report of its apply.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from dpsync.cli.applying import (
    apply_plan,
    confirm_apply,
    exit_code_without_apply,
    forget_apply,
    locked_journal,
    show_report,
)
from dpsync.cli.configuration import ConfigurationPaths, prepare_session
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
    selection_options,
    summary_option,
)
from dpsync.cli.output import make_output
from dpsync.cli.progress import READING
from dpsync.cli.questions import can_ask, show_and_answer
from dpsync.cli.session import check_answers, load_with_connection, open_client
from dpsync.model.diagnostic import Exit

if TYPE_CHECKING:
    from dpsync.api import AppliedPlan, Planned
    from dpsync.workflows.open_questions import TypedAnswers


@click.command(
    "revert",
    cls=HelpCommand,
    examples="""
        dpsync revert --last
        dpsync revert .dpsync/journal/20261128-101500-acme.jsonl
    """,
    groups={
        "Apply to revert": ("--last",),
    },
)
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@click.option("--last", is_flag=True, help="Revert the last apply of this checkout that is not reverted yet.")
@configuration_options
@profile_option
@selection_options
@planning_options
@confirmation_options
@journal_option
@no_input_option
@summary_option
@all_format_output_options
def command(
    file: Path | None, last: bool, files: tuple[str, ...], directory: Path, environment: str | None,
    profile: str | None, select: tuple[str, ...], exclude: tuple[str, ...], confirm: tuple[str, ...],
    no_delete: bool, base: str | None, ids_in: Path | None, parallelism: int, timeout: float, yes: bool,
    approved: str | None, journal_in: Path | None, no_input: bool, format_: str, color: str, verbose: int,
    quiet: bool, summary: bool,
) -> int:  # fmt: skip
    """Undo the changes of an apply.

    dpsync shows the plan of the revert, asks for your confirmation, and applies the plan.

    FILE is the journal of the apply (dpsync history lists the journals), or a plan that plan --out saved.

    Changed fields get their previous values. Deleted objects are restored or re-created, if the API can do
    that. Created objects are deleted, unless somebody has changed or used the objects since the apply. The
    plan lists each change that dpsync does not revert. If dpsync does not revert every change, the exit code
    is 3.

    dpsync does not change your files, so the next apply makes the same changes again. To prevent the next
    apply from doing so, run git revert on the commit. Limits, confirmations and all other exit codes are the
    same as for apply.
    """
    from dpsync.api import Expected, Options, reverting
    from dpsync.apply.journal_reader import last_apply, read_history
    from dpsync.cli.exit_codes import exit_on_errors, report_nothing_applied
    from dpsync.client.client import WriteClient

    out = make_output(format_, color, verbose, quiet, summary)
    options = Options(confirm, not no_delete, select=select, exclude=exclude)
    if (file is None) != last:
        raise click.UsageError("pass the journal of an apply (see dpsync history), or use --last")
    with report_nothing_applied(out):
        with exit_on_errors(out):
            journals = None if journal_in is None else directory / journal_in
            paths = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
            if file is not None:
                path = directory / file
            else:
                history = journals or paths.journals
                path = last_apply(read_history(history), history)
            applied_plan = _read_applied(path)
            paths = replace(paths, profile=paths.profile or applied_plan.profile)
            desired, connection = load_with_connection(out, paths, find_connection)
            check_server_is_explicit(connection, no_input)
        with exit_on_errors(out, connection):
            session, ids, notes = prepare_session(out, paths, desired, connection, parallelism, base)
            with open_client(WriteClient, out, connection, timeout) as client:
                with out.progress.show_during(READING):
                    revert = reverting(
                        client, session, applied_plan, str(file or os.path.relpath(path, directory)), options
                    )
                    planned = revert.plan(client, options)
                check_answers(planned.plan, no_input)
                expect = Expected(approved=approved)
                is_interactive = approved is None and can_ask(out, no_input)

                def make_plan(answers: TypedAnswers) -> Planned:
                    with out.progress.show_during(READING):
                        return revert.plan(client, answers.add_to_options(options))

                answered = show_and_answer(
                    out, planned, expect, make_plan, is_interactive, with_entries=False
                )
                planned, agreed = answered.planned, yes or approved is not None or answered.agreed
                options = answered.answers.add_to_options(options)
                code = exit_code_without_apply(planned.plan)
                if code is Exit.DONE and revert.not_reverted:
                    code = Exit.PARTIAL
                if code is None and not agreed:
                    code = confirm_apply(out, planned.plan, no_input)
                    if code is None:  # time has passed: the plan of now must be what was shown
                        expect = Expected.shown(planned.plan)
                        with out.progress.show_during(READING):
                            planned = revert.plan(client, options)
                if code is not None:
                    show_report(out, planned.plan, None, code)
                    return code
                with locked_journal(
                    out, connection.url, planned, paths, journals, reverts=path.name
                ) as journal:
                    forget_apply(out, notes, client, planned)
                    return apply_plan(
                        out,
                        revert.session,
                        client,
                        planned,
                        expect,
                        journal,
                        revert.recording(ids),
                        None,
                        revert,
                    )
    raise AssertionError


def _read_applied(path: Path) -> AppliedPlan:
    """Return the changes of an apply from its journal, or from the saved plan that it applied.

    Raises DiagnosticError for an invalid file, or if this dpsync does not know the API version of the plan.
    """
    from dpsync.api import applied
    from dpsync.apply.journal_reader import is_journal, parse_journal
    from dpsync.apply.saved_plan import invalid_plan_error, parse_saved_plan, read_content
    from dpsync.kinds.profiles import PROFILES

    content = read_content(path)
    if is_journal(content):
        past = parse_journal(path, content)
        if past.plan.profile not in PROFILES:
            raise invalid_plan_error(
                path, f"this dpsync does not know the API version of the plan ({past.plan.profile[:40]})"
            )
        return applied(past.plan, past.report)
    return applied(parse_saved_plan(path, content).plan)
