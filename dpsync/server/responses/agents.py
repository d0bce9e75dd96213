"""Make the response bodies for the agents of a site, their MCP servers, channels, connections and topics.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from ..content.documents import empty_document
from ..request.context import Context
from ..store import Json, Record
from .shared import api_url, without_none

TOPIC = "site-topic"
"""Record kind of topics. `ref` is the parent topic."""
REDACTED_SETTINGS = {"builtin:freshdesk": "apiKey", "builtin:jira": "apiToken"}
"""The setting of each connector that responses redact."""
REDACTED_VALUE = "[redacted]"


def _site_object_url(ctx: Context, record: Record, collection: str) -> str:
    """Return the API URL of an object of a site, in the collection with this name."""
    return api_url(ctx, f"/orgs/{record.organization}/sites/{record.scope}/{collection}/{record.id}")


def agent_settings(ctx: Context, site: Record, settings: Record | None) -> Json:
    """Return the response body for the agent settings of a site. By default, no agent runs."""
    doc: Json = settings.doc if settings is not None else {}
    return {
        "object": "site-agent-settings",
        "scans": {"topics": "never"},
        "findings": {"changeRequests": "never"},
        "editing": {"customInstructions": empty_document()},
        **doc,
        "urls": {"location": api_url(ctx, f"/orgs/{site.organization}/sites/{site.id}/agent-settings")},
    }


def mcp_server(ctx: Context, record: Record) -> Json:
    """Return the response body for an MCP server, including its headers as they were written."""
    return {
        "object": "site-mcp-server",
        "id": record.id,
        **without_none(record.doc),
        "urls": {"location": _site_object_url(ctx, record, "mcp-servers")},
    }


def channel(ctx: Context, record: Record) -> Json:
    """Return the response body for a channel. Nobody asks its agent, so `answers` is 0."""
    return {
        "object": "site-channel",
        "id": record.id,
        **record.doc,
        "answers": 0,
        "urls": {"location": _site_object_url(ctx, record, "channels")},
    }


def connection(ctx: Context, record: Record) -> Json:
    """Return the response body for a context connection, without the credential that GitBook redacts."""
    doc = dict(record.doc)
    settings, hidden = doc.get("setupSettings"), REDACTED_SETTINGS.get(doc["connector"])
    if settings and hidden in settings:
        doc["setupSettings"] = {**settings, hidden: REDACTED_VALUE}
    if doc["connector"] == "builtin:email":
        doc["email"] = {"ingestionAddress": f"{record.id}@ingest.docs.example"}
    return {
        "object": "context-connection",
        "id": record.id,
        **doc,
        "urls": {"location": _site_object_url(ctx, record, "context-connections")},
    }


def topic(ctx: Context, record: Record) -> Json:
    """Return the response body for a topic. All counts are zero: there are no visitors who ask questions."""
    doc = dict(record.doc)
    answer = {
        "object": "context-topic",
        "id": record.id,
        "icon": "tag",
        "summary": empty_document(),
        **doc,
        "pages": 0,
        "records": 0,
        "findings": {"open": 0, "total": 0},
        "questions": {
            "total": 0,
            "answers": 0,
            "feedback": dict.fromkeys(("positive", "negative", "unrated"), 0),
            "answered": dict.fromkeys(("yes", "partially", "no"), 0),
            "relevance": dict.fromkeys(("relevant", "spam", "off-topic", "unclear"), 0),
            "types": dict.fromkeys(("exploring", "how-to", "troubleshooting", "reference", "unknown"), 0),
            "channelTypes": {},
            "channels": {},
            "weeklyPulse": [0] * 13,
        },
        "urls": {"location": _site_object_url(ctx, record, "topics")},
    }
    parent = ctx.store.get(TOPIC, record.ref) if record.ref else None
    if parent is not None:
        answer["parent"] = {"id": parent.id, "label": parent.doc["label"]}
    return answer
