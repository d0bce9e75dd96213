"""Generate the OpenAPI 3.1 document of the local server.

Input: the operations that an API version serves. Output: the document as JSON, with the schemas of all
bodies.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from ..models.base import Error
from ..request.operation import Operation
from ..store import Json

_REF_TEMPLATE = "#/components/schemas/{model}"
_RAW_CONTENT_TYPES = ("application/json", "application/yaml")
_PREFER_HEADER: Json = {
    "name": "Prefer",
    "in": "header",
    "schema": {"type": "string"},
    "description": "With `return=minimal`, the response is 204 without a body",
}


_WORD_PATTERN = re.compile(r"OpenAPI|[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|\d+")
_SUMMARIES = {
    "conversation_cluster_update": "Update conversations issues cluster",
    "getUser": "Get authenticated user",
    "updateChangeRequest": "Update change request from main content",
}
"""Summaries of operations whose ids do not give a good one."""


class _SchemaGenerator(GenerateJsonSchema):
    """A schema generator that omits null defaults and the titles of fields.

    An omitted field is absent, not null. Generators of clients would use titles of fields as names.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Omit the titles of fields."""
        del schema
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Omit the default if it is null."""
        json_schema = super().default_schema(schema)
        if json_schema.get("default", ...) is None:
            json_schema.pop("default")
        return json_schema


def build_document(operations: Sequence[Operation]) -> Json:
    """Return the OpenAPI document of these operations, with the schemas of their bodies and answers."""
    models: set[type[BaseModel]] = {Error}
    for row in operations:
        models |= {model for model in (row.body_model, row.response_model) if model is not None}
    mode: Literal["validation"] = "validation"
    ordered = sorted(models, key=lambda model: model.__name__)
    schemas, shared = models_json_schema(
        [(model, mode) for model in ordered], ref_template=_REF_TEMPLATE, schema_generator=_SchemaGenerator
    )
    refs = {model: schemas[model, mode] for model in ordered}
    paths: dict[str, Json] = {}
    for row in operations:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation_object(row, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "GitBook management API of the local dpsync server", "version": "1"},
        "servers": [{"url": "/v1"}],
        "security": [{"token": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(row.tag for row in operations if row.tag)],
        "paths": paths,
        "components": {
            "schemas": shared.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation_object(row: Operation, refs: dict[type[BaseModel], Any]) -> Json:
    """Return the OpenAPI object of one operation. `refs` has the reference to the schema of each model."""
    operation_object: Json = {
        "operationId": row.id,
        "summary": summary(row.id),
        **({"description": row.note} if row.note else {}),
        "tags": [row.tag] if row.tag else [],
        "parameters": _parameters(row),
    }
    if row.deprecated:
        operation_object["deprecated"] = True
    if row.profile != "reference":
        operation_object["x-profile"] = row.profile
    if row.allows_minimal:
        operation_object["parameters"].append(_PREFER_HEADER)
    if row.body_model is not None:
        operation_object["requestBody"] = {
            "required": row.body_required,
            "content": _json_content(refs[row.body_model]),
        }
    success: Json = {"description": "Success"}
    if row.response_model is not None:
        success["content"] = (
            {kind: {} for kind in _RAW_CONTENT_TYPES}
            if row.returns_text
            else _json_content(refs[row.response_model])
        )
    successes = {str(row.status): success} | ({"201": success} if row.may_create else {})
    if row.reports_removal:
        successes["205"] = {"description": "The object was deleted"}
    if row.allows_minimal:
        successes["204"] = {"description": "Success without a body, as the request asked"}
    refused = {"description": "Refused", "content": _json_content(refs[Error])}
    operation_object["responses"] = {
        **successes,
        **{str(status): refused for status in row.refusal_statuses()},
    }
    return operation_object


def _parameters(row: Operation) -> list[Json]:
    """Return the parameters of an operation in its path and in its query."""
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in row.parameters
    ]
    schema = row.query_model.model_json_schema(schema_generator=_SchemaGenerator)
    properties = schema.get("properties", {})
    in_query = [{"name": name, "in": "query", "schema": value} for name, value in properties.items()]
    return [*in_path, *in_query]


def summary(operation: str) -> str:
    """Return the summary of an operation, made of the words in its id."""
    words = _WORD_PATTERN.findall(operation)
    sentence = " ".join(word if word.isupper() or word == "OpenAPI" else word.lower() for word in words)
    return _SUMMARIES.get(operation) or (sentence[:1].upper() + sentence[1:]).removesuffix(" by id")


def _json_content(schema: Any) -> Json:
    """Return the `content` of a body or response in JSON."""
    return {"application/json": {"schema": schema}}
