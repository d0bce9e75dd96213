"""Make the text that `dpsync history` prints: a table with one line for each apply."""

from __future__ import annotations

from typing import Final

from dpsync.model.text import counted
from dpsync.render.json.documents import HistoryDocument, HistoryEntry
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.visible import visible

_RESULTS: Final = {
    "complete": "complete",
    "partial": "partly done",
    "interrupted": "interrupted",
    "nothing-sent": "nothing sent",
    None: "",
}


def render_history(document: HistoryDocument, paint: Paint) -> str:
    """Return a table: start time (UTC), user, organizations, changes, result, journal."""
    if not document.applies:
        return f"No past runs of dpsync apply: {visible(document.directory)} has no journals."
    rows = [_row(apply) for apply in document.applies]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        *cells, journal = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join([*cells, paint(journal.rstrip(), "dim")]).rstrip())
    return "\n".join(lines)


def _row(apply: HistoryEntry) -> tuple[str, str, str, str, str, str]:
    began = f"{apply.began:%Y-%m-%d %H:%M:%S}" if apply.began is not None else "-"
    if apply.problem is not None:
        return began, "-", "-", "-", "unreadable", visible(apply.problem)
    result = _RESULTS[apply.result]
    if apply.reverts is not None:
        result += f", reverts {visible(apply.reverts)}"
    if apply.reverted_by is not None:
        result += f", reverted by {visible(apply.reverted_by)}"
    organizations = ", ".join(map(visible, apply.organizations)) or "-"
    user, journal = visible(apply.user or "-"), visible(apply.journal)
    return began, user, organizations, _changes(apply), result, journal


def _changes(apply: HistoryEntry) -> str:
    """Return what an apply did, as its report does, with the first address; else the size of its plan."""
    if not apply.addresses:
        return counted(apply.changes, "change")
    numbers = ", ".join(f"{number} {word}" for word, number in apply.applied.items())
    others = sum(apply.applied.values()) - 1
    more = f" and {others} more" if others else ""
    return f"{numbers}: {visible(apply.addresses[0])}{more}"
