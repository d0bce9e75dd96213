"""Declare the section groups in a site's navigation, which contain sections and other groups."""

from msgspec.structs import replace

from dpsync.kinds.kind import Delete, Field, Kind, Lifecycle, Lists, Node, Order, Patch, Post, Tree
from dpsync.kinds.shared.fields import LOCALIZED, localized
from dpsync.kinds.types import Flag, Reference, Text

_SITE = "/orgs/{organization}/sites/{site}"
LISTS = Lists((f"{_SITE}/section-groups", f"{_SITE}/sections", f"{_SITE}/site-spaces"))
STRUCTURE = Tree(f"{_SITE}/structure", root="structure")
NAVIGATION = replace(STRUCTURE, otherwise=LISTS)
SIBLINGS = Order(
    Patch("/orgs/{organization}/sites/{site}/structure/sort",
          {"item": {"type": "$wire", "id": "$id"}, "position": "$position"}, repeat="safe"),
    pointer={"type": "$wire", "id": "$id"},
)  # fmt: skip
SECTION_GROUP = Kind(
    name="section_group",
    parent="site",
    key="structure",
    shape=Node("section-group", "site-section-group", children="children",
               holds=("section_group", "section", "external_link"),
               file_always=("title",), file_fields=("localizedTitle", "icon", "draft")),
    at="/orgs/{organization}/sites/{site}/section-groups/{id}",
    read=NAVIGATION,
    visible_when={"draft": (False,)},
    identity=("title",),
    tie_breakers=("group",),
    create=Post("/orgs/{organization}/sites/{site}/section-groups", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    order=SIBLINGS,
    lifecycle=Lifecycle(on_delete="lifted"),
    fields=(
        Field("title", Text(1, 100), required=True),
        Field("icon", Text(1, 50), null="clear"),
        Field("localizedTitle", LOCALIZED, on="update", null="clear",
              on_profiles={"published": {"type": localized(128), "null": "refused"}}),
        Field("draft", Flag(), absent=False, exposure=(True, False)),
        # Read under one name and written under two more.
        Field("group", Reference.to("section_group"), nest=True, read="sectionGroup", create_as="parent",
              write="parentSectionGroupId", null="clear"),
    ),
)  # fmt: skip
