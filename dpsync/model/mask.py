"""Mask secret values in texts and models, in each form in which a platform may repeat them.

A `Mask` holds the secret values. Its repr does not show them, and it is never saved.
"""

from __future__ import annotations

import base64
import html
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_origin
from urllib.parse import quote, quote_plus

from dpsync.model.deferred import OMIT_DEFERRED, LazyMapping
from dpsync.model.text import json_text
from dpsync.model.urls import mask_passwords

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo


M = TypeVar("M", bound="BaseModel")

MASK_TEXT: Final = "[secret]"
MIN_SECRET_CHARS: Final = 6
"""Characters of a value that is looked for everywhere. A shorter one stands in too many other words."""
_MIN_BASE64_CHARS: Final = 8
"""Characters of base64, for six bytes: the least that is looked for."""
_MIN_LINE_CHARS: Final = 16
"""Characters of one line of a longer secret that is looked for by itself, such as those of a private key."""


class Mask:
    """A callable that returns a text with secret values, and passwords in URLs, replaced by `[secret]`.

    Threads may share a mask. Values may be added later.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._secret_forms: tuple[str, ...] = ()
        self.add(values)

    def __repr__(self) -> str:
        return "Mask(hidden)"

    def add(self, values: Iterable[str]) -> None:
        """Add secret values, in all forms in which they may be written."""
        forms = {form for value in values for form in _secret_forms(value)}
        with self._lock:
            if not forms <= set(self._secret_forms):
                self._secret_forms = tuple(
                    sorted({*self._secret_forms, *forms}, key=lambda form: (-len(form), form))
                )

    def __call__(self, text: str) -> str:
        for form in self._secret_forms:
            if form in text:
                text = text.replace(form, MASK_TEXT)
        return mask_passwords(text, MASK_TEXT)

    def mask_model(self, value: M) -> M:
        """Return a model with every text masked, also keys of data. Texts that the schema fixes stay.

        Lazy mappings are masked when they are computed.
        """
        masked: M = self.mask_data(value) if self._contains_secret(value) else self._mask_deferred(value)
        return masked

    def _contains_secret(self, value: Any) -> bool:
        """Return whether a secret is in a model or in data. Lazy mappings are not computed for this."""
        serialized = json_text(value, context=OMIT_DEFERRED)
        return self(serialized) != serialized

    def _mask_deferred(self, value: M) -> M:
        """Return a model with its lazy mappings masked later, when they are computed.

        The data that the model already has contain no secret (`_contains_secret`), so they stay.
        """
        masked_parts: dict[str, Any] = {}
        for name in type(value).model_fields:
            part = getattr(value, name)
            if isinstance(part, LazyMapping):
                masked_parts[name] = part.map_lazily(
                    lambda mapping: self.mask_data(mapping) if self._contains_secret(mapping) else mapping
                )
            elif _model_fields(part) is not None and (masked_part := self._mask_deferred(part)) is not part:
                masked_parts[name] = masked_part
        return value.model_copy(update=masked_parts) if masked_parts else value

    def mask_data(self, value: Any) -> Any:
        """Return data of any shape with every text masked."""
        if isinstance(value, str):
            return self(value)
        if (fields := _model_fields(value)) is not None:
            text_fields = (
                name for name, field in fields.items() if get_origin(field.annotation) is not Literal
            )
            masked = value.model_copy(
                update={name: self.mask_data(getattr(value, name)) for name in text_fields}
            )
            after_masking = getattr(masked, "after_masking", None)
            return masked if after_masking is None else after_masking(value)
        if isinstance(value, Mapping):
            return {self.mask_data(key): self.mask_data(member) for key, member in value.items()}
        if isinstance(value, tuple | list):
            return type(value)(self.mask_data(item) for item in value)
        return value


def _model_fields(value: Any) -> Mapping[str, FieldInfo] | None:
    """Return the fields of a model; None for other values. A command without models imports no pydantic."""
    fields: Mapping[str, FieldInfo] | None = getattr(type(value), "model_fields", None)
    return fields


def _secret_forms(value: str) -> Iterator[str]:
    """Yield the forms in which a secret may appear in a text, so that all can be masked.

    The forms are: unchanged, escaped, percent-encoded and in base64, each for the whole secret, the secret
    without spaces around it, and each long line of it.
    """
    stripped = value.strip()
    lines = [line.strip() for line in stripped.splitlines()] if "\n" in stripped else []
    for text in {value, stripped, *(line for line in lines if len(line) >= _MIN_LINE_CHARS)}:
        if len(text) < MIN_SECRET_CHARS:
            continue
        escaped = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]}
        shown_by_terminal = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
        escaped |= {json_text(text)[1:-1], shown_by_terminal}
        percent_forms = {quote(text, safe="", errors="replace"), quote(text, errors="replace")}
        percent_forms.add(quote_plus(text, errors="replace"))
        yield from (text, html.escape(text), *escaped, *(form.replace("/", "\\/") for form in escaped))
        yield from (
            form
            for percent_encoded in percent_forms
            for form in (percent_encoded, _lowercase_percent_escapes(percent_encoded))
        )
        yield from _base64_forms(text.encode("utf-8", "replace"))


def _lowercase_percent_escapes(percent: str) -> str:
    """Return a percent-encoded text with lower-case escapes: `%2F` becomes `%2f`."""
    head, *escapes = percent.split("%")
    return "%".join([head, *(part[:2].lower() + part[2:] for part in escapes)])


def _base64_forms(value: bytes) -> Iterator[str]:
    """Yield the texts by which a secret shows in base64, alone or in a longer encoded text ("user:secret").

    Base64 encodes groups of three bytes, and the secret may begin at each of the three positions in a group.
    So there are three parts that do not depend on the text around it. Used to mask secrets in outputs.
    """
    for prefix in (b"", b"1", b"22"):
        encoded = base64.b64encode(prefix + value)
        # Leave out groups of four characters that also encode a byte before or after the value.
        first, last = (4 if prefix else 0), -4 if (len(value) + len(prefix)) % 3 else None
        stable_part = encoded[first:last].decode()
        if len(stable_part) >= _MIN_BASE64_CHARS:
            yield stable_part
            yield stable_part.replace("+", "-").replace("/", "_")
    for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
        yield alphabet(value).decode()
        yield alphabet(value).decode().rstrip("=")
