"""Select the operations, request models and success statuses of each profile (API version).

Input: all operations, and the name of a profile. Output: the operations that this profile serves.
`reference` has only the documented operations, and `full` also additions to them. `published` has what
GitBook publishes today: it lacks some operations, has some of its own, and validates some bodies more
strictly.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ..models import published as mp
from ..models import published_customization as looks
from ..models.base import Body
from ..request.operation import Operation

PROFILES = ("reference", "full", "published")

REMOVED_IN_PUBLISHED = frozenset({
    "addSectionToGroup", "removeSectionFromGroup", "transferSpace",
    "listSpaceLinks", "listSpaceFileBacklinks", "listChangeRequestFileBacklinks", "listPageLinksInSpace",
    "listPageLinksInChangeRequest", "listSpacePageBacklinks", "listChangeRequestPageBacklinks",
    "listConversationsIssuesClusters", "getConversationsIssuesCluster", "conversation_cluster_update",
    "listConversations", "ingestConversation", "getConversationById", "listConversationsIssues",
    "getConversationIssueById",
    "getUserPermissionInSpace", "getTeamPermissionInSpace", "getUserPermissionInCollection",
    "getTeamPermissionInCollection", "getUserPermissionInSite", "getTeamPermissionInSite",
    "getOpenAPISpecVersionContentRawById",
})  # fmt: skip
"""The operations that do not exist in the profile `published`: their paths return 404."""

PUBLISHED_BODIES: Mapping[str, type[Body]] = {
    "updateOrganizationById": mp.OrganizationUpdateToday,
    "createSite": mp.SiteCreateToday,
    "updateSpaceById": mp.SpaceUpdateToday,
    "updateSiteById": mp.SiteUpdateToday,
    "updateSiteSectionById": mp.SectionUpdateToday,
    "updateSiteSectionGroupById": mp.GroupUpdateToday,
    "createSiteExternalLink": mp.LinkCreateToday,
    "updateSiteExternalLinkById": mp.LinkUpdateToday,
    "createSiteRedirect": mp.RedirectCreateToday,
    "updateSiteRedirectById": mp.RedirectUpdateToday,
    "createSiteShareLink": mp.ShareLinkCreateToday,
    "updateSiteShareLinkById": mp.ShareLinkUpdateToday,
    "publishIntegration": mp.PublishToday,
    "updateSiteCustomizationById": looks.CustomizationToday,
    "overrideSiteSpaceCustomizationById": looks.SiteSpaceLooksToday,
}
"""The body models that only the profile `published` uses, by operation."""


PUBLISHED_STATUSES: Mapping[str, int] = {"disableIntegrationDevelopmentMode": 205}
"""The success statuses that only the profile `published` uses, by operation."""


ALLOWED_FOR_CREATORS = frozenset({
    "deleteSpaceById", "deleteCollectionById", "deleteSiteById",
    "updateSpaceById", "updateCollectionById",  # only the level: handlers check the other fields
    "inviteToSpace", "updateUserPermissionInSpace", "removeUserFromSpace",
    "updateTeamPermissionInSpace", "removeTeamFromSpace",
    "inviteToCollection", "updateUserPermissionInCollection", "removeUserFromCollection",
    "updateTeamPermissionInCollection", "removeTeamFromCollection",
})  # fmt: skip
"""Operations that need the role `create` in the profile `published` and `admin` in the other profiles.

The source is the vendor's documentation as of May 2026, page "Roles" (collaborate/member-management).
"""


def operations_of_profile(operations: Sequence[Operation], profile: str) -> tuple[Operation, ...]:
    """Return the operations whose paths exist in this API version (`profile`).

    In the API version `published`, a path that GitBook does not publish does not exist (404), and some
    bodies, statuses and roles differ. The other versions respond with 404 to paths that only it has.
    `reference` keeps the paths of additions and refuses them with 501, so that the caller learns why.
    """
    if profile != "published":
        return tuple(row for row in operations if row.profile != "published")
    return tuple(
        replace(
            row,
            body_model=PUBLISHED_BODIES.get(row.id, row.body_model),
            status=PUBLISHED_STATUSES.get(row.id, row.status),
            required_role="create" if row.id in ALLOWED_FOR_CREATORS else row.required_role,
            reports_removal=row.method == "DELETE" and row.status == 204 and row.id not in PUBLISHED_STATUSES,
        )
        for row in operations
        if row.id not in REMOVED_IN_PUBLISHED
    )
