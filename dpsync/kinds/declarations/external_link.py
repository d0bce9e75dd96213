"""Declare the links to other websites in a site's navigation, at the root or in a group."""

from dpsync.kinds.declarations.section_group import SIBLINGS, STRUCTURE
from dpsync.kinds.kind import Delete, Field, Kind, Lifted, Node, Patch, Post
from dpsync.kinds.shared.fields import LOCALIZED, localized
from dpsync.kinds.types import Flag, Reference, Text
from dpsync.kinds.types.free_form import Condition

EXTERNAL_LINK = Kind(
    name="external_link",
    parent="site",
    key="structure",
    shape=Node(
        "external-link",
        "site-external-link",
        file_always=("title", "url"),
        file_fields=("localizedTitle", "description", "localizedDescription", "icon", "condition", "draft"),
    ),
    at="/orgs/{organization}/sites/{site}/external-links/{id}",
    read=STRUCTURE,
    identity=("title",),
    tie_breakers=("group", "url"),
    create=Post("/orgs/{organization}/sites/{site}/external-links", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    order=SIBLINGS,
    after=("adaptive_schema",),
    security=True,
    fields=(
        Field("title", Text(1, 128), required=True, on_profiles={"published": {"type": Text(2, 128)}}),
        Field("url", Text(1, 2048, form="url"), required=True, security=True, raised="changed"),
        Field("icon", Text(1, 50), null="clear"),
        Field("description", Text(1, 256), null="clear"),
        Field("condition", Condition(1, 1024), null="clear", exposure=Lifted()),
        Field(
            "localizedTitle",
            LOCALIZED,
            on="update",
            null="clear",
            on_profiles={"published": {"type": localized(128)}},
        ),
        Field(
            "localizedDescription",
            LOCALIZED,
            on="update",
            null="clear",
            on_profiles={"published": {"type": localized(256)}},
        ),
        Field("draft", Flag(), absent=False, exposure=(True, False)),
        Field(
            "group",
            Reference.to("section_group"),
            nest=True,
            read="sectionGroup",
            write="parent",
            null="clear",
        ),
    ),
)
