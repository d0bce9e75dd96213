"""What becomes of roles when what they are on, or who has them, goes, moves or is copied; roles in worlds."""

from typing import Any

import pytest
from companion_calls import Api
from platform_of_roles import give, given

from dpsync.server.control.world_export import export_state

ACME = "/orgs/acme"
ON = {"Space": "/spaces/support", "Collection": "/collections/internal", "Site": f"{ACME}/sites/help"}
ROLES = ("admin", "create", "review", "edit", "comment", "read", None)


# --- how they end -----------------------------------------------------------------------------------


def test_deleting_member_or_team_deletes_permission_grants(api: Api) -> None:
    for path in ON.values():
        give(api, path, "edit", users=["kim", "gus"], teams=["sales", "legacy"])
    api.delete(f"{ACME}/members/kim")
    api.delete(f"{ACME}/teams/sales")
    for path in ON.values():
        assert given(api, path) == {"user": {"gus": "edit"}, "team": {"legacy": "edit"}}
    api.post(f"{ACME}/invites", {"emails": ["kim@acme.example"], "role": None})
    assert api.as_("kim-token").ids(f"{ACME}/spaces") == []


def test_restored_space_keeps_its_grants(api: Api) -> None:
    give(api, ON["Space"], "edit", users=["gus"])
    api.delete(ON["Space"])
    api.refused(404, "GET", f"{ON['Space']}/permissions/users")
    assert api.as_("gus-token").get(ON["Space"])["deletedAt"]
    api.post(f"{ON['Space']}/restore")
    assert given(api, ON["Space"])["user"] == {"gus": "edit"}


def test_duplicated_space_keeps_its_grants(api: Api) -> None:
    give(api, "/spaces/archive", "edit", users=["gus"], teams=["sales"])
    copy = api.make("/spaces/archive/duplicate")["id"]
    assert given(api, f"/spaces/{copy}") == {"user": {"gus": "edit"}, "team": {"sales": "edit"}}


def records(api: Api, kind: str) -> list[str]:
    return api.server.run_in_server(lambda: [record.id for record in api.app.store.find(kind)])


def test_collection_transfer_or_delete_ends_permission_grants(api: Api) -> None:
    before, links = records(api, "grant"), records(api, "link-invite")
    made = api.make(f"{ACME}/collections", {"title": "New"})["id"]
    inner = api.make(f"{ACME}/spaces", {"title": "Inner", "parent": made})["id"]
    for path in (f"/collections/{made}", f"/spaces/{inner}"):
        give(api, path, "edit", users=["gus"], teams=["sales"])
    for target in ({"collection": made}, {"space": inner}):
        api.make(f"{ACME}/link-invites", {"level": "read", **target})
    api.post(f"/collections/{made}/transfer", {"organization": "globex"})
    assert (records(api, "grant"), records(api, "link-invite")) == (before, links)
    api.make("/orgs/globex/link-invites", {"level": "read", "collection": made})
    give(api, f"/collections/{made}", "edit", users=["homer"])
    give(api, f"/spaces/{inner}", "edit", users=["homer"])
    api.post(f"/spaces/{inner}/transfer", {"organization": "acme"})
    api.delete(f"/collections/{made}")
    assert (records(api, "grant"), records(api, "link-invite")) == (before, links)


def test_permission_grants_end_when_site_is_deleted(api: Api) -> None:
    before = records(api, "grant")
    give(api, ON["Site"], "edit", users=["gus"], teams=["sales"])
    api.delete(ON["Site"])
    assert records(api, "grant") == before


def about(api: Api, space: str) -> list[tuple[str, str]]:
    """Every record that is the space, or names it where records name others."""
    every = api.server.run_in_server(api.app.store.all_records)
    named = [(one, (one.id, one.scope, one.parent, one.ref)) for one in every]
    return [(one.kind, one.id) for one, names in named if space in names]


def grow(api: Api, space: str) -> None:
    """Add one of each object that can be below a space."""
    path = f"/spaces/{space}"
    give(api, path, "edit", users=["gus"], teams=["sales"])
    api.make(f"{ACME}/link-invites", {"level": "read", "space": space})
    comment = api.post(f"{path}/comments", {"body": {"markdown": "Hello"}})["id"]
    api.post(f"{path}/comments/{comment}/replies", {"body": {"markdown": "Hello"}})
    change = {"changes": [{"operation": "insert_page", "title": "Page"}]}
    for _ in range(2):
        made = api.make(f"{path}/change-requests", {"subject": "Change"})["id"]
        request = f"{path}/change-requests/{made}"
        assert api.call("POST", f"{request}/content", change).is_success
        api.post(f"{request}/comments", {"body": {"markdown": "Hello"}})
    api.post(f"{request}/merge")


def test_expired_deleted_space_is_erased_by_later_write(api: Api) -> None:
    made = [api.make(f"{ACME}/spaces", {"title": "Old"})["id"] for _ in range(2)]
    for id in made:
        grow(api, id)
        kinds = {kind for kind, _ in about(api, id)}
        assert {"grant", "link-invite", "comment", "comment-reply", "change-request", "revision"} <= kinds
        api.delete(f"/spaces/{id}")
        assert {kind for kind, _ in about(api, id)} == kinds - {"space"} | {"deleted-space"}
    api.clock.pass_by(days=7, seconds=1)
    new = api.make(f"{ACME}/spaces", {"title": "New"})["id"]
    assert [about(api, id) for id in (*made, new)] == [[], [], [("space", new)]]


def test_restorable_space_is_not_erased_by_later_write(api: Api) -> None:
    api.delete("/spaces/support")
    api.clock.pass_by(days=7)
    api.make(f"{ACME}/spaces", {"title": "New"})
    assert api.post("/spaces/support/restore")["id"] == "support"


# --- in a world -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("builtin_world")
def test_exported_server_data_reloads_with_same_permission_grants(api: Api) -> None:
    safety, plant, docs = "/spaces/safety", "/collections/plant", "/orgs/globex/sites/globex-docs"
    before = {path: given(api, path) for path in (safety, plant, docs)}
    assert before == {
        safety: {"user": {"lenny": "review", "carl": "read"}, "team": {"reactor": "admin"}},
        plant: {"user": {"carl": "comment"}, "team": {"reactor": "create"}},
        docs: {"user": {"lenny": "admin"}, "team": {"reactor": "edit"}},
    }
    give(api, safety, None, users=["lenny"])
    api.delete("/spaces/valves")
    give(api, "/spaces/manual", "edit", users=["carl"])
    exported = api.server.run_in_server(lambda: export_state(api.app.store))
    assert [record for record in exported.get("records", []) if record["kind"] == "grant"] == []
    api.server.reset(exported)
    assert api.server.run_in_server(lambda: export_state(api.app.store)) == exported
    assert given(api, safety)["user"] == {"lenny": None, "carl": "read"}
    assert api.as_("carl-token").ids("/orgs/globex/spaces") == ["manual", "safety"]


@pytest.mark.parametrize(
    "to", [{"users": {"oli": "read"}}, {"teams": {"none": "read"}}, {"guests": {"gus": "read"}}]
)
def test_server_data_granting_to_unknown_subjects_is_refused(
    api: Api, builtin_world: dict[str, Any], to: Any
) -> None:
    acme, *others = builtin_world["organizations"]
    spaces = [{"id": "new", "title": "New", "permissions": to}]
    with pytest.raises((ValueError, KeyError)):
        api.server.reset({**builtin_world, "organizations": [{**acme, "spaces": spaces}, *others]})


def test_server_data_deletion_dates_are_relative_to_loading(api: Api, builtin_world: dict[str, Any]) -> None:
    api.clock.pass_by(days=30)
    api.server.reset(builtin_world)
    assert api.get("/spaces/accidents")["deletedAt"] == "2026-03-29T00:00:00.000Z"


def test_every_user_in_builtin_server_data_has_token(api: Api, builtin_world: dict[str, Any]) -> None:
    for user in builtin_world["users"]:
        assert api.as_(f"{user['id']}-token").get("/user")["id"] == user["id"]
    for organization in ("acme", "globex"):
        assert api.get(f"/orgs/{organization}/members", role="admin")["count"] == 2
    assert {member["role"] for member in api.items(f"{ACME}/members")} == {*ROLES}
