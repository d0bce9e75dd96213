"""Operations on context connections: sources that agents of a site read beside the site's content.

Connections are an ordinary resource; this module has only their special rules. No service is contacted: the
result of a test or synchronization depends on the credentials. Credentials with the word "invalid" are
refused.
"""

from datetime import timedelta

from ...answers.agents import HIDDEN, REDACTED
from ...clock import moment
from ...errors import bad, missing
from ...request.context import Context
from ...store import Json, Record

CONNECTION = "context-connection"
PUSHED = ("builtin:email", "builtin:api")
"""Connectors to which others send: they are never synchronized."""
OFTEN = timedelta(hours=1)
UNUSED: Json = {"changeRequests": False, "search": False, "searchBoost": "x1.0"}


def begin_connection(ctx: Context, connection: Record) -> None:
    """Begin a connection that waits for its first synchronization."""
    connection.doc = {"usageSettings": UNUSED, "status": "pending", "records": 0, "createdAt": ctx.stamp}


def write_connection(ctx: Context, connection: Record, given: Json) -> None:
    """Update a connection. Raise 400 if the connector changes.

    A redacted credential that is written back keeps its value. A label is ignored when a connection is
    created.
    """
    kept = connection.doc.get("connector")
    if kept is None:
        given.pop("label", None)
    elif given.get("connector", kept) != kept:
        raise bad(f"body.connector: the connector of the connection is {kept} and cannot change")
    before, settings = connection.doc.get("setupSettings") or {}, given.get("setupSettings") or {}
    hidden = REDACTED.get(given.get("connector", ""))
    if hidden in before and settings.get(hidden) == HIDDEN:
        settings[hidden] = before[hidden]
    connection.doc.update(given)


def sync_connection(ctx: Context) -> None:
    """Synchronize a connection, at most once an hour. A synchronization is immediate and finds no records."""
    connection = _known(ctx)
    if connection.doc["connector"] in PUSHED:
        raise bad(
            f"the connector {connection.doc['connector']} cannot be synchronized, "
            "because other services send the data"
        )
    last = connection.doc.get("syncedAt")
    if last is not None and ctx.now - moment(last) < OFTEN:
        raise bad("the connection was synchronized less than an hour ago")
    for name in ("failureMessage", "failureReason"):
        connection.doc.pop(name, None)
    connection.doc |= {"status": "succeeded", "syncedAt": ctx.stamp}
    if refused(connection):
        connection.doc |= {
            "status": "failed",
            "failureReason": "authentication",
            "failureMessage": "the credentials are refused",
        }
    ctx.put(connection)


def test_connection(ctx: Context) -> Json:
    found: Json = {"object": "context-connection-test-result", "success": not refused(_known(ctx))}
    return found if found["success"] else {**found, "error": "the credentials are refused"}


def refused(connection: Record) -> bool:
    """Return whether the stand-in refuses the credentials of the connection."""
    return any("invalid" in str(value) for value in (connection.doc.get("setupSettings") or {}).values())


def _known(ctx: Context) -> Record:
    site, id = ctx.site(), ctx.params["siteContextConnectionId"]
    found = ctx.store.get(CONNECTION, id)
    if found is None or found.scope != site.id:
        raise missing("context connection", id)
    return found
