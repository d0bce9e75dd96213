"""Declare collections of spaces (`Kind`): fields and requests.

The fields `order` and `collectionOrder` list the spaces and the collections inside, in order.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import (
    Delete,
    EntryMapping,
    Field,
    Kind,
    Lifecycle,
    ListOrder,
    ListRead,
    Patch,
    Post,
    SiblingOrder,
)
from dpsync.kinds.shared.fields import COLLECTION_ORDER, LEVEL, ROLES_ASCENDING_WITH_GUEST
from dpsync.kinds.types import Reference, Text

COLLECTION = Kind(
    name="collection",
    parent="organization",
    key="collections",
    shape=EntryMapping(),
    url_path="/collections/{id}",
    read=ListRead("{parent}/collections"),
    changed_at_path="updatedAt",
    natural_keys=("title",),
    tie_breakers=("parent",),
    create=Post("{parent}/collections", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    has_content=True,
    can_be_empty=True,
    lifecycle=Lifecycle(
        transfer=Post("{self}/transfer", {"organization": "$organization"}, repeat="safe"), on_delete="lifted"
    ),
    fields=(
        Field("title", Text(1, 50), required=True),
        Field(
            "parent",
            Reference.to("collection"),
            null_effect="clear",
            can_widen_access=True,
            access_meaning="inside",
            own_call=Post("{self}/move", {"parent": "$value"}, repeat="safe"),
        ),
        Field("description", Text(0, 100), written_in="update", null_effect="empty"),
        Field(
            "defaultLevel",
            LEVEL,
            written_in="update",
            value_when_absent="guest",
            platform_default="inherit",
            can_widen_access=True,
            widens_when=ROLES_ASCENDING_WITH_GUEST,
            access_meaning="level",
        ),
        ListOrder(
            "order",
            item_kind="space",
            place_field="collection",
            live_order_read=ListRead("{self}/spaces"),
            move_order=SiblingOrder(
                Post("{self}/move", {"position": "$position"}, repeat="safe"),
                sibling_reference={"type": "space", "space": "$id"},
            ),
        ),
        COLLECTION_ORDER,
    ),
)
