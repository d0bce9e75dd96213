"""Spaces and collections: their life, their order, and what moving or deleting them does elsewhere."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers


def space(id: str) -> dict[str, str]:
    return {"type": "space", "space": id}


def ordered(api: Api, collection: str = "product") -> list[str]:
    return api.ids(f"/collections/{collection}/spaces")


# --- spaces ------------------------------------------------------------------------------------------


@covers("listSpacesInOrganizationById", 200)
def test_spaces_are_listed_in_order_of_creation(api: Api) -> None:
    made = api.make("/orgs/acme/spaces", {"title": "New", "parent": "product", "empty": True})
    before = ["guides", "news", "api-reference", "changelog", "handbook", "onboarding", "support", "archive"]
    assert api.ids("/orgs/acme/spaces") == [*before, made["id"]]
    assert ordered(api) == ["guides", "news", "changelog", made["id"]]


@covers("createSpace", 201, 404)
def test_space_can_be_created_with_or_without_fields(api: Api) -> None:
    fields = {"title": "T", "emoji": "1f4d6", "language": "pt-br", "editMode": "locked", "parent": "api"}
    made = api.make("/orgs/acme/spaces", fields)
    assert {key: made[key] for key in fields} == fields
    assert api.get(f"/spaces/{made['id']}") == made
    assert api.make("/orgs/acme/spaces")["title"] == "Untitled"
    api.refused(404, "POST", "/orgs/acme/spaces", {"parent": "none"})


@covers("updateSpaceById", 200)
def test_space_update_sets_and_clears_fields(api: Api) -> None:
    rules = {"type": "rules", "rules": [{"rule": "require_specific_reviewers", "users": ["ada"]}]}
    fields = {"title": "T", "editMode": "locked", "defaultLevel": None, "language": "fr", "mergeRules": rules}
    changed = api.patch("/spaces/guides", fields)
    assert {key: changed[key] for key in fields} == fields
    assert changed["updatedAt"] > changed["createdAt"]
    assert api.patch("/spaces/guides", {"emoji": None})["emoji"] == ""
    for level in ("inherit", "read"):
        assert api.patch("/spaces/guides", {"defaultLevel": level})["defaultLevel"] == level


@covers("duplicateSpace", 201)
def test_duplicated_space_keeps_settings_but_not_sites(api: Api) -> None:
    api.patch("/spaces/news", {"defaultLevel": None})
    copy = api.make("/spaces/news/duplicate")
    assert (copy["title"], copy["parent"], copy["defaultLevel"]) == ("News", "product", None)
    assert ordered(api) == ["guides", "news", "changelog", copy["id"]]
    assert api.ids("/orgs/acme/sites", space=copy["id"]) == []


@covers("deleteSpaceById", 204)
@covers("getSpaceById", 200)
@covers("updateSpaceById", 404)
@covers("duplicateSpace", 404)
def test_deleted_space_is_unlisted_but_readable(api: Api) -> None:
    api.delete("/spaces/news")
    assert "deletedAt" in api.get("/spaces/news")
    assert "news" not in api.ids("/orgs/acme/spaces") + ordered(api)
    assert api.ids("/orgs/acme/sites", space="news") == []
    assert api.get("/orgs/acme/members/ada")["spaces"] == 7
    api.delete("/spaces/news")
    for method, path in [("PATCH", ""), ("POST", "/move"), ("POST", "/duplicate")]:
        api.refused(404, method, f"/spaces/news{path}", {"title": "Newer"})


def test_deleted_space_accepts_update_without_changes(api: Api) -> None:
    api.delete("/spaces/news")
    kept = api.get("/spaces/news")
    assert api.patch("/spaces/news", kept) == kept == api.get("/spaces/news")


def test_deleting_space_removes_its_empty_section(api: Api) -> None:
    site = "/orgs/acme/sites/docs"
    api.delete("/spaces/guides")
    api.delete("/spaces/api-reference")
    sections = api.items(f"{site}/sections")
    assert [(section["id"], section["default"]) for section in sections] == [
        ("docs-news", True),
        ("docs-api", False),
    ]
    assert [(place["id"], place["default"]) for place in sections[1]["siteSpaces"]] == [
        ("docs-api-changelog", True)
    ]
    assert api.get(site)["siteSpaces"] == 2


@covers("restoreSpace", 200)
def test_restored_space_returns_to_collection_but_not_sites(api: Api) -> None:
    api.delete("/spaces/guides")
    restored = api.post("/spaces/guides/restore")
    assert "deletedAt" not in restored
    assert ordered(api) == ["news", "changelog", "guides"]
    assert api.ids("/orgs/acme/spaces")[0] == "guides"
    assert api.ids("/orgs/acme/sites", space="guides") == []
    assert api.post("/spaces/guides/restore") == restored


def test_restored_space_without_its_collection_is_top_level(api: Api) -> None:
    api.delete("/spaces/guides")
    api.delete("/collections/product")
    assert "parent" not in api.post("/spaces/guides/restore")


@covers("getSpaceById", 404)
@covers("restoreSpace", 404)
def test_deleted_space_expires_after_seven_days(api: Api) -> None:
    api.delete("/spaces/guides")
    api.clock.pass_by(days=7)
    api.get("/spaces/guides")
    api.clock.pass_by(seconds=1)
    api.refused(404, "GET", "/spaces/guides")
    api.refused(404, "POST", "/spaces/guides/restore")


@pytest.mark.parametrize(
    ("visibility", "published", "parent", "expected"),
    [
        ("public", True, True, "public"),
        ("unlisted", True, True, "unlisted"),
        ("share-link", True, False, "share-link"),
        ("visitor-auth", True, False, "visitor-auth"),
        ("public", False, True, "in-collection"),
        ("public", False, False, "private"),
    ],
)
def test_space_visibility_follows_site_then_collection(
    api: Api, visibility: str, published: bool, parent: bool, expected: str
) -> None:
    made = api.make("/orgs/acme/spaces", {"title": "S", "parent": "product" if parent else None})
    site = api.make("/orgs/acme/sites", {"title": "Site", "visibility": visibility, "spaces": [made["id"]]})
    if published:
        api.post(f"/orgs/acme/sites/{site['id']}/publish")
    shown = api.get(f"/spaces/{made['id']}")
    assert shown["visibility"] == expected
    assert ("published" in shown["urls"]) == (published and visibility != "share-link")
    assert ("public" in shown["urls"]) == (expected == "public")


def test_space_visibility_follows_most_open_site(api: Api) -> None:
    for visibility in ("visitor-auth", "unlisted", "share-link"):
        body = {"title": visibility, "visibility": visibility, "spaces": ["handbook"]}
        api.post(f"/orgs/acme/sites/{api.make('/orgs/acme/sites', body)['id']}/publish")
    assert api.get("/spaces/handbook")["visibility"] == "unlisted"


# --- moving ------------------------------------------------------------------------------------------


@covers("moveSpace", 200)
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"position": {"before": space("guides")}}, ["changelog", "guides", "news"]),
        ({"position": {"after": space("guides")}}, ["guides", "changelog", "news"]),
        ({"parent": "product", "position": {"before": space("news")}}, ["guides", "changelog", "news"]),
        ({"parent": None}, ["guides", "news"]),
        ({"parent": "internal"}, ["guides", "news"]),
    ],
)
def test_space_moves_within_or_out_of_collection(api: Api, body: Any, expected: list[str]) -> None:
    moved = api.post("/spaces/changelog/move", body)
    assert moved.get("parent") == body.get("parent", "product")
    assert ordered(api) == expected


def test_space_moves_into_another_collection_at_position(api: Api) -> None:
    api.post("/spaces/support/move", {"parent": "internal"})
    api.post("/spaces/archive/move", {"parent": "internal", "position": {"before": space("onboarding")}})
    assert ordered(api, "internal") == ["handbook", "archive", "onboarding", "support"]


def test_space_can_be_positioned_before_a_collection(api: Api) -> None:
    api.post("/spaces/news/move", {"position": {"before": {"type": "collection", "collection": "api"}}})
    assert ordered(api) == ["news", "guides", "changelog"]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (409, {}),
        (409, {"parent": "product"}),
        (409, {"position": {}}),
        (409, {"position": {"after": space("news")}}),
        (400, {"position": {"after": space("changelog")}}),
        (400, {"position": {"after": space("handbook")}}),
        (400, {"position": {"after": space("none")}}),
        (400, {"position": {"after": {"type": "space"}}}),
        (400, {"position": {"before": space("guides"), "after": space("news")}}),
        (404, {"parent": "none"}),
        (404, {"parent": "none", "position": {}}),
    ],
)
def test_invalid_or_ineffective_space_move_is_refused(api: Api, status: int, body: Any) -> None:
    api.refused(status, "POST", "/spaces/changelog/move", body)
    assert ordered(api) == ["guides", "news", "changelog"]


@covers("moveSpace", 400, 409)
def test_space_move_needs_sibling_and_change(api: Api) -> None:
    api.refused(400, "POST", "/spaces/changelog/move", {"position": {"after": space("handbook")}})
    api.refused(409, "POST", "/spaces/changelog/move", {"parent": "product"})


@covers("moveSpace", 404)
@covers("moveCollection", 404)
def test_move_of_missing_space_or_collection_returns_404(api: Api) -> None:
    api.refused(404, "POST", "/spaces/none/move", {"parent": None})
    api.refused(404, "POST", "/collections/none/move", {"parent": None})


@covers("transferSpace", 200)
def test_transferred_space_is_top_level_in_new_organization(api: Api) -> None:
    made = api.make("/orgs/acme/spaces", {"title": "S", "parent": "product"})
    moved = api.post(f"/spaces/{made['id']}/transfer", {"organization": "globex"})
    assert moved["organization"] == "globex"
    assert "parent" not in moved
    assert made["id"] not in api.ids("/orgs/acme/spaces")
    assert made["id"] in api.ids("/orgs/globex/spaces")


@covers("transferSpace", 400, 404, 409, 412)
@covers("transferCollection", 400, 404, 409, 412)
def test_invalid_space_or_collection_transfer_is_refused(api: Api) -> None:
    moved = ("spaces/guides", "collections/product")
    for what in moved:
        assert "a site shows" in api.refused(412, "POST", f"/{what}/transfer", {"organization": "globex"})
        api.refused(409, "POST", f"/{what}/transfer", {"organization": "acme"})
        api.refused(404, "POST", f"/{what}/transfer", {"organization": "none"})
        api.refused(404, "POST", f"/{what.split('/')[0]}/none/transfer", {"organization": "globex"})
        api.refused(400, "POST", f"/{what}/transfer", {})
    api.as_("hank-token").patch("/orgs/globex/members/ada", {"role": "read"})
    for what in moved:
        assert "not an admin" in api.refused(412, "POST", f"/{what}/transfer", {"organization": "globex"})


# --- collections -------------------------------------------------------------------------------------


@covers("listCollectionsInOrganizationById", 200)
def test_collection_list_can_exclude_nested_collections(api: Api) -> None:
    assert api.ids("/orgs/acme/collections") == ["product", "api", "internal"]
    assert api.ids("/orgs/acme/collections", nested=False) == ["product", "internal"]
    assert api.get("/collections/api")["parent"] == "product"


@covers("createCollection", 201, 404)
@covers("updateCollectionById", 200)
@covers("deleteCollectionById", 204)
@covers("getCollectionById", 200, 404)
def test_collection_create_update_and_delete(api: Api) -> None:
    made = api.make("/orgs/acme/collections", {"title": "New", "parent": "product"})
    assert made["parent"] == "product"
    fields = {"title": "Newer", "description": "All of it", "defaultLevel": "comment"}
    changed = api.patch(f"/collections/{made['id']}", fields)
    assert {key: changed[key] for key in fields} == fields
    assert "description" not in api.patch(f"/collections/{made['id']}", {"description": ""})
    assert api.get(f"/collections/{made['id']}")["title"] == "Newer"
    api.delete(f"/collections/{made['id']}")
    api.delete(f"/collections/{made['id']}")
    api.refused(404, "GET", f"/collections/{made['id']}")
    api.refused(404, "POST", "/orgs/acme/collections", {"parent": "none"})


@covers("listSpacesInCollectionById", 200)
def test_deleting_collection_moves_its_children_up(api: Api) -> None:
    api.post("/spaces/news/move", {"parent": "api"})
    api.delete("/collections/api")
    assert ordered(api) == ["api-reference", "news", "guides", "changelog"]
    api.delete("/collections/product")
    assert "parent" not in api.get("/spaces/guides")
    assert api.ids("/orgs/acme/collections") == ["internal"]


@covers("moveCollection", 200, 400, 409)
def test_collection_cannot_move_into_itself(api: Api) -> None:
    internal = {"type": "collection", "collection": "internal"}
    api.refused(400, "POST", "/collections/product/move", {"parent": "api"})
    api.refused(400, "POST", "/collections/product/move", {"parent": "product"})
    api.refused(409, "POST", "/collections/api/move", {"parent": "product"})
    api.refused(400, "POST", "/collections/api/move", {"position": {"before": internal}})  # no sibling
    api.post("/collections/api/move", {"parent": None, "position": {"before": internal}})
    assert api.ids("/orgs/acme/collections") == ["product", "api", "internal"]
    api.post("/collections/product/move", {"position": {"after": internal}})
    assert api.ids("/orgs/acme/collections") == ["api", "internal", "product"]


@covers("transferCollection", 200)
def test_collection_transfer_includes_nested_collections_and_spaces(api: Api) -> None:
    outer = api.make("/orgs/acme/collections", {"title": "Outer"})["id"]
    inner = api.make("/orgs/acme/collections", {"title": "Inner", "parent": outer})["id"]
    made = api.make("/orgs/acme/spaces", {"title": "S", "parent": inner})["id"]
    api.post(f"/collections/{outer}/transfer", {"organization": "globex"})
    assert api.ids("/orgs/globex/collections") == ["plant", outer, inner]
    assert api.get(f"/spaces/{made}")["organization"] == "globex"
    assert api.ids("/orgs/acme/collections") == ["product", "api", "internal"]


# --- who may make and move them ------------------------------------------------------------------------


@covers("createSpace", 403)
@covers("createCollection", 403)
@covers("duplicateSpace", 403)
def test_creating_content_requires_create_role_on_parent(api: Api) -> None:
    kim, eve, lin = (api.as_(f"{name}-token") for name in ("kim", "eve", "lin"))
    for caller in (kim, eve):
        for kind in ("spaces", "collections"):
            caller.refused(403, "POST", f"/orgs/acme/{kind}", {})
            caller.refused(403, "POST", f"/orgs/acme/{kind}", {"parent": "internal"})
        caller.refused(403, "POST", "/spaces/support/duplicate")
    lin.make("/orgs/acme/spaces", {"parent": "internal"})
    lin.refused(403, "POST", "/orgs/acme/spaces", {"parent": "product"})
    lin.refused(403, "POST", "/spaces/guides/duplicate")
    api.post("/collections/internal/permissions", {"users": ["kim"], "role": "create"}, 204)
    for kind in ("spaces", "collections"):
        assert kim.make(f"/orgs/acme/{kind}", {"parent": "internal"})["parent"] == "internal"
        kim.refused(403, "POST", f"/orgs/acme/{kind}", {})


def test_move_requires_admin_and_create_roles(api: Api) -> None:
    rui = api.as_("rui-token")
    api.post("/spaces/support/permissions", {"users": ["rui"], "role": "admin"}, 204)
    rui.refused(403, "POST", "/spaces/archive/move", {"parent": "internal"})
    rui.refused(403, "POST", "/spaces/support/move", {"parent": "internal"})
    api.post("/collections/internal/permissions", {"users": ["rui"], "role": "create"}, 204)
    assert rui.post("/spaces/support/move", {"parent": "internal"})["parent"] == "internal"
    rui.refused(403, "POST", "/spaces/support/move", {"parent": None})
    rui.post("/spaces/support/move", {"position": {"before": space("handbook")}})


def test_space_admin_can_delete_and_restore_space(api: Api) -> None:
    gus = api.as_("gus-token")
    gus.refused(404, "DELETE", "/spaces/support")
    assert "deletedAt" not in api.get("/spaces/support")
    api.post("/spaces/support/permissions", {"users": ["gus"], "role": "create"}, 204)
    gus.refused(403, "DELETE", "/spaces/support")
    api.post("/spaces/support/permissions", {"users": ["gus"], "role": "admin"}, 204)
    gus.delete("/spaces/support")
    assert "deletedAt" in gus.get("/spaces/support")
    gus.post("/spaces/support/restore")
    assert gus.ids("/orgs/acme/spaces") == ["support"]


def test_deleted_space_in_builtin_server_data_is_restorable(api: Api) -> None:
    assert api.get("/spaces/accidents")["deletedAt"] == "2026-02-27T00:00:00.000Z"
    api.post("/spaces/accidents/restore")
    assert "accidents" in api.ids("/orgs/globex/spaces")
