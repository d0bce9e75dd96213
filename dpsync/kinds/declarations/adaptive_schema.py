"""What a site knows about its visitors: a draft-07 JSON Schema of their claims.

It can be replaced, not removed.
"""

from typing import Any

from dpsync.kinds.kind import Field, Kind, One, Put, Single
from dpsync.kinds.types import Json


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
        return [
            "a visitor schema is a JSON Schema of type object with properties, additionalProperties: false"
        ]
    try:
        Draft7Validator.check_schema(value)
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path)) or "the top"
        return [f"this is no draft-07 JSON Schema: at {where}: {error.message}"]
    return []


ADAPTIVE_SCHEMA = Kind(
    name="adaptive_schema",
    parent="site",
    key="adaptiveSchema",
    shape=Single(),
    at="{parent}/adaptive-schema",
    read=One(),
    create=Put("{self}", repeat="safe"),
    update=Put("{self}", repeat="safe"),
    shorthand="jsonSchema",
    fields=(Field("jsonSchema", Json(claims_schema, shape={"type": "object"}), required=True),),
)
