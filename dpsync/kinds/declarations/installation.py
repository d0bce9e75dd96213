"""Declare installations (`Kind`): the integrations that are installed in an organization, found by name.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, PlatformWork, Post, Trouble
from dpsync.kinds.types import Enum, Json, List, Text

# What is not written of a configuration is left as it is.
_SETTINGS = Json(is_partial=True, may_contain_secrets=True, json_schema={"type": "object"})
CONFIGURATION = Field(
    "configuration", _SETTINGS, written_in="update", value_when_absent={}, widens_when="set"
)
EXTERNAL_IDS = Field(
    "externalIds",
    List(Text(1), is_set=True, max_items=5),
    written_in="update",
    value_when_absent=[],
    widens_when="added",
)
SELECTION = Enum(("all", "selected"))
INSTALLATION = Kind(
    name="installation", parent="organization", key="integrations", label="integration",
    shape=EntryMapping(key_field="integration"), url_path="/integrations/{id}",
    # Its URL needs the integration's name and the id of the installation.
    id_path="{integration.name}/installations/{installation.id}", read=ListRead("{parent}/installations"),
    natural_keys=("integration",), title_field="integration",
    create=Post(
        "/integrations/{integration}/installations", {"organization": "$organization"},
        id_source="$integration/installations/{id}", repeat="look_up",
    ),
    update=Patch("{self}", replaces_object=True, repeat="safe"), delete=Delete(repeat="safe"),
    has_content=True,
    platform_work=PlatformWork(
        trouble=Trouble(
            "status", "the integration is not active and does nothing",
            "open the integration in GitBook, and finish the setup", accepted_values=("active",),
        ),
    ),
    creation_widens_access=True,
    fields=(
        Field(
            "integration", Text(1, 100, r"[\w.-]+", pattern_description="the name of an integration"),
            written_in="neither", read_path="integration.name", refers_to_kind="published_integration",
        ),
        Field(
            "configuration", _SETTINGS, written_in="update", read_path="installation.configuration",
            value_when_absent={}, widens_when="set",
        ),
        Field(
            "externalIds", EXTERNAL_IDS.type, written_in="update", read_path="installation.externalIds",
            value_when_absent=[], widens_when="added",
        ),
        Field(
            "space_selection", SELECTION, written_in="update", read_path="installation.space_selection",
            platform_default="all", can_widen_access=True, widens_when=("selected", "all"),
        ),
        Field(
            "site_selection", SELECTION, written_in="update", read_path="installation.site_selection",
            platform_default="all", can_widen_access=True, widens_when=("selected", "all"),
        ),
        Field("status", Text(), written_in="neither", read_path="installation.status"),
    ),
)  # fmt: skip
