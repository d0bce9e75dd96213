"""Define the API operations on organizations: method, path, models and handler of each.

Topics: organizations, members, teams, users and agent instructions.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.people import members, organizations, teams
from ..models import base as m
from ..models import organizations as mo
from .builders import FULL_ONLY, ORG, delete, get, listing, patch, post, put

TITLE = "Organizations, members and teams"

MEMBER = ORG + "/members/{userId}"
TEAM = ORG + "/teams/{teamId}"

_LAST_ADMIN_NOTE = "Returns 409 if the organization would lose its last enabled admin."
_VISIBLE_TO_NOTE = "Only members who are not guests, and owners of the team, can call this operation."
_MANAGED_BY_NOTE = "Only admins of the organization and owners of the team can call this operation."

OPERATIONS = [
    get("getUser", "/user", organizations.get_caller, m.User, **FULL_ONLY),
    get("getUserById", "/users/{userId}", organizations.get_user, m.User, **FULL_ONLY,
        note="Returns only the caller, and users who share an organization with the caller."),
    listing("listOrganizationsForAuthenticatedUser", "/orgs", organizations.list_organizations,
            mo.OrganizationAnswer,
            note="Lists the organizations of the caller in order of creation, without organizations in "
                 "which the caller is disabled."),
    get("getOrganizationById", ORG, organizations.get_organization, mo.OrganizationAnswer,
        note="Returns 404 if the caller is not a member or is disabled."),
    patch("updateOrganizationById", ORG, organizations.update_organization, mo.OrganizationAnswer,
          mo.OrganizationUpdate, error_statuses=(409,),
          note="Returns 409 if another organization has the same hostname."),
    get("getOrganizationAgentInstructions", ORG + "/agent-instructions", organizations.get_agent_instructions,
        mo.AgentInstructions, note="Returns an empty document if the organization has no instructions."),
    put("updateOrganizationAgentInstructions", ORG + "/agent-instructions",
        organizations.put_agent_instructions,
        mo.AgentInstructions, mo.AgentInstructionsUpdate),
    listing("listMembersInOrganizationById", ORG + "/members", members.list_members, mo.Member,
            mo.MembersQuery, required_role="read",
            note="You can filter the members by `role` and `search`. The role null means guest."),
    get("getMemberInOrganizationById", MEMBER, members.get_member, mo.Member, required_role="read",
        note="The id of the member is the id of the user."),
    patch("updateMemberInOrganizationById", MEMBER, members.update_member, mo.Member, mo.MemberUpdate,
          error_statuses=(409,),
          note=_LAST_ADMIN_NOTE),
    delete("removeMemberFromOrganizationById", MEMBER, members.delete_member, error_statuses=(409,),
           note="Also deletes the team memberships and roles of the member. " + _LAST_ADMIN_NOTE),
    post("updateOrganizationMemberLastSeenAt", ORG + "/ping", members.record_last_seen, mo.Ping,
         required_role=None,
         note="Sets `lastSeenAt` of the caller to the current time."),
    post("setUserAsSSOMemberForOrganization", MEMBER + "/sso", members.add_sso_member, mo.Member,
         note="If the user is not yet a member, adds the user with the default role of the organization."),
    listing("listSpacesForOrganizationMember", MEMBER + "/spaces", members.list_member_spaces, mo.MemberSpace,
            mo.OrderedQuery, required_role="read",
            note="Lists spaces that both the member and the caller can view."),
    listing("listTeamsForOrganizationMember", MEMBER + "/teams", members.list_member_teams, mo.MemberTeam,
            mo.MemberTeamsQuery, required_role="read"),
    listing("listTeamsInOrganizationById", ORG + "/teams", teams.list_teams, mo.Team, mo.TeamsQuery,
            required_role="read",
            note="You can filter the teams by `title`. With `owner`, lists only teams that "
                 "the member in `owner` can manage."),
    put("createOrganizationTeam", ORG + "/teams", teams.create_team, mo.Team, mo.TeamCreate, status=201,
        note="Always creates a new team, even if a team with the same title exists. A team can exist "
             "without an owner."),
    get("getTeamInOrganizationById", TEAM, teams.get_team, mo.Team, error_statuses=(403,),
        note=_VISIBLE_TO_NOTE),
    patch("updateTeamInOrganizationById", TEAM, teams.update_team, mo.Team, mo.TeamUpdate, required_role=None,
          error_statuses=(403,),
          note=_MANAGED_BY_NOTE),
    delete("removeTeamFromOrganizationById", TEAM, teams.delete_team, required_role=None,
           error_statuses=(403,),
           note=_MANAGED_BY_NOTE + " If the team is the default team of a SAML provider, the provider loses "
                                   "the default team."),
    listing("listTeamMembersInOrganizationById", TEAM + "/members", teams.list_team_members, mo.TeamMember,
            error_statuses=(403,),
            note=_VISIBLE_TO_NOTE),
    put("updateMembersInOrganizationTeam", TEAM + "/members", teams.change_team_members, None,
        mo.MembershipChanges,
        status=204, required_role=None, error_statuses=(403,),
        note=_MANAGED_BY_NOTE + " Makes all changes or none."),
    put("addMemberToOrganizationTeamById", TEAM + "/members/{userId}", teams.put_team_member, None,
        mo.MembershipChange,
        status=204, body_required=False, required_role=None, error_statuses=(403,),
        note=_MANAGED_BY_NOTE + " If the body has no role, an existing member keeps the role."),
    delete("deleteMemberFromOrganizationTeamById", TEAM + "/members/{userId}", teams.delete_team_member,
           required_role=None,
           error_statuses=(403,), note=_MANAGED_BY_NOTE),
]  # fmt: skip
