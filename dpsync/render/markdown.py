"""Print a view as Markdown for comments and job summaries on GitHub, and escape texts for Markdown.

GitHub makes links, mentions and references out of plain text, whatever was escaped, but not in code spans. So
`escape_prose` splits a text at its spaces: certain plain words stay, and everything else becomes a code span.

A comment has a size limit, so `render_markdown` tries five sizes, from all details to counts only, and takes
the first that fits. It leaves out whole pieces, so no fence is cut, and the last line counts what is hidden.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from dpsync.model.text import format_count
from dpsync.render.formats import FormatOptions
from dpsync.render.plan_words import location_text
from dpsync.render.view import (
    LEVELS,
    OPENS_ACCESS,
    Block,
    Sentence,
    View,
    ViewEntry,
    clip_text,
    entry_diff_lines,
    limit_lines,
)
from dpsync.render.visible import visible

_PLAIN: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d{1,6}|→")
"""Text without a meaning in Markdown or on GitHub: letters, a short number, the arrow between two values."""
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{7,}", re.IGNORECASE)
"""Text that GitHub could link as a commit."""
_TOKEN: Final = re.compile(r"(?P<before>[(\"']*)(?P<core>.*?)(?P<after>[.,;:!?)\"']*)", re.DOTALL)
_LIST_NUMBER: Final = re.compile(r"\d+[.)]")
"""Text that begins a list at the beginning of a line."""
_BACKTICKS: Final = re.compile("`+")


def code_span(text: str) -> str:
    """Return a text as a Markdown code span. Its fence is longer than any run of backticks in the text."""
    text = visible(text) or " "
    fence = "`" * (longest_run(text) + 1)
    # Markdown strips one space at both ends of a code span, unless it contains only spaces.
    strips_spaces = text.startswith(" ") and text.endswith(" ") and bool(text.strip(" "))
    padding = " " if text.startswith("`") or text.endswith("`") or strips_spaces else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def escape_prose(text: str) -> str:
    """Return a sentence as Markdown text without links, mentions or formatting.

    Plain words stay; everything that could have a meaning in Markdown or on GitHub becomes a code span.
    """
    return _marked_up(text, code_span, lambda word: word)


def prose_html(text: str) -> str:
    """Return a sentence as HTML, for an HTML block, in which Markdown has no meaning."""
    return _marked_up(text, code_html, html.escape)


def code_html(text: str) -> str:
    """Return an HTML code element with a text."""
    return f"<code>{html.escape(visible(text))}</code>"


def longest_run(text: str) -> int:
    """Return the length of the longest run of backticks in a text."""
    return max((len(backticks) for backticks in _BACKTICKS.findall(text)), default=0)


def fence(lines: list[str], language: str) -> list[str]:
    """Return a fenced code block. The fence is longer than any run of backticks in the lines.

    Args:
        lines: Lines that have passed `visible()`.
    """
    fence_marks = "`" * max((3, *(longest_run(line) + 1 for line in lines)))
    return [f"{fence_marks}{language}", *lines, fence_marks]


def _marked_up(text: str, as_code: Callable[[str], str], as_word: Callable[[str], str]) -> str:
    """Return a text as runs of plain words (formatted by `as_word`) and of other text (by `as_code`).

    Adjacent pieces of the same type become one run, so that one code span holds several words. A number such
    as `1.` at the start is not plain, because it would begin a list.
    """
    tokens = visible(text).split(" ")
    parts = [part for token in tokens for part in _token_parts(token)]
    if parts and _LIST_NUMBER.match(parts[0][1]):
        parts[0] = (False, *parts[0][1:])
    result = []
    for is_plain, parts_of_type in groupby(parts, key=lambda part: part[0]):
        pieces = [(piece, is_glued) for _, piece, is_glued in parts_of_type]
        words = "".join(f"{'' if is_glued else ' '}{piece}" for piece, is_glued in pieces).removeprefix(" ")
        is_glued = pieces[0][1]
        result.append(f"{'' if is_glued else ' '}{as_word(words) if is_plain else as_code(words)}")
    return "".join(result).strip(" ")


def _token_parts(token: str) -> Iterator[tuple[bool, str, bool]]:
    """Yield the pieces of a word between two spaces, such as `(foo_bar),`.

    Each piece is (whether it is plain, its text, whether it follows the piece before without a space).
    """
    if not token:
        return
    match = _TOKEN.fullmatch(token)
    assert match is not None
    before, word, after = match["before"], match["core"], match["after"]
    if not word or (_PLAIN.fullmatch(word) and not _HEXADECIMAL.fullmatch(word)):
        yield True, token, False
        return
    if before:
        yield True, before, False
    yield False, word, bool(before)
    if after:
        yield True, after, True


MAX_COMMENT_UNITS: Final = 60_000
"""The largest size of a comment in UTF-16 units. GitHub allows 65,536; the rest is for a header."""
MAX_BODY_LINES: Final = 20
"""The number of lines of a body if not all lines fit."""
MAX_LISTED_ENTRIES: Final = 50
"""The number of listed entries if not all entries fit."""
MAX_PREVIEW_LINKS: Final = 20
"""The largest number of linked previews."""
MAX_UNFOLDED_LINES: Final = 8
"""A body with more lines is folded."""
_EMPTY_LINES: Final = re.compile(r"\n{3,}")
_CONFIRM_FLAG: Final = r"""--confirm (?:"[^"]*"|'[^']*')"""
_COPIED_TEXT: Final = re.compile(rf"removed: \[.*\]|{_CONFIRM_FLAG}(?: {_CONFIRM_FLAG})*")
"""A policy line, or flags, that a person copies from a sentence."""


def render_markdown(view: View, limit: int = MAX_COMMENT_UNITS, bodies: bool = True) -> str:
    """Return the largest form of a view that fits into `limit` UTF-16 units, without a final line break.

    The counts are always shown, so the text may be longer than a limit below 1000 units.

    Args:
        bodies: Whether to show fields and sentences; without bodies, each entry has at most one line.
    """
    pages = [_page(view, _list_item, bodies=False), _page_of_most_important(view)]
    if bodies:
        complete = _page(view, lambda entry: _list_item_with_body(entry, None))
        with_cut_bodies = _page(view, lambda entry: _list_item_with_body(entry, MAX_BODY_LINES))
        pages = [complete, with_cut_bodies, *pages]
    for page in pages:  # generators: a page that is too long is made only up to the limit
        text = _join_within(page, limit)
        if text is not None:
            return text
    return _without_empty_lines("".join(_page_of_counts(view)))


def as_markdown(view: View, options: FormatOptions) -> str:
    """Return the text for --format markdown, with the size limit of a comment."""
    return render_markdown(view, bodies=not options.summary)


def utf16_length(text: str) -> int:
    """Return the number of UTF-16 units of a text, by which GitHub counts."""
    return len(text) + sum(character > "\uffff" for character in text)


def _join_within(pieces: Iterator[str], limit: int) -> str | None:
    """Return the joined pieces of a page; None as soon as they are longer than `limit` UTF-16 units."""
    joined, length = [], 0
    for piece in pieces:
        length += utf16_length(piece)
        if length > limit:
            return None
        joined.append(piece)
    return _without_empty_lines("".join(joined))


def _without_empty_lines(text: str) -> str:
    """Return a text with at most one empty line in a row. No line of a fence is empty, so fences stay."""
    return _EMPTY_LINES.sub("\n\n", text).strip("\n")


def _page_of_most_important(view: View) -> Iterator[str]:
    """Yield the pieces of a page with the counts of all groups and the 50 most important entries.

    In each block, errors come first and created objects last. Earlier blocks use up the number first.
    """
    yield from _head_lines(view)
    remaining = MAX_LISTED_ENTRIES
    for block in view.blocks:
        entries = sorted(block.entries, key=lambda entry: (LEVELS.index(entry.level), entry.sign == "+"))[
            :remaining
        ]
        remaining -= len(entries)
        yield from ("\n\n", _block_title(block), "\n")
        yield from _group_counts(block)
        if entries:
            yield f"\n\n{len(entries)} of {len(block.entries)}:\n"
            yield from map(_list_item, entries)
    yield from _foot_lines(view, MAX_LISTED_ENTRIES - remaining, bodies=False)


def _page_of_counts(view: View) -> Iterator[str]:
    """Yield the pieces of the shortest page: the number of entries in each block.

    It has no text from outside, because the length of such a text is unlimited.
    """
    yield f"### {escape_prose(view.title)}\n"
    for block in view.blocks:
        yield f"\n- {escape_prose(block.title or 'Changes')} ({format_count(len(block.entries), 'item')})"
    yield from _omitted_entries_lines(view, 0, bodies=False)


def _page(view: View, list_item: Callable[[ViewEntry], str], bodies: bool = True) -> Iterator[str]:
    """Yield the pieces of a page with all entries; a block that needs no attention is folded.

    Each piece begins with the line breaks that separate it from the piece before.

    Args:
        list_item: Return the list item of an entry.
        bodies: Whether the list items have fields and sentences.
    """
    yield from _head_lines(view)
    for block in view.blocks:
        folded = bool(block.title) and (block.level == "none" or block.entries[0].verbosity > 0)
        title = f"<details><summary>{prose_html(block.title)}</summary>" if folded else _block_title(block)
        yield f"\n\n{title}\n"
        yield from map(list_item, block.entries)
        yield "\n"
        if folded:
            yield "\n</details>"
    yield from _foot_lines(view, view.entry_count, bodies)


def _head_lines(view: View) -> Iterator[str]:
    """Yield the title of a page, the hints with their commands, and the links to previews."""
    yield f"### {escape_prose(view.title)}"
    for line in view.complete_hints:
        text, command = Sentence(clip_text(line)).text_and_command
        yield f"\n\n{escape_prose(text.strip())} {code_span(command) if command else ''}".rstrip()
    if view.previews:
        links = [
            f"[{escape_prose(clip_text(preview.text)) or code_span(preview.text)}]({preview.url})"
            for preview in view.previews[:MAX_PREVIEW_LINKS]
        ]
        omitted_count = len(view.previews) - MAX_PREVIEW_LINKS
        yield f"\n\nPreview: {', '.join(links)}" + (f" and {omitted_count} more" if omitted_count > 0 else "")


def _block_title(block: Block) -> str:
    """Return the heading of a block; "" for the main list, which has no title."""
    return f"#### {escape_prose(block.title)}" if block.title else ""


def _group_counts(block: Block) -> Iterator[str]:
    """Yield the number of entries in each group of a block by sign: "- `acme/sites`: `+` 3, `-` 1"."""
    counts_by_group: dict[str, Counter[str]] = {}
    for entry in block.entries:
        counts_by_group.setdefault(entry.group, Counter())[entry.sign] += 1
    for group, signs in counts_by_group.items():
        counts = ", ".join(
            f"{code_span(sign)} {number}" if sign else str(number) for sign, number in signs.items()
        )
        yield f"\n- {code_span(clip_text(group))}: {counts}" if group else f"\n- {counts}"


def _list_item(entry: ViewEntry) -> str:
    """Return an entry as a list item of one line."""
    return f"\n- {_first_line(entry, code_span, escape_prose)}"


def _list_item_with_body(entry: ViewEntry, max_lines: int | None) -> str:
    """Return an entry as a list item with its fields and sentences; a long body is folded.

    `max_lines` limits the fields and the sentences, each on its own; None for no limit.
    """
    lines = entry_diff_lines(entry)
    body = (
        [*fence(lines if max_lines is None else limit_lines(lines, max_lines), "diff"), ""] if lines else []
    )
    sentences = [_sentence_markdown(sentence) for sentence in entry.sentences]
    body += sentences if max_lines is None else limit_lines(sentences, max_lines)
    if len(lines) + len(sentences) > MAX_UNFOLDED_LINES:
        summary = f"<details><summary>{_first_line(entry, code_html, prose_html)}</summary>"
        return "\n".join([f"\n- {summary}", "", *_indented(body), "", "  </details>", ""])
    if not body:
        return _list_item(entry)
    return "\n".join([_list_item(entry), "", *_indented(body), ""])


def _sentence_markdown(sentence: Sentence) -> str:
    """Return a sentence as a list item. Commands, and flags or lines that a person copies, are code spans."""
    text, command = sentence.text_and_command
    text = text.rstrip()
    if sentence.is_copied:
        parts, position = [], 0
        for match in _COPIED_TEXT.finditer(text):
            parts += [escape_prose(text[position : match.start()]), code_span(match[0])]
            position = match.end()
        parts.append(escape_prose(text[position:]))
    else:
        parts = [escape_prose(clip_text(text))]
    if command:
        parts.append(code_span(command))
    if sentence.opens_access:
        parts.append(f"(**{OPENS_ACCESS}**)")
    line = " ".join(filter(None, parts))
    return f"- {escape_prose(clip_text(sentence.subject))}: {line}" if sentence.subject else f"- {line}"


def _first_line(entry: ViewEntry, as_code: Callable[[str], str], as_prose: Callable[[str], str]) -> str:
    """Return the first line of an entry: sign, summary, code and location.

    The line is never empty and never begins with a space, because Markdown would then show the following
    lines of the entry as other entries.
    """
    parts = [as_code(entry.sign)] if entry.sign else []
    parts += filter(None, [as_prose(clip_text(entry.summary))])
    parts += [as_code(entry.code)] if entry.code else []
    if entry.removed_from:
        parts.append(f"· {as_prose(clip_text(f'removed from {entry.removed_from}'))}")
    elif entry.origin:
        parts.append(f"· {as_code(clip_text(location_text(entry.origin)))}")
    return " ".join(parts) or as_code("")


def _indented(lines: list[str]) -> Iterator[str]:
    """Return lines with the indent of a list item; empty lines stay empty."""
    return (f"  {line}" if line else "" for line in lines)


def _foot_lines(view: View, number: int, bodies: bool) -> Iterator[str]:
    """Yield the facts about the plan in small print, and how many entries are hidden.

    `number` is the number of entries that the page shows.
    """
    if view.facts:
        yield f"\n\n<sub>{' · '.join(escape_prose(clip_text(line)) for line in view.complete_facts)}</sub>"
    yield from _omitted_entries_lines(view, number, bodies)


def _omitted_entries_lines(view: View, number: int, bodies: bool) -> Iterator[str]:
    """Yield how many entries a page hides, so that nobody takes a part for the whole.

    `number` is the number of entries that the page shows.
    """
    total = view.entry_count + view.left_out
    if number == total and bodies:
        return
    counts = f"Shown: {number} of {format_count(total, 'item')}, {total - number} hidden"
    details_text = "" if bodies else ", and no details"
    advice = "To see everything, run the same command with `--format html` or `--format text`."
    yield f"\n\n**{counts}{details_text}.** {advice}"
