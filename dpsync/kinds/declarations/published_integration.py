"""Declare the integrations that an organization publishes. Each publishing replaces the one before.

Responses do not contain icon, pictures, script and secrets: publishing removes these values if the entry does
not declare them.
"""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Post
from dpsync.kinds.shared.integrations import CATEGORIES, ON_PROFILES, SCOPES
from dpsync.kinds.types import Enum, Json, Many, Object, Table, Text
from dpsync.kinds.types.texts import LongText

_PUBLISH = {"...": "$fields", "organization": "$organization"}
_LINK = Object({"url": Text(form="url"), "label": Text()}, ("url", "label"))
_NAME = Text(1, 100, r"[\w.-]+", meaning="the name of an integration")
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
        Field("description", Text(0, 100), on_profiles=ON_PROFILES["description"]),
        Field("summary", Text(0, 2048)),
        Field("icon", LongText(), read=None),
        Field("previewImages", Many(LongText(), most=3), read=None),
        Field("visibility", Enum(("public", "private", "unlisted")), security=True,
              raised=("private", "unlisted", "public")),
        Field("target", Enum(("all", "site", "space", "organization")), security=True,
              raised=("space", "site", "organization", "all")),
        Field("scopes", Many(Enum(SCOPES), as_set=True), security=True, raised="added",
              on_profiles=ON_PROFILES["scopes"]),
        Field("categories", Many(Enum(CATEGORIES), as_set=True), on_profiles=ON_PROFILES["categories"]),
        Field("blocks", Json(shape={"type": "array"}), on_profiles=ON_PROFILES["blocks"]),
        Field("contentSources", Json(shape={"type": "array"}),
              on_profiles=ON_PROFILES["contentSources"]),
        Field("externalLinks", Many(_LINK, most=5), raised="linked"),
        Field("configurations", Json(shape={"type": "object"}),
              on_profiles=ON_PROFILES["configurations"]),
        Field("contentSecurityPolicy", Json(), raised="set"),
        Field("script", LongText(1), read=None, required=True, raised="changed"),
        Field("secrets", Table(Text(1), Text(secret=True), most=20), read=None),
    ),
)  # fmt: skip
