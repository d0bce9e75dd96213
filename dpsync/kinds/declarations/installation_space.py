"""Declare the spaces to which an installed integration is extended (`Kind`), each with its configuration.

The key of an entry in the files is the key of the space's entry.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.declarations.installation import CONFIGURATION, EXTERNAL_IDS
from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Post
from dpsync.kinds.types import Reference

INSTALLATION_SPACE = Kind(
    name="installation_space",
    parent="installation",
    key="spaces",
    label="integration on a space",
    shape=EntryMapping(key_field="space"),
    url_path="{parent}/spaces/{id}",
    id_path="space",
    has_unique_id=False,
    read=ListRead("{parent}/spaces"),
    natural_keys=("space",),
    title_field="space",
    create=Post("{parent}/spaces", {"space": "$space"}, id_source="$space", repeat="look_up"),
    update=Patch("{self}", replaces_object=True, repeat="safe"),
    delete=Delete(repeat="safe"),
    creation_widens_access=True,
    fields=(
        Field("space", Reference.to("space", "translation"), written_in="neither"),
        CONFIGURATION,
        EXTERNAL_IDS,
    ),
)
