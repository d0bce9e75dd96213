"""Handle the API operations on the AI agents of a site: settings, MCP servers, channels, topics.

`CrudHandlers` serves MCP servers and channels; here are only their initial values and the checks of their
bodies. No MCP server or channel is contacted.
"""

from ... import responses
from ...content.documents import stored_document
from ...errors import bad_request, not_found
from ...request.changes import changed_fields, is_same_json
from ...request.context import Context
from ...responses.agents import TOPIC
from ...store import Json, Record

AGENT_SETTINGS = "site-agent-settings"
MCP_SERVER = "mcp-server"
CHANNEL = "channel"


def get_agent_settings(ctx: Context) -> Json:
    """Return the agent settings of a site, with defaults for unset ones."""
    site = ctx.site_from_path()
    return responses.agent_settings(ctx, site, ctx.store.get(AGENT_SETTINGS, site.id))


def put_agent_settings(ctx: Context) -> Json:
    """Replace all agent settings. Writing equal settings does not change the last author."""
    site, fields = ctx.site_from_path(), ctx.body.sent_fields()
    fields["editing"] = {"customInstructions": stored_document(fields["editing"]["customInstructions"])}
    settings = ctx.store.get(AGENT_SETTINGS, site.id)
    before = responses.agent_settings(ctx, site, settings)
    if any(not is_same_json(before[name], value) for name, value in fields.items()):
        doc = {**fields, "updatedAt": ctx.timestamp, "updatedBy": ctx.user}
        settings = Record(AGENT_SETTINGS, site.id, doc, site.organization, site.id)
        ctx.put(settings)
    return responses.agent_settings(ctx, site, settings)


def initialize_mcp_server(ctx: Context, server: Record) -> None:
    """Begin an MCP server. Names need not be unique."""
    del ctx
    server.doc = {"transport": "sse"}


def apply_mcp_server_body(ctx: Context, server: Record, fields: Json) -> None:
    """Update an MCP server. Headers are replaced as a whole; a null condition removes the condition."""
    del ctx
    server.doc.update(fields)
    if server.doc.get("condition") is None:
        server.doc.pop("condition", None)


def initialize_channel(ctx: Context, channel: Record) -> None:
    """Begin a channel in the status `pending`, until a person authorizes it. Types need not be unique."""
    channel.doc = {"role": "support", "status": "pending", "createdAt": ctx.timestamp}


def apply_channel_body(ctx: Context, channel: Record, fields: Json) -> None:
    """Update a channel. Raise 400 if the type changes."""
    del ctx
    channel_type = channel.doc.get("type")
    if channel_type is not None and fields.get("type", channel_type) != channel_type:
        raise bad_request(f"body.type: the type of the channel is {channel_type} and cannot change")
    channel.doc.update(changed_fields(channel.doc, fields))


def list_topics(ctx: Context) -> Json:
    """List all topics in order of creation."""
    topics = ctx.store.find(TOPIC, scope=ctx.site_from_path().id)
    return {"items": [responses.topic(ctx, topic) for topic in sorted(topics, key=lambda topic: topic.seq)]}


def get_topic(ctx: Context) -> Json:
    """Return the topic that the path names."""
    return responses.topic(ctx, _require_topic(ctx))


def update_topic(ctx: Context) -> Json:
    """Update a topic, if the body changes anything."""
    topic = _require_topic(ctx)
    changes = changed_fields(topic.doc, ctx.body.sent_fields())
    if changes:
        topic.doc |= {**changes, "updatedAt": ctx.timestamp}
        ctx.put(topic)
    return responses.topic(ctx, topic)


def _require_topic(ctx: Context) -> Record:
    """Return the topic that the path names. Raise 404 if it does not exist."""
    site, id = ctx.site_from_path(), ctx.params["siteTopicId"]
    topic = ctx.store.get(TOPIC, id)
    if topic is None or topic.scope != site.id:
        raise not_found("topic", id)
    return topic
