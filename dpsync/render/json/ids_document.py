"""What `dpsync ids` has found, as the document that it prints."""

from __future__ import annotations

from dpsync.model.diagnostic import Exit
from dpsync.model.ids import Edits, IdsComparison, RecordedLine
from dpsync.render.json.documents import IdsDocument, IdsLine


def compared_document(file: str, compared: IdsComparison, checking: bool) -> IdsDocument:
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


def _said(line: RecordedLine | None) -> str | None:
    return None if line is None else " ".join(filter(None, (line.id, line.also)))
