"""Roles on spaces, collections and sites: given, listed, changed, taken away, and what becomes of them."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers
from platform_of_roles import give, given

ACME = "/orgs/acme"
ON = {"Space": "/spaces/support", "Collection": "/collections/internal", "Site": f"{ACME}/sites/help"}
KINDS = pytest.mark.parametrize("kind", list(ON))


def effective(api: Api, path: str, **query: Any) -> dict[str, str]:
    found = api.items(f"{path}/permissions/aggregate", **query)
    return {item["user"]["id"]: item["permission"] for item in found}


# --- giving and taking -----------------------------------------------------------------------------


@covers("inviteToSpace", 204)
@covers("inviteToCollection", 204)
@covers("inviteToSite", 204)
@covers("listUserPermissionsInSpace", 200)
@covers("listTeamPermissionsInSpace", 200)
@covers("listUserPermissionsInCollection", 200)
@covers("listTeamPermissionsInCollection", 200)
@covers("listUserPermissionsInSite", 200)
@covers("listTeamPermissionsInSite", 200)
def test_member_and_team_grants_can_be_replaced(api: Api) -> None:
    for path in ON.values():
        give(api, path, "edit", users=["kim", "GUS@acme.example"], teams=["sales"])
        assert given(api, path) == {"user": {"kim": "edit", "gus": "edit"}, "team": {"sales": "edit"}}
        give(api, path, None, users=["kim"])
        give(api, path, "read", teams=["sales", "legacy"])
        assert given(api, path) == {
            "user": {"kim": None, "gus": "edit"},
            "team": {"sales": "read", "legacy": "read"},
        }


@KINDS
@pytest.mark.parametrize(
    "body",
    [
        {"users": ["kim", "oli"], "role": "read"},
        {"users": ["nobody@acme.example"], "role": "read"},
        {"users": ["kim"], "teams": ["none"], "role": "read"},
        {"users": ["kim"], "teams": ["reactor"], "role": "read"},
    ],
)
def test_grant_with_unknown_subject_is_refused(api: Api, kind: str, body: Any) -> None:
    api.refused(404, "POST", f"{ON[kind]}/permissions", body)
    assert given(api, ON[kind]) == {"user": {}, "team": {}}


@KINDS
@pytest.mark.parametrize(
    "body", [{}, {"role": "read"}, {"users": ["kim"]}, {"users": ["kim"], "role": "owner"}]
)
def test_grant_requires_subject_and_role(api: Api, kind: str, body: Any) -> None:
    assert api.refused(400, "POST", f"{ON[kind]}/permissions", body).startswith("body")


@covers("getUserPermissionInSpace", 200, 404)
@covers("updateUserPermissionInSpace", 204, 404)
@covers("removeUserFromSpace", 204)
@covers("getTeamPermissionInSpace", 200, 404)
@covers("updateTeamPermissionInSpace", 204, 404)
@covers("removeTeamFromSpace", 204)
@covers("getUserPermissionInCollection", 200, 404)
@covers("updateUserPermissionInCollection", 204, 404)
@covers("removeUserFromCollection", 204)
@covers("getTeamPermissionInCollection", 200, 404)
@covers("updateTeamPermissionInCollection", 204, 404)
@covers("removeTeamFromCollection", 204)
@covers("getUserPermissionInSite", 200, 404)
@covers("updateUserPermissionInSite", 204, 404)
@covers("removeUserFromSite", 204)
@covers("getTeamPermissionInSite", 200, 404)
@covers("updateTeamPermissionInSite", 204, 404)
@covers("removeTeamFromSite", 204)
def test_single_grant_can_be_changed(api: Api) -> None:
    for path in ON.values():
        give(api, path, "edit", users=["kim"], teams=["sales"])
        for to, id in (("user", "kim"), ("team", "sales")):
            one = f"{path}/permissions/{to}s/{id}"
            api.patch(one, {"role": "create"}, 204)
            api.patch(one, {}, 204)
            assert (api.get(one)["permission"], api.get(one)[to]["id"]) == ("create", id)
            api.patch(one, {"role": None}, 204)
            assert api.get(one)["permission"] is None
            api.delete(one)
            api.delete(one)
            api.refused(404, "GET", one)
            api.refused(404, "PATCH", one, {"role": "read"})
        assert given(api, path) == {"user": {}, "team": {}}


def test_grant_list_is_paged_without_inherited_grants(api: Api) -> None:
    give(api, "/collections/internal", "create", users=["kim"])
    give(api, "/spaces/handbook", "edit", users=["gus", "cam", "eve"])
    found = api.items("/spaces/handbook/permissions/users", limit=2)
    assert [item["user"]["id"] for item in found] == ["gus", "cam", "eve"]
    assert api.get("/spaces/handbook/permissions/users", limit=1)["count"] == 3


# --- what comes of them ----------------------------------------------------------------------------


@covers("listPermissionsAggregateInSpace", 200)
@covers("listPermissionsAggregateInCollection", 200)
@covers("listPermissionsAggregateInSite", 200)
def test_permission_aggregate_lists_effective_role_per_member(api: Api) -> None:
    everybody = {
        "ada": "admin",
        "grace": "admin",
        "lin": "create",
        "rui": "review",
        "eve": "edit",
        "cam": "comment",
    }
    for path in ON.values():
        assert effective(api, path) == {**everybody, "kim": "read"}
        give(api, path, "edit", users=["gus"])
        give(api, path, "create", teams=["sales"])
        assert effective(api, path) == {**everybody, "kim": "create", "gus": "edit"}
        assert effective(api, path, limit=3) == effective(api, path)
        assert effective(api, path, role="create") == {"lin": "create", "kim": "create"}
        assert effective(api, path, role="read") == {}


def test_collection_grant_applies_to_nested_content(api: Api) -> None:
    give(api, "/collections/product", "edit", teams=["sales"], users=["gus"])
    for path in ("/collections/api", "/spaces/guides", "/spaces/api-reference"):
        assert (effective(api, path)["kim"], effective(api, path)["gus"]) == ("edit", "edit")
    assert "gus" not in effective(api, "/spaces/support")
    api.post("/spaces/support/move", {"parent": "api"})
    assert effective(api, "/spaces/support")["gus"] == "edit"


def test_members_and_teams_count_granted_spaces(api: Api) -> None:
    assert (api.get(f"{ACME}/members/gus")["spaces"], api.get(f"{ACME}/teams/sales")["spaces"]) == (0, 0)
    give(api, "/collections/product", "edit", users=["gus"], teams=["sales"])
    give(api, "/spaces/support", "read", users=["gus"], teams=["sales"])
    give(api, "/spaces/archive", None, users=["gus"], teams=["sales"])
    assert (api.get(f"{ACME}/members/gus")["spaces"], api.get(f"{ACME}/teams/sales")["spaces"]) == (5, 5)
    listed = {member["id"]: member["spaces"] for member in api.items(f"{ACME}/members")}
    assert listed == {id: api.get(f"{ACME}/members/{id}")["spaces"] for id in listed}
    found = api.items(f"{ACME}/members/gus/spaces", order="asc")
    assert [(item["space"]["id"], item["permission"]) for item in found] == [
        ("guides", "edit"),
        ("news", "edit"),
        ("api-reference", "edit"),
        ("changelog", "edit"),
        ("support", "read"),
    ]


def test_spaces_of_other_member_exclude_invisible(api: Api) -> None:
    api.patch("/spaces/archive", {"defaultLevel": None})
    seen = {item["space"]["id"] for item in api.as_("kim-token").items(f"{ACME}/members/ada/spaces")}
    assert seen == set(api.ids(f"{ACME}/spaces")) - {"archive"}


# --- who may read and write them --------------------------------------------------------------------


@covers("listUserPermissionsInSpace", 403)
@covers("listTeamPermissionsInSpace", 403)
@covers("getUserPermissionInSpace", 403)
@covers("getTeamPermissionInSpace", 403)
@covers("listPermissionsAggregateInSpace", 403)
@covers("listUserPermissionsInCollection", 403)
@covers("listTeamPermissionsInCollection", 403)
@covers("getUserPermissionInCollection", 403)
@covers("getTeamPermissionInCollection", 403)
@covers("listPermissionsAggregateInCollection", 403)
@covers("listUserPermissionsInSite", 403)
@covers("listTeamPermissionsInSite", 403)
@covers("getUserPermissionInSite", 403)
@covers("getTeamPermissionInSite", 403)
@covers("listPermissionsAggregateInSite", 403)
def test_grants_are_readable_by_members_but_not_guests(api: Api) -> None:
    for path in ON.values():
        give(api, path, "admin", users=["gus"], teams=["sales"])
        for tail in ("/users", "/users/gus", "/teams", "/teams/sales", "/aggregate"):
            api.as_("kim-token").get(f"{path}/permissions{tail}")
            api.as_("gus-token").refused(403, "GET", f"{path}/permissions{tail}")
        give(api, path, "read", teams=["sales"])


@KINDS
def test_granting_roles_requires_admin_role_on_object(api: Api, kind: str) -> None:
    path = ON[kind]
    gus = api.as_("gus-token")
    gus.refused(404, "POST", f"{path}/permissions", {"users": ["kim"], "role": "read"})
    for role in ("read", "comment", "edit", "review", "create"):
        give(api, path, role, users=["gus"])
        gus.refused(403, "POST", f"{path}/permissions", {"users": ["kim"], "role": "read"})
        gus.refused(403, "PATCH", f"{path}/permissions/users/gus", {"role": "admin"})
        gus.refused(403, "DELETE", f"{path}/permissions/users/gus")
    give(api, path, "admin", users=["gus"])
    give(gus, path, "edit", users=["kim"])
    assert given(api, path)["user"] == {"gus": "admin", "kim": "edit"}
    gus.delete(f"{path}/permissions/users/gus")
    gus.refused(404, "GET", path)
