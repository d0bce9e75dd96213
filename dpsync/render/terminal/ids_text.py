"""What `dpsync ids` says: lines that are added or changed, and those that the platform does not confirm."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.texts.words import counted
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


def render_ids(document: IdsDocument) -> str:
    """The whole result as text."""
    return "\n".join([*map(_line, document.lines), *_end(document)])


def _line(line: IdsLine) -> str:
    head = f"{_SIGNS[line.what]} {visible(line.address)}"
    found, recorded = visible(line.found or ""), visible(line.recorded or "")
    match line.what:
        case "missing" | "written":
            return f"{head}: {found}"
        case "wrong":
            return f"{head}: {found}, and not {recorded}"
        case "gone":
            return f"{head}: {recorded} is not there, and nothing else was recognised; its line stays"
        case "moved":
            return f"{head}: {recorded}, which has another address now"
        case "no entry":
            return f"{head}: {recorded}, and no entry has this address; its line stays"
    return head


def _end(document: IdsDocument) -> Iterator[str]:
    if document.recognised is None:
        yield f"Written: {visible(document.file)}."
        return
    counts = [
        f"{number} {what}"
        for what in ("missing", "wrong", "gone", "moved")
        if (number := sum(line.what == what for line in document.lines))
    ]
    read = f"{counted(document.recognised, 'entry')} recognised"
    if not counts:
        yield f"Right: {read}, each with its line in {visible(document.file)}."
    elif document.written:
        yield f"Written: {visible(document.file)}; {read}, lines: {', '.join(counts)}."
    else:
        yield f"Not right: {read}, lines: {', '.join(counts)}. Nothing was written."
