"""Declare the agent instructions of an organization: Markdown in files, a document in the API."""

from dpsync.kinds.kind import Field, Kind, One, Put, Single
from dpsync.kinds.types.texts import Markdown

AGENT_INSTRUCTIONS = Kind(
    name="agent_instructions",
    parent="organization",
    key="agentInstructions",
    label="agent instructions",
    shape=Single(always=True),
    at="{parent}/agent-instructions",
    read=One(),
    update=Put("{self}", repeat="safe"),
    shorthand="instructions",
    fields=(Field("instructions", Markdown(), on="update", null="empty"),),
)
