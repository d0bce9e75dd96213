"""Make the JSON document that `dpsync history` prints."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from dpsync.apply.journal_reader import JournaledApply, PastApply
from dpsync.model.diagnostic import Exit
from dpsync.render.documents import (
    HistoryDocument,
    HistoryEntry,
)
from dpsync.render.report_words import applied_changes, applied_counts


def history_document(directory: Path, applies: Iterable[JournaledApply]) -> HistoryDocument:
    """Return the document with one entry for each apply, in the same order."""
    return HistoryDocument(directory=str(directory), applies=tuple(map(_history_entry, applies)))


def _history_entry(apply: JournaledApply) -> HistoryEntry:
    past = apply.apply
    if past is None:
        result: Literal["nothing-sent"] | None = "nothing-sent" if apply.problem is None else None
        return HistoryEntry(journal=apply.path.name, result=result, problem=apply.problem)
    return HistoryEntry(
        journal=apply.path.name,
        began=past.started_at,
        user=past.user,
        organizations=tuple(organization.address for organization in past.plan.organizations),
        changes=len(past.plan.changes),
        applied=applied_counts(past.plan, past.report),
        addresses=tuple(
            change.address
            for changes in applied_changes(past.plan, past.report).values()
            for change in changes
        ),
        result=_apply_result(past),
        exit=past.exit,
        reverts=past.reverts,
        reverted_by=apply.reverted_by,
    )


def _apply_result(past: PastApply) -> Literal["complete", "partial", "interrupted", "nothing-sent"]:
    if not past.report.may_have_written:
        return "nothing-sent"
    if past.report.interrupted or past.exit > Exit.USAGE:
        return "interrupted"
    return "complete" if past.exit == Exit.DONE else "partial"
