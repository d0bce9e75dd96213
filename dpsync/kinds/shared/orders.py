"""The order of collections among each other: in a collection, and at the top of an organization."""

from dpsync.kinds.kind import ListOrder, Order, Post

COLLECTION_ORDER = ListOrder(
    "collectionOrder",
    of="collection",
    by="parent",
    present=None,
    order=Order(
        Post("{self}/move", {"position": "$position"}, repeat="safe"),
        pointer={"type": "collection", "collection": "$id"},
    ),
)
