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
    "glossaryEntryId": "term",
}
OTHER_IDS = {
    "getSiteAdaptiveSchema": {"siteId": "internal-handbook"},
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
    "updateSiteById": {"title": "Changed"},
    "updateSiteAdaptiveSchema": {
        "jsonSchema": {
            "type": "object",
            "properties": {"a": {"type": "boolean"}},
            "additionalProperties": False,
        }
    },
    "sortSiteStructure": {"item": {"type": "site-section", "id": "docs-guides"}, "position": {}},
    "addSectionToSite": {"spaceId": "support"},
    "updateSiteSectionById": {"title": "Changed"},
    "moveSiteSection": neighbour("after", "site-section-group", "id", "docs-more"),
    "addSectionGroupToSite": {"title": "New", "sections": ["docs-news"]},
    "updateSiteSectionGroupById": {"title": "Changed"},
    "addSectionToGroup": {"sectionId": "docs-guides"},
    "moveSiteSectionGroup": neighbour("before", "site-section", "id", "docs-guides"),
    "addSpaceToSite": {"spaceId": "support"},
    "updateSiteSpaceById": {"path": "changed"},
    "moveSiteSpace": neighbour("before", "site-space", "siteSpace", "docs-api-reference"),
    "createSpace": {"title": "New"},
    "updateSpaceById": {"title": "Changed"},
    "moveSpace": neighbour("before", "space", "space", "guides"),
    "transferSpace": {"organization": "globex"},
    "updateCollectionById": {"title": "Changed"},
    "moveCollection": {"parent": None},
    "transferCollection": {"organization": "globex"},
    "createCollection": {"title": "New"},
    "updateOrganizationById": {"title": "Changed"},
    "updateOrganizationAgentInstructions": {"instructions": {"object": "document", "data": {}, "nodes": []}},
    "updateMemberInOrganizationById": {"role": "create"},
    "createOrganizationTeam": {"title": "New", "members": ["kim"]},
    "updateTeamInOrganizationById": {"title": "Changed"},
    "updateMembersInOrganizationTeam": {"add": ["kim"]},
    "addMemberToOrganizationTeamById": {"role": "owner"},
    "createOrganizationInvite": {"level": "comment", "space": "guides"},
    "createOrganizationSAMLProvider": {"label": "New"},
    "updateOrganizationSAMLProvider": {"label": "Changed"},
    "createOpenAPISpec": {"slug": "new", "source": {"text": "{}"}},
    "createOrUpdateOpenAPISpecBySlug": {"source": {"text": "{}"}},
    "updateOpenAPISpecBySlug": {"visibility": "private"},
    "createTranslation": {"source": {"space": "guides"}, "language": "de"},
    "updateTranslation": {"instructions": {"object": "document", "data": {}, "nodes": []}},
}
