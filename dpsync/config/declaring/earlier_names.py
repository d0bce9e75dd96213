"""The word `previously`: what an entry was called before.

It is a natural key of earlier times in the form the key has: its text, a mapping of the fields that
make it up, or a list of several.
"""

from __future__ import annotations

from dpsync.config.declaring.declare import Declaration
from dpsync.kinds.kind import Kind
from dpsync.kinds.types import INVALID, Parsing
from dpsync.model.entries.values import Value
from dpsync.model.findings.nodes import Mapping, Node, Scalar, Sequence

Names = tuple[dict[str, Value], ...]


def previously(entry: Declaration, parsing: Parsing) -> Names:
    """The earlier natural keys of an entry, each as the fields that it is made of."""
    if entry.previously is None:
        return ()
    key, node = entry.previously
    if not entry.kind.can_be_renamed:
        message = f"{entry.kind.one} is never renamed by dpsync"
        parsing.error("DP228", message, key.span, "remove the line; id: says which one is meant")
        return ()
    found: list[dict[str, Value]] = []
    for item in node.items if isinstance(node, Sequence) else (node,):
        if _is_address(entry, item):
            hint = "write the name that it had on the platform, or a mapping such as { title: … }"
            parsing.error("DP228", "previously is an earlier name, and no address", item.span, hint)
            continue
        found += _one(entry.kind, item, parsing)
    return tuple(found)


def _is_address(entry: Declaration, node: Node) -> bool:
    """Whether a text is an address in the place of the entry."""
    place = str(entry.address.place)
    return isinstance(node, Scalar) and isinstance(node.value, str) and node.value.startswith(f"{place}/")


def _one(kind: Kind, node: Node, parsing: Parsing) -> list[dict[str, Value]]:
    if isinstance(node, Mapping):
        return _fields(kind, node, parsing)
    own = [key for key in kind.identity if isinstance(key, str) and key in kind.identity_fields]
    texts = [key for key in own if not kind.field(key).type.refers]
    if not texts or not isinstance(node, Scalar) or not isinstance(node.value, str) or not node.value:
        said = " or ".join(texts) or "a mapping of the fields that it was recognised by"
        parsing.error("DP202", f"previously is what it was called before: its {said}", node.span)
        return []
    return [{name: kind.field(name).type.fold(node.value)} for name in texts]


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
        parsing.error("DP202", f"previously names {' or '.join(known)}", node.span)
    return [fields] if fields else []
