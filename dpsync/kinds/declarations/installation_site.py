"""Declare the sites of an installed integration, each with its configuration. The key is the site's key."""

from dpsync.kinds.declarations.installation import CONFIGURATION, EXTERNAL_IDS
from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Patch, Post
from dpsync.kinds.types import Reference

INSTALLATION_SITE = Kind(
    name="installation_site",
    parent="installation",
    key="sites",
    label="integration on a site",
    shape=Entries(natural="site"),
    at="{parent}/sites/{id}",
    id="site",
    own_id=False,
    read=Pages("{parent}/sites"),
    identity=("site",),
    title="site",
    create=Post("{parent}/sites", {"siteId": "$site"}, gives="$site", repeat="look_up"),
    update=Patch("{self}", whole=True, repeat="safe"),
    delete=Delete(repeat="safe"),
    security=True,
    fields=(Field("site", Reference.to("site"), on="neither"), CONFIGURATION, EXTERNAL_IDS),
)
