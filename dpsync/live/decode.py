"""From raw answers to decoded declared fields.

What no kind declares (counts, times, keys, tokens) is dropped here.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from dpsync.kinds.base import Field, Kind
from dpsync.kinds.base import Node as NodeShape
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import Value

_MISSING = object()


def pointer(body: Any, path: str) -> Any:
    """The value at a dotted path ("siteSpaces.0.id"), or None when it is not there."""
    value = _at(body, path)
    return None if value is _MISSING else value


def _at(body: Any, path: str) -> Any:
    for part in path.split(".") if path else ():
        if isinstance(body, dict) and part in body:
            body = body[part]
        elif isinstance(body, list) and part.isdigit() and int(part) < len(body):
            body = body[int(part)]
        else:
            return _MISSING
    return body


def decode_field(field: Field, body: Any) -> Value:
    """The live value of a field: absent and null read as the kind says."""
    wire = _at(body, field.source or "")
    if wire is _MISSING:
        return deepcopy(field.absent)
    value = field.type.decode(wire)
    if value is None or (field.null == "empty" and value == ""):
        return deepcopy(field.absent)
    return value


def decode(
    kind: Kind, body: Any, parent: Identity | None, source: str, holder: Identity | None = None, id: str = ""
) -> LiveObject:
    """One object. Raises ValueError when the answer has no id where the kind says it is."""
    own = id or pointer(body, kind.id)
    if not isinstance(own, str) or not own:
        raise ValueError(f"a {kind.noun} without {kind.id}")
    fields = {item.name: decode_field(item, body) for item in kind.fields if item.source is not None}
    return LiveObject(kind.name, own, parent, holder, fields, source, own_id=kind.own_id)


def decode_tree(kinds: tuple[Kind, ...], nodes: Any, owner: Identity, source: str) -> Iterator[LiveObject]:
    """Every node in order, parents before children. Nodes of types that no kind declares are passed over."""
    by_wire = {kind.shape.wire: kind for kind in kinds if isinstance(kind.shape, NodeShape)}

    def walk(items: Any, around: tuple[Identity, ...]) -> Iterator[LiveObject]:
        for item in items or ():
            kind = by_wire.get(item.get("object", ""))
            if kind is None:
                continue
            parent = next((other for other in reversed(around) if other[0] in kind.parents), owner)
            node = decode(kind, item, parent, source, holder=around[-1] if around else None)
            yield node
            assert isinstance(kind.shape, NodeShape)
            if kind.shape.children:
                yield from walk(item.get(kind.shape.children), (*around, node.identity))

    return walk(nodes, ())
