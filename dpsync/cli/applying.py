"""Show a plan, ask for confirmation, apply it, and print the report.

`apply_plan` applies an agreed plan; `end_without_apply` ends without a change. `locked_journal` opens the
journal and locks the organizations. The first signal stops the apply after the running requests, the second
at once.
"""

from __future__ import annotations

import getpass
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from dpsync import disk
from dpsync.cli.configuration import ConfigurationPaths, shortest_path
from dpsync.cli.output import Output, OutputNotWrittenError, interactive
from dpsync.cli.signals import count_signals, exit_code_of_signal
from dpsync.collector import collector_running
from dpsync.model.address import Address
from dpsync.model.diagnostic import Exit
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.api import AppliedNotes, Expected, IdsOnDisk, Planned, Revert, Session
    from dpsync.apply.ids_recorder import IdsStore
    from dpsync.apply.journal import Journal
    from dpsync.client.client import WriteClient
    from dpsync.model.desired import Desired
    from dpsync.model.journal import Outcome, Report
    from dpsync.model.plan import Plan, Rehearsal


def confirm_plan(out: Output, plan: Plan) -> bool:
    """Return whether the person agrees to a plan with y."""
    from dpsync.render.question_words import apply_question

    return out.ask(apply_question(plan)).lower() in ("y", "yes")


def confirm_deletes(out: Output, plan: Plan) -> bool:
    """Return whether the person types the number of deletes of a plan."""
    from dpsync.render.question_words import delete_question

    return confirm_by_typing(out, delete_question(plan), str(plan.deletes))


def confirm_by_typing(out: Output, question: str, expected_text: str) -> bool:
    """Ask a person to type a text exactly, and return whether the person did.

    Print a note if the person typed another text.
    """
    typed = out.ask(question)
    if typed and typed != expected_text:
        out.print_problem(
            f"You typed {visible(typed)} instead of {visible(expected_text)}, so dpsync confirms nothing."
        )
    return typed == expected_text


def apply_plan(
    out: Output, session: Session, client: WriteClient, planned: Planned, expect: Expected,
    journal: Journal, ids: IdsStore, rehearsal: Rehearsal | None, revert: Revert | None = None,
    remember: Callable[[Exit], str] | None = None,
) -> Exit:  # fmt: skip
    """Apply an agreed plan, print the report, and return the exit code.

    Args:
        expect: The plan that the person agreed to. The apply stops if the plan is another one now.
        rehearsal: The rehearsal of the plan, which is recorded in the journal.
        revert: The revert that made the plan, if any. If it is incomplete, the exit code is 3.
        remember: Store the applied configuration before the report is printed, and return
            a line for the report.
    """
    from dpsync.apply.journal import try_to_record
    from dpsync.model.journal import Exited, Rehearsed

    if rehearsal is not None:
        journal.write(Rehearsed(rehearsal=rehearsal))
    steps = sum(len(change.steps) for change in planned.plan.changes)
    stop_event, started_at = Event(), time.monotonic()
    with _stop_on_signals(out, client, stop_event) as signals:
        with out.progress.show_during("Applying", steps), collector_running():
            report = session.apply(
                client,
                planned,
                expect,
                journal=journal,
                report=_step_reporter(out, steps),
                stop=stop_event,
                ids=ids,
            )
        out.may_have_written = report.may_have_written
        seconds = time.monotonic() - started_at
        code = _apply_exit_code(report, signals)
        if revert is not None and revert.not_reverted and code is Exit.DONE:
            code = Exit.PARTIAL
        try_to_record(journal, Exited(code=code))
        return _print_result(out, planned.plan, report, code, rehearsal, seconds, remember)


def end_without_apply(
    out: Output, session: Session, client: WriteClient, planned: Planned, ids: IdsOnDisk, code: Exit,
    rehearsal: Rehearsal | None,
) -> Exit:  # fmt: skip
    """End a command that applies nothing: print the result, and return the exit code.

    If the plan is empty, its recognized objects are recorded in the ids file.
    """
    from dpsync.render.report_words import recorded_keys_text

    if planned.plan.can_apply and planned.plan.empty:
        trouble = session.record(client, planned, ids)
        if trouble is not None:
            out.print_problem(f"error: {trouble}")
            code = Exit.PARTIAL
        elif out.is_text and (message := recorded_keys_text(planned.plan)):
            out.print_prose(message)
    return _print_result(out, planned.plan, None, code, rehearsal)


def forget_apply(out: Output, notes: AppliedNotes, client: WriteClient, planned: Planned) -> None:
    """Delete the local files that record the last complete apply to each organization of a plan.

    Later plans compare with these files to label changes. Called before an apply, because after an
    interrupted apply they would be outdated. If a file cannot be deleted, print a note.
    """
    try:
        notes.forget(client.platform, [organization.id for organization in planned.plan.organizations])
    except OSError as error:
        name = visible(shortest_path(str(notes.directory)))
        out.print_problem(
            f"note: dpsync cannot delete {name} ({disk.error_reason(error)}), so later plans may "
            "label changes "
            'wrongly (as "edited here" or "changed outside")'
        )


def remember_apply(
    out: Output, notes: AppliedNotes, desired: Desired, client: WriteClient, planned: Planned, code: Exit
) -> str:
    """Store the configuration that an apply put into effect, so that later plans can label changes.

    A later plan then shows whether a difference was edited in the files or changed outside of dpsync.

    Args:
        notes: The local files with the configuration of the last complete apply.
        desired: The configuration in the files.

    Returns:
        A line that says why nothing was stored. "" if it was stored, or if the user need not know (no -v).
    """
    from dpsync.workflows.labels import NotRecorded

    plan, snapshot = planned.plan, planned.snapshot
    if code is not Exit.DONE:
        return ""
    reason: NotRecorded | None
    if plan.part is not None or not plan.deleting:
        reason = NotRecorded(
            "this apply did not include all objects",
            "After the next apply of all objects, plans show the reasons again.",
        )
    elif plan.blocked or plan.waiting:
        reason = NotRecorded("this apply could not make all changes")
    elif (
        snapshot.not_readable
        or snapshot.not_readable_fields
        or snapshot.prune_unsafe
        or snapshot.not_readable_watched
    ):
        reason = NotRecorded("dpsync could not read all objects")
    else:
        try:
            reason = notes.remember(
                desired, client.platform, [organization.id for organization in plan.organizations]
            )
        except OSError as error:
            name = visible(shortest_path(str(notes.directory)))
            reason = NotRecorded(f"dpsync cannot write to {name} ({disk.error_reason(error)})")
    if reason is None or out.quiet or not (out.verbose or (reason.resolution and notes.are_usable)):
        return ""
    line = f"Later plans will not show why a value differs, because {reason.reason}. {reason.resolution}"
    return out.invocation.add_flags_to_commands(line.rstrip())


def show_plan_if_expected(out: Output, plan: Plan, expect: Expected) -> None:
    """Print a plan with masked secrets.

    Raises the same errors as `Expected.check` if the person agreed to another plan.
    """
    mask_secrets(out, plan)
    if plan.can_apply:
        expect.check(plan)
    show_plan(out, plan)


def mask_secrets(out: Output, plan: Plan) -> None:
    """Mask the secrets that a plan sends in all output of the command."""
    from dpsync.apply.executor import sent_secrets

    out.mask.add(sent_secrets(plan, os.environ))


def show_plan(out: Output, plan: Plan) -> None:
    """Print a plan, if the output format is text.

    Raises Exit (code 1) if stdout is closed, so that no plan is applied that nobody has seen.
    """
    from dpsync.render.view_text import render_plan

    if not out.is_text:
        return
    printable_plan = out.printable(plan)
    out.print_prose(
        render_plan(
            printable_plan, out.paint(), out.verbose, quiet=out.quiet, summary=out.summary,
            complete=out.invocation.add_flags_to_commands,
        )
    )  # fmt: skip
    if out.is_stdout_closed:
        # Nobody has seen it: then nothing is done either.
        raise click.exceptions.Exit(Exit.FAILED)


def exit_code_without_apply(plan: Plan, rehearsal: Rehearsal | None = None) -> Exit | None:
    """Return the exit code of a plan that is not applied, or None if it can be applied.

    A plan is not applied if it is refused or empty, or if its rehearsal failed.
    """
    if not plan.can_apply:
        return Exit.REFUSED
    if rehearsal is not None and not rehearsal.went_as_planned:
        return Exit.REFUSED
    if plan.empty:
        return Exit.PARTIAL if plan.blocked else Exit.DONE
    return None


def confirm_apply(out: Output, plan: Plan, no_input: bool) -> Exit | None:
    """Ask whether to apply a plan. Return None for yes, and the exit code for no or without a terminal.

    The plan has no open questions: a person has already typed the number of deletes (questions.py).
    """
    if not interactive(no_input):
        print_text = out.print_prose if out.is_text else out.print_problem
        print_text(
            "dpsync cannot ask you here, because there is no terminal. Read "
            "the plan, then run the command again with --yes."
        )
        return Exit.REFUSED
    return None if confirm_plan(out, plan) else Exit.REFUSED


@contextmanager
def locked_journal(
    out: Output, platform: str, planned: Planned, paths: ConfigurationPaths, directory: Path | None,
    reverts: str | None = None,
) -> Iterator[Journal]:  # fmt: skip
    """Yield the journal of an apply, while its organizations are locked.

    No other dpsync process of this user can then apply to them.

    Args:
        directory: The directory of the journal; None for the default.
        reverts: The file name of the journal or saved plan that this apply reverts.

    Raises:
        Locked: Another process applies to one of the organizations.
    """
    from dpsync.apply.journal import lock_organizations

    journal_directory = paths.journals if directory is None else directory
    changed = sorted({Address.parse(change.address).organization for change in planned.plan.changes})
    organization_ids = [planned.snapshot.matches[address].id for address in changed]
    with (
        lock_organizations(platform, organization_ids),
        _file_journal(out, journal_directory, planned.plan, paths, reverts) as journal,
    ):
        yield journal


@contextmanager
def _file_journal(
    out: Output, directory: Path, plan: Plan, paths: ConfigurationPaths, reverts: str | None
) -> Iterator[Journal]:
    """Yield a journal in a new file of the directory. Secrets are masked in it.

    The journal names the user: the GitHub Actions actor, or the user of the operating system.
    """
    from dpsync.apply.journal import FileJournal, MaskedJournal
    from dpsync.model.journal import Flags

    timestamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    # Whoever gets the journal from elsewhere decides for themselves which address they trust.
    flags = Flags(**{name: value for name, value in asdict(out.invocation).items() if name != "trusted"})
    name = f"{timestamp}-{plan.digest[:8]}"
    user: str | None
    if os.environ.get("GITHUB_ACTIONS") == "true" and (actor := os.environ.get("GITHUB_ACTOR")):
        user = actor
    else:
        try:
            user = getpass.getuser()
        except (AttributeError, ImportError, KeyError, OSError):  # no name in a container or on Windows
            user = None
    journal = FileJournal(directory, name, paths.root.parent, flags, user=user, reverts=reverts)
    try:
        yield MaskedJournal(journal, out.mask)
    finally:
        journal.close()


def _step_reporter(out: Output, steps: int) -> Callable[[Outcome], None]:
    """Return a function that an apply calls with each finished step, to show the progress.

    On a terminal, one line is rewritten. Elsewhere each step is printed as a line of its own, after the plan.
    """
    from dpsync.render.view_text import render_step

    ended_steps: set[str] = set()
    in_lines = out.is_text and not out.quiet and not (out.progress.rewrites_line and sys.stdout.isatty())

    def report_step(outcome: Outcome) -> None:
        ended_steps.add(outcome.step)
        out.progress.step(visible(outcome.step))
        if in_lines:
            out.print_prose(render_step(outcome, len(ended_steps), steps, out.paint()))

    return report_step


@contextmanager
def _stop_on_signals(out: Output, client: WriteClient, stop: Event) -> Iterator[list[int]]:
    """Stop an apply after its running requests at the first signal, and at once at the second.

    Yield the list of received signals, which grows during the block.
    """
    from dpsync.client.errors import InterruptedRequestError

    def react(signal_count: int) -> None:
        if signal_count == 1:
            stop.set()
            out.print_problem(
                "Stopping: dpsync waits for the responses to requests that were "
                "already sent. Press Ctrl-C again to stop at once."
            )
        else:
            client.cancel()

    with count_signals(react) as signals:
        try:
            yield signals
        except InterruptedRequestError:  # before the first write: later it is a part of the report
            raise click.exceptions.Exit(exit_code_of_signal(signals[0])) from None


def _apply_exit_code(report: Report, signals: list[int]) -> Exit:
    """Return the exit code of the report, or of the signal that stopped the apply."""
    from dpsync.apply.report import exit_code_of

    return exit_code_of_signal(signals[0]) if signals else exit_code_of(report)


def _print_result(
    out: Output, plan: Plan, report: Report | None, code: Exit, rehearsal: Rehearsal | None,
    seconds: float | None = None, remember: Callable[[Exit], str] | None = None,
) -> Exit:  # fmt: skip
    """Print the result of an apply, and return its exit code.

    An apply that wrote something keeps its exit code even if printing fails.
    """
    try:
        line = remember(code) if remember is not None else ""
        show_report(out, plan, report, code, rehearsal=rehearsal, seconds=seconds, line=line)
    except OutputNotWrittenError as error:
        out.print_problem(error.message)
    except Exception as error:
        if report is None or not report.may_have_written:
            raise
        message = f"dpsync has an internal error ({type(error).__name__}) and cannot print the result"
        out.print_problem(f"{message}. The journal contains all changes: {report.journal}")
        return max(code, Exit.PARTIAL)
    return code


def show_report(
    out: Output, plan: Plan, report: Report | None, code: Exit, digest: str | None = None,
    rehearsal: Rehearsal | None = None, seconds: float | None = None, line: str = "",
) -> None:  # fmt: skip
    """Print the result of an apply: as text after the printed plan, or as one document with the plan.

    Args:
        report: What each step did; None if no step was tried.
        digest: The digest of the plan before secrets were masked in it; None to keep that of `plan`.
        seconds: How long the apply took.
        line: A line before the result.
    """
    from dpsync.render.documents import ApplyDocument
    from dpsync.render.json_conversion import plan_document
    from dpsync.render.report_words import unapplied_text
    from dpsync.render.view_text import render_report

    if not out.is_text:
        converged = plan.empty if report is None else report.converged
        planned = plan_document(plan, rehearsal)
        if digest is not None:
            planned = planned.model_copy(update={"digest": digest})
        out.print_document(ApplyDocument(exit=code, converged=converged, plan=planned, report=report))
    elif report is not None:
        if report.journal is not None:
            report = report.model_copy(update={"journal": shortest_path(report.journal)})
        report = out.printable(report)
        text = render_report(
            plan,
            report,
            out.paint(),
            out.verbose,
            summary=out.summary,
            seconds=seconds,
            complete=out.invocation.add_flags_to_commands,
            line=line,
        )
        out.print_prose(text)
    elif sentence := unapplied_text(plan):
        out.print_prose(sentence)
