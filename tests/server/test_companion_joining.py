"""Invitations by e-mail and by link: who may make them, who comes in by them, and as what."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers

ACME = "/orgs/acme"
INVITES = f"{ACME}/invites"
LINKS = f"{ACME}/link-invites"


# --- by e-mail ----------------------------------------------------------------------------------------


@covers("inviteUsersToOrganization", 200)
def test_invited_user_becomes_member_immediately(api: Api) -> None:
    body = {"emails": ["OLI@acme.example", "new@other.example", "kim@acme.example"], "role": "edit"}
    answer = api.post(INVITES, body)
    assert (answer["invited"], answer["failedSSOEmails"]) == (2, [])
    oli, new, kim = answer["users"]
    assert (oli, kim) == ("oli", "kim")
    assert [api.get(f"{ACME}/members/{user}")["role"] for user in (oli, new, kim)] == ["edit", "edit", "read"]
    assert api.get(f"{ACME}/members/{new}")["user"]["email"] == "new@other.example"
    assert api.as_("oli-token").ids("/orgs") == ["acme"]
    assert api.post(INVITES, body) == {**answer, "invited": 0}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"emails": ["a@x.example"]}, ["read"]),
        ({"emails": ["a@x.example"], "role": None}, [None]),
        (
            {"emails": ["a@x.example", {"email": "b@x.example", "role": "admin"}], "role": "edit"},
            ["edit", "admin"],
        ),
        ({"emails": [{"email": "a@x.example", "role": None}, "b@x.example"]}, [None, "read"]),
        ({"emails": ["a@x.example", {"email": "A@x.example", "role": "edit"}]}, ["edit"]),
        ({"emails": []}, []),
    ],
)
def test_invited_role_falls_back_to_common_then_default(
    api: Api, body: Any, expected: list[str | None]
) -> None:
    users = api.post(INVITES, body)["users"]
    assert [api.get(f"{ACME}/members/{user}")["role"] for user in users] == expected


def test_sso_invite_fails_for_foreign_email_domains(api: Api) -> None:
    answer = api.post(INVITES, {"emails": ["new@ACME.example", "new@other.example"], "sso": True})
    assert (answer["invited"], answer["failedSSOEmails"]) == (1, ["new@other.example"])
    assert api.get(f"{ACME}/members/{answer['users'][0]}")["sso"] is True


@covers("inviteUsersToOrganization", 400)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"emails": ["nobody"]},
        {"emails": ["a@x.example"], "role": "owner"},
        {"emails": [{"email": "a@x"}]},
    ],
)
def test_invalid_email_invite_is_refused(api: Api, body: Any) -> None:
    assert api.refused(400, "POST", INVITES, body).startswith("body")


@covers("inviteUsersToOrganization", 403, 404)
def test_email_invite_requires_admin(api: Api) -> None:
    body = {"emails": ["new@acme.example"]}
    api.as_("lin-token").refused(403, "POST", INVITES, body)
    api.as_("oli-token").refused(404, "POST", INVITES, body)


# --- by link: who makes and changes them ----------------------------------------------------------------


@covers("updateOrganizationInviteById", 200, 400, 404)
def test_invite_link_update_changes_level_not_target(api: Api) -> None:
    made = api.make(LINKS, {"level": "read", "space": "guides"})["id"]
    assert api.patch(f"{LINKS}/readers", {"role": "edit"})["role"] == "edit"
    assert api.patch(f"{LINKS}/readers", {})["role"] == "edit"
    assert api.patch(f"{LINKS}/{made}", {"level": "edit"})["level"] == "edit"
    assert "level" in api.refused(400, "PATCH", f"{LINKS}/readers", {"level": "edit"})
    assert "role" in api.refused(400, "PATCH", f"{LINKS}/{made}", {"role": "edit"})
    api.refused(404, "PATCH", f"{LINKS}/inspectors", {"level": "edit"})


@covers("getOrganizationInviteById", 403, 404)
@covers("updateOrganizationInviteById", 403, 404)
@covers("deleteOrganizationInviteById", 403)
@covers("createOrganizationInvite", 403, 404)
def test_invite_links_are_managed_by_target_admins(api: Api) -> None:
    made = api.make(LINKS, {"level": "read", "space": "support"})["id"]
    kim, one = api.as_("kim-token"), f"{LINKS}/{made}"
    new = {"level": "read", "space": "support"}
    for method, path, body in [("GET", one, None), ("PATCH", one, {"level": "edit"}), ("DELETE", one, None)]:
        kim.refused(403, method, path, body)
        kim.refused(403, method, f"{LINKS}/readers", body)
    kim.refused(403, "POST", LINKS, new)
    assert kim.ids(LINKS) == []
    api.post("/spaces/support/permissions", {"users": ["kim"], "role": "admin"}, 204)
    assert kim.ids(LINKS) == [made]
    assert kim.patch(one, {"level": "edit"}) == kim.get(one)
    second = kim.make(LINKS, new)["id"]
    assert kim.ids(LINKS) == [made, second]
    kim.refused(403, "POST", LINKS, {"role": "read"})
    kim.delete(one)
    api.patch("/spaces/support", {"defaultLevel": None})
    api.delete("/spaces/support/permissions/users/kim")
    left = api.ids(LINKS)
    assert kim.ids(LINKS) == []
    kim.refused(404, "POST", LINKS, new)
    for id in left[1:]:
        kim.refused(404, "GET", f"{LINKS}/{id}")
        kim.refused(404, "PATCH", f"{LINKS}/{id}", {"level": "edit"})
        kim.refused(404, "DELETE", f"{LINKS}/{id}")
    assert api.ids(LINKS) == left


# --- by link: who comes in ------------------------------------------------------------------------------


@covers("joinOrganizationWithInvite", 200)
def test_organization_invite_link_grants_but_never_lowers_role(api: Api) -> None:
    stranger = api.as_("hank-token")
    stranger.post(f"{INVITES}/readers")
    assert api.get(f"{ACME}/members/hank")["role"] == "read"
    for user, expected in (("gus", "read"), ("lin", "create")):
        api.as_(f"{user}-token").post(f"{INVITES}/readers")
        assert api.get(f"{ACME}/members/{user}")["role"] == expected


@pytest.mark.parametrize(("kind", "id"), [("space", "handbook"), ("collection", "internal")])
def test_space_invite_link_makes_guest_with_level(api: Api, kind: str, id: str) -> None:
    made = api.make(LINKS, {"level": "comment", kind: id})["id"]
    stranger = api.as_("oli-token")
    stranger.post(f"{INVITES}/{made}")
    assert api.get(f"{ACME}/members/oli")["role"] is None
    assert api.get(f"/{kind}s/{id}/permissions/users/oli")["permission"] == "comment"
    assert "handbook" in stranger.ids(f"{ACME}/spaces")
    api.as_("lin-token").post(f"{INVITES}/{made}")
    api.refused(404, "GET", f"/{kind}s/{id}/permissions/users/lin")


@covers("joinOrganizationWithInvite", 404)
def test_missing_or_disabled_invite_link_returns_404(api: Api) -> None:
    made = api.make(LINKS, {"level": "read", "space": "support"})["id"]
    stranger = api.as_("hank-token")
    stranger.refused(404, "POST", f"{INVITES}/none")
    stranger.refused(404, "POST", f"{INVITES}/inspectors")
    stranger.refused(404, "POST", f"/orgs/none/invites/{made}")
    api.delete("/spaces/support")
    stranger.refused(404, "POST", f"{INVITES}/{made}")
    api.patch(ACME, {"inviteLinks": False})
    stranger.refused(404, "POST", f"{INVITES}/readers")


# --- by domain ------------------------------------------------------------------------------------------


@covers("joinOrganization", 204, 404)
def test_user_joins_organization_of_own_email_domain(api: Api) -> None:
    stranger = api.as_("oli-token")
    stranger.refused(404, "POST", "/orgs/globex/join")
    stranger.post(f"{ACME}/join", status=204)
    assert stranger.ids("/orgs") == ["acme"]


@covers("joinOrganization", 400)
def test_joining_by_email_domain_requires_verified_email(api: Api, builtin_world: dict[str, Any]) -> None:
    users = [{**user, "emailVerified": user["id"] != "oli"} for user in builtin_world["users"]]
    api.server.reset({**builtin_world, "users": users})
    api.as_("oli-token").refused(400, "POST", f"{ACME}/join")
