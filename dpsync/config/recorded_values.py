"""Parse values recorded in a journal or a saved plan, as if they were in a configuration file.

The journal or plan may be forged. Therefore the declaration of the field decides which values are valid: its
type, its limits, and where a secret or a reference is allowed. Plan markers are first rewritten to the form
that a configuration file uses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.config.yaml_reader import FORBIDDEN_IN_FILE, parse_text
from dpsync.kinds.types import INVALID, Invalid, List, Object, OneOf, ParseContext, Table, TextFile, Type
from dpsync.kinds.types.free_form import HIDDEN_SECRET_TEXT
from dpsync.kinds.types.scalars import UNDISCLOSED
from dpsync.kinds.types.texts import Markdown
from dpsync.model.address import Address
from dpsync.model.ids import is_path_id
from dpsync.model.mask import MASK_TEXT
from dpsync.model.nodes import Mapping, Node, Scalar, Span, node_value
from dpsync.model.values import (
    ENV_MARKER,
    ID_MARKER,
    REF_MARKER,
    LiveId,
    Ref,
    Secret,
    Value,
    leaves,
    unwrap_data,
)

ValuePath = tuple[str, ...]
_INCOMPLETE_VALUE_CODES: Final = frozenset({"DP206", "DP222"})
"""Findings about a missing part of a value: the platform may not have returned it."""


class UnsuitableValueError(Exception):
    """The value is invalid in a configuration file, so dpsync did not record it. The message says why."""


class IncompleteValueError(Exception):
    """The value cannot be restored, because a part is unknown. The message says why."""


def parse_recorded(type_: Type, recorded: Any) -> Value:
    """Return a value from a journal or saved plan in the form that a loaded configuration has.

    References are addresses, not yet resolved to entries. Raises UnsuitableValueError for a value that no
    file may contain, and IncompleteValueError for a value with an unknown part.
    """
    if recorded is None:
        return None
    marked: list[tuple[str, str]] = []
    text = _json_text(_to_file_form(recorded, marked))
    texts = [leaf for leaf in leaves(recorded) if isinstance(leaf, str)]
    if any(MASK_TEXT in text or text in (HIDDEN_SECRET_TEXT, UNDISCLOSED) for text in texts):
        raise IncompleteValueError("dpsync did not record the value, because the value contained a secret")
    if isinstance(type_, Object) and isinstance(recorded, dict) and None in recorded.values():
        empty_field = next(name for name, part in recorded.items() if part is None)
        raise IncompleteValueError(
            f'the field "{empty_field}" had no value, and the API cannot clear the field'
        )
    node, problems = parse_text(text, "")
    parsing = _RecordedParsing([problem.message for problem in problems])
    value = _with_platform_forms(type_).parse(node, parsing) if node is not None else INVALID
    if parsing.problems:
        raise UnsuitableValueError("; ".join(dict.fromkeys(parsing.problems)))
    if parsing.incomplete or value is INVALID:
        raise IncompleteValueError(
            "; ".join(dict.fromkeys(parsing.incomplete))
            or "dpsync cannot read the previous value in the journal"
        )
    _check_markers(marked, value)
    return value


def _to_file_form(recorded: Any, marked: list[tuple[str, str]]) -> Any:
    """Return a recorded value as a file would have it, and append its markers to `marked`.

    `{"dpsync:ref": "acme/teams/docs"}` becomes a text, an id marker becomes `{id: …}`, a secret marker `{env:
    …}`.
    """
    if (data := unwrap_data(recorded)) is not None:
        return {key: _to_file_form(member, marked) for key, member in data.items()}
    if isinstance(recorded, list):
        return [_to_file_form(element, marked) for element in recorded]
    if not isinstance(recorded, dict):
        return recorded
    (marker, name), *others = recorded.items() if recorded else [("", None)]
    if others or marker not in (REF_MARKER, ID_MARKER, ENV_MARKER):
        return {key: _to_file_form(member, marked) for key, member in recorded.items()}
    if not isinstance(name, str) or not name:
        raise UnsuitableValueError(f'"{marker}" needs a text as its value')
    if marker == ID_MARKER and not is_path_id(name):
        raise UnsuitableValueError("the value contains an invalid id")
    marked.append((marker, name))
    return name if marker == REF_MARKER else {"id" if marker == ID_MARKER else "env": name}


def _json_text(written: Any) -> str:
    """Return a value as JSON text that the YAML reader accepts."""
    try:
        text = json.dumps(written, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise UnsuitableValueError("the value contains a number that is not finite") from None
    return FORBIDDEN_IN_FILE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


class _RecordedParsing(Struct):
    """The parsing context for recorded values. Implements `ParseContext` of kinds.types."""

    problems: list[str]
    incomplete: list[str] = field(default_factory=list)

    def reference_prefix(self, kinds: tuple[str, ...], path: str) -> str:
        """Return all segments of a reference but the last one."""
        del kinds
        return path.rpartition("/")[0]

    def error(self, code: str, message: str, span: Span, hint: str | None = None) -> Invalid:
        """Collect a finding about an invalid value, or about a value with a missing part."""
        del span, hint
        (self.incomplete if code in _INCOMPLETE_VALUE_CODES else self.problems).append(message)
        return INVALID

    def warning(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Ignore the warning: the platform accepted the value."""

    def unknown_key(self, key: Scalar, known: list[str], location: str) -> str | None:
        """Collect the finding, without a suggestion."""
        del known
        self.problems.append(f'unknown key "{key.value}" in {location}')
        return None

    def reference(self, kinds: tuple[str, ...], key: str, span: Span) -> Value:
        """Return a reference to an address, which need not exist."""
        del kinds, span
        return Ref(Address.parse(key))

    def file(self, path: Scalar) -> Node | str | None:
        """Refuse a value from a file, because a journal never contains one."""
        del path
        self.problems.append("a recorded value cannot refer to a file")
        return None

    def text(self, path: Scalar) -> TextFile | None:
        """Refuse a text from a file, because a journal never contains one."""
        del path
        self.problems.append("a recorded value cannot refer to a file")
        return None


class _RichText(Markdown, frozen=True):
    """Markdown, or a platform document that Markdown cannot express."""

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return a platform document unchanged, and parse anything else as Markdown."""
        if isinstance(node, Mapping) and self.shape_error(node_value(node)) is None:
            return node_value(node)
        return super().parse(node, ctx)


class _NullablePart(Object, frozen=True, dict=True):
    """An object inside a list or another object, always recorded as a whole: null means an unset part."""

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Parse the object without its null members, which stand for unset parts."""
        if isinstance(node, Mapping):
            entries_with_value = (
                (key, member)
                for key, member in node.entries
                if not isinstance(member, Scalar) or member.value is not None
            )
            node = Mapping(tuple(entries_with_value), node.span)
        return super().parse(node, ctx)


def _with_platform_forms(type_: Type) -> Type:
    """Return a field type that also accepts the forms in which only the platform writes a value.

    These are rich-text Documents in place of Markdown, and null for unset parts of an object.
    """
    match type_:
        case Markdown():
            return _RichText()
        case Object(parts=parts):
            extended_parts = {name: _with_platform_forms(part) for name, part in parts.items()}
            return _NullablePart(extended_parts, type_.required, type_.noun, type_.exactly_one)
        case OneOf(forms=forms):
            extended_forms = {word: _with_platform_forms(form) for word, form in forms.items()}
            return replace(type_, forms=extended_forms)
        case List(item_type=item_type):
            return replace(type_, item_type=_with_platform_forms(item_type))
        case Table(value_type=value_type):
            return replace(type_, value_type=_with_platform_forms(value_type))
    return type_


def _check_markers(marked: list[tuple[str, str]], value: Value) -> None:
    """Raise UnsuitableValueError unless a parsed value has exactly the references and secrets `marked`.

    Otherwise ordinary data of the journal was read as a reference or secret.
    """
    markers = []
    for leaf in leaves(value):
        match leaf:
            case Ref(address):
                markers.append((REF_MARKER, str(address)))
            case LiveId(id):
                markers.append((ID_MARKER, id))
            case Secret(env):
                markers.append((ENV_MARKER, env))
    if sorted(markers) == sorted(marked):
        return
    marker, name = next((pair for pair in marked if pair not in markers), None) or markers[0]
    description = f"a secret from {name}" if marker == ENV_MARKER else f"a reference to {name}"
    raise UnsuitableValueError(f"{description} is not allowed here")


def check_secrets(value: Value, today: Value) -> None:
    """Raise UnsuitableValueError if `value` has a secret that `today` does not have at the same path.

    `value` comes from a journal, and `today` from the present files. Otherwise a forged journal could send
    any environment variable to the platform.
    """
    today_secrets = dict(_secrets(today, ()))
    for path, name in _secrets(value, ()):
        if today_secrets.get(path) != name:
            location = f"{'.'.join(path)}: " if path else ""
            raise UnsuitableValueError(
                f"{location}your files do not read this value from the environment variable {name}"
            )


def _secrets(value: Value, path: ValuePath) -> Iterator[tuple[ValuePath, str]]:
    """Yield the path in the value and the variable name of each secret."""
    if isinstance(value, Secret):
        yield path, value.variable
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _secrets(member, (*path, str(name)))
    elif isinstance(value, list | tuple):
        for number, member in enumerate(value):
            yield from _secrets(member, (*path, str(number)))
