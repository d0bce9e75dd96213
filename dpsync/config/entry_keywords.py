"""Read the keywords `new`, `takeover` and `previously` of entries, and leave out unsupported entries.

`previously` holds a former key, address or name as a text, the fields of a former natural key as a mapping,
or a list of several. Which live object is meant is decided later. `supported` removes the parts that the
server has no operation for, and notes them in `unserved`, so that a plan shows them as blocked.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dpsync.config.declare import Declaration
from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import INVALID, Parsing
from dpsync.model.address import LOCAL_KEY, Address
from dpsync.model.desired import Desired, Unserved
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence
from dpsync.model.text import one_or_other
from dpsync.model.values import Value


def new(entry: Declaration, parsing: Parsing) -> bool:
    """Return whether an entry is declared as a new object, even if a live object resembles it."""
    possible, why = (
        entry.kind.content,
        f'"new" has no effect, because dpsync creates {entry.kind.one} without a question',
    )
    return _boolean_keyword(entry.new, parsing, None if possible else why)


def takeover(entry: Declaration, parsing: Parsing) -> bool:
    """Return whether to write an entry although the platform syncs a part of it with a repository."""
    why = f'"takeover" has no effect, because GitBook cannot sync {entry.kind.one} with a repository'
    return _boolean_keyword(entry.takeover, parsing, None if entry.kind.synced else why)


def _boolean_keyword(keyword: tuple[Scalar, Node] | None, parsing: Parsing, impossible: str | None) -> bool:
    """Return the value of a keyword that is true or false. `impossible` is why the entry cannot have it."""
    if keyword is None:
        return False
    key, node = keyword
    if impossible is not None:
        parsing.error("DP228", impossible, key.span, "delete the line")
        return False
    if not isinstance(node, Scalar) or not isinstance(node.value, bool):
        parsing.error("DP202", f"{key.text} must be true or false", node.span)
        return False
    return node.value


class EarlierNames(Struct, frozen=True):
    """Former natural keys, each as its fields, and former addresses."""

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
            names += _former_key_fields(entry.kind, item, parsing)
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
        addresses += _former_addresses(entry, item.value) if has_keys else []
    return EarlierNames(tuple(names), tuple(addresses))


def _text_fields(kind: Kind) -> list[str]:
    """Return the fields that are a natural key by themselves and have a text."""
    own = [key for key in kind.identity if isinstance(key, str) and key in kind.identity_fields]
    return [key for key in own if not kind.field(key).type.refers]


def _former_addresses(entry: Declaration, text: str) -> list[Address]:
    """Return the addresses that a text may mean: a key, or an address with or without the organization."""
    if "/" not in text:
        return [entry.address.place.child(text)] if LOCAL_KEY.fullmatch(text) else []
    address = Address.parse(text)
    return [address if address.first == entry.address.first else entry.address.top.child(*address.segments)]


def _former_key_fields(kind: Kind, node: Mapping, parsing: Parsing) -> list[dict[str, Value]]:
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


def supported(desired: Desired, registry: Registry) -> Desired:
    """Return the configuration without entries that the registry's profile cannot read.

    The result lists them in `unserved`, with the reason.
    """
    why = {
        name: registry.profile.lacks(f"reading {kind.one}")
        for name, kind in registry.declared.items()
        if name not in registry
    }
    if not why:
        return desired
    out = {
        address: Unserved(why[item.kind], item.span)
        for address, item in desired.resources.items()
        if item.kind in why
    }
    empty: dict[Address, Unserved] = {}
    scopes = {}
    for address, scope in desired.scopes.items():
        kinds = tuple(name for name in scope.kinds if name in registry)
        if kinds:
            scopes[address] = replace(scope, kinds=kinds)
        elif not any(other.is_in(address) for other in out):
            empty[address] = Unserved(why[scope.kinds[0]], scope.span)
    watched = {
        address: replace(scope, kinds=kinds)
        for address, scope in desired.watched.items()
        if (kinds := tuple(name for name in scope.kinds if name in registry))
    }
    return replace(replace(desired, watched=watched).without({**out, **empty}), scopes=scopes)
