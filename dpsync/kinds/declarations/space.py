"""Declare spaces. Move requests change the collection of a space and its position in the collection."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Lifecycle, Pages, Patch, Post, Restore
from dpsync.kinds.shared.fields import IS_STYLEGUIDE, LANGUAGE, SPACE_ACCESS, SPACE_SYNC
from dpsync.kinds.types import Enum, Reference, Text

SPACE = Kind(
    name="space",
    parent="organization",
    key="spaces",
    shape=Entries(),
    at="/spaces/{id}",
    read=Pages("{parent}/spaces"),
    changed="updatedAt",
    identity=("title",),
    tie_breakers=("collection", "language"),
    create=Post("{parent}/spaces", {"...": "$fields", "empty": True}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    content=True,
    synced=SPACE_SYNC,
    pages="{self}/content/pages",
    others=IS_STYLEGUIDE,
    shown_in=Pages("{parent}/sites?space={id}"),
    lifecycle=Lifecycle(
        transfer=Post("{self}/transfer", {"organization": "$organization"}, repeat="safe"),
        # It is in no site then.
        restore=Restore(Post("{self}/restore", None, repeat="look_up"), deleted="deletedAt", days=7),
    ),
    fields=(
        Field("title", Text(1, 50), required=True),
        Field("collection", Reference.to("collection"), read="parent", write="parent", null="clear",
              security=True, access="inside",
              via=Post("{self}/move", {"parent": "$value"}, repeat="safe")),
        Field("emoji", Text(1, 50), null="clear", instead_of="icon"),
        # Written as `icon`, read as `urls.icon`, where the platform may answer with a URL of its own.
        Field("icon", Text(1, 2048, form="url"), on="update", read="urls.icon", null="clear",
              instead_of="emoji"),
        Field("editMode", Enum(("live", "locked")), platform_default="live", raised=("locked", "live")),
        Field("language", LANGUAGE),
        *SPACE_ACCESS,
    ),
)  # fmt: skip
