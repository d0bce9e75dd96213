"""What `dpsync doctor` prints: a line for each check, its mend below, and what the token may do."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.text import counted
from dpsync.render.json.documents import Check, DoctorDocument, KindAccess
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.visible import visible

_STYLES = {"ok": "green", "note": "yellow", "problem": "red bold"}
_ANSWERS = {True: "yes", False: "NO", None: "?"}


def render_doctor(document: DoctorDocument, paint: Paint) -> str:
    """All checks in their order, what the token may do, and how many problems there are."""
    side = max((len(one.topic) for one in document.checks), default=0)
    lines = [line for one in document.checks for line in _check(one, side, paint)]
    for organization in dict.fromkeys(one.organization for one in document.access):
        lines += ["", *_access(organization, document.access, paint)]
    problems = sum(one.level == "problem" for one in document.checks)
    notes = sum(one.level == "note" for one in document.checks)
    end = f"{counted(problems, 'problem')}, {counted(notes, 'note')}." if problems + notes else "No problems."
    return "\n".join([*lines, "", paint(end, "bold")])


def _check(one: Check, side: int, paint: Paint) -> Iterator[str]:
    source = f"  ({visible(one.source)})" if one.source else ""
    level = paint(f"{one.level:<7}", _STYLES[one.level])
    yield f"{level}  {one.topic:<{side}}  {visible(one.said)}{paint(source, 'dim')}"
    if one.mend:
        yield f"{'':<{side + 11}}= {visible(one.mend)}"


def _access(organization: str, rows: tuple[KindAccess, ...], paint: Paint) -> Iterator[str]:
    mine = [one for one in rows if one.organization == organization]
    side = max(len(one.kind) for one in mine)
    yield paint(f"What this token may do in {visible(organization)}", "bold")
    yield f"  {'':<{side}}  read  write"
    for one in mine:
        yield f"  {visible(one.kind):<{side}}  {_ANSWERS[one.read]:<4}  {_ANSWERS[one.write]}"
    if any(one.read is None or one.write is None for one in mine):
        yield (
            '  "?" means unknown. dpsync checked the access in one site and one space only, and your access '
            "to other sites and spaces may differ."
        )
