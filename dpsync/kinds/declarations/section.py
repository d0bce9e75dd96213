"""Declare the sections of a site's navigation (`Kind`), which contain site spaces.

A site space is the position of a space in a site. GitBook creates a section together with its first one.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from msgspec.structs import replace

from dpsync.kinds.declarations.section_group import NAVIGATION, SIBLINGS
from dpsync.kinds.kind import ANY, Delete, Field, Kind, Patch, Post, Restriction, SiblingOrder, TreeNode, Url
from dpsync.kinds.shared.fields import LOCALIZED, localized_text
from dpsync.kinds.types import Flag, Reference, Text
from dpsync.kinds.types.free_form import Condition

_IN_GROUP = "/orgs/{organization}/sites/{site}/section-groups/{value}/sections"
_OUT_OF_GROUP = "/orgs/{organization}/sites/{site}/section-groups/{old}/sections/{id}"
_MOVE_ORDER = SiblingOrder(
    Post("{self}/move", {"position": "$position"}, repeat="safe"),
    sibling_reference={"type": "site-section", "siteSection": "$id"},
    orders_kinds_separately=True,
)
SECTION = Kind(
    name="section", parent="site", key="structure",
    shape=TreeNode(
        "section", "site-section", children_member="siteSpaces", child_kinds=("site_space",), min_children=1,
        wraps_top_level_when={"type": "site"},  # gitbook-skills, configure-site, API cheatsheet
        navigation_file_required=("title", "path"),
        navigation_file_optional=(
            "localizedTitle", "description", "localizedDescription", "icon", "default", "condition",
        ),
    ),
    url_path="/orgs/{organization}/sites/{site}/sections/{id}", read=NAVIGATION,
    url=Url("urls.published", segment_field="path", without_segment_flag="default"),
    visible_when={"draft": (False,)},
    # Creating takes no path: an interrupted creation is found by its title and what it shows.
    natural_keys=("path", ("title", "$child.space")),
    sole_key="title",  # its first child may have been removed on the platform, or may be new in the file
    create=Post(
        "/orgs/{organization}/sites/{site}/sections", {"...": "$fields", "spaceId": "$child.space"},
        first_child_id_path="siteSpaces.0.id", repeat="look_up",
    ),
    update=Patch("{self}", repeat="safe"), delete=Delete(repeat="safe"), has_content=True,
    order=replace(SIBLINGS, fallback=_MOVE_ORDER), steps_after_kinds=("adaptive_schema",),
    fields=(
        Field("title", Text(2, 128), required=True),
        Field(
            "path", Text(1, 100, is_url_segment=True), written_in="update", unique_within="site",
            in_responses="always",
        ),
        Field("icon", Text(1, 50), null_effect="clear"),
        Field("description", Text(1, 256), written_in="update", null_effect="clear"),
        Field(
            "condition", Condition(1, 1024), written_in="update", null_effect="clear", exposure=Restriction()
        ),
        Field(
            "localizedTitle", LOCALIZED, written_in="update", null_effect="clear",
            profile_overrides={"published": {"type": localized_text(128), "null_effect": "refused"}},
        ),
        Field(
            "localizedDescription", LOCALIZED, written_in="update", null_effect="clear",
            profile_overrides={"published": {"type": localized_text(256), "null_effect": "refused"}},
        ),
        Field("draft", Flag(), value_when_absent=False, exposure=(True, False)),
        # One section in the whole site is the default, groups included; it is the site that names it.
        Field(
            "default", Flag(), written_in="update", value_when_absent=False, exclusive_within="site",
            own_call=Patch("{parent}", {"defaultSiteSection": "$id"}, repeat="safe"),
        ),
        Field(
            "group", Reference.to("section_group"), is_parent_reference=True, read_path="sectionGroup",
            write_name="siteSectionGroupId", null_effect="clear",
            fallback_call={
                ANY: Post(_IN_GROUP, {"sectionId": "$id"}, repeat="safe"),
                None: Delete(_OUT_OF_GROUP, repeat="safe"),
            },
        ),
    ),
)  # fmt: skip
