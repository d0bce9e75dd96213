"""What an integration of one's own may say of itself: its scopes, categories, blocks and settings."""

from collections.abc import Mapping
from typing import Any

from dpsync.kinds.types import Enum, Json, Many, Schema
from dpsync.kinds.types.shapes import FLAG, NUMBER, listed, members, table, text

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
_NEEDED = {"required": True, "in_answers": "sometimes"}

ON_PROFILES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "description": {"published": _NEEDED},
    "scopes": {"published": _NEEDED},
    "categories": {"published": {"type": Many(Enum(_TODAY), as_set=True)}},
    "blocks": {"published": {"type": Json(shape=listed(_BLOCK))}},
    "contentSources": {"published": {"type": Json(shape=listed(_SOURCE))}},
    "configurations": {"published": {"type": Json(shape=_CONFIGURATIONS, tag="type")}},
}
"""By field what differs by profile: today's edition asks for more, and has no category for Git Sync."""
