"""The table of operations: one row each, in the order of the API's parts. Everything else is derived from it.

Rows of the profile `full` are additions to the reference; operations that are known but not served are in
`unserved`.
"""

from typing import Any

from .handlers import (
    content,
    joining,
    members,
    openapi,
    organizations,
    saml,
    sites,
    structure,
    teams,
    translations,
)
from .jobs import Does
from .models import base as m
from .models import content as mc
from .models import joining as mj
from .models import openapi as mp
from .models import organizations as mo
from .models import saml as ml
from .models import sites as ms
from .models import translations as mt
from .operation import Handler, Operation
from .unserved import UNSERVED

ORG = "/orgs/{organizationId}"
SITE = ORG + "/sites/{siteId}"
SECTION = SITE + "/sections/{siteSectionId}"
GROUP = SITE + "/section-groups/{siteSectionGroupId}"
PLACE = SITE + "/site-spaces/{siteSpaceId}"
SP = "/spaces/{spaceId}"
COLLECTION = "/collections/{collectionId}"
MEMBER = ORG + "/members/{userId}"
TEAM = ORG + "/teams/{teamId}"
INVITES = ORG + "/link-invites"
SAML = ORG + "/saml/{samlProviderId}"
SPEC = ORG + "/openapi/{specSlug}"
TRANSLATION = ORG + "/translations/{translationId}"


def _get(
    id: str, path: str, handler: Handler, answer: Any, query: type[m.Query] = m.Query, **more: Any
) -> Operation:
    return Operation(id, "GET", path, handler, answer, query=query, **more)


def _list(
    id: str, path: str, handler: Handler, item: Any, query: type[m.Query] = m.Paged, **more: Any
) -> Operation:
    return Operation(id, "GET", path, handler, m.Page[item], query=query, **more)


def _write(
    method: str, id: str, path: str, handler: Handler, answer: Any, body: Any = None, **more: Any
) -> Operation:
    more.setdefault("needs", "admin")
    return Operation(id, method, path, handler, answer, body, **more)


def _post(id: str, path: str, handler: Handler, answer: Any, body: Any = None, **more: Any) -> Operation:
    return _write("POST", id, path, handler, answer, body, **more)


def _patch(id: str, path: str, handler: Handler, answer: Any, body: Any, **more: Any) -> Operation:
    return _write("PATCH", id, path, handler, answer, body, **more)


def _put(id: str, path: str, handler: Handler, answer: Any, body: Any, **more: Any) -> Operation:
    return _write("PUT", id, path, handler, answer, body, **more)


def _delete(id: str, path: str, handler: Handler, **more: Any) -> Operation:
    return _write("DELETE", id, path, handler, None, status=204, **more)


_MOVED: Any = {"body_required": False, "errors": (400, 404, 409)}

SITES = [
    _list("listSites", ORG + "/sites", sites.list_sites, ms.Site, ms.SitesQuery),
    _post("createSite", ORG + "/sites", sites.create_site, ms.Site, ms.SiteCreate, status=201,
          body_required=False, needs="create"),
    _get("getSite", SITE, sites.get_site, ms.Site),
    _delete("deleteSite", SITE, sites.delete_site),
    _patch("updateSite", SITE, sites.update_site, ms.Site, ms.SiteUpdate, errors=(409,)),
    _get("getAdaptiveSchema", SITE + "/adaptive-schema", sites.get_schema, ms.AdaptiveSchema),
    _put("updateAdaptiveSchema", SITE + "/adaptive-schema", sites.put_schema, ms.AdaptiveSchema,
         ms.AdaptiveSchemaUpdate),
    _get("listAdaptiveTemplateConditions", SITE + "/adaptive-schema/template-conditions",
         sites.list_conditions, ms.TemplateConditions),
    _post("publishSite", SITE + "/publish", sites.publish_site, ms.Site, profile="full"),
    _post("unpublishSite", SITE + "/unpublish", sites.unpublish_site, ms.Site, profile="full"),
]  # fmt: skip

STRUCTURE = [
    _get("getSiteStructure", SITE + "/structure", structure.get_structure, ms.Structure, profile="full"),
    _patch("sortSiteStructure", SITE + "/structure/sort", structure.sort_structure, ms.SortedNode, ms.Sort,
           profile="full"),
    _list("listSiteSections", SITE + "/sections", structure.list_sections, ms.SiteSection, ms.SharedQuery),
    _post("createSiteSection", SITE + "/sections", structure.create_section, ms.SiteSection,
          ms.SectionCreate, status=201),
    _delete("deleteSiteSection", SECTION, structure.delete_section),
    _patch("updateSiteSection", SECTION, structure.update_section, ms.SiteSection, ms.SectionUpdate,
           errors=(409,)),
    _post("moveSiteSection", SECTION + "/move", structure.move_section, ms.SiteSection, ms.NodeMove,
          deprecated=True, **_MOVED),
    _list("listSiteSectionGroups", SITE + "/section-groups", structure.list_groups, ms.SiteSectionGroup),
    _post("createSiteSectionGroup", SITE + "/section-groups", structure.create_group, ms.SiteSectionGroup,
          ms.GroupCreate, status=201),
    _patch("updateSiteSectionGroup", GROUP, structure.update_group, ms.SiteSectionGroup, ms.GroupUpdate),
    _delete("deleteSiteSectionGroup", GROUP, structure.delete_group),
    _post("addSectionToGroup", GROUP + "/sections", structure.add_group_section, ms.SiteSectionGroup,
          ms.GroupSection, status=201),
    _delete("removeSectionFromGroup", GROUP + "/sections/{siteSectionId}", structure.remove_group_section),
    _post("moveSiteSectionGroup", GROUP + "/move", structure.move_group, ms.SiteSectionGroup, ms.NodeMove,
          **_MOVED),
    _list("listSiteSpaces", SITE + "/site-spaces", structure.list_site_spaces, ms.SiteSpace,
          ms.SiteSpacesQuery),
    _post("createSiteSpace", SITE + "/site-spaces", structure.create_site_space, ms.SiteSpace,
          ms.SiteSpaceCreate, status=201),
    _delete("deleteSiteSpace", PLACE, structure.delete_site_space),
    _patch("updateSiteSpace", PLACE, structure.update_site_space, ms.SiteSpace, ms.SiteSpaceUpdate,
           errors=(409,)),
    _post("moveSiteSpace", PLACE + "/move", structure.move_site_space, ms.SiteSpace, ms.NodeMove,
          deprecated=True, **_MOVED),
]  # fmt: skip

CONTENT = [
    _list("listSpaces", ORG + "/spaces", content.list_spaces, mc.Space),
    _post("createSpace", ORG + "/spaces", content.create_space, mc.Space, mc.SpaceCreate, status=201,
          body_required=False, needs="create", profile="full"),
    _get("getSpace", SP, content.get_space, mc.Space, mc.SpaceQuery),
    _delete("deleteSpace", SP, content.delete_space),
    _patch("updateSpace", SP, content.update_space, mc.Space, mc.SpaceUpdate),
    _post("duplicateSpace", SP + "/duplicate", content.duplicate_space, mc.Space, status=201,
          needs="create"),
    _post("restoreSpace", SP + "/restore", content.restore_space, mc.Space),
    _post("moveSpace", SP + "/move", content.move_space, mc.Space, mc.ContentMove, **_MOVED),
    _post("transferSpace", SP + "/transfer", content.transfer_space, mc.Space, mc.Transfer, errors=(404,
          409, 412)),
    _get("getCollection", COLLECTION, content.get_collection, mc.Collection),
    _delete("deleteCollection", COLLECTION, content.delete_collection),
    _patch("updateCollection", COLLECTION, content.update_collection, mc.Collection, mc.CollectionUpdate),
    _list("listCollectionSpaces", COLLECTION + "/spaces", content.list_collection_spaces, mc.Space),
    _post("moveCollection", COLLECTION + "/move", content.move_collection, mc.Collection, mc.ContentMove,
          **_MOVED),
    _post("transferCollection", COLLECTION + "/transfer", content.transfer_collection, mc.Collection,
          mc.Transfer, errors=(404, 409, 412)),
    _list("listCollections", ORG + "/collections", content.list_collections, mc.Collection,
          mc.CollectionsQuery),
    _post("createCollection", ORG + "/collections", content.create_collection, mc.Collection,
          mc.CollectionCreate, status=201, body_required=False, needs="create"),
]  # fmt: skip

ORGANIZATIONS = [
    _get("getUser", "/user", organizations.who, m.User, profile="full"),
    _list("listOrganizations", "/orgs", organizations.list_organizations, mo.Organization),
    _get("getOrganization", ORG, organizations.get_organization, mo.Organization),
    _patch("updateOrganization", ORG, organizations.update_organization, mo.Organization,
           mo.OrganizationUpdate, errors=(409,)),
    _get("getAgentInstructions", ORG + "/agent-instructions", organizations.get_agent_instructions,
         mo.AgentInstructions),
    _put("updateAgentInstructions", ORG + "/agent-instructions", organizations.put_agent_instructions,
         mo.AgentInstructions, mo.AgentInstructionsUpdate),
    _list("listMembers", ORG + "/members", members.list_members, mo.Member, mo.MembersQuery, needs="read"),
    _get("getMember", MEMBER, members.get_member, mo.Member, needs="read"),
    _patch("updateMember", MEMBER, members.update_member, mo.Member, mo.MemberUpdate, errors=(409,)),
    _delete("removeMember", MEMBER, members.delete_member, errors=(409,)),
    _post("ping", ORG + "/ping", members.ping, mo.Ping, needs=None),
    _post("addSSOMember", MEMBER + "/sso", members.add_sso_member, mo.Member),
    _list("listMemberSpaces", MEMBER + "/spaces", members.list_member_spaces, mo.MemberSpace,
          mo.OrderedQuery, needs="read"),
    _list("listMemberTeams", MEMBER + "/teams", members.list_member_teams, mo.MemberTeam,
          mo.MemberTeamsQuery, needs="read"),
    _list("listTeams", ORG + "/teams", teams.list_teams, mo.Team, mo.TeamsQuery, needs="read"),
    _put("createTeam", ORG + "/teams", teams.create_team, mo.Team, mo.TeamCreate, status=201),
    _get("getTeam", TEAM, teams.get_team, mo.Team, needs="read"),
    _patch("updateTeam", TEAM, teams.update_team, mo.Team, mo.TeamUpdate),
    _delete("removeTeam", TEAM, teams.delete_team),
    _list("listTeamMembers", TEAM + "/members", teams.list_team_members, mo.TeamMember, needs="read"),
    _put("updateTeamMembers", TEAM + "/members", teams.change_team_members, None, mo.MembershipChanges,
         status=204),
    _put("addTeamMember", TEAM + "/members/{userId}", teams.put_team_member, None, mo.MembershipChange,
         status=204, body_required=False),
    _delete("removeTeamMember", TEAM + "/members/{userId}", teams.delete_team_member),
]  # fmt: skip

JOINING = [
    _list("listOrganizationInvites", INVITES, joining.list_invites, mj.LinkInvite, needs="admin",
          profile="full"),
    _post("createOrganizationInvite", INVITES, joining.create_invite, mj.LinkInvite, mj.LinkInviteCreate,
          status=201, errors=(409,), profile="full"),
    _get("getOrganizationInviteById", INVITES + "/{inviteId}", joining.get_invite, mj.LinkInvite,
         needs="admin", profile="full"),
    _delete("deleteOrganizationInviteById", INVITES + "/{inviteId}", joining.delete_invite),
    _post("joinOrganization", ORG + "/join", joining.join_organization, None, status=204, needs=None,
          errors=(400,)),
    _list("searchOrganizationContent", ORG + "/search", joining.search_organization, mj.SpaceHit,
          mj.SearchQuery),
    _list("listSAMLProvidersInOrganizationById", ORG + "/saml", saml.list_providers, ml.SamlProvider,
          needs="admin"),
    _post("createOrganizationSAMLProvider", ORG + "/saml", saml.create_provider, ml.SamlProvider,
          ml.SamlProviderCreate, status=201),
    _get("getOrganizationSAMLProviderById", SAML, saml.get_provider, ml.SamlProvider, needs="admin"),
    _patch("updateOrganizationSAMLProvider", SAML, saml.update_provider, ml.SamlProvider,
           ml.SamlProviderUpdate),
    _delete("deleteOrganizationSAMLProvider", SAML, saml.delete_provider),
    _get("listSSOProviderLoginsInOrganization", ORG + "/sso", saml.list_logins, ml.SsoLogins),
]  # fmt: skip

SPECIFICATIONS = [
    _list("listOpenAPISpecs", ORG + "/openapi", openapi.list_specs, mp.OpenAPISpec, needs="read"),
    _post("createOpenAPISpec", ORG + "/openapi", openapi.create_spec, mp.OpenAPISpec, mp.SpecCreate,
          status=201, needs="create"),
    _get("getOpenAPISpecBySlug", SPEC, openapi.get_spec, mp.OpenAPISpec, needs="read"),
    _put("createOrUpdateOpenAPISpecBySlug", SPEC, openapi.put_spec, mp.OpenAPISpec, mp.SpecPut,
         needs="create", creates=True),
    _patch("updateOpenAPISpecBySlug", SPEC, openapi.update_spec, mp.OpenAPISpec, mp.SpecUpdate,
           needs="create"),
    _delete("deleteOpenAPISpecBySlug", SPEC, openapi.delete_spec, needs="create"),
]  # fmt: skip

TRANSLATIONS = [
    _list("listTranslations", ORG + "/translations", translations.list_translations, mt.Translation,
          needs="read"),
    _post("createTranslation", ORG + "/translations", translations.create_translation, mt.Translation,
          mt.TranslationCreate, status=201, needs="create"),
    _get("getTranslation", TRANSLATION, translations.get_translation, mt.Translation, needs="read"),
    _put("updateTranslation", TRANSLATION, translations.update_translation, mt.Translation,
         mt.TranslationUpdate, needs="create"),
    _delete("deleteTranslation", TRANSLATION, translations.delete_translation, needs="create"),
    _post("runTranslation", TRANSLATION + "/run", translations.run_translation, None, status=204,
          needs="create"),
]  # fmt: skip

JOBS: dict[str, Does] = {openapi.PROCESS: openapi.process, translations.RUN: translations.run}

OPERATIONS = (
    *SITES, *STRUCTURE, *CONTENT, *ORGANIZATIONS, *JOINING, *SPECIFICATIONS, *TRANSLATIONS, *UNSERVED,
)  # fmt: skip
