"""Add audit events, one for each successful write, and handle the API operations that read them.

Only the API version (profile) `published` has audit events. An event names the operation and its target, and
has no values except the title of the target.
"""

import re
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from ... import responses
from ...errors import not_found
from ...request.context import Context
from ...request.operation import Operation
from ...request.paging import list_page
from ...sites.git_sync import find_installation_target
from ...store import Json, Record

AUDIT_EVENT = "audit-event"
_CAMEL_CASE_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def list_events(ctx: Context) -> Json:
    """List the audit events of an organization that match the query, the newest first.

    The query selects by action, by the ids of actor and target, and by time (`since` to `to`).
    """
    organization, query = ctx.organization_from_path(), ctx.query
    events = [
        event
        for event in ctx.store.find(AUDIT_EVENT, organization=organization.id)
        if (query.action is None or query.action == str(event.doc["action"]))
        and (query.actor is None or query.actor == str(event.doc["actor"]["id"]))
        and (query.target is None or query.target == str(event.doc["target"]["id"]))
        and (query.since is None or query.since <= event.doc["occurredAt"])
        and (query.to is None or event.doc["occurredAt"] <= query.to)
    ]
    events.sort(key=lambda event: -event.seq)
    return list_page(
        ctx,
        events,
        lambda event: responses.audit_event(ctx, event),
        key=lambda record: [record.seq],
        descending=True,
    )


def get_event(ctx: Context) -> Json:
    """Return an audit event with its details. Raise 404 if it does not exist."""
    organization, id = ctx.organization_from_path(), ctx.params["auditEventId"]
    event = ctx.store.get(AUDIT_EVENT, id)
    if event is None or event.organization != organization.id:
        raise not_found("audit event", id)
    return responses.audit_event_details(ctx, event)


def affected_organization(ctx: Context) -> str | None:
    """Return the organization that a write concerns.

    This must be called before the write, which may delete the object that leads to the organization.
    """
    if "organizationId" in ctx.params:
        return ctx.params["organizationId"]
    for kind in ("space", "collection"):
        object_id = ctx.params.get(f"{kind}Id")
        record = (
            ctx.store.get(kind, object_id) or ctx.store.get(f"deleted-{kind}", object_id)
            if object_id
            else None
        )
        if record is not None:
            return record.organization
    if "installationId" in ctx.params and "integrationName" not in ctx.params:
        installation_target = find_installation_target(ctx, ctx.params["installationId"])
        return installation_target.organization if installation_target is not None else None
    target = getattr(ctx.body, "target", None)
    for kind in ("space", "site"):
        object_id = getattr(target, f"{kind}Id", None)
        record = ctx.store.get(kind, object_id) if object_id else None
        if record is not None:
            return record.organization
    return None


def add_audit_event(ctx: Context, operation: Operation, organization: str | None, result: Any) -> None:
    """Add an audit event for a write. A write outside of any organization is not recorded."""
    if organization is None or ctx.store.get("organization", organization) is None:
        return
    user = ctx.store.get("user", ctx.user)
    doc = {
        "occurredAt": ctx.timestamp,
        "action": operation.id,
        "actor": {"type": "user", "id": ctx.user, **_label(user.doc if user else {})},
        "source": "api",
        "target": _target(ctx, operation, result),
    }
    id = str(uuid5(NAMESPACE_URL, f"{AUDIT_EVENT}/{organization}/{ctx.store.next_number(AUDIT_EVENT)}"))
    ctx.put(Record(AUDIT_EVENT, id, doc, organization, organization))


def _target(ctx: Context, operation: Operation, result: Any) -> Json:
    """Return the object that the write created, or else the last object that the path names."""
    result_doc = result if isinstance(result, dict) else {}
    name = operation.parameters[-1] if operation.parameters else ""
    id, type = ctx.params.get(name, ""), name.removesuffix("Id")
    is_creation = (operation.method == "POST" and operation.status == 201) or ctx.was_created
    if is_creation and isinstance(result_doc.get("id"), str):
        id, type = result_doc["id"], str(result_doc.get("object", type))
    return {"type": "-".join(_CAMEL_CASE_WORD.findall(type)).lower(), "id": id, **_label(result_doc)}


def _label(doc: Json) -> Json:
    """Return {"label": NAME} for an answer or document with a name or title, else {}."""
    label = next(
        (doc[name] for name in ("displayName", "title", "name") if isinstance(doc.get(name), str)), ""
    )
    return {"label": label} if label else {}
