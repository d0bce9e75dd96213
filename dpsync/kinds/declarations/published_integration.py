"""Integrations of one's own: published from files. Each publishing replaces the one before.

Icon, pictures, script and secrets are never given back: what is not declared of them goes with the next one.
"""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Post
from dpsync.kinds.types import Enum, Json, Many, Object, Table, Text
from dpsync.kinds.types.texts import LongText

_PUBLISH = {"...": "$fields", "organization": "$organization"}
_LINK = Object({"url": Text(form="url"), "label": Text()}, ("url", "label"))
_NAME = Text(1, 100, r"[\w.-]+", meaning="the name of an integration")
SCOPES = (
    "space:content:read", "space:content:write", "space:metadata:read", "space:metadata:write",
    "space:git:sync", "page:feedback:read", "site:metadata:read", "site:views:read", "site:script:inject",
    "site:script:cookies", "site:visitor:auth", "site:visitor:claims", "site:adaptive:read",
    "site:adaptive:write", "conversations:ingest", "openapi:read", "openapi:write",
)  # fmt: skip
CATEGORIES = ("analytics", "collaboration", "content", "gitsync", "marketing", "visitor-auth", "other")
_NEEDED = {"required": True, "in_answers": "sometimes"}
_TODAY = tuple(word for word in CATEGORIES if word != "gitsync")
PUBLISHED_INTEGRATION = Kind(
    name="published_integration",
    parent="organization",
    key="publishedIntegrations",
    shape=Entries(natural="name"),
    at="/integrations/{id}",
    id="name",
    read=Pages("/integrations?owner={organization}"),
    identity=("name",),
    title="name",
    create=Post("/integrations/{name}", _PUBLISH, gives="$name", repeat="look_up"),
    update=Post("{self}", _PUBLISH, complete=True, repeat="safe"),
    delete=Delete(repeat="safe"),
    content=True,
    security=True,
    fields=(
        Field("name", _NAME, on="neither"),  # in the URL, never in a body
        Field("runtime", Enum(("v1", "v2")), read=None),
        Field("title", Text(2, 30), required=True),
        Field("description", Text(0, 100), on_profiles={"published": _NEEDED}),
        Field("summary", Text(0, 2048)),
        Field("icon", LongText(), read=None),
        Field("previewImages", Many(LongText(), most=3), read=None),
        Field("visibility", Enum(("public", "private", "unlisted")), security=True,
              raised=("private", "unlisted", "public")),
        Field("target", Enum(("all", "site", "space", "organization")), security=True,
              raised=("space", "site", "organization", "all")),
        Field("scopes", Many(Enum(SCOPES), as_set=True), security=True, raised="added",
              on_profiles={"published": _NEEDED}),
        Field("categories", Many(Enum(CATEGORIES), as_set=True),
              on_profiles={"published": {"type": Many(Enum(_TODAY), as_set=True)}}),
        Field("blocks", Json(shape={"type": "array"})),
        Field("contentSources", Json(shape={"type": "array"})),
        Field("externalLinks", Many(_LINK, most=5), raised="linked"),
        Field("configurations", Json(shape={"type": "object"})),
        Field("contentSecurityPolicy", Json(), raised="set"),
        Field("script", LongText(1), read=None, required=True, raised="changed"),
        Field("secrets", Table(Text(1), Text(secret=True), most=20), read=None),
    ),
)  # fmt: skip
