"""Define the types of single values: texts, pages, domains, flags, fixed words and references to entries."""

from __future__ import annotations

import re
from typing import Any, Final, Literal
from urllib.parse import quote

from dpsync.kinds.types.base import (
    ParseContext,
    Schema,
    Type,
    UnexpectedShape,
    describe_node,
    parse_secret,
    report_unknown_word,
    report_wrong_type,
    wrong_type,
)
from dpsync.model.ids import declared_id_problem, id_problem
from dpsync.model.nodes import Mapping, Node, Scalar
from dpsync.model.text import format_count, format_limits
from dpsync.model.urls import has_credentials, hide_credentials
from dpsync.model.values import LiveId, Secret, Value

_FORMS: dict[str, tuple[re.Pattern[str], str, str]] = {
    "email": (re.compile(r"[^@\s]+@[^@\s]+"), "an e-mail address", "write it as ada@acme.example"),
    "url": (
        re.compile(r"https?://[^\s]+"),
        "a URL that starts with http:// or https://",
        "begin it with https://",
    ),
}


UNDISCLOSED = "(hidden, because it is a secret)"
"""Replaces the value of a live secret."""
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]+")


def quote_url_segment(text: str) -> str:
    """Return a text as one URL segment, percent-encoded where necessary."""
    if _UNRESERVED.fullmatch(text) and text not in (".", ".."):
        return text
    return quote(text, safe="") if text not in (".", "..") else text.replace(".", "%2E")


class Text(Type, frozen=True):
    """A text with limits in characters. With `secret`, only `{env: NAME}` is allowed."""

    min_length: int = 0
    max_length: int | None = None
    pattern: str | None = None
    format: Literal["email", "url"] | None = None
    secret: bool = False
    pattern_description: str | None = None
    """What the pattern means, in words."""
    first_character: str = ""
    """The character with which every valid text begins, and with which no valid text ends."""
    is_case_insensitive: bool = False
    """Whether texts are compared without regard to case. They are stored and sent as written."""
    is_url_segment: bool = False
    """Whether the text is a URL segment. Any text is allowed, but an unreadable one causes a warning."""

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the text of a YAML value, or INVALID after reporting a wrong length, pattern or format.

        A type for secrets accepts only `{env: NAME}`.
        """
        if self.secret:
            return self._parse_secret(node, ctx)
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            return report_wrong_type(node, "text", ctx)
        value = node.value
        if node.span.line < node.span.end_line:  # a block (`title: |`) ends with a line break
            value = value.rstrip("\n")
        if len(value) < self.min_length or (self.max_length is not None and len(value) > self.max_length):
            limits = format_limits(self.min_length, self.max_length, "character")
            message = f"the text has {format_count(len(value), 'character')}, but {limits}"
            return ctx.error("DP203", message, node.span)
        if self.pattern and not re.fullmatch(self.pattern, value):
            bare = (
                f"{self.first_character}{value.strip(self.first_character)}" if self.first_character else ""
            )
            hint = f"write {bare}" if bare and re.fullmatch(self.pattern, bare) else None
            return ctx.error(
                "DP204",
                f'"{value}" is not {self.pattern_description or f"of the form {self.pattern}"}',
                node.span,
                hint,
            )
        if self.format and not _FORMS[self.format][0].fullmatch(value):
            _, meaning, mend = _FORMS[self.format]
            if self.format == "url" and value.startswith(("http://", "https://")):
                meaning = "a URL: it " + ("contains a space" if re.search(r"\s", value) else "has no host")
                mend = (
                    "write %20 for a space" if re.search(r"\s", value) else "write it as https://acme.example"
                )
            return ctx.error("DP204", f'"{hide_credentials(value)}" is not {meaning}', node.span, mend)
        if self.format == "url" and has_credentials(value):
            hint = (
                'delete the user name and password before the "@", because everybody who can read the file '
                "or a plan can read the user name and password"
            )
            ctx.warning("DP242", "the URL contains a user name or a password", node.span, hint)
        if self.is_url_segment and quote_url_segment(value) != value:
            self._warn_unreadable(value, node, ctx)
        return value

    @staticmethod
    def _warn_unreadable(value: str, node: Node, ctx: ParseContext) -> None:
        """Warn about a text that is unreadable as a segment of a URL. The platform accepts it."""
        message = f'"{value}" is "{quote_url_segment(value)}" in URLs'
        if value in (".", ".."):
            message = (
                f'no URL leads to "{value}", because browsers read "{value}" as the name of another folder'
            )
        bare = value.strip("/ ")
        hint = "use only letters, digits and - . _ ~ to keep the URL readable"
        if bare and quote_url_segment(bare) == bare:
            hint = f'write "{bare}", without slashes and spaces around it'
        ctx.warning("DP237", message, node.span, hint)

    @staticmethod
    def _parse_secret(node: Node, ctx: ParseContext) -> Value:
        """Return the secret of a node `{env: NAME}`. Any other node is an error."""
        secret = parse_secret(node)
        if secret is not None:
            return secret
        return ctx.error(
            "DP205",
            "the secret itself must not be in the file",
            node.span,
            "write {env: NAME}, and put the secret into the environment variable NAME",
        )

    def schema(self) -> Schema:
        """Return the JSON Schema: a text with limits, or `{env: NAME}` for a secret."""
        if self.secret:
            return {
                "type": "object",
                "properties": {"env": {"type": "string"}},
                "required": ["env"],
                "additionalProperties": False,
            }
        schema: Schema = {"type": "string"}
        if self.min_length:
            schema["minLength"] = self.min_length
        if self.max_length is not None:
            schema["maxLength"] = self.max_length
        return schema

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        return None if isinstance(wire, str) else wrong_type(wire, "a text")

    def encode(self, value: Value) -> Value:
        """Return the value. Raises ValueError for the replacement of a live secret, which is never sent."""
        if self.secret and not isinstance(value, Secret):
            raise ValueError("dpsync sends a secret only from an environment variable")
        return value

    def decode(self, wire: Any) -> Value:
        """Return the value, or a replacement of a secret, so that no later code can show it."""
        return UNDISCLOSED if self.secret else wire

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether the texts are equal. A secret equals any value, because secrets are not compared."""
        if self.is_case_insensitive:
            wanted, live = self.fold_for_key(wanted), self.fold_for_key(live)
        return self.secret or super().equals(wanted, live)

    def displayable_live(self, live: Value, wanted: Value) -> Value:
        """Return the live value, or for a secret the name of its environment variable."""
        return wanted if self.secret and isinstance(wanted, Secret) else live

    def fold_for_key(self, value: Value) -> Value:
        """Return the text in lower case if texts of this type are compared without regard to case."""
        folds = self.is_case_insensitive or self.format == "email"
        return value.casefold() if folds and isinstance(value, str) else value

    def entry_key(self, value: Value) -> Value:
        """Return the text as the key of an entry, in lower case for e-mail addresses."""
        return value if self.is_case_insensitive else self.fold_for_key(value)

    def write_only_part(self, value: Value) -> Value:
        """Return a secret, which the platform may not return; None for other texts."""
        return value if self.secret else None

    @property
    def may_be_write_only(self) -> bool:
        return self.secret


class Page(Text, frozen=True):
    """The id or path of a page.

    The sibling part `site_space_part` refers to the site space that shows the page.
    """

    site_space_part: str = ""


_DOMAIN = re.compile(r"(?=.{1,253}$)[^\W_](?:[\w-]{0,61}[^\W_])?(?:\.[^\W_](?:[\w-]{0,61}[^\W_])?)+")


class Domain(Text, frozen=True):
    """A domain name with at least one dot, converted to lower case."""

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return a domain name in lower case."""
        value = super().parse(node, ctx)
        if not isinstance(value, str):
            return value
        if _DOMAIN.fullmatch(value):
            return value.lower()
        message = f'"{value}" is not a domain name'
        return ctx.error(
            "DP204",
            message,
            node.span,
            'write only the domain, such as acme.example, without "https://", "*." or "@"',
        )

    def schema(self) -> Schema:
        return super().schema() | {"pattern": r"^[^\s@/*:.]+(\.[^\s@/*:.]+)+$"}

    def decode(self, wire: Any) -> Value:
        """Return the domain name of a response in lower case."""
        return wire.lower() if isinstance(wire, str) else wire


_FLAGS = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
"""Texts that people write for a boolean, in lower case, and the correct form."""


class Flag(Type, frozen=True):
    """A boolean, `true` or `false`."""

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the boolean of a node. Suggest true or false for words such as `yes`."""
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        meant = _FLAGS.get(node.text.casefold()) if isinstance(node, Scalar) else None
        hint = f"write {meant}" if meant else None
        return ctx.error("DP202", f"expected true or false, found {describe_node(node)}", node.span, hint)

    def schema(self) -> Schema:
        return {"type": "boolean"}

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        return None if isinstance(wire, bool) else wrong_type(wire, "a boolean")


class Enum(Type, frozen=True):
    """One of a few words. `null_word` is the word for a value that is null in requests (a role: `guest`)."""

    words: tuple[str, ...]
    null_word: str | None = None

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the word of a node."""
        if isinstance(node, Scalar) and (node.value in self.words or node.value in self._all_words()):
            return node.value
        return report_unknown_word(self._all_words(), node, ctx)

    def _all_words(self) -> tuple[str, ...]:
        """Return all words that files may contain."""
        return (*self.words, self.null_word) if self.null_word else self.words

    def schema(self) -> Schema:
        """Return the JSON Schema: one of the words."""
        return {"enum": list(self._all_words())}

    def encode(self, value: Value) -> Value:
        """Return the word to send, null for `null_word`."""
        return None if self.null_word is not None and value == self.null_word else value

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        """Return why a response value is no word; unknown words and null for `null_word` are allowed."""
        fits = isinstance(wire, str) or (wire is None and self.null_word is not None)
        return None if fits else wrong_type(wire, "a text")

    def decode(self, wire: Any) -> Value:
        """Return the word of a response, `null_word` for null."""
        return self.null_word if wire is None and self.null_word is not None else wire


class Reference(Type, frozen=True):
    """A reference to an object: the local key of its entry, or `{id: …}` for an object without an entry."""

    kinds: tuple[str, ...]

    @staticmethod
    def to(*kinds: str) -> Reference:
        """Return the type of references to objects of these kinds."""
        return Reference(kinds)

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return a reference to the entry with this key, or the id in `{id: …}`; INVALID after an error."""
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return ctx.reference(self.kinds, node.value, node.span)
        if isinstance(node, Mapping) and len(node.entries) == 1:
            id = node.get("id")
            if isinstance(id, Scalar) and isinstance(id.value, str):
                if fault := declared_id_problem(id.value):
                    return ctx.error("DP202", f"expected a GitBook id, found {fault}", id.span)
                return LiveId(id.value)
        return report_wrong_type(node, f"the key of a {' or '.join(self.kinds)}, or {{id: …}}", ctx)

    def schema(self) -> Schema:
        """Return the JSON Schema: a key, or `{id: …}`."""
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

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        """Return why a response value is no id that can be a segment of a URL."""
        if not isinstance(wire, str):
            return wrong_type(wire, "an id")
        fault = id_problem(wire)
        return UnexpectedShape("", "an id", fault) if fault else None

    def decode(self, wire: Any) -> Value:
        """Return the referenced id, None without a reference."""
        return LiveId(wire) if isinstance(wire, str) else None

    @property
    def referenced_kinds(self) -> tuple[str, ...]:
        return self.kinds


class OwnReference(Reference, frozen=True):
    """`own` for an object that the platform creates if there is none, or `{id: …}` for an existing object."""

    kinds: tuple[str, ...] = ()
    noun: str = "one"

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return `own`, or the id in `{id: …}`."""
        if isinstance(node, Scalar):
            if node.value == OWN:
                return OWN
            return report_wrong_type(node, f"{OWN}, or the {{id: …}} of {self.noun}", ctx)
        return super().parse(node, ctx)

    def schema(self) -> Schema:
        """Return the JSON Schema: `own`, or `{id: …}`."""
        _, by_id = super().schema()["anyOf"]
        return {"anyOf": [{"const": OWN}, by_id]}

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether a live reference fits: `own` fits any object."""
        return wanted == OWN or super().equals(wanted, live)


OWN: Final = "own"
"""The word for an object that the platform creates. Any existing object is fine."""
