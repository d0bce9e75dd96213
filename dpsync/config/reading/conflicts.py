"""Conflict markers of git in a text of lines, and the two texts that it was merged from.

A line keeps its number: what is not part of a side is an empty line there.
"""

from __future__ import annotations

import re
from typing import Final

from dpsync.model.nodes import Span

_MARKER: Final = re.compile(r"(<{7}|\|{7}|={7}|>{7})(?: .*)?")
_FOLLOWING: Final = {"": "<", "<": "|=", "|": "=", "=": ">"}


def markers(text: str, file: str) -> list[Span]:
    """Where conflicts begin; in a text with other markers only, the first one."""
    found = [
        (_mark(content), Span(file, line, 1, line, len(content) + 1))
        for line, content in enumerate(_lines(text), 1)
        if _mark(content)
    ]
    return [span for mark, span in found if mark == "<"] or [span for _, span in found[:1]]


def both_sides(text: str) -> tuple[str, str] | None:
    """Our text and theirs; None where the markers do not belong together."""
    ours: list[str] = []
    theirs: list[str] = []
    inside = ""
    for line in _lines(text):
        mark = _mark(line)
        if mark:
            if mark not in _FOLLOWING[inside]:
                return None
            inside = "" if mark == ">" else mark
        ours.append(line if not mark and inside in ("", "<") else "")
        theirs.append(line if not mark and inside in ("", "=") else "")
    return None if inside else ("\n".join(ours), "\n".join(theirs))


def _mark(line: str) -> str:
    """The character that a marker is made of; empty where a line is none."""
    return line[0] if _MARKER.fullmatch(line) else ""


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]
