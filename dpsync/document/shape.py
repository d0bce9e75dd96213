"""Whether a Document is built as Documents are: everything else in this package relies on it.

The platform looks at the outermost level only and keeps whatever is inside, so anything may come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpsync.document.problems import Outside

Json = dict[str, Any]

_DEEPEST = 100  # far beyond what Markdown can hold
_LISTS = ("nodes", "fragments", "leaves", "marks")


def misshapen(document: Json, defaults: Mapping[str, Json]) -> Iterator[Outside]:
    """Every node that is not built as one. `defaults` has a value of the right type for members of data."""
    yield from _below(document, "", defaults, 0)


def _below(node: Json, path: str, defaults: Mapping[str, Json], depth: int) -> Iterator[Outside]:
    for name in _LISTS:
        children = node.get(name)
        if children is None:
            continue
        at = f"{path}.{name}" if path else name
        if not isinstance(children, list):
            yield Outside(at, type(children).__name__, "is not a list")
            continue
        for index, child in enumerate(children):
            yield from _node(child, f"{at}[{index}]", name, defaults, depth)


def _node(node: Any, path: str, place: str, defaults: Mapping[str, Json], depth: int) -> Iterator[Outside]:
    if not isinstance(node, dict):
        yield Outside(path, type(node).__name__, "is not a node")
        return
    kind = node.get("type") or node.get("object")
    if depth > _DEEPEST:
        yield Outside(path, str(kind), f"is nested more than {_DEEPEST} nodes deep")
    elif not isinstance(kind, str) and place != "fragments":
        yield Outside(path, type(node).__name__, 'has neither the key "type" nor the key "object"')
    elif not _belongs(node, place, defaults):
        yield Outside(path, str(kind), "is not allowed at this position")
    elif place == "leaves" and not isinstance(node.get("text") or "", str):
        yield Outside(path, str(kind), "has a `text` that is not a string")
    elif wrong := _wrong(node, defaults.get(str(kind), {})):
        yield Outside(path, str(kind), f"has a value of the wrong type in `{wrong}`")
    else:
        yield from _below(node, path, defaults, depth + 1)


def _belongs(node: Json, place: str, defaults: Mapping[str, Json]) -> bool:
    kind, expected = node.get("type"), node.get("object")
    if not isinstance(kind, str | None):
        return False
    if place == "nodes":
        if kind in ("link", "inline-image"):
            return expected == "inline"
        return expected == "block" if kind in defaults else expected != "text" or kind is None
    return place != "marks" or isinstance(kind, str)


def _wrong(node: Json, defaults: Json) -> str | None:
    """The member that is of a wrong type."""
    data = node.get("data")
    if data is not None and not isinstance(data, dict):
        return "data"
    for name, default in defaults.items():
        value = (data or {}).get(name)
        expected = dict if name == "ref" else type(default)
        if value is not None and (name == "ref" or default is not None) and type(value) is not expected:
            return name
    return None
