"""Declare the share links of a site. The key of an entry is the name of the link."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Patch, Post
from dpsync.kinds.types import Flag, Text

SHARE_LINK = Kind(
    name="share_link",
    parent="site",
    key="shareLinks",
    shape=Entries(natural="name"),
    at="{parent}/share-links/{id}",
    read=Pages("{parent}/share-links"),
    identity=("name",),
    title="name",
    copy_url_in="the audience settings of the site in GitBook",
    create=Post("{parent}/share-links", {"name": "$name"}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    security=True,
    lets_in=True,
    fields=(
        Field(
            "name",
            Text(1, 100),
            in_answers="always",
            on_profiles={"published": {"type": Text(1, 50), "in_answers": "sometimes"}},
        ),
        # A new one is active at once.
        Field("active", Flag(), on="update", absent=True, security=True, exposure=(False, True)),
    ),
)
