"""What `dpsync ids` says: lines that are added or changed, and those that the platform does not confirm."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.entries.ids import Edits, Line
from dpsync.model.entries.ids_check import Compared
from dpsync.model.findings.diagnostic import Exit
from dpsync.model.texts.words import counted
from dpsync.render.documents import IdsDocument, IdsLine
from dpsync.render.visible import visible

_SIGNS = {
    "missing": "+",
    "wrong": "~",
    "gone": "?",
    "moved": "-",
    "no entry": "?",
    "written": "+",
    "removed": "-",
}


def compared_document(file: str, compared: Compared, checking: bool) -> IdsDocument:
    """What a reading found. `checking`: nothing was written."""
    lines = tuple(
        IdsLine(
            address=str(remark.address),
            what=remark.what,
            recorded=_said(remark.line),
            found=_said(remark.found),
        )
        for remark in compared.remarks
    )
    code = Exit.CHANGES if checking and not compared.right else Exit.DONE
    return IdsDocument(
        exit=code, file=file, platform=compared.platform, recognised=compared.count, written=not checking,
        lines=lines,
    )  # fmt: skip


def edits_document(file: str, platform: str, edits: Edits) -> IdsDocument:
    """What a person has asked for, and what was written."""
    lines = tuple(
        IdsLine(address=str(address), what="removed" if line is None else "written", found=_said(line))
        for (_, address), line in sorted(edits.items(), key=lambda item: item[0])
    )
    return IdsDocument(exit=Exit.DONE, file=file, platform=platform, written=True, lines=lines)


def _said(line: Line | None) -> str | None:
    return None if line is None else " ".join(filter(None, (line.id, line.also)))


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
