"""The JSON Schema of a configuration file (draft-07), derived from the kinds.

Editors and the examples use it. It is a little wider than the loader: what needs more than one entry
(references, natural keys) is checked there.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from dpsync.config.composing.one_organization import WORD
from dpsync.config.declaring.rows import WORD as ROWS_WORD
from dpsync.config.declaring.rows import rows_of
from dpsync.config.declaring.schema_words import describe
from dpsync.kinds.editions import PROFILES
from dpsync.kinds.kind import Entries, Field, Kind, Single
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.watching import ACCESS

Schema = dict[str, Any]
SCHEMA_ID = "https://www.schemastore.org/dpsync.json"
"""Where the catalog of schemas that editors ask has it; nothing is fetched from there."""

_TEXT: Schema = {"type": "string", "minLength": 1}
_ENVIRONMENT: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "url": _TEXT,
        "token": {
            "type": "object",
            "additionalProperties": False,
            "required": ["env"],
            "properties": {"env": _TEXT},
        },
        "profile": {"enum": list(PROFILES)},
        "limits": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"rate": {"type": "string", "pattern": "^[1-9][0-9]{0,5}/[smh]$"}},
        },
        "overlay": _TEXT,
        "organizations": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "minProperties": 1,
                "properties": {"id": _TEXT, "hostname": _TEXT},
            },
        },
    },
}

_KEY = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


def configuration_schema(registry: Registry) -> Schema:
    """The schema of the root file and of included files, which have its shape without the first keys."""
    patterns: Schema = {"type": "array", "items": {"type": "string"}}
    number: Schema = {"type": "integer", "minimum": 0}
    kept: Schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["address", "skip"],
        "properties": {"address": {"type": "string"}, "skip": {"const": True}},
    }
    protected: Schema = {"type": "array", "items": {"anyOf": [{"type": "string"}, kept]}}
    schema: Schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_ID,
        "title": "dpsync configuration",
        "type": "object",
        "additionalProperties": False,
        "anyOf": [{"required": [registry.root.key]}, {"required": [WORD]}],
        "properties": {
            "dpsync": {"const": 1},
            "include": {"type": "array", "items": {"type": "string"}},
            "policy": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "prune": patterns,
                    "protect": protected,
                    "ignore": patterns,
                    "forget": patterns,
                    "watch": {"anyOf": [{"const": ACCESS}, patterns]},
                    "removed": patterns,
                    "accept": patterns,
                    "limits": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"deletes": number, "percent": number, "exposures": number},
                    },
                },
            },
            "environments": {"type": "object", "additionalProperties": _ENVIRONMENT},
            WORD: {"type": "string", "pattern": _KEY},
            registry.root.key: _entries(registry, registry.root),
        },
        "definitions": {kind.name: _definition(registry, kind) for kind in sorted_kinds(registry)},
    }
    described = describe(schema, registry)
    # Beside `organization: KEY` are the keys of its entry.
    for name, part in described["definitions"][registry.root.name]["properties"].items():
        described["properties"].setdefault(name, deepcopy(part))
    return described


def sorted_kinds(registry: Registry) -> list[Kind]:
    return [registry[name] for name in sorted(registry.kinds)]


def _definition(registry: Registry, kind: Kind) -> Schema:
    whole = _object(registry, kind)
    if kind.shorthand is None:
        return whole
    short = _field(kind.field(kind.shorthand))
    if kind.only_short:
        return short
    return {"anyOf": [short, whole]}


def _object(registry: Registry, kind: Kind) -> Schema:
    properties: Schema = {} if isinstance(kind.shape, Single) else {"id": {"type": "string"}}
    if kind.can_be_renamed:
        properties["previously"] = _previously(kind)
    if kind.content:
        properties["new"] = {"type": "boolean"}
    if kind.synced is not None:
        properties["takeover"] = {"type": "boolean"}
    required: list[str] = []
    if isinstance(kind.shape, NodeShape):
        properties |= {"type": {"const": kind.shape.type}, "key": {"type": "string", "pattern": _KEY}}
        required += ["type", "key"]
        if kind.shape.holds:
            properties["children"] = _nodes(kind.shape.holds, kind.shape.least)
            required += ["children"] if kind.shape.least else []
    for field in kind.fields:
        if field.declarable and not field.nest and field.name != kind.natural:
            properties[field.name] = _field(field)
            required += [field.name] if field.required and field.name != kind.default else []
    forms: list[Schema] = []
    for word, name in kind.inline_words.items():
        shorts = properties[name]["anyOf"]
        properties[word] = next(short["properties"][word] for short in shorts if word in short["properties"])
        if name in required:
            forms = [{"required": [name]}]
            required.remove(name)
        forms += [{"required": [word]}]
    for place, kinds in registry.places(kind.name).items():
        _put(properties, place.split("."), _place(registry, kinds))
    schema: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    schema |= {"anyOf": forms} if forms else {}
    return schema | ({"required": required} if required else {})


def _previously(kind: Kind) -> Schema:
    """What it was called before: as a text, as the fields of a natural key, or several of them."""
    fields = {name: kind.field(name).type.schema() for name in kind.identity_fields}
    named: Schema = {
        "type": "object", "additionalProperties": False, "properties": fields, "minProperties": 1,
    }  # fmt: skip
    one: Schema = {"anyOf": [{"type": "string", "minLength": 1}, named]}
    return {"anyOf": [*one["anyOf"], {"type": "array", "items": one}]}


def _field(field: Field) -> Schema:
    schema = field.type.schema()
    return schema if field.null == "refused" or not schema else {"anyOf": [schema, {"type": "null"}]}


def _put(properties: Schema, path: list[str], schema: Schema) -> None:
    """A dotted place is an object in an object."""
    head, *rest = path
    if not rest:
        properties[head] = schema
        return
    inner = properties.setdefault(head, {"type": "object", "additionalProperties": False, "properties": {}})
    _put(inner["properties"], rest, schema)


def _place(registry: Registry, kinds: tuple[Kind, ...]) -> Schema:
    match kinds[0].shape:
        case Entries():
            return _entries(registry, kinds[0])
        case Single():
            return {"$ref": f"#/definitions/{kinds[0].name}"}
        case NodeShape():
            return _nodes(tuple(kind.name for kind in kinds), 0)


def _entries(registry: Registry, kind: Kind) -> Schema:
    one: Schema = {"$ref": f"#/definitions/{kind.name}"}
    schema: Schema = {"type": "object", "additionalProperties": one}
    if rows_of(kind) is not None:
        described = {"description": "A CSV file with more entries, one per line."}
        schema["properties"] = {ROWS_WORD: {**described, "anyOf": [{"type": "string"}, one]}}
    return schema if registry.keyed(kind) else schema | {"propertyNames": {"pattern": _KEY}}


def _nodes(names: tuple[str, ...], least: int) -> Schema:
    schema: Schema = {
        "type": "array",
        "items": {"anyOf": [{"$ref": f"#/definitions/{name}"} for name in sorted(names)]},
    }
    return schema | ({"minItems": least} if least else {})
