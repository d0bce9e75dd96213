"""Define the API operations on the AI agents of a site: method, path, models and handler of each.

Topics: settings, MCP servers, channels, context connections and topics.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.sites import agents, connections, styleguides
from ..models import agents as ma
from ..models import connections as mc
from ..models.content import Space
from ..resources.agents import CHANNELS, CONNECTIONS, MCP_SERVERS
from .builders import ORG, PUBLISHED_ONLY, SITE, CrudOperations, get, patch, post, put

TITLE = "Agents of a site"

_SERVERS, _CHANNELS, _CONNECTIONS = (
    CrudOperations(MCP_SERVERS),
    CrudOperations(CHANNELS),
    CrudOperations(CONNECTIONS),
)
_CONNECTION = SITE + "/context-connections/{siteContextConnectionId}"
_HEADERS_NOTE = "Returns the headers with their secret values."
_TOKENS_NOTE = "Returns connection settings, which can contain tokens."

OPERATIONS = [
    get("getSiteAgentSettingsById", SITE + "/agent-settings", agents.get_agent_settings, ma.AgentSettings,
        note="If the site has no settings, returns settings that turn all agents off.",
        **PUBLISHED_ONLY),
    put("updateSiteAgentSettingsById", SITE + "/agent-settings", agents.put_agent_settings, ma.AgentSettings,
        ma.AgentSettingsUpdate,
        note="Replaces all settings.", **PUBLISHED_ONLY),
    _SERVERS.list("listSiteMcpServers", required_role="admin", note=_HEADERS_NOTE, **PUBLISHED_ONLY),
    _SERVERS.create("createSiteMcpServer", note="The local server never contacts the MCP server. Several "
                                                "MCP servers can have the same name.", **PUBLISHED_ONLY),
    _SERVERS.get("getSiteMcpServerById", required_role="admin", note=_HEADERS_NOTE, **PUBLISHED_ONLY),
    _SERVERS.update("updateSiteMcpServerById",
                    note="Replaces all headers if the body has headers.", **PUBLISHED_ONLY),
    _SERVERS.delete("deleteSiteMcpServerById", **PUBLISHED_ONLY),
    _CHANNELS.list("listSiteChannels", **PUBLISHED_ONLY),
    _CHANNELS.create(
        "createSiteChannel",
        note="Creates a pending channel. `POST /_dpsync/channels` activates the channel.", **PUBLISHED_ONLY),
    _CHANNELS.get("getSiteChannelById", **PUBLISHED_ONLY),
    _CHANNELS.update(
        "updateSiteChannelById",
        note="Returns 400 if the body changes `type`, or contains `type` without `setupSettings`.",
        **PUBLISHED_ONLY),
    _CHANNELS.delete("deleteSiteChannelById", **PUBLISHED_ONLY),
    _CONNECTIONS.list("listSiteContextConnections", required_role="admin", note=_TOKENS_NOTE,
                      **PUBLISHED_ONLY),
    _CONNECTIONS.create(
        "createSiteContextConnection",
        note="Stores the settings for the connector. A site can have several connections with the same "
             "connector.",
        **PUBLISHED_ONLY),
    _CONNECTIONS.get("getSiteContextConnectionById", required_role="admin",
                     note=_TOKENS_NOTE + " Hides the tokens of Freshdesk and Jira.", **PUBLISHED_ONLY),
    _CONNECTIONS.update(
        "updateSiteContextConnectionById",
        note="To change settings, the body must contain `connector`, and all settings of the connector in "
             "`setupSettings`. Returns 400 if the body names another connector.", **PUBLISHED_ONLY),
    _CONNECTIONS.delete("deleteSiteContextConnectionById", **PUBLISHED_ONLY),
    post("syncSiteContextConnection", _CONNECTION + "/sync", connections.sync_connection, None, status=204,
         error_statuses=(400,),
         note="The synchronization finds no content. The synchronization fails if the credentials "
              "contain `invalid`. Returns 400 if the last call was less than an hour ago.", **PUBLISHED_ONLY),
    post("testSiteContextConnection", _CONNECTION + "/test", connections.test_connection, mc.ConnectionTest,
         note="Tests the credentials without contacting the service. The test fails if the credentials "
              "contain `invalid`.", **PUBLISHED_ONLY),
    get("listSiteTopics", SITE + "/topics", agents.list_topics, ma.Topics,
        note="Lists the topics in the test data. The local server never creates topics.", **PUBLISHED_ONLY),
    get("getSiteTopicById", SITE + "/topics/{siteTopicId}", agents.get_topic, ma.Topic, **PUBLISHED_ONLY),
    patch("updateSiteTopicById", SITE + "/topics/{siteTopicId}", agents.update_topic, ma.Topic,
          ma.TopicUpdate, **PUBLISHED_ONLY),
    post("createSiteStyleguideById", SITE + "/styleguide", styleguides.create_styleguide, Space,
         ma.StyleguideCreate,
         body_required=False, error_statuses=(404,),
         note="If the site has a style guide, changes nothing. Returns 404 for an unknown template.",
         **PUBLISHED_ONLY),
    get("listOrganizationStyleguides", ORG + "/styleguides", styleguides.list_styleguides, ma.Styleguides,
        note="Lists style guides that the caller can view, with their sites.", **PUBLISHED_ONLY),
    get("listStyleguideTemplates", ORG + "/styleguide-templates", styleguides.list_templates,
        ma.StyleguideTemplates, note="Lists two example templates.", **PUBLISHED_ONLY),
]  # fmt: skip
