"""The agents of a site (API version `published`): settings, MCP servers, channels, connections, topics.

agentSettings: {scans: {topics}, findings: {changeRequests}, editing: {customInstructions}}   # a Document
mcpServers: [{id, name, url, transport, headers, condition}]
channels: [{id, type, setupSettings, role, status}]                                       # pending or active
contextConnections: [{id, connector, setupSettings, usageSettings, label, filter, status, records, syncedAt}]
topics: [{id, label, parent, icon, summary, usageSettings}]                         # parent: id of a topic

The local server finds no topics itself: topics exist only in the data.
"""

from .. import answers
from ..answers.agents import TOPIC
from ..content.documents import stored_document
from ..handlers.sites.agents import (
    AGENT_SETTINGS,
    CHANNEL,
    MCP_SERVER,
    begin_channel,
    begin_mcp_server,
    write_channel,
    write_mcp_server,
)
from ..handlers.sites.connections import CONNECTION, UNUSED, begin_connection, write_connection
from ..models import agents as models
from ..models import connections as mc
from ..records.family import Dependency, Family, OrdinaryResource, clear
from ..records.world_format import Dumping, Loading, WorldSection, listed
from ..store import Json, Record
from . import shapes


def _load_settings(loading: Loading, site: Record, given: Json) -> None:
    doc = dict(given)
    if "editing" in doc:
        doc["editing"] = {"customInstructions": stored_document(doc["editing"]["customInstructions"])}
    loading.add(Record(AGENT_SETTINGS, site.id, doc, site.organization, site.id))


def _dump_settings(dumping: Dumping, site: Record) -> Json | None:
    kept = dumping.store.get(AGENT_SETTINGS, site.id)
    return (kept.doc or None) if kept else None


MCP_SERVERS = Family(
    MCP_SERVER, prefix="mcp", owner="site",
    world=listed(MCP_SERVER, "mcpServers", "site", shape=list[shapes.McpServer], transport="sse", headers={}),
    resource=OrdinaryResource("MCP server", "/mcp-servers", "siteMcpServerId", answers.mcp_server,
                              models.McpServer, models.McpServerCreate, models.McpServerUpdate,
                              begin_mcp_server, write_mcp_server),
)  # fmt: skip
CHANNELS = Family(
    CHANNEL, prefix="channel", owner="site",
    world=listed(CHANNEL, "channels", "site", shape=list[shapes.Channel], times=("createdAt",),
                 setupSettings={}, role="support", status="pending"),
    resource=OrdinaryResource("channel", "/channels", "siteChannelId", answers.channel,
                              models.Channel, models.ChannelCreate, models.ChannelUpdate,
                              begin_channel, write_channel),
)  # fmt: skip
CONNECTIONS = Family(
    CONNECTION, prefix="connection", owner="site",
    world=listed(CONNECTION, "contextConnections", "site", shape=list[shapes.ContextConnection],
                 times=("createdAt",), usageSettings=UNUSED, status="pending", records=0),
    resource=OrdinaryResource("context connection", "/context-connections", "siteContextConnectionId",
                              answers.connection, mc.ContextConnection, mc.ConnectionCreate,
                              mc.ConnectionUpdate, begin_connection, write_connection),
)  # fmt: skip

FAMILIES = (
    Family(AGENT_SETTINGS, owner="site",
           world=WorldSection("agentSettings", _load_settings, _dump_settings, ("site",),
                              shapes.AgentSettings)),
    MCP_SERVERS,
    CHANNELS,
    CONNECTIONS,
    Family(TOPIC, owner="site", depends_on=(Dependency(TOPIC, on_delete=clear("ref")),),
           world=listed(TOPIC, "topics", "site", shape=list[shapes.Topic], ref="parent",
                        times=("createdAt", "updatedAt"), usageSettings={"changeRequests": False})),
)  # fmt: skip
