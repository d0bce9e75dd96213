"""Define the API operations on audit events: method, path, models and handler of each.

Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.people import audit
from ..models import audit as ma
from .builders import ORG, PUBLISHED_ONLY, get, listing

TITLE = "Audit events"

OPERATIONS = [
    listing("listOrganizationAuditEvents", ORG + "/audit-events", audit.list_events, ma.AuditEvent,
            ma.AuditEventQuery, required_role="admin",
            note="Lists each successful write as one event. Works without a paid plan.",
            **PUBLISHED_ONLY),
    get("getOrganizationAuditEvent", ORG + "/audit-events/{auditEventId}", audit.get_event,
        ma.AuditEventDetails, required_role="admin",
        note="The event has an empty `payload`.", **PUBLISHED_ONLY),
]  # fmt: skip
