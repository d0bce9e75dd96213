"""What a type of field is: its YAML form, its JSON Schema, its wire form, and when two values are equal.

A type never knows which kind uses it. Values are JSON with Ref, LiveId and Secret inside (`entries.values`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Sequence_
from typing import Any, Protocol

from msgspec import Struct

from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span
from dpsync.model.text import did_you_mean
from dpsync.model.urls import hide_credentials
from dpsync.model.values import LiveId, Ref, Secret, Value, canonical

Schema = dict[str, Any]


class Invalid:
    """The value of a node that was reported as wrong."""


INVALID = Invalid()
_EQUAL = frozenset({str, bool, int, Ref, LiveId})
"""Two values of one of these types have one canonical form where they are equal, which costs less to tell."""


class Misfit(Struct, frozen=True):
    """A value of an answer that is not of the type that belongs there.

    `member` leads to it from the value that was looked at ("rules.0.rule"; "" for the value itself).
    `expected` and `found` are words of ours: a value of the platform is in neither.
    """

    member: str
    expected: str
    found: str

    def inside(self, member: str | int) -> Misfit:
        """The same misfit, as seen from the value that has this one as a member."""
        return Misfit(f"{member}.{self.member}" if self.member else str(member), self.expected, self.found)


def unlike(wire: Any, expected: str) -> Misfit:
    """What is wrong with a value of the wrong type."""
    return Misfit("", expected, _JSON_WORDS.get(type(wire), "a number"))


MISSING = "missing"
"""What a `Misfit` has found where there is nothing."""
_JSON_WORDS = {
    type(None): "null",
    bool: "a boolean",
    str: "a text",
    list: "a list",
    dict: "an object",
}


class TextFile(Struct, frozen=True):
    """A file of the project as text, under its name inside the project."""

    name: str
    text: str


class Parsing(Protocol):
    """What a type needs while it reads a node."""

    def error(self, code: str, message: str, span: Span, hint: str | None = None) -> Invalid:
        """Report a finding; returns INVALID so that a type can return the call."""

    def warning(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Report what may well be meant, and should be looked at."""

    def unknown_key(self, key: Scalar, known: list[str], what: str) -> str | None:
        """Report a key that nobody knows; returns the known one that was probably meant."""

    def reference(self, kinds: tuple[str, ...], key: str, span: Span) -> Value:
        """The declared entry that a local key names, seen from the object that is being read."""

    def reference_prefix(self, kinds: tuple[str, ...], path: str) -> str:
        """Return the part of `KEY/REST` that is the key of an entry, which can itself contain slashes."""

    def file(self, path: Scalar) -> Node | str | None:
        """The content of a file named by `{file: …}`: a node tree for JSON and YAML, else text."""

    def text(self, path: Scalar) -> TextFile | None:
        """The text of a file named by `{file: …}`, whatever it holds."""


class Type(Struct, frozen=True):
    """The base: any JSON value, sent and read as it is."""

    def parse(self, node: Node, ctx: Parsing) -> Value:
        raise TypeError(f"{type(self).__name__} does not implement parse")

    def merge_overlay(self, below: Node, above: Node) -> Node:
        """Merge the overlay value `above` into `below`: mappings merge, other values are replaced.

        Members of `below` that the overlay value excludes are dropped.
        """
        return merge_values(below, above)

    def short(self, written: Any, replaced: Node | None = None) -> Any:
        """Return the shortest YAML form of a value that is written as YAML data.

        If it replaces a node in the long form, it keeps the long form.
        """
        return written

    def schema(self) -> Schema:
        raise TypeError(f"{type(self).__name__} has no schema")

    def encode(self, value: Value) -> Value:
        return value

    def decode(self, wire: Any) -> Value:
        return wire

    def misfit(self, wire: Any) -> Misfit | None:
        """What is wrong with a value of an answer, None when it may be decoded.

        Only types count: words that nobody knows and further members are right. Limits of what may be
        written do not hold for what is read.
        """
        return None

    def over(self, live: Value, wanted: Value) -> Value:
        """What is sent by a request that replaces all there is, both as they are on the wire."""
        return wanted

    def same(self, one: Value, other: Value) -> bool:
        if type(one) is type(other) and type(one) in _EQUAL:
            return bool(one == other)
        return canonical(one) == canonical(other)

    def fold(self, value: Value) -> Value:
        """The form that is compared when the value is part of a natural key."""
        return value

    def key(self, value: Value) -> Value:
        """Return the value for the key of an entry, in the form that dpsync stores and sends."""
        return self.fold(value)

    def unread(self, value: Value) -> Value:
        """The part of a value that the platform never gives back, None when there is none."""
        return None

    @property
    def may_be_unread(self) -> bool:
        """Whether some value has such a part."""
        return type(self).unread is not Type.unread

    @property
    def may_be_secret(self) -> bool:
        """Whether some value has a part that nobody may see, however deep."""
        own = getattr(self, "secret", False) or getattr(self, "secrets", False)
        return bool(own) or any(one.may_be_secret for one in _types_in(self))

    def narrow(self, live: Value, wanted: Value) -> Value:
        """What of a live value may be shown beside a wanted one: nothing that is not managed, no secret."""
        return live

    def reverting_value(self, before: Any, after: Any) -> Any:
        """Return the value to write over `after` so that the platform has `before` again."""
        return before

    @property
    def takes_mapping(self) -> bool:
        """Whether its YAML form may be a mapping of any keys: then an entry is never shortened *and* long."""
        return False

    @property
    def refers(self) -> tuple[str, ...]:
        """The kinds that a value may refer to."""
        return ()


MergeMember = Callable[[str, Node, Node], Node]
"""Merges one member of a mapping, given its name, the value below and the overlay value."""


def merge_mappings(below: Mapping, above: Mapping, merge: MergeMember) -> Mapping:
    """Merge two mappings into one, with the source position of `below`."""
    entries = {key.text: (key, item) for key, item in below}
    for key, item in above:
        old_key, old = entries.get(key.text, (key, None))
        value = item if old is None else merge(key.text, old, item)
        entries[key.text] = (key if value is item else old_key), value
    return Mapping(tuple(entries.values()), below.span)


def merge_values(below: Node, above: Node) -> Node:
    """Merge the overlay value `above` into `below`, for values of unknown type."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    if is_file_reference(below) or is_file_reference(above):
        return above
    return merge_mappings(below, above, lambda _, old, new: merge_values(old, new))


def is_file_reference(node: Node) -> bool:
    """Return whether a value has the form `{file: PATH}`."""
    return isinstance(node, Mapping) and node.keys() == ["file"]


def file_of(node: Node, ctx: Parsing) -> Scalar | Invalid | None:
    """The path in `{file: PATH}`; None when the node is something else."""
    if not isinstance(node, Mapping) or len(node.entries) != 1 or node.entries[0][0].value != "file":
        return None
    path = node.entries[0][1]
    if isinstance(path, Scalar) and isinstance(path.value, str):
        return path
    return expected(path, "the path of a file", ctx)


def one_of(words: Iterable[str], node: Node, ctx: Parsing) -> Invalid:
    """The same for a word that is none of those that may stand there, with the nearest one."""
    known = list(words)
    nearest = (
        did_you_mean(node.value, known) if isinstance(node, Scalar) and isinstance(node.value, str) else None
    )
    message = f"expected one of {', '.join(known)}, found {found_in(node)}"
    return ctx.error("DP202", message, node.span, f'did you mean "{nearest}"?' if nearest else None)


_PLAIN = re.compile(r"[\w@.+/-]+")


def _is_it(items: Sequence_[Node], what: str) -> bool:
    """Whether a list has only one value, and that may be the one that is expected."""
    return len(items) == 1 and isinstance(items[0], Mapping if what == "a mapping" else Scalar)


def expected(node: Node, what: str, ctx: Parsing, hint: str | None = None) -> Invalid:
    """Report a value of the wrong type."""
    if hint is None and what == "text" and isinstance(node, Scalar):
        hint = 'to make it a text, put it in quotes ("…")'
    elif hint is None and isinstance(node, Sequence) and what != "a list" and _is_it(node.items, what):
        hint = "write the value alone, without [ ] and without a dash"
    elif hint is None and what == "a list" and isinstance(node, Scalar) and _PLAIN.fullmatch(node.text):
        hint = f"write [{node.text}]"
    return ctx.error("DP202", f"expected {what}, found {found_in(node)}", node.span, hint)


def found_in(node: Node) -> str:
    """What a value is, for people."""
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


def secret_of(node: Node) -> Secret | None:
    """What `{env: NAME}` stands for."""
    name = node.get("env") if isinstance(node, Mapping) and len(node.entries) == 1 else None
    if isinstance(name, Scalar) and isinstance(name.value, str) and not name.interpolated:
        return Secret(name.value)
    return None


def _types_in(whole: Any) -> Iterator[Type]:
    """The types that a type is made of."""
    values = [getattr(whole, name) for name in whole.__struct_fields__]
    for value in values:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
        yield from (one for one in inner if isinstance(one, Type))
