"""Define the types of longer texts: plain, certificates, Markdown and OpenAPI.

Values are inline or in a file (`{file: PATH}`). `Markdown` is a rich-text Document in GitBook, and is
converted in both directions. A Document that Markdown cannot express stays a Document, so that dpsync never
mistakes it for another one. `OpenApiText` is checked before it is sent.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any, NamedTuple

import yaml

from dpsync.kinds.types import (
    INVALID,
    Invalid,
    ParseContext,
    Schema,
    TextFile,
    Type,
    file_reference_path,
    report_wrong_type,
)
from dpsync.kinds.types.base import ABSENT, UnexpectedShape, wrong_type
from dpsync.model.nodes import Node, Scalar, Span
from dpsync.model.text import format_count, format_limits
from dpsync.model.values import Value

_FILE: Schema = {
    "type": "object",
    "properties": {"file": {"type": "string"}},
    "required": ["file"],
    "additionalProperties": False,
}


_FILE_NAME = re.compile(r"(?:[\w.-]+/)*[\w-]+\.(?:md|markdown|txt|html|css|json|ya?ml|pem|crt)")


def _content(node: Node, ctx: ParseContext) -> TextFile | Scalar | Invalid:
    """Return the file to which a node refers, or the node itself if it is a text.

    A text that looks like the name of a file causes a warning.
    """
    path = file_reference_path(node, ctx)
    if isinstance(path, Scalar):
        return ctx.text(path) or INVALID
    if path is not None:
        return path
    if isinstance(node, Scalar) and isinstance(node.value, str):
        if _FILE_NAME.fullmatch(node.value):
            hint = f"write {{ file: {node.value} }} to use the content of the file"
            ctx.warning(
                "DP239",
                f'"{node.value}" is a text, so dpsync does not read a file with this name',
                node.span,
                hint,
            )
        return node
    return report_wrong_type(node, "text", ctx)


class LongText(Type, frozen=True):
    """A text of any length and format. With `is_write_only`, the platform never returns it."""

    min_length: int = 0
    max_length: int | None = None
    is_write_only: bool = False

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the text of a YAML value or of the file that it names; INVALID after reporting an error."""
        content = _content(node, ctx)
        if isinstance(content, Invalid):
            return content
        file, text = (content, content.text) if isinstance(content, TextFile) else (None, str(content.value))
        if len(text) < self.min_length or (self.max_length is not None and len(text) > self.max_length):
            limits = format_limits(self.min_length, self.max_length, "character")
            message = f"the text has {format_count(len(text), 'character')}, but {limits}"
            return ctx.error("DP203", message, node.span)
        return self.check_text(text, file, node, ctx)

    def check_text(self, text: str, file: TextFile | None, node: Node, ctx: ParseContext) -> Value:
        """Report errors in a text and return its value. `file` is the file from which it was read, if any."""
        del file, node, ctx
        return text

    def schema(self) -> Schema:
        """Return the JSON Schema: a text, or `{file: PATH}`."""
        return {"anyOf": [{"type": "string"}, _FILE]}

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        return None if isinstance(wire, str) else wrong_type(wire, "a text")

    def write_only_part(self, value: Value) -> Value:
        """Return the text if the platform never returns it, otherwise None."""
        return value if self.is_write_only else None

    @property
    def may_be_write_only(self) -> bool:
        return self.is_write_only


class Certificate(LongText, frozen=True):
    """An X.509 certificate as PEM. Comparisons ignore BEGIN and END lines, line breaks and other text."""

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return a certificate.

        Errors have the position of the entry, and never show a line of a possible key.
        """
        text = super().parse(node, ctx)
        problem = _certificate_fault(text) if isinstance(text, str) else None
        if problem is None:
            return text
        hint = (
            "write a PEM certificate, from BEGIN CERTIFICATE to END CERTIFICATE, or null for no certificate"
        )
        return ctx.error("DP204", f"the text is not a certificate: {problem}", node.span, hint)

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether two values contain the same certificates."""
        return _base64_of(wanted) == _base64_of(live)


_PEM_BLOCK = re.compile(r"-----BEGIN ([^-\n]*)-----(.*?)-----END \1-----", re.DOTALL)


def _certificate_fault(text: str) -> str | None:
    """Return why a text is no X.509 certificate, with or without BEGIN and END lines; None if it is one."""
    import ssl  # for OpenSSL's reader of certificates: nothing is connected to

    if not text.strip():
        return "it is empty"
    blocks = _PEM_BLOCK.findall(text) or [("CERTIFICATE", text)]
    foreign_label = next((label for label, _ in blocks if not label.endswith("CERTIFICATE")), None)
    if foreign_label is not None:
        return f"it contains a {foreign_label.lower()}"
    for _, body in blocks:
        try:
            binary = base64.b64decode("".join(body.split()), validate=True)
        except ValueError:
            return "it is not Base64"
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=binary)
        except (ssl.SSLError, ValueError):
            return "the decoded Base64 data is not a certificate"
    return None


def _base64_of(value: Value) -> str:
    """Return the Base64 data of all certificates in a text, without BEGIN and END lines and line breaks."""
    blocks = [body for _, body in _PEM_BLOCK.findall(str(value))]
    return "".join("".join(blocks or [str(value)]).split())


_FRONT_MATTER = re.compile(
    r"""\ufeff?---[ \t]*\r?\n(?:[\w"'][^:\n]*:.*\n)(?:[\w"'][^:\n]*:.*\n|[ \t#-].*\n)*---[ \t]*(?:\r?\n|$)"""
)


class Markdown(Type, frozen=True):
    """Markdown in files, a rich-text Document on the platform."""

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the Markdown in a normalized form.

        Errors have their position in the file with the Markdown.
        """
        from dpsync.document import MarkdownError, to_document, to_markdown

        content = _content(node, ctx)
        if isinstance(content, Invalid):
            return content
        text = content.text if isinstance(content, TextFile) else str(content.value)
        if front_matter := _FRONT_MATTER.match(text):
            span = node.span if not isinstance(content, TextFile) else Span(content.name, 1, 1, 1, 4)
            message = "the text begins with YAML front matter, which Markdown reads as a heading"
            lines = front_matter[0].count("\n")
            hint = f"delete the first {lines} lines of the text, from --- to ---"
            return ctx.error("DP209", message, span, hint)
        try:
            return to_markdown(to_document(text))
        except MarkdownError as error:
            for problem in error.problems:
                message, span = problem.message, node.span
                if isinstance(content, TextFile):
                    line, column = problem.line, problem.column
                    span = Span(content.name, line, column, line, column + 1)
                else:
                    message = f"{message} (in line {problem.line} of the text)"
                ctx.error("DP209", message, span, problem.hint)
            return INVALID

    def schema(self) -> Schema:
        """Return the JSON Schema: a text, or `{file: PATH}`."""
        return {"anyOf": [{"type": "string"}, _FILE]}

    def encode(self, value: Value) -> Value:
        """Return the Document for a value, which may already be a Document."""
        from dpsync.document import to_document

        return to_document(value) if isinstance(value, str) else value

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        """Return why a response value has an unexpected shape, None if `decode` can read it.

        Only the top level of a Document (GitBook's JSON form of a text) is checked, because any content may
        be in it.
        """
        if not isinstance(wire, dict):
            return wrong_type(wire, "a Document")
        if "nodes" not in wire:
            return UnexpectedShape("nodes", "a list", ABSENT)
        return (
            None
            if isinstance(wire["nodes"], list)
            else wrong_type(wire["nodes"], "a list").nested_in("nodes")
        )

    def decode(self, wire: Any) -> Value:
        """Return a Document as Markdown, or unchanged if Markdown cannot express it."""
        from dpsync.document import DocumentError, to_markdown

        if not isinstance(wire, dict):
            return None
        try:
            return to_markdown(wire)
        except DocumentError:
            return wire

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether both values show the same to readers."""
        from dpsync.document import have_same_meaning

        return have_same_meaning(self.encode(wanted), self.encode(live))

    @property
    def takes_mapping(self) -> bool:
        return True


_HTML = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_PARSER = getattr(yaml, "CParser", yaml.Loader)  # the Python parser takes ten seconds per megabyte


class OpenApiText(LongText, frozen=True):
    """An OpenAPI specification: JSON or YAML whose top level has the key `openapi` or `swagger`.

    Any other text is reported (DP240), but still returned: the platform may currently have this text.
    """

    def check_text(self, text: str, file: TextFile | None, node: Node, ctx: ParseContext) -> Value:
        """Report the first problem of a specification at its line, and return the text."""
        problem = _find_problem(text)
        if problem is not None:
            line, column, message, hint = problem
            if file is None:
                message, span = f"{message} (in line {line} of the text)", node.span
            else:
                span = Span(file.name, line, column, line, column + 1)
            ctx.error("DP240", message, span, hint)
        return text


class _Problem(NamedTuple):
    """A problem of a specification, with line and column from 1."""

    line: int
    column: int
    message: str
    hint: str


def _find_problem(text: str) -> _Problem | None:
    """Return the first problem of the text of an OpenAPI specification, with its position; None if valid.

    Only the syntax (JSON or YAML) and the key with the version are checked, not the specification itself.
    """
    if _HTML.match(text):
        hint = "perhaps the text is a login page: sign in, and download the specification again"
        return _Problem(1, 1, "the text is a web page, and not an OpenAPI specification", hint)
    if text.lstrip().startswith("{"):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            pass  # YAML has mappings in braces, too
        else:
            return None if {"openapi", "swagger"} & document.keys() else _missing_version(text)
    try:
        keys = _top_keys(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = error.problem or "the text ends unexpectedly"
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        return _Problem(line, column, f"the text is neither JSON nor YAML: {why}", "correct this line")
    except yaml.YAMLError as error:
        return _Problem(1, 1, f"the text is neither JSON nor YAML: {error}", "save the file as UTF-8 text")
    return None if {"openapi", "swagger"} & keys else _missing_version(text)


def _missing_version(text: str) -> _Problem:
    """Return the problem of a text that is no OpenAPI specification, at its first character."""
    line = len(text) - len(text.lstrip())
    return _Problem(
        text.count("\n", 0, line) + 1,
        1,
        'an OpenAPI specification needs the key "openapi" or "swagger" at the top level',
        "use the file that contains the specification",
    )


def _top_keys(text: str) -> set[str]:
    """Return the keys of the top-level mapping of a YAML text, read as events, without building the data.

    This saves memory for large texts. A list has no keys. Raises YAMLError for an error in any line.
    """
    keys: set[str] = set()
    depth, is_key = 0, True
    for event in iter(_PARSER(text).get_event, None):
        if isinstance(event, yaml.SequenceStartEvent) and depth == 0:
            is_key = False  # a list has no keys
        elif depth == 1 and is_key and isinstance(event, yaml.ScalarEvent):
            keys.add(event.value)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth == 1 and not isinstance(event, yaml.CollectionStartEvent):
            is_key = not is_key  # a value ends
    return keys
