"""Define the types of free-form JSON values and visitor conditions, and recognize secrets in them.

`Json` is the type of values without a declared form. `looks_secret` guesses by the name, a known token format
or randomness whether a text is a secret; the guess is only for warnings and hidden output. `Condition` is an
expression such as `visitor.claims.isBeta`, of which only the claim names are read. `VisitorSchema` is the
JSON Schema of these claims.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, Final

from msgspec import field

from dpsync.kinds.types.base import (
    INVALID,
    Invalid,
    ParseContext,
    Schema,
    Type,
    UnexpectedShape,
    describe_node,
    file_reference_path,
    is_file_reference,
    merge_mappings,
    parse_secret,
    report_wrong_type,
    wrong_type,
)
from dpsync.kinds.types.scalars import Text
from dpsync.kinds.types.schemas import conforms, editor_schema, value_or_file_schema
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span, node_value
from dpsync.model.text import did_you_mean, json_text
from dpsync.model.values import MARKERS, Secret, Value, canonical_json

SECRET_NAME_ENDINGS: Final = frozenset({
    "token", "tokens", "secret", "secrets", "password", "passwords", "passwd", "pwd", "passphrase",
    "passcode", "credential", "credentials", "apikey", "apikeys", "authorization", "bearer", "dsn",
})  # fmt: skip
"""Last words of names of secrets: accessToken, SLACK_SECRET."""
SECRET_KEY_PREFIXES: Final = frozenset({
    "api", "private", "secret", "access", "signing", "encryption", "auth", "service", "master", "account",
    "app", "client", "deploy", "license", "shared",
})  # fmt: skip
"""Words before "key" in names of secrets: privateKey, api-key."""
_HARMLESS_VALUES: Final = frozenset({
    "none", "null", "true", "false", "on", "off", "yes", "no", "auto", "enabled", "disabled", "required",
    "optional", "default", "bearer", "basic",
})  # fmt: skip

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_PATTERNS: Final = re.compile(
    r"xox[a-z]-[\w-]{8,}"  # tokens of services that begin alike
    r"|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|npm_\w{16,}"
    r"|[sr]k_(live|test)_\w{8,}|sk-[\w-]{16,}|\bSG\.[\w-]{16,}"
    r"|\b(AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.?"  # a JSON Web Token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b(Bearer|Basic)\s+[\w.~+/=-]{8,}"
    r"|://[^\s/@:]*:[^\s/@]+@"  # a password in a URL
    r"|[?&](\w*(token|secret|password|signature)|sig|key|api_?key|access_?key)=[^&\s]{6,}"
    r"|hooks\.slack\.com/services/\w",
    re.IGNORECASE,
)
_RANDOM_CANDIDATE: Final = re.compile(
    r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9]{16,}|[A-Za-z0-9+/]{20,}={1,2})(?![A-Za-z0-9+/=])"
)
_LETTER_DIGIT_CHANGE: Final = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_MIN_LETTER_DIGIT_CHANGES: Final = 3
"""Minimum number of changes between letters and digits in a random text. Names have one or two."""
_MIN_ENTROPY: Final = 3.0
"""Minimum entropy of a random text, in bits per character."""


def looks_secret(name: str, text: str) -> bool:
    """Return whether a text with this name is probably a secret, which should be `{env: …}` instead."""
    stripped = text.strip()
    if not stripped or stripped.lower() in _HARMLESS_VALUES or re.fullmatch(r"\d{1,5}", stripped):
        return False
    return (
        _is_secret_name(name)
        or bool(_SECRET_PATTERNS.search(stripped))
        or any(map(_is_random, _RANDOM_CANDIDATE.findall(stripped)))
    )


def _is_secret_name(name: str) -> bool:
    """Return whether a name, such as `apiKey`, is typical of a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words:
        return False
    previous_word = words[-2] if len(words) > 1 else ""
    return words[-1] in SECRET_NAME_ENDINGS or (
        words[-1] in ("key", "keys") and previous_word in SECRET_KEY_PREFIXES
    )


def _is_random(piece: str) -> bool:
    """Return whether a part of a text looks random, as API keys and other secrets do.

    In such a text, letters and digits alternate often, and the entropy (bits per character) is high. A text
    with such a part is probably a secret that somebody wrote into a file by mistake.
    """
    if len(_LETTER_DIGIT_CHANGE.findall(piece)) < _MIN_LETTER_DIGIT_CHANGES:
        return False
    shares = [count / len(piece) for count in Counter(piece).values()]
    return -sum(share * math.log2(share) for share in shares) >= _MIN_ENTROPY


class Json(Type, frozen=True):
    """Any JSON value, inline or as `{file: …}`. `find_faults` returns its faults as sentences.

    With `is_partial`, members that are not written are not managed, at any depth, and null removes a member.
    With `may_contain_secrets`, a leaf may be `{env: NAME}`, and a text that looks like a secret causes a
    warning.
    """

    find_faults: Callable[[Any], list[str]] = field(default=lambda _: [])
    is_partial: bool = False
    may_contain_secrets: bool = False
    secrets_are_rare: bool = False
    """Whether secrets are rare, so that import writes a text unless the text looks like a secret."""
    json_schema: Schema = field(default_factory=dict)
    """A JSON Schema of the value, as far as known: only a type, or everything that `conforms` checks."""
    tag: str | None = None
    """The member that selects the form of an object. Changing it removes the members of the old form."""
    exclusive_members: tuple[str, ...] = ()
    """Members of which an object has only one. Writing one removes the others."""
    platform_default: Any = None
    """The platform's value of members that are not set. For these, null is refused: it would restore it."""
    required_members: tuple[str, ...] = ()
    """Dotted paths of members that the platform requires in a written object, so that null is refused."""

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the JSON value of a YAML value, or of the file that it names; INVALID after an error.

        The value must conform to the JSON Schema of the type, and must not have a null where null would
        remove a member that cannot be removed.
        """
        content = node
        path = file_reference_path(node, ctx)
        if isinstance(path, Invalid):
            return path
        if path is not None:
            file_content = ctx.file(path)
            if file_content is None:
                return INVALID
            if isinstance(file_content, str):
                return ctx.error("DP208", f"{path.value} is neither JSON nor YAML", path.span)
            content = file_content
        value = self._with_secrets(content, "", ctx) if self.may_contain_secrets else node_value(content)
        required_type = self.json_schema.get("type")
        if required_type is not None and not isinstance(
            value, {"object": dict, "array": list}[required_type]
        ):
            noun = "a mapping" if required_type == "object" else "a list"
            if path is not None:
                message = f"{path.value} holds {describe_node(content)}, expected {noun}"
                return ctx.error("DP208", message, node.span)
            return report_wrong_type(node, noun, ctx)
        if self.is_shaped and not conforms(content, self.json_schema, ctx):
            return INVALID
        faults = self.find_faults(value)
        span = node.span if path is None else Span.start_of(content.span.file)
        for sentence in faults:
            ctx.error("DP208", sentence, span)
        return (
            INVALID
            if self._report_refused_nulls(content, self.platform_default, "", ctx) or faults
            else value
        )

    def merge_overlay(self, lower: Node, overlay: Node) -> Node:
        """Merge at every depth, and drop members that the type or a member of the overlay excludes."""
        return (
            overlay
            if is_file_reference(lower) or is_file_reference(overlay)
            else self._merge_data(lower, overlay)
        )

    def _merge_data(self, lower: Node, overlay: Node) -> Node:
        """Merge a YAML value of an environment's overlay into the value that it changes (`lower`).

        An object with another `tag` (the member that names its form) replaces the whole object. If the
        overlay has one of the exclusive members, the other ones are dropped.
        """
        if not (isinstance(lower, Mapping) and isinstance(overlay, Mapping)):
            return overlay
        old_tag, new_tag = (node.get(self.tag or "") for node in (lower, overlay))
        if isinstance(old_tag, Scalar) and isinstance(new_tag, Scalar) and old_tag.value != new_tag.value:
            return overlay
        if any(name in overlay for name in self.exclusive_members):
            lower = lower.with_keys({*lower.keys()} - {*self.exclusive_members})
        return merge_mappings(lower, overlay, lambda _, old, new: self._merge_data(old, new))

    @property
    def is_shaped(self) -> bool:
        """Whether the schema has more than a type."""
        return len(self.json_schema) > 1

    def _report_refused_nulls(self, node: Node, defaults: Any, path: str, ctx: ParseContext) -> bool:
        """Report each null for a member that cannot be removed, and return whether there is one.

        `defaults` are the platform's defaults at `path`.
        """
        refused = False
        for item in node.items if isinstance(node, Sequence) else ():
            refused |= self._report_refused_nulls(item, None, path, ctx)
        if not isinstance(node, Mapping):
            return refused
        for key, item in node.entries:
            name = str(key.value)
            default = defaults.get(name) if isinstance(defaults, dict) else None
            member_path = f"{path}.{name}" if path else name
            if not isinstance(item, Scalar) or item.value is not None:
                refused |= self._report_refused_nulls(item, default, member_path, ctx)
            elif default is not None or member_path in self.required_members:
                unmanaged = "delete the key if dpsync should not manage the value"
                hint = f"write the default {json_text(default)}, or {unmanaged}"
                if default is None:
                    hint = f"write a value, or {unmanaged}"
                ctx.error("DP222", f'"{name}" cannot be null', item.span, hint)
                refused = True
        return refused

    def _with_secrets(self, node: Node, name: str, ctx: ParseContext) -> Value:
        """Return the value of a node, in which `{env: NAME}` is a secret. Warn about texts that look secret.

        `name` is the name of the member. Items of a list have the name of the list.
        """
        match node:
            case Mapping():
                secret = parse_secret(node)
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
        return node_value(node)

    def schema(self) -> Schema:
        """Return the JSON Schema for editors: the value, or a reference to a file."""
        if not self.is_shaped:
            return dict(self.json_schema)
        schema: Schema = editor_schema(self.json_schema, self.is_partial, self.may_contain_secrets)
        return value_or_file_schema(schema)

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        """Return why a response value must not be decoded: only the type at the top level is checked."""
        expected = {"object": (dict, "an object"), "array": (list, "a list")}.get(
            self.json_schema.get("type", "")
        )
        return wrong_type(wire, expected[1]) if expected and not isinstance(wire, expected[0]) else None

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether a live value has everything that is wanted. A secret equals any value."""
        return (
            self._same(wanted, live)
            if self.is_partial or self.may_contain_secrets
            else super().equals(wanted, live)
        )

    def _same(self, wanted: Value, live: Value) -> bool:
        """Return whether a part of a live value needs no change to become the wanted part.

        A secret equals any value, because GitBook does not return it. With `is_partial`, members that the
        wanted value does not have are not managed, except those that disappear when it is written.
        """
        if isinstance(wanted, Secret):
            return True
        if isinstance(wanted, dict) and isinstance(live, dict):
            if not self.is_partial and live.keys() - wanted.keys():
                return False
            if any(live[name] is not None for name in self._removed_members(live, wanted)):
                return False
            return all(
                self._same(item, live[name]) if name in live else item is None or _secret_parts(item)
                for name, item in wanted.items()
            )
        if isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
            return all(self._same(a, b) for a, b in zip(wanted, live, strict=True))
        return canonical_json(wanted) == canonical_json(live)

    def _removed_members(self, live: dict[str, Any], wanted: dict[str, Any]) -> set[str]:
        """Return the members of a live object that disappear when a partial wanted object is written over it.

        These are members with null, all others if the `tag` (the form of the object) changes, and the
        exclusive members if another one of them is written.
        """
        if not self.is_partial:
            return set()
        removed = {name for name, item in wanted.items() if item is None}
        if self.tag is not None and self.tag in wanted and live.get(self.tag) != wanted[self.tag]:
            removed |= live.keys() - wanted.keys()
        if any(wanted.get(name) is not None for name in self.exclusive_members):
            removed |= set(self.exclusive_members) - wanted.keys()
        return removed & live.keys()

    def merge_over_live(self, live: Value, wanted: Value) -> Value:
        """Return the value to send; a partial value is merged with the members that nobody manages."""
        return self._merge_over_live(live, wanted) if self.is_partial else wanted

    def _merge_over_live(self, live: Value, wanted: Value) -> Value:
        """Return the value to send: the live members that the files do not manage, and the wanted members.

        Members with null are removed. Lists are replaced as a whole.
        """
        if isinstance(wanted, list):
            return [self._merge_over_live(None, item) for item in wanted]
        if not isinstance(wanted, dict):
            return wanted
        unmanaged: dict[str, Value] = {}
        if isinstance(live, dict):
            removed = self._removed_members(live, wanted)
            unmanaged = {name: item for name, item in live.items() if name not in removed}
        written = {name: item for name, item in wanted.items() if item is not None}
        return unmanaged | {
            name: self._merge_over_live(unmanaged.get(name), item) for name, item in written.items()
        }

    def reverting_value(self, before: Any, after: Any) -> Any:
        """Return `before`. In a partial value, add null for each member that only `after` has."""
        return _with_nulls_for_added_members(before, after) if self.is_partial else before

    def write_only_part(self, value: Value) -> Value:
        """Return the secrets in a value, None if it has none."""
        return _secret_parts(value) if self.may_contain_secrets else None

    @property
    def may_be_write_only(self) -> bool:
        return self.may_contain_secrets

    def displayable_live(self, live: Value, wanted: Value) -> Value:
        """Return the managed part of a live value, with texts hidden that may be secrets."""
        if self.may_contain_secrets:
            return _displayable_without_secrets(live, wanted, "", self._removed_members)
        return _displayable_part(live, wanted, self._removed_members) if self.is_partial else live

    @property
    def takes_mapping(self) -> bool:
        return True


_RemovedMembers = Callable[[dict[str, Any], dict[str, Any]], set[str]]


def _displayed_members(
    live: dict[str, Any], wanted: dict[str, Any], removed_members: _RemovedMembers
) -> list[str]:
    """Return the live members that are compared with a wanted object, or that disappear with it."""
    return [
        *(name for name in wanted if name in live),
        *sorted(removed_members(live, wanted) - wanted.keys()),
    ]


def _displayable_part(live: Value, wanted: Value, removed_members: _RemovedMembers) -> Value:
    """Return the part of a live value that is compared with a wanted value."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        return {
            name: _displayable_part(live[name], wanted.get(name), removed_members)
            for name in _displayed_members(live, wanted, removed_members)
        }
    return live


HIDDEN_SECRET_TEXT = "(hidden, because it may be a secret)"  # noqa: S105 (a text, no secret)


def _displayable_without_secrets(
    live: Value, wanted: Value, name: str, removed_members: _RemovedMembers
) -> Value:
    """Return the part of a value on GitBook to show beside the wanted value, with possible secrets hidden.

    Only the members that are compared are shown. `name` is the name of the member, since names such as
    `apiKey` suggest a secret.
    """
    if isinstance(wanted, Secret):
        return wanted
    if isinstance(live, dict) and isinstance(wanted, dict):
        return {
            key: _displayable_without_secrets(live[key], wanted.get(key), key, removed_members)
            for key in _displayed_members(live, wanted, removed_members)
        }
    if isinstance(live, list) and isinstance(wanted, list):
        pairs = list(zip_longest(live, wanted[: len(live)]))
        if _secret_parts(wanted) is not None:
            # Items may have been added or removed before a secret, so any live item may be the secret.
            return [
                other if isinstance(other, Secret) or item == other else HIDDEN_SECRET_TEXT
                for item, other in pairs
            ]
        return [_displayable_without_secrets(item, other, name, removed_members) for item, other in pairs]
    if isinstance(live, dict | list) or (isinstance(live, str) and looks_secret(name, live)):
        return HIDDEN_SECRET_TEXT
    return live


def _with_nulls_for_added_members(before: Any, after: Any) -> Any:
    """Return the value before, with null for each member that only the value after has, at any depth."""
    if not isinstance(before, dict) or not isinstance(after, dict) or MARKERS & {*before, *after}:
        return before
    removed = {name: None for name, item in after.items() if name not in before and item is not None}
    return removed | {
        name: _with_nulls_for_added_members(item, after.get(name)) for name, item in before.items()
    }


def _secret_parts(value: Value) -> Value:
    """Return a JSON value reduced to the secrets (`{env: NAME}`) in it, None if it has none.

    Lists become mappings by index, so that each secret keeps its place.
    """
    if isinstance(value, Secret):
        return value
    if isinstance(value, dict):
        parts = {name: _secret_parts(item) for name, item in value.items()}
    elif isinstance(value, list):
        parts = {str(index): _secret_parts(item) for index, item in enumerate(value)}
    else:
        return None
    return {name: item for name, item in parts.items() if item is not None} or None


_QUOTED = re.compile(r"""(?<!\[)("[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')""")
_CLAIM = re.compile(r"""\bvisitor\.claims((?:\.[A-Za-z_$][\w$-]*|\[(?:"[^"]*"|'[^']*')\])+)""")
_PART = re.compile(r"""\.([\w$-]+)|\[["']([^"']*)["']\]""")


class Condition(Text, frozen=True):
    """An expression that selects the visitors who can see an object."""


class VisitorSchema(Json, frozen=True):
    """The JSON Schema of the claims that conditions of a site may use."""


def claim_paths(condition: str) -> Iterator[tuple[str, ...]]:
    """Yield the path of each claim in a condition, such as ("unsigned", "plan") for a nested claim."""
    for claim in _CLAIM.finditer(_QUOTED.sub('""', condition)):
        yield tuple(name or quoted for name, quoted in _PART.findall(claim[1]))


def unknown_claim(path: tuple[str, ...], schema: Any) -> tuple[str, str] | None:
    """Return (shortest undefined start of a claim path, hint), or None if the schema defines the claim.

    A name after a text, a number or a list is a property of the value (such as `length`), not a claim.
    """
    current = schema
    for depth, name in enumerate(path):
        properties = current.get("properties") if isinstance(current, dict) else None
        if not isinstance(properties, dict):
            return None
        if name not in properties:
            nearest = did_you_mean(name, properties)
            names = ", ".join(sorted(properties)) or "no claims"
            hint = f'did you mean "{nearest}"?' if nearest else f"the schema defines: {names}"
            return ".".join(path[: depth + 1]), hint
        current = properties[name]
    return None
