"""Convert Markdown to a Document, and refuse what no Document can hold.

`to_document` is the entry point; MarkdownError carries all problems with their positions. The parser gives no
positions within a paragraph, so its rules are wrapped to record the offsets of tokens that may be refused.
`inlines` converts the inline part: texts with marks, links and images.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from markdown_it import MarkdownIt, rules_inline
from markdown_it.common.utils import unescapeAll
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from dpsync.document.nodes import (
    CHILDREN,
    HEADINGS,
    LISTS,
    MARKS,
    MAX_NESTING,
    UNWRITABLE,
    Column,
    MarkdownError,
    Problem,
    table_block,
)

Json = dict[str, Any]
ReportProblem = Callable[[int, str, str], None]
"""Reports a problem: its offset in the inline text, a message and a hint."""
Piece = tuple[str, tuple[str, ...]] | Json
"""Text and its marks, or an inline node."""

_MARK_BY_TOKEN = {"strong": "bold", "em": "italic", "s": "strikethrough"}


class Parser(MarkdownIt):
    """A parser for CommonMark with tables and strikethrough. URLs stay as written."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"maxNesting": MAX_NESTING + 2})
        self.enable(["table", "strikethrough"])
        for name in ("newline", "escape", "link", "image", "html_inline"):
            self.inline.ruler.at(name, _record_offsets(getattr(rules_inline, name)))

    def normalizeLink(self, url: str) -> str:
        """Return the URL unchanged; markdown-it would percent-encode it."""
        return url

    def normalizeLinkText(self, link: str) -> str:
        """Return the text of an automatic link unchanged."""
        return link

    def validateLink(self, url: str) -> bool:
        """Accept every URL; markdown-it would keep a link such as `javascript:…` as text."""
        del url
        return True


def _record_offsets(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """Wrap an inline rule of markdown-it so that its tokens get their offset in the text as metadata.

    The parser records no positions within a paragraph, but problems must be reported with theirs.
    """

    def run(state: StateInline, silent: bool) -> bool:
        start, before = state.pos, len(state.tokens)
        matched = rule(state, silent)
        if matched and not silent:
            for token in state.tokens[before:]:
                token.meta.setdefault("offset", start)
        return matched

    return run


def inlines(tokens: list[Token], refuse: ReportProblem) -> list[Json]:
    """Convert the tokens of one inline text, such as a paragraph, to nodes: texts, links and images.

    An empty text becomes one text node. `refuse` is called for each problem.
    """
    pieces: list[Piece] = []
    target = pieces
    link: Json = {}
    marks: list[str] = []
    for token in tokens:
        mark_name = _MARK_BY_TOKEN.get(token.type.removesuffix("_open").removesuffix("_close"))
        if mark_name:
            marks = (
                [*marks, mark_name] if token.nesting > 0 else [mark for mark in marks if mark != mark_name]
            )
        elif token.type == "link_open":
            if token.attrGet("title"):
                hint = "delete the title, or write the title before or after the link"
                _refuse_syntax(token, refuse, "link titles", hint)
            link = {"object": "inline", "type": "link", "data": {"ref": reference(token, "href")}}
            target = []
        elif token.type == "link_close":
            pieces.append({**link, "nodes": _inline_nodes(target)})
            target = pieces
        elif token.type == "image":
            data = {
                "ref": reference(token, "src"),
                "alt": alternative_text(token, refuse),
                "caption": token.attrGet("title"),
            }
            target.append(
                {
                    "object": "inline",
                    "type": "inline-image",
                    "isVoid": True,
                    "data": {name: value for name, value in data.items() if value},
                }
            )
        elif text := _token_text(token, refuse):
            text_marks = {*marks, "code"} if token.type == "code_inline" else set(marks)
            target.append((text, tuple(mark for mark in MARKS if mark in text_marks)))
    return _inline_nodes(pieces) or [_text_node([("", ())])]


def _inline_nodes(pieces: Iterable[Piece]) -> list[Json]:
    """Join each run of adjacent texts in the pieces into one text node, and keep links and images."""
    nodes: list[Json] = []
    texts: list[tuple[str, tuple[str, ...]]] = []
    for piece in pieces:
        if isinstance(piece, tuple):
            texts.append(piece)
            continue
        nodes += [_text_node(texts), piece] if texts else [piece]
        texts = []
    return [*nodes, _text_node(texts)] if texts else nodes


def _text_node(pieces: Iterable[tuple[str, tuple[str, ...]]]) -> Json:
    """Return one text node for pairs of a text and its marks, with one leaf for adjacent equal marks."""
    leaves = []
    for marks, group in groupby(pieces, key=lambda piece: piece[1]):
        text = "".join(part for part, _ in group)
        marked = [{"object": "mark", "type": mark} for mark in marks]
        leaves.append({"object": "leaf", "text": text, "marks": marked})
    return {"object": "text", "leaves": leaves}


def _token_text(token: Token, refuse: ReportProblem) -> str:
    """Return the text of an inline token. Report hard line breaks and HTML, which GitBook cannot store."""
    if token.type == "softbreak":
        return " "
    if token.type == "hardbreak":
        _refuse_syntax(
            token, refuse, "line breaks in a paragraph", "add an empty line to start a new paragraph"
        )
        return " "
    if token.type == "html_inline":
        _refuse_syntax(
            token,
            refuse,
            "HTML here",
            "write the content as Markdown, or put the HTML in backticks to show it as text",
        )
        return ""
    return token.content


def _refuse_syntax(token: Token, refuse: ReportProblem, syntax: str, hint: str) -> None:
    """Report at the offset of a token that GitBook does not support a syntax, such as "link titles"."""
    refuse(token.meta["offset"], f"GitBook does not support {syntax}", hint)


def reference(token: Token, attribute: str) -> Json:
    """Return the URL in an attribute of a token, such as `href`, as the platform stores a reference."""
    return {"kind": "url", "url": str(token.attrGet(attribute) or "")}


def alternative_text(image: Token, refuse: ReportProblem) -> str:
    """Return the alternative text of an image token without formatting; images inside add their own text."""

    def refused(_: int, message: str, hint: str) -> None:
        refuse(image.meta["offset"], message, hint)

    return "".join(
        alternative_text(token, refused) if token.type == "image" else _token_text(token, refused)
        for token in image.children or []
    )


_PARSER = Parser()
_PREFIX_CHARACTERS = " \t>"
_CHECKBOX = re.compile(r"\[([ xX])\](?:[ \t]+|(?=\n)|$)")
_BLOCK_NAMES = {
    "blockquote": "quote",
    "list-item": "list item",
    "code": "code",
    "images": "an image",
    "table": "a table",
}


def to_document(markdown: str) -> Json:
    """Return the Markdown as a Document without keys. Raises MarkdownError with all problems."""
    reader = _MarkdownReader(re.sub(r"\r\n?", "\n", markdown))
    nodes = reader.blocks("document", None)
    if reader.problems:
        raise MarkdownError(reader.problems)
    return {"object": "document", "data": {"schemaVersion": 1}, "nodes": nodes}


class _MarkdownReader:
    """Converts the block tokens of one Markdown text in a single pass."""

    def __init__(self, text: str) -> None:
        """Split a Markdown text into tokens, and report characters that GitBook cannot store."""
        self.lines = text.split("\n")
        self.problems: list[Problem] = []
        for number, line in enumerate(self.lines):
            for match in UNWRITABLE.finditer(line):
                message = f"GitBook cannot store the character U+{ord(match[0]):04X}"
                self.refuse(number, match.start(), message, "delete the character")
        self.tokens = _PARSER.parse(UNWRITABLE.sub("\ufffd", text))
        self.position = 0
        self.visible: Token | None = None
        self.line_starts: list[int] = []

    def refuse(self, line: int, offset: int, message: str, hint: str) -> None:
        """Add a problem. The line and the offset start at 0."""
        self.problems.append(Problem(line + 1, offset + 1, message, hint))

    def next_token(self) -> Token:
        """Return the next block token, and move behind it."""
        self.position += 1
        return self.tokens[self.position - 1]

    def blocks(self, parent: str, closing: str | None) -> list[Json]:
        """Read tokens up to and including the one that closes the parent, and return the blocks in between.

        `parent` is the node type of the parent, and `closing` the type of the closing token; None reads all.
        """
        blocks: list[Json] = []
        while self.position < len(self.tokens):
            token = self.next_token()
            if token.type == closing:
                break
            blocks += self.block(token, parent)
        return blocks

    def block(self, token: Token, parent: str) -> list[Json]:
        """Convert the block that begins with a token; return no node for HTML, which is reported."""
        line = self.checked_position(token)
        match token.type:
            case "paragraph_open":
                return [self.paragraph(parent)]
            case "heading_open":
                return [self.heading(token)]
            case "bullet_list_open" | "ordered_list_open":
                return [self.items(token)]
            case "blockquote_open":
                return [_block_node("blockquote", nodes=self.blocks("blockquote", "blockquote_close"))]
            case "hr":
                return [_block_node("divider", isVoid=True)]
            case "fence" | "code_block":
                self.check_allowed("code", parent, line)
                return [self.code(token)]
            case "table_open":
                self.check_allowed("table", parent, line)
                return [self.table()]
        hint = "write the content as Markdown, or put the HTML in a code block to show it as text"
        self.refuse(*line, "GitBook does not support HTML here", hint)
        return []

    def checked_position(self, token: Token) -> tuple[int, int]:
        """Return the line and offset of a block. Report too deep nesting, where the parser drops content."""
        line = self.line_and_offset(token)
        if token.level > MAX_NESTING:
            self.refuse(
                *line,
                f"lists and quotes are nested more than {MAX_NESTING} levels deep here",
                "use fewer levels",
            )
        return line

    def line_and_offset(self, token: Token) -> tuple[int, int]:
        """Return the first line of a block, and the offset there after indentation and quote markers."""
        assert token.map is not None  # only inline tokens have no lines
        number = token.map[0]
        return number, len(self.lines[number]) - len(self.lines[number].lstrip(_PREFIX_CHARACTERS))

    def check_allowed(self, kind: str, parent: str, line: tuple[int, int]) -> None:
        """Report a block of a kind that GitBook does not allow in its parent. `line` is line and offset."""
        if kind not in CHILDREN[parent]:
            message = f"GitBook does not support {_BLOCK_NAMES[kind]} in a {_BLOCK_NAMES[parent]}"
            self.refuse(*line, message, f"move {_BLOCK_NAMES[kind]} out of the {_BLOCK_NAMES[parent]}")

    def paragraph(self, parent: str) -> Json:
        """Convert a paragraph, or return an image block for a paragraph of images alone.

        Each of these images must be on a line of its own, and the parent must allow image blocks.
        """
        inline, _ = self.next_token(), self.next_token()
        children = inline.children or []
        visible = [token for token in children if token.type != "softbreak"]
        if "images" in CHILDREN[parent] and all(token.type == "image" for token in visible):
            between = len(children) - len(visible)
            if between == len(visible) - 1:
                return _block_node("images", nodes=[self.image(inline, token) for token in visible])
        return _block_node("paragraph", nodes=self.inline(inline, children))

    def image(self, inline: Token, token: Token) -> Json:
        """Convert an image token of an inline text to an item of an image block; its title is the caption."""
        alt = alternative_text(token, lambda *problem: self.refuse_inline(inline, *problem))
        data = {"ref": reference(token, "src"), **({"alt": alt} if alt else {})}
        caption = token.attrGet("title")
        text = {"object": "text", "leaves": [{"object": "leaf", "text": caption, "marks": []}]}
        fragment = {
            "object": "fragment",
            "type": "caption",
            "nodes": [_block_node("paragraph", nodes=[text])],
        }
        return _block_node("image", data=data, isVoid=True, fragments=[fragment] if caption else [])

    def heading(self, token: Token) -> Json:
        """Convert a heading. Report a level that GitBook does not have, and use the lowest one instead."""
        inline, _ = self.next_token(), self.next_token()
        level = int(token.tag[1:])
        if level > len(HEADINGS):
            message = f"GitBook has heading levels 1 to {len(HEADINGS)}, and this heading has level {level}"
            self.refuse(*self.line_and_offset(token), message, "use a heading of level 3 (###) or bold text")
            level = len(HEADINGS)
        return _block_node(HEADINGS[level - 1], nodes=self.inline(inline, inline.children or []))

    def items(self, token: Token) -> Json:
        """Convert a list that begins with a token. Report a list in which only some items are tasks.

        Items with a checkbox (`[ ]`) make it a list of tasks; GitBook has no numbered tasks.
        """
        ordered = token.type == "ordered_list_open"
        items: list[Json] = []
        lines: list[tuple[int, int]] = []
        while (item_token := self.next_token()).type == "list_item_open":
            lines.append(self.checked_position(item_token))
            checked = self.take_checkbox()
            nodes = self.blocks("list-item", "list_item_close")
            if not nodes:
                nodes = [_block_node("paragraph", nodes=inlines([], lambda *_: None))]
            data = {} if checked is None else {"checked": checked}
            items.append(_block_node("list-item", data=data, nodes=nodes))
        boxed = ["checked" in list_item["data"] for list_item in items]
        hint = "put [ ] or [x] before all items of the list, or before no item"
        if ordered and any(boxed):
            hint = 'use "-" instead of numbers'
            self.refuse(*lines[boxed.index(True)], "GitBook does not support tasks in a numbered list", hint)
        elif any(boxed) and not all(boxed):
            self.refuse(*lines[boxed.index(not boxed[0])], "this list mixes tasks and other items", hint)
        start = {"start": int(token.attrs["start"])} if "start" in token.attrs else {}
        kind = LISTS[0] if ordered else LISTS[2] if any(boxed) else LISTS[1]
        return _block_node(kind, data=start if ordered else {}, nodes=items)

    def take_checkbox(self) -> bool | None:
        """Remove the checkbox (`[ ]` or `[x]`) from the list item that begins at the present position.

        Return whether the checkbox is checked; None if the item has no checkbox.
        """
        if self.tokens[self.position].type != "paragraph_open":
            return None
        inline = self.tokens[self.position + 1]
        children = inline.children or []
        box = _CHECKBOX.match(inline.content)
        # Check the source and the token: `\[ ]` is only text, and `[x]` may be a link that is defined below.
        if not box or not children or not children[0].content.startswith(box[0].rstrip()):
            return None
        children[0].content = children[0].content[box.end() :]
        if not children[0].content:
            inline.children = children[1:]
            if inline.children and inline.children[0].type == "softbreak":
                inline.children = inline.children[1:]
        return box[1] != " "

    def code(self, token: Token) -> Json:
        """Convert a code block. Report a text after the language, which GitBook cannot store."""
        words = token.info.split()
        if len(words) > 1:
            line, offset = self.line_and_offset(token)
            message = "GitBook cannot store the text after the language of this code block"
            self.refuse(line, offset, message, f'write only the language, "{words[0]}"')
        data = {"syntax": unescapeAll(words[0])} if words else {}
        lines = token.content.removesuffix("\n").split("\n")
        nodes = []
        for code_line in lines:
            leaf = {"object": "leaf", "text": code_line, "marks": []}
            nodes.append(_block_node("code-line", nodes=[{"object": "text", "leaves": [leaf]}]))
        return _block_node("code", data=data, nodes=nodes)

    def table(self) -> Json:
        """Convert the rest of a table whose first token was read: titles and alignments, then the rows."""
        columns: list[Column] = []
        rows: list[list[list[Json]]] = []
        while (token := self.next_token()).type != "table_close":
            if token.type == "tr_open" and columns:
                self.check_row(token, len(columns))
                rows.append([])
            elif token.type == "th_open":
                align = str(token.attrs.get("style", "text-align:left")).removeprefix("text-align:")
                columns.append(Column(self.title(self.next_token()), align))
            elif token.type == "td_open":
                inline = self.next_token()
                rows[-1].append(self.inline(inline, inline.children or []))
        return table_block(columns, rows)

    def check_row(self, token: Token, width: int) -> None:
        """Refuse a row with more cells than columns, because the parser would drop these cells."""
        number, offset = self.line_and_offset(token)
        cells = escapedSplit(self.lines[number].lstrip(_PREFIX_CHARACTERS).rstrip())
        if len(cells) - (not cells[0]) - (not cells[-1]) > width:
            self.refuse(
                number,
                offset,
                "this row has more cells than the table has columns",
                "to write the character | in a cell, write \\|",
            )

    def title(self, inline: Token) -> str:
        """Return the text of a column title. Report anything but plain text."""
        children = inline.children or []
        if any(token.type not in ("text", "softbreak") for token in children):
            hint = "remove links, images and formatting from the title"
            self.refuse_inline(inline, 0, "GitBook supports only plain text in a column title", hint)
        return "".join(token.content for token in children)

    def inline(self, inline: Token, children: list[Token]) -> list[Json]:
        """Convert the child tokens of an inline token to nodes, and record their problems."""
        return inlines(children, lambda *problem: self.refuse_inline(inline, *problem))

    def refuse_inline(self, inline: Token, offset: int, message: str, hint: str) -> None:
        """Add a problem at an offset of an inline text.

        The text of a paragraph consists of its lines without their prefixes, so the offset leads back to a
        line and a column.
        """
        if self.visible is not inline:  # counted once for all problems of one text
            self.visible = inline
            self.line_starts = [match.end() for match in re.finditer("^", inline.content, re.MULTILINE)]
        index = bisect_right(self.line_starts, offset) - 1
        start = self.line_starts[index]
        assert inline.map is not None
        number = inline.map[0] + index
        prefix = max(self.lines[number].find(inline.content[start:].partition("\n")[0]), 0)
        self.refuse(number, prefix + offset - start, message, hint)


def _block_node(kind: str, **members: Any) -> Json:
    """Return a block node of a type with further members; empty `fragments` are left out."""
    non_empty = {name: value for name, value in members.items() if name != "fragments" or value}
    return {"object": "block", "type": kind, "data": {}, **non_empty}
