"""An OpenAPI document as a judge: what is wrong with a request, and with an answer, by its schemas.

The document lets every object have members that it does not declare. A server may ignore those, or refuse
them; a request of ours with one is a mistake. So requests are judged by schemas that are closed: an object
with declared members has no others. Answers are judged by the schemas as they are, since a reader ignores
what it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import jsonschema_rs

from tests.references import resolved

Json = Any
METHODS: Final = ("get", "post", "put", "patch", "delete")
_PARAMETER = re.compile(r"\{[^{}]+\}")
OPEN: Final = "urn:open"
CLOSED: Final = "urn:closed"
_COMBINED = ("allOf", "oneOf", "anyOf")


class Contract:
    """What one OpenAPI document (3.0 or 3.1) says of requests and answers."""

    def __init__(self, document: dict[str, Json]) -> None:
        older = document["openapi"].startswith("3.0")
        self.document: dict[str, Json] = _nulls_as_types(document) if older else document
        """In words of JSON Schema."""
        self._validators: dict[tuple[str, ...], Any] = {}

    @cached_property
    def _registry(self) -> Any:
        """The schemas that others refer to, twice: as they are, and closed."""
        schemas = self.document["components"]["schemas"]
        closed = {name: _closed(schema) for name, schema in schemas.items()}
        resources = {OPEN: schemas, CLOSED: closed}
        return jsonschema_rs.Registry(
            [(name, {"components": {"schemas": _within(found, name)}}) for name, found in resources.items()],
            draft=jsonschema_rs.Draft202012,
        )

    @cached_property
    def _routes(self) -> list[tuple[re.Pattern[str], str, dict[str, Json]]]:
        """Paths as patterns, those with fewer parameters first."""
        found = [
            (re.compile(_pattern(path)), path, methods) for path, methods in self.document["paths"].items()
        ]
        return sorted(found, key=lambda route: route[1].count("{"))

    def operations(self) -> Iterator[tuple[str, str, dict[str, Json]]]:
        """Each operation: its method, its path with `{}` for each parameter, and what it declares."""
        for path, methods in self.document["paths"].items():
            for method in METHODS:
                if method in methods:
                    yield method.upper(), _PARAMETER.sub("{}", path), methods[method]

    def operation(self, method: str, path: str) -> dict[str, Json] | None:
        """Return the operation for a request to this path (without /v1), or None if there is none."""
        for pattern, _, methods in self._routes:
            if method.lower() in methods and pattern.fullmatch(path):
                found: dict[str, Json] = methods[method.lower()]
                return found
        return None

    def request_errors(self, method: str, path: str, query: list[tuple[str, str]], body: Json) -> list[str]:
        """Return the errors of a request in its operation, parameters, members and values."""
        operation = self.operation(method, path)
        if operation is None:
            return [f"there is no operation {method} {path}"]
        known = {
            item["name"]
            for item in (resolved(self.document, one) for one in operation.get("parameters", ()))
            if item["in"] == "query"
        }
        wrong = [f"query parameter {name}" for name, _ in query if name.split("[")[0] not in known]
        declared = operation.get("requestBody")
        if declared is None:
            return wrong + ([] if body is None else ["it takes no body"])
        if body is None:
            return wrong + (["it needs a body"] if declared.get("required") else [])
        schema = declared["content"].get("application/json", {}).get("schema")
        return (
            wrong
            if schema is None
            else wrong + self._errors(("request", operation["operationId"]), schema, body, closed=True)
        )

    def answer_errors(self, method: str, path: str, status: int, body: Json) -> list[str]:
        """Return the errors of a 2xx answer in its status or body."""
        operation = self.operation(method, path)
        if operation is None:
            return [f"there is no operation {method} {path}"]
        declared = operation["responses"].get(str(status))
        if declared is None:
            return [f"status {status} is not declared, only {', '.join(operation['responses'])}"]
        declared = resolved(self.document, declared)
        schema = declared.get("content", {}).get("application/json", {}).get("schema")
        if schema is None:
            return [] if body is None else ["it has a body"]
        return self._errors(("answer", operation["operationId"], str(status)), schema, body, closed=False)

    def _errors(self, name: tuple[str, ...], schema: Json, value: Json, *, closed: bool) -> list[str]:
        if name not in self._validators:
            judged = _within(_at_a_position(schema), CLOSED) if closed else _within(schema, OPEN)
            self._validators[name] = jsonschema_rs.Draft202012Validator(judged, registry=self._registry)
        found = list(self._validators[name].iter_errors(value))
        # Where a part is wrong, all around it are also told to have unknown members: that says nothing.
        places = [tuple(one.instance_path) for one in found]
        telling = [
            (at, one)
            for at, one in zip(places, found, strict=True)
            if "nevaluated" not in one.message or not any(_inside(other, at) for other in places)
        ]
        return [f"{'/'.join(map(str, at)) or '(body)'}: {one.message[:300]}" for at, one in telling]


def _inside(path: tuple[Any, ...], around: tuple[Any, ...]) -> bool:
    return len(path) > len(around) and path[: len(around)] == around


def _pattern(path: str) -> str:
    return "".join(
        "[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{[^{}]+\})", path)
    )


def _nulls_as_types(node: Json) -> Json:
    """OpenAPI 3.0 → JSON Schema: `nullable` becomes one more type."""
    if isinstance(node, list):
        return [_nulls_as_types(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {name: _nulls_as_types(value) for name, value in node.items()}
    if made.pop("nullable", False) is True:
        return {"anyOf": [made, {"type": "null"}]}
    for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if made.get(bound) is True:
            made[bound] = made.pop(limit)
        elif made.get(bound) is False:
            del made[bound]
    return made


def _within(node: Json, resource: str) -> Json:
    """Return the schema with its references pointing into this resource of the registry."""
    if isinstance(node, list):
        return [_within(item, resource) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        name: f"{resource}{value}" if name == "$ref" and isinstance(value, str) else _within(value, resource)
        for name, value in node.items()
    }


def _closed(schema: Json) -> Json:
    """Return the schema with its parts closed; the schema stays open, because another one may include it."""
    if not isinstance(schema, dict):
        return schema
    made = dict(schema)
    if "properties" in made:
        made["properties"] = {name: _at_a_position(part) for name, part in made["properties"].items()}
    elif made.get("type") == "object" and not any(
        word in made for word in ("additionalProperties", "patternProperties", *_COMBINED)
    ):
        made["additionalProperties"] = True
    for word in ("items", "additionalProperties"):
        if isinstance(made.get(word), dict):
            made[word] = _at_a_position(made[word])
    for word in _COMBINED:
        if word in made:
            made[word] = [_closed(part) for part in made[word]]
    return made


def _at_a_position(schema: Json) -> Json:
    """Return the schema of a value, closed against members that no part declares."""
    if not isinstance(schema, dict):
        return schema
    return {"allOf": [_closed(schema)], "unevaluatedProperties": False}
