"""Declare the integrations that are installed in an organization, by name."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Patch, PlatformWork, Post, Trouble
from dpsync.kinds.types import Enum, Json, Many, Text

# What is not written of a configuration is left as it is.
_SETTINGS = Json(partial=True, secrets=True, shape={"type": "object"})
CONFIGURATION = Field("configuration", _SETTINGS, on="update", absent={}, raised="set")
EXTERNAL_IDS = Field(
    "externalIds", Many(Text(1), as_set=True, most=5), on="update", absent=[], raised="added"
)
SELECTION = Enum(("all", "selected"))
INSTALLATION = Kind(
    name="installation",
    parent="organization",
    key="integrations",
    label="integration",
    shape=Entries(natural="integration"),
    at="/integrations/{id}",
    # Its URL needs the integration's name and the id of the installation.
    id="{integration.name}/installations/{installation.id}",
    read=Pages("{parent}/installations"),
    identity=("integration",),
    title="integration",
    create=Post("/integrations/{integration}/installations", {"organization": "$organization"},
                gives="$integration/installations/{id}", repeat="look_up"),
    update=Patch("{self}", whole=True, repeat="safe"),
    delete=Delete(repeat="safe"),
    content=True,
    platform=PlatformWork(
        trouble=Trouble("status", "the integration is not active and does nothing",
                        "open the integration in GitBook, and finish the setup", fine=("active",)),
    ),
    security=True,
    fields=(
        Field("integration", Text(1, 100, r"[\w.-]+", meaning="the name of an integration"), on="neither",
              read="integration.name", means="published_integration"),
        Field("configuration", _SETTINGS, on="update", read="installation.configuration", absent={},
              raised="set"),
        Field("externalIds", EXTERNAL_IDS.type, on="update", read="installation.externalIds", absent=[],
              raised="added"),
        Field("space_selection", SELECTION, on="update", read="installation.space_selection",
              platform_default="all", security=True, raised=("selected", "all")),
        Field("site_selection", SELECTION, on="update", read="installation.site_selection",
              platform_default="all", security=True, raised=("selected", "all")),
        Field("status", Text(), on="neither", read="installation.status"),
    ),
)  # fmt: skip
