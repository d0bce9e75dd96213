"""Record events of integrations, such as an installation, and send them to the tunnel of a developer.

Nothing runs the script of an integration. An event is recorded at once or, while a tunnel is set (the URL of
a developer's machine), after it was sent to the tunnel, in the order of creation. The store keeps the last
MAX_EVENTS events of an integration.
"""

from pydantic_core import to_json

from ..jobs.outside_services import FetchError
from ..jobs.queue import JOB, RunningJob, make_job
from ..request.context import Context
from ..store import Json, Record

INTEGRATION = "integration"
"""Record kind of integrations. The id is the name, `organization` is the owner."""
EVENT = "integration-event"
"""Record kind of events. `scope` is the integration, `ref` the installation, `organization` its
organization.
"""
WAITING_EVENT = "waiting-event"
"""Record kind of events that wait to be sent, and that no list shows yet."""
DISPATCH_JOB = "dispatch-events"
MAX_EVENTS = 1000


def emit(ctx: Context, integration: Record, installation: str, organization: str, payload: Json) -> None:
    """Record an event of an installation, or queue it for the tunnel of the integration.

    Without a tunnel, the event is recorded as successful. If too many events wait, it is recorded as failed.
    """
    id = ctx.new_id(EVENT)
    payload = {"eventId": id, "installationId": installation, **payload}
    doc = {"createdAt": ctx.timestamp, "payload": payload}
    event = Record(EVENT, id, doc, organization, integration.id, ref=installation)
    if _tunnel_url(integration, event) is None:
        _save_event(
            ctx,
            event,
            "success",
            _log_entry(ctx, "debug", "recorded, but not sent, because no tunnel is set"),
        )
    elif ctx.store.count(WAITING_EVENT, scope=integration.id) >= MAX_EVENTS:
        _save_event(
            ctx,
            event,
            "failed",
            _log_entry(ctx, "error", f"not sent, because {MAX_EVENTS} other events wait for the tunnel"),
        )
    else:
        event.kind = WAITING_EVENT
        ctx.put(event)
        if not ctx.store.find(JOB, ref=queue_subject(integration).id):
            ctx.put(make_dispatch_job(integration))


def queue_subject(integration: Record) -> Record:
    """Return the subject of the integration's job.

    An integration may have any name. The colon in the id prevents a collision with the id of another record.
    """
    return Record("", f"{INTEGRATION}:{integration.id}", {}, integration.organization)


def make_dispatch_job(integration: Record) -> Record:
    """Return the job that sends the waiting events of an integration."""
    return make_job(queue_subject(integration), DISPATCH_JOB, integration=integration.id)


def _tunnel_url(integration: Record, event: Record) -> str | None:
    """Return the URL to which an event is sent, or None."""
    development = integration.doc.get("development")
    if not development or not (development["all"] or event.organization == integration.organization):
        return None
    return str(development["tunnelUrl"])


def _log_entry(ctx: Context, level: str, message: str) -> Json:
    """Return one entry of the log of an event."""
    return {"message": message, "timestamp": ctx.timestamp, "level": level}


def _save_event(ctx: Context, event: Record, status: str, *logs: Json) -> None:
    """Store an event with its status and log, and remove the oldest events above the maximum."""
    surplus = ctx.store.count(EVENT, scope=event.scope) + 1 - MAX_EVENTS
    for old in ctx.store.find_by_creation(EVENT, 0, max(surplus, 0), scope=event.scope):
        ctx.remove(old)
    doc = {**event.doc, "status": status, "logs": list(logs)}
    ctx.put(Record(EVENT, event.id, doc, event.organization, event.scope, ref=event.ref))


# --- sending ------------------------------------------------------------------------------------------


async def dispatch_events(work: RunningJob) -> None:
    """Send the waiting events of an integration to its tunnel one by one, and record the results."""
    while (next_event := _next_event(work)) is not None:
        event, url, sending_entry = next_event
        try:
            status = await work.services.post(url, to_json(event.doc["payload"]))
            outcome = f"the tunnel returned the status {status}"
            succeeded = 200 <= status < 300
        except FetchError as error:
            outcome, succeeded = error.message, False
        with work.step() as ctx:
            ctx.remove(event)
            entry = _log_entry(ctx, "info" if succeeded else "error", outcome)
            _save_event(ctx, event, "success" if succeeded else "failed", sending_entry, entry)


def _next_event(work: RunningJob) -> tuple[Record, str, Json] | None:
    """Return (next event of an integration to send, its URL, first entry of its log).

    Events without a URL (the tunnel is no longer set) are marked as done and skipped. Without a waiting
    event, remove the job and return None.
    """
    with work.step() as ctx:
        integration = ctx.load(INTEGRATION, work.job.doc["integration"])
        while integration and (
            waiting := ctx.store.find_by_creation(WAITING_EVENT, 0, 1, scope=integration.id)
        ):
            url = _tunnel_url(integration, waiting[0])
            if url is not None:
                return waiting[0], url, _log_entry(ctx, "debug", f"POST {url}")
            ctx.remove(waiting[0])
            _save_event(
                ctx,
                waiting[0],
                "success",
                _log_entry(ctx, "debug", "not sent, because the tunnel is no longer set"),
            )
        ctx.remove(work.job)
    return None
