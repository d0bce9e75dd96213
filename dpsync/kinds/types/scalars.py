"""Types of single values: texts, flags, words, references."""

from __future__ import annotations

import re
from typing import Any, Final, Literal
from urllib.parse import quote

from dpsync.kinds.types.base import (
    Misfit,
    Parsing,
    Schema,
    Type,
    expected,
    found_in,
    one_of,
    secret_of,
    unlike,
)
from dpsync.model.ids import id_fault, written_id_fault
from dpsync.model.nodes import Mapping, Node, Scalar
from dpsync.model.text import allowed, counted
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
"""What stands for a secret that is live."""
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]+")


def as_segment(text: str) -> str:
    """A text as one segment of a URL."""
    if _UNRESERVED.fullmatch(text) and text not in (".", ".."):
        return text
    return quote(text, safe="") if text not in (".", "..") else text.replace(".", "%2E")


class Text(Type, frozen=True):
    """A text; limits count characters. `secret` accepts `{env: NAME}` and nothing else."""

    least: int = 0
    most: int | None = None
    pattern: str | None = None
    form: Literal["email", "url"] | None = None
    secret: bool = False
    meaning: str | None = None
    """What the pattern means, in words."""
    begins: str = ""
    """The character with which every valid text begins, and with which no valid text ends."""
    caseless: bool = False
    """Whether texts are compared without regard to case. They are stored and sent as written."""
    segment: bool = False
    """Whether it is one segment of a URL: any text may be one, but not every one can be read there."""

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if self.secret:
            return self._secret(node, ctx)
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            return expected(node, "text", ctx)
        value = node.value
        if node.span.line < node.span.end_line:  # a block (`title: |`) ends with a line break
            value = value.rstrip("\n")
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            limits = allowed(self.least, self.most, "character")
            message = f"the text has {counted(len(value), 'character')}, but {limits}"
            return ctx.error("DP203", message, node.span)
        if self.pattern and not re.fullmatch(self.pattern, value):
            bare = f"{self.begins}{value.strip(self.begins)}" if self.begins else ""
            hint = f"write {bare}" if bare and re.fullmatch(self.pattern, bare) else None
            return ctx.error(
                "DP204", f'"{value}" is not {self.meaning or f"of the form {self.pattern}"}', node.span, hint
            )
        if self.form and not _FORMS[self.form][0].fullmatch(value):
            _, meaning, mend = _FORMS[self.form]
            if self.form == "url" and value.startswith(("http://", "https://")):
                meaning = "a URL: it " + ("contains a space" if re.search(r"\s", value) else "has no host")
                mend = (
                    "write %20 for a space" if re.search(r"\s", value) else "write it as https://acme.example"
                )
            return ctx.error("DP204", f'"{hide_credentials(value)}" is not {meaning}', node.span, mend)
        if self.form == "url" and has_credentials(value):
            hint = (
                'delete the user name and password before the "@", because everybody who can read the file '
                "or a plan can read the user name and password"
            )
            ctx.warning("DP242", "the URL contains a user name or a password", node.span, hint)
        if self.segment and as_segment(value) != value:
            self._unreadable(value, node, ctx)
        return value

    @staticmethod
    def _unreadable(value: str, node: Node, ctx: Parsing) -> None:
        """A warning: the platform takes it."""
        message = f'"{value}" is "{as_segment(value)}" in URLs'
        if value in (".", ".."):
            message = (
                f'no URL leads to "{value}", because browsers read "{value}" as the name of another folder'
            )
        bare = value.strip("/ ")
        hint = "use only letters, digits and - . _ ~ to keep the URL readable"
        if bare and as_segment(bare) == bare:
            hint = f'write "{bare}", without slashes and spaces around it'
        ctx.warning("DP237", message, node.span, hint)

    @staticmethod
    def _secret(node: Node, ctx: Parsing) -> Value:
        secret = secret_of(node)
        if secret is not None:
            return secret
        return ctx.error(
            "DP205",
            "the secret itself must not be in the file",
            node.span,
            "write {env: NAME}, and put the secret into the environment variable NAME",
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

    def misfit(self, wire: Any) -> Misfit | None:
        return None if isinstance(wire, str) else unlike(wire, "a text")

    def encode(self, value: Value) -> Value:
        """ValueError for what stands for a live secret: it is never sent in its place."""
        if self.secret and not isinstance(value, Secret):
            raise ValueError("dpsync sends a secret only from an environment variable")
        return value

    def decode(self, wire: Any) -> Value:
        """A secret that the platform gives back is forgotten here: nothing behind this can show it."""
        return UNDISCLOSED if self.secret else wire

    def same(self, one: Value, other: Value) -> bool:
        """A secret equals whatever there is: nobody compares it."""
        if self.caseless:
            one, other = self.fold(one), self.fold(other)
        return self.secret or super().same(one, other)

    def narrow(self, live: Value, wanted: Value) -> Value:
        """The name of the variable that a secret comes from stays beside it."""
        return wanted if self.secret and isinstance(wanted, Secret) else live

    def fold(self, value: Value) -> Value:
        folds = self.caseless or self.form == "email"
        return value.casefold() if folds and isinstance(value, str) else value

    def key(self, value: Value) -> Value:
        return value if self.caseless else self.fold(value)

    def unread(self, value: Value) -> Value:
        return value if self.secret else None

    @property
    def may_be_unread(self) -> bool:
        return self.secret


class Page(Text, frozen=True):
    """The id or path of a page. The sibling part `beside` refers to the site space that shows the page."""

    beside: str = ""


_DOMAIN = re.compile(r"(?=.{1,253}$)[^\W_](?:[\w-]{0,61}[^\W_])?(?:\.[^\W_](?:[\w-]{0,61}[^\W_])?)+")


class Domain(Text, frozen=True):
    """A domain name with at least one dot, converted to lower case."""

    def parse(self, node: Node, ctx: Parsing) -> Value:
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
        return wire.lower() if isinstance(wire, str) else wire


_FLAGS = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
"""What people write for a boolean in other files, in any case or in quotes, and how it is written here."""


class Flag(Type, frozen=True):
    """true or false."""

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        meant = _FLAGS.get(node.text.casefold()) if isinstance(node, Scalar) else None
        hint = f"write {meant}" if meant else None
        return ctx.error("DP202", f"expected true or false, found {found_in(node)}", node.span, hint)

    def schema(self) -> Schema:
        return {"type": "boolean"}

    def misfit(self, wire: Any) -> Misfit | None:
        return None if isinstance(wire, bool) else unlike(wire, "a boolean")


class Enum(Type, frozen=True):
    """One of a few words. `nil` is the word for what is null on the wire (a role: `guest`)."""

    words: tuple[str, ...]
    nil: str | None = None

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if isinstance(node, Scalar) and (node.value in self.words or node.value in self._all()):
            return node.value
        return one_of(self._all(), node, ctx)

    def _all(self) -> tuple[str, ...]:
        return (*self.words, self.nil) if self.nil else self.words

    def schema(self) -> Schema:
        return {"enum": list(self._all())}

    def encode(self, value: Value) -> Value:
        return None if self.nil is not None and value == self.nil else value

    def misfit(self, wire: Any) -> Misfit | None:
        fits = isinstance(wire, str) or (wire is None and self.nil is not None)
        return None if fits else unlike(wire, "a text")

    def decode(self, wire: Any) -> Value:
        return self.nil if wire is None and self.nil is not None else wire


class Reference(Type, frozen=True):
    """A local key of one of the kinds, or `{id: …}` for something that is not managed here."""

    kinds: tuple[str, ...]

    @staticmethod
    def to(*kinds: str) -> Reference:
        return Reference(kinds)

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return ctx.reference(self.kinds, node.value, node.span)
        if isinstance(node, Mapping) and len(node.entries) == 1:
            id = node.get("id")
            if isinstance(id, Scalar) and isinstance(id.value, str):
                if fault := written_id_fault(id.value):
                    return ctx.error("DP202", f"expected a GitBook id, found {fault}", id.span)
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

    def misfit(self, wire: Any) -> Misfit | None:
        if not isinstance(wire, str):
            return unlike(wire, "an id")
        fault = id_fault(wire)
        return Misfit("", "an id", fault) if fault else None

    def decode(self, wire: Any) -> Value:
        return LiveId(wire) if isinstance(wire, str) else None

    @property
    def refers(self) -> tuple[str, ...]:
        return self.kinds


class Own(Reference, frozen=True):
    """`own`: one that the platform makes, where there is none yet; or `{id: …}` for one that is there."""

    kinds: tuple[str, ...] = ()
    what: str = "one"

    def parse(self, node: Node, ctx: Parsing) -> Value:
        if isinstance(node, Scalar):
            if node.value == OWN:
                return OWN
            return expected(node, f"{OWN}, or the {{id: …}} of {self.what}", ctx)
        return super().parse(node, ctx)

    def schema(self) -> Schema:
        _, by_id = super().schema()["anyOf"]
        return {"anyOf": [{"const": OWN}, by_id]}

    def same(self, one: Value, other: Value) -> bool:
        return one == OWN or super().same(one, other)


OWN: Final = "own"
"""The word for one that the platform makes: any that is there is as wanted."""
