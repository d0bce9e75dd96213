"""Declare the adaptive schema of a site (`Kind`): a draft-07 JSON Schema of visitor claims.

A claim is a fact about a visitor, such as the plan that a customer pays for; content can depend on it.
The API can replace the schema and cannot delete it.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Field, Kind, Put, SingleEntry, SingleRead
from dpsync.kinds.shared.integrations import claims_schema, published_claims_schema
from dpsync.kinds.types.free_form import VisitorSchema

ADAPTIVE_SCHEMA = Kind(
    name="adaptive_schema",
    parent="site",
    key="adaptiveSchema",
    shape=SingleEntry(),
    url_path="{parent}/adaptive-schema",
    read=SingleRead(),
    create=Put("{self}", repeat="safe"),
    update=Put("{self}", repeat="safe"),
    shorthand_field="jsonSchema",
    fields=(
        Field(
            "jsonSchema",
            VisitorSchema(claims_schema, json_schema={"type": "object"}),
            required=True,
            profile_overrides={
                "published": {"type": VisitorSchema(published_claims_schema, json_schema={"type": "object"})}
            },
        ),
    ),
)
