"""Audit events.

auditEvents: [{id, occurredAt, action, actor: {type, id, label}, source, target: {type, id, label}}]
"""

from ..handlers.people.audit import AUDIT_EVENT
from ..records.family import Family
from ..records.world_format import listed
from . import shapes

FAMILIES = (
    Family(AUDIT_EVENT, owner="organization",
           world=listed(AUDIT_EVENT, "auditEvents", shape=list[shapes.AuditEvent], times=("occurredAt",),
                        source="api")),
)  # fmt: skip
