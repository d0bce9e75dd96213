"""What the agents of a site have, in today's edition alone."""

from typing import Any

IDS = {
    "siteMcpServerId": "tools",
    "siteChannelId": "slack",
    "siteContextConnectionId": "issues",
    "siteTopicId": "billing",
}
AGENTS: dict[str, Any] = {
    "mcpServers": [{"id": "tools", "name": "Tools", "url": "https://t.example/", "headers": {"X-Key": "k"}}],
    "channels": [{"id": "slack", "type": "builtin:slack", "setupSettings": {"allowedChannels": ["docs-*"]}}],
    "contextConnections": [
        {
            "id": "issues",
            "connector": "builtin:github-issues",
            "setupSettings": {"repository": "acme/shop", "token": "t"},
        }
    ],
    "topics": [{"id": "billing", "label": "Billing"}, {"id": "cards", "label": "Cards", "parent": "billing"}],
    "styleguide": "style",
}
"""Of a site, by the keys of a world."""
STYLEGUIDE = {"id": "style", "title": "Style guide", "type": "styleguide"}
"""A space that a site names."""
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
    "createSiteContextConnection": {
        "connector": "builtin:website",
        "setupSettings": {"url": "https://w.example/"},
        "usageSettings": {"changeRequests": True, "search": True, "searchBoost": "x1.2"},
    },
    "updateSiteContextConnectionById": {"label": "Issues"},
    "createSiteStyleguideById": {"template": "concise"},
    "updateSiteTopicById": {"usageSettings": {"changeRequests": True}},
}
