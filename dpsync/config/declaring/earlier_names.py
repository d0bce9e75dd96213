"""Read the word `previously`: the former key, address or name of an entry.

A text may be any of these; a mapping has the fields of a former natural key; a list has several of both.
Which object is meant is decided where the live objects are known.
"""

from __future__ import annotations

from msgspec import Struct

from dpsync.config.declaring.declare import Declaration
from dpsync.kinds.kind import Kind
from dpsync.kinds.types import INVALID, Parsing
from dpsync.model.address import LOCAL_KEY, Address
from dpsync.model.nodes import Mapping, Scalar, Sequence
from dpsync.model.text import one_or_other
from dpsync.model.values import Value


class EarlierNames(Struct, frozen=True):
    """Former natural keys, each as the fields that it is made of, and former addresses."""

    names: tuple[dict[str, Value], ...] = ()
    addresses: tuple[Address, ...] = ()


def previously(entry: Declaration, parsing: Parsing) -> EarlierNames:
    """Return what `previously` of an entry may mean."""
    if entry.previously is None:
        return EarlierNames()
    key, node = entry.previously
    if not entry.kind.can_be_renamed:
        message = f'"previously" has no effect, because dpsync cannot rename {entry.kind.one}'
        parsing.error("DP228", message, key.span, 'delete the line, or write the "id" of the object instead')
        return EarlierNames()
    names: list[dict[str, Value]] = []
    addresses: list[Address] = []
    for item in node.items if isinstance(node, Sequence) else (node,):
        if isinstance(item, Mapping):
            names += _fields(entry.kind, item, parsing)
            continue
        fields = _text_fields(entry.kind)
        has_keys = entry.kind.natural is None
        if not isinstance(item, Scalar) or not isinstance(item.value, str) or not item.value:
            forms = [*(["key", "address"] if has_keys else []), *fields]
            message = (
                f'"previously" must be a former {one_or_other(forms)}, or a mapping from fields to their '
                "former values"
            )
            parsing.error("DP202", message, item.span)
            continue
        names += [{name: entry.kind.field(name).type.fold(item.value)} for name in fields]
        addresses += _addresses(entry, item.value) if has_keys else []
    return EarlierNames(tuple(names), tuple(addresses))


def _text_fields(kind: Kind) -> list[str]:
    """Return the fields that are a natural key by themselves and have a text."""
    own = [key for key in kind.identity if isinstance(key, str) and key in kind.identity_fields]
    return [key for key in own if not kind.field(key).type.refers]


def _addresses(entry: Declaration, text: str) -> list[Address]:
    """Return the addresses that a text may mean: a key, or an address with or without the organization."""
    if "/" not in text:
        return [entry.address.place.child(text)] if LOCAL_KEY.fullmatch(text) else []
    address = Address.parse(text)
    return [address if address.first == entry.address.first else entry.address.top.child(*address.segments)]


def _fields(kind: Kind, node: Mapping, parsing: Parsing) -> list[dict[str, Value]]:
    known = kind.identity_fields
    fields: dict[str, Value] = {}
    for key, value in node:
        if key.text not in known:
            parsing.unknown_key(key, list(known), f"previously of {kind.one}")
            continue
        parsed = kind.field(key.text).type.parse(value, parsing)
        if parsed is not INVALID:
            fields[key.text] = kind.field(key.text).type.fold(parsed)
    if not node.entries:
        parsing.error("DP202", f"previously must contain {' or '.join(known)}", node.span)
    return [fields] if fields else []
