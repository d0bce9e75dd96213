"""The OpenAPI 3.1 document of the operations that are served, generated from their rows."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from .models.base import Error, Query
from .operation import Operation

Json = dict[str, Any]
_REF = "#/components/schemas/{model}"
_RAW = ("application/json", "application/yaml")
_PREFER: Json = {
    "name": "Prefer",
    "in": "header",
    "schema": {"type": "string"},
    "description": "An addition: with `return=minimal` the answer is 204, without a body",
}


class _Schemas(GenerateJsonSchema):
    """A field that may be left out has no default: it is absent, not null."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        if made.get("default", ...) is None:
            made.pop("default")
        return made


def document(operations: Sequence[Operation]) -> Json:
    models: set[type[BaseModel]] = {Error}
    for row in operations:
        models |= {model for model in (row.body, row.answer) if model is not None}
    mode: Literal["validation"] = "validation"
    ordered = sorted(models, key=lambda model: model.__name__)
    schemas, shared = models_json_schema(
        [(model, mode) for model in ordered], ref_template=_REF, schema_generator=_Schemas
    )
    refs = {model: schemas[model, mode] for model in ordered}
    paths: dict[str, Json] = {}
    for row in operations:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Docs platform management API, as the dpsync companion serves it", "version": "1"},
        "servers": [{"url": "/v1"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": shared.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(row: Operation, refs: dict[type[BaseModel], Any]) -> Json:
    made: Json = {
        "operationId": row.id,
        "parameters": [*map(_path_parameter, row.parameters), *_query(row.query)],
    }
    if row.deprecated:
        made["deprecated"] = True
    if row.profile != "reference":
        made["x-profile"] = row.profile
    if row.minimal:
        made["parameters"].append(_PREFER)
    if row.body is not None:
        made["requestBody"] = {"required": row.body_required, "content": _content(refs[row.body])}
    success: Json = {"description": "Success"}
    if row.answer is not None:
        success["content"] = {kind: {} for kind in _RAW} if row.raw else _content(refs[row.answer])
    successes = {str(row.status): success} | ({"201": success} if row.creates else {})
    if row.minimal:
        successes["204"] = {"description": "Success, and a minimal answer was asked for"}
    refused = {"description": "Refused", "content": _content(refs[Error])}
    made["responses"] = {**successes, **{str(status): refused for status in row.statuses()}}
    return made


def _content(schema: Any) -> Json:
    return {"application/json": {"schema": schema}}


def _path_parameter(name: str) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query(model: type[Query]) -> list[Json]:
    properties = model.model_json_schema(schema_generator=_Schemas).get("properties", {})
    return [{"name": name, "in": "query", "schema": schema} for name, schema in properties.items()]
