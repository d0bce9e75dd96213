"""Declare the services that a site's AI agents read. dpsync never prints tokens."""

from dpsync.kinds.kind import (
    Busy,
    Delete,
    Entries,
    Field,
    Kind,
    Lifted,
    Pages,
    Patch,
    PlatformWork,
    Post,
    Trouble,
)
from dpsync.kinds.shared.integrations import CONNECTOR, FORMS, PARTS
from dpsync.kinds.types import Enum, Flag, Object, Text

_BOOST = Enum(("x0.8", "x1.0", "x1.2"))
_USAGE = Object(
    {"changeRequests": Flag(), "search": Flag(), "sync": Flag(), "searchBoost": _BOOST},
    ("changeRequests", "search", "searchBoost"), "the usage settings of a connection",
)  # fmt: skip
_SETUP = {"connector": "$connector", "setupSettings": "$value"}
CONTEXT_CONNECTION = Kind(
    name="context_connection",
    parent="site",
    key="contextConnections",
    shape=Entries(),
    at="{parent}/context-connections/{id}",
    read=Pages("{parent}/context-connections"),
    # Creating takes no label, so that it can only tell several of one connector apart.
    identity=("connector",),
    tie_breakers=("label",),
    title="label",
    create=Post("{parent}/context-connections", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    platform=PlatformWork(
        busy=Busy("status", ("syncing",)),
        trouble=Trouble("status", "its last synchronization failed",
                        "check the access to the service in the settings of the site in GitBook",
                        detail="failureReason",
                        fine=("pending", "syncing", "succeeded")),
        acts={"sync": Post("{self}/sync", None, repeat="never")},
    ),
    security=True,
    fields=(
        Field("connector", CONNECTOR, on="create", required=True),
        # Replaced as a whole, with the connector beside it.
        Field("setupSettings", Object(PARTS, what="the settings of a connection"), security=True,
              raised="changed", formed_by="connector", forms=FORMS,
              via=Patch("{self}", _SETUP, whole=True, repeat="safe")),
        Field("usageSettings", _USAGE, in_answers="always", security=True, raised="changed"),
        Field("filter", Text(1, 1024), null="empty", raised=Lifted()),
        Field("label", Text(1, 128), on="update", null="empty"),
        Field("status", Text(), on="neither"),
        Field("failureReason", Text(), on="neither"),
    ),
)  # fmt: skip
