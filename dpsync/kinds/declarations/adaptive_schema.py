"""Declare the adaptive schema of a site: a draft-07 JSON Schema of visitor claims.

The API can replace the schema and cannot delete it.
"""

from dpsync.kinds.kind import Field, Kind, One, Put, Single
from dpsync.kinds.shared.integrations import claims_schema, described_claims_schema
from dpsync.kinds.types.free_form import VisitorSchema

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
    fields=(
        Field(
            "jsonSchema",
            VisitorSchema(claims_schema, shape={"type": "object"}),
            required=True,
            on_profiles={
                "published": {"type": VisitorSchema(described_claims_schema, shape={"type": "object"})}
            },
        ),
    ),
)
