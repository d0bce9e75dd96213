"""What a site's agents have: settings, MCP servers, channels."""

from ..content.documents import empty_document
from ..request.context import Context
from ..store import Json, Record
from .shared import located, set_only


def _location(ctx: Context, record: Record, what: str) -> str:
    return located(ctx, f"/orgs/{record.organization}/sites/{record.scope}/{what}/{record.id}")


def agent_settings(ctx: Context, site: Record, kept: Record | None) -> Json:
    """Those of a site that nobody has set any for: its agents do nothing by themselves."""
    doc: Json = kept.doc if kept is not None else {}
    return {
        "object": "site-agent-settings",
        "scans": {"topics": "never"},
        "findings": {"changeRequests": "never"},
        "editing": {"customInstructions": empty_document()},
        **doc,
        "urls": {"location": located(ctx, f"/orgs/{site.organization}/sites/{site.id}/agent-settings")},
    }


def mcp_server(ctx: Context, record: Record) -> Json:
    """Its headers are shown as they were written, to who may read it."""
    return {
        "object": "site-mcp-server",
        "id": record.id,
        **set_only(record.doc),
        "urls": {"location": _location(ctx, record, "mcp-servers")},
    }


def channel(ctx: Context, record: Record) -> Json:
    return {
        "object": "site-channel",
        "id": record.id,
        **record.doc,
        "answers": 0,
        "urls": {"location": _location(ctx, record, "channels")},
    }
