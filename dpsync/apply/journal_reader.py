"""Read past applies from their journals (a file of events for each apply), without any request.

`read_journal` returns one apply, `read_history` all applies of a checkout, and `last_apply` the journal of
the apply to revert.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct
from pydantic import ValidationError
from pydantic_core import from_json

from dpsync.apply.report import build_report, exit_code_of
from dpsync.apply.saved_plan import read_content
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.journal import (
    EVENT_ADAPTER,
    FORMAT,
    Event,
    Exited,
    Flags,
    JournalOpened,
    Rehearsed,
    Report,
    Started,
)
from dpsync.model.plan import Plan, Rehearsal
from dpsync.model.text import format_command

_JOURNAL_START: Final = b'{"event":"'
"""The first bytes of each line of a journal."""
_INCOMPLETE_LINE: Final = "the last line of the journal is incomplete, so dpsync cannot read this line"


class PastApply(Struct, frozen=True):
    """An apply as its journal records it. `report` and `exit` are what it printed, or would have printed."""

    plan: Plan
    digest: str
    """The digest of the plan before secrets were masked."""
    report: Report
    exit: Exit
    rehearsal: Rehearsal | None
    """The result of the rehearsal, if there was one."""
    flags: Flags
    dpsync_version: str
    """The dpsync version that wrote the journal."""
    started_at: datetime | None
    ended_at: datetime | None
    """The time of the last line."""
    user: str | None = None
    reverts: str | None = None
    """The file name of the journal or saved plan that this apply reverted."""


class EndedBeforeFirstStepError(DiagnosticError):
    """The journal is of an apply that ended before its first step, so it changed nothing."""


def is_journal(content: bytes) -> bool:
    """Return whether the content of a file begins like a journal."""
    return content.startswith(_JOURNAL_START)


def read_journal(path: Path) -> PastApply:
    """Return the apply in a journal.

    Raises DiagnosticError (exit 5) if the file is no journal, or damaged.
    """
    return parse_journal(path, read_content(path))


def parse_journal(path: Path, content: bytes) -> PastApply:
    """Return the apply in the content of a journal file. Raises DiagnosticError like `read_journal`."""
    if not is_journal(content):
        raise invalid_journal_error(path, "the file is not the journal of an apply")
    *lines, incomplete_line = content.split(b"\n")
    events = _parse_events(path, lines)
    if not events or not isinstance(events[0], JournalOpened):
        raise invalid_journal_error(path, "the first line of the journal is incomplete or missing")
    report = build_report(events, str(path.absolute()))
    started = next((event for event in events if isinstance(event, Started)), None)
    if report is None or started is None:
        raise EndedBeforeFirstStepError(
            invalid_journal_error(path, "the apply ended before its first step, and sent nothing").findings,
            Exit.INVALID,
        )
    if incomplete_line:
        report = report.model_copy(update={"trouble": (*report.trouble, _INCOMPLETE_LINE)})
    code = next((Exit(event.code) for event in events if isinstance(event, Exited)), exit_code_of(report))
    rehearsal = next((event.rehearsal for event in events if isinstance(event, Rehearsed)), None)
    first, last = events[0], events[-1]
    return PastApply(
        started.plan, started.digest, report, code, rehearsal, first.flags, first.dpsync, started.at, last.at,
        first.user, first.reverts,
    )  # fmt: skip


def _parse_events(path: Path, lines: list[bytes]) -> list[Event]:
    """Return the events of all complete lines of a journal.

    A line that cannot be read makes the journal unusable, because its content may matter.
    """
    events: list[Event] = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(EVENT_ADAPTER.validate_json(line))
        except ValidationError:
            if number == 1:
                raise invalid_journal_error(path, _first_line_problem(line)) from None
            raise invalid_journal_error(
                path, f"line {number} is damaged, or another version of dpsync wrote the journal"
            ) from None
    return events


def _first_line_problem(line: bytes) -> str:
    """Return why the first line of a journal cannot be read: damaged, or of another version."""
    try:
        first = from_json(line)
    except ValueError:
        return "line 1 is damaged"
    name = first.get("format") if isinstance(first, dict) else None
    if isinstance(name, str) and name != FORMAT and name.startswith("dpsync.journal/"):
        return f"the format of the journal is {name[:40]}, but this version of dpsync reads {FORMAT}"
    return "another version of dpsync wrote the journal"


def invalid_journal_error(path: Path, why: str) -> DiagnosticError:
    """Return the error (DP144) for a file that is no journal, or a damaged one."""
    hint = (
        f"you can continue without the journal: {format_command('plan')} shows the remaining changes, and "
        f"{format_command('apply')} makes them"
    )
    return DiagnosticError([Diagnostic("DP144", f"{path} cannot be used: {why}", hint=hint)], Exit.INVALID)


class JournaledApply(Struct, frozen=True):
    """A journal file and its apply.

    `apply` is None if the apply ended before its first step, or if the journal is invalid.
    """

    path: Path
    apply: PastApply | None
    problem: str | None = None
    """Why the journal is invalid; None if it is valid."""
    reverted_by: str | None = None
    """The journal file name of the revert, if this apply was reverted completely."""


def read_history(directory: Path) -> list[JournaledApply]:
    """Return the applies that have a journal in this directory, the newest first.

    Each apply that was reverted completely names the journal of its revert.
    """

    def start_time(apply: JournaledApply) -> tuple[datetime, str]:
        started_at = apply.apply.started_at if apply.apply is not None else None
        if started_at is None:  # an invalid journal
            started_at = datetime.fromtimestamp(apply.path.stat().st_mtime, UTC)
        return started_at, apply.path.name

    applies = sorted(map(_read_apply, directory.glob("*.jsonl")), key=start_time, reverse=True)
    reverted_by = {
        apply.apply.reverts: apply.path.name
        for apply in applies
        if apply.apply is not None and apply.apply.reverts is not None and _is_finished(apply.apply)
    }
    return [
        JournaledApply(apply.path, apply.apply, apply.problem, reverted_by.get(apply.path.name))
        for apply in applies
    ]


def _is_finished(revert: PastApply) -> bool:
    """Return whether a revert made all changes that it could make, for all objects of the reverted apply.

    Otherwise, the next revert of the same apply can make the other changes.
    """
    plan, report = revert.plan, revert.report
    return (
        report.may_have_written
        and report.settled
        and not report.unsuccessful
        and plan.part is None
        and plan.deleting
    )


def last_apply(history: Iterable[JournaledApply], directory: Path) -> Path:
    """Return the journal of the newest apply that changed something and is neither a revert nor reverted.

    An apply with an unfinished revert counts as not reverted. Raises DiagnosticError (exit code 5) if there
    is no such apply, or if a newer journal is invalid.
    """
    for apply in history:
        if apply.problem is not None:
            message = f"dpsync cannot tell which apply is the newest: {apply.problem}"
            hint = (
                "pass the path of the journal of the apply that you want to revert, or move the unreadable "
                "journal to another directory"
            )
            raise DiagnosticError([Diagnostic("DP144", message, hint=hint)], Exit.INVALID)
        past = apply.apply
        if (
            past is not None
            and past.report.may_have_written
            and past.reverts is None
            and apply.reverted_by is None
        ):
            return apply.path
    message = (
        f"nothing to revert: each apply in {directory} was already reverted or changed nothing in GitBook"
    )
    hint = (
        f"{format_command('history')} lists the past runs of {format_command('apply')} in this "
        "clone. For an apply in CI, "
        "download the journal from the artifacts of the CI run"
    )
    raise DiagnosticError([Diagnostic("DP155", message, hint=hint)], Exit.INVALID)


def _read_apply(path: Path) -> JournaledApply:
    """Return a journal file with its apply, or with the problem of an invalid journal."""
    try:
        return JournaledApply(path, read_journal(path))
    except EndedBeforeFirstStepError:
        return JournaledApply(path, None)
    except DiagnosticError as error:
        return JournaledApply(path, None, error.findings[0].message)
