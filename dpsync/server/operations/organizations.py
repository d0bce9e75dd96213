"""Organizations, members and teams."""

from ..handlers.people import members, organizations, teams
from ..models import base as m
from ..models import organizations as mo
from .rows import ADDED, ORG, delete, get, listing, patch, post, put

MEMBER = ORG + "/members/{userId}"
TEAM = ORG + "/teams/{teamId}"

_LAST_ADMIN = "Returns 409 for the last enabled admin."
_SEEN_BY = "Only members who are not guests, and owners of the team, can call this operation."
_MANAGED_BY = "Only admins of the organization and owners of the team can call this operation."

OPERATIONS = [
    get("getUser", "/user", organizations.who, m.User, **ADDED),
    get("getUserById", "/users/{userId}", organizations.get_user, m.User, **ADDED,
        note="Returns the caller, and users who share an organization with the caller."),
    listing("listOrganizationsForAuthenticatedUser", "/orgs", organizations.list_organizations,
            mo.OrganizationAnswer,
            note="Lists in order of creation, without organizations that disabled the caller."),
    get("getOrganizationById", ORG, organizations.get_organization, mo.OrganizationAnswer,
        note="Returns 404 to callers who are not members or are disabled."),
    patch("updateOrganizationById", ORG, organizations.update_organization, mo.OrganizationAnswer,
          mo.OrganizationUpdate, errors=(409,),
          note="Returns 409 if another organization has the hostname."),
    get("getOrganizationAgentInstructions", ORG + "/agent-instructions", organizations.get_agent_instructions,
        mo.AgentInstructions, note="Returns an empty document until instructions are written."),
    put("updateOrganizationAgentInstructions", ORG + "/agent-instructions",
        organizations.put_agent_instructions,
        mo.AgentInstructions, mo.AgentInstructionsUpdate),
    listing("listMembersInOrganizationById", ORG + "/members", members.list_members, mo.Member,
            mo.MembersQuery, needs="read",
            note="Filters by `role` and `search`. `role` null means guest."),
    get("getMemberInOrganizationById", MEMBER, members.get_member, mo.Member, needs="read",
        note="Uses the user's id as the member's id."),
    patch("updateMemberInOrganizationById", MEMBER, members.update_member, mo.Member, mo.MemberUpdate,
          errors=(409,),
          note=_LAST_ADMIN),
    delete("removeMemberFromOrganizationById", MEMBER, members.delete_member, errors=(409,),
           note="Deletes the member's team memberships and roles too. " + _LAST_ADMIN),
    post("updateOrganizationMemberLastSeenAt", ORG + "/ping", members.ping, mo.Ping, needs=None,
         note="Sets the caller's `lastSeenAt` to now."),
    post("setUserAsSSOMemberForOrganization", MEMBER + "/sso", members.add_sso_member, mo.Member,
         note="Adds a new member with the organization's default role."),
    listing("listSpacesForOrganizationMember", MEMBER + "/spaces", members.list_member_spaces, mo.MemberSpace,
            mo.OrderedQuery, needs="read",
            note="Lists spaces that both the member and the caller can view."),
    listing("listTeamsForOrganizationMember", MEMBER + "/teams", members.list_member_teams, mo.MemberTeam,
            mo.MemberTeamsQuery, needs="read"),
    listing("listTeamsInOrganizationById", ORG + "/teams", teams.list_teams, mo.Team, mo.TeamsQuery,
            needs="read",
            note="Filters by `title`, and by `owner` for teams that the member can manage."),
    put("createOrganizationTeam", ORG + "/teams", teams.create_team, mo.Team, mo.TeamCreate, status=201,
        note="Always creates a team, because titles can repeat. A team can have no owner."),
    get("getTeamInOrganizationById", TEAM, teams.get_team, mo.Team, errors=(403,), note=_SEEN_BY),
    patch("updateTeamInOrganizationById", TEAM, teams.update_team, mo.Team, mo.TeamUpdate, needs=None,
          errors=(403,),
          note=_MANAGED_BY),
    delete("removeTeamFromOrganizationById", TEAM, teams.delete_team, needs=None, errors=(403,),
           note=_MANAGED_BY + " Clears the SAML providers' default team."),
    listing("listTeamMembersInOrganizationById", TEAM + "/members", teams.list_team_members, mo.TeamMember,
            errors=(403,),
            note=_SEEN_BY),
    put("updateMembersInOrganizationTeam", TEAM + "/members", teams.change_team_members, None,
        mo.MembershipChanges,
        status=204, needs=None, errors=(403,),
        note=_MANAGED_BY + " Makes all changes or none."),
    put("addMemberToOrganizationTeamById", TEAM + "/members/{userId}", teams.put_team_member, None,
        mo.MembershipChange,
        status=204, body_required=False, needs=None, errors=(403,),
        note=_MANAGED_BY + " Keeps an existing member's role if the body names none."),
    delete("deleteMemberFromOrganizationTeamById", TEAM + "/members/{userId}", teams.delete_team_member,
           needs=None,
           errors=(403,), note=_MANAGED_BY),
]  # fmt: skip
