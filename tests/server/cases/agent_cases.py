"""What the agents of a site have, in today's edition alone."""

from typing import Any

IDS = {"siteMcpServerId": "tools", "siteChannelId": "slack"}
AGENTS: dict[str, Any] = {
    "mcpServers": [{"id": "tools", "name": "Tools", "url": "https://t.example/", "headers": {"X-Key": "k"}}],
    "channels": [{"id": "slack", "type": "builtin:slack", "setupSettings": {"allowedChannels": ["docs-*"]}}],
}
"""Of a site, by the keys of a world."""
DOCUMENT = {
    "object": "document",
    "data": {},
    "nodes": [{"object": "block", "type": "paragraph", "nodes": []}],
}
BODIES: dict[str, Any] = {
    "updateSiteAgentSettingsById": {
        "scans": {"topics": "auto"},
        "findings": {"changeRequests": "auto-fixable"},
        "editing": {"customInstructions": DOCUMENT},
    },
    "createSiteMcpServer": {"name": "New", "url": "https://n.example/", "headers": {}},
    "updateSiteMcpServerById": {"transport": "http"},
    "createSiteChannel": {"type": "builtin:github", "setupSettings": {"allowedRepositories": ["acme/*"]}},
    "updateSiteChannelById": {"role": "collaborator"},
}
