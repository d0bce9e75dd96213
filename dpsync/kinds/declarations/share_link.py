"""Declare the share links of a site (`Kind`). The key of an entry in the files is the name of the link.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Post
from dpsync.kinds.types import Flag, Text

SHARE_LINK = Kind(
    name="share_link",
    parent="site",
    key="shareLinks",
    shape=EntryMapping(key_field="name"),
    url_path="{parent}/share-links/{id}",
    read=ListRead("{parent}/share-links"),
    natural_keys=("name",),
    title_field="name",
    copy_url_in="the audience settings of the site in GitBook",
    create=Post("{parent}/share-links", {"name": "$name"}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    creation_widens_access=True,
    opens_parent=True,
    fields=(
        Field(
            "name",
            Text(1, 100),
            in_responses="always",
            profile_overrides={"published": {"type": Text(1, 50), "in_responses": "sometimes"}},
        ),
        # A new one is active at once.
        Field(
            "active",
            Flag(),
            written_in="update",
            value_when_absent=True,
            can_widen_access=True,
            exposure=(False, True),
        ),
    ),
)
