"""Parse and write the addresses of entries and fields, and match address patterns.

An `Address` such as `acme/sites/docs/structure/news` names an entry, a `FieldAddress` such as
`acme/teams/docs#title` a field, and a `Pattern` may contain `*` and `**`. An address holds percent-encoded
segments, joined with "/" in its text. A last segment that begins with a slash has plain slashes in the text:
the redirect from `/old/start` is `acme/sites/docs/redirects//old/start`. This is unambiguous, because no
segment is empty. The encoded form (`redirects/%2Fold%2Fstart`) is the same address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote

from dpsync.model.nodes import Span, WithSpan
from dpsync.model.text import INVISIBLE_CHARACTERS

LOCAL_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""The key of an entry where it is a name of the configuration's own."""
_SLASH = "%2F"
_RESERVED = re.compile(rf"[%/#*\[\]{{}}{INVISIBLE_CHARACTERS}]")


def encode_segment(key: str) -> str:
    """Percent-encode the characters of a key that would break an address, so that people can copy it.

    These are `% / # * [ ]`, braces and invisible characters.
    """
    if _RESERVED.search(key) is None:
        return key
    return _RESERVED.sub(lambda match: quote(match.group(), safe="", errors="surrogatepass"), key)


def plain_segment(segment: str) -> str:
    """Return a segment for output: a segment that begins with an encoded slash gets plain slashes.

    Only the last segment of an address may be written in this form.
    """
    return segment.replace(_SLASH, "/") if segment.startswith((_SLASH, f"[{_SLASH}")) else segment


class Address(NamedTuple):
    """The address of an object. Segments are encoded; `[Title]` is an object without an entry."""

    segments: tuple[str, ...]

    @staticmethod
    def root(key: str) -> Address:
        """Return the address of an organization."""
        return Address((encode_segment(key),))

    @staticmethod
    def parse(text: str) -> Address:
        """Parse the text of an address, without checking whether such an entry exists. Never raises.

        A part after "//" is one segment that begins with a slash, such as the source of a redirect.
        """
        parts = text.split("/")
        for number in range(1, len(parts) - 1) if "//" in text or "/[/" in text else ():
            if parts[number] in ("", "["):  # the rest is one segment, which begins with a slash
                return Address((*parts[:number], _SLASH.join(parts[number:])))
        return Address(tuple(parts))

    def child(self, *keys: str) -> Address:
        """Return the address below this address, one segment for each key. The keys are not encoded yet."""
        if len(keys) == 1:  # the usual case, and faster
            return Address((*self.segments, encode_segment(keys[0])))
        return Address(self.segments + tuple(encode_segment(key) for key in keys))

    def unmanaged_child(self, title: str, id: str | None = None) -> Address:
        """Return the address of an object without an entry: `[Title]`, or `[Title~id]` with an id.

        The id is needed if the title is not unique.
        """
        name = encode_segment(title).replace("~", "%7E")  # so that no title looks like one with an id
        return Address((*self.segments, f"[{name}{'' if id is None else '~' + encode_segment(id)}]"))

    def owner_of_list(self, list_key: str) -> Address:
        """Return the address of the object that owns an entry below the dotted key `list_key`."""
        return Address(self.segments[: -1 - len(list_key.split("."))])

    @property
    def organization_key(self) -> str:
        """Return the first segment: the key of the organization."""
        return self.segments[0]

    @property
    def segments_in_organization(self) -> tuple[str, ...]:
        """Return the segments after the key of the organization."""
        return self.segments[1:]

    @property
    def last_segment(self) -> str:
        """Return the last segment, which distinguishes the entry from its siblings."""
        return self.segments[-1]

    @property
    def organization(self) -> Address:
        """Return the address of the organization."""
        return Address(self.segments[:1])

    @property
    def list_address(self) -> Address:
        """Return the address without its last segment: the mapping or list that contains the entry."""
        return Address(self.segments[:-1])

    def is_at_or_below(self, other: Address) -> bool:
        """Return whether this address is `other` or below `other`."""
        return self.segments[: len(other.segments)] == other.segments

    def self_and_ancestors(self) -> Iterator[Address]:
        """Yield this address, then each address above it, up to the organization."""
        for depth in range(len(self.segments), 0, -1):
            yield Address(self.segments[:depth])

    def field(self, name: str) -> FieldAddress:
        """Return the address of a field of this entry."""
        return FieldAddress(self, name)

    def __str__(self) -> str:
        *parents, last = self.segments
        return "/".join((*parents, plain_segment(last) if parents else last))


class FieldAddress(NamedTuple):
    """The address of a field of an entry: `acme/teams/docs#title`. Without a `field`, the entry itself."""

    address: Address
    field: str | None = None

    @staticmethod
    def parse(text: str) -> FieldAddress:
        """Parse `ADDRESS#FIELD`, without checking whether such an entry or field exists. Never raises."""
        path, _, field = text.partition("#")
        return FieldAddress(Address.parse(path), field or None)

    def __str__(self) -> str:
        return str(self.address) if self.field is None else f"{self.address}#{self.field}"


class Pattern(WithSpan, frozen=True, eq=False):
    """An address pattern: `*` is one segment, `**` any depth, `#field` names a field.

    A pattern that starts with a kind's word (`teams/…`) applies to every organization.
    """

    text: str
    segments: tuple[str, ...]
    field: str | None = None
    span: Span | None = None
    """Where it is written; None on the command line."""
    value: str | None = None
    """The value after `=`. Only patterns of `policy: watch` have a value."""
    written_word: str | None = None
    """The word in the file that stands for this pattern and others: `access`."""

    @property
    def source_text(self) -> str:
        """Return the text in the file: the pattern, or the word that stands for it."""
        return self.written_word or self.text

    @staticmethod
    def parse(text: str, words: Iterable[str], span: Span | None = None) -> Pattern:
        """Parse an address pattern such as `teams/*`, which applies to every organization.

        `words` are the reserved words that may begin such a pattern: the list keys of an organization. Raises
        ValueError with a message if the text is not a pattern.
        """
        path, hash_sign, field = text.partition("#")
        segments = Address.parse(path).segments
        if not path or any(segment == "" for segment in segments):
            raise ValueError("a pattern consists of names separated by single slashes")
        if hash_sign and not field:
            raise ValueError("the name of a field is missing after #")
        for segment in segments:
            if "*" in segment and segment not in ("*", "**"):
                raise ValueError(
                    f'"*" can only replace a whole name between slashes, not a part of "{segment}"'
                )
        if segments[0] in set(words):
            segments = ("*", *segments)
        return Pattern(text, segments, field or None, span)

    def with_parsed_value(self) -> Pattern:
        """Return the pattern with the text after `=` as value: `acme/openapi/[shop]#visibility=private`.

        Raises ValueError with a message if the field name is missing.
        """
        field, equals, value = (self.field or "").partition("=")
        if not equals:
            return self
        if not field:
            raise ValueError("the name of a field is missing between # and =")
        return Pattern(self.text, self.segments, field, self.span, value)

    @property
    def list_pattern(self) -> Pattern:
        """Return the pattern without the last segment: the mapping that contains the matching objects."""
        return Pattern(self.text, self.segments[:-1], None, self.span, None, self.written_word)

    @property
    def last_segment(self) -> str:
        """Return the last segment, which matches the key of the entry."""
        return self.segments[-1]

    @property
    def address_text(self) -> str:
        """Return the text without the field."""
        return str(FieldAddress.parse(self.text).address)

    def matches(self, address: Address) -> bool:
        """Return whether the pattern matches an address."""
        return _segments_match(self.segments, address.segments)

    def matches_or_contains(self, address: Address) -> bool:
        """Return whether the pattern matches an address, or an address that contains it."""
        return any(
            _segments_match(self.segments, address.segments[:n]) for n in range(1, len(address.segments) + 1)
        )


def _segments_match(pattern: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    """Return whether a pattern matches an address, segment by segment; `**` matches any number."""
    # Called for each entry and each pattern: slices of tuples are faster than lists.
    if not pattern:
        return not segments
    head, remaining_pattern = pattern[0], pattern[1:]
    if head == "**":
        return any(_segments_match(remaining_pattern, segments[n:]) for n in range(len(segments) + 1))
    return bool(segments) and head in ("*", segments[0]) and _segments_match(remaining_pattern, segments[1:])
