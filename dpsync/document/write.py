"""Convert a Document to Markdown, in one style: the same text for all Documents with the same meaning.

`to_markdown` is the entry point. `inline` writes inline content that reads back unchanged. The delimiters are
`**`, `_`, `~~` and backticks: no two kinds share a character, so only the flanking rules of CommonMark decide
whether a run opens or closes. Where they would decide otherwise, the characters on both sides are written as
character references: the rules treat these as punctuation, so every run may open and close. Two adjacent
lists use different markers, because otherwise they would be one list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from msgspec import Struct

from dpsync.document.comparison import normalize
from dpsync.document.nodes import HEADINGS, DocumentError, unsupported_nodes

Json = dict[str, Any]

_DELIMITERS = {"bold": "**", "italic": "_", "strikethrough": "~~"}
_ENTITY = r"&(?=#?[0-9A-Za-z]+;)"
_SYNTAX_CHARACTERS = re.compile(rf"[\\`*_~\[\]]|<(?=[A-Za-z/!?])|{_ENTITY}")
_LAYOUT_CHARACTERS = re.compile("[\t\n\f\r\u2028\u2029\ufeff]")
"""What would be layout, or may stand in no file of a configuration: it is written as a reference."""
_BARE_URL = re.compile(r"[A-Za-z0-9/.#?:@!$,;=%+~-][A-Za-z0-9/.#?:@!$,;=%+~_&-]*")
_LINE_START = re.compile(
    r"\A(?:(?=#{1,6}(?:\s|\Z)|>|[-+](?:\s|\Z)|-[-\s]*\Z)|(?P<number>[0-9]{1,9})(?=[.)](?:\s|\Z)))"
)


class _TextPiece(Struct):
    """A piece of text between delimiters, or something that is written as a whole (`text` is None).

    `escapes_first` and `escapes_last` say whether this character of the text is written as a reference.
    """

    marks: frozenset[str]
    text: str | None
    markdown: str = ""
    escapes_first: bool = False
    escapes_last: bool = False

    @property
    def start(self) -> str:
        """The first character as Markdown; flanking rules depend on it."""
        return self.markdown[0] if self.text is None else "&" if self.escapes_first else self.text[0]

    @property
    def end(self) -> str:
        """The last character as Markdown; flanking rules depend on it."""
        return self.markdown[-1] if self.text is None else ";" if self.escapes_last else self.text[-1]

    def escape_end(self, *, first: bool = False, last: bool = False) -> bool:
        """Write the first or last character of the text as a character reference, such as `&#32;`.

        Return whether that changed anything.
        """
        if self.text is None:
            return False
        single = len(self.text) == 1
        before = self.escapes_first, self.escapes_last
        self.escapes_first |= first or (single and last)
        self.escapes_last |= last or (single and first)
        return before != (self.escapes_first, self.escapes_last)

    def __str__(self) -> str:
        """Return the piece as Markdown, with its first and last character as references if necessary."""
        if self.text is None:
            return self.markdown
        if len(self.text) == 1:
            return character_reference(self.text) if self.escapes_first else escape_syntax(self.text)
        text = self.text[self.escapes_first : len(self.text) - self.escapes_last]
        start = character_reference(self.text[0]) if self.escapes_first else ""
        return start + escape_syntax(text) + (character_reference(self.text[-1]) if self.escapes_last else "")


def paragraph(content: list[Json]) -> str:
    """Return inline content as a paragraph: `#`, `-` or `1.` at its start are escaped with a backslash."""
    return _LINE_START.sub(lambda match: (match["number"] or "") + "\\", inline(content), count=1)


def inline(content: list[Json], before: str = " ") -> str:
    """Return inline content (normalized pieces of text, links and images) as one line of Markdown.

    `before` is the character before the content.
    """
    atoms = _split_into_pieces(content)
    # Markdown removes white space at both ends, so it is written as character references.
    if atoms and atoms[0].start.isspace():
        atoms[0].escape_end(first=True)
    if atoms and atoms[-1].end.isspace():
        atoms[-1].escape_end(last=True)
    runs = list(_delimiter_runs(atoms))
    _escape_until_delimiters_work(atoms, runs, before)
    written = []
    for index, run in enumerate(runs):
        written += [delimiter for _, delimiter in run]
        if index < len(atoms):
            text = str(atoms[index])
            after = next((atom.start for atom in atoms[index + 1 : index + 2] if not runs[index + 1]), "")
            if text.endswith("!") and after == "[":
                text = text[:-1] + "\\!"  # `![` would begin an image
            written.append(text)
    return "".join(written)


def escape_syntax(text: str) -> str:
    """Escape the Markdown syntax in a text, except the syntax at the start of a line.

    Layout characters become character references, and other syntax gets a backslash.
    """

    def escape(match: re.Match[str]) -> str:
        # An underscore within a word is no delimiter. Two characters on each side are checked, because the
        # outermost character of the text may become a character reference.
        neighbors = text[max(match.start() - 2, 0) : match.start()] + text[match.end() : match.end() + 2]
        in_word = match[0] == "_" and len(neighbors) == 4 and neighbors.isascii() and neighbors.isalnum()
        return match[0] if in_word else "\\" + match[0]

    return _LAYOUT_CHARACTERS.sub(
        lambda match: character_reference(match[0]), _SYNTAX_CHARACTERS.sub(escape, text)
    )


def character_reference(character: str) -> str:
    """Return a character as a Markdown character reference, such as `&#42;` for `*`."""
    return f"&#{ord(character)};"


def image(data: Json) -> str:
    """Return an image as Markdown, with its caption as title: `![alt](url "caption")`."""
    caption = data.get("caption")
    title = "" if not caption else ' "' + _escape_quoted(caption, r'[\\"]') + '"'
    return f"![{escape_syntax(data.get('alt', ''))}]({link_destination(data['ref']['url'])}{title})"


def link_destination(url: str) -> str:
    """Return a URL for a link: bare if possible, otherwise in angle brackets and escaped."""
    if _BARE_URL.fullmatch(url) and not re.search(_ENTITY, url):
        return url
    return "<" + _escape_quoted(url, r"[\\<>]") + ">"


def _escape_quoted(text: str, special: str) -> str:
    """Escape a text between delimiters. `special` is a pattern of the characters that need a backslash."""
    backslashed = re.sub(rf"{special}|{_ENTITY}", lambda match: "\\" + match[0], text)
    return _LAYOUT_CHARACTERS.sub(lambda match: character_reference(match[0]), backslashed)


def _code_span(text: str) -> str:
    """Return a code span with more backticks than the text has, padded so that its spaces are kept."""
    fence = "`"
    runs = set(re.findall("`+", text))
    while fence in runs:
        fence += "`"
    has_outer_spaces = text[0] == text[-1] == " " and text.strip(" ")
    pad = " " if has_outer_spaces or "`" in (text[0], text[-1]) else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _split_into_pieces(content: list[Json]) -> list[_TextPiece]:
    """Split inline content into pieces between which delimiters may be written, with their marks.

    Images, links and code become Markdown at once. An image and a link without text have no marks of their
    own, so they get the marks that both neighbors have; then fewer delimiters are needed.
    """
    atoms: list[_TextPiece] = []
    unmarked: list[int] = []
    for index, piece in enumerate(content):
        marks = frozenset(piece.get("marks", ())) - {"code"}
        if piece.get("inline") == "inline-image":
            atoms.append(_TextPiece(marks, None, image(piece["data"])))
            unmarked.append(index)
        elif piece.get("inline") == "link":
            texts = [frozenset(part["marks"]) - {"code"} for part in piece["content"] if "marks" in part]
            common_marks = frozenset.intersection(*texts) if texts else frozenset()
            inner = [
                {**part, "marks": sorted(set(part["marks"]) - common_marks)} if "marks" in part else part
                for part in piece["content"]
            ]
            link = f"[{inline(inner, '[')}]({link_destination(piece['data']['ref']['url'])})"
            atoms.append(_TextPiece(common_marks, None, link))
            if not texts:
                unmarked.append(index)
        elif "code" in piece["marks"]:
            atoms.append(_TextPiece(marks, None, _code_span(piece["text"])))
        else:
            atoms.append(_TextPiece(marks, piece["text"]))
    for index in unmarked:
        neighbor_marks = [
            atoms[position].marks for position in (index - 1, index + 1) if 0 <= position < len(atoms)
        ]
        atoms[index].marks = (
            frozenset.intersection(*neighbor_marks) if len(neighbor_marks) == 2 else frozenset()
        )
    return atoms


DelimiterRun = list[tuple[bool, str]]
"""The delimiters at one position: whether each opens, and its text."""


def _delimiter_runs(atoms: list[_TextPiece]) -> Iterator[DelimiterRun]:
    """Yield the delimiters before each piece, and those after the last piece.

    A mark stays open as long as all following pieces have it. Of several marks that open at one position,
    the mark that stays open for most pieces opens first, so that marks are nested correctly.
    """
    run_lengths = [dict.fromkeys(_DELIMITERS, 0)]
    for atom in reversed(atoms):
        run_lengths.append(
            {mark: run_lengths[-1][mark] + 1 if mark in atom.marks else 0 for mark in _DELIMITERS}
        )
    run_lengths.reverse()
    open_marks: list[str] = []
    for index in range(len(atoms) + 1):
        marks = atoms[index].marks if index < len(atoms) else frozenset()
        kept_count = next(
            (position for position, mark in enumerate(open_marks) if mark not in marks), len(open_marks)
        )
        closed = [(False, _DELIMITERS[mark]) for mark in reversed(open_marks[kept_count:])]
        del open_marks[kept_count:]
        opened = [mark for mark in _DELIMITERS if mark in marks and mark not in open_marks]
        opened.sort(key=lambda mark: -run_lengths[index][mark])
        open_marks += opened
        yield closed + [(True, _DELIMITERS[mark]) for mark in opened]


def _escape_until_delimiters_work(atoms: list[_TextPiece], runs: list[DelimiterRun], before: str) -> None:
    """Escape characters next to delimiters such as `**` until every delimiter can open or close its span.

    By CommonMark's flanking rules, this depends on the characters around the delimiter. The escape is a
    character reference (`&#…;`): it ends in punctuation, next to which a delimiter can always open or close.
    `runs[i]` are the delimiters before `atoms[i]`, and `before` is the character before the first piece.
    """
    unchecked = list(range(len(runs)))
    while unchecked:
        index = unchecked.pop()
        character_before = atoms[index - 1].end if index else before
        character_after = atoms[index].start if index < len(atoms) else " "
        run = runs[index]
        line = [character_before, *(delimiter for _, delimiter in run), character_after]
        if all(
            _can_delimit(opens, delimiter, left[-1], right[0])
            for left, (opens, delimiter), right in zip(line, run, line[2:], strict=False)
        ):
            continue
        neighbors = [position for position in (index - 1, index) if 0 <= position < len(atoms)]
        for position in neighbors:
            if atoms[position].escape_end(first=position == index, last=position != index):
                unchecked += [position, position + 1]


def _can_delimit(opens: bool, delimiter: str, before: str, after: str) -> bool:
    """Return whether a delimiter can open (`opens`) or else close between two characters.

    The rules are CommonMark's for left- and right-flanking delimiter runs; `_` has stricter ones.
    """
    space_before, space_after = isWhiteSpace(ord(before)), isWhiteSpace(ord(after))
    mark_before, mark_after = _is_punctuation(before), _is_punctuation(after)
    is_left_flanking = not space_after and (not mark_after or space_before or mark_before)
    is_right_flanking = not space_before and (not mark_before or space_after or mark_after)
    if delimiter == "_":
        return (
            is_left_flanking and (not is_right_flanking or mark_before)
            if opens
            else is_right_flanking and (not is_left_flanking or mark_after)
        )
    return is_left_flanking if opens else is_right_flanking


def _is_punctuation(character: str) -> bool:
    """Return whether a character is punctuation in the sense of CommonMark."""
    return isMdAsciiPunct(ord(character)) or isPunctChar(character)


_ALTERNATE_MARKER = {"-": "*", "*": "-", ".": ")", ")": "."}
_ALIGNMENT_ROWS = {"left": "---", "center": ":-:", "right": "--:"}


def to_markdown(document: Json) -> str:
    """Return the Document as Markdown. Raises DocumentError with every node that Markdown cannot hold."""
    problems = tuple(unsupported_nodes(document))
    if problems:
        raise DocumentError(problems)
    text = _blocks_markdown(normalize(document))
    return f"{text}\n" if text else ""


def _blocks_markdown(blocks: list[Json], item_marker: str = "") -> str:
    """Return normalized blocks as Markdown, separated by empty lines where necessary.

    `item_marker` is the marker of the list item that contains the blocks, such as "-"; "" outside of lists.
    """
    written: list[str] = []
    last: Json = {}
    marker = item_marker
    for index, block in enumerate(blocks):
        if block["type"].startswith("list-"):
            # Adjacent lists need different markers, because otherwise they would be one list.
            avoided = marker if not index or last["type"].startswith("list-") else ""
            marker = "." if block["type"] == "list-ordered" else "-"
            marker = _ALTERNATE_MARKER[marker] if marker == avoided else marker
            text = _list_markdown(block, marker)
            # Not every list may follow a paragraph without an empty line.
            can_interrupt_paragraph = re.match(r"(?:[-*]|1[.)]) +\S", text) is not None
            tight = bool(item_marker) and last.get("type") == "paragraph" and can_interrupt_paragraph
        else:
            text = (
                "___" if block["type"] == "divider" and item_marker and not index else _block_markdown(block)
            )
            tight = False
        if index:
            written.append("\n" if tight else "\n\n")
        written.append(text)
        last = block
    return "".join(written)


def _list_markdown(block: Json, marker: str) -> str:
    """Return a list as Markdown. `marker` is "-" or "*", or for numbers "." or ")".

    Items are separated by empty lines if one of them contains an empty line. A task begins with its checkbox.
    """
    number = block.get("data", {}).get("start", 1)
    items = []
    for list_item in block["blocks"]:
        lead = f"{min(number, 999_999_999)}{marker}" if block["type"] == "list-ordered" else marker
        number += 1
        text = _blocks_markdown(list_item["blocks"], marker)
        if block["type"] == "list-tasks":
            box = "[x]" if list_item.get("data", {}).get("checked") else "[ ]"
            starts_with_text = bool(list_item["blocks"]) and list_item["blocks"][0]["type"] == "paragraph"
            text = f"{box} {text}" if starts_with_text else f"{box}\n\n{text}".rstrip("\n")
        # Lines below the first one are indented by the width of the marker; empty lines are not.
        indented = re.sub(r"\n(?!\n|$)", "\n" + " " * (len(lead) + 1), text)
        items.append(f"{lead} {indented}".rstrip(" "))
    return ("\n\n" if any("\n\n" in item_text for item_text in items) else "\n").join(items)


def _block_markdown(block: Json) -> str:
    """Return a block other than a list as Markdown."""
    kind = block["type"]
    if kind in HEADINGS:
        text = inline(block["content"])
        # A "#" at the end of the line would be taken for the closing part of the heading.
        text = text[:-1] + "\\#" if text.endswith("#") else text
        return f"{'#' * (HEADINGS.index(kind) + 1)} {text}".rstrip(" ")
    if kind == "blockquote":
        return re.sub(
            r"^>[ ]$", ">", re.sub(r"^", "> ", _blocks_markdown(block["blocks"]), flags=re.M), flags=re.M
        )
    if kind == "code":
        return _code_block(block)
    if kind == "images":
        return "\n".join(image(image_data) for image_data in block["images"])
    if kind == "table":
        titles = [
            _table_cell([{"text": title, "marks": []}] if title else []) for title, _ in block["columns"]
        ]
        rules = [_ALIGNMENT_ROWS[align] for _, align in block["columns"]]
        rows = [titles, rules, *([_table_cell(cell) for cell in row] for row in block["rows"])]
        return "\n".join("|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows)
    return "---" if kind == "divider" else paragraph(block["content"])


def _code_block(block: Json) -> str:
    """Return a code block as Markdown, with a fence of more backticks than any run of them in the code."""
    lines: list[str] = block["lines"]
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    raw_syntax = block.get("data", {}).get("syntax", "")
    syntax = re.sub(r"[\s\ufeff`&\\]", lambda match: character_reference(match[0]), raw_syntax)
    return "\n".join([fence + syntax, *(lines if lines != [""] else ()), fence])


def _table_cell(content: list[Json]) -> str:
    """Return inline content as Markdown for a table cell, in which `|` is escaped."""
    return inline(content).replace("|", "\\|")
