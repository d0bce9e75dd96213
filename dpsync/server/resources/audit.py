"""Declare the records of audit events: how the local server stores, loads and dumps them.

Output: a `RecordKind`. The comment below shows the form in a world (the data the server starts with).
"""

# auditEvents: [{id, occurredAt, action, actor: {type, id, label}, source, target: {type, id, label}}]

from ..handlers.people.audit import AUDIT_EVENT
from ..records.record_kind import RecordKind
from ..records.world_sections import list_section
from . import world_models

RECORD_KINDS = (
    RecordKind(AUDIT_EVENT, owner="organization",
               world_section=list_section(AUDIT_EVENT, "auditEvents",
                                          value_type=list[world_models.AuditEvent],
                                          timestamp_fields=("occurredAt",),
                                          source="api")),
)  # fmt: skip
