"""Operations on the agents of a site: settings, MCP servers, channels, topics.

MCP servers and channels are ordinary resources; this module has only their special rules. No server is
contacted.
"""

from ... import answers
from ...answers.agents import TOPIC
from ...content.documents import stored_document
from ...errors import bad, missing
from ...request.changes import changes, same
from ...request.context import Context
from ...store import Json, Record

AGENT_SETTINGS = "site-agent-settings"
MCP_SERVER = "mcp-server"
CHANNEL = "channel"


def get_agent_settings(ctx: Context) -> Json:
    site = ctx.site()
    return answers.agent_settings(ctx, site, ctx.store.get(AGENT_SETTINGS, site.id))


def put_agent_settings(ctx: Context) -> Json:
    """Replace all agent settings. Writing equal settings does not change the last author."""
    site, given = ctx.site(), ctx.body.given()
    given["editing"] = {"customInstructions": stored_document(given["editing"]["customInstructions"])}
    kept = ctx.store.get(AGENT_SETTINGS, site.id)
    before = answers.agent_settings(ctx, site, kept)
    if any(not same(before[name], value) for name, value in given.items()):
        doc = {**given, "updatedAt": ctx.stamp, "updatedBy": ctx.user}
        kept = Record(AGENT_SETTINGS, site.id, doc, site.organization, site.id)
        ctx.put(kept)
    return answers.agent_settings(ctx, site, kept)


def begin_mcp_server(ctx: Context, server: Record) -> None:
    """Begin an MCP server. Names need not be unique."""
    server.doc = {"transport": "sse"}


def write_mcp_server(ctx: Context, server: Record, given: Json) -> None:
    """Update an MCP server. Headers are replaced as a whole; a null condition removes the condition."""
    server.doc.update(given)
    if server.doc.get("condition") is None:
        server.doc.pop("condition", None)


def begin_channel(ctx: Context, channel: Record) -> None:
    """Begin a channel in the status `pending`, until a person authorizes it. Types need not be unique."""
    channel.doc = {"role": "support", "status": "pending", "createdAt": ctx.stamp}


def write_channel(ctx: Context, channel: Record, given: Json) -> None:
    """Update a channel. Raise 400 if the type changes."""
    kept = channel.doc.get("type")
    if kept is not None and given.get("type", kept) != kept:
        raise bad(f"body.type: the type of the channel is {kept} and cannot change")
    channel.doc.update(changes(channel.doc, given))


def list_topics(ctx: Context) -> Json:
    """List all topics in order of creation."""
    found = ctx.store.find(TOPIC, scope=ctx.site().id)
    return {"items": [answers.topic(ctx, one) for one in sorted(found, key=lambda one: one.seq)]}


def get_topic(ctx: Context) -> Json:
    return answers.topic(ctx, _topic(ctx))


def update_topic(ctx: Context) -> Json:
    topic = _topic(ctx)
    given = changes(topic.doc, ctx.body.given())
    if given:
        topic.doc |= {**given, "updatedAt": ctx.stamp}
        ctx.put(topic)
    return answers.topic(ctx, topic)


def _topic(ctx: Context) -> Record:
    site, id = ctx.site(), ctx.params["siteTopicId"]
    found = ctx.store.get(TOPIC, id)
    if found is None or found.scope != site.id:
        raise missing("topic", id)
    return found
