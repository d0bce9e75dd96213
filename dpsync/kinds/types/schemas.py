"""What a free-form value must look like, as a JSON Schema: each thing that is wrong is told where it stands.

A small part of JSON Schema is enough: types, members, words, lengths, patterns, and one choice between forms.
A schema that is checked here is printed for editors, too (`dpsync schema`).
"""

from __future__ import annotations

import re
from typing import Any, Final

from dpsync.kinds.types.base import Parsing, Schema, expected, one_of, secret_of
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence
from dpsync.model.text import allowed, counted
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


def text(least: int = 0, most: int | None = None, pattern: str | None = None, meaning: str = "") -> Schema:
    """A text; the limits count characters, and `meaning` says in words what the pattern asks for."""
    schema: Schema = {"type": "string"}
    if least:
        schema["minLength"] = least
    if most is not None:
        schema["maxLength"] = most
    return schema if pattern is None else schema | {"pattern": pattern, "title": meaning}


def words(*each: str) -> Schema:
    """One of these words."""
    return {"enum": list(each)}


def members(needed: str = "", what: str = "this value", **parts: Schema) -> Schema:
    """An object of these members and no others; `needed` names those that must be there."""
    schema: Schema = {"type": "object", "title": what, "properties": parts, "additionalProperties": False}
    return schema | {"required": needed.split()} if needed else schema


def listed(of: Schema, most: int | None = None) -> Schema:
    """A list of values of one shape."""
    return {"type": "array", "items": of} | ({} if most is None else {"maxItems": most})


def table(of: Schema) -> Schema:
    """An object of any members whose values have one shape."""
    return {"type": "object", "additionalProperties": of}


FLAG: Final[Schema] = {"type": "boolean"}
NUMBER: Final[Schema] = {"type": "number"}
NULL: Final[Schema] = {"type": "null"}


def conforms(node: Node, schema: Schema, ctx: Parsing) -> bool:
    """Whether a value has the shape; everything that is wrong with it is reported."""
    if "anyOf" in schema:
        return _of_a_form(node, schema["anyOf"], ctx)
    if "enum" in schema:
        fits = isinstance(node, Scalar) and node.value in schema["enum"]
        return fits or _wrong(one_of(schema["enum"], node, ctx))
    match schema.get("type"):
        case "object":
            return _object(node, schema, ctx)
        case "array":
            return _list(node, schema, ctx)
        case "string":
            return _text(node, schema, ctx)
        case "boolean":
            fits = isinstance(node, Scalar) and isinstance(node.value, bool)
            return fits or _wrong(expected(node, "true or false", ctx))
        case "number":
            fits = isinstance(node, Scalar) and type(node.value) in (int, float)
            return fits or _wrong(expected(node, "a number", ctx))
        case "null":
            return _is_null(node) or _wrong(expected(node, "null", ctx))
    return True


def _wrong(_: object) -> bool:
    return False


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is None


def _object(node: Node, schema: Schema, ctx: Parsing) -> bool:
    if not isinstance(node, Mapping):
        return _wrong(expected(node, "a mapping", ctx))
    parts, needed = schema.get("properties", {}), schema.get("required", ())
    other, what = schema.get("additionalProperties", True), schema.get("title", "this value")
    right, misspelt = True, set()
    for key, item in node.entries:
        name = str(key.value)
        part = parts.get(name, other)
        if part is False:
            misspelt.add(ctx.unknown_key(key, list(parts), what))
            right = False
        elif part is not True and not (_is_null(item) and name not in needed):
            right &= conforms(item, part, ctx)
    for name in needed:
        if node.get(name) is None and name not in misspelt:
            ctx.error("DP206", f'"{name}" is missing in {what}', node.span)
            right = False
    return right


def _list(node: Node, schema: Schema, ctx: Parsing) -> bool:
    if not isinstance(node, Sequence):
        return _wrong(expected(node, "a list", ctx))
    most = schema.get("maxItems")
    if most is not None and len(node.items) > most:
        said = f"the list has {counted(len(node.items), 'item')}, but {allowed(0, most, 'item')}"
        return _wrong(ctx.error("DP203", said, node.span))
    found = [conforms(item, schema["items"], ctx) for item in node.items]  # each is told
    return all(found)


def _text(node: Node, schema: Schema, ctx: Parsing) -> bool:
    if secret_of(node) is not None:
        return True
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return _wrong(expected(node, "text", ctx))
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if len(node.value) < least or (most is not None and len(node.value) > most):
        limits = allowed(least, most, "character")
        said = f"the text has {counted(len(node.value), 'character')}, but {limits}"
        return _wrong(ctx.error("DP203", said, node.span))
    if "pattern" in schema and not re.search(schema["pattern"], node.value):
        return _wrong(
            ctx.error("DP204", f'"{hide_credentials(node.value)}" is not {schema["title"]}', node.span)
        )
    return True


def _of_a_form(node: Node, forms: list[Schema], ctx: Parsing) -> bool:
    """Of the forms that are of its type, the one whose words it has; a form without words fits any."""
    typed = [form for form in forms if _type_fits(node, form)]
    if not typed:
        return _wrong(expected(node, " or ".join(dict.fromkeys(map(_named, forms))), ctx))
    tags = {name for form in typed for name, part in form.get("properties", {}).items() if "const" in part}
    for tag in tags:
        said = node.get(tag) if isinstance(node, Mapping) else None
        known = {form["properties"][tag]["const"]: form for form in typed}
        if said is None:
            return _wrong(
                ctx.error(
                    "DP206", f'"{tag}" is missing. The possible values are: {", ".join(known)}', node.span
                )
            )
        if not isinstance(said, Scalar) or said.value not in known:
            return _wrong(one_of(known, said, ctx))
        return conforms(node, known[said.value], ctx)
    return conforms(node, typed[0], ctx)


_TYPES: Final[dict[str, tuple[type, str]]] = {
    "object": (Mapping, "a mapping"),
    "array": (Sequence, "a list"),
}


def _type_fits(node: Node, form: Schema) -> bool:
    wanted = form.get("type")
    if wanted == "null":
        return _is_null(node)
    kind = _TYPES[wanted][0] if wanted in _TYPES else Scalar
    return isinstance(node, kind) and not (kind is Scalar and _is_null(node))


def _named(form: Schema) -> str:
    if "enum" in form:
        return f"one of {', '.join(form['enum'])}"
    return _TYPES[form["type"]][1] if form.get("type") in _TYPES else str(form.get("type", "a value"))


def for_editors(schema: Any, partial: bool, secrets: bool) -> Any:
    """The same as an editor may check a file by it: with null where that clears, with `{env: NAME}`."""
    if isinstance(schema, list):
        return [for_editors(item, partial, secrets) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: for_editors(item, partial, secrets) for name, item in schema.items()}
    if partial and isinstance(made.get("properties"), dict):
        needed = made.get("required", ())
        made["properties"] = {
            name: part if name in needed or "const" in part else {"anyOf": [part, NULL]}
            for name, part in made["properties"].items()
        }
    return {"anyOf": [made, _SECRET]} if secrets and made.get("type") == "string" else made


def in_a_file(schema: Schema) -> Schema:
    """The value itself, or the file that holds it."""
    return {"anyOf": [schema, _FILE]}
