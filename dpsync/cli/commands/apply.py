"""Define `dpsync apply`: plan, ask, apply and verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from dpsync.cli.applying import (
    asked,
    carry_out,
    forget_apply,
    locked_journal,
    not_carried_out,
    nothing_to_do,
    remember_apply,
)
from dpsync.cli.configuration import ConfigurationPaths, SavedBase, are_deletes_reviewed, opened
from dpsync.cli.connection import check_explicit, connection
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import (
    confirming,
    journal_option,
    layered,
    no_input_option,
    output_in_every_format,
    planning,
    profiled,
    rehearsing,
    selecting,
    summarizing,
)
from dpsync.cli.output import as_output
from dpsync.cli.questions import can_ask, shown_and_answered
from dpsync.cli.session import check_answers, client_of, configured, for_server, planned_now

if TYPE_CHECKING:
    from dpsync.api import Planned
    from dpsync.workflows.open_questions import Given


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
@layered
@profiled
@selecting
@planning
@confirming
@journal_option
@rehearsing
@no_input_option
@summarizing
@output_in_every_format
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
    from dpsync.apply.saved_plan import check_approved, options_of, read_saved
    from dpsync.cli.exit_codes import endings, nothing_applied
    from dpsync.cli.rehearsing import rehearsed, show_rehearsal, started
    from dpsync.client.client import WriteClient

    out = as_output(format_, color, verbose, quiet, summary)
    options = Options(confirm, not no_delete, select=select, exclude=exclude)
    if saved_in is not None and options != Options():
        raise click.UsageError(
            "a saved plan already contains the values of --select, --exclude, --confirm and --no-delete. "
            "Omit these flags"
        )
    options = replace(options, reviewed=are_deletes_reviewed())
    with nothing_applied(out):
        with endings(out):
            saved = read_saved(directory / saved_in) if saved_in is not None else None
            if saved is not None:
                check_approved(saved.plan, approved)
                options, profile = options_of(saved.plan), saved.plan.profile
            place = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
            desired, to = configured(out, place, connection)
            check_explicit(to, no_input)
        with endings(out, to):
            saved_base = SavedBase(saved.plan.base, saved.plan.base_from) if saved is not None else None
            recording = started(rehearse)
            with client_of(WriteClient, out, to, timeout, recording) as client:
                place, desired = for_server(out, client, place, desired)
                session, ids, notes = opened(out, place, desired, to, parallelism, base, saved_base)
                planned = planned_now(out, session, client, options)
                if saved is None:  # a saved plan must be the same, with the same answers
                    check_answers(planned.plan, no_input)
                expect = Expected(saved.plan) if saved is not None else Expected(approved=approved)
                asks = saved is None and approved is None and can_ask(out, no_input)

                def make(given: Given) -> Planned:
                    return planned_now(out, given.session(session), client, given.options(options))

                answered = shown_and_answered(out, planned, expect, make, asks)
                planned, agreed = answered.planned, yes or approved is not None or answered.agreed
                session, options = answered.given.session(session), answered.given.options(options)
                rehearsal = rehearsed(out, session, planned, recording)
                show_rehearsal(out, planned.plan, rehearsal)
                code = nothing_to_do(planned.plan, rehearsal)
                if code is None and not agreed:
                    code = asked(out, planned.plan, no_input)
                    if code is None:  # time has passed: the plan of now must be what was shown
                        expect = Expected.shown(planned.plan)
                        planned = planned_now(out, session, client, options)
                if code is not None:
                    code = not_carried_out(out, session, client, planned, ids, code, rehearsal)
                    if planned.plan.empty:
                        remember_apply(out, notes, desired, client, planned, code)
                    return code
                journals = None if journal_in is None else directory / journal_in
                with locked_journal(out, to.url, planned, place, journals) as journal:
                    forget_apply(out, notes, client, planned)
                    return carry_out(
                        out, session, client, planned, expect, journal, ids, rehearsal,
                        remember=lambda code: remember_apply(out, notes, desired, client, planned, code),
                    )  # fmt: skip
    raise AssertionError
