"""Handle the API operations on context connections: services that a site's AI agents read.

`CrudHandlers` creates, reads and deletes connections; this module has only their special rules. No service is
contacted: the result of a test or synchronization depends on the credentials. Credentials with the word
"invalid" are refused.
"""

from datetime import timedelta

from ...clock import parse_timestamp
from ...errors import bad_request, not_found
from ...request.context import Context
from ...responses.agents import REDACTED_SETTINGS, REDACTED_VALUE
from ...store import Json, Record

CONNECTION = "context-connection"
PUSH_CONNECTORS = ("builtin:email", "builtin:api")
"""Connectors that receive data instead of fetching them, so they are never synchronized."""
MIN_SYNC_INTERVAL = timedelta(hours=1)
DEFAULT_USAGE: Json = {"changeRequests": False, "search": False, "searchBoost": "x1.0"}


def initialize_connection(ctx: Context, connection: Record) -> None:
    """Begin a connection that waits for its first synchronization."""
    connection.doc = {
        "usageSettings": DEFAULT_USAGE,
        "status": "pending",
        "records": 0,
        "createdAt": ctx.timestamp,
    }


def apply_connection_body(ctx: Context, connection: Record, fields: Json) -> None:
    """Update a connection. Raise 400 if the connector changes.

    A redacted credential that is written back keeps its value. A label is ignored when a connection is
    created.
    """
    del ctx
    connector = connection.doc.get("connector")
    if connector is None:
        fields.pop("label", None)
    elif fields.get("connector", connector) != connector:
        raise bad_request(f"body.connector: the connector of the connection is {connector} and cannot change")
    settings_before, settings = connection.doc.get("setupSettings") or {}, fields.get("setupSettings") or {}
    redacted_field = REDACTED_SETTINGS.get(fields.get("connector", ""))
    if redacted_field in settings_before and settings.get(redacted_field) == REDACTED_VALUE:
        settings[redacted_field] = settings_before[redacted_field]
    connection.doc.update(fields)


def sync_connection(ctx: Context) -> None:
    """Synchronize a connection, at most once an hour. A synchronization is immediate and finds no records.

    Raise 400 if that is not possible now.
    """
    connection = _require_connection(ctx)
    if connection.doc["connector"] in PUSH_CONNECTORS:
        raise bad_request(
            f"the connector {connection.doc['connector']} cannot be synchronized, "
            "because other services send the data"
        )
    last_sync = connection.doc.get("syncedAt")
    if last_sync is not None and ctx.now - parse_timestamp(last_sync) < MIN_SYNC_INTERVAL:
        raise bad_request("the connection was synchronized less than an hour ago")
    for name in ("failureMessage", "failureReason"):
        connection.doc.pop(name, None)
    connection.doc |= {"status": "succeeded", "syncedAt": ctx.timestamp}
    if are_credentials_refused(connection):
        connection.doc |= {
            "status": "failed",
            "failureReason": "authentication",
            "failureMessage": "the credentials are refused",
        }
    ctx.put(connection)


def test_connection(ctx: Context) -> Json:
    """Return whether the credentials of a connection are accepted."""
    result: Json = {
        "object": "context-connection-test-result",
        "success": not are_credentials_refused(_require_connection(ctx)),
    }
    return result if result["success"] else {**result, "error": "the credentials are refused"}


def are_credentials_refused(connection: Record) -> bool:
    """Return whether the stand-in refuses the credentials of the connection."""
    return any("invalid" in str(value) for value in (connection.doc.get("setupSettings") or {}).values())


def _require_connection(ctx: Context) -> Record:
    """Return the connection that the path names. Raise 404 if it does not exist."""
    site, id = ctx.site_from_path(), ctx.params["siteContextConnectionId"]
    connection = ctx.store.get(CONNECTION, id)
    if connection is None or connection.scope != site.id:
        raise not_found("context connection", id)
    return connection
