"""Define the fields of integrations, connectors and visitor claims that several kinds share.

`claims_schema` checks the JSON Schema (draft 7) of visitor claims (facts about a visitor). `CONNECTOR_FORMS`
has the settings of each connector (type of service) of a context connection; tokens are secrets, although
GitBook may return them. `ON_PROFILES` has the fields of published integrations that differ by API version.
"""

from collections.abc import Mapping
from typing import Any

from dpsync.kinds.types import Enum, Json, List, Object, Schema, Table, Text
from dpsync.kinds.types.schemas import FLAG, NUMBER, list_schema, mapping_schema, object_schema, text_schema


def claims_schema(value: Any) -> list[str]:
    """Return the faults of a schema of visitor claims, as sentences; [] for a valid schema."""
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


def published_claims_schema(value: Any) -> list[str]:
    """Return the faults of a schema of visitor claims by the rules of the current API version, as sentences.

    It requires a description and one of a few types for each claim, which older versions do not.
    """
    faults = claims_schema(value)
    if faults:
        return faults
    unknown_keys = sorted(value.keys() - {"$schema", "type", "properties", "additionalProperties"})
    faults += [f'the key "{name}" is not allowed in a visitor schema' for name in unknown_keys]
    return faults + [
        fault for name, part in value["properties"].items() for fault in _claim_faults(name, part)
    ]


def _claim_faults(name: str, part: Any) -> list[str]:
    """Return the faults in the JSON Schema (`part`) of one claim, as sentences. `name` is its dotted path."""
    if not isinstance(part, dict):
        return [f'the claim "{name}" must be a mapping']
    kind = part.get("type")
    if kind not in _TYPES:
        return [f'the claim "{name}" must have one of the types {", ".join(_TYPES)}']
    faults = (
        []
        if isinstance(part.get("description"), str)
        else [f'the claim "{name}" needs a text in "description"']
    )
    faults += [
        f'the key "{unknown_key}" is not allowed in the claim "{name}"'
        for unknown_key in sorted(part.keys() - _TYPES[kind])
    ]
    if kind == "array":
        items = part.get("items")
        if not isinstance(items, dict) or items.get("type") in ("array", "object"):
            return [*faults, f'the claim "{name}" needs "items" with the type string, number or boolean']
        return faults + _claim_faults(f"{name} items", items)
    if kind == "object":
        if part.get("additionalProperties") is not False or not isinstance(part.get("properties"), dict):
            return [
                *faults,
                f'the claim "{name}" must contain "properties" and "additionalProperties: false"',
            ]
        return faults + [
            fault
            for key, part_schema in part["properties"].items()
            for fault in _claim_faults(f"{name}.{key}", part_schema)
        ]
    return faults


_DESCRIPTION_KEYS = {"type", "description"}
_TYPES = {
    "boolean": _DESCRIPTION_KEYS,
    "string": _DESCRIPTION_KEYS | {"enum"},
    "number": _DESCRIPTION_KEYS,
    "array": _DESCRIPTION_KEYS | {"items"},
    "object": _DESCRIPTION_KEYS | {"properties", "additionalProperties"},
}


_NONEMPTY_TEXT = Text(1)
_SECRET = Text(1, secret=True)
_REPOSITORY = Text(
    3, None, r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+", pattern_description="a repository (acme/docs)"
)
_VIDEOS = Text(
    4,
    None,
    r"UC[A-Za-z0-9_-]{22}|@[A-Za-z0-9._-]{3,100}",
    pattern_description="a channel's id (UC…) or handle (@…)",
)
_STATUS = Enum(("draft", "open", "archived", "merged"))
CONNECTOR_PARTS = {
    "url": Text(1, 2048, format="url"), "channelId": _VIDEOS, "repository": _REPOSITORY, "token": _SECRET,
    "subdomain": _NONEMPTY_TEXT, "email": _NONEMPTY_TEXT, "apiToken": _SECRET, "dataCenter": _NONEMPTY_TEXT,
    "orgId": _NONEMPTY_TEXT, "clientId": _NONEMPTY_TEXT, "clientSecret": _SECRET, "refreshToken": _SECRET,
    "domain": _NONEMPTY_TEXT, "apiKey": _SECRET, "baseUrl": Text(1, 2048, format="url"),
    "apiEmail": Text(3, 254, format="email"), "statusMapping": Table(_STATUS, Text(1, 255)),
}  # fmt: skip
_REQUIRED_PARTS = {
    "website": ("url",), "youtube": ("channelId",), "github-discussions": ("repository", "token"),
    "github-issues": ("repository", "token"), "intercom": ("token",), "front": ("token",),
    "pylon": ("token",), "hubspot": ("token",), "linear": ("token",),
    "zendesk": ("subdomain", "email", "apiToken"),
    "zoho-desk": ("dataCenter", "orgId", "clientId", "clientSecret", "refreshToken"),
    "freshdesk": ("domain", "apiKey"), "jira": ("baseUrl", "apiEmail", "apiToken"),
}  # fmt: skip
_OPTIONAL_PARTS = {"jira": ("statusMapping",)}
CONNECTOR_FORMS = {
    f"builtin:{name}": Object(
        {part: CONNECTOR_PARTS[part] for part in (*needed, *_OPTIONAL_PARTS.get(name, ()))},
        needed,
        f"the settings of builtin:{name}",
    )
    for name, needed in _REQUIRED_PARTS.items()
}
"""The required and optional settings by connector. Other connectors have none."""
CONNECTOR = Text(
    1, None, rf"integration:[^:]+|builtin:(email|api|{'|'.join(_REQUIRED_PARTS)})",
    pattern_description="a connector: integration:NAME, or builtin:NAME with one of these names: email, api, "
    f"{', '.join(_REQUIRED_PARTS)}",
)  # fmt: skip


SCOPES = (
    "space:content:read", "space:content:write", "space:metadata:read", "space:metadata:write",
    "space:git:sync", "page:feedback:read", "site:metadata:read", "site:views:read", "site:script:inject",
    "site:script:cookies", "site:visitor:auth", "site:visitor:claims", "site:adaptive:read",
    "site:adaptive:write", "conversations:ingest", "openapi:read", "openapi:write",
)  # fmt: skip
CATEGORIES = ("analytics", "collaboration", "content", "gitsync", "marketing", "visitor-auth", "other")

_CURRENT_CATEGORIES = tuple(word for word in CATEGORIES if word != "gitsync")
_BLOCK = object_schema(
    "id title", "this block", id=text_schema(), title=text_schema(2, 40), description=text_schema(0, 150),
    icon=text_schema(), urlUnfurl=list_schema(text_schema()),
    markdown=object_schema("codeblock body", "markdown", codeblock=text_schema(), body=text_schema()),
)  # fmt: skip
_SOURCE = object_schema(
    "id title configuration", "this content source", id=text_schema(), title=text_schema(2, 40),
    description=text_schema(0, 150), icon=text_schema(),
    configuration=object_schema("componentId", "the configuration", componentId=text_schema()),
)  # fmt: skip


def _setting(type_: str, needed: str = "", **parts: Schema) -> Schema:
    """Return the schema of a setting of an integration with this type."""
    words = {"type": {"const": type_}, "title": text_schema(2, 50), "description": text_schema(0, 100)}
    return object_schema(f"type {needed}", "this setting", **words, **parts)


_SETTING: Schema = {
    "anyOf": [
        _setting(
            "string", default=text_schema(), completion_url=text_schema(), enum=list_schema(text_schema())
        ),
        _setting("number", default=NUMBER),
        _setting("boolean", default=FLAG),
        _setting("button", "callback_url button_text", callback_url=text_schema(), button_text=text_schema()),
    ]
}
_SETTINGS = object_schema(
    "",
    "these settings",
    properties=mapping_schema(_SETTING),
    required=list_schema(text_schema()),
    componentId=text_schema(),
)
_CONFIGURATIONS = object_schema("", "the configurations", account=_SETTINGS, space=_SETTINGS, site=_SETTINGS)
_REQUIRED = {"required": True, "in_responses": "sometimes"}

ON_PROFILES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "description": {"published": _REQUIRED},
    "scopes": {"published": _REQUIRED},
    "categories": {"published": {"type": List(Enum(_CURRENT_CATEGORIES), is_set=True)}},
    "blocks": {"published": {"type": Json(json_schema=list_schema(_BLOCK))}},
    "contentSources": {"published": {"type": Json(json_schema=list_schema(_SOURCE))}},
    "configurations": {"published": {"type": Json(json_schema=_CONFIGURATIONS, tag="type")}},
}
"""The differences by field and profile: the current version requires more, and lacks a Git Sync category."""
