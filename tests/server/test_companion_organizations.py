"""Organizations, members, teams and agent instructions."""

from copy import deepcopy
from typing import Any

import pytest
from companion_calls import Api
from covers import covers

ACME = "/orgs/acme"
MEMBERS = ["ada", "grace", "lin", "rui", "eve", "cam", "kim", "gus"]


@covers("getUser", 200)
def test_user_endpoint_returns_the_caller(api: Api) -> None:
    assert api.get("/user")["email"] == "ada@acme.example"
    assert api.as_("hank-token").get("/user")["id"] == "hank"


@covers("getUserById", 200, 404)
def test_user_is_visible_to_members_of_same_organization(api: Api) -> None:
    assert api.get("/users/kim") == api.get("/orgs/acme/members/kim")["user"]
    oli = api.as_("oli-token")  # in no organization
    assert oli.get("/users/oli")["displayName"] == "Oli Twist"
    oli.refused(404, "GET", "/users/kim")
    api.refused(404, "GET", "/users/oli")
    api.refused(404, "GET", "/users/nobody")


@covers("listOrganizationsForAuthenticatedUser", 200)
def test_organizations_are_listed_for_the_caller(api: Api) -> None:
    assert api.ids("/orgs") == ["acme", "globex"]
    assert api.as_("grace-token").ids("/orgs") == ["acme"]


@covers("updateOrganizationById", 200)
@covers("getOrganizationById", 200)
def test_organization_update_sets_and_clears_settings(api: Api) -> None:
    fields = {
        "title": "Other",
        "emailDomains": ["a.example", "b.example"],
        "hostname": "other",
        "defaultRole": "comment",
        "defaultContent": {"type": "site", "site": "help"},
        "sso": True,
        "ai": False,
        "inviteLinks": False,
        "mergeRules": {"type": "none"},
    }
    changed = api.patch(ACME, {**fields, "logo": "https://acme.example/logo.svg"})
    assert {key: changed[key] for key in fields} == fields
    assert changed["urls"]["logo"] == "https://acme.example/logo.svg"
    cleared = api.patch(ACME, {"defaultRole": None, "defaultContent": None, "logo": None})
    assert (cleared["defaultRole"], cleared["defaultContent"]) == (None, None)
    assert "logo" not in cleared["urls"]
    assert api.get(ACME) == cleared


@covers("updateOrganizationById", 404, 409)
def test_organization_update_with_taken_hostname_is_refused(api: Api) -> None:
    api.refused(409, "PATCH", ACME, {"hostname": "globex"})
    api.refused(404, "PATCH", ACME, {"defaultContent": {"type": "site", "site": "globex-docs"}})


@pytest.mark.parametrize(
    "hostname", ["a b", "a/b?c", "Acme", "acme-", "-acme", "acme.example", "ac", "a" * 33]
)
def test_invalid_organization_hostname_is_refused(api: Api, hostname: str) -> None:
    api.refused(400, "PATCH", ACME, {"hostname": hostname})
    assert api.patch(ACME, {"hostname": "acme-2"})["hostname"] == "acme-2"


def test_invalid_hostname_in_server_data_can_be_rewritten(api: Api, builtin_world: Any) -> None:
    older = deepcopy(builtin_world)
    older["organizations"][0]["hostname"] = "Acme Inc"
    api.server.reset(older)
    assert api.patch(ACME, {"hostname": "Acme Inc"})["hostname"] == "Acme Inc"


def test_admin_has_every_permission_flag(api: Api) -> None:
    for path in (ACME, "/spaces/guides", "/collections/product", f"{ACME}/teams/writers"):
        assert set(api.get(path)["permissions"].values()) == {True}


@covers("getOrganizationAgentInstructions", 200)
def test_agent_instructions_default_to_empty_document(api: Api) -> None:
    empty = api.get("/orgs/globex/agent-instructions")
    assert empty["instructions"]["nodes"] == []


@covers("updateOrganizationAgentInstructions", 200)
def test_agent_instructions_are_returned_as_normalized_document(api: Api) -> None:
    def leaf(text: str) -> dict[str, Any]:
        return {"object": "leaf", "text": text, "marks": []}

    text = {"object": "text", "leaves": [leaf("Be "), leaf("brief.")]}
    document = {"object": "document", "nodes": [{"object": "block", "type": "paragraph", "nodes": [text]}]}
    written = api.put(f"{ACME}/agent-instructions", {"instructions": document})
    assert written == api.get(f"{ACME}/agent-instructions")
    assert written["updatedBy"] == "ada"
    block = written["instructions"]["nodes"][0]
    assert block["key"]
    assert block["nodes"][0]["leaves"] == [leaf("Be brief.")]
    again = api.put(f"{ACME}/agent-instructions", {"instructions": written["instructions"]})
    assert again["instructions"] == written["instructions"]


# --- members -----------------------------------------------------------------------------------------


@covers("listMembersInOrganizationById", 200)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, MEMBERS[::-1]),
        ({"order": "asc"}, MEMBERS),
        ({"role": "admin", "order": "asc"}, ["ada", "grace"]),
        ({"role": "guest"}, ["gus"]),
        ({"search": "GRACE"}, ["grace"]),
        ({"search": "eve@"}, ["eve"]),
        ({"search": "nobody"}, []),
        ({"sort": "lastSeenAt"}, ["ada", "grace", "lin"]),
        ({"sort": "lastSeenAt", "order": "asc"}, ["lin", "grace", "ada"]),
        ({"sort": "name", "order": "asc"}, ["ada", "cam", "eve", "grace", "gus", "kim", "lin", "rui"]),
    ],
)
def test_members_are_listed_sorted_and_filtered(api: Api, query: dict[str, Any], expected: list[str]) -> None:
    assert api.ids(f"{ACME}/members", **query) == expected
    assert api.ids(f"{ACME}/members", limit=2, **query) == expected
    assert api.get(f"{ACME}/members", **query)["count"] == len(expected)


@covers("getMemberInOrganizationById", 200)
def test_member_shows_role_and_team_and_space_counts(api: Api) -> None:
    ada = api.get(f"{ACME}/members/ada")
    assert (ada["id"], ada["user"]["email"], ada["role"]) == ("ada", "ada@acme.example", "admin")
    assert (ada["teams"], ada["spaces"]) == (1, 8)
    assert api.get(f"{ACME}/members/gus")["role"] is None
    assert api.get(f"{ACME}/members/gus")["spaces"] == 0


@covers("updateMemberInOrganizationById", 200, 404)
def test_member_role_can_be_changed_to_guest(api: Api) -> None:
    assert api.patch(f"{ACME}/members/kim", {"role": "create"})["role"] == "create"
    assert api.patch(f"{ACME}/members/kim", {"role": None})["role"] is None
    assert api.patch(f"{ACME}/members/kim", {})["role"] is None
    api.refused(404, "PATCH", f"{ACME}/members/oli", {"role": "read"})


@covers("removeMemberFromOrganizationById", 204)
@covers("getMemberInOrganizationById", 404)
def test_deleted_member_leaves_teams(api: Api) -> None:
    api.delete(f"{ACME}/members/lin")
    api.delete(f"{ACME}/members/lin")
    api.refused(404, "GET", f"{ACME}/members/lin")
    assert api.get(f"{ACME}/teams/writers")["members"] == 1


@covers("removeMemberFromOrganizationById", 409)
@covers("updateMemberInOrganizationById", 409)
def test_last_admin_cannot_be_removed(api: Api) -> None:
    api.delete(f"{ACME}/members/grace")
    api.refused(409, "DELETE", f"{ACME}/members/ada")
    api.refused(409, "PATCH", f"{ACME}/members/ada", {"role": "create"})
    api.refused(409, "PATCH", f"{ACME}/members/ada", {"role": None})
    assert api.patch(f"{ACME}/members/ada", {"role": "admin"})["role"] == "admin"


@covers("updateOrganizationMemberLastSeenAt", 200)
def test_ping_updates_last_seen_time_of_member(api: Api) -> None:
    api.clock.pass_by(days=1)
    assert api.post(f"{ACME}/ping") == {}
    assert api.get(f"{ACME}/members/ada")["lastSeenAt"] == "2026-03-02T00:00:00.000Z"


@covers("setUserAsSSOMemberForOrganization", 200, 404)
def test_sso_membership_gives_known_user_default_role(api: Api) -> None:
    added = api.post(f"{ACME}/members/oli/sso")
    assert (added["sso"], added["role"]) == (True, "read")
    assert api.post(f"{ACME}/members/kim/sso")["sso"] is True
    assert api.ids(f"{ACME}/members")[0] == "oli"
    api.refused(404, "POST", f"{ACME}/members/nobody/sso")


@covers("listSpacesForOrganizationMember", 200)
def test_member_spaces_are_listed_with_access_level(api: Api) -> None:
    api.patch("/spaces/archive", {"defaultLevel": None})
    levels = {item["space"]["id"]: item["permission"] for item in api.items(f"{ACME}/members/lin/spaces")}
    assert levels == {
        "guides": "read",
        "news": "read",
        "api-reference": "read",
        "changelog": "read",
        "handbook": "create",
        "onboarding": "create",
        "support": "create",
    }
    newest = [item["space"]["id"] for item in api.items(f"{ACME}/members/ada/spaces", limit=3)]
    assert newest == api.ids(f"{ACME}/spaces")[::-1]
    oldest = [item["space"]["id"] for item in api.items(f"{ACME}/members/ada/spaces", order="asc")]
    assert oldest == newest[::-1]
    assert api.items(f"{ACME}/members/gus/spaces") == []


@covers("listTeamsForOrganizationMember", 200)
def test_member_teams_are_listed_with_role(api: Api) -> None:
    api.put(f"{ACME}/teams/sales/members/ada", {}, 204)
    found = api.items(f"{ACME}/members/ada/teams")
    assert [(item["team"]["id"], item["member"]["role"]) for item in found] == [
        ("writers", "owner"),
        ("sales", "member"),
    ]
    assert [item["team"]["id"] for item in api.items(f"{ACME}/members/ada/teams", title="SAL")] == ["sales"]


# --- teams -------------------------------------------------------------------------------------------


def people(api: Api, team: str = "writers") -> dict[str, str]:
    return {
        item["organization"]["id"]: item["team"]["role"] for item in api.items(f"{ACME}/teams/{team}/members")
    }


@covers("listTeamsInOrganizationById", 200)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["writers", "reviewers", "sales", "legacy"]),
        ({"title": "WRIT"}, ["writers"]),
        ({"owner": "rui"}, ["reviewers"]),
        ({"owner": "lin"}, []),
        ({"owner": "grace"}, ["writers", "reviewers", "sales", "legacy"]),
        ({"owner": "nobody"}, []),
    ],
)
def test_teams_are_listed_and_filtered(api: Api, query: dict[str, Any], expected: list[str]) -> None:
    assert api.ids(f"{ACME}/teams", **query) == expected


@covers("createOrganizationTeam", 201, 404)
def test_creating_same_team_twice_makes_two_teams(api: Api) -> None:
    body = {"title": "New", "members": ["ada", "LIN@acme.example"]}
    made = [api.put(f"{ACME}/teams", body, 201) for _ in range(2)]
    assert made[0]["id"] != made[1]["id"]
    assert made[0]["members"] == 2
    assert people(api, made[0]["id"]) == {"ada": "member", "lin": "member"}
    api.refused(404, "PUT", f"{ACME}/teams", {"title": "New", "members": ["oli"]})
    assert len(api.ids(f"{ACME}/teams")) == 6


@covers("updateTeamInOrganizationById", 200)
@covers("removeTeamFromOrganizationById", 204)
@covers("getTeamInOrganizationById", 404)
def test_team_can_be_renamed_and_deleted_with_memberships(api: Api) -> None:
    assert api.patch(f"{ACME}/teams/writers", {"title": "Authors"})["title"] == "Authors"
    api.delete(f"{ACME}/teams/writers")
    api.delete(f"{ACME}/teams/writers")
    api.refused(404, "GET", f"{ACME}/teams/writers")
    assert api.get(f"{ACME}/members/lin")["teams"] == 0
    api.refused(404, "GET", f"{ACME}/teams/reactor")
    api.delete(f"{ACME}/teams/reactor")
    assert api.ids("/orgs/globex/teams") == ["reactor"]


@covers("addMemberToOrganizationTeamById", 204, 404)
@covers("deleteMemberFromOrganizationTeamById", 204)
def test_team_membership_can_be_changed(api: Api) -> None:
    team = f"{ACME}/teams/writers/members"
    api.ok("PUT", f"{team}/kim", status=204)
    assert people(api)["kim"] == "member"
    api.put(f"{team}/kim", {"role": "owner"}, 204)
    api.ok("PUT", f"{team}/kim", status=204)
    assert people(api)["kim"] == "owner"
    api.delete(f"{team}/kim")
    api.delete(f"{team}/kim")
    assert people(api) == {"ada": "owner", "lin": "member"}
    api.refused(404, "PUT", f"{team}/oli", {"role": "member"})


@covers("updateMembersInOrganizationTeam", 204)
@covers("listTeamMembersInOrganizationById", 200)
@covers("getTeamInOrganizationById", 200)
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, {"ada": "owner", "lin": "member"}),
        ({"add": ["kim"]}, {"ada": "owner", "lin": "member", "kim": "member"}),
        ({"add": ["KIM@acme.example", "ada"]}, {"ada": "owner", "lin": "member", "kim": "member"}),
        ({"remove": ["ada@acme.example", "oli"]}, {"lin": "member"}),
        ({"add": ["kim"], "remove": ["kim@acme.example"]}, {"ada": "owner", "lin": "member"}),
        ({"memberships": {"lin": {"role": "owner"}}}, {"ada": "owner", "lin": "owner"}),
        (
            {"add": ["kim"], "memberships": {"kim": {"role": "owner"}}},
            {"ada": "owner", "lin": "member", "kim": "owner"},
        ),
        ({"remove": ["lin"], "memberships": {"lin": {"role": "owner"}}}, {"ada": "owner"}),
    ],
)
def test_team_memberships_are_changed_in_bulk(api: Api, body: Any, expected: dict[str, str]) -> None:
    api.put(f"{ACME}/teams/writers/members", body, 204)
    assert people(api) == expected
    assert api.get(f"{ACME}/teams/writers")["members"] == len(expected)


@covers("updateMembersInOrganizationTeam", 404)
def test_failed_bulk_membership_change_is_undone(api: Api) -> None:
    body = {"add": ["kim", "oli"], "remove": ["lin"]}
    api.refused(404, "PUT", f"{ACME}/teams/writers/members", body)
    assert people(api) == {"ada": "owner", "lin": "member"}


@covers("getTeamInOrganizationById", 403)
@covers("listTeamMembersInOrganizationById", 403)
@covers("updateTeamInOrganizationById", 403)
@covers("removeTeamFromOrganizationById", 403)
@covers("updateMembersInOrganizationTeam", 403)
@covers("addMemberToOrganizationTeamById", 403)
@covers("deleteMemberFromOrganizationTeamById", 403)
def test_team_is_owner_managed_and_hidden_from_guests(api: Api) -> None:
    team, rui = f"{ACME}/teams/reviewers", api.as_("rui-token")
    managing: list[tuple[str, str, Any]] = [
        ("PATCH", team, {"title": "Judges"}),
        ("PUT", f"{team}/members", {"add": ["kim"]}),
        ("PUT", f"{team}/members/eve", {"role": "member"}),
        ("DELETE", f"{team}/members/eve", None),
        ("DELETE", team, None),
    ]
    for call in managing:
        api.as_("kim-token").refused(403, *call)
        rui.refused(403, call[0], call[1].replace("reviewers", "writers"), call[2])
    for path in (team, f"{team}/members"):
        api.as_("kim-token").get(path)
        api.as_("gus-token").refused(403, "GET", path)
    assert rui.get(ACME)["permissions"]["ownTeam"] is True
    for method, path, body in managing:
        assert rui.call(method, path, body).is_success
    assert "reviewers" not in api.ids(f"{ACME}/teams")
    assert rui.get(ACME)["permissions"]["ownTeam"] is False


def test_owner_leaving_team_loses_team_permissions(api: Api) -> None:
    team, rui = f"{ACME}/teams/reviewers", api.as_("rui-token")
    rui.delete(f"{team}/members/rui")
    assert rui.get(team)["permissions"] == {"admin": False, "view": True}
    rui.refused(403, "PUT", f"{team}/members/rui", {"role": "owner"})


def test_disabled_admin_does_not_protect_last_admin(api: Api, builtin_world: dict[str, Any]) -> None:
    acme, *others = builtin_world["organizations"]
    members = [{**member, "disabled": member["user"] == "grace"} for member in acme["members"]]
    api.server.reset({**builtin_world, "organizations": [{**acme, "members": members}, *others]})
    api.refused(409, "DELETE", f"{ACME}/members/ada")
    api.refused(409, "PATCH", f"{ACME}/members/ada", {"role": "create"})
    api.delete(f"{ACME}/members/grace")
    assert api.ids("/orgs/globex/members", role="admin", order="asc") == ["hank", "ada"]
