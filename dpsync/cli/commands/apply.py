"""`dpsync apply`: plan, ask, carry out, prove."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click

from dpsync.cli.arguments.connection import connection
from dpsync.cli.arguments.memory import opened
from dpsync.cli.arguments.options import (
    layered,
    output_in_every_format,
    planning,
    profiled,
    selecting,
    summarizing,
)
from dpsync.cli.arguments.place import ConfigurationPaths, shortest_path
from dpsync.cli.terminal.output import Output, Unwritten, as_output, interactive
from dpsync.cli.terminal.progress import READING
from dpsync.cli.terminal.signals import counted_signals, ending
from dpsync.collector import collector_running
from dpsync.model.entries.address import Address
from dpsync.model.findings.diagnostic import Exit

if TYPE_CHECKING:
    from dpsync.api import Expected, IdsOnDisk, Options, Planned, Session
    from dpsync.apply.journal import FileJournal
    from dpsync.client.client import WriteClient
    from dpsync.model.plans.journal import Outcome, Report
    from dpsync.model.plans.plan import Plan


@click.command("apply")
@click.argument("saved_in", required=False, type=click.Path(path_type=Path), metavar="[PLAN]")
@layered
@profiled
@selecting
@planning
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--approved", metavar="DIGEST", help="Only the plan with this digest, without a question.")
@click.option(
    "--journal", "journal_in", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="Where the journal is kept. [default: .dpsync/journal beside the root file]",
)  # fmt: skip
@click.option("--no-input", is_flag=True, help="Never ask; without --yes that means to refuse.")
@summarizing
@output_in_every_format
def command(
    saved_in: Path | None, files: tuple[str, ...], directory: Path, environment: str | None,
    profile: str | None, select: tuple[str, ...], exclude: tuple[str, ...], confirm: tuple[str, ...],
    no_delete: bool, base: str | None, ids_in: Path | None, parallelism: int, timeout: float, yes: bool,
    approved: str | None, journal_in: Path | None, no_input: bool, format_: str, color: str, verbose: int,
    quiet: bool, summary: bool,
) -> int:  # fmt: skip
    """Do what plan shows, and prove that it converged.

    Shows the plan, asks, carries it out, reads everything back and plans again. The report says what was
    done, what failed, what was not tried, and what nobody knows; a journal of it is kept in .dpsync/journal.

    PLAN is a file that plan --out has written. It is made again: if it is the same it is carried out, else
    nothing is.
    """
    from dpsync.api import Expected, Options
    from dpsync.apply.executor import sent_secrets
    from dpsync.apply.expected import check_approved
    from dpsync.apply.lock import locked
    from dpsync.apply.saved import options_of, read_saved
    from dpsync.cli.endings import endings
    from dpsync.cli.terminal.trace import tracer
    from dpsync.client.client import WriteClient

    out = as_output(format_, color, verbose, quiet, summary)
    options = Options(confirm, not no_delete, select=select, exclude=exclude)
    if saved_in is not None and options != Options():
        raise click.UsageError("a saved plan has its own --select, --exclude, --confirm and --no-delete")
    with endings(out):
        saved = read_saved(directory / saved_in) if saved_in is not None else None
        if saved is not None:
            check_approved(saved.plan, approved)
            options, base, profile = options_of(saved.plan), base or saved.plan.base, saved.plan.profile
        place = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired = place.load(out)
        to = connection(out, desired.environment)
    with endings(out, to):
        session, ids = opened(out, place, desired, to, parallelism, base)
        with WriteClient(
            to.url, to.token, timeout=timeout, trace=tracer(out), observer=out.progress
        ) as client:
            planned = _planned_now(out, session, client, options)
            out.mask.add(sent_secrets(planned.plan, os.environ))
            expect = Expected(saved.plan) if saved is not None else Expected(approved=approved)
            if planned.plan.can_apply:
                expect.check(planned.plan)
            _show_plan(out, planned.plan)
            code = _nothing_to_do(planned.plan)
            if code is None and not yes and approved is None:
                code = _asked(out, planned.plan, no_input)
                if code is None:  # time has passed: what runs is the plan of now, and must be what was shown
                    expect = Expected(planned.plan)
                    planned = _planned_now(out, session, client, options)
            if code is not None:
                return _not_carried_out(out, session, client, planned, ids, code)
            journals = place.journals if journal_in is None else directory / journal_in
            with locked(to.url, _organizations(planned)), _journal(journals, planned.plan, place) as journal:
                return _carry_out(out, session, client, planned, expect, journal, ids)
    raise AssertionError


def _planned_now(out: Output, session: Session, client: WriteClient, options: Options) -> Planned:
    with out.progress.during(READING):
        return session.plan(client, options)


def _carry_out(
    out: Output, session: Session, client: WriteClient, planned: Planned, expect: Expected,
    journal: FileJournal, ids: IdsOnDisk,
) -> Exit:  # fmt: skip
    """Apply an agreed plan under signals, and tell how it ended."""
    steps = sum(len(change.steps) for change in planned.plan.changes)
    stop = Event()
    with _signals(out, client, stop) as received:
        with out.progress.during("Applying", steps), collector_running():
            report = session.apply(
                client, planned, expect, journal=journal, report=_teller(out), stop=stop, ids=ids
            )
        return _end(out, planned.plan, report, _ending(report, received))


def _not_carried_out(
    out: Output, session: Session, client: WriteClient, planned: Planned, ids: IdsOnDisk, code: Exit
) -> Exit:
    """End without a change. Where there was none to make, what was recognised is recorded."""
    if planned.plan.can_apply and planned.plan.empty:
        trouble = session.record(client, planned, ids)
        if trouble is not None:
            out.complain(f"error: {trouble}")
            code = Exit.PARTIAL
    return _end(out, planned.plan, None, code)


def _organizations(planned: Planned) -> list[str]:
    """The ids of the organizations that a plan changes."""
    changed = sorted({Address((change.address.split("/")[0],)) for change in planned.plan.changes})
    return [planned.snapshot.matches[address].id for address in changed]


def _show_plan(out: Output, plan: Plan) -> None:
    from dpsync.render.terminal.plan_text import render_plan

    if not out.text:
        return
    known = out.printable(plan)
    out.result(render_plan(known, out.paint(), out.verbose, quiet=out.quiet, summary=out.summary))
    if out.left:
        # Nobody has seen it: then nothing is done either.
        raise click.exceptions.Exit(Exit.FAILED)


def _nothing_to_do(plan: Plan) -> Exit | None:
    """The exit code to end with, or None where there is something to carry out."""
    if not plan.can_apply:
        return Exit.REFUSED
    if plan.empty:
        return Exit.PARTIAL if plan.blocked else Exit.DONE
    return None


def _asked(out: Output, plan: Plan, no_input: bool) -> Exit | None:
    """The exit code to end with, or None where somebody has agreed."""
    if not interactive(no_input):
        out.talk("Not applied: nobody can be asked here. Look at the plan, then say --yes.")
        return Exit.REFUSED
    if _agreed(plan):
        return None
    out.talk("Not applied.")
    return Exit.REFUSED


def _agreed(plan: Plan) -> bool:
    if plan.deletes:
        wanted = f"delete {plan.deletes}"
        return bool(click.prompt(f'Type "{wanted}" to apply this plan', err=True, default="") == wanted)
    return click.confirm("Apply this plan?", err=True)


@contextmanager
def _journal(directory: Path, plan: Plan, place: ConfigurationPaths) -> Iterator[FileJournal]:
    from dpsync.apply.journal import FileJournal

    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    journal = FileJournal(directory, f"{stamp}-{plan.digest[:8]}", place.root.parent)
    try:
        yield journal
    finally:
        journal.close()


def _teller(out: Output) -> Callable[[Outcome], None]:
    """Each step's outcome as it happens."""
    from dpsync.render.terminal.report_text import render_outcome

    def tell(outcome: Outcome) -> None:
        out.progress.step()
        if out.text:
            out.talk(render_outcome(outcome, out.paint(error=True)))

    return tell


@contextmanager
def _signals(out: Output, client: WriteClient, stop: Event) -> Iterator[list[int]]:
    """The first signal lets what is in flight finish; the second one stops waiting for it."""
    from dpsync.client.errors import Interrupted

    def act(count: int) -> None:
        if count == 1:
            stop.set()
            out.complain("Stopping: what was sent is waited for. A second signal ends that, too.")
        else:
            client.cancel()

    with counted_signals(act) as received:
        try:
            yield received
        except Interrupted:  # before the first write: later it is a part of the report
            raise click.exceptions.Exit(ending(received[0])) from None


def _ending(report: Report, received: list[int]) -> Exit:
    """The exit code. 1 and 4 say that nothing was written: so no request may have left."""
    if received:
        return ending(received[0])
    if report.complete:
        return Exit.DONE
    if not report.sent:
        if report.count("stale"):
            return Exit.REFUSED
        if report.count("failed") or report.trouble:
            return Exit.FAILED
    return Exit.PARTIAL


def _end(out: Output, plan: Plan, report: Report | None, code: Exit) -> Exit:
    """Tell how it ended. What was done stays done, whether anybody hears of it or not."""
    try:
        _show_end(out, plan, report, code)
    except Unwritten as failed:
        out.complain(failed.message)
    except Exception as mistake:
        if report is None or not report.sent:
            raise
        said = f"dpsync made a mistake of its own ({type(mistake).__name__}) while it told what was done"
        out.complain(f"{said}; the journal has it all: {report.journal}")
        return max(code, Exit.PARTIAL)
    return code


def _show_end(out: Output, plan: Plan, report: Report | None, code: Exit) -> None:
    from dpsync.render.json.conversion import plan_document
    from dpsync.render.json.documents import ApplyDocument
    from dpsync.render.terminal.report_text import render_report

    if not out.text:
        converged = plan.empty if report is None else report.converged
        document = ApplyDocument(exit=code, converged=converged, plan=plan_document(plan), report=report)
        out.show(document)
    elif report is not None:
        if report.journal is not None:
            report = report.model_copy(update={"journal": shortest_path(report.journal)})
        report = out.printable(report)
        out.result(f"\n{render_report(report, out.paint(), out.verbose, plan.blocked, out.summary)}")
