"""Read the keywords `new`, `takeover` and `previously` of entries, and leave out unsupported entries.

`new`: the entry is a new object. `takeover`: write it although GitBook syncs a part of it with a repository.
`previously`: a former key, address or name as a text, the fields of a former natural key as a mapping, or a
list of several; which live object is meant is decided later. `without_unsupported_entries` removes the parts
that the server has no operation for, and notes them in `unsupported`, so that a plan shows them as blocked.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dpsync.config.declare import Declaration
from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import INVALID, ParseContext
from dpsync.model.address import LOCAL_KEY, Address
from dpsync.model.desired import Desired, Unsupported
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence
from dpsync.model.text import join_with_or
from dpsync.model.values import Value


def read_new(entry: Declaration, parsing: ParseContext) -> bool:
    """Return the value of the keyword `new`: create an object, even if a live object resembles the entry."""
    is_possible, no_effect_reason = (
        entry.kind.has_content,
        f'"new" has no effect, because dpsync creates {entry.kind.noun_with_article} without a question',
    )
    return _boolean_keyword(entry.new, parsing, None if is_possible else no_effect_reason)


def read_takeover(entry: Declaration, parsing: ParseContext) -> bool:
    """Return the value of `takeover`: write an entry of which GitBook syncs a part with a repository."""
    no_sync_reason = (
        f'"takeover" has no effect, because GitBook cannot sync {entry.kind.noun_with_article} '
        "with a repository"
    )
    return _boolean_keyword(entry.takeover, parsing, None if entry.kind.git_sync else no_sync_reason)


def _boolean_keyword(
    keyword: tuple[Scalar, Node] | None, parsing: ParseContext, no_effect_reason: str | None
) -> bool:
    """Return the value of a keyword such as `new`; false without the keyword.

    `no_effect_reason` is why this kind of entry cannot have the keyword; None if it can.
    """
    if keyword is None:
        return False
    key, node = keyword
    if no_effect_reason is not None:
        parsing.error("DP228", no_effect_reason, key.span, "delete the line")
        return False
    if not isinstance(node, Scalar) or not isinstance(node.value, bool):
        parsing.error("DP202", f"{key.text} must be true or false", node.span)
        return False
    return node.value


class EarlierNames(Struct, frozen=True):
    """The parsed values of `previously`: former natural keys, each as its fields, and former addresses."""

    names: tuple[dict[str, Value], ...] = ()
    addresses: tuple[Address, ...] = ()


def read_previously(entry: Declaration, parsing: ParseContext) -> EarlierNames:
    """Return the former names and addresses in the keyword `previously` of an entry.

    The keyword tells dpsync which live object an entry had under another name. Its value is a text, a mapping
    from fields of a natural key to former values, or a list of these. Invalid values are reported.
    """
    if entry.previously is None:
        return EarlierNames()
    key, node = entry.previously
    if not entry.kind.can_be_renamed:
        message = f'"previously" has no effect, because dpsync cannot rename {entry.kind.noun_with_article}'
        parsing.error("DP228", message, key.span, 'delete the line, or write the "id" of the object instead')
        return EarlierNames()
    names: list[dict[str, Value]] = []
    addresses: list[Address] = []
    kind = entry.kind
    # A text can be the value of each field that is a natural key by itself and holds no reference.
    text_fields = [
        key
        for key in kind.natural_keys
        if isinstance(key, str) and key in kind.natural_key_fields
        if not kind.field(key).type.referenced_kinds
    ]
    has_keys = kind.key_field is None
    for value in node.items if isinstance(node, Sequence) else (node,):
        if isinstance(value, Mapping):
            names += _former_key_fields(entry.kind, value, parsing)
            continue
        if not isinstance(value, Scalar) or not isinstance(value.value, str) or not value.value:
            forms = [*(["key", "address"] if has_keys else []), *text_fields]
            message = (
                f'"previously" must be a former {join_with_or(forms)}, or a mapping from fields to their '
                "former values"
            )
            parsing.error("DP202", message, value.span)
            continue
        names += [{name: entry.kind.field(name).type.fold_for_key(value.value)} for name in text_fields]
        addresses += _former_addresses(entry, value.value) if has_keys else []
    return EarlierNames(tuple(names), tuple(addresses))


def _former_addresses(entry: Declaration, text: str) -> list[Address]:
    """Return the addresses that a text under `previously` may mean.

    It is a key, or an address with or without the organization.
    """
    if "/" not in text:
        return [entry.address.list_address.child(text)] if LOCAL_KEY.fullmatch(text) else []
    address = Address.parse(text)
    return [
        address
        if address.organization_key == entry.address.organization_key
        else entry.address.organization.child(*address.segments)
    ]


def _former_key_fields(kind: Kind, node: Mapping, parsing: ParseContext) -> list[dict[str, Value]]:
    """Return the former natural key in a `previously` mapping, as a list of none or one.

    Invalid fields are reported.
    """
    allowed_fields = kind.natural_key_fields
    fields: dict[str, Value] = {}
    for key, value in node:
        if key.text not in allowed_fields:
            parsing.unknown_key(key, list(allowed_fields), f"previously of {kind.noun_with_article}")
            continue
        parsed = kind.field(key.text).type.parse(value, parsing)
        if parsed is not INVALID:
            fields[key.text] = kind.field(key.text).type.fold_for_key(parsed)
    if not node.entries:
        parsing.error("DP202", f"previously must contain {' or '.join(allowed_fields)}", node.span)
    return [fields] if fields else []


def without_unsupported_entries(desired: Desired, registry: Registry) -> Desired:
    """Return the configuration without entries that this API version has no operation to read.

    The result lists them in `unsupported`, with the reason, so that a plan shows them as blocked.
    """
    reasons = {
        name: registry.profile.missing_operation_text(f"reading {kind.noun_with_article}")
        for name, kind in registry.declared.items()
        if name not in registry
    }
    if not reasons:
        return desired
    unsupported = {
        address: Unsupported(reasons[entry.kind], entry.span)
        for address, entry in desired.entries.items()
        if entry.kind in reasons
    }
    unsupported_lists: dict[Address, Unsupported] = {}
    scopes = {}
    for address, scope in desired.scopes.items():
        kinds = tuple(name for name in scope.kinds if name in registry)
        if kinds:
            scopes[address] = replace(scope, kinds=kinds)
        elif not any(other.is_at_or_below(address) for other in unsupported):
            unsupported_lists[address] = Unsupported(reasons[scope.kinds[0]], scope.span)
    watched = {
        address: replace(scope, kinds=kinds)
        for address, scope in desired.watched_scopes.items()
        if (kinds := tuple(name for name in scope.kinds if name in registry))
    }
    return replace(
        replace(desired, watched_scopes=watched).without_unsupported({**unsupported, **unsupported_lists}),
        scopes=scopes,
    )
