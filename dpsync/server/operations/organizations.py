"""Part 4.8: organizations, members and teams."""

from ..handlers import members, organizations, teams
from ..models import base as m
from ..models import organizations as mo
from .rows import ADDED, ORG, delete, get, listing, patch, post, put

MEMBER = ORG + "/members/{userId}"
TEAM = ORG + "/teams/{teamId}"

OPERATIONS = [
    get("getUser", "/user", organizations.who, m.User, **ADDED),
    listing("listOrganizations", "/orgs", organizations.list_organizations, mo.Organization),
    get("getOrganization", ORG, organizations.get_organization, mo.Organization),
    patch("updateOrganization", ORG, organizations.update_organization, mo.Organization,
          mo.OrganizationUpdate, errors=(409,)),
    get("getAgentInstructions", ORG + "/agent-instructions", organizations.get_agent_instructions,
        mo.AgentInstructions),
    put("updateAgentInstructions", ORG + "/agent-instructions", organizations.put_agent_instructions,
        mo.AgentInstructions, mo.AgentInstructionsUpdate),
    listing("listMembers", ORG + "/members", members.list_members, mo.Member, mo.MembersQuery, needs="read"),
    get("getMember", MEMBER, members.get_member, mo.Member, needs="read"),
    patch("updateMember", MEMBER, members.update_member, mo.Member, mo.MemberUpdate, errors=(409,)),
    delete("removeMember", MEMBER, members.delete_member, errors=(409,)),
    post("ping", ORG + "/ping", members.ping, mo.Ping, needs=None),
    post("addSSOMember", MEMBER + "/sso", members.add_sso_member, mo.Member),
    listing("listMemberSpaces", MEMBER + "/spaces", members.list_member_spaces, mo.MemberSpace,
            mo.OrderedQuery, needs="read"),
    listing("listMemberTeams", MEMBER + "/teams", members.list_member_teams, mo.MemberTeam,
            mo.MemberTeamsQuery, needs="read"),
    listing("listTeams", ORG + "/teams", teams.list_teams, mo.Team, mo.TeamsQuery, needs="read"),
    put("createTeam", ORG + "/teams", teams.create_team, mo.Team, mo.TeamCreate, status=201),
    get("getTeam", TEAM, teams.get_team, mo.Team, needs="read"),
    patch("updateTeam", TEAM, teams.update_team, mo.Team, mo.TeamUpdate),
    delete("removeTeam", TEAM, teams.delete_team),
    listing("listTeamMembers", TEAM + "/members", teams.list_team_members, mo.TeamMember, needs="read"),
    put("updateTeamMembers", TEAM + "/members", teams.change_team_members, None, mo.MembershipChanges,
        status=204),
    put("addTeamMember", TEAM + "/members/{userId}", teams.put_team_member, None, mo.MembershipChange,
        status=204, body_required=False),
    delete("removeTeamMember", TEAM + "/members/{userId}", teams.delete_team_member),
]  # fmt: skip
