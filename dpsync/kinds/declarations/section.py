"""Declare the sections of a site. A new section comes with a space, which becomes its first site space."""

from msgspec.structs import replace

from dpsync.kinds.declarations.section_group import NAVIGATION, SIBLINGS
from dpsync.kinds.kind import ANY, Delete, Field, Kind, Lifted, Node, Order, Patch, Post, Url
from dpsync.kinds.shared.fields import LOCALIZED, localized
from dpsync.kinds.types import Flag, Reference, Text
from dpsync.kinds.types.free_form import Condition

_IN_GROUP = "/orgs/{organization}/sites/{site}/section-groups/{value}/sections"
_OUT_OF_GROUP = "/orgs/{organization}/sites/{site}/section-groups/{old}/sections/{id}"
_MOVES = Order(
    Post("{self}/move", {"position": "$position"}, repeat="safe"),
    pointer={"type": "site-section", "siteSection": "$id"},
    apart=True,
)
SECTION = Kind(
    name="section",
    parent="site",
    key="structure",
    shape=Node("section", "site-section", children="siteSpaces", holds=("site_space",), least=1,
               wraps_when={"type": "site"},  # gitbook-skills, configure-site, API cheatsheet
               file_always=("title", "path"),
               file_fields=("localizedTitle", "description", "localizedDescription", "icon", "default",
                            "condition")),
    at="/orgs/{organization}/sites/{site}/sections/{id}",
    read=NAVIGATION,
    url=Url("urls.published", part="path", bare="default"),
    visible_when={"draft": (False,)},
    # Creating takes no path: an interrupted creation is found by its title and what it shows.
    identity=("path", ("title", "$child.space")),
    sole_key="title",  # its first child may have been removed on the platform, or may be new in the file
    create=Post("/orgs/{organization}/sites/{site}/sections", {"...": "$fields", "spaceId": "$child.space"},
                also_creates="siteSpaces.0.id", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    content=True,
    order=replace(SIBLINGS, otherwise=_MOVES),
    after=("adaptive_schema",),
    fields=(
        Field("title", Text(2, 128), required=True),
        Field("path", Text(1, 100, segment=True), on="update", unique="site", in_answers="always"),
        Field("icon", Text(1, 50), null="clear"),
        Field("description", Text(1, 256), on="update", null="clear"),
        Field("condition", Condition(1, 1024), on="update", null="clear", exposure=Lifted()),
        Field("localizedTitle", LOCALIZED, on="update", null="clear",
              on_profiles={"published": {"type": localized(128), "null": "refused"}}),
        Field("localizedDescription", LOCALIZED, on="update", null="clear",
              on_profiles={"published": {"type": localized(256), "null": "refused"}}),
        Field("draft", Flag(), absent=False, exposure=(True, False)),
        # One section in the whole site is the default, groups included; it is the site that names it.
        Field("default", Flag(), on="update", absent=False, one_per="site",
              via=Patch("{parent}", {"defaultSiteSection": "$id"}, repeat="safe")),
        Field("group", Reference.to("section_group"), nest=True, read="sectionGroup",
              write="siteSectionGroupId", null="clear",
              otherwise={ANY: Post(_IN_GROUP, {"sectionId": "$id"}, repeat="safe"),
                         None: Delete(_OUT_OF_GROUP, repeat="safe")}),
    ),
)  # fmt: skip
