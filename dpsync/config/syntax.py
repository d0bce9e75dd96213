"""What the YAML parser says, in plain words: its error → a Diagnostic with a place, a sentence and a hint.

The parser names grammar rules ("did not find expected key"); people need to know what to type.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import yaml

from dpsync.config import codes
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.span import Span

_QUOTE: Final = "put the text in quotes"
_LIST: Final = "begin the list on the line below its key"
_ALIGN: Final = "check the indentation of this line, and put text that begins with or holds quotes in quotes"

# A piece of the parser's problem (the C parser and the pure one differ in words) → sentence, hint.
_AT_PROBLEM: Final[tuple[tuple[str, str, str | None], ...]] = (
    (
        "mapping values are not allowed",
        'a ":" is not allowed here',
        f'{_QUOTE} if it holds ": "; check the indentation',
    ),
    ("block sequence entries are not allowed", 'a "- " is not allowed here', _LIST),
    ("sequence entries are not allowed", 'a "- " is not allowed here', _LIST),
    (
        "unknown escape character",
        "an unknown escape after a backslash",
        "use single quotes, or a double backslash",
    ),
    ("invalid Unicode character escape", "an escape that is no character", "write the character itself"),
    ("undefined tag handle", "tags are not supported", f'{_QUOTE} if it begins with "!"'),
    ("document start", "there is text after the end of the document", "check brackets and indentation"),
    ("expected alphabetic", "an anchor or alias has no name", f'{_QUOTE} if it begins with "*" or "&"'),
    ("expected comment or line break", 'only a comment may follow "|" or ">" on its line', None),
    ("mapping keys are not allowed", 'a "? " is not allowed here', _QUOTE),
    ("expected node content", "a value is missing here", None),
    ("expected the node content", "a value is missing here", None),
    ("incompatible YAML document", "the file asks for another version of YAML", "remove the %YAML line"),
)
# The same for what was opened and never finished: the message stands where it was opened.
_AT_CONTEXT: Final[tuple[tuple[str, str, str | None], ...]] = (
    ("expected ':'", 'a ":" is missing after this key', 'write "key: value", or indent the line'),
    ("unexpected end of stream", "a quoted text is not closed", "add the closing quote"),
    ("unexpected document", "a quoted text is not closed", "add the closing quote"),
)


class Bracket(NamedTuple):
    """A "[" or "{" that is open."""

    mark: yaml.Mark
    is_mapping: bool


def explain(error: yaml.MarkedYAMLError, text: str, file: str, bracket: Bracket | None) -> Diagnostic:
    """The syntax error that ended the reading of a file; `bracket` is the innermost "[" or "{" then open."""
    problem = error.problem or "it ends in the middle of something"
    at = _place(error.problem_mark, text, file)
    opened = _place(error.context_mark, text, file) if error.context_mark else None
    character = _character(error.problem_mark, text)

    at_end = error.problem_mark is not None and not text[error.problem_mark.index :].strip()
    if bracket is not None and at_end and "quoted" not in (error.context or ""):
        name, close = ("mapping", "}") if bracket.is_mapping else ("list", "]")
        message = f'this {name} is not closed: "{close}" is missing'
        return Diagnostic(codes.SYNTAX, message, _place(bracket.mark, text, file))
    if character == "\t" and ("tab" in problem or "cannot start" in problem or "indentation" in problem):
        return Diagnostic(codes.SYNTAX, "a tab is used for indentation", at, hint="indent with spaces")
    if "cannot start any token" in problem:
        return Diagnostic(codes.SYNTAX, f'a value cannot begin with "{character}"', at, hint=_QUOTE)
    for piece, message, hint in _AT_CONTEXT:
        if piece in problem and opened is not None and "flow" not in (error.context or ""):
            return Diagnostic(codes.SYNTAX, message, opened, hint=hint)
    if "flow" in (error.context or "") and opened is not None:
        return _bracket(error, text, at, opened, character)
    for piece, message, hint in _AT_PROBLEM:
        if piece in problem:
            return Diagnostic(codes.SYNTAX, message, at, hint=hint)
    if "directive" in (error.context or ""):
        return Diagnostic(codes.SYNTAX, 'a line may not begin with "%"', at, hint=f"{_QUOTE} if it is text")
    if "block collection" in (error.context or "") or "'-' indicator" in problem:
        return _misfit("list", at, opened)
    if "block mapping" in (error.context or ""):
        return _misfit("mapping", at, opened)
    return Diagnostic(codes.SYNTAX, f"this is not valid YAML: {problem}", at)


def _bracket(error: yaml.MarkedYAMLError, text: str, at: Span, opened: Span, character: str) -> Diagnostic:
    mapping = "mapping" in (error.context or "")
    name, close = ("mapping", "}") if mapping else ("list", "]")
    mark = error.problem_mark
    index = mark.index if mark else len(text)
    if character == "{" and text[index - 1 : index] == "$":
        # The trap of Compose-style variables: "{" ends a plain text inside brackets.
        return Diagnostic(
            codes.SYNTAX, "a variable inside [ ] or { } needs quotes", at, hint='write "${NAME}"'
        )
    return Diagnostic(
        codes.SYNTAX,
        f'a "," or "{close}" is missing before this',
        at,
        related=((f"the {name} begins", opened),),
    )


def _misfit(name: str, at: Span, opened: Span | None) -> Diagnostic:
    related = ((f"the {name} begins", opened),) if opened is not None else ()
    return Diagnostic(
        codes.SYNTAX, f"this does not fit into the {name} around it", at, hint=_ALIGN, related=related
    )


def _character(mark: yaml.Mark | None, text: str) -> str:
    if mark is None:
        return ""
    # The parser may stop before the tab (at the start of the line's blanks) or on it.
    blanks = re.compile(r" *").match(text, mark.index)
    index = blanks.end() if blanks else mark.index
    return text[index : index + 1] if text[index : index + 1] == "\t" else text[mark.index : mark.index + 1]


def _place(mark: yaml.Mark | None, text: str, file: str) -> Span:
    if mark is None:
        return Span(file, 1, 1, 1, 1)
    width = 1 if text[mark.index : mark.index + 1].strip() else 0
    return Span(file, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 1 + width)
