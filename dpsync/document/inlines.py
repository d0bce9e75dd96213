"""The inline part of Markdown as nodes: texts with marks, links and images.

The parser tells no places within a paragraph; its rules are wrapped so that the tokens which may be refused
know where they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from markdown_it import MarkdownIt, rules_inline
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from dpsync.document.core import DEEPEST, MARKS

Json = dict[str, Any]
Refuse = Callable[[int, str, str], None]
"""Takes a problem: its offset in the inline text, a message and a hint."""
Piece = tuple[str, tuple[str, ...]] | Json
"""Text and its marks, or an inline node."""

_SPANS = {"strong": "bold", "em": "italic", "s": "strikethrough"}


class Parser(MarkdownIt):
    """CommonMark with tables and strikethrough; URLs stay as they are written."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"maxNesting": DEEPEST + 2})
        self.enable(["table", "strikethrough"])
        for name in ("newline", "escape", "link", "image", "html_inline"):
            self.inline.ruler.at(name, _placed(getattr(rules_inline, name)))

    def normalizeLink(self, url: str) -> str:
        return url

    def normalizeLinkText(self, link: str) -> str:
        return link

    def validateLink(self, url: str) -> bool:
        return True


def _placed(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    def run(state: StateInline, silent: bool) -> bool:
        start, before = state.pos, len(state.tokens)
        matched = rule(state, silent)
        if matched and not silent:
            for token in state.tokens[before:]:
                token.meta.setdefault("offset", start)
        return matched

    return run


def inlines(tokens: list[Token], refuse: Refuse) -> list[Json]:
    """The nodes of one inline text; an empty text is one, too."""
    found: list[Piece] = []
    into = found
    link: Json = {}
    marks: list[str] = []
    for token in tokens:
        span = _SPANS.get(token.type.removesuffix("_open").removesuffix("_close"))
        if span:
            marks = [*marks, span] if token.nesting > 0 else [mark for mark in marks if mark != span]
        elif token.type == "link_open":
            link, into = _link(token, refuse), []
        elif token.type == "link_close":
            found.append({**link, "nodes": _nodes(into)})
            into = found
        elif token.type == "image":
            into.append(_image(token, refuse))
        elif text := _text(token, refuse):
            said = {*marks, "code"} if token.type == "code_inline" else set(marks)
            into.append((text, tuple(mark for mark in MARKS if mark in said)))
    return _nodes(found) or [_text_node([("", ())])]


def _nodes(pieces: Iterable[Piece]) -> list[Json]:
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
    leaves = []
    for marks, group in groupby(pieces, key=lambda piece: piece[1]):
        text = "".join(part for part, _ in group)
        marked = [{"object": "mark", "type": mark} for mark in marks]
        leaves.append({"object": "leaf", "text": text, "marks": marked})
    return {"object": "text", "leaves": leaves}


def _text(token: Token, refuse: Refuse) -> str:
    if token.type == "softbreak":
        return " "
    if token.type == "hardbreak":
        _refuse(token, refuse, "line breaks in a paragraph", "add an empty line to start a new paragraph")
        return " "
    if token.type == "html_inline":
        _refuse(
            token,
            refuse,
            "HTML here",
            "write the content as Markdown, or put the HTML in backticks to show it as text",
        )
        return ""
    return token.content


def _refuse(token: Token, refuse: Refuse, what: str, hint: str) -> None:
    refuse(token.meta["offset"], f"GitBook does not support {what}", hint)


def _link(token: Token, refuse: Refuse) -> Json:
    if token.attrGet("title"):
        _refuse(
            token,
            refuse,
            "link titles",
            "delete the title, or write the title before or after the link",
        )
    return {"object": "inline", "type": "link", "data": {"ref": reference(token, "href")}}


def _image(token: Token, refuse: Refuse) -> Json:
    data = {
        "ref": reference(token, "src"),
        "alt": alternative(token, refuse),
        "caption": token.attrGet("title"),
    }
    return {
        "object": "inline",
        "type": "inline-image",
        "isVoid": True,
        "data": {name: value for name, value in data.items() if value},
    }


def reference(token: Token, attribute: str) -> Json:
    return {"kind": "url", "url": str(token.attrGet(attribute) or "")}


def alternative(image: Token, refuse: Refuse) -> str:
    """The text that stands for an image; marks in it say nothing."""

    def refused(_: int, message: str, hint: str) -> None:
        refuse(image.meta["offset"], message, hint)

    return "".join(
        alternative(token, refused) if token.type == "image" else _text(token, refused)
        for token in image.children or []
    )
