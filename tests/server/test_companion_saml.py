"""SAML providers, the links that start a login, joining, link invites, search."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers

ACME = "/orgs/acme"
SAML = f"{ACME}/saml"
INVITES = f"{ACME}/link-invites"
READY = {"entityID": "urn:idp", "certificate": "MIIB", "ssoURL": "https://idp.example/sso"}


def with_user(world: dict[str, Any], **user: Any) -> dict[str, Any]:
    """Return the world with another user, `new`, whose token is `new-token`."""
    users = [*world["users"], {"id": "new", "displayName": "New", **user}]
    return {**world, "users": users, "tokens": {**world["tokens"], "new-token": "new"}}


@covers("createOrganizationSAMLProvider", 201)
def test_saml_provider_is_active_once_three_settings_exist(api: Api) -> None:
    made = api.make(SAML, {"label": "Login"})
    assert (made["status"], made["label"]) == ("pending", "Login")
    statuses = [api.patch(f"{SAML}/{made['id']}", {field: value})["status"] for field, value in READY.items()]
    assert statuses == ["pending", "pending", "active"]
    assert api.patch(f"{SAML}/{made['id']}", {"entityID": ""})["status"] == "pending"
    assert api.make(SAML, {"label": "Ready", **READY})["status"] == "active"


@covers("listSAMLProvidersInOrganizationById", 200)
@covers("getOrganizationSAMLProviderById", 200, 404)
@covers("updateOrganizationSAMLProvider", 200, 404)
@covers("deleteOrganizationSAMLProvider", 204)
def test_saml_provider_can_be_changed_and_deleted(api: Api) -> None:
    assert api.ids(SAML) == ["okta", "azure"]
    assert api.ids(SAML, limit=1) == ["okta", "azure"]
    changed = api.patch(f"{SAML}/azure", {"label": "Entra", **READY, "defaultRole": "edit"})
    assert changed == api.get(f"{SAML}/azure")
    assert {field: changed[field] for field in READY} == READY
    api.delete(f"{SAML}/azure")
    api.delete(f"{SAML}/azure")
    api.refused(404, "GET", f"{SAML}/azure")
    api.refused(404, "PATCH", f"{SAML}/azure", {"label": "Entra"})
    assert api.ids(SAML) == ["okta"]


def test_saml_provider_of_other_organization_returns_404(api: Api) -> None:
    api.refused(404, "GET", f"{SAML}/globex-login")
    api.delete(f"{SAML}/globex-login")
    assert api.ids("/orgs/globex/saml") == ["globex-login"]


@covers("createOrganizationSAMLProvider", 404)
@covers("updateOrganizationSAMLProvider", 404)
def test_saml_default_team_is_written_as_id(api: Api) -> None:
    made = api.make(SAML, {"label": "Login", "defaultTeam": "writers"})
    assert made["defaultTeam"] == api.get(f"{ACME}/teams/writers")
    assert api.patch(f"{SAML}/{made['id']}", {"defaultTeam": "legacy"})["defaultTeam"]["id"] == "legacy"
    for team in ("none", "reactor"):
        api.refused(404, "POST", SAML, {"label": "Login", "defaultTeam": team})
        api.refused(404, "PATCH", f"{SAML}/okta", {"defaultTeam": team})


def test_deleting_team_clears_saml_default_team(api: Api) -> None:
    assert api.get(f"{SAML}/okta")["defaultTeam"]["id"] == "sales"
    api.delete(f"{ACME}/teams/sales")
    assert "defaultTeam" not in api.get(f"{SAML}/okta")


def test_missing_saml_settings_are_empty_and_writable(api: Api) -> None:
    fields = ("entityID", "certificate", "defaultRole")
    made = api.make(SAML, {"label": "Login"})
    login = f"{SAML}/{made['id']}"
    for shown in (made, api.get(login), api.items(SAML)[-1]):
        assert [shown[field] for field in fields] == ["", "", None]
    assert api.patch(login, {"entityID": "urn:x", "defaultRole": "read"})["entityID"] == "urn:x"
    again = api.patch(login, {field: shown[field] for field in fields})
    assert [again[field] for field in fields] == ["", "", None]


def test_missing_saml_sso_url_is_omitted(api: Api) -> None:
    """An empty text is not a valid URL, so a client that validates answers would fail."""
    made = api.make(SAML, {"label": "Login"})
    for shown in (made, api.get(f"{SAML}/{made['id']}"), api.items(SAML)[-1]):
        assert ("ssoURL" in shown, shown["status"]) == (False, "pending")


def test_published_profile_returns_missing_sso_url_as_empty(published: Api) -> None:
    """The vendor's OpenAPI document requires `ssoURL` in every provider."""
    made = published.make(SAML, {"label": "Login"})
    for shown in (made, published.get(f"{SAML}/{made['id']}")):
        assert (shown["ssoURL"], shown["status"]) == ("", "pending")


def test_saml_default_role_may_be_null(api: Api) -> None:
    assert api.get(f"{SAML}/azure")["defaultRole"] is None
    assert api.patch(f"{SAML}/okta", {"defaultRole": None})["defaultRole"] is None


@covers("createOrganizationSAMLProvider", 400)
@covers("updateOrganizationSAMLProvider", 400)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("label", ""),
        ("label", "x" * 31),
        ("entityID", "x" * 1025),
        ("certificate", "x" * 10001),
        ("ssoURL", "no url"),
        ("ssoURL", ""),
        ("ssoURL", None),
        ("ssoURL", "https://idp.example/" + "x" * 2048),
        ("defaultTeam", None),
        ("defaultRole", "owner"),
    ],
)
def test_error_names_invalid_saml_provider_field(api: Api, field: str, value: Any) -> None:
    for method, path in (("POST", SAML), ("PATCH", f"{SAML}/okta")):
        assert api.refused(400, method, path, {field: value}).startswith(f"body.{field}")


@covers("listSAMLProvidersInOrganizationById", 403)
@covers("getOrganizationSAMLProviderById", 403)
@covers("listSSOProviderLoginsInOrganization", 200)
def test_saml_providers_require_admin_but_logins_are_readable(api: Api) -> None:
    api.patch(f"{ACME}/members/grace", {"role": None})
    grace = api.as_("grace-token")
    for path in (SAML, f"{SAML}/okta"):
        grace.refused(403, "GET", path)
    api.make(SAML, {"label": "Pending"})
    active = [("okta", "Okta"), ("azure", "Azure")]
    started = {id: api.get(f"{SAML}/{id}")["service"]["startURL"] for id, _ in active}
    logins = grace.get(f"{ACME}/sso")
    assert logins == {"items": [{"id": id, "label": label, "startURL": started[id]} for id, label in active]}
    assert [item["id"] for item in api.get("/orgs/globex/sso")["items"]] == ["globex-login"]


# --- joining ---------------------------------------------------------------------------------------


@covers("joinOrganization", 204)
def test_verified_email_domain_user_joins_with_default_role(api: Api, builtin_world: dict[str, Any]) -> None:
    api.server.reset(with_user(builtin_world, email="new@ACME.example"))
    new = api.as_("new-token")
    new.refused(404, "GET", ACME)
    new.post(f"{ACME}/join", status=204)
    assert api.get(f"{ACME}/members/new")["role"] == "read"
    assert new.ids("/orgs") == ["acme"]
    api.patch(f"{ACME}/members/new", {"role": "create"})
    new.post(f"{ACME}/join", status=204)
    assert api.get(f"{ACME}/members/new")["role"] == "create"


@pytest.mark.parametrize(
    ("user", "status"),
    [
        ({"email": "new@other.example"}, 404),
        ({"email": "new@sub.acme.example"}, 404),
        ({"email": "new@acme.example", "emailVerified": False}, 400),
        ({}, 400),
    ],
)
def test_user_without_verified_matching_email_cannot_join(
    api: Api, builtin_world: dict[str, Any], user: Any, status: int
) -> None:
    api.server.reset(with_user(builtin_world, **user))
    for organization in ("acme", "none"):
        api.as_("new-token").refused(status, "POST", f"/orgs/{organization}/join")
    assert "new" not in api.ids(f"{ACME}/members")
    assert "emailVerified" not in api.as_("new-token").get("/user")


def test_disabled_member_cannot_rejoin(api: Api, builtin_world: dict[str, Any]) -> None:
    acme, *others = builtin_world["organizations"]
    members = [*acme["members"], {"user": "new", "role": "read", "disabled": True}]
    world = with_user(builtin_world, email="new@acme.example")
    api.server.reset({**world, "organizations": [{**acme, "members": members}, *others]})
    api.as_("new-token").refused(404, "POST", f"{ACME}/join")


# --- link invites ----------------------------------------------------------------------------------


@covers("createOrganizationInvite", 201)
@covers("listOrganizationInvites", 200)
@covers("getOrganizationInviteById", 200, 404)
@covers("deleteOrganizationInviteById", 204)
def test_invite_link_can_be_created_and_deleted(api: Api) -> None:
    made = [
        api.make(INVITES, body)
        for body in (
            {"role": "edit"},
            {"level": "read", "space": "guides"},
            {"level": "create", "collection": "api"},
        )
    ]
    assert made[0]["createdBy"]["id"] == "ada"
    assert api.ids(INVITES) == ["readers", *(invite["id"] for invite in made)]
    assert [api.get(f"{INVITES}/{invite['id']}") for invite in made] == made
    api.delete(f"{INVITES}/readers")
    api.delete(f"{INVITES}/readers")
    api.refused(404, "GET", f"{INVITES}/readers")
    api.delete(f"{INVITES}/inspectors")
    assert api.ids("/orgs/globex/link-invites") == ["inspectors"]


def test_delete_of_invisible_invite_link_returns_404(api: Api) -> None:
    api.patch("/spaces/guides", {"defaultLevel": None})
    made = api.make(INVITES, {"level": "read", "space": "guides"})
    api.as_("kim-token").refused(404, "DELETE", f"{INVITES}/{made['id']}")
    assert api.get(f"{INVITES}/{made['id']}") == made


def test_invite_link_to_deleted_space_returns_with_restore(api: Api) -> None:
    made = api.make(INVITES, {"level": "read", "space": "guides"})
    api.delete("/spaces/guides")
    api.refused(404, "GET", f"{INVITES}/{made['id']}")
    assert api.ids(INVITES) == ["readers"]
    api.post("/spaces/guides/restore")
    assert api.get(f"{INVITES}/{made['id']}") == made


@covers("createOrganizationInvite", 400)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"role": None},
        {"role": "owner"},
        {"space": "guides"},
        {"role": "read", "space": "guides"},
        {"level": "read", "space": "guides", "collection": "api"},
    ],
)
def test_invalid_invite_link_is_refused(api: Api, body: Any) -> None:
    api.refused(400, "POST", INVITES, body)


@covers("createOrganizationInvite", 404, 409)
def test_invite_link_needs_target_and_enabled_links(api: Api) -> None:
    api.refused(404, "POST", INVITES, {"level": "read", "space": "manual"})
    api.refused(404, "POST", INVITES, {"level": "read", "collection": "none"})
    api.patch(ACME, {"inviteLinks": False})
    api.refused(409, "POST", INVITES, {"role": "read"})


# --- search ----------------------------------------------------------------------------------------


@covers("searchOrganizationContent", 200)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("zebra", ["Zebra crossing", "Grey zebra"]),
        ("ZEBRA grey", ["Grey zebra"]),
        ("zebr", ["Zebra crossing", "Grey zebra"]),
        ("zebra lion", []),
        ("manual", []),
        ("", []),
    ],
)
def test_organization_search_matches_space_titles(api: Api, query: str, expected: list[str]) -> None:
    for title in ("Zebra crossing", "Grey zebra"):
        api.make(f"{ACME}/spaces", {"title": title})
    for limit in (1, 50):
        found = api.items(f"{ACME}/search", query=query, limit=limit)
        assert [hit["title"] for hit in found] == expected


def test_organization_search_returns_only_visible_spaces(api: Api) -> None:
    hit = {"id": "archive", "title": "Archive", "pages": []}
    assert api.get(f"{ACME}/search", query="archive")["items"] == [hit]
    api.patch(f"{ACME}/members/grace", {"role": "read"})
    api.patch("/spaces/archive", {"defaultLevel": None})
    assert api.as_("grace-token").ids(f"{ACME}/search", query="archive") == []


@covers("searchOrganizationContent", 400)
@pytest.mark.parametrize("query", [{}, {"query": "x" * 513}])
def test_organization_search_needs_query_up_to_512_characters(api: Api, query: dict[str, str]) -> None:
    assert api.refused(400, "GET", f"{ACME}/search", params=query).startswith("query.query")
