"""Declare the settings of a site's AI agents. Each write replaces all settings."""

from dpsync.kinds.kind import Field, Kind, One, Put, Single
from dpsync.kinds.types import Enum, Object
from dpsync.kinds.types.texts import Markdown

_TOPICS = ("never", "auto")
_CHANGE_REQUESTS = ("never", "auto-fixable", "always")
AGENT_SETTINGS = Kind(
    name="agent_settings",
    parent="site",
    key="agentSettings",
    label="agent settings",
    shape=Single(always=True),
    at="{parent}/agent-settings",
    read=One(),
    update=Put("{self}", whole=True, read_only=("object", "updatedAt", "updatedBy", "urls"), repeat="safe"),
    changed="updatedAt",
    fields=(
        Field(
            "scans",
            Object({"topics": Enum(_TOPICS)}, ("topics",)),
            on="update",
            in_answers="always",
            security=True,
            raised=tuple({"topics": word} for word in _TOPICS),
        ),
        Field(
            "findings",
            Object({"changeRequests": Enum(_CHANGE_REQUESTS)}, ("changeRequests",)),
            on="update",
            in_answers="always",
            security=True,
            raised=tuple({"changeRequests": word} for word in _CHANGE_REQUESTS),
        ),
        Field(
            "editing",
            Object({"customInstructions": Markdown()}, ("customInstructions",)),
            on="update",
            in_answers="always",
            platform_default={"customInstructions": ""},
        ),
    ),
)
