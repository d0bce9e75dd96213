"""Declare the agent instructions of an organization (`Kind`), which GitBook gives its AI agents.

In configuration files they are Markdown; in the API they are a rich-text Document.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Field, Kind, Put, SingleEntry, SingleRead
from dpsync.kinds.types.texts import Markdown

AGENT_INSTRUCTIONS = Kind(
    name="agent_instructions",
    parent="organization",
    key="agentInstructions",
    label="agent instructions",
    shape=SingleEntry(exists_with_parent=True),
    url_path="{parent}/agent-instructions",
    read=SingleRead(),
    update=Put("{self}", repeat="safe"),
    shorthand_field="instructions",
    fields=(Field("instructions", Markdown(), written_in="update", null_effect="empty"),),
)
