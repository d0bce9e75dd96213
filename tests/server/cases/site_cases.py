"""What sites have beside their navigation; versions of OpenAPI specifications; the glossary."""

from typing import Any

from cases.agent_cases import AGENTS
from dpsync.server.sites.customization import DEFAULTS

IDS = {
    "siteExternalLinkId": "docs-status",
    "siteRedirectId": "old-news",
    "shareLinkId": "docs-friends",
    "versionId": "shop-1",
}
LINK = {"type": "external-link", "id": "docs-status", "title": "Status", "url": "https://s.acme.example/"}


def with_more(site: dict[str, Any]) -> dict[str, Any]:
    """Return the site with one of each object above."""
    news = {"kind": "site-section", "siteSectionId": "docs-news"}
    return {
        **site,
        "structure": [*site["structure"], LINK],
        "redirects": [{"id": "old-news", "source": "/old", "destination": news}],
        "shareLinks": [{"id": "docs-friends"}],
        **AGENTS,
    }


QUERIES = {"getSiteRedirectBySource": "source=/old"}
BODIES: dict[str, Any] = {
    "createSiteExternalLink": {"title": "Status", "url": "https://status.acme.example/"},
    "updateSiteExternalLinkById": {"title": "Changed"},
    "updateSiteCustomizationById": DEFAULTS,
    "overrideSiteSpaceCustomizationById": {"themes": {"default": "dark"}},
    "bulkUpsertSiteRedirects": {
        "redirects": [{"source": "/a", "destination": {"kind": "external", "url": "https://a.example/"}}]
    },
    "createSiteRedirect": {
        "source": "/b",
        "destination": {"kind": "site-section", "siteSectionId": "docs-news"},
    },
    "updateSiteRedirectById": {"permanent": True},
    "updateSitePublishingAuthById": {"backend": "custom", "fallbackURL": "https://login.acme.example/"},
    "createSiteShareLink": {"name": "New"},
    "updateSiteShareLinkById": {"active": False},
    "updateTranslationsGlossary": {"operations": [{"type": "insert", "translations": {"en": "page"}}]},
}
