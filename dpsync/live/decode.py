"""From raw answers to decoded declared fields.

What no kind declares (counts, times, keys, tokens) is dropped here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

from dpsync.kinds.base import Field, Kind
from dpsync.kinds.base import Node as NodeShape
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Value

_MISSING = object()
_NAMES = re.compile(r"\{([^{}]+)\}")


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


def compose(body: Any, template: str) -> str | None:
    """An id as a template says it: a dotted name, or a text with such names in braces."""
    if "{" not in template:
        found = pointer(body, template)
        return found if isinstance(found, str) and found else None
    parts = {name: pointer(body, name) for name in _NAMES.findall(template)}
    if not all(isinstance(part, str) and part for part in parts.values()):
        return None
    return _NAMES.sub(lambda match: str(parts[match[1]]), template)


def _wire(field: Field, body: Any) -> Any:
    source = field.source or ""
    if isinstance(source, str):
        return _at(body, source)
    parts = {name: _at(body, path) for name, path in source.items()}
    return {name: part for name, part in parts.items() if part is not _MISSING and part is not None}


def decode_field(field: Field, body: Any) -> Value:
    """The live value of a field: absent and null read as the kind says."""
    wire = _wire(field, body)
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
    own = id or compose(body, kind.id)
    if own is None:
        raise ValueError(f"a {kind.noun} without {kind.id}")
    fields = {item.name: decode_field(item, body) for item in kind.fields if item.source is not None}
    url = pointer(body, kind.url) if kind.url else None
    return LiveObject(kind.name, own, parent, holder, fields, source, own_id=kind.own_id, url=url)


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


def decode_lists(
    kinds: tuple[Kind, ...], items: Iterable[Any], owner: Identity, source: str
) -> Iterator[LiveObject]:
    """Every node of a tree out of lists, holders first: each says in a field what it is in."""
    by_wire = {kind.shape.wire: kind for kind in kinds if isinstance(kind.shape, NodeShape)}
    for item in items:
        kind = by_wire.get(item.get("object", ""))
        if kind is None:
            continue
        held = decode_field(kind.nest, item) if kind.nest else None
        holder = (kind.nest.type.refers[0], held.id) if kind.nest and isinstance(held, LiveId) else None
        yield decode(kind, item, holder if holder and holder[0] in kind.parents else owner, source, holder)
