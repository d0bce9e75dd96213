"""Declare the records of a site's AI agents: settings, MCP servers, channels, context connections, topics.

Only the API version `published` has them. The local server finds no topics itself: topics exist only in the
world, which is the data that the local server starts with. Output: one `RecordKind` for each kind of record.
"""

# The form of the records in a world:
#
# agentSettings: {scans: {topics}, findings: {changeRequests}, editing: {customInstructions}}   # Document
# mcpServers: [{id, name, url, transport, headers, condition}]
# channels: [{id, type, setupSettings, role, status}]   # pending or active
# contextConnections: [{id, connector, setupSettings, usageSettings, label, filter, status, records,
#                       syncedAt}]
# topics: [{id, label, parent, icon, summary, usageSettings}]   # parent: id of a topic

from .. import responses
from ..content.documents import stored_document
from ..handlers.sites.agents import (
    AGENT_SETTINGS,
    CHANNEL,
    MCP_SERVER,
    apply_channel_body,
    apply_mcp_server_body,
    initialize_channel,
    initialize_mcp_server,
)
from ..handlers.sites.connections import (
    CONNECTION,
    DEFAULT_USAGE,
    apply_connection_body,
    initialize_connection,
)
from ..models import agents as models
from ..models import connections as mc
from ..records.record_kind import CrudResource, Dependency, RecordKind, clear_column
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, list_section
from ..responses.agents import TOPIC
from ..store import Json, Record
from . import world_models


def _load_settings(loader: WorldLoader, site: Record, entry: Json) -> None:
    """Load the agent settings of a site from a world file (the server's initial data)."""
    doc = dict(entry)
    if "editing" in doc:
        doc["editing"] = {"customInstructions": stored_document(doc["editing"]["customInstructions"])}
    loader.add(Record(AGENT_SETTINGS, site.id, doc, site.organization, site.id))


def _dump_settings(dumper: WorldDumper, site: Record) -> Json | None:
    """Return the agent settings of a site as a world file (the server's initial data) has them.

    None if there are none.
    """
    settings = dumper.store.get(AGENT_SETTINGS, site.id)
    return (settings.doc or None) if settings else None


MCP_SERVERS = RecordKind(
    MCP_SERVER, id_prefix="mcp", owner="site",
    world_section=list_section(MCP_SERVER, "mcpServers", "site", value_type=list[world_models.McpServer],
                               transport="sse", headers={}),
    crud=CrudResource("MCP server", "/mcp-servers", "siteMcpServerId", responses.mcp_server,
                      models.McpServer, models.McpServerCreate, models.McpServerUpdate,
                      initialize_mcp_server, apply_mcp_server_body),
)  # fmt: skip
CHANNELS = RecordKind(
    CHANNEL, id_prefix="channel", owner="site",
    world_section=list_section(CHANNEL, "channels", "site", value_type=list[world_models.Channel],
                               timestamp_fields=("createdAt",),
                               setupSettings={}, role="support", status="pending"),
    crud=CrudResource("channel", "/channels", "siteChannelId", responses.channel,
                      models.Channel, models.ChannelCreate, models.ChannelUpdate,
                      initialize_channel, apply_channel_body),
)  # fmt: skip
CONNECTIONS = RecordKind(
    CONNECTION, id_prefix="connection", owner="site",
    world_section=list_section(CONNECTION, "contextConnections", "site",
                               value_type=list[world_models.ContextConnection],
                               timestamp_fields=("createdAt",), usageSettings=DEFAULT_USAGE, status="pending",
                               records=0),
    crud=CrudResource("context connection", "/context-connections", "siteContextConnectionId",
                      responses.connection, mc.ContextConnection, mc.ConnectionCreate,
                      mc.ConnectionUpdate, initialize_connection, apply_connection_body),
)  # fmt: skip

RECORD_KINDS = (
    RecordKind(AGENT_SETTINGS, owner="site",
               world_section=WorldSection("agentSettings", _load_settings, _dump_settings, ("site",),
                                          world_models.AgentSettings)),
    MCP_SERVERS,
    CHANNELS,
    CONNECTIONS,
    RecordKind(TOPIC, owner="site", depends_on=(Dependency(TOPIC, on_delete=clear_column("ref")),),
               world_section=list_section(TOPIC, "topics", "site", value_type=list[world_models.Topic],
                                          ref_field="parent",
                                          timestamp_fields=("createdAt", "updatedAt"),
                                          usageSettings={"changeRequests": False})),
)  # fmt: skip
