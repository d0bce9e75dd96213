"""Read a YAML file to a tree of nodes with positions, and report all its problems.

`read` is the entry point; it never raises. The tree is built from the parser's event stream within limits, so
YAML never constructs an object, nothing recurses, and no input takes long or crashes the process.
`parse_scalar` gives plain scalars their value in the core schema of YAML 1.2, without YAML 1.1: `no`, `on`,
`12:30:45`, `1_000` and `2020-01-01` are text, `017` is the number 17 and `0o17` is 15.
"""

from __future__ import annotations

import math
import re
from codecs import BOM_UTF8
from typing import Any, Final

import yaml
from msgspec import Struct, field
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from dpsync.collector import collector_paused
from dpsync.config import codes
from dpsync.config.yaml_errors import (
    COLOR,
    TAG_HINT,
    Bracket,
    Quoted,
    explain,
    key_before_bracket,
    missing_colon_diagnostic,
    unquoted_color,
)
from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span, Value
from dpsync.model.text import format_count

NUMBER_LENGTH: Final = 64
"""The longest number, in characters. Checked before conversion, whose cost is quadratic in the length."""

# Characters that no value may contain: controls except tab and line breaks, surrogates, non-characters.
CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
FORBIDDEN_IN_VALUE: Final = re.compile(f"[{CONTROLS}]")
FORBIDDEN_IN_TEXT: Final = re.compile("[\\x00\\ud800-\\udfff]")
"""What is no text for any platform; another control character may be in a title that somebody has pasted."""
LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")

_PLAIN_SCALARS: Final[dict[str, Value]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_START: Final = frozenset("+-.0123456789")
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_OCTAL: Final = re.compile(r"0o[0-7]+")
_HEXADECIMAL: Final = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class NumberError(ValueError):
    """A scalar that looks like a number, but that JSON cannot hold. The message says why."""


def parse_scalar(text: str) -> Value:
    """Return the value of a scalar without quotes: null, boolean, number or text, as in YAML 1.2.

    Raises NumberError for `.inf`, `.nan`, overflow and overlong numbers.
    """
    if text in _PLAIN_SCALARS:
        return _PLAIN_SCALARS[text]
    if text[0] not in _NUMBER_START:
        return text
    if _NOT_FINITE.fullmatch(text):
        raise NumberError(f"{text} is not a finite number")
    for pattern, base in ((_INTEGER, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            _check_length(text)
            return int(text if base == 10 else text[2:], base)
    if _FLOAT.fullmatch(text):
        _check_length(text)
        number = float(text)
        if not math.isfinite(number):
            raise NumberError(f"the number {text} is too large")
        return number
    return text


def _check_length(text: str) -> None:
    """Raise NumberError if the text of a number is too long."""
    if len(text) > NUMBER_LENGTH:
        raise NumberError(
            f"the number has {format_count(len(text), 'character')}, but at most {NUMBER_LENGTH} are allowed"
        )


_PARSER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# YAML 1.1 counts the first two as line breaks and editors do not, so positions would disagree. As an escape
# in a double-quoted text they are allowed.
_SEPARATORS: Final = "\u2028\u2029\ufeff"
FORBIDDEN_IN_FILE: Final = re.compile(f"[{CONTROLS}{_SEPARATORS}]")
"""Characters that a file may not contain. In a value, most of them may be written as escapes."""
_TAG_DIRECTIVE: Final = re.compile(r"(?:\A|[\r\n])(%TAG)\b")
_new_tuple: Final = tuple.__new__
_MAX_CACHED_CHARS: Final = 100
"""The maximum length of a plain text that is cached because it may repeat in its file, in characters."""
_QUOTE_HINT: Final = "if the value is text, put it in quotes"
_ANCHOR_HINT: Final = 'define the anchor earlier in the same file. Put a text that begins with "*" in quotes'
_SPLIT_HINT: Final = 'split the file, and add the new files to "include"'


class FileLimits(Struct, frozen=True):
    """The limits of one file.

    `nodes` counts values (not keys), and each alias with all values inside it.
    """

    bytes: int = 10_000_000
    depth: int = 64
    nodes: int = 200_000
    scalar: int = 1_000_000
    aliases: int = 100


DEFAULT_LIMITS: Final = FileLimits()


def read(
    text: str | bytes, file: str, limits: FileLimits = DEFAULT_LIMITS, repeated: bool = False
) -> tuple[Node | None, list[Diagnostic]]:
    """Parse one YAML file, and return its root node and all findings. Never raises.

    `file` is the file name for positions. `repeated` allows repeated keys in a mapping. The node is None if
    the file is empty, is not valid YAML, or exceeds a limit. After any other problem, the node lacks the
    parts that the findings are about.
    """
    decoded, diagnostics = decode(text, file, limits)
    return (None, diagnostics) if diagnostics else parse_text(decoded, file, limits, repeated)


def parse_text(
    text: str, file: str, limits: FileLimits = DEFAULT_LIMITS, repeated: bool = False
) -> tuple[Node | None, list[Diagnostic]]:
    """Return the same as `read` for a text that `decode` has accepted."""
    reader = _NodeReader(text, file, limits, repeated)
    with collector_paused():  # the garbage collector would more than double the time
        return reader.read(), reader.diagnostics


def decode(data: str | bytes, file: str, limits: FileLimits = DEFAULT_LIMITS) -> tuple[str, list[Diagnostic]]:
    """Return the text of a file without its byte order mark, and findings that forbid reading it as YAML.

    If there are findings, use the text only to show source lines.
    """
    size = len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "surrogatepass"))
    if size > limits.bytes:
        message = f"the file is larger than {limits.bytes:,} bytes"
        return "", [Diagnostic(codes.FILE_SIZE, message, Span.start_of(file), hint=_SPLIT_HINT)]
    if isinstance(data, bytes):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            return data.decode("utf-8", "replace"), [_encoding_error(data, error.start, file)]
    else:
        text = data
    text = text.removeprefix("\ufeff")
    match = None if _is_visible(text) else FORBIDDEN_IN_FILE.search(text)
    if match:
        return text, [
            _forbidden_character_error(match.group(), _span_at(text, match.start(), match.end(), file))
        ]
    directive = _TAG_DIRECTIVE.search(text) if "%TAG" in text else None
    if directive:
        # Refuse %TAG before parsing: the parser takes quadratic time for its table of tag handles.
        return text, [_tag_error(_span_at(text, directive.start(1), directive.end(1), file))]
    return text, []


def encode(text: str, before: bytes) -> bytes:
    """Return a text as the new content of a file, with a byte order mark if `before` has one."""
    mark = BOM_UTF8 if before.startswith(BOM_UTF8) else b""
    return mark + text.encode()


def _is_visible(text: str) -> bool:
    """Return whether a text has no forbidden characters. Fast, but false for some allowed characters."""
    return text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable()


class _StopReadingError(Exception):
    """Ends the reading of a file after its last diagnostic was added."""


class _OpenCollection(Struct):
    """A mapping or list whose end was not read yet.

    `count` is the number of nodes before it, and `height` the depth of the nodes inside it.
    """

    start: Any
    is_mapping: bool
    flow: bool
    anchor: str | None
    count: int
    height: int = 1
    end: Any = None
    items: list[Node] = field(default_factory=list)
    entries: list[tuple[Scalar, Node]] = field(default_factory=list)
    seen: dict[str, Scalar] = field(default_factory=dict)
    key: Scalar | None = None
    # The value of a key that was refused is read and dropped.
    skips_value: bool = False


class _Anchor(Struct, frozen=True):
    """The node of an anchor `&name`, with the number of nodes in it and their depth."""

    node: Node
    count: int
    height: int


class _NodeReader:
    """Builds the node tree of one file from the events of the YAML parser, within limits."""

    def __init__(self, text: str, file: str, limits: FileLimits, repeated: bool = False) -> None:
        """Prepare to read a text. `file` is its name, and `repeated` allows repeated keys in a mapping."""
        self.text = text
        self.file = file
        self.limits = limits
        self.repeated = repeated
        self.diagnostics = Findings()
        self.root: Node | None = None
        self.frames: list[_OpenCollection] = []
        self.anchors: dict[str, _Anchor] = {}
        self.open_anchors: dict[str, int] = {}
        self.count = 0
        self.aliases = 0
        self.documents = 0
        self.values: dict[str, Value] = {}
        self.texts: dict[str, str] = {}
        self.last_quoted_text: Quoted | None = None

    def read(self) -> Node | None:
        """Return the root node; None for an empty file, or after a syntax error or an exceeded limit."""
        try:
            # yaml.parse would call the parser twice for each event.
            for event in iter(_PARSER(self.text).get_event, None):
                if type(event) is ScalarEvent:  # four of five events
                    self.read_scalar(event)
                else:
                    self.handle_event(event)
        except _StopReadingError:
            return None
        except yaml.MarkedYAMLError as error:
            flow = next((frame for frame in reversed(self.frames) if frame.flow), None)
            bracket = Bracket(flow.start, flow.is_mapping) if flow else None
            if not any(finding.code == codes.SYNTAX for finding in self.diagnostics):
                self.diagnostics.append(explain(error, self.text, self.file, bracket, self.last_quoted_text))
            return None
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            # The Python parser raises a plain ValueError for an escape beyond Unicode.
            self.error(codes.SYNTAX, f"this is not valid YAML: {error}", Span.start_of(self.file))
            return None
        return self.root

    def handle_event(self, event: Event) -> None:
        """Process an event that is not a scalar."""
        kind = type(event)
        if kind is MappingStartEvent or kind is SequenceStartEvent:
            self.open_collection(event, kind is MappingStartEvent)
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            self.close_collection(event)
        elif kind is AliasEvent:
            self.read_alias(event)
        elif kind is DocumentStartEvent:
            self.handle_document(event)

    def handle_document(self, event: Any) -> None:
        """Check the start of a document: only one document, and only YAML 1.2, are allowed."""
        span = self.span(event.start_mark, event.end_mark)
        self.documents += 1
        if self.documents > 1:
            hint = (
                'delete this line, or move the lines below it into a new file and list that file in "include"'
            )
            self.error(codes.DOCUMENTS, "a second document begins here", span, hint)
            raise _StopReadingError
        if event.version not in (None, (1, 2)):
            version = ".".join(str(part) for part in event.version)
            message = f"the file requests YAML {version}, but dpsync reads YAML 1.2"
            self.error(codes.YAML_VERSION, message, span, "delete the %YAML line")

    def open_collection(self, event: Any, is_mapping: bool) -> None:
        """Begin a mapping or list."""
        if len(self.frames) >= self.limits.depth:
            self.add_depth_error(self.span(event.start_mark, event.end_mark))
        self.check_node_count(1, event)
        self.refuse_tag(event)
        frame = _OpenCollection(
            event.start_mark, is_mapping, bool(event.flow_style), event.anchor, self.count - 1
        )
        if frame.anchor is not None:
            self.anchors.pop(frame.anchor, None)
            self.open_anchors[frame.anchor] = self.open_anchors.get(frame.anchor, 0) + 1
        self.frames.append(frame)

    def close_collection(self, event: Any) -> None:
        """End the innermost mapping or list, and add its node to the collection around it."""
        frame = self.frames.pop()
        # The end mark of a block collection stands after the comments and blank lines that follow it.
        end = event.end_mark if frame.flow or frame.end is None else frame.end
        span = self.span(frame.start, end)
        node: Node
        if frame.is_mapping:
            node = Mapping(tuple(frame.entries), span)
        else:
            node = Sequence(tuple(frame.items), span)
        if frame.anchor is not None:
            self.open_anchors[frame.anchor] -= 1
            self.anchors[frame.anchor] = _Anchor(node, self.count - frame.count, frame.height)
        self.add_node(node, end, frame.height)

    def read_scalar(self, event: Any) -> None:
        """Add a scalar, as a key or as a value."""
        text, end = event.value, event.end_mark
        span = self.span(event.start_mark, end)
        if len(text) > self.limits.scalar:
            message = f"the text has {len(text):,} characters, but at most {self.limits.scalar:,} are allowed"
            self.error(codes.TEXT_SIZE, message, span)
            raise _StopReadingError
        if event.tag is not None:
            self.refuse_tag(event)
        frame = self.frames[-1] if self.frames else None
        is_key = frame is not None and frame.is_mapping and frame.key is None and not frame.skips_value
        is_plain = not event.style
        if not is_plain:
            text = self.quoted_text(event, span, is_key)
        elif len(text) <= _MAX_CACHED_CHARS:
            text = self.texts.setdefault(text, text)  # most words of a file are repeated
        if not is_key:
            self.check_node_count(1, event)
            if not text and is_plain and (color := COLOR.match(self.text, end.index)):
                span = _span_at(self.text, color.start(1), color.end(1), self.file)
                self.diagnostics.append(unquoted_color(color[1], span))
        node = Scalar(
            self.resolve_value(text, span) if is_plain and not is_key else text, span, text, is_plain
        )
        if event.anchor is not None:
            anchored = (
                Scalar(self.resolve_value(text, span), span, text, True) if is_plain and is_key else node
            )
            self.anchors[event.anchor] = _Anchor(anchored, 1, 0)
        if is_key and frame is not None:
            self.read_key(frame, node, end)
        else:
            self.add_node(node, end, 0)

    def quoted_text(self, event: Any, span: Span, is_key: bool) -> str:
        """Return the text of a quoted or block scalar; reports and removes forbidden characters."""
        text: str = event.value
        if event.style in "'\"" and span.line < span.end_line:
            self.last_quoted_text = Quoted(event.start_mark, event.end_mark)
        if event.style == '"':  # only double-quoted texts have escapes
            refused = FORBIDDEN_IN_VALUE if is_key else FORBIDDEN_IN_TEXT
            if match := refused.search(text):
                self.diagnostics.append(_forbidden_character_error(match.group(), span))
                text = refused.sub("", text)
        return text

    def resolve_value(self, text: str, span: Span) -> Value:
        """Return the value of a plain scalar: null, boolean, number or text. Values are cached by text."""
        try:
            return self.values[text]
        except KeyError:
            pass
        try:
            value = parse_scalar(text)
        except NumberError as error:
            self.error(codes.NUMBER, str(error), span, _QUOTE_HINT)
            return text
        self.values[text] = value
        return value

    def read_alias(self, event: Any) -> None:
        """Add the node of the anchor that an alias (`*name`) names, or report that there is none.

        The limits count the node again, so that nested aliases cannot expand without end.
        """
        span = self.span(event.start_mark, event.end_mark)
        self.aliases += 1
        if self.aliases > self.limits.aliases:
            self.error(codes.ALIASES, f"the file contains more than {self.limits.aliases} aliases", span)
            raise _StopReadingError
        anchor = self.anchors.get(event.anchor)
        if anchor is None:
            if self.open_anchors.get(event.anchor):
                message, hint = f'"*{event.anchor}" is inside the value of the anchor "&{event.anchor}"', None
            else:
                message, hint = f'the file has no anchor "&{event.anchor}" above this alias', _ANCHOR_HINT
            self.error(codes.ALIAS, message, span, hint)
            anchor = _Anchor(Scalar(None, span, "", True), 1, 0)
        self.check_node_count(anchor.count, event)
        if len(self.frames) + anchor.height > self.limits.depth:
            self.add_depth_error(span)
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.is_mapping and frame.key is None and not frame.skips_value:
            self.error(codes.KEY, "an alias cannot be a key", span)
            frame.skips_value = True
            return
        self.add_node(anchor.node, event.end_mark, anchor.height)

    def read_key(self, frame: _OpenCollection, key: Scalar, end: Any) -> None:
        """Make a scalar the key of the next value, or report why it cannot be a key.

        The value of a refused key is read and dropped.
        """
        first = frame.seen.get(key.text)
        if (
            key.plain
            and ("{" in key.text or "[" in key.text)
            and (word := key_before_bracket(key.text, self.text, end.index))
        ):
            key_span = key.span
            span = Span(self.file, key_span.line, key_span.column, key_span.line, key_span.column + len(word))
            self.diagnostics.append(missing_colon_diagnostic(word, span))
        elif key.plain and key.text == "<<":
            hint = 'repeat the keys, or reuse the whole value with an alias ("key: *name")'
            self.error(codes.MERGE_KEY, 'merge keys ("<<") are not supported', key.span, hint)
        elif first is not None and not self.repeated:
            related = (("the first one", first.span),)
            message, hint = f'the key "{key.text}" appears twice', "delete one of the two keys"
            self.diagnostics.append(
                Diagnostic(codes.DUPLICATE_KEY, message, key.span, hint=hint, related=related)
            )
        else:
            frame.seen[key.text] = frame.key = key
            return
        frame.skips_value = True

    def add_node(self, node: Node, end: Any, height: int) -> None:
        """Add a complete node to the innermost open collection; without one, it is the root."""
        if not self.frames:
            self.root = node
            return
        frame = self.frames[-1]
        if frame.is_mapping and frame.key is None and not frame.skips_value:
            self.error(codes.KEY, "a list or mapping cannot be a key", node.span, self.key_hint())
            frame.skips_value = True
            return
        frame.end = end
        if height >= frame.height:
            frame.height = height + 1
        if not frame.is_mapping:
            frame.items.append(node)
        elif frame.key is not None:
            frame.entries.append((frame.key, node))
        frame.key, frame.skips_value = None, False

    def key_hint(self) -> str:
        """Return what to write in place of a key that is a list or mapping, such as `{ id: eve }: member`."""
        list_name = next((frame.key.text for frame in reversed(self.frames) if frame.key is not None), None)
        if list_name != "members":
            return "write the key as text, without { } or [ ]"
        entry = "ada@acme.example: ROLE"
        return f"use the person's e-mail address as the key, without {{ }} and without a dash: {entry}"

    def check_node_count(self, count: int, event: Any) -> None:
        """Count nodes, and stop reading at the limit."""
        self.count += count
        if self.count > self.limits.nodes:
            message = f"the file contains more than {self.limits.nodes:,} values"
            self.error(codes.NODES, message, self.span(event.start_mark, event.end_mark), _SPLIT_HINT)
            raise _StopReadingError

    def add_depth_error(self, span: Span) -> None:
        """Report that the file is nested too deeply, and stop reading."""
        message = f"lists and mappings are nested deeper than {self.limits.depth} levels"
        self.error(codes.DEPTH, message, span)
        raise _StopReadingError

    def refuse_tag(self, event: Any) -> None:
        """Report a tag (`!name`), which dpsync does not support."""
        if event.tag is not None:
            self.diagnostics.append(_tag_error(self.span(event.start_mark, event.end_mark)))

    def error(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Add an error."""
        self.diagnostics.append(Diagnostic(code, message, span, hint=hint))

    def span(self, start: Any, end: Any) -> Span:
        """Return the span between two positions of the parser. Called very often, so it is optimized."""
        # A file may have hundreds of thousands of spans. tuple.__new__ avoids the Python call of Span(…), and
        # start and end share one number object if they are on one line.
        line, end_line = start.line + 1, end.line + 1
        if line == end_line:
            end_line = line
        return _new_tuple(Span, (self.file, line, start.column + 1, end_line, end.column + 1))


def _tag_error(span: Span) -> Diagnostic:
    """Return the finding that tags are not supported."""
    return Diagnostic(codes.TAG, "tags are not supported", span, hint=TAG_HINT)


def _forbidden_character_error(character: str, span: Span) -> Diagnostic:
    """Return the finding about a character that a file must not contain."""
    message = f"the character U+{ord(character):04X} is not allowed here"
    escape = f'write "\\u{ord(character):04x}" in double quotes'
    hint = (
        "delete the character" if FORBIDDEN_IN_TEXT.match(character) else f"delete the character, or {escape}"
    )
    return Diagnostic(codes.CHARACTER, message, span, hint=hint)


def _encoding_error(data: bytes, offset: int, file: str) -> Diagnostic:
    """Return the finding that a file is not UTF-8. `offset` is the offset of the first invalid byte."""
    is_utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    message = (
        "the file is encoded in UTF-16"
        if is_utf16
        else f"the file is not encoded in UTF-8: invalid byte 0x{data[offset]:02x}"
    )
    text_before = data[:offset].decode("utf-8").removeprefix("\ufeff")
    span = _span_at(text_before + "?", len(text_before), len(text_before) + 1, file)
    return Diagnostic(codes.ENCODING, message, span, hint="save the file as UTF-8")


def _span_at(text: str, start: int, end: int, file: str) -> Span:
    """Return the span of a part of the text, given by its offsets."""
    breaks = list(LINE_BREAK.finditer(text, 0, start))
    line, line_start = len(breaks) + 1, breaks[-1].end() if breaks else 0
    return Span(file, line, start - line_start + 1, line, end - line_start + 1)
