"""Convert a rich-text document that a client sent to the document that GitBook would store.

In a stored document, every node has a `key` that the server made, adjacent leaves of a text with the same
marks are joined, and the document has a token of its content.
"""

import hashlib
import json
from typing import Any

Json = dict[str, Any]


def empty_document() -> Json:
    """Return a stored Document without text."""
    return stored_document({})


def stored_document(document: Json) -> Json:
    """Return the document with server-made keys and a token.

    A key is the position of the node, so the same text always has the same keys. The order of members does
    not affect the token.
    """
    nodes = [_with_keys(node, f"n{index}") for index, node in enumerate(document.get("nodes", []))]
    data = {"schemaVersion": 1, **document.get("data", {})}
    other_members = {
        key: value for key, value in document.items() if key not in ("object", "data", "nodes", "meta")
    }
    token = hashlib.sha256(json.dumps([data, nodes], sort_keys=True).encode()).hexdigest()[:16]
    return {"object": "document", "data": data, "nodes": nodes, **other_members, "meta": {"token": token}}


def _with_keys(node: Any, default_key: str) -> Any:
    """Return a copy of a node with keys for it and its descendants, and with joined leaves.

    `default_key` is the key of a node that has none: the path of positions, such as `n0-2`.
    """
    if not isinstance(node, dict):
        return node
    result = dict(node)
    if result.get("object") in ("block", "inline", "text", "fragment"):
        result["key"] = result.get("key") or default_key
    for member in ("nodes", "fragments"):
        if isinstance(result.get(member), list):
            result[member] = [
                _with_keys(child, f"{default_key}-{index}") for index, child in enumerate(result[member])
            ]
    if isinstance(result.get("leaves"), list):
        result["leaves"] = _merge_leaves(result["leaves"])
    return result


def _merge_leaves(leaves: list[Any]) -> list[Any]:
    """Return the leaves of a text, with adjacent leaves joined if they have the same marks."""
    joined: list[Json] = []
    for leaf in leaves:
        previous = joined[-1] if joined else {}
        if (
            _is_text_leaf(previous)
            and _is_text_leaf(leaf)
            and previous.get("marks", []) == leaf.get("marks", [])
        ):
            joined[-1] = {**previous, "text": previous["text"] + leaf["text"]}
        else:
            joined.append(leaf)
    return joined


def _is_text_leaf(leaf: Any) -> bool:
    """Return whether a leaf is well-formed: callers may send anything."""
    return isinstance(leaf, dict) and isinstance(leaf.get("text"), str)
