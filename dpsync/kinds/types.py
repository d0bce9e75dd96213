"""What a field may hold.

Each type knows its YAML form, its JSON Schema, its wire form and when two values are equal. A type never
knows which kind uses it. Values are JSON with Ref, LiveId and Secret inside (model/values.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, plain
from dpsync.model.span import Span
from dpsync.model.values import LiveId, Ref, Secret, Value, canonical

Schema = dict[str, Any]


class Invalid:
    """The value of a node that was reported as wrong."""


INVALID = Invalid()


class Parsing(Protocol):
    """What a type needs while it reads a node."""

    def error(self, code: str, message: str, span: Span, hint: str | None = None) -> Invalid:
        """Report a finding; returns INVALID so that a type can return the call."""

    def unknown_key(self, key: Scalar, known: list[str], what: str) -> None:
        """Report a key that nobody knows, with the nearest known one."""

    def reference(self, kinds: tuple[str, ...], key: str, span: Span) -> Value:
        """The declared entry that a local key names, seen from the object that is being read."""

    def file(self, path: Scalar) -> Node | str | None:
        """The content of a file named by `{file: …}`: a node tree for JSON and YAML, else text."""


class Type:
    """The base: any JSON value, sent and read as it is."""

    def parse(self, node: Node, ctx: Parsing) -> Value:
        raise TypeError(f"{type(self).__name__} does not say how it is read")

    def schema(self) -> Schema:
        raise TypeError(f"{type(self).__name__} has no schema")

    def encode(self, value: Value) -> Value:
        return value

    def decode(self, wire: Any) -> Value:
        return wire

    def same(self, one: Value, other: Value) -> bool:
        return canonical(one) == canonical(other)

    def fold(self, value: Value) -> Value:
        """The form that is compared when the value is part of a natural key."""
        return value

    @property
    def refers(self) -> tuple[str, ...]:
        """The kinds that a value may refer to."""
        return ()


def expected(node: Node, what: str, ctx: Parsing) -> Invalid:
    """The one sentence for a value of the wrong type."""
    match node:
        case Mapping():
            found = "a mapping"
        case Sequence():
            found = "a list"
        case Scalar(value=None):
            found = "nothing (null)"
        case Scalar(value=bool(value)):
            found = f"the boolean {str(value).lower()}"
        case Scalar(value=str(value)):
            found = f'the text "{value}"' if len(value) <= 40 else "a text"
        case Scalar(value=value):
            found = f"the number {value}"
    hint = 'put it in quotes ("…") to make it text' if what == "text" and isinstance(node, Scalar) else None
    return ctx.error("DP202", f"expected {what}, found {found}", node.span, hint)


_FORMS: dict[str, tuple[re.Pattern[str], str]] = {
    "email": (re.compile(r"[^@\s]+@[^@\s]+"), "an e-mail address"),
    "url": (re.compile(r"https?://[^\s]+"), "a URL that starts with http:// or https://"),
}


@dataclass(frozen=True)
class Text(Type):
    """A text; limits count characters. `secret` accepts `{env: NAME}` and nothing else."""

    least: int = 0
    most: int | None = None
    pattern: str | None = None
    form: Literal["email", "url"] | None = None
    secret: bool = False
    says: str | None = None
    """What the pattern means, in words."""

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if self.secret:
            return self._secret(node, ctx)
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            return expected(node, "text", ctx)
        value = node.value
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            return ctx.error("DP203", f"the text has {len(value)} characters; {self._limits()}", node.span)
        if self.pattern and not re.fullmatch(self.pattern, value):
            return ctx.error(
                "DP204", f'"{value}" is not {self.says or f"of the form {self.pattern}"}', node.span
            )
        if self.form and not _FORMS[self.form][0].fullmatch(value):
            return ctx.error("DP204", f'"{value}" is not {_FORMS[self.form][1]}', node.span)
        return value

    def _limits(self) -> str:
        if self.most is None:
            return f"at least {self.least} are needed"
        return (
            f"{self.least} to {self.most} are allowed" if self.least else f"at most {self.most} are allowed"
        )

    @staticmethod
    def _secret(node: Node, ctx: Parsing) -> Value:
        name = node.get("env") if isinstance(node, Mapping) and len(node.entries) == 1 else None
        if isinstance(name, Scalar) and isinstance(name.value, str) and not name.interpolated:
            return Secret(name.value)
        return ctx.error(
            "DP205",
            "a secret is never written here",
            node.span,
            "write {env: NAME}; it is read when it is sent",
        )

    def schema(self) -> Schema:
        if self.secret:
            return {
                "type": "object",
                "properties": {"env": {"type": "string"}},
                "required": ["env"],
                "additionalProperties": False,
            }
        schema: Schema = {"type": "string"}
        if self.least:
            schema["minLength"] = self.least
        if self.most is not None:
            schema["maxLength"] = self.most
        return schema

    def fold(self, value: Value) -> Value:
        return value.casefold() if self.form == "email" and isinstance(value, str) else value


@dataclass(frozen=True)
class Flag(Type):
    """true or false."""

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        return expected(node, "true or false", ctx)

    def schema(self) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Enum(Type):
    """One of a few words. `nil` is the word for what is null on the wire (a role: `guest`)."""

    words: tuple[str, ...]
    nil: str | None = None

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if isinstance(node, Scalar) and node.value in self._all():
            return node.value
        return expected(node, f"one of {', '.join(self._all())}", ctx)

    def _all(self) -> tuple[str, ...]:
        return (*self.words, self.nil) if self.nil else self.words

    def schema(self) -> Schema:
        return {"enum": list(self._all())}

    def encode(self, value: Value) -> Value:
        return None if self.nil is not None and value == self.nil else value

    def decode(self, wire: Any) -> Value:
        return self.nil if wire is None and self.nil is not None else wire


@dataclass(frozen=True)
class Reference(Type):
    """A local key of one of the kinds, or `{id: …}` for something that is not managed here."""

    kinds: tuple[str, ...]

    def __init__(self, *kinds: str) -> None:
        object.__setattr__(self, "kinds", kinds)

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return ctx.reference(self.kinds, node.value, node.span)
        if isinstance(node, Mapping) and len(node.entries) == 1:
            id = node.get("id")
            if isinstance(id, Scalar) and isinstance(id.value, str) and id.value:
                return LiveId(id.value)
        return expected(node, f"the key of a {' or '.join(self.kinds)}, or {{id: …}}", ctx)

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {"id": {"type": "string"}},
                    "required": ["id"],
                    "additionalProperties": False,
                },
            ]
        }

    def decode(self, wire: Any) -> Value:
        return LiveId(wire) if isinstance(wire, str) else None

    @property
    def refers(self) -> tuple[str, ...]:
        return self.kinds


@dataclass(frozen=True)
class Object(Type):
    """A mapping of named parts. Parts in `required` must be there."""

    parts: MappingType[str, Type]
    required: tuple[str, ...] = ()
    what: str = "this value"

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if not isinstance(node, Mapping):
            return expected(node, "a mapping", ctx)
        value: dict[str, Value] = {}
        for key, item in node.entries:
            part = self.parts.get(str(key.value))
            if part is None:
                ctx.unknown_key(key, list(self.parts), self.what)
            else:
                value[str(key.value)] = part.parse(item, ctx)
        for name in self.required:
            if name not in value:
                ctx.error("DP206", f'"{name}" is missing in {self.what}', node.span)
        return INVALID if any(item is INVALID for item in value.values()) else value

    def schema(self) -> Schema:
        schema: Schema = {
            "type": "object",
            "properties": {name: part.schema() for name, part in self.parts.items()},
            "additionalProperties": False,
        }
        return schema | ({"required": list(self.required)} if self.required else {})

    def _each(self, value: Any, turn: Callable[[Type, Any], Any]) -> Value:
        if not isinstance(value, dict):
            return value
        return {name: turn(part, value[name]) for name, part in self.parts.items() if name in value}

    def encode(self, value: Value) -> Value:
        return self._each(value, lambda part, item: part.encode(item))

    def decode(self, wire: Any) -> Value:
        return self._each(wire, lambda part, item: part.decode(item))

    def same(self, one: Value, other: Value) -> bool:
        """Equal in the parts that `one` declares: what is left out is not managed."""
        if not (isinstance(one, dict) and isinstance(other, dict)):
            return bool(one == other)
        return all(
            name in other and part.same(one[name], other[name])
            for name, part in self.parts.items()
            if name in one
        )

    @property
    def refers(self) -> tuple[str, ...]:
        return tuple(kind for part in self.parts.values() for kind in part.refers)


@dataclass(frozen=True)
class OneOf(Type):
    """A mapping whose `tag` says which parts it has: `{type: rules, rules: […]}`."""

    tag: str
    forms: MappingType[str, Object]

    def _form(self, value: Any) -> Object | None:
        return self.forms.get(value.get(self.tag, "")) if isinstance(value, dict) else None

    def parse(self, node: Node, ctx: Parsing) -> Value:
        tag = node.get(self.tag) if isinstance(node, Mapping) else None
        if not isinstance(node, Mapping) or tag is None:
            return expected(node, f"a mapping with {self.tag}: {' | '.join(self.forms)}", ctx)
        if not isinstance(tag, Scalar) or tag.value not in self.forms:
            return expected(tag, f"one of {', '.join(self.forms)}", ctx)
        rest = Mapping(tuple(entry for entry in node.entries if entry[0].value != self.tag), node.span)
        value = self.forms[str(tag.value)].parse(rest, ctx)
        return value if value is INVALID else {self.tag: tag.value, **value}

    def schema(self) -> Schema:
        forms = []
        for word, form in self.forms.items():
            schema = form.schema()
            schema["properties"] = {self.tag: {"const": word}} | schema["properties"]
            schema["required"] = [self.tag, *schema.get("required", [])]
            forms.append(schema)
        return {"anyOf": forms}

    def encode(self, value: Value) -> Value:
        form = self._form(value)
        return value if form is None else {self.tag: value[self.tag], **form.encode(value)}

    def decode(self, wire: Any) -> Value:
        form = self._form(wire)
        return wire if form is None else {self.tag: wire[self.tag], **form.decode(wire)}

    def same(self, one: Value, other: Value) -> bool:
        form = self._form(one)
        if form is None or self._form(other) is None or one[self.tag] != other[self.tag]:
            return canonical(one) == canonical(other)
        return form.same(one, other)

    @property
    def refers(self) -> tuple[str, ...]:
        return tuple(kind for form in self.forms.values() for kind in form.refers)


@dataclass(frozen=True)
class Many(Type):
    """A list. As a set its order means nothing and nothing may stand in it twice."""

    of: Type
    as_set: bool = False

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if not isinstance(node, Sequence):
            return expected(node, "a list", ctx)
        values = [self.of.parse(item, ctx) for item in node.items]
        if INVALID in values:
            return INVALID
        seen: list[bytes] = []
        for value, item in zip(values, node.items, strict=True):
            if self.as_set and canonical(value) in seen:
                return ctx.error("DP207", "this stands in the list already", item.span)
            seen.append(canonical(value))
        return values

    def schema(self) -> Schema:
        return {"type": "array", "items": self.of.schema()} | ({"uniqueItems": True} if self.as_set else {})

    def encode(self, value: Value) -> Value:
        return [self.of.encode(item) for item in value] if isinstance(value, list) else value

    def decode(self, wire: Any) -> Value:
        return [self.of.decode(item) for item in wire] if isinstance(wire, list) else wire

    def same(self, one: Value, other: Value) -> bool:
        if not (isinstance(one, list) and isinstance(other, list)) or len(one) != len(other):
            return False
        if self.as_set:
            one, other = sorted(one, key=canonical), sorted(other, key=canonical)
        return all(self.of.same(a, b) for a, b in zip(one, other, strict=True))

    @property
    def refers(self) -> tuple[str, ...]:
        return self.of.refers


@dataclass(frozen=True)
class Json(Type):
    """Any JSON value, in place or as `{file: …}`. `check` returns what is wrong with it, as sentences."""

    check: Callable[[Any], list[str]] = field(default=lambda _: [])

    def parse(self, node: Node, ctx: Parsing) -> Value:
        content = node
        if isinstance(node, Mapping) and len(node.entries) == 1 and node.entries[0][0].value == "file":
            path = node.entries[0][1]
            if not isinstance(path, Scalar) or not isinstance(path.value, str):
                return expected(path, "the path of a file", ctx)
            found = ctx.file(path)
            if found is None:
                return INVALID
            if isinstance(found, str):
                return ctx.error("DP208", f"{path.value} is neither JSON nor YAML", path.span)
            content = found
        value = plain(content)
        wrong = self.check(value)
        for sentence in wrong:
            ctx.error("DP208", sentence, node.span)
        return INVALID if wrong else value

    def schema(self) -> Schema:
        return {}


def is_reference(value: Value) -> bool:
    return isinstance(value, Ref | LiveId)
