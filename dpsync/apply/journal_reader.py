"""Read past applies from their journals, without any request to a platform.

`read_journal` returns one apply, `read_history` all applies of a checkout, and `last_apply` the journal to
revert.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct
from pydantic import ValidationError
from pydantic_core import from_json

from dpsync.apply.report import exit_of, report_of
from dpsync.apply.saved_plan import content
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.journal import (
    EVENT,
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
from dpsync.model.text import command

_FIRST: Final = b'{"event":"'
"""The first bytes of each line of a journal."""
_CUT: Final = "the last line of the journal is incomplete, so dpsync cannot read this line"


class PastApply(Struct, frozen=True):
    """The apply in a journal. `report` and `exit` are what the apply printed, or would have printed."""

    plan: Plan
    digest: str
    """The digest of the plan before secrets were masked."""
    report: Report
    exit: Exit
    rehearsal: Rehearsal | None
    """The result of the rehearsal, if there was one."""
    flags: Flags
    dpsync: str
    """The dpsync version that wrote the journal."""
    began: datetime | None
    last: datetime | None
    """The time of the last line."""
    user: str | None = None
    reverts: str | None = None
    """The file name of the journal or saved plan that this apply reverted."""


class EndedBeforeFirstStep(DiagnosticError):
    """A journal contains an apply that ended before its first step."""


def is_journal(found: bytes) -> bool:
    """Return whether the content of a file may be a journal."""
    return found.startswith(_FIRST)


def read_journal(path: Path) -> PastApply:
    """Return the apply in a journal.

    Raises DiagnosticError (exit 5) if the file is no journal, or damaged.
    """
    return parse_journal(path, content(path))


def parse_journal(path: Path, found: bytes) -> PastApply:
    """Return the apply in the content of a journal file. Raises DiagnosticError like `read_journal`."""
    if not is_journal(found):
        raise unusable(path, "the file is not the journal of an apply")
    *lines, rest = found.split(b"\n")
    events = _parse_events(path, lines)
    if not events or not isinstance(events[0], JournalOpened):
        raise unusable(path, "the first line of the journal is incomplete or missing")
    report = report_of(events, str(path.absolute()))
    started = next((event for event in events if isinstance(event, Started)), None)
    if report is None or started is None:
        raise EndedBeforeFirstStep(
            unusable(path, "the apply ended before its first step, and sent nothing").findings, Exit.INVALID
        )
    if rest:
        report = report.model_copy(update={"trouble": (*report.trouble, _CUT)})
    code = next((Exit(event.code) for event in events if isinstance(event, Exited)), exit_of(report))
    rehearsal = next((event.rehearsal for event in events if isinstance(event, Rehearsed)), None)
    first, last = events[0], events[-1]
    return PastApply(
        started.plan, started.digest, report, code, rehearsal, first.flags, first.dpsync, started.at, last.at,
        first.user, first.reverts,
    )  # fmt: skip


def _parse_events(path: Path, lines: list[bytes]) -> list[Event]:
    """Return the events of all complete lines.

    A line that cannot be read makes the journal unusable, because its content may matter.
    """
    events: list[Event] = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(EVENT.validate_json(line))
        except ValidationError:
            if number == 1:
                raise unusable(path, _first_line_problem(line)) from None
            raise unusable(
                path, f"line {number} is damaged, or another version of dpsync wrote the journal"
            ) from None
    return events


def _first_line_problem(line: bytes) -> str:
    """Return why the first line cannot be read."""
    try:
        first = from_json(line)
    except ValueError:
        return "line 1 is damaged"
    name = first.get("format") if isinstance(first, dict) else None
    if isinstance(name, str) and name != FORMAT and name.startswith("dpsync.journal/"):
        return f"the format of the journal is {name[:40]}, but this version of dpsync reads {FORMAT}"
    return "another version of dpsync wrote the journal"


def unusable(path: Path, why: str) -> DiagnosticError:
    """Return the error for a file that is not a complete journal."""
    hint = (
        f"you can continue without the journal: {command('plan')} shows the remaining changes, and "
        f"{command('apply')} makes them"
    )
    return DiagnosticError([Diagnostic("DP144", f"{path} cannot be used: {why}", hint=hint)], Exit.INVALID)


class JournaledApply(Struct, frozen=True):
    """A journal and its apply. `past` is None if nothing was applied or the journal is invalid."""

    path: Path
    past: PastApply | None
    problem: str | None = None
    """Why the journal is invalid; None if it is valid."""
    reverted_by: str | None = None
    """The journal file name of the revert, if this apply was reverted completely."""


def read_history(directory: Path) -> list[JournaledApply]:
    """Return the applies that have a journal in this directory, the newest first."""
    applies = sorted(map(_read_apply, directory.glob("*.jsonl")), key=_sort_key, reverse=True)
    reverted_by = {
        apply.past.reverts: apply.path.name
        for apply in applies
        if apply.past is not None and apply.past.reverts is not None and _is_finished(apply.past)
    }
    return [
        JournaledApply(apply.path, apply.past, apply.problem, reverted_by.get(apply.path.name))
        for apply in applies
    ]


def _is_finished(revert: PastApply) -> bool:
    """Return whether a revert made all changes that it could make, for all objects of the reverted apply.

    Otherwise, the next revert of the same apply can make the other changes.
    """
    plan, report = revert.plan, revert.report
    return report.sent and report.settled and not report.unsuccessful and plan.part is None and plan.deleting


def last_apply(history: Iterable[JournaledApply], directory: Path) -> Path:
    """Return the journal of the newest apply that changed something, is not a revert and is not reverted yet.

    An apply with an unfinished revert counts as not reverted. Raises DiagnosticError (exit 5) if there is no
    such apply, or if a newer journal is invalid.
    """
    for apply in history:
        if apply.problem is not None:
            message = f"dpsync cannot tell which apply is the newest: {apply.problem}"
            hint = (
                "pass the path of the journal of the apply that you want to revert, or move the unreadable "
                "journal to another directory"
            )
            raise DiagnosticError([Diagnostic("DP144", message, hint=hint)], Exit.INVALID)
        past = apply.past
        if past is not None and past.report.sent and past.reverts is None and apply.reverted_by is None:
            return apply.path
    message = (
        f"there is no apply to revert: {directory} contains no journal of an apply that changed GitBook and "
        "is not reverted yet"
    )
    hint = (
        f"{command('history')} lists the past runs of {command('apply')} in this clone. For an apply in CI, "
        "download the journal from the artifacts of the CI run"
    )
    raise DiagnosticError([Diagnostic("DP155", message, hint=hint)], Exit.INVALID)


def _read_apply(path: Path) -> JournaledApply:
    try:
        return JournaledApply(path, read_journal(path))
    except EndedBeforeFirstStep:
        return JournaledApply(path, None)
    except DiagnosticError as error:
        return JournaledApply(path, None, error.findings[0].message)


def _sort_key(apply: JournaledApply) -> tuple[datetime, str]:
    """Return the start time and the file name of an apply. For an invalid journal, use the file time."""
    began = apply.past.began if apply.past is not None else None
    return began or datetime.fromtimestamp(apply.path.stat().st_mtime, UTC), apply.path.name
