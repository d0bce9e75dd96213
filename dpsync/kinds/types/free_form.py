"""The type of values that have no form of their own: any JSON, with secrets in it where its kind says so."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from msgspec import field

from dpsync.kinds.types.parsing import (
    INVALID,
    Invalid,
    Misfit,
    Parsing,
    Schema,
    Type,
    expected,
    file_of,
    found_in,
    is_file_reference,
    merge_mappings,
    secret_of,
    unlike,
)
from dpsync.kinds.types.secretive import looks_secret
from dpsync.kinds.types.shapes import conforms, for_editors, in_a_file
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span, plain
from dpsync.model.text import json_text
from dpsync.model.values import RESERVED, Secret, Value, canonical


class Json(Type, frozen=True):
    """Any JSON value, in place or as `{file: …}`. `check` returns what is wrong with it, as sentences.

    With `partial` a member that is not written is not managed, at any depth, and null takes one away. With
    `secrets` a leaf may be `{env: NAME}`; a text in its place that looks like a secret is a warning.
    """

    check: Callable[[Any], list[str]] = field(default=lambda _: [])
    partial: bool = False
    secrets: bool = False
    rarely: bool = False
    """Secrets are rare in it: import writes a text out unless it looks like one."""
    shape: Schema = field(default_factory=dict)
    """A JSON Schema of it, as far as one is known: a type alone, or all that `shapes` checks."""
    tag: str | None = None
    """The member that says of which form an object is: the members of another form go with that."""
    exclusive: tuple[str, ...] = ()
    """Members of which an object has one: writing one takes the others away."""
    platform_default: Any = None
    """What the platform shows where a member is not set: null would only bring that back, and is refused."""
    needed: tuple[str, ...] = ()
    """Members, dotted, that the platform asks for in an object that it is given: null is refused."""

    def parse(self, node: Node, ctx: Parsing) -> Value:
        content = node
        path = file_of(node, ctx)
        if isinstance(path, Invalid):
            return path
        if path is not None:
            found = ctx.file(path)
            if found is None:
                return INVALID
            if isinstance(found, str):
                return ctx.error("DP208", f"{path.value} is neither JSON nor YAML", path.span)
            content = found
        value = self._with_secrets(content, "", ctx) if self.secrets else plain(content)
        wanted = self.shape.get("type")
        if wanted is not None and not isinstance(value, {"object": dict, "array": list}[wanted]):
            what = "a mapping" if wanted == "object" else "a list"
            if path is not None:
                message = f"{path.value} holds {found_in(content)}, expected {what}"
                return ctx.error("DP208", message, node.span)
            return expected(node, what, ctx)
        if self.is_shaped and not conforms(content, self.shape, ctx):
            return INVALID
        wrong = self.check(value)
        at = node.span if path is None else Span.start_of(content.span.file)
        for sentence in wrong:
            ctx.error("DP208", sentence, at)
        return INVALID if self._refused_nulls(content, self.platform_default, "", ctx) or wrong else value

    def merge_overlay(self, below: Node, above: Node) -> Node:
        """Merge at every depth, and drop members that the type or a member of the overlay excludes."""
        return (
            above if is_file_reference(below) or is_file_reference(above) else self._merge_data(below, above)
        )

    def _merge_data(self, below: Node, above: Node) -> Node:
        if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
            return above
        old, new = (node.get(self.tag or "") for node in (below, above))
        if isinstance(old, Scalar) and isinstance(new, Scalar) and old.value != new.value:
            return above
        if any(name in above for name in self.exclusive):
            below = below.with_keys({*below.keys()} - {*self.exclusive})
        return merge_mappings(below, above, lambda _, old, new: self._merge_data(old, new))

    @property
    def is_shaped(self) -> bool:
        """Whether more is known of it than its type."""
        return len(self.shape) > 1

    def _refused_nulls(self, node: Node, defaults: Any, path: str, ctx: Parsing) -> bool:
        """Whether a null stands for a member that cannot be taken away. `defaults`: those at this place."""
        refused = False
        for item in node.items if isinstance(node, Sequence) else ():
            refused |= self._refused_nulls(item, None, path, ctx)
        if not isinstance(node, Mapping):
            return refused
        for key, item in node.entries:
            name = str(key.value)
            default = defaults.get(name) if isinstance(defaults, dict) else None
            at = f"{path}.{name}" if path else name
            if not isinstance(item, Scalar) or item.value is not None:
                refused |= self._refused_nulls(item, default, at, ctx)
            elif default is not None or at in self.needed:
                unmanaged = "delete the key if dpsync should not manage the value"
                hint = f"write the default {json_text(default)}, or {unmanaged}"
                if default is None:
                    hint = f"write a value, or {unmanaged}"
                ctx.error("DP222", f'"{name}" cannot be null', item.span, hint)
                refused = True
        return refused

    def _with_secrets(self, node: Node, name: str, ctx: Parsing) -> Value:
        """The value of a node that stands under a name; items of a list stand under that of the list."""
        match node:
            case Mapping():
                secret = secret_of(node)
                return secret or {
                    str(key.value): self._with_secrets(item, str(key.value), ctx)
                    for key, item in node.entries
                }
            case Sequence():
                return [self._with_secrets(item, name, ctx) for item in node.items]
            case Scalar(value=str(text)) if looks_secret(name, text):
                message = f'"{name}" looks like a secret, and a secret must not be in a file'
                hint = "write { env: NAME }, and put the secret into the environment variable NAME"
                ctx.warning("DP236", message, node.span, hint)
        return plain(node)

    def schema(self) -> Schema:
        if not self.is_shaped:
            return dict(self.shape)
        found: Schema = for_editors(self.shape, self.partial, self.secrets)
        return in_a_file(found)

    def misfit(self, wire: Any) -> Misfit | None:
        expected = {"object": (dict, "an object"), "array": (list, "a list")}.get(self.shape.get("type", ""))
        return unlike(wire, expected[1]) if expected and not isinstance(wire, expected[0]) else None

    def same(self, one: Value, other: Value) -> bool:
        return self._same(one, other) if self.partial or self.secrets else super().same(one, other)

    def _same(self, one: Value, other: Value) -> bool:
        if isinstance(one, Secret):
            return True
        if isinstance(one, dict) and isinstance(other, dict):
            if not self.partial and other.keys() - one.keys():
                return False
            if any(other[name] is not None for name in self._leaving(other, one)):
                return False
            return all(
                self._same(item, other[name]) if name in other else item is None or _only_secret(item)
                for name, item in one.items()
            )
        if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            return all(self._same(a, b) for a, b in zip(one, other, strict=True))
        return canonical(one) == canonical(other)

    def _leaving(self, live: dict[str, Any], wanted: dict[str, Any]) -> set[str]:
        """The members of a live object that go when a wanted one is written over it."""
        if not self.partial:
            return set()
        removed = {name for name, item in wanted.items() if item is None}
        if self.tag is not None and self.tag in wanted and live.get(self.tag) != wanted[self.tag]:
            removed |= live.keys() - wanted.keys()
        if any(wanted.get(name) is not None for name in self.exclusive):
            removed |= set(self.exclusive) - wanted.keys()
        return removed & live.keys()

    def over(self, live: Value, wanted: Value) -> Value:
        return self._over(live, wanted) if self.partial else wanted

    def _over(self, live: Value, wanted: Value) -> Value:
        if isinstance(wanted, list):
            return [self._over(None, item) for item in wanted]
        if not isinstance(wanted, dict):
            return wanted
        kept: dict[str, Value] = {}
        if isinstance(live, dict):
            leaving = self._leaving(live, wanted)
            kept = {name: item for name, item in live.items() if name not in leaving}
        written = {name: item for name, item in wanted.items() if item is not None}
        return kept | {name: self._over(kept.get(name), item) for name, item in written.items()}

    def reverting_value(self, before: Any, after: Any) -> Any:
        """Return `before`. In a partial value, add null for each member that only `after` has."""
        return _with_nulls_for_added_members(before, after) if self.partial else before

    def unread(self, value: Value) -> Value:
        return _only_secret(value) if self.secrets else None

    @property
    def may_be_unread(self) -> bool:
        return self.secrets

    def narrow(self, live: Value, wanted: Value) -> Value:
        if self.secrets:
            return _narrow_hiding(live, wanted, "", self._leaving)
        return _narrow(live, wanted, self._leaving) if self.partial else live

    @property
    def takes_mapping(self) -> bool:
        return True


_Leaving = Callable[[dict[str, Any], dict[str, Any]], set[str]]


def _displayed(live: dict[str, Any], wanted: dict[str, Any], leaving: _Leaving) -> list[str]:
    """The members of a live object that are compared with a wanted one, or go with it."""
    return [*(name for name in wanted if name in live), *sorted(leaving(live, wanted) - wanted.keys())]


def _narrow(live: Value, wanted: Value, leaving: _Leaving) -> Value:
    if isinstance(live, dict) and isinstance(wanted, dict):
        return {
            name: _narrow(live[name], wanted.get(name), leaving) for name in _displayed(live, wanted, leaving)
        }
    return live


NOT_SHOWN = "(hidden, because it may be a secret)"


def _narrow_hiding(live: Value, wanted: Value, name: str, leaving: _Leaving) -> Value:
    """The same where live texts may be secrets: only what is the other side of a plain value is shown."""
    if isinstance(wanted, Secret):
        return wanted
    if isinstance(live, dict) and isinstance(wanted, dict):
        return {
            key: _narrow_hiding(live[key], wanted.get(key), key, leaving)
            for key in _displayed(live, wanted, leaving)
        }
    if isinstance(live, list) and isinstance(wanted, list):
        pairs = list(zip_longest(live, wanted[: len(live)]))
        if _only_secret(wanted) is not None:
            # Something may have come or gone before a secret: nobody knows which of the live ones it is.
            return [
                other if isinstance(other, Secret) or item == other else NOT_SHOWN for item, other in pairs
            ]
        return [_narrow_hiding(item, other, name, leaving) for item, other in pairs]
    if isinstance(live, dict | list) or (isinstance(live, str) and looks_secret(name, live)):
        return NOT_SHOWN
    return live


def _with_nulls_for_added_members(before: Any, after: Any) -> Any:
    if not isinstance(before, dict) or not isinstance(after, dict) or RESERVED & {*before, *after}:
        return before
    removed = {name: None for name, item in after.items() if name not in before and item is not None}
    return removed | {
        name: _with_nulls_for_added_members(item, after.get(name)) for name, item in before.items()
    }


def _only_secret(value: Value) -> Value:
    """A JSON value with its secrets and nothing else, None when it has none."""
    if isinstance(value, Secret):
        return value
    if isinstance(value, dict):
        parts = {name: _only_secret(item) for name, item in value.items()}
    elif isinstance(value, list):
        parts = {str(index): _only_secret(item) for index, item in enumerate(value)}
    else:
        return None
    return {name: item for name, item in parts.items() if item is not None} or None
