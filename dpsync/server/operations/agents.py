"""Today's edition: the agents of a site."""

from ..families.agents import CHANNELS, MCP_SERVERS
from ..handlers.sites import agents
from ..models import agents as ma
from .rows import SITE, TODAY, Rows, get, put

_SERVERS, _CHANNELS = Rows(MCP_SERVERS), Rows(CHANNELS)
_HEADERS = "Headers may hold secrets and are shown as they are: so reading them takes an admin, too."

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
]  # fmt: skip
