"""Declare context connections (`Kind`): services that a site's AI agents read. dpsync never prints tokens.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import (
    BusyState,
    Delete,
    EntryMapping,
    Field,
    Kind,
    ListRead,
    Patch,
    PlatformWork,
    Post,
    Restriction,
    Trouble,
)
from dpsync.kinds.shared.integrations import CONNECTOR, CONNECTOR_FORMS, CONNECTOR_PARTS
from dpsync.kinds.types import Enum, Flag, Object, Text

_BOOST = Enum(("x0.8", "x1.0", "x1.2"))
_USAGE = Object(
    {"changeRequests": Flag(), "search": Flag(), "sync": Flag(), "searchBoost": _BOOST},
    ("changeRequests", "search", "searchBoost"), "the usage settings of a connection",
)  # fmt: skip
_SETUP = {"connector": "$connector", "setupSettings": "$value"}
CONTEXT_CONNECTION = Kind(
    name="context_connection", parent="site", key="contextConnections", shape=EntryMapping(),
    url_path="{parent}/context-connections/{id}", read=ListRead("{parent}/context-connections"),
    # Creating takes no label, so that it can only tell several of one connector apart.
    natural_keys=("connector",), tie_breakers=("label",), title_field="label",
    create=Post("{parent}/context-connections", repeat="look_up"), update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    platform_work=PlatformWork(
        busy=BusyState("status", ("syncing",)),
        trouble=Trouble(
            "status", "its last synchronization failed",
            "check the access to the service in the settings of the site in GitBook",
            detail_field="failureReason", accepted_values=("pending", "syncing", "succeeded"),
        ),
        user_actions={"sync": Post("{self}/sync", None, repeat="never")},
    ),
    creation_widens_access=True,
    fields=(
        Field("connector", CONNECTOR, written_in="create", required=True),
        # Replaced as a whole, with the connector beside it.
        Field(
            "setupSettings", Object(CONNECTOR_PARTS, noun="the settings of a connection"),
            can_widen_access=True, widens_when="changed", form_selector="connector", forms=CONNECTOR_FORMS,
            own_call=Patch("{self}", _SETUP, replaces_object=True, repeat="safe"),
        ),
        Field("usageSettings", _USAGE, in_responses="always", can_widen_access=True, widens_when="changed"),
        Field("filter", Text(1, 1024), null_effect="empty", widens_when=Restriction()),
        Field("label", Text(1, 128), written_in="update", null_effect="empty"),
        Field("status", Text(), written_in="neither"), Field("failureReason", Text(), written_in="neither"),
    ),
)  # fmt: skip
