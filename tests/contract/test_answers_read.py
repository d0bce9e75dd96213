"""dpsync reads every answer that the vendor's current document allows.

That includes answers with all members, only required members, nulls, unknown members and unknown words.

Values are made from the document's own schemas, one for each operation by which dpsync reads a kind.

Values are made from the document's own schemas, one for each operation by which dpsync reads a kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from dpsync.kinds.kind import ListRead, NodeListsRead, SingleRead, TreeRead
from dpsync.kinds.registry import SupportedKind, build_registry, read_paths
from dpsync.live.decode import decode, decode_list, decode_tree

from .editions import document, is_here
from .openapi import Contract

EDITION = "0.202.0"
REGISTRY = build_registry("published")
OWNER = ("organization", "acme")
VARIANTS = ("whole", "least", "nulls", "unknown members", "unknown words")

pytestmark = pytest.mark.skipif(
    not is_here(EDITION), reason=f"make contract fetches the vendor's document {EDITION}"
)


class Maker:
    """Makes a value of a schema. `variant` says which of those that it allows."""

    def __init__(self, schemas: dict[str, Any], variant: str) -> None:
        self.schemas, self.variant = schemas, variant

    def value(self, schema: Any, depth: int = 0) -> Any:
        schema = self.resolved(schema)
        if "enum" in schema:
            words = schema["enum"]
            return "a-new-word" if self.variant == "unknown words" and len(words) > 1 else words[0]
        if "const" in schema:
            return schema["const"]
        for word in ("oneOf", "anyOf"):
            if word in schema:
                return self.chosen([self.resolved(one) for one in schema[word]], schema, depth)
        if "allOf" in schema:
            return self.merged([schema["allOf"], schema], depth)
        kind = schema.get("type")
        if isinstance(kind, list):
            if "null" in kind and self.variant == "nulls":
                return None
            kind = next(one for one in kind if one != "null")
        if "properties" in schema or kind == "object":
            return self.members(schema, depth)
        if kind == "array":
            return [] if depth > 6 else [self.value(schema["items"], depth + 1)]
        if kind in ("integer", "number"):
            return schema.get("minimum", 1)
        if kind == "boolean":
            return True
        return "https://acme.example/x" if schema.get("format") in ("uri", "url") else "text"

    def resolved(self, schema: Any) -> Any:
        while "$ref" in schema:
            more = {name: value for name, value in schema.items() if name != "$ref"}
            schema = {**self.schemas[schema["$ref"].split("/")[-1]], **more}
        return schema

    def chosen(self, forms: list[Any], around: Any, depth: int) -> Any:
        """Return a value of the first form with the surrounding members, or null if `nulls` allows it."""
        nullable = any(form.get("type") == "null" for form in forms)
        if nullable and self.variant == "nulls":
            return None
        made = self.value(next(form for form in forms if form.get("type") != "null"), depth)
        beside = self.members(around, depth) if "properties" in around else {}
        return {**beside, **made} if isinstance(made, dict) else made

    def merged(self, parts: list[Any], depth: int) -> Any:
        """Return one object that satisfies all parts."""
        found: dict[str, Any] = {}
        for part in [*parts[0], {name: item for name, item in parts[1].items() if name != "allOf"}]:
            made = self.value(part, depth) if part else {}
            if not isinstance(made, dict):
                return made
            found |= made
        return found

    def members(self, schema: Any, depth: int) -> dict[str, Any]:
        each = schema.get("additionalProperties")
        if isinstance(each, dict) and "properties" not in schema:
            return {} if self.variant == "least" or depth > 6 else {"en": self.value(each, depth + 1)}
        needed = set(schema.get("required", ()))
        declared = schema.get("properties", {})
        wanted = needed if self.variant == "least" or depth > 6 else declared.keys()
        made = {name: self.value(declared[name], depth + 1) for name in declared if name in wanted}
        return made | ({"memberThatNobodyKnows": {"x": 1}} if self.variant == "unknown members" else {})


@cache
def contract() -> Contract:
    return Contract(document(EDITION))


def reads() -> Iterator[Any]:
    for kind in REGISTRY.kinds.values():
        for path in sorted(read_paths(REGISTRY.kinds, kind)):
            for variant in VARIANTS:
                yield pytest.param(kind, path, variant, id=f"{kind.name} {path} {variant}")


@pytest.mark.parametrize(("kind", "path", "variant"), list(reads()))
def test_every_response_allowed_by_openapi_is_decoded(kind: SupportedKind, path: str, variant: str) -> None:
    operations = {found: declared for method, found, declared in contract().operations() if method == "GET"}
    schema = operations[path]["responses"]["200"]["content"]["application/json"]["schema"]
    body = Maker(document(EDITION)["components"]["schemas"], variant).value(schema)
    match kind.read:
        case ListRead():
            found = list(decode_list(kind, body["items"], OWNER, path))
            assert len(found) == 1 or kind.foreign_items  # it may have made one of those
        case SingleRead():
            assert decode(kind, body, OWNER, path, id="x").kind == kind.name
        case TreeRead(root_member=root):
            list(decode_tree(REGISTRY.tree_kinds(kind.key), body, root, OWNER, path))
        case NodeListsRead():
            raise AssertionError("this edition has the whole navigation in one answer")
