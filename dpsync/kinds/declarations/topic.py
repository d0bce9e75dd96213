"""What people ask about on a site. The platform finds its topics by itself; their use is declared."""

from dpsync.kinds.kind import ByHand, Entries, Field, Kind, Pages, Patch
from dpsync.kinds.types import Flag, Object, Text

TOPIC = Kind(
    name="topic",
    parent="site",
    key="topics",
    shape=Entries(),
    at="{parent}/topics/{id}",
    read=Pages("{parent}/topics", unpaged=True),
    changed="updatedAt",
    identity=("label",),  # not unique on the platform
    title="label",
    create=ByHand("wait until the platform has found it ({key}): no request makes a topic"),
    update=Patch("{self}", repeat="safe"),
    fields=(
        Field("label", Text(1), on="create", required=True),
        Field(
            "usageSettings",
            Object({"changeRequests": Flag()}, ("changeRequests",)),
            on="update",
            in_answers="always",
            platform_default={"changeRequests": False},
            raised=({"changeRequests": False}, {"changeRequests": True}),
        ),
    ),
)
