"""Declare external links (`Kind`): links to other websites in a site's navigation, at the root or in a group.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.declarations.section_group import SIBLINGS, STRUCTURE
from dpsync.kinds.kind import Delete, Field, Kind, Patch, Post, Restriction, TreeNode
from dpsync.kinds.shared.fields import LOCALIZED, localized_text
from dpsync.kinds.types import Flag, Reference, Text
from dpsync.kinds.types.free_form import Condition

EXTERNAL_LINK = Kind(
    name="external_link",
    parent="site",
    key="structure",
    shape=TreeNode(
        "external-link",
        "site-external-link",
        navigation_file_required=("title", "url"),
        navigation_file_optional=(
            "localizedTitle",
            "description",
            "localizedDescription",
            "icon",
            "condition",
            "draft",
        ),
    ),
    url_path="/orgs/{organization}/sites/{site}/external-links/{id}",
    read=STRUCTURE,
    natural_keys=("title",),
    tie_breakers=("group", "url"),
    create=Post("/orgs/{organization}/sites/{site}/external-links", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    order=SIBLINGS,
    steps_after_kinds=("adaptive_schema",),
    creation_widens_access=True,
    fields=(
        Field("title", Text(1, 128), required=True, profile_overrides={"published": {"type": Text(2, 128)}}),
        Field(
            "url", Text(1, 2048, format="url"), required=True, can_widen_access=True, widens_when="changed"
        ),
        Field("icon", Text(1, 50), null_effect="clear"),
        Field("description", Text(1, 256), null_effect="clear"),
        Field("condition", Condition(1, 1024), null_effect="clear", exposure=Restriction()),
        Field(
            "localizedTitle",
            LOCALIZED,
            written_in="update",
            null_effect="clear",
            profile_overrides={"published": {"type": localized_text(128)}},
        ),
        Field(
            "localizedDescription",
            LOCALIZED,
            written_in="update",
            null_effect="clear",
            profile_overrides={"published": {"type": localized_text(256)}},
        ),
        Field("draft", Flag(), value_when_absent=False, exposure=(True, False)),
        Field(
            "group",
            Reference.to("section_group"),
            is_parent_reference=True,
            read_path="sectionGroup",
            write_name="parent",
            null_effect="clear",
        ),
    ),
)
