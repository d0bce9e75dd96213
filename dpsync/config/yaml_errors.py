"""Turn errors of the YAML parser into diagnostics with a position, a message and a hint.

The parser names grammar rules ("did not find expected key"), but people need to know what to type. `explain`
is the entry point.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import yaml

from dpsync.config import codes
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Span

_QUOTE_HINT: Final = "put the text in quotes"
TAG_HINT: Final = (
    "for a variable, write ${NAME}. For a secret, write { env: NAME }. "
    'Put a text that begins with "!" in quotes'
)
_LIST_HINT: Final = "start the list on the line below its key"
_ALIGN_HINT: Final = (
    "check the indentation of this line. If a text contains quotes, enclose the whole text in quotes"
)

# Part of the parser's problem, our message, and our hint. The C parser and the Python parser differ in words.
_AT_PROBLEM: Final[tuple[tuple[str, str, str | None], ...]] = (
    (
        "mapping values are not allowed",
        'a ":" is not allowed here',
        f'{_QUOTE_HINT} if it contains ": ", or check the indentation',
    ),
    ("block sequence entries are not allowed", 'a "- " is not allowed here', _LIST_HINT),
    ("sequence entries are not allowed", 'a "- " is not allowed here', _LIST_HINT),
    (
        "unknown escape character",
        "the backslash begins an unknown escape sequence",
        "use single quotes, or write two backslashes",
    ),
    (
        "invalid Unicode character escape",
        "this escape sequence does not stand for a character",
        "write the character itself",
    ),
    ("undefined tag handle", "tags are not supported", TAG_HINT),
    ("document start", "there is text after the end of the document", "check brackets and indentation"),
    ("expected alphabetic", '"*" or "&" has no name after it', f'{_QUOTE_HINT} if it begins with "*" or "&"'),
    ("expected comment or line break", 'only a comment may follow "|" or ">" on its line', None),
    ("mapping keys are not allowed", 'a "? " is not allowed here', _QUOTE_HINT),
    ("expected node content", "a value is missing here", None),
    ("expected the node content", "a value is missing here", None),
    ("incompatible YAML document", "the file requests another version of YAML", "delete the %YAML line"),
)
_CLOSING_BRACKETS: Final = {"{": "}", "[": "]"}
_BEFORE_BRACKET: Final = re.compile(r"([^\s{}\[\]]+)\s*([{\[])\s*\S")
_CLOSED_ON_LINE: Final = {
    bracket: re.compile(rf"""(?:[^\r\n'"]|'[^'\r\n]*'|"[^"\r\n]*")*?\{close}""")
    for bracket, close in _CLOSING_BRACKETS.items()
}
"""The closing bracket on the same line, outside quoted texts."""
_MISSING_SPACE: Final = re.compile(r"([\w.@-]+):[^\s/]")
_NAME: Final = r"([^\s{}\[\],:\"'#$]+)"
_KEY_AND_OPEN_BRACKET: Final = re.compile(rf"^\s*(?:- +)*{_NAME}\s+[{{\[]\s*$")
"""A line that is a key and an open bracket, with no ":" between them."""
_WORD_ALONE: Final = re.compile(rf"^\s*(?:- +)*{_NAME}\s*$")
"""A word alone on its line."""
_TEXT_BEFORE_BRACKET: Final = re.compile(rf"(?:^\s*(?:- +)*|[{{\[,]\s*){_NAME}\s+$")
"""The text before such a bracket."""
_NO_COLON: Final = "expected ':'"
# The same for a construct that is never closed: the finding is at its beginning.
_AT_CONTEXT: Final[tuple[tuple[str, str, str], ...]] = (
    (_NO_COLON, 'a ":" is missing after this key', 'write "key: value", or indent the line'),
    ("unexpected end of stream", "the closing quote of this text is missing", "add the closing quote"),
    ("unexpected document", "the closing quote of this text is missing", "add the closing quote"),
)


class Bracket(NamedTuple):
    """An open "[" or "{"."""

    mark: yaml.Mark
    is_mapping: bool


class Quoted(NamedTuple):
    """A quoted text over several lines."""

    start: yaml.Mark
    end: yaml.Mark

    def ends_before(self, mark: yaml.Mark | None) -> bool:
        """Return whether a position is behind the quoted text, on its last line."""
        return mark is not None and mark.line == self.end.line and mark.index >= self.end.index


def key_before_bracket(key: str, text: str, end: int) -> str | None:
    """Return the word of a key without ":" before a bracket: `manual` for `manual { url`; else None.

    The key ends at index `end` of the text. If its line does not close the bracket, the bracket is part of
    the key: `a[b: c`. So it is if the key ends with the bracket: `a{: '}'`.
    """
    match = _BEFORE_BRACKET.match(key)
    if match is None or key.count(match[2]) == key.count(_CLOSING_BRACKETS[match[2]]):
        return None
    return match[1] if _CLOSED_ON_LINE[match[2]].match(text, end) else None


def missing_colon_diagnostic(word: str, span: Span) -> Diagnostic:
    """Return the finding that a ":" is missing after a word."""
    return Diagnostic(codes.SYNTAX, f'a ":" is missing after "{word}"', span, hint=f'write "{word}: "')


COLOR: Final = re.compile(r"[ \t]+(#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8}))(?![0-9A-Za-z])")
"""A color without quotes, after the blanks that turn it into a comment."""


def unquoted_color(color: str, span: Span) -> Diagnostic:
    """Return the finding for a color that YAML reads as a comment."""
    message = f"the color {color} needs quotes, because YAML reads the text from # on as a comment"
    return Diagnostic(codes.UNQUOTED_COLOR, message, span, hint=f'write "{color}"')


def _color_finding(bracket: yaml.Mark, text: str, file: str) -> Diagnostic | None:
    """Return the finding for a color such as `#fff` that comments out a closing bracket, else None.

    `bracket` is the position of the opening bracket.
    """
    line = text[bracket.index :].partition("\n")[0]
    color = COLOR.search(line)
    if color is None or "'" in line[: color.start()] or '"' in line[: color.start()]:
        return None
    column = bracket.column + color.start(1) + 1
    span = Span(file, bracket.line + 1, column, bracket.line + 1, column + len(color[1]))
    return unquoted_color(color[1], span)


def explain(
    error: yaml.MarkedYAMLError, text: str, file: str, bracket: Bracket | None, quoted: Quoted | None = None
) -> Diagnostic:
    """Return the finding for the YAML syntax error that ended the reading of a file, in words for users.

    `bracket` is the innermost open "[" or "{", `quoted` the last quoted text over several lines.
    """
    problem = error.problem or "the text ends unexpectedly"
    span = _span_of(error.problem_mark, text, file)
    opened = _span_of(error.context_mark, text, file) if error.context_mark else None
    character = _character_at(error.problem_mark, text)

    bracket_mark = bracket.mark if bracket is not None else error.context_mark
    if bracket_mark is not None and text[bracket_mark.index : bracket_mark.index + 1] in _CLOSING_BRACKETS:
        color = _color_finding(bracket_mark, text, file)
        if color is not None:
            return color
    at_end = error.problem_mark is not None and not text[error.problem_mark.index :].strip()
    if bracket is not None and at_end and "quoted" not in (error.context or ""):
        name, close = ("mapping", "}") if bracket.is_mapping else ("list", "]")
        message = f'this {name} is not closed: "{close}" is missing'
        hint = f'add "{close}" where the {name} ends'
        return Diagnostic(codes.SYNTAX, message, _span_of(bracket.mark, text, file), hint=hint)
    if character == "\t" and ("tab" in problem or "cannot start" in problem or "indentation" in problem):
        return Diagnostic(codes.SYNTAX, "the line is indented with a tab", span, hint="indent with spaces")
    if "cannot start any token" in problem:
        return Diagnostic(codes.SYNTAX, f'a value cannot begin with "{character}"', span, hint=_QUOTE_HINT)
    if quoted is not None and quoted.ends_before(error.problem_mark):
        # The text ends at the quote that was meant to begin the next text.
        unclosed = _span_of(quoted.start, text, file)
        return Diagnostic(
            codes.SYNTAX, "the closing quote of this text is missing", unclosed, hint="add the closing quote"
        )
    if (finding := _missing_colon_finding(error, text, file)) is not None:
        return finding
    if character in "]}" and character and bracket is None:
        return Diagnostic(
            codes.SYNTAX, f'this "{character}" has no opening bracket', span, hint="delete the bracket"
        )
    for piece, message, hint in _AT_CONTEXT:
        if piece in problem and opened is not None and "flow" not in (error.context or ""):
            missing_space = error.context_mark and _MISSING_SPACE.match(text, error.context_mark.index)
            if missing_space and piece == _NO_COLON:
                message, hint = 'a space is missing after the ":"', f'write "{missing_space[1]}: "'
            return Diagnostic(codes.SYNTAX, message, opened, hint=hint)
    if "flow" in (error.context or "") and opened is not None:
        return _bracket_finding(error, text, span, opened, character)
    for piece, message, advice in _AT_PROBLEM:
        if piece in problem:
            return Diagnostic(codes.SYNTAX, message, span, hint=advice)
    if "directive" in (error.context or ""):
        return Diagnostic(
            codes.SYNTAX, 'a line cannot begin with "%"', span, hint=f"{_QUOTE_HINT} if it is text"
        )
    if "block collection" in (error.context or "") or "'-' indicator" in problem:
        return _misplaced_line_finding("list", span, opened)
    if "block mapping" in (error.context or ""):
        return _misplaced_line_finding("mapping", span, opened)
    return Diagnostic(codes.SYNTAX, f"this is not valid YAML: {problem}", span)


def _bracket_finding(
    error: yaml.MarkedYAMLError, text: str, span: Span, opened: Span, character: str
) -> Diagnostic:
    """Return the finding for an error inside a "[" or "{" that is opened at `opened`."""
    mapping = "mapping" in (error.context or "")
    name, close = ("mapping", "}") if mapping else ("list", "]")
    mark = error.problem_mark
    index = mark.index if mark else len(text)
    if character == "{" and text[index - 1 : index] == "$":
        # The trap of Compose-style variables: "{" ends a plain text inside brackets.
        return Diagnostic(
            codes.SYNTAX, "a variable inside [ ] or { } needs quotes", span, hint='write "${NAME}"'
        )
    related = ((f"the {name} begins", opened),)
    if character in "]}" and character:
        message = f'this bracket does not close the {name}: "{close}" is expected'
        return Diagnostic(codes.SYNTAX, message, span, related=related)
    if span.line > opened.line and _indentation(text, span.line) <= _indentation(text, opened.line):
        message = f'this {name} is not closed: "{close}" is missing'
        hint = f'add "{close}" where the {name} ends'
        return Diagnostic(
            codes.SYNTAX, message, opened, hint=hint, related=(("the text continues here", span),)
        )
    return Diagnostic(codes.SYNTAX, f'a "," or "{close}" is missing before this text', span, related=related)


def _missing_colon_finding(error: yaml.MarkedYAMLError, text: str, file: str) -> Diagnostic | None:
    """Return the finding for a key with a bracket and no ":" before it; None if there is none.

    The key is on the line of the error, or at the end of a line above.
    """
    mark = error.problem_mark
    if mark is None:
        return None
    lines = text[: mark.index].split("\n")
    number, match = len(lines), None
    if text[mark.index : mark.index + 1] in ("{", "["):
        match = _TEXT_BEFORE_BRACKET.search(lines[-1])
    elif "flow" not in (error.context or ""):
        blank = re.compile(r"\s*(#|$)")
        number = next((n for n in range(len(lines) - 1, 0, -1) if not blank.match(lines[n - 1])), 0)
        last_line = lines[number - 1] if number else ""
        match = _KEY_AND_OPEN_BRACKET.search(last_line)
        if match is None and "mapping values are not allowed" in (error.problem or ""):
            word_match = _WORD_ALONE.search(last_line)
            match = (
                word_match
                if word_match and word_match.start(1) == len(lines[-1]) - len(lines[-1].lstrip())
                else None
            )
    if match is None:
        return None
    return missing_colon_diagnostic(
        match[1], Span(file, number, match.start(1) + 1, number, match.end(1) + 1)
    )


def _indentation(text: str, line: int) -> int:
    """Return the number of spaces at the beginning of a line. Lines count from 1."""
    lines = text.split("\n")
    line_text = lines[line - 1] if line <= len(lines) else ""
    return len(line_text) - len(line_text.lstrip(" "))


def _misplaced_line_finding(name: str, span: Span, opened: Span | None) -> Diagnostic:
    """Return the finding for a line that does not fit into the block list or mapping around it."""
    related = ((f"the {name} begins", opened),) if opened is not None else ()
    return Diagnostic(
        codes.SYNTAX,
        f"this line is not a valid part of the {name} that contains the line",
        span,
        hint=_ALIGN_HINT,
        related=related,
    )


def _character_at(mark: yaml.Mark | None, text: str) -> str:
    """Return the character at a position of the parser; "" at the end. A tab after blanks counts."""
    if mark is None:
        return ""
    # The parser may stop before the tab (at the start of the line's blanks) or on it.
    spaces = re.compile(r" *").match(text, mark.index)
    index = spaces.end() if spaces else mark.index
    return text[index : index + 1] if text[index : index + 1] == "\t" else text[mark.index : mark.index + 1]


def _span_of(mark: yaml.Mark | None, text: str, file: str) -> Span:
    """Return the span of the character at a position of the parser."""
    if mark is None:
        return Span.start_of(file)
    width = 1 if text[mark.index : mark.index + 1].strip() else 0
    return Span(file, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 1 + width)
