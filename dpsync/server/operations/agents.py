"""Today's edition: the agents of a site."""

from ..families.agents import CHANNELS, CONNECTIONS, MCP_SERVERS
from ..handlers.sites import agents, connections, styleguides
from ..models import agents as ma
from ..models import connections as mc
from ..models.content import Space
from .rows import ORG, SITE, TODAY, Rows, get, patch, post, put

_SERVERS, _CHANNELS, _CONNECTIONS = Rows(MCP_SERVERS), Rows(CHANNELS), Rows(CONNECTIONS)
_CONNECTION = SITE + "/context-connections/{siteContextConnectionId}"
_HEADERS = "Headers may hold secrets and are shown as they are: so reading them takes an admin, too."
_TOKENS = "Reading what a connection is set up with takes an admin, as it may have tokens."

OPERATIONS = [
    get("getSiteAgentSettingsById", SITE + "/agent-settings", agents.get_agent_settings, ma.AgentSettings,
        decided="While nobody has set any, its agents do nothing by themselves and have no instructions.",
        **TODAY),
    put("updateSiteAgentSettingsById", SITE + "/agent-settings", agents.put_agent_settings, ma.AgentSettings,
        ma.AgentSettingsUpdate,
        decided="Replaces all of them. What is there already changes nothing.", **TODAY),
    _SERVERS.list("listSiteMcpServers", needs="admin", decided=_HEADERS, **TODAY),
    _SERVERS.create("createSiteMcpServer", decided="Names are not unique. It is never contacted.", **TODAY),
    _SERVERS.get("getSiteMcpServerById", needs="admin", decided=_HEADERS, **TODAY),
    _SERVERS.update("updateSiteMcpServerById",
                    decided="Headers that are given replace all of those there are.", **TODAY),
    _SERVERS.delete("deleteSiteMcpServerById", **TODAY),
    _CHANNELS.list("listSiteChannels", **TODAY),
    _CHANNELS.create(
        "createSiteChannel",
        decided="It is pending until a person has let it in: `POST /_dpsync/channels` does that here. "
        "Without a role it is `support`. There may be several of one type.", **TODAY),
    _CHANNELS.get("getSiteChannelById", **TODAY),
    _CHANNELS.update(
        "updateSiteChannelById",
        decided="Type and settings are given together, or neither is; another type than its own is 400.",
        **TODAY),
    _CHANNELS.delete("deleteSiteChannelById", **TODAY),
    _CONNECTIONS.list("listSiteContextConnections", needs="admin", decided=_TOKENS, **TODAY),
    _CONNECTIONS.create(
        "createSiteContextConnection",
        decided="What it is set up with goes by its connector. Without usage settings nothing is made of "
        "what it reads. It has no label, and several may have one connector.", **TODAY),
    _CONNECTIONS.get("getSiteContextConnectionById", needs="admin",
                     decided=_TOKENS + " The tokens of Freshdesk and Jira are redacted.", **TODAY),
    _CONNECTIONS.update(
        "updateSiteContextConnectionById",
        decided="A connector comes with all of its settings; another one than its own is 400. A redacted "
        "token that is written back stays as it is.", **TODAY),
    _CONNECTIONS.delete("deleteSiteContextConnectionById", **TODAY),
    post("syncSiteContextConnection", _CONNECTION + "/sync", connections.sync_connection, None, status=204,
         errors=(400,),
         decided="Takes no time and finds nothing. It fails when the word `invalid` is in the credentials. "
         "400 within an hour of the last one, and where others send (e-mail, API).", **TODAY),
    post("testSiteContextConnection", _CONNECTION + "/test", connections.test_connection, mc.ConnectionTest,
         decided="Fails when the word `invalid` is in the credentials; nobody is asked.", **TODAY),
    get("listSiteTopics", SITE + "/topics", agents.list_topics, ma.Topics,
        decided="Topics come from the world: the stand-in finds none, and counts no answers.", **TODAY),
    get("getSiteTopicById", SITE + "/topics/{siteTopicId}", agents.get_topic, ma.Topic, **TODAY),
    patch("updateSiteTopicById", SITE + "/topics/{siteTopicId}", agents.update_topic, ma.Topic,
          ma.TopicUpdate, **TODAY),
    post("createSiteStyleguideById", SITE + "/styleguide", styleguides.create, Space, ma.StyleguideCreate,
         body_required=False, errors=(404,),
         decided="A site that has one keeps it, whatever the template; a template that is not there is 404.",
         **TODAY),
    get("listOrganizationStyleguides", ORG + "/styleguides", styleguides.list_styleguides, ma.Styleguides,
        decided="Those that the caller may view, each with the sites that they may view.", **TODAY),
    get("listStyleguideTemplates", ORG + "/styleguide-templates", styleguides.list_templates,
        ma.StyleguideTemplates, decided="Two of the companion's own.", **TODAY),
]  # fmt: skip
