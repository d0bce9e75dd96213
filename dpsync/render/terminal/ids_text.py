"""Print the result of `dpsync ids`: lines added, changed or removed, and lines that match no object."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.text import command, counted
from dpsync.render.json.documents import IdsDocument, IdsLine
from dpsync.render.words.visible import visible

_SIGNS = {
    "missing": "+",
    "wrong": "~",
    "gone": "?",
    "moved": "-",
    "no entry": "?",
    "written": "+",
    "removed": "-",
}

_WRITTEN = {"missing": "added", "wrong": "corrected", "moved": "removed"}


def render_ids(document: IdsDocument) -> str:
    """Return the whole result as text."""
    return "\n".join([*map(_line, document.lines), *_end(document)])


def _line(line: IdsLine) -> str:
    head = f"{_SIGNS[line.what]} {visible(line.address)}"
    found, recorded = visible(line.found or ""), visible(line.recorded or "")
    match line.what:
        case "missing" | "written":
            return f"{head}: {found}"
        case "wrong":
            return f"{head}: {recorded} → {found}"
        case "gone":
            return (
                f"{head}: dpsync found no object with the id {recorded}, and keeps the line of the ids file"
            )
        case "moved":
            return f"{head}: the id {recorded} belongs to another address now"
        case "no entry":
            return f"{head}: dpsync found no entry for the id {recorded}, and keeps the line of the ids file"
    return head


def _end(document: IdsDocument) -> Iterator[str]:
    if document.recognised is None:
        yield f"Wrote {visible(document.file)}."
        return
    counts = [
        (number, _WRITTEN.get(what, what) if document.written else what)
        for what in ("missing", "wrong", "gone", "moved")
        if (number := sum(line.what == what for line in document.lines))
    ]
    file = visible(document.file)
    if not counts:
        yield f"{file} is up to date: {counted(document.recognised, 'entry')} matched."
        return
    (number, what), *more = counts
    lines = ", ".join([f"{counted(number, 'line')} {what}", *(f"{number} {what}" for number, what in more)])
    yield (
        f"Wrote {file}: {lines}."
        if document.written
        else (f"{file} is out of date: {lines}. Fix: {command('ids')}")
    )
