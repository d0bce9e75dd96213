"""Declare site spaces (`Kind`): the positions of spaces in a site, in a section or at the root of the site.

Only a site without sections has site spaces at its root. A site space never moves to another section.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from msgspec.structs import replace

from dpsync.kinds.declarations.section_group import NAVIGATION, SIBLINGS
from dpsync.kinds.kind import Delete, Field, Kind, Patch, Post, Restriction, SiblingOrder, TreeNode, Url
from dpsync.kinds.types import Flag, Reference, Text
from dpsync.kinds.types.free_form import Condition

_MOVE_ORDER = SiblingOrder(
    Post("{self}/move", {"position": "$position"}, repeat="safe"),
    sibling_reference={"type": "site-space", "siteSpace": "$id"},
    orders_kinds_separately=True,
)
SITE_SPACE = Kind(
    name="site_space", parent=("section", "site"), key="structure",
    shape=TreeNode(
        "space", "site-space", excludes_other_kinds_at_root=True, navigation_file_required=("path",),
        navigation_file_optional=("localizedTitle", "default", "hidden", "draft", "condition"),
        navigation_file_content=("language",),
        navigation_file_customization=("customization", ("title", "localizedTitle")),
    ),
    label="site space", url_path="/orgs/{organization}/sites/{site}/site-spaces/{id}", read=NAVIGATION,
    url=Url("urls.published", segment_field="path", without_segment_flag="default"),
    visible_when={"draft": (False,)},
    natural_keys=("path", "space"),  # creating takes no path: an interrupted creation is found by its space
    title_field="path", create=Post("/orgs/{organization}/sites/{site}/site-spaces", repeat="look_up"),
    update=Patch("{self}", repeat="safe"), delete=Delete(repeat="safe"),
    order=replace(SIBLINGS, fallback=_MOVE_ORDER), steps_after_kinds=("adaptive_schema",),
    fields=(
        Field(
            "space", Reference.to("space", "translation"), read_path="space.id", write_name="spaceId",
            required=True, access_meaning="shows",
        ),
        Field(
            "path", Text(1, 100, is_url_segment=True), written_in="update", unique_within="parent",
            in_responses="always",
        ),
        Field(
            "condition", Condition(1, 1024), written_in="update", null_effect="clear", exposure=Restriction()
        ),
        Field("hidden", Flag(), written_in="update", value_when_absent=False, exposure=(True, False)),
        Field("pageId", Text(1), written_in="update", null_effect="clear"),
        Field("draft", Flag(), value_when_absent=False, exposure=(True, False)),
        # Its section names the default, or the site where there are no sections.
        Field(
            "default", Flag(), written_in="update", value_when_absent=False, exclusive_within="parent",
            own_call=Patch("{parent}", {"defaultSiteSpace": "$id"}, repeat="safe"),
        ),
        Field(
            "section", Reference.to("section"), written_in="create", is_parent_reference=True,
            write_name="sectionId",
        ),
    ),
)  # fmt: skip
