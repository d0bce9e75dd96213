"""Read the applies of a checkout from their journals."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from dpsync.apply.past import EndedBeforeFirstStep, PastApply, read_journal
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.text import command


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
