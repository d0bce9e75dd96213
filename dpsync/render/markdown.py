"""Print a view as Markdown.

The escape for Markdown: a foreign text becomes words and code spans, and nothing else.

GitHub makes links, mentions and references out of plain text after it was parsed, whatever was escaped; it
leaves code alone. So a text is taken apart at its spaces: what is certainly a plain word stays one, and all
the rest goes into code spans. The parse of the result is text and code, whatever was in it.

A view as Markdown for comments and job summaries, as GitHub reads it.

A comment has a limit, so there are five sizes, from everything to mere counts; the first one that fits is
taken. What is hidden is counted in the last line. Whole pieces are left out: no fence is ever cut.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from dpsync.model.text import counted
from dpsync.render.formats import FormatOptions
from dpsync.render.plan_words import place
from dpsync.render.view import LEVELS, OPENS, Block, View, ViewEntry, Word, clip, cut, differences
from dpsync.render.visible import visible

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


COMMENT: Final = 60_000
"""UTF-16 units of a comment: GitHub takes 65,536 of something, and this leaves room for a header."""
BODY: Final = 20
"""Lines of a body where not all of them fit."""
MOST: Final = 50
"""Entries that are listed where not all of them fit."""
LINKS: Final = 20
"""Previews of sites that are linked."""
FOLDED: Final = 8
"""Lines of a body from which on it is folded."""
_EMPTY: Final = re.compile(r"\n{3,}")
_FLAG: Final = r"""--confirm (?:"[^"]*"|'[^']*')"""
_COPIED: Final = re.compile(rf"removed: \[.*\]|{_FLAG}(?: {_FLAG})*")
"""A policy line or flags in a sentence that a person copies."""


def render_markdown(view: View, limit: int = COMMENT, bodies: bool = True) -> str:
    """The view in at most `limit` UTF-16 units, as much of it as fits. Ends without a line break.

    Without `bodies`, one line for each entry at most.

    At less than a thousand units the limit may be passed: the counts are always told.
    """
    for size in (_everything, _short, _lines, _dangerous) if bodies else (_lines, _dangerous):
        text = _joined(size(view), limit)
        if text is not None:
            return text
    return _tidy("".join(_counts(view)))


def as_markdown(view: View, options: FormatOptions) -> str:
    """What --format markdown prints: a comment."""
    return render_markdown(view, bodies=not options.summary)


def units(text: str) -> int:
    """UTF-16 units of a text, by which GitHub counts."""
    return len(text) + sum(character > "\uffff" for character in text)


def _joined(pieces: Iterator[str], limit: int) -> str | None:
    """The pieces one after the other, or None as soon as they are too long."""
    found, length = [], 0
    for piece in pieces:
        length += units(piece)
        if length > limit:
            return None
        found.append(piece)
    return _tidy("".join(found))


def _tidy(text: str) -> str:
    """Without needless empty lines. Every line break is our own, and no line of a fence is empty."""
    return _EMPTY.sub("\n\n", text).strip("\n")


# The sizes.


def _everything(view: View) -> Iterator[str]:
    return _page(view, lambda entry: _full(entry, None))


def _short(view: View) -> Iterator[str]:
    return _page(view, lambda entry: _full(entry, BODY))


def _lines(view: View) -> Iterator[str]:
    return _page(view, _item, bodies=False)


def _dangerous(view: View) -> Iterator[str]:
    """All groups counted, and the first of the loudest entries of each block."""
    yield from _head(view)
    left = MOST
    for block in view.blocks:
        entries = sorted(block.entries, key=lambda entry: (LEVELS.index(entry.level), entry.sign == "+"))[
            :left
        ]
        left -= len(entries)
        yield from ("\n\n", _title(block), "\n")
        yield from _groups(block)
        if entries:
            yield f"\n\n{len(entries)} of {len(block.entries)}:\n"
            yield from map(_item, entries)
    yield from _foot(view, MOST - left, bodies=False)


def _counts(view: View) -> Iterator[str]:
    """Our own words and numbers only: there is no telling how long others are."""
    yield f"### {prose(view.title)}\n"
    for block in view.blocks:
        yield f"\n- {prose(block.title or 'Changes')} ({counted(len(block.entries), 'item')})"
    yield from _hidden(view, 0, bodies=False)


# The pieces: each begins with the line breaks that part it from what is before.


def _page(view: View, item: Callable[[ViewEntry], str], bodies: bool = True) -> Iterator[str]:
    yield from _head(view)
    for block in view.blocks:
        folded = bool(block.title) and (block.level == "none" or block.entries[0].detail > 0)
        title = f"<details><summary>{prose_html(block.title)}</summary>" if folded else _title(block)
        yield f"\n\n{title}\n"
        yield from map(item, block.entries)
        yield "\n"
        if folded:
            yield "\n</details>"
    yield from _foot(view, view.entries, bodies)


def _head(view: View) -> Iterator[str]:
    yield f"### {prose(view.title)}"
    for line in view.notices:
        said, command = Word(clip(line)).parts
        yield f"\n\n{prose(said.strip())} {code(command) if command else ''}".rstrip()
    if view.previews:
        links = [f"[{prose(clip(one.text)) or code(one.text)}]({one.url})" for one in view.previews[:LINKS]]
        more = len(view.previews) - LINKS
        yield f"\n\nPreview: {', '.join(links)}" + (f" and {more} more" if more > 0 else "")


def _title(block: Block) -> str:
    return f"#### {prose(block.title)}" if block.title else ""


def _groups(block: Block) -> Iterator[str]:
    """How many entries there are in which place, by their signs."""
    found: dict[str, Counter[str]] = {}
    for entry in block.entries:
        found.setdefault(entry.group, Counter())[entry.sign] += 1
    for group, signs in found.items():
        counts = ", ".join(
            f"{code(sign)} {number}" if sign else str(number) for sign, number in signs.items()
        )
        yield f"\n- {code(clip(group))}: {counts}" if group else f"\n- {counts}"


def _item(entry: ViewEntry) -> str:
    return f"\n- {_line(entry, code, prose)}"


def _full(entry: ViewEntry, most: int | None) -> str:
    """An entry as an item of a list with its body, which is folded when it is long."""
    lines = differences(entry)
    body = [*fence(lines if most is None else cut(lines, most), "diff"), ""] if lines else []
    words = [_word(word) for word in entry.sentences]
    body += words if most is None else cut(words, most)
    if len(lines) + len(words) > FOLDED:
        summary = f"<details><summary>{_line(entry, code_html, prose_html)}</summary>"
        return "\n".join([f"\n- {summary}", "", *_indented(body), "", "  </details>", ""])
    if not body:
        return _item(entry)
    return "\n".join([_item(entry), "", *_indented(body), ""])


def _word(word: Word) -> str:
    said, command = word.parts
    sentence = said.rstrip() if word.copied else clip(said.rstrip())
    opening = f"(**{OPENS}**)" if word.opens else ""
    marked_up = _with_lines_to_copy(sentence) if word.copied else prose(sentence)
    text = " ".join(filter(None, (marked_up, command and code(command), opening)))
    return f"- {prose(clip(word.about))}: {text}" if word.about else f"- {text}"


def _with_lines_to_copy(sentence: str) -> str:
    """Return a sentence with each line and flag that a person copies as one code span."""
    parts, end = [], 0
    for found in _COPIED.finditer(sentence):
        parts += [prose(sentence[end : found.start()]), code(found[0])]
        end = found.end()
    return " ".join(filter(None, (*parts, prose(sentence[end:]))))


def _line(entry: ViewEntry, as_code: Callable[[str], str], as_prose: Callable[[str], str]) -> str:
    """Return the first line of an entry.

    The line is never empty and never begins with a space, because Markdown would then show the lines below
    the entry as other entries.
    """
    parts = [as_code(entry.sign)] if entry.sign else []
    parts += filter(None, [as_prose(clip(entry.summary))])
    parts += [as_code(entry.code)] if entry.code else []
    if entry.removed_from:
        parts.append(f"· {as_prose(clip(f'removed from {entry.removed_from}'))}")
    elif entry.where:
        parts.append(f"· {as_code(clip(place(entry.where)))}")
    return " ".join(parts) or as_code("")


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"  {line}" if line else "" for line in lines)


def _foot(view: View, number: int, bodies: bool) -> Iterator[str]:
    if view.facts:
        yield f"\n\n<sub>{' · '.join(prose(clip(line)) for line in view.details)}</sub>"
    yield from _hidden(view, number, bodies)


def _hidden(view: View, number: int, bodies: bool) -> Iterator[str]:
    """What is not here, so that nobody takes a part for the whole."""
    total = view.entries + view.left_out
    if number == total and bodies:
        return
    words = f"Shown: {number} of {counted(total, 'item')}, {total - number} hidden"
    more = "" if bodies else ", and no details"
    everything = "To see everything, run the same command with `--format html` or `--format text`."
    yield f"\n\n**{words}{more}.** {everything}"
