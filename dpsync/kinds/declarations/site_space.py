"""Declare the positions of spaces in a site: in a section, or at the root of a site without sections.

A site space never moves to another section.
"""

from msgspec.structs import replace

from dpsync.kinds.declarations.section_group import NAVIGATION, SIBLINGS
from dpsync.kinds.kind import Delete, Field, Kind, Lifted, Node, Order, Patch, Post, Url
from dpsync.kinds.types import Flag, Reference, Text
from dpsync.kinds.types.free_form import Condition

_MOVES = Order(
    Post("{self}/move", {"position": "$position"}, repeat="safe"),
    pointer={"type": "site-space", "siteSpace": "$id"},
    apart=True,
)
SITE_SPACE = Kind(
    name="site_space",
    parent=("section", "site"),
    key="structure",
    shape=Node("space", "site-space", alone=True, file_always=("path",),
               file_fields=("localizedTitle", "default", "hidden", "draft", "condition"),
               file_content=("language",), file_single=("customization", ("title", "localizedTitle"))),
    label="site space",
    at="/orgs/{organization}/sites/{site}/site-spaces/{id}",
    read=NAVIGATION,
    url=Url("urls.published", part="path", bare="default"),
    visible_when={"draft": (False,)},
    identity=("path", "space"),  # creating takes no path: an interrupted creation is found by its space
    title="path",
    create=Post("/orgs/{organization}/sites/{site}/site-spaces", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    order=replace(SIBLINGS, otherwise=_MOVES),
    after=("adaptive_schema",),
    fields=(
        Field("space", Reference.to("space", "translation"), read="space.id", write="spaceId", required=True,
              access="shows"),
        Field("path", Text(1, 100, segment=True), on="update", unique="parent", in_answers="always"),
        Field("condition", Condition(1, 1024), on="update", null="clear", exposure=Lifted()),
        Field("hidden", Flag(), on="update", absent=False, exposure=(True, False)),
        Field("pageId", Text(1), on="update", null="clear"),
        Field("draft", Flag(), absent=False, exposure=(True, False)),
        # Its section names the default, or the site where there are no sections.
        Field("default", Flag(), on="update", absent=False, one_per="parent",
              via=Patch("{parent}", {"defaultSiteSpace": "$id"}, repeat="safe")),
        Field("section", Reference.to("section"), on="create", nest=True, write="sectionId"),
    ),
)  # fmt: skip
