"""Check free-form values against a JSON Schema, and report each error at its position in the file.

`conforms` supports a small part of JSON Schema: types, members, fixed words, lengths, patterns, and one
choice between forms. The other functions return parts of the JSON Schema of configuration files, for editors.
"""

from __future__ import annotations

import re
from typing import Any, Final

from dpsync.kinds.types.base import ParseContext, Schema, parse_secret, report_unknown_word, report_wrong_type
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence
from dpsync.model.text import format_count, format_limits
from dpsync.model.urls import hide_credentials

_FILE: Final[Schema] = {
    "type": "object",
    "properties": {"file": {"type": "string"}},
    "required": ["file"],
    "additionalProperties": False,
}
_SECRET: Final[Schema] = {
    "type": "object",
    "properties": {"env": {"type": "string"}},
    "required": ["env"],
    "additionalProperties": False,
}


def text_schema(
    least: int = 0, most: int | None = None, pattern: str | None = None, meaning: str = ""
) -> Schema:
    """Return the schema of a text. Limits are in characters, and `meaning` describes the pattern in words."""
    schema: Schema = {"type": "string"}
    if least:
        schema["minLength"] = least
    if most is not None:
        schema["maxLength"] = most
    return schema if pattern is None else schema | {"pattern": pattern, "title": meaning}


def enum_schema(*each: str) -> Schema:
    """Return the schema of one of these words."""
    return {"enum": list(each)}


def object_schema(required: str = "", title: str = "this value", /, **parts: Schema) -> Schema:
    """Return the schema of an object with only these members.

    `required` lists the required members, separated by spaces.
    """
    schema: Schema = {"type": "object", "title": title, "properties": parts, "additionalProperties": False}
    return schema | {"required": required.split()} if required else schema


def list_schema(of: Schema, max_items: int | None = None) -> Schema:
    """Return the schema of a list whose values have the same schema."""
    return {"type": "array", "items": of} | ({} if max_items is None else {"maxItems": max_items})


def mapping_schema(of: Schema) -> Schema:
    """Return the schema of an object with any keys, whose values have the same schema."""
    return {"type": "object", "additionalProperties": of}


FLAG: Final[Schema] = {"type": "boolean"}
NUMBER: Final[Schema] = {"type": "number"}
NULL: Final[Schema] = {"type": "null"}


def conforms(node: Node, schema: Schema, ctx: ParseContext) -> bool:
    """Return whether a YAML value conforms to a schema, and report every error."""
    if "anyOf" in schema:
        return _conforms_to_form(node, schema["anyOf"], ctx)
    if "enum" in schema:
        fits = isinstance(node, Scalar) and node.value in schema["enum"]
        return fits or _return_false(report_unknown_word(schema["enum"], node, ctx))
    match schema.get("type"):
        case "object":
            return _object_conforms(node, schema, ctx)
        case "array":
            return _list_conforms(node, schema, ctx)
        case "string":
            return _text_conforms(node, schema, ctx)
        case "boolean":
            fits = isinstance(node, Scalar) and isinstance(node.value, bool)
            return fits or _return_false(report_wrong_type(node, "true or false", ctx))
        case "number":
            fits = isinstance(node, Scalar) and type(node.value) in (int, float)
            return fits or _return_false(report_wrong_type(node, "a number", ctx))
        case "null":
            return _is_null(node) or _return_false(report_wrong_type(node, "null", ctx))
    return True


def _return_false(_: object) -> bool:
    """Return False, in place of the result of a report."""
    return False


def _is_null(node: Node) -> bool:
    """Return whether a node is null."""
    return isinstance(node, Scalar) and node.value is None


def _object_conforms(node: Node, schema: Schema, ctx: ParseContext) -> bool:
    """Return whether a value is a mapping with the required and no unknown members; report every error.

    Null for an optional member is allowed. A misspelt member is reported once, and not as missing too.
    """
    if not isinstance(node, Mapping):
        return _return_false(report_wrong_type(node, "a mapping", ctx))
    parts, required = schema.get("properties", {}), schema.get("required", ())
    other_schema, noun = schema.get("additionalProperties", True), schema.get("title", "this value")
    is_valid, misspelt = True, set()
    for key, item in node.entries:
        name = str(key.value)
        part = parts.get(name, other_schema)
        if part is False:
            misspelt.add(ctx.unknown_key(key, list(parts), noun))
            is_valid = False
        elif part is not True and not (_is_null(item) and name not in required):
            is_valid &= conforms(item, part, ctx)
    for name in required:
        if node.get(name) is None and name not in misspelt:
            ctx.error("DP206", f'"{name}" is missing in {noun}', node.span)
            is_valid = False
    return is_valid


def _list_conforms(node: Node, schema: Schema, ctx: ParseContext) -> bool:
    """Return whether a value is a list of allowed length whose items conform; report every error."""
    if not isinstance(node, Sequence):
        return _return_false(report_wrong_type(node, "a list", ctx))
    most = schema.get("maxItems")
    if most is not None and len(node.items) > most:
        message = (
            f"the list has {format_count(len(node.items), 'item')}, but {format_limits(0, most, 'item')}"
        )
        return _return_false(ctx.error("DP203", message, node.span))
    results = [conforms(item, schema["items"], ctx) for item in node.items]  # report all errors
    return all(results)


def _text_conforms(node: Node, schema: Schema, ctx: ParseContext) -> bool:
    """Return whether a value is a text with allowed length and form, or a secret; report an error."""
    if parse_secret(node) is not None:
        return True
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return _return_false(report_wrong_type(node, "text", ctx))
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if len(node.value) < least or (most is not None and len(node.value) > most):
        limits = format_limits(least, most, "character")
        message = f"the text has {format_count(len(node.value), 'character')}, but {limits}"
        return _return_false(ctx.error("DP203", message, node.span))
    if "pattern" in schema and not re.search(schema["pattern"], node.value):
        return _return_false(
            ctx.error("DP204", f'"{hide_credentials(node.value)}" is not {schema["title"]}', node.span)
        )
    return True


def _conforms_to_form(node: Node, forms: list[Schema], ctx: ParseContext) -> bool:
    """Return whether a value conforms to the form that its type and its tag select; report errors.

    A form without a tag fits any value of its type.
    """
    typed = [form for form in forms if _type_fits(node, form)]
    if not typed:
        return _return_false(report_wrong_type(node, " or ".join(dict.fromkeys(map(_type_name, forms))), ctx))
    tags = {name for form in typed for name, part in form.get("properties", {}).items() if "const" in part}
    for tag in tags:
        tag_node = node.get(tag) if isinstance(node, Mapping) else None
        known = {form["properties"][tag]["const"]: form for form in typed}
        if tag_node is None:
            return _return_false(
                ctx.error(
                    "DP206", f'"{tag}" is missing. The possible values are: {", ".join(known)}', node.span
                )
            )
        if not isinstance(tag_node, Scalar) or tag_node.value not in known:
            return _return_false(report_unknown_word(known, tag_node, ctx))
        return conforms(node, known[tag_node.value], ctx)
    return conforms(node, typed[0], ctx)


_TYPES: Final[dict[str, tuple[type, str]]] = {
    "object": (Mapping, "a mapping"),
    "array": (Sequence, "a list"),
}


def _type_fits(node: Node, form: Schema) -> bool:
    """Return whether a node has the type that a form requires."""
    required_type = form.get("type")
    if required_type == "null":
        return _is_null(node)
    kind = _TYPES[required_type][0] if required_type in _TYPES else Scalar
    return isinstance(node, kind) and not (kind is Scalar and _is_null(node))


def _type_name(form: Schema) -> str:
    """Return the type of a form for messages."""
    if "enum" in form:
        return f"one of {', '.join(form['enum'])}"
    return _TYPES[form["type"]][1] if form.get("type") in _TYPES else str(form.get("type", "a value"))


def editor_schema(schema: Any, partial: bool, secrets: bool) -> Any:
    """Return a schema for editors: null is allowed where it clears a member, `{env: NAME}` for texts.

    `partial`: members may be left out, and null removes a member. `secrets`: texts may be secrets.
    """
    if isinstance(schema, list):
        return [editor_schema(item, partial, secrets) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {name: editor_schema(item, partial, secrets) for name, item in schema.items()}
    if partial and isinstance(result.get("properties"), dict):
        required = result.get("required", ())
        result["properties"] = {
            name: part if name in required or "const" in part else {"anyOf": [part, NULL]}
            for name, part in result["properties"].items()
        }
    return {"anyOf": [result, _SECRET]} if secrets and result.get("type") == "string" else result


def value_or_file_schema(schema: Schema) -> Schema:
    """Return the schema of the value itself or of a reference to the file with the value."""
    return {"anyOf": [schema, _FILE]}
