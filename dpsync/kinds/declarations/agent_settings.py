"""Declare the settings of a site's AI agents (`Kind`). Each write replaces all settings.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Field, Kind, Put, SingleEntry, SingleRead
from dpsync.kinds.types import Enum, Object
from dpsync.kinds.types.texts import Markdown

_TOPICS = ("never", "auto")
_CHANGE_REQUESTS = ("never", "auto-fixable", "always")
AGENT_SETTINGS = Kind(
    name="agent_settings",
    parent="site",
    key="agentSettings",
    label="agent settings",
    shape=SingleEntry(exists_with_parent=True),
    url_path="{parent}/agent-settings",
    read=SingleRead(),
    update=Put(
        "{self}", replaces_object=True, read_only=("object", "updatedAt", "updatedBy", "urls"), repeat="safe"
    ),
    changed_at_path="updatedAt",
    fields=(
        Field(
            "scans",
            Object({"topics": Enum(_TOPICS)}, ("topics",)),
            written_in="update",
            in_responses="always",
            can_widen_access=True,
            widens_when=tuple({"topics": word} for word in _TOPICS),
        ),
        Field(
            "findings",
            Object({"changeRequests": Enum(_CHANGE_REQUESTS)}, ("changeRequests",)),
            written_in="update",
            in_responses="always",
            can_widen_access=True,
            widens_when=tuple({"changeRequests": word} for word in _CHANGE_REQUESTS),
        ),
        Field(
            "editing",
            Object({"customInstructions": Markdown()}, ("customInstructions",)),
            written_in="update",
            in_responses="always",
            platform_default={"customInstructions": ""},
        ),
    ),
)
