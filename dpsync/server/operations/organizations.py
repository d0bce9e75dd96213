"""Part 4.8: organizations, members and teams."""

from ..handlers.people import members, organizations, teams
from ..models import base as m
from ..models import organizations as mo
from .rows import ADDED, ORG, delete, get, listing, patch, post, put

MEMBER = ORG + "/members/{userId}"
TEAM = ORG + "/teams/{teamId}"

_LAST_ADMIN = "The last admin who is not disabled can be neither removed nor made less: 409."
_SEEN_BY = "For members who are no guests, and for an owner who is one."
_MANAGED_BY = "By admins of the organization and owners of the team."
_NO_OWNER = "A team may be without an owner."

OPERATIONS = [
    get("getUser", "/user", organizations.who, m.User, **ADDED),
    get("getUserById", "/users/{userId}", organizations.get_user, m.User, **ADDED,
        decided="The caller, and whoever is in an organization of theirs."),
    listing("listOrganizationsForAuthenticatedUser", "/orgs", organizations.list_organizations,
            mo.OrganizationAnswer,
            decided="In order of creation; not those in which the caller is disabled."),
    get("getOrganizationById", ORG, organizations.get_organization, mo.OrganizationAnswer,
        decided="For every member, also a guest. Who is no member, or disabled, finds no organization."),
    patch("updateOrganizationById", ORG, organizations.update_organization, mo.OrganizationAnswer,
          mo.OrganizationUpdate, errors=(409,),
          decided="A hostname that another organization has is 409, one that is no host name (by the pattern "
          "of a subdomain) 400, a default site that is not there 404."),
    get("getOrganizationAgentInstructions", ORG + "/agent-instructions", organizations.get_agent_instructions,
        mo.AgentInstructions, decided="An empty document until they are written first."),
    put("updateOrganizationAgentInstructions", ORG + "/agent-instructions",
        organizations.put_agent_instructions,
        mo.AgentInstructions, mo.AgentInstructionsUpdate, decided="Answers what is kept now."),
    listing("listMembersInOrganizationById", ORG + "/members", members.list_members, mo.Member,
            mo.MembersQuery, needs="read",
            decided="The filters are role (guest for null) and search, the sort also name. Guests may not "
            "list: 403."),
    get("getMemberInOrganizationById", MEMBER, members.get_member, mo.Member, needs="read",
        decided="The id of a member is that of the user."),
    patch("updateMemberInOrganizationById", MEMBER, members.update_member, mo.Member, mo.MemberUpdate,
          errors=(409,),
          decided=_LAST_ADMIN),
    delete("removeMemberFromOrganizationById", MEMBER, members.delete_member, errors=(409,),
           decided="At once, or by `--ask-before-removal` never (202). Memberships in teams and roles on "
           "spaces, collections and sites go too. " + _LAST_ADMIN),
    post("updateOrganizationMemberLastSeenAt", ORG + "/ping", members.ping, mo.Ping, needs=None,
         decided="lastSeenAt of the calling member becomes now. There are no claims to return."),
    post("setUserAsSSOMemberForOrganization", MEMBER + "/sso", members.add_sso_member, mo.Member,
         decided="A user who is no member becomes one with the organization's default role; 404 for an "
         "unknown user."),
    listing("listSpacesForOrganizationMember", MEMBER + "/spaces", members.list_member_spaces, mo.MemberSpace,
            mo.OrderedQuery, needs="read",
            decided="The spaces that both the member and the caller may view, with the role of the member; "
            "ordered by creation."),
    listing("listTeamsForOrganizationMember", MEMBER + "/teams", members.list_member_teams, mo.MemberTeam,
            mo.MemberTeamsQuery, needs="read", decided="The filter is title."),
    listing("listTeamsInOrganizationById", ORG + "/teams", teams.list_teams, mo.Team, mo.TeamsQuery,
            needs="read",
            decided="The filters are owner, for the teams that this member may manage, and title."),
    put("createOrganizationTeam", ORG + "/teams", teams.create_team, mo.Team, mo.TeamCreate, status=201,
        decided="Always a new team: titles are not unique. Members are named by id or e-mail, with the role "
        "member; one who is not there is 404. " + _NO_OWNER),
    get("getTeamInOrganizationById", TEAM, teams.get_team, mo.Team, errors=(403,), decided=_SEEN_BY),
    patch("updateTeamInOrganizationById", TEAM, teams.update_team, mo.Team, mo.TeamUpdate, needs=None,
          errors=(403,),
          decided=_MANAGED_BY),
    delete("removeTeamFromOrganizationById", TEAM, teams.delete_team, needs=None, errors=(403,),
           decided=_MANAGED_BY + " With its memberships and the roles given to it; SAML providers lose it as "
           "their default team."),
    listing("listTeamMembersInOrganizationById", TEAM + "/members", teams.list_team_members, mo.TeamMember,
            errors=(403,),
            decided=_SEEN_BY),
    put("updateMembersInOrganizationTeam", TEAM + "/members", teams.change_team_members, None,
        mo.MembershipChanges,
        status=204, needs=None, errors=(403,),
        decided=_MANAGED_BY + " All or nothing; who is to be removed need not be there, who is to be added "
        "must be a member of the organization, else 404. " + _NO_OWNER),
    put("addMemberToOrganizationTeamById", TEAM + "/members/{userId}", teams.put_team_member, None,
        mo.MembershipChange,
        status=204, body_required=False, needs=None, errors=(403,),
        decided=_MANAGED_BY + " Without a role a new one is a member, and one who is there keeps theirs."),
    delete("deleteMemberFromOrganizationTeamById", TEAM + "/members/{userId}", teams.delete_team_member,
           needs=None,
           errors=(403,), decided=_MANAGED_BY + " " + _NO_OWNER),
]  # fmt: skip
