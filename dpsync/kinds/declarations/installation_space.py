"""Declare the spaces of an installed integration, each with its configuration. The key is the space's."""

from dpsync.kinds.declarations.installation import CONFIGURATION, EXTERNAL_IDS
from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Patch, Post
from dpsync.kinds.types import Reference

INSTALLATION_SPACE = Kind(
    name="installation_space",
    parent="installation",
    key="spaces",
    label="integration on a space",
    shape=Entries(natural="space"),
    at="{parent}/spaces/{id}",
    id="space",
    own_id=False,
    read=Pages("{parent}/spaces"),
    identity=("space",),
    title="space",
    create=Post("{parent}/spaces", {"space": "$space"}, gives="$space", repeat="look_up"),
    update=Patch("{self}", whole=True, repeat="safe"),
    delete=Delete(repeat="safe"),
    security=True,
    fields=(Field("space", Reference.to("space", "translation"), on="neither"), CONFIGURATION, EXTERNAL_IDS),
)
