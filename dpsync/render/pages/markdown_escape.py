"""The escape for Markdown: a foreign text becomes words and code spans, and nothing else.

GitHub makes links, mentions and references out of plain text after it was parsed, whatever was escaped; it
leaves code alone. So a text is taken apart at its spaces: what is certainly a plain word stays one, and all
the rest goes into code spans. The parse of the result is text and code, whatever was in it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from dpsync.render.words.visible import visible

_PLAIN: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d{1,6}|→")
"""What no Markdown and no site sees anything in: letters, a number, the arrow between two values."""
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{7,}", re.IGNORECASE)
"""It could be the name of a commit."""
_TOKEN: Final = re.compile(r"(?P<before>[(\"']*)(?P<core>.*?)(?P<after>[.,;:!?)\"']*)", re.DOTALL)
_NUMBERED: Final = re.compile(r"\d+[.)]")
"""At the beginning of a line it would begin a list."""
_BACKTICKS: Final = re.compile("`+")


def code(text: str) -> str:
    """One code span that shows the text. Nothing in it can end it: its fence is longer."""
    text = visible(text) or " "
    fence = "`" * (longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or _stripped(text) else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def prose(text: str) -> str:
    """A sentence as Markdown, wherever it stands."""
    return _marked_up(text, code, lambda word: word)


def prose_html(text: str) -> str:
    """A sentence for the inside of an HTML block, where Markdown means nothing."""
    return _marked_up(text, code_html, html.escape)


def code_html(text: str) -> str:
    return f"<code>{html.escape(visible(text))}</code>"


def longest_run(text: str) -> int:
    return max((len(found) for found in _BACKTICKS.findall(text)), default=0)


def fence(lines: list[str], language: str) -> list[str]:
    """A fenced block of lines that have passed visible(): its fence is longer than any in it."""
    mark = "`" * max((3, *(longest_run(line) + 1 for line in lines)))
    return [f"{mark}{language}", *lines, mark]


def _stripped(text: str) -> bool:
    """Whether a code span would lose a space at both ends."""
    return text.startswith(" ") and text.endswith(" ") and bool(text.strip(" "))


def _marked_up(text: str, as_code: Callable[[str], str], as_word: Callable[[str], str]) -> str:
    tokens = visible(text).split(" ")
    parts = [part for token in tokens for part in _parts(token)]
    if parts and _NUMBERED.match(parts[0][1]):
        parts[0] = (False, *parts[0][1:])
    made = []
    for is_plain, run in groupby(parts, key=lambda part: part[0]):
        pieces = [(piece, joined) for _, piece, joined in run]
        joined = pieces[0][1]
        words = "".join(f"{'' if glued else ' '}{piece}" for piece, glued in pieces)
        words = words.removeprefix(" ")
        made.append(f"{'' if joined else ' '}{as_word(words) if is_plain else as_code(words)}")
    return "".join(made).strip(" ")


def _parts(token: str) -> Iterator[tuple[bool, str, bool]]:
    """A token as pieces: whether it is plain, the piece, whether nothing is between it and the one before."""
    if not token:
        return
    found = _TOKEN.fullmatch(token)
    assert found is not None
    before, core, after = found["before"], found["core"], found["after"]
    if not core or (_PLAIN.fullmatch(core) and not _HEXADECIMAL.fullmatch(core)):
        yield True, token, False
        return
    if before:
        yield True, before, False
    yield False, core, bool(before)
    if after:
        yield True, after, True
