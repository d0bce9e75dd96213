"""Define the base of all field types: YAML form, JSON Schema, form in requests, and comparison of values.

A type never knows which kind of object uses it. Values are JSON with `Ref` (reference to an entry), `LiveId`
(id of a live object) and `Secret` inside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from msgspec import Struct

from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span
from dpsync.model.text import did_you_mean
from dpsync.model.urls import hide_credentials
from dpsync.model.values import LiveId, Ref, Secret, Value, canonical_json

Schema = dict[str, Any]


class Invalid:
    """The value of a node that has an error, which was reported."""


INVALID = Invalid()
_EQUAL = frozenset({str, bool, int, Ref, LiveId})
"""Types whose values can be compared with `==`, which is faster than comparing canonical forms."""


class UnexpectedShape(Struct, frozen=True):
    """Why a value in a response has the wrong type (a shape error).

    `member` is the path from the checked value to the wrong one ("rules.0.rule"; "" for the value itself).
    `expected` and `found` are descriptions such as "a text", and never contain a value from the platform.
    """

    member: str
    expected: str
    found: str

    def nested_in(self, member: str | int) -> UnexpectedShape:
        """Return the shape error as seen from the object or list that has the checked value as `member`."""
        return UnexpectedShape(
            f"{member}.{self.member}" if self.member else str(member), self.expected, self.found
        )


def wrong_type(wire: Any, expected: str) -> UnexpectedShape:
    """Return the shape error for a value of the wrong type. `expected` is a description such as "a text"."""
    return UnexpectedShape("", expected, _JSON_WORDS.get(type(wire), "a number"))


ABSENT = "missing"
"""`UnexpectedShape.found` for an absent value."""
_JSON_WORDS = {
    type(None): "null",
    bool: "a boolean",
    str: "a text",
    list: "a list",
    dict: "an object",
}


class TextFile(Struct, frozen=True):
    """A text file of the project, with its name inside the project."""

    name: str
    text: str


class ParseContext(Protocol):
    """What a type needs to parse a node.

    It collects errors and warnings, and resolves references and files.
    """

    def error(self, code: str, message: str, span: Span, hint: str | None = None) -> Invalid:
        """Report an error. Returns INVALID, so that a type can return the call."""

    def warning(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Report something that may be intended, but needs a look."""

    def unknown_key(self, key: Scalar, known: list[str], what: str) -> str | None:
        """Report an unknown key. Return the known key that was probably meant."""

    def reference(self, kinds: tuple[str, ...], key: str, span: Span) -> Value:
        """Return the entry that a local key refers to, as seen from the parsed entry."""

    def reference_prefix(self, kinds: tuple[str, ...], path: str) -> str:
        """Return the part of `KEY/REST` that is the key of an entry, which can itself contain slashes."""

    def file(self, path: Scalar) -> Node | str | None:
        """Return the content of the file in `{file: …}`: a node tree for JSON and YAML, otherwise text."""

    def text(self, path: Scalar) -> TextFile | None:
        """Return the text of the file in `{file: …}`, whatever its format is."""


class Type(Struct, frozen=True):
    """Base of all types: any JSON value, sent and read unchanged."""

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the value of a YAML node. Report errors to `ctx` and return INVALID."""
        del node, ctx
        raise TypeError(f"{type(self).__name__} does not implement parse")

    def merge_overlay(self, lower: Node, overlay: Node) -> Node:
        """Merge an overlay value into a value below: mappings are merged, other values replaced.

        Members of `lower` that the overlay value excludes are dropped.
        """
        return merge_values(lower, overlay)

    def shortest_form(self, long_form: Any, replaced_node: Node | None = None) -> Any:
        """Return the shortest YAML form of a value, which is YAML data in the long form.

        If it replaces a node that is in the long form, it stays long.
        """
        del replaced_node
        return long_form

    def schema(self) -> Schema:
        """Return the JSON Schema of the YAML form."""
        raise TypeError(f"{type(self).__name__} has no schema")

    def encode(self, value: Value) -> Value:
        """Return a value in the form in which it is sent."""
        return value

    def decode(self, wire: Any) -> Value:
        """Return the value for a response value without a shape error."""
        return wire

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        """Return why a value of a response has an unexpected shape, None if `decode` can read it.

        Only JSON types are checked: GitBook may add words and members that dpsync does not know, and limits
        hold only for written values.
        """
        del wire
        return None

    def merge_over_live(self, live: Value, wanted: Value) -> Value:
        """Return the value to send in a request that replaces the whole object, so that nothing is lost.

        Both values are in wire form.
        """
        del live
        return wanted

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether a wanted value and a live value are equal, so that no request is needed."""
        if type(wanted) is type(live) and type(wanted) in _EQUAL:
            return bool(wanted == live)
        return canonical_json(wanted) == canonical_json(live)

    def fold_for_key(self, value: Value) -> Value:
        """Return the form in which the value is compared as part of a natural key."""
        return value

    def entry_key(self, value: Value) -> Value:
        """Return a value as the key of an entry, in the form that dpsync stores and sends."""
        return self.fold_for_key(value)

    def write_only_part(self, value: Value) -> Value:
        """Return the part of a value that the platform never returns, None if there is none."""
        del value
        return None

    @property
    def may_be_write_only(self) -> bool:
        """Whether a value may have a part that the platform never returns."""
        return type(self).write_only_part is not Type.write_only_part

    @property
    def may_be_secret(self) -> bool:
        """Whether a value may have a secret part, at any depth."""
        own = getattr(self, "secret", False) or getattr(self, "may_contain_secrets", False)
        return bool(own) or any(part.may_be_secret for part in _part_types(self))

    def displayable_live(self, live: Value, wanted: Value) -> Value:
        """Return the part of a live value to show beside a wanted value: managed and not secret."""
        del wanted
        return live

    def reverting_value(self, before: Any, after: Any) -> Any:
        """Return the value to write over `after` so that the platform has `before` again."""
        del after
        return before

    @property
    def takes_mapping(self) -> bool:
        """Whether the YAML form may be a mapping with any keys, so that an entry has only one form."""
        return False

    @property
    def referenced_kinds(self) -> tuple[str, ...]:
        """The kinds to which a value may refer."""
        return ()


MergeMember = Callable[[str, Node, Node], Node]
"""Merges one member of a mapping, given its name, the value below and the overlay value."""


def merge_mappings(lower: Mapping, overlay: Mapping, merge: MergeMember) -> Mapping:
    """Merge two YAML mappings. `merge` merges members that both have. The position is that of `lower`."""
    entries = {key.text: (key, item) for key, item in lower}
    for key, item in overlay:
        old_key, old = entries.get(key.text, (key, None))
        value = item if old is None else merge(key.text, old, item)
        entries[key.text] = (key if value is item else old_key), value
    return Mapping(tuple(entries.values()), lower.span)


def merge_values(lower: Node, overlay: Node) -> Node:
    """Merge a YAML value of an environment's overlay into the value that it changes (`lower`).

    For values of unknown type: mappings are merged at every depth. Other values, and references to files
    (`{file: PATH}`), are replaced.
    """
    if not (isinstance(lower, Mapping) and isinstance(overlay, Mapping)):
        return overlay
    if is_file_reference(lower) or is_file_reference(overlay):
        return overlay
    return merge_mappings(lower, overlay, lambda _, old, new: merge_values(old, new))


def is_file_reference(node: Node) -> bool:
    """Return whether a value has the form `{file: PATH}`."""
    return isinstance(node, Mapping) and node.keys() == ["file"]


def file_reference_path(node: Node, ctx: ParseContext) -> Scalar | Invalid | None:
    """Return the path in a YAML value `{file: PATH}`, None for any other value.

    If the path is no text, report an error and return an `Invalid`.
    """
    if not isinstance(node, Mapping) or len(node.entries) != 1 or node.entries[0][0].value != "file":
        return None
    path = node.entries[0][1]
    if isinstance(path, Scalar) and isinstance(path.value, str):
        return path
    return report_wrong_type(path, "the path of a file", ctx)


def report_unknown_word(allowed: Iterable[str], node: Node, ctx: ParseContext) -> Invalid:
    """Report a word that is not among the allowed words, and suggest the nearest one."""
    words = list(allowed)
    nearest = (
        did_you_mean(node.value, words) if isinstance(node, Scalar) and isinstance(node.value, str) else None
    )
    message = f"expected one of {', '.join(words)}, found {describe_node(node)}"
    return ctx.error("DP202", message, node.span, f'did you mean "{nearest}"?' if nearest else None)


_PLAIN = re.compile(r"[\w@.+/-]+")


def report_wrong_type(node: Node, noun: str, ctx: ParseContext, hint: str | None = None) -> Invalid:
    """Report a value of the wrong type, with a hint for common mistakes. `noun` names the expected type."""
    if hint is None and noun == "text" and isinstance(node, Scalar):
        hint = 'to make it a text, put it in quotes ("…")'
    elif (
        hint is None
        and isinstance(node, Sequence)
        and noun != "a list"
        and len(node.items) == 1
        and isinstance(node.items[0], Mapping if noun == "a mapping" else Scalar)
    ):
        hint = "write the value alone, without [ ] and without a dash"
    elif hint is None and noun == "a list" and isinstance(node, Scalar) and _PLAIN.fullmatch(node.text):
        hint = f"write [{node.text}]"
    return ctx.error("DP202", f"expected {noun}, found {describe_node(node)}", node.span, hint)


def describe_node(node: Node) -> str:
    """Return a description of a YAML value for messages, as `the number 3`."""
    match node:
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
        case Scalar(value=None):
            return "nothing (null)"
        case Scalar(value=bool(value)):
            return f"the boolean {str(value).lower()}"
        case Scalar(value=str(value)):
            return f'the text "{hide_credentials(value)}"' if len(value) <= 40 else "a text"
    return f"the number {node.value}"


def parse_secret(node: Node) -> Secret | None:
    """Return the secret that a node `{env: NAME}` names, None for any other node."""
    name = node.get("env") if isinstance(node, Mapping) and len(node.entries) == 1 else None
    if isinstance(name, Scalar) and isinstance(name.value, str) and not name.interpolated:
        return Secret(name.value)
    return None


def _part_types(type_: Any) -> Iterator[Type]:
    """Yield the types of which a type consists, such as the item type of a list."""
    values = [getattr(type_, name) for name in type_.__struct_fields__]
    for value in values:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
        yield from (value_or_type for value_or_type in inner if isinstance(value_or_type, Type))
