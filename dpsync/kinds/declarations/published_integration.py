"""Declare the integrations that an organization publishes (`Kind`). Each publishing replaces the one before.

Responses do not contain icon, pictures, script and secrets: publishing removes these values if the entry in
the files does not declare them.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Post
from dpsync.kinds.shared.integrations import CATEGORIES, ON_PROFILES, SCOPES
from dpsync.kinds.types import Enum, Json, List, Object, Table, Text
from dpsync.kinds.types.texts import LongText

_PUBLISH = {"...": "$fields", "organization": "$organization"}
_LINK = Object({"url": Text(format="url"), "label": Text()}, ("url", "label"))
_NAME = Text(1, 100, r"[\w.-]+", pattern_description="the name of an integration")
PUBLISHED_INTEGRATION = Kind(
    name="published_integration",
    parent="organization",
    key="publishedIntegrations",
    shape=EntryMapping(key_field="name"),
    url_path="/integrations/{id}",
    id_path="name",
    read=ListRead("/integrations?owner={organization}"),
    natural_keys=("name",),
    title_field="name",
    create=Post("/integrations/{name}", _PUBLISH, id_source="$name", repeat="look_up"),
    update=Post("{self}", _PUBLISH, sends_every_field=True, repeat="safe"),
    delete=Delete(repeat="safe"),
    has_content=True,
    creation_widens_access=True,
    fields=(
        Field("name", _NAME, written_in="neither"),  # in the URL, never in a body
        Field("runtime", Enum(("v1", "v2")), read_path=None),
        Field("title", Text(2, 30), required=True),
        Field("description", Text(0, 100), profile_overrides=ON_PROFILES["description"]),
        Field("summary", Text(0, 2048)),
        Field("icon", LongText(), read_path=None),
        Field("previewImages", List(LongText(), max_items=3), read_path=None),
        Field("visibility", Enum(("public", "private", "unlisted")), can_widen_access=True,
              widens_when=("private", "unlisted", "public")),
        Field("target", Enum(("all", "site", "space", "organization")), can_widen_access=True,
              widens_when=("space", "site", "organization", "all")),
        Field("scopes", List(Enum(SCOPES), is_set=True), can_widen_access=True, widens_when="added",
              profile_overrides=ON_PROFILES["scopes"]),
        Field("categories", List(Enum(CATEGORIES), is_set=True), profile_overrides=ON_PROFILES["categories"]),
        Field("blocks", Json(json_schema={"type": "array"}), profile_overrides=ON_PROFILES["blocks"]),
        Field("contentSources", Json(json_schema={"type": "array"}),
              profile_overrides=ON_PROFILES["contentSources"]),
        Field("externalLinks", List(_LINK, max_items=5), widens_when="linked"),
        Field("configurations", Json(json_schema={"type": "object"}),
              profile_overrides=ON_PROFILES["configurations"]),
        Field("contentSecurityPolicy", Json(), widens_when="set"),
        Field("script", LongText(1), read_path=None, required=True, widens_when="changed"),
        Field("secrets", Table(Text(1), Text(secret=True), max_keys=20), read_path=None),
    ),
)  # fmt: skip
