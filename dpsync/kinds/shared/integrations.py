"""Define the fields of integrations, connectors and visitor claims.

`claims_schema` checks the JSON Schema (draft 7) of visitor claims. `FORMS` has the settings of each connector
of a context connection; tokens are secrets, although the platform may return them. `ON_PROFILES` has the
fields of published integrations that differ by API version.
"""

from collections.abc import Mapping
from typing import Any

from dpsync.kinds.types import Enum, Json, Many, Object, Schema, Table, Text
from dpsync.kinds.types.schemas import FLAG, NUMBER, listed, members, table, text


def claims_schema(value: Any) -> list[str]:
    """Return the faults of a visitor schema as sentences."""
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
    """Return the faults of a visitor schema whose claims need a description and a type of the current API."""
    wrong = claims_schema(value)
    if wrong:
        return wrong
    odd = sorted(value.keys() - {"$schema", "type", "properties", "additionalProperties"})
    wrong += [f'the key "{name}" is not allowed in a visitor schema' for name in odd]
    return wrong + [said for name, part in value["properties"].items() for said in _claim_faults(name, part)]


def _claim_faults(name: str, part: Any) -> list[str]:
    """Return the faults of one claim. `name` is its dotted path."""
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
        return wrong + _claim_faults(f"{name} items", items)
    if kind == "object":
        if part.get("additionalProperties") is not False or not isinstance(part.get("properties"), dict):
            return [*wrong, f'the claim "{name}" must contain "properties" and "additionalProperties: false"']
        return wrong + [
            said for key, its in part["properties"].items() for said in _claim_faults(f"{name}.{key}", its)
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


_GIVEN = Text(1)
_SECRET = Text(1, secret=True)
_REPOSITORY = Text(3, None, r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+", meaning="a repository (acme/docs)")
_VIDEOS = Text(
    4, None, r"UC[A-Za-z0-9_-]{22}|@[A-Za-z0-9._-]{3,100}", meaning="a channel's id (UC…) or handle (@…)"
)
_STATUS = Enum(("draft", "open", "archived", "merged"))
PARTS = {
    "url": Text(1, 2048, form="url"), "channelId": _VIDEOS, "repository": _REPOSITORY, "token": _SECRET,
    "subdomain": _GIVEN, "email": _GIVEN, "apiToken": _SECRET, "dataCenter": _GIVEN, "orgId": _GIVEN,
    "clientId": _GIVEN, "clientSecret": _SECRET, "refreshToken": _SECRET, "domain": _GIVEN, "apiKey": _SECRET,
    "baseUrl": Text(1, 2048, form="url"), "apiEmail": Text(3, 254, form="email"),
    "statusMapping": Table(_STATUS, Text(1, 255)),
}  # fmt: skip
_NEEDED = {
    "website": ("url",), "youtube": ("channelId",), "github-discussions": ("repository", "token"),
    "github-issues": ("repository", "token"), "intercom": ("token",), "front": ("token",),
    "pylon": ("token",), "hubspot": ("token",), "linear": ("token",),
    "zendesk": ("subdomain", "email", "apiToken"),
    "zoho-desk": ("dataCenter", "orgId", "clientId", "clientSecret", "refreshToken"),
    "freshdesk": ("domain", "apiKey"), "jira": ("baseUrl", "apiEmail", "apiToken"),
}  # fmt: skip
_MAY = {"jira": ("statusMapping",)}
FORMS = {
    f"builtin:{name}": Object(
        {part: PARTS[part] for part in (*needed, *_MAY.get(name, ()))},
        needed,
        f"the settings of builtin:{name}",
    )
    for name, needed in _NEEDED.items()
}
"""The required and optional settings by connector. Other connectors have none."""
CONNECTOR = Text(
    1, None, rf"integration:[^:]+|builtin:(email|api|{'|'.join(_NEEDED)})",
    meaning="a connector: integration:NAME, or builtin:NAME with one of these names: email, api, "
    f"{', '.join(_NEEDED)}",
)  # fmt: skip


SCOPES = (
    "space:content:read", "space:content:write", "space:metadata:read", "space:metadata:write",
    "space:git:sync", "page:feedback:read", "site:metadata:read", "site:views:read", "site:script:inject",
    "site:script:cookies", "site:visitor:auth", "site:visitor:claims", "site:adaptive:read",
    "site:adaptive:write", "conversations:ingest", "openapi:read", "openapi:write",
)  # fmt: skip
CATEGORIES = ("analytics", "collaboration", "content", "gitsync", "marketing", "visitor-auth", "other")

_TODAY = tuple(word for word in CATEGORIES if word != "gitsync")
_BLOCK = members(
    "id title", "this block", id=text(), title=text(2, 40), description=text(0, 150), icon=text(),
    urlUnfurl=listed(text()), markdown=members("codeblock body", "markdown", codeblock=text(), body=text()),
)  # fmt: skip
_SOURCE = members(
    "id title configuration", "this content source", id=text(), title=text(2, 40), description=text(0, 150),
    icon=text(), configuration=members("componentId", "the configuration", componentId=text()),
)  # fmt: skip


def _setting(type_: str, needed: str = "", **parts: Schema) -> Schema:
    words = {"type": {"const": type_}, "title": text(2, 50), "description": text(0, 100)}
    return members(f"type {needed}", "this setting", **words, **parts)


_SETTING: Schema = {
    "anyOf": [
        _setting("string", default=text(), completion_url=text(), enum=listed(text())),
        _setting("number", default=NUMBER),
        _setting("boolean", default=FLAG),
        _setting("button", "callback_url button_text", callback_url=text(), button_text=text()),
    ]
}
_SETTINGS = members(
    "", "these settings", properties=table(_SETTING), required=listed(text()), componentId=text()
)
_CONFIGURATIONS = members("", "the configurations", account=_SETTINGS, space=_SETTINGS, site=_SETTINGS)
_REQUIRED = {"required": True, "in_answers": "sometimes"}

ON_PROFILES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "description": {"published": _REQUIRED},
    "scopes": {"published": _REQUIRED},
    "categories": {"published": {"type": Many(Enum(_TODAY), as_set=True)}},
    "blocks": {"published": {"type": Json(shape=listed(_BLOCK))}},
    "contentSources": {"published": {"type": Json(shape=listed(_SOURCE))}},
    "configurations": {"published": {"type": Json(shape=_CONFIGURATIONS, tag="type")}},
}
"""The differences by field and profile: the current version requires more, and lacks a Git Sync category."""
