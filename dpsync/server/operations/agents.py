"""Agents of a site."""

from ..families.agents import CHANNELS, CONNECTIONS, MCP_SERVERS
from ..handlers.sites import agents, connections, styleguides
from ..models import agents as ma
from ..models import connections as mc
from ..models.content import Space
from .rows import ORG, SITE, TODAY, Rows, get, patch, post, put

_SERVERS, _CHANNELS, _CONNECTIONS = Rows(MCP_SERVERS), Rows(CHANNELS), Rows(CONNECTIONS)
_CONNECTION = SITE + "/context-connections/{siteContextConnectionId}"
_HEADERS = "Returns the headers with their secret values."
_TOKENS = "Returns connection settings, which can contain tokens."

OPERATIONS = [
    get("getSiteAgentSettingsById", SITE + "/agent-settings", agents.get_agent_settings, ma.AgentSettings,
        note="If the site has no settings, returns settings that turn all agents off.",
        **TODAY),
    put("updateSiteAgentSettingsById", SITE + "/agent-settings", agents.put_agent_settings, ma.AgentSettings,
        ma.AgentSettingsUpdate,
        note="Replaces all settings.", **TODAY),
    _SERVERS.list("listSiteMcpServers", needs="admin", note=_HEADERS, **TODAY),
    _SERVERS.create("createSiteMcpServer", note="The local server never contacts the MCP server. Several "
                                                "MCP servers can have the same name.", **TODAY),
    _SERVERS.get("getSiteMcpServerById", needs="admin", note=_HEADERS, **TODAY),
    _SERVERS.update("updateSiteMcpServerById",
                    note="Replaces all headers if the body has headers.", **TODAY),
    _SERVERS.delete("deleteSiteMcpServerById", **TODAY),
    _CHANNELS.list("listSiteChannels", **TODAY),
    _CHANNELS.create(
        "createSiteChannel",
        note="Creates a pending channel. `POST /_dpsync/channels` activates the channel.", **TODAY),
    _CHANNELS.get("getSiteChannelById", **TODAY),
    _CHANNELS.update(
        "updateSiteChannelById",
        note="Returns 400 if the body changes `type`, or contains `type` without `setupSettings`.",
        **TODAY),
    _CHANNELS.delete("deleteSiteChannelById", **TODAY),
    _CONNECTIONS.list("listSiteContextConnections", needs="admin", note=_TOKENS, **TODAY),
    _CONNECTIONS.create(
        "createSiteContextConnection",
        note="Stores the settings for the connector. A site can have several connections with the same "
             "connector.",
        **TODAY),
    _CONNECTIONS.get("getSiteContextConnectionById", needs="admin",
                     note=_TOKENS + " Hides the tokens of Freshdesk and Jira.", **TODAY),
    _CONNECTIONS.update(
        "updateSiteContextConnectionById",
        note="To change settings, the body must contain `connector`, and all settings of the connector in "
             "`setupSettings`. Returns 400 if the body names another connector.", **TODAY),
    _CONNECTIONS.delete("deleteSiteContextConnectionById", **TODAY),
    post("syncSiteContextConnection", _CONNECTION + "/sync", connections.sync_connection, None, status=204,
         errors=(400,),
         note="The synchronization finds no content. The synchronization fails if the credentials "
              "contain `invalid`. Returns 400 if the last call was less than an hour ago.", **TODAY),
    post("testSiteContextConnection", _CONNECTION + "/test", connections.test_connection, mc.ConnectionTest,
         note="Tests the credentials without contacting the service. The test fails if the credentials "
              "contain `invalid`.", **TODAY),
    get("listSiteTopics", SITE + "/topics", agents.list_topics, ma.Topics,
        note="Lists the topics in the test data. The local server never creates topics.", **TODAY),
    get("getSiteTopicById", SITE + "/topics/{siteTopicId}", agents.get_topic, ma.Topic, **TODAY),
    patch("updateSiteTopicById", SITE + "/topics/{siteTopicId}", agents.update_topic, ma.Topic,
          ma.TopicUpdate, **TODAY),
    post("createSiteStyleguideById", SITE + "/styleguide", styleguides.create, Space, ma.StyleguideCreate,
         body_required=False, errors=(404,),
         note="If the site has a style guide, changes nothing. Returns 404 for an unknown template.",
         **TODAY),
    get("listOrganizationStyleguides", ORG + "/styleguides", styleguides.list_styleguides, ma.Styleguides,
        note="Lists style guides that the caller can view, with their sites.", **TODAY),
    get("listStyleguideTemplates", ORG + "/styleguide-templates", styleguides.list_templates,
        ma.StyleguideTemplates, note="Lists two example templates.", **TODAY),
]  # fmt: skip
