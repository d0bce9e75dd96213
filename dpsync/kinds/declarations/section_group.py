"""Declare the section groups in a site's navigation (`Kind`), which contain sections and other groups.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from msgspec.structs import replace

from dpsync.kinds.kind import (
    Delete,
    Field,
    Kind,
    Lifecycle,
    NodeListsRead,
    Patch,
    Post,
    SiblingOrder,
    TreeNode,
    TreeRead,
)
from dpsync.kinds.shared.fields import LOCALIZED, localized_text
from dpsync.kinds.types import Flag, Reference, Text

_SITE = "/orgs/{organization}/sites/{site}"
LISTS = NodeListsRead((f"{_SITE}/section-groups", f"{_SITE}/sections", f"{_SITE}/site-spaces"))
STRUCTURE = TreeRead(f"{_SITE}/structure", root_member="structure")
NAVIGATION = replace(STRUCTURE, fallback=LISTS)
SIBLINGS = SiblingOrder(
    Patch("/orgs/{organization}/sites/{site}/structure/sort",
          {"item": {"type": "$wire", "id": "$id"}, "position": "$position"}, repeat="safe"),
    sibling_reference={"type": "$wire", "id": "$id"},
)  # fmt: skip
SECTION_GROUP = Kind(
    name="section_group", parent="site", key="structure",
    shape=TreeNode(
        "section-group", "site-section-group", children_member="children",
        child_kinds=("section_group", "section", "external_link"), navigation_file_required=("title",),
        navigation_file_optional=("localizedTitle", "icon", "draft"),
    ),
    url_path="/orgs/{organization}/sites/{site}/section-groups/{id}", read=NAVIGATION,
    visible_when={"draft": (False,)}, natural_keys=("title",), tie_breakers=("group",),
    create=Post("/orgs/{organization}/sites/{site}/section-groups", repeat="look_up"),
    update=Patch("{self}", repeat="safe"), delete=Delete(repeat="safe"), order=SIBLINGS,
    lifecycle=Lifecycle(on_delete="lifted"),
    fields=(
        Field("title", Text(1, 100), required=True), Field("icon", Text(1, 50), null_effect="clear"),
        Field(
            "localizedTitle", LOCALIZED, written_in="update", null_effect="clear",
            profile_overrides={"published": {"type": localized_text(128), "null_effect": "refused"}},
        ),
        Field("draft", Flag(), value_when_absent=False, exposure=(True, False)),
        # Read under one name and written under two more.
        Field(
            "group", Reference.to("section_group"), is_parent_reference=True, read_path="sectionGroup",
            create_name="parent", write_name="parentSectionGroupId", null_effect="clear",
        ),
    ),
)  # fmt: skip
