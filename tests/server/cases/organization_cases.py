"""Sites, navigation, spaces, collections, organizations and what belongs to them."""

from typing import Any

IDS = {
    "organizationId": "acme",
    "siteId": "docs",
    "siteSectionId": "docs-news",
    "siteSectionGroupId": "docs-more",
    "siteSpaceId": "docs-api-changelog",
    "spaceId": "changelog",
    "collectionId": "api",
    "userId": "kim",
    "teamId": "writers",
    "inviteId": "readers",
    "samlProviderId": "okta",
    "specSlug": "shop",
    "translationId": "guides-fr",
}
OTHER_IDS = {
    "getAdaptiveSchema": {"siteId": "internal-handbook"},
    "moveSiteSection": {"siteSectionId": "docs-guides"},
    "moveSiteSectionGroup": {"siteSectionGroupId": "docs-more"},
    "transferSpace": {"spaceId": "unshown"},
    "transferCollection": {"collectionId": "unshown"},
}
QUERIES = {"searchOrganizationContent": "query=guides"}


def neighbour(side: str, kind: str, member: str, id: str) -> dict[str, Any]:
    return {"position": {side: {"type": kind, member: id}}}


BODIES: dict[str, Any] = {
    "createSite": {"title": "New", "spaces": ["news"]},
    "updateSite": {"title": "Changed"},
    "updateAdaptiveSchema": {"jsonSchema": {"type": "object", "properties": {"a": {"type": "boolean"}}}},
    "sortSiteStructure": {"item": {"type": "site-section", "id": "docs-guides"}, "position": {}},
    "createSiteSection": {"spaceId": "support"},
    "updateSiteSection": {"title": "Changed"},
    "moveSiteSection": neighbour("after", "site-section-group", "id", "docs-more"),
    "createSiteSectionGroup": {"title": "New", "sections": ["docs-news"]},
    "updateSiteSectionGroup": {"title": "Changed"},
    "addSectionToGroup": {"sectionId": "docs-guides"},
    "moveSiteSectionGroup": neighbour("before", "site-section", "id", "docs-guides"),
    "createSiteSpace": {"spaceId": "support"},
    "updateSiteSpace": {"path": "changed"},
    "moveSiteSpace": neighbour("before", "site-space", "siteSpace", "docs-api-reference"),
    "createSpace": {"title": "New"},
    "updateSpace": {"title": "Changed"},
    "moveSpace": neighbour("before", "space", "space", "guides"),
    "transferSpace": {"organization": "globex"},
    "updateCollection": {"title": "Changed"},
    "moveCollection": {"parent": None},
    "transferCollection": {"organization": "globex"},
    "createCollection": {"title": "New"},
    "updateOrganization": {"title": "Changed"},
    "updateAgentInstructions": {"instructions": {"object": "document", "data": {}, "nodes": []}},
    "updateMember": {"role": "create"},
    "createTeam": {"title": "New", "members": ["kim"]},
    "updateTeam": {"title": "Changed"},
    "updateTeamMembers": {"add": ["kim"]},
    "addTeamMember": {"role": "owner"},
    "createOrganizationInvite": {"level": "comment", "space": "guides"},
    "createOrganizationSAMLProvider": {"label": "New"},
    "updateOrganizationSAMLProvider": {"label": "Changed"},
    "createOpenAPISpec": {"slug": "new", "source": {"text": "{}"}},
    "createOrUpdateOpenAPISpecBySlug": {"source": {"text": "{}"}},
    "updateOpenAPISpecBySlug": {"visibility": "private"},
    "createTranslation": {"source": {"space": "guides"}, "language": "de"},
    "updateTranslation": {"instructions": {"object": "document", "data": {}, "nodes": []}},
}
