"""Declare the topics of a site. GitBook finds topics by itself; entries declare only their use."""

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
    create=ByHand("wait until GitBook creates the topic {key}, because the API cannot create topics"),
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
