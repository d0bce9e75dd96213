"""Convert live values to YAML data: references by key, long texts in files, secrets as variables.

`ValueWriter.yaml_value` converts one value. It raises UnwritableValueError if the configuration reader would
not accept the result: the caller then leaves the field out and reports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from dpsync.config.yaml_reader import FORBIDDEN_IN_TEXT, FORBIDDEN_IN_VALUE, decode
from dpsync.kinds.types import (
    INVALID,
    Invalid,
    Json,
    List,
    Object,
    OneOf,
    Reference,
    Table,
    Text,
    TextFile,
    Type,
)
from dpsync.kinds.types.free_form import looks_secret
from dpsync.kinds.types.texts import Certificate, LongText, Markdown
from dpsync.model import nodes
from dpsync.model.address import Address
from dpsync.model.nodes import Span
from dpsync.model.text import escape_invisible, format_count
from dpsync.model.values import LiveId, Secret, Value

ReferenceNamer = Callable[[tuple[str, ...], str], str | None]
"""Returns the key that refers to the object with an id; None if the object has no entry."""

NO_SPAN = Span.start_of("")
_MAX_INLINE_CHARS = 100


class UnwritableValueError(Exception):
    """The reason why a value cannot be in a configuration."""


class FileContent(Struct, frozen=True):
    """The content of a file for a long value, and the suffix of the file name."""

    suffix: str
    text: str


ReplaceContent = Callable[[FileContent, tuple[str, ...]], Any]
"""Returns the replacement of a long value, from the value and its path."""


def replace_file_contents(value: Any, replace: ReplaceContent, path: tuple[str, ...] = ()) -> Any:
    """Return YAML data in which each FileContent is replaced by the result of `replace`.

    `path` are the keys that lead to the value.
    """
    if isinstance(value, FileContent):
        return replace(value, path)
    if isinstance(value, dict):
        return {
            name: replace_file_contents(child, replace, (*path, str(name))) for name, child in value.items()
        }
    if isinstance(value, list):
        return [
            replace_file_contents(child, replace, (*path, str(number))) for number, child in enumerate(value)
        ]
    return value


class ValueWriter(Struct, frozen=True):
    """Converts the values of one object. `name_secret` returns the variable name for the path of a secret."""

    name_reference: ReferenceNamer
    name_secret: Callable[[tuple[str, ...]], str]
    json_in_own_file: bool = False
    """Whether a free-form value gets a file of its own."""

    def yaml_value(self, type_: Type, value: Value) -> Any:
        """Convert a live value to YAML data, with FileContent for parts that need a file of their own.

        Raises UnwritableValueError if the configuration reader would not accept the data for this type.
        """
        written = self._yaml_data(type_, value, ())
        self._check_readable(type_, written)
        return written

    def _yaml_data(self, type_: Type, value: Value, path: tuple[str, ...]) -> Any:
        """Convert a live value to YAML data without checking the result. `path` are the keys to the value."""
        match type_:
            case Reference(kinds=kinds):
                if not isinstance(value, LiveId):
                    raise UnwritableValueError("the value refers to an object without an id")
                key = self.name_reference(kinds, value.id)
                return key if key is not None else {"id": value.id}
            case Text(secret=True):
                return {"env": value.variable if isinstance(value, Secret) else self.name_secret(path)}
            case Object(parts=parts) if isinstance(value, dict):
                return {
                    name: self._yaml_data(part, value[name], (*path, name))
                    for name, part in parts.items()
                    if value.get(name) is not None
                }
            case OneOf(tag=tag, forms=forms) if isinstance(value, dict):
                form = forms.get(str(value.get(tag)))
                if form is None:
                    raise UnwritableValueError(f'dpsync does not know the {tag} "{value.get(tag)}"')
                return {tag: value[tag], **self._yaml_data(form, value, path)}
            case List(item_type=of) if isinstance(value, list):
                return [self._yaml_data(of, child, (*path, str(n))) for n, child in enumerate(value)]
            case Table(value_type=values) if isinstance(value, dict):
                return {key: self._yaml_data(values, child, (*path, key)) for key, child in value.items()}
            case Json(may_contain_secrets=True, secrets_are_rare=rarely):
                return self._without_secrets(value, path, looks_secret if rarely else _may_be_secret)
            case Json() if self.json_in_own_file:
                return FileContent(".json", json_text(value))
            case Markdown():
                return self._markdown_file(value)
            case Certificate() if isinstance(value, str):
                return FileContent(".pem", _pem_text(value))
            case LongText() if isinstance(value, str) and ("\n" in value or len(value) > _MAX_INLINE_CHARS):
                return FileContent(".txt", value)
        return value

    def _markdown_file(self, value: Value) -> FileContent:
        """Return the content of a Markdown file for a text or a rich-text Document of the platform.

        Raises UnwritableValueError if Markdown cannot express the Document.
        """
        from dpsync.document import DocumentError, to_markdown

        if isinstance(value, str):
            return FileContent(".md", value)
        try:
            return FileContent(".md", to_markdown(value))
        except DocumentError as error:
            first, *others = error.problems
            count = f" (and {format_count(len(others), 'more problem')})" if others else ""
            raise UnwritableValueError(
                f"Markdown cannot express the document: {first.path} ({first.type}) {first.message}{count}"
            ) from None

    def _without_secrets(
        self, value: Value, path: tuple[str, ...], is_secret: Callable[[str, str], bool]
    ) -> Any:
        """Return a free-form JSON value in which texts that may be secrets are replaced by variables.

        `is_secret` decides by the key and the text.
        """
        if isinstance(value, dict):
            if set(value) == {"env"}:
                raise UnwritableValueError('dpsync would read the key "env" inside the value as a secret')
            return {
                key: self._without_secrets(child, (*path, key), is_secret) for key, child in value.items()
            }
        if isinstance(value, Secret):
            return {"env": value.variable}
        if isinstance(value, list):
            return [self._without_secrets(child, (*path, str(n)), is_secret) for n, child in enumerate(value)]
        # The items of a list have the key of the list.
        key = next((part for part in reversed(path) if not part.isdecimal()), "")
        if isinstance(value, str) and value and is_secret(key, value):
            return {"env": self.name_secret(path)}
        return value

    def _check_readable(self, type_: Type, written: Any) -> None:
        """Raise UnwritableValueError if the configuration reader would not accept YAML data for a type."""
        if isinstance(type_, Json) and isinstance(written, dict) and set(written) == {"file"}:
            raise UnwritableValueError("dpsync would read the value as the name of a file")
        checker = _ValueChecker()
        parsed = type_.parse(checker.node(written), checker)
        if checker.problems or parsed is INVALID:
            raise UnwritableValueError(
                "; ".join(dict.fromkeys(checker.problems)) or "dpsync does not allow this value in the files"
            )


_SECRET_NAME = re.compile(
    r"secret|token|passw|passphrase|key|credential|auth|signature|private|session|cookie", re.I
)
_WORDS = re.compile(r"[^\W\d_]{1,20}(?:[ ._-][^\W\d_]{1,20})*[.!?]?")
_PLAIN_URL = re.compile(r"https?://[a-z0-9.-]+(?::\d+)?(?:/[a-z][a-z-]{0,20})*/?")
_EMAIL = re.compile(r"[^@\s:/]+@[a-z0-9.-]+", re.I)


def _may_be_secret(name: str, value: str) -> bool:
    """Return whether a text with a key may be a secret.

    It may be one if the key sounds like a secret, such as "token", or if the text is anything else than
    words, an e-mail address or a URL without random parts.
    """
    if _SECRET_NAME.search(name) or looks_secret(name, value):
        return True
    return not any(form.fullmatch(value) for form in (_WORDS, _PLAIN_URL, _EMAIL))


def secret_variable(address: Address, field: str, path: tuple[str, ...]) -> str:
    """Return the name of the variable for a secret in a field, such as `ACME_SITES_DOCS_AUTH_TOKEN`.

    `path` are the keys that lead to the secret in the value of the field.
    """
    words = "_".join([*address.segments, field, *path]).upper()
    return "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in words)


def without_defaults(value: Any, absent: Any, shape: Mapping[str, Any] | None = None) -> Any:
    """Return a JSON value without the keys that have their default values; None if nothing is left.

    `absent` is the default, and `shape` the JSON Schema of the value. An object whose schema has required
    keys or several forms is kept or dropped as a whole.
    """
    shape = shape or {}
    is_indivisible = bool(shape.get("required")) or "anyOf" in shape
    if isinstance(value, dict) and isinstance(absent, dict) and not is_indivisible:
        property_shapes = shape.get("properties", {})
        parts = {
            key: without_defaults(child, absent.get(key), property_shapes.get(key))
            for key, child in value.items()
        }
        return {key: child for key, child in parts.items() if child is not None} or None
    return None if value == absent else value


def json_text(value: Any) -> str:
    """Return JSON text in which short, flat collections are on one line."""
    return escape_invisible(_indented_json(value, "")) + "\n"


def _indented_json(value: Any, indent: str) -> str:
    """Return JSON text whose further lines are indented by `indent`; see `json_text`."""
    import json

    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return line
    children = value.values() if isinstance(value, dict) else value
    flat = not any(isinstance(child, dict | list) for child in children)
    if flat and indent and len(line) + len(indent) < _MAX_INLINE_CHARS:
        return f"{{ {line[1:-1]} }}" if isinstance(value, dict) else line
    inner = indent + "  "
    if isinstance(value, list):
        parts = [_indented_json(child, inner) for child in value]
    else:
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_indented_json(child, inner)}"
            for key, child in value.items()
        ]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{closing}"


def _pem_text(value: str) -> str:
    """Return a certificate in PEM format: base64 lines of 64 characters between BEGIN and END lines.

    The platform may return only the base64 text.
    """
    if "-----" in value:
        return value if value.endswith("\n") else value + "\n"
    bare = re.sub(r"\s", "", value)
    lines = [bare[start : start + 64] for start in range(0, len(bare), 64)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])


class _ValueChecker(Struct):
    """Collects the problems that the configuration reader would have with YAML data.

    Implements `kinds.types.Parsing`, so that a type can parse the data. `contents` has the long values by
    name.
    """

    problems: list[str] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)

    def node(self, value: Any) -> nodes.Node:
        """Return the node that the YAML reader would make of YAML data."""
        match value:
            case FileContent(suffix=suffix, text=text):
                self.problems += [problem.message for problem in decode(text, "")[1]]
                name = f"{len(self.contents)}{suffix}"
                self.contents[name] = text
                return self.node({"file": name})
            case dict():
                entries = tuple(
                    (self._scalar_node(key, FORBIDDEN_IN_VALUE), self.node(child))
                    for key, child in value.items()
                )
                return nodes.Mapping(entries, NO_SPAN)
            case list():
                return nodes.Sequence(tuple(self.node(child) for child in value), NO_SPAN)
        return self._scalar_node(value, FORBIDDEN_IN_TEXT)

    def _scalar_node(self, value: Any, refused: re.Pattern[str]) -> nodes.Scalar:
        """Return the node of a key or value. A character that no file may contain becomes a problem."""
        if isinstance(value, str) and (match := refused.search(value)):
            self.problems.append(
                f"the value contains the character U+{ord(match.group()):04X}, which is not allowed"
            )
        return nodes.Scalar(value, NO_SPAN, str(value), plain=not isinstance(value, str))

    def error(self, code: str, message: str, span: Span, hint: str | None = None) -> Invalid:
        """Collect an error of a type."""
        del code, span, hint
        self.problems.append(message)
        return INVALID

    def warning(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Ignore the warning: the import itself decides which values are written as secrets."""

    def unknown_key(self, key: nodes.Scalar, known: list[str], what: str) -> None:
        """Collect the error about a key that a type does not know."""
        del known
        self.problems.append(f'dpsync does not know the key "{key.value}" in {what}')

    def reference(self, kinds: tuple[str, ...], key: str, span: Span) -> Value:
        """Accept any reference: its key was made from an existing entry."""
        del kinds, span
        return LiveId(key)

    def reference_prefix(self, kinds: tuple[str, ...], path: str) -> str:
        """Return the path of the parent in a reference to a nested object."""
        del kinds
        return path.rpartition("/")[0]

    def file(self, path: nodes.Scalar) -> nodes.Node | str | None:
        """Return the long value that was written to a file: JSON as a node, otherwise the text."""
        import json

        text = self.contents[str(path.value)]
        return self.node(json.loads(text)) if str(path.value).endswith(".json") else text

    def text(self, path: nodes.Scalar) -> TextFile | None:
        """Return the text of the long value that was written to a file."""
        return TextFile(str(path.value), self.contents[str(path.value)])
