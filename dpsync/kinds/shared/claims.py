"""What a site may know about its visitors: a draft-07 JSON Schema of their claims."""

from typing import Any


def claims_schema(value: Any) -> list[str]:
    """What is wrong with a visitor schema, as sentences; empty when nothing is."""
    from jsonschema import Draft7Validator
    from jsonschema.exceptions import SchemaError

    if (
        not isinstance(value, dict)
        or value.get("type") != "object"
        or not isinstance(value.get("properties"), dict)
        or value.get("additionalProperties") is not False
    ):
        return ["a visitor schema must have type: object, properties, and additionalProperties: false"]
    try:
        Draft7Validator.check_schema(value)
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path)) or "the top"
        return [f"this value is not a valid JSON Schema (draft 7): at {where}: {error.message}"]
    return []


def described_claims_schema(value: Any) -> list[str]:
    """The same where each claim needs a description, and is of a type that the edition of today knows."""
    wrong = claims_schema(value)
    if wrong:
        return wrong
    odd = sorted(value.keys() - {"$schema", "type", "properties", "additionalProperties"})
    wrong += [f'the key "{name}" is not allowed in a visitor schema' for name in odd]
    return wrong + [said for name, part in value["properties"].items() for said in _claim(name, part)]


def _claim(name: str, part: Any) -> list[str]:
    """What is wrong with one claim; `name` is its dotted path."""
    if not isinstance(part, dict):
        return [f'the claim "{name}" must be a mapping']
    kind = part.get("type")
    if kind not in _TYPES:
        return [f'the claim "{name}" must have one of the types {", ".join(_TYPES)}']
    wrong = (
        []
        if isinstance(part.get("description"), str)
        else [f'the claim "{name}" needs a text in "description"']
    )
    wrong += [
        f'the key "{odd}" is not allowed in the claim "{name}"' for odd in sorted(part.keys() - _TYPES[kind])
    ]
    if kind == "array":
        items = part.get("items")
        if not isinstance(items, dict) or items.get("type") in ("array", "object"):
            return [*wrong, f'the claim "{name}" needs "items" with the type string, number or boolean']
        return wrong + _claim(f"{name} items", items)
    if kind == "object":
        if part.get("additionalProperties") is not False or not isinstance(part.get("properties"), dict):
            return [*wrong, f'the claim "{name}" must contain "properties" and "additionalProperties: false"']
        return wrong + [
            said for key, its in part["properties"].items() for said in _claim(f"{name}.{key}", its)
        ]
    return wrong


_DESCRIBED = {"type", "description"}
_TYPES = {
    "boolean": _DESCRIBED,
    "string": _DESCRIBED | {"enum"},
    "number": _DESCRIBED,
    "array": _DESCRIBED | {"items"},
    "object": _DESCRIBED | {"properties", "additionalProperties"},
}
