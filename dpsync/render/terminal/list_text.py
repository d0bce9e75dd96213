"""What `dpsync list` prints: a line for each entry, in columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpsync.model.snapshot import MatchedBy
from dpsync.model.text import short_commit
from dpsync.render.json.documents import ListDocument, ListedEntry
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.visible import visible

_HEADER: Final = ("ADDRESS", "KIND", "FILE", "ID", "RECOGNIZED")


def render_list(document: ListDocument, paint: Paint) -> str:
    """Return a header, and for each entry address, kind, file and line, id, and how it was recognized."""
    rows = [_HEADER, *(_row(one, document.platform is not None) for one in document.entries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        address, kind, at, id, said = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join([address, paint(kind, "dim"), at, id, paint(said.rstrip(), "dim")]).rstrip())
    return "\n".join(lines)


def _row(one: ListedEntry, read: bool) -> tuple[str, str, str, str, str]:
    at = f"{visible(one.at.file)}:{one.at.line}"
    said = ", ".join([_how(one, read), *_besides(one)])
    return visible(one.address), visible(one.kind), at, visible(one.id or "-"), said


def _besides(one: ListedEntry) -> Iterator[str]:
    """Who else owns a part of it, and the domain that only the platform sets."""
    if one.synced is not None:
        by = f", installation {visible(one.synced.installation)}" if one.synced.installation else ""
        yield f"synced with {visible(one.synced.repository)}{by}"
    if one.domain is not None:
        yield f"at the custom domain {visible(one.domain)}"


def _how(one: ListedEntry, read: bool) -> str:
    if one.why_not is not None:
        return f"not read: {visible(one.why_not)}"
    if one.recognised is None:
        return "no live object" if read else ""
    detail = visible(one.detail)
    match one.recognised:
        case MatchedBy.PIN:
            return "by the id in your files"
        case MatchedBy.LINE:
            return "by the ids file"
        case MatchedBy.OTHER_LINE:
            return f"by the line of {detail} in the ids file"
        case MatchedBy.PREVIOUSLY:
            return "by previously:"
        case MatchedBy.EARLIER_COMMIT:
            return f"by its name in commit {visible(short_commit(one.detail))}"
        case MatchedBy.BASE:
            return "by its name in the commit that dpsync compares with"
        case MatchedBy.KEY | MatchedBy.LATER_KEY:
            return f"by its {detail}" if detail else "by its natural key"
        case MatchedBy.PLACE:
            return "by its position"
        case MatchedBy.TEMPORARY_NAME:
            return "by its temporary name"
        case MatchedBy.CONTENTS:
            return "by its contents"
        case MatchedBy.LOOKS:
            return "by a similar title or position"
