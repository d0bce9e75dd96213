"""Make the response bodies for audit events.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from ..request.context import Context
from ..store import Json, Record
from .shared import api_url


def audit_event(ctx: Context, record: Record) -> Json:
    """Return the response body for an audit event as a list shows it."""
    location = api_url(ctx, f"/orgs/{record.organization}/audit-events/{record.id}")
    return {"object": "audit-event", "id": record.id, **record.doc, "urls": {"location": location}}


def audit_event_details(ctx: Context, record: Record) -> Json:
    """Return the response body for an audit event with its payload, which is empty."""
    return {**audit_event(ctx, record), "schemaVersion": 1, "payload": {}}
