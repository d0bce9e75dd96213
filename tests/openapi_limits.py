"""The limits that an OpenAPI document states: of texts, numbers and lists; and the defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.references import resolved

Json = Any
Limit = tuple[str, str, int | float | str | bool]
"""A member ("title"), the word of the schema ("maxLength"), and its value."""
_WORDS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "maxProperties", "default")
_METHODS = ("get", "post", "put", "patch", "delete")
_NAME = re.compile(r"\{[^{}]+\}")


def of_schema(schema: Json, at: str = "") -> Iterator[Limit]:
    """Yield the limits in a schema and in its parts, but not in the schemas that it refers to."""
    if not isinstance(schema, dict):
        return
    for word in _WORDS:
        if word in schema and not isinstance(schema[word], dict | list | None):
            yield at, word, schema[word]
    for one in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from of_schema(one, at)
    for name, one in schema.get("properties", {}).items():
        yield from of_schema(one, f"{at}.{name}".lstrip("."))
    yield from of_schema(schema.get("items"), f"{at}[]")
    yield from of_schema(schema.get("additionalProperties"), f"{at}.*".lstrip("."))


def of_schemas(document: Json) -> Iterator[tuple[str, Limit]]:
    """Yield the limits in each named schema, with the name."""
    for name, schema in document["components"]["schemas"].items():
        for limit in of_schema(schema):
            yield name, limit


def of_operations(document: Json) -> Iterator[tuple[str, Limit]]:
    """Yield the limits of each operation's requests and answers, by method and path.

    A schema that an operation leads to in several ways counts where it is met first.
    """
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if operation := methods.get(method):
                place = f"{method.upper()} {_NAME.sub('{}', path).removeprefix('/v1')}"
                for limit in _of_operation(document, operation):
                    yield place, limit


def of_queries(document: Json) -> Iterator[tuple[str, Limit]]:
    """Return the limits of each operation's query parameters."""
    return ((place, limit) for place, limit in of_operations(document) if limit[0].startswith("?"))


def _of_operation(document: Json, operation: Json) -> Iterator[Limit]:
    for parameter in (resolved(document, one) for one in operation.get("parameters", ())):
        if parameter["in"] == "query":
            yield from _whole(document, parameter.get("schema"), f"?{parameter['name']}", set())
    bodies = [("body", resolved(document, operation.get("requestBody", {})))]
    answers = operation.get("responses", {}).items()
    bodies += [("answer", resolved(document, one)) for status, one in answers if status.startswith("2")]
    for name, body in bodies:
        for content in body.get("content", {}).values():
            yield from _whole(document, content.get("schema"), name, set())


def _whole(document: Json, schema: Json, at: str, met: set[str]) -> Iterator[Limit]:
    """Yield the limits in a schema and in all schemas that it leads to."""
    for member, word, value in of_schema(schema, at):
        yield member, word, value
    for member, name in _references(schema, at):
        if name not in met:
            met.add(name)
            yield from _whole(document, resolved(document, {"$ref": name}), member, met)


def _references(schema: Json, at: str) -> Iterator[tuple[str, str]]:
    """Yield the references in a schema, each with the member that has it."""
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield at, schema["$ref"]
    for one in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _references(one, at)
    for name, one in schema.get("properties", {}).items():
        yield from _references(one, f"{at}.{name}")
    yield from _references(schema.get("items"), f"{at}[]")
    yield from _references(schema.get("additionalProperties"), f"{at}.*")
