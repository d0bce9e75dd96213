"""Sections of a site. One is made around a space, which becomes its first site space."""

from dpsync.kinds.base import Delete, Field, Kind, Node, Patch, Post
from dpsync.kinds.section_group import NAVIGATION, SIBLINGS
from dpsync.kinds.types import Flag, Reference, Text

SECTION = Kind(
    name="section",
    parent="site",
    key="structure",
    shape=Node("section", "site-section", children="siteSpaces", holds=("site_space",), least=1),
    at="/orgs/{organization}/sites/{site}/sections/{id}",
    read=NAVIGATION,
    # Creating takes no path: an interrupted creation is found by its title and what it shows.
    identity=("path", ("title", "$child.space")),
    create=Post("/orgs/{organization}/sites/{site}/sections", {"...": "$fields", "spaceId": "$child.space"},
                makes="siteSpaces.0.id"),
    update=Patch("{self}"),
    delete=Delete(),
    order=SIBLINGS,
    after=("adaptive_schema",),
    fields=(
        Field("title", Text(2, 128), required=True),
        Field("path", Text(1, 100), on="update", unique="site"),
        Field("icon", Text(1, 50), null="clear"),
        Field("description", Text(1, 256), on="update", null="clear"),
        Field("condition", Text(1, 1024), on="update", null="clear"),
        # One section in the whole site is the default, groups included; it is the site that names it.
        Field("default", Flag(), on="update", absent=False, one_per="site",
              via=Patch("{parent}", {"defaultSiteSection": "$id"})),
        Field("group", Reference("section_group"), on="update", nest=True, read="sectionGroup",
              write="siteSectionGroupId", null="clear"),
    ),
)  # fmt: skip
