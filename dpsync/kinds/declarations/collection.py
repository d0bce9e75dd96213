"""Declare collections. `order` and `collectionOrder` list the spaces and collections inside, in order."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Lifecycle, ListOrder, Order, Pages, Patch, Post
from dpsync.kinds.shared.fields import COLLECTION_ORDER, GUEST_FIRST, LEVEL
from dpsync.kinds.types import Reference, Text

COLLECTION = Kind(
    name="collection",
    parent="organization",
    key="collections",
    shape=Entries(),
    at="/collections/{id}",
    read=Pages("{parent}/collections"),
    changed="updatedAt",
    identity=("title",),
    tie_breakers=("parent",),
    create=Post("{parent}/collections", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    content=True,
    can_be_empty=True,
    lifecycle=Lifecycle(
        transfer=Post("{self}/transfer", {"organization": "$organization"}, repeat="safe"), on_delete="lifted"
    ),
    fields=(
        Field("title", Text(1, 50), required=True),
        Field(
            "parent",
            Reference.to("collection"),
            null="clear",
            security=True,
            access="inside",
            via=Post("{self}/move", {"parent": "$value"}, repeat="safe"),
        ),
        Field("description", Text(0, 100), on="update", null="empty"),
        Field(
            "defaultLevel",
            LEVEL,
            on="update",
            absent="guest",
            platform_default="inherit",
            security=True,
            raised=GUEST_FIRST,
            access="level",
        ),
        ListOrder(
            "order",
            of="space",
            by="collection",
            present=Pages("{self}/spaces"),
            order=Order(
                Post("{self}/move", {"position": "$position"}, repeat="safe"),
                pointer={"type": "space", "space": "$id"},
            ),
        ),
        COLLECTION_ORDER,
    ),
)
