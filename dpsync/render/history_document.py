"""Make the JSON document that `dpsync history` prints."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from dpsync.apply.journal_reader import JournaledApply
from dpsync.model.diagnostic import Exit
from dpsync.render.documents import (
    HistoryDocument,
    HistoryEntry,
)
from dpsync.render.report_words import applied_changes, applied_counts


def history_document(directory: Path, applies: Iterable[JournaledApply]) -> HistoryDocument:
    """Return the document of `dpsync history`, with one entry for each apply in the same order.

    An apply whose journal cannot be read has only the problem; an apply that sent nothing has no plan.
    """
    entries = []
    for apply in applies:
        past = apply.apply
        if past is None:
            unsent: Literal["nothing-sent"] | None = "nothing-sent" if apply.problem is None else None
            entries.append(HistoryEntry(journal=apply.path.name, result=unsent, problem=apply.problem))
            continue
        result: Literal["complete", "partial", "interrupted", "nothing-sent"]
        if not past.report.may_have_written:
            result = "nothing-sent"
        elif past.report.interrupted or past.exit > Exit.USAGE:
            result = "interrupted"
        else:
            result = "complete" if past.exit == Exit.DONE else "partial"
        changes_by_word = applied_changes(past.plan, past.report)
        entries.append(
            HistoryEntry(
                journal=apply.path.name,
                began=past.started_at,
                user=past.user,
                organizations=tuple(organization.address for organization in past.plan.organizations),
                changes=len(past.plan.changes),
                applied=applied_counts(past.plan, past.report),
                addresses=tuple(change.address for changes in changes_by_word.values() for change in changes),
                result=result,
                exit=past.exit,
                reverts=past.reverts,
                reverted_by=apply.reverted_by,
            )
        )
    return HistoryDocument(directory=str(directory), applies=tuple(entries))
