"""Declare the sites to which an installed integration is extended (`Kind`), each with its configuration.

The key of an entry in the files is the key of the site's entry.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.declarations.installation import CONFIGURATION, EXTERNAL_IDS
from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Post
from dpsync.kinds.types import Reference

INSTALLATION_SITE = Kind(
    name="installation_site",
    parent="installation",
    key="sites",
    label="integration on a site",
    shape=EntryMapping(key_field="site"),
    url_path="{parent}/sites/{id}",
    id_path="site",
    has_unique_id=False,
    read=ListRead("{parent}/sites"),
    natural_keys=("site",),
    title_field="site",
    create=Post("{parent}/sites", {"siteId": "$site"}, id_source="$site", repeat="look_up"),
    update=Patch("{self}", replaces_object=True, repeat="safe"),
    delete=Delete(repeat="safe"),
    creation_widens_access=True,
    fields=(Field("site", Reference.to("site"), written_in="neither"), CONFIGURATION, EXTERNAL_IDS),
)
