"""Validate the visitor schema of a site, and list the conditions on visitors that it offers.

A schema is an object whose properties are the claims (known facts) of a visitor. The claims of `unsigned`,
which is such an object, are sent by the visitor's browser without a signature.
"""

import re
from collections.abc import Iterator

from ..errors import bad_request
from ..store import Json

_TYPES = {"boolean", "string", "number", "array", "object"}


def check_schema(schema: Json) -> None:
    """Raise 400 if the schema is invalid, naming the invalid member.

    `type`, `properties` and `additionalProperties` are required. In a nested object, `properties` and
    `additionalProperties` may be omitted.
    """
    for member in ("type", "properties", "additionalProperties"):
        if member not in schema:
            raise bad_request(f"body.jsonSchema.{member}: missing")
    _check_object(schema, "body.jsonSchema")


def _check_object(schema: Json, where: str) -> None:
    """Raise 400 if a (nested) object in a JSON Schema of visitor claims is invalid.

    `where` is the path of the object in the request body, for messages.
    """
    if schema.get("type") != "object":
        raise bad_request(f"{where}.type: must be object")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise bad_request(f"{where}.properties: must be a mapping of claims")
    if schema.get("additionalProperties", False) is not False:
        raise bad_request(f"{where}.additionalProperties: must be false")
    for name, claim in properties.items():
        claim_path = f"{where}.properties.{name}"
        kind = claim.get("type") if isinstance(claim, dict) else None
        if not isinstance(kind, str) or kind not in _TYPES:
            raise bad_request(f"{claim_path}.type: must be one of {', '.join(sorted(_TYPES))}")
        if not isinstance(claim.get("description", ""), str):
            raise bad_request(f"{claim_path}.description: must be a text")
        if "enum" in claim and not isinstance(claim["enum"], list):
            raise bad_request(f"{claim_path}.enum: must be a list")
        if kind == "object":
            _check_object(claim, claim_path)


def schema_conditions(schema: Json) -> list[Json]:
    """Return one condition per claim, including the claims of nested objects and of `unsigned`."""
    return list(_conditions(schema, "visitor.claims"))


def _conditions(schema: Json, base: str) -> Iterator[Json]:
    """Yield a condition for each claim below `base`, the path of the object in an expression."""
    for name, claim in schema.get("properties", {}).items():
        path = f"{base}.{name}" if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else f"{base}[{name!r}]"
        if claim["type"] == "object":
            yield from _conditions(claim, path)
        else:
            yield {"description": claim.get("description") or name, "condition": path}
