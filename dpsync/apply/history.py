"""The applies of a checkout, read from their journals."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from dpsync.apply.past import EndedBeforeFirstStep, PastApply, read_journal
from dpsync.model.findings.diagnostic import Diagnostic, DiagnosticError, Exit


class JournaledApply(Struct, frozen=True):
    """One journal. Without `past`, the apply ended before its first step, or `problem` says what is wrong."""

    path: Path
    past: PastApply | None
    problem: str | None = None
    reverted_by: str | None = None
    """The file name of the journal of the revert, if this apply was reverted."""


def read_history(directory: Path) -> list[JournaledApply]:
    """Return the applies whose journals are in a directory, the newest first."""
    found = sorted(map(_read, directory.glob("*.jsonl")), key=_began, reverse=True)
    reverts = {
        one.past.reverts: one.path.name
        for one in found
        if one.past is not None and one.past.reverts is not None and one.past.report.sent
    }
    return [JournaledApply(one.path, one.past, one.problem, reverts.get(one.path.name)) for one in found]


def last_apply(history: Iterable[JournaledApply], directory: Path) -> Path:
    """Return the journal of the newest apply that changed something, is no revert and is not reverted yet.

    Raises DiagnosticError (exit 5) if there is none, or if a newer journal cannot be read.
    """
    for one in history:
        if one.problem is not None:
            message = f"dpsync cannot tell which apply is the newest: {one.problem}"
            hint = "pass the journal of the apply to revert, or move the damaged file to another directory"
            raise DiagnosticError([Diagnostic("DP144", message, hint=hint)], Exit.INVALID)
        past = one.past
        if past is not None and past.report.sent and past.reverts is None and one.reverted_by is None:
            return one.path
    message = f"no apply to revert: {directory} has no journal of an apply that changed something"
    hint = (
        "dpsync history lists the applies of this checkout; for an apply in CI, download the journal from "
        "the artifacts of its run"
    )
    raise DiagnosticError([Diagnostic("DP155", message, hint=hint)], Exit.INVALID)


def _read(path: Path) -> JournaledApply:
    try:
        return JournaledApply(path, read_journal(path))
    except EndedBeforeFirstStep:
        return JournaledApply(path, None)
    except DiagnosticError as unusable:
        return JournaledApply(path, None, unusable.findings[0].message)


def _began(apply: JournaledApply) -> tuple[datetime, str]:
    """Return what applies are sorted by. An unreadable journal counts by its last change."""
    began = apply.past.began if apply.past is not None else None
    return began or datetime.fromtimestamp(apply.path.stat().st_mtime, UTC), apply.path.name
