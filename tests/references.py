"""What a reference in a JSON document leads to: of a JSON schema, or of an OpenAPI document."""

from __future__ import annotations

from typing import Any


def resolved(document: Any, node: dict[str, Any]) -> dict[str, Any]:
    """Return the node, or the target of its `$ref` ("#/components/schemas/Thing") in the document."""
    while "$ref" in node:
        found = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node
