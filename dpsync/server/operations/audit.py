"""Today's edition: who did what."""

from ..handlers.people import audit
from ..models import audit as ma
from .rows import ORG, TODAY, get, listing

_DECIDED = (
    "Each write that succeeded is one event, also one that changed nothing. Its action is the id of the "
    "operation, its target what was made, else the innermost thing that the path names. No plan is needed."
)

OPERATIONS = [
    listing("listOrganizationAuditEvents", ORG + "/audit-events", audit.list_events, ma.AuditEvent,
            ma.AuditEventQuery, needs="admin", decided=_DECIDED, **TODAY),
    get("getOrganizationAuditEvent", ORG + "/audit-events/{auditEventId}", audit.get_event,
        ma.AuditEventDetails, needs="admin",
        decided="The payload is empty: events have none of the values that were written.", **TODAY),
]  # fmt: skip
