"""Access with the profile `published`: the rules in the vendor's documentation, case by case.

The source is the vendor's documentation as of May 2026, pages "Permissions and inheritance" and "Roles". The
space in these worlds is in the collection `inner`, which is in `outer`. One site shows the space.
"""

from typing import Any

import pytest
from companion_calls import Api
from platform_of_roles import NEEDED, Json, Role, reaches, to_both, to_team, to_user, world

from tests.docs.markdown import DOCS

ORG = "/orgs/o"
PATHS = {"space": "/spaces/space", "collection": "/collections/inner", "site": f"{ORG}/sites/site"}
HIDDEN: Json = {"defaultLevel": None}
BY_SUB: Json = {"createdBy": "sub"}


def level(role: Role) -> Json:
    return {"defaultLevel": role}


def second_site(**on: Any) -> Json:
    """Another site that shows the space."""
    structure = [{"type": "space", "id": "other-place", "space": "space"}]
    return {"id": "other", "title": "Other", "structure": structure, **on}


def two_sites(made: Json, other: Json) -> Json:
    made["organizations"][0]["sites"].append(other)
    return made


DIFFERENT: dict[str, tuple[Json, Role, Role]] = {
    "a member with `create` in the organization has `comment` on the site": (
        world("create", site=to_user("comment")), "create", "comment"),
    "a member with `read` in the organization has `edit` on the site": (
        world("read", site=to_user("edit")), "read", "edit"),
    "a member with `create` in the organization is in a team with `read` on the site": (
        world("create", site=to_team("read")), "create", "read"),
    "the `defaultLevel` of the site is `comment`, and the `defaultLevel` of the collection is `read`": (
        world("create", inner=level("read"), site=level("comment")), "read", "comment"),
    "a member has `create` in the organization, and the `defaultLevel` of the site is null": (
        world("create", site=HIDDEN), "create", None),
    "a guest has `read` on the site": (
        world(None, site=to_user("read")), None, "read"),
    "a member has `create` in the organization and was also given `read` on the space itself": (
        world("create", space=to_user("read")), "create", "read"),
    "a member has `create` in the organization and was also given `read` on the collection": (
        world("create", inner=to_user("read")), "create", "read"),
    "a member has `edit` on the outer collection and `read` on the inner collection": (
        world("read", outer=to_user("edit"), inner=to_user("read")), "edit", "read"),
    "the `defaultLevel` of the space is `edit`, and a member was given `read` on the space": (
        world("read", space={**level("edit"), **to_user("read")}), "edit", "read"),
    "the `defaultLevel` of the space is `read`, and a member has `edit` on the collection": (
        world("create", inner=to_user("edit"), space=level("read")), "edit", "read"),
    "the `defaultLevel` of the collection is null. A member with `read` in the organization created the "
    "collection": (
        world("read", inner={**HIDDEN, **BY_SUB}), None, "read"),
    "the `defaultLevel` of the space is null. A member with `read` in the organization created the space": (
        world("read", space={**HIDDEN, **BY_SUB}), None, "read"),
}  # fmt: skip
"""For each situation: the world, the strongest role of `sub` on the space, and the role by precedence."""

ALIKE: dict[str, tuple[Json, Role]] = {
    "admin of the organization stays admin": (
        world("admin", site=to_user("read"), space={**HIDDEN, **to_user("read")}), "admin"),
    "organization role without anything else": (world("review"), "review"),
    "direct role on the space wins over site and collection": (
        world("read", inner=level("read"), site=level("comment"), space=to_user("create")), "create"),
    "direct role of a team on the space wins over site": (
        world("read", site=to_user("comment"), space=to_team("edit")), "edit"),
    "direct role wins over no access": (world("read", space={**HIDDEN, **to_user("edit")}), "edit"),
    "level of the space replaces the organization role": (world("create", space=level("read")), "read"),
    "level of the space raises the organization role": (world("read", space=level("create")), "create"),
    "level of the collection replaces the organization role": (
        world("create", outer=level("read")), "read"),
    "level of the inner collection replaces that of the outer": (
        world("create", outer=level("read"), inner=level("review")), "review"),
    "site role passes by a space with a level": (
        world("create", site=to_user("edit"), space=level("read")), "read"),
    "site level passes by a space with a level": (
        world("create", site=level("comment"), space=level("read")), "read"),
    "no access hides the space from creators of the organization": (world("create", space=HIDDEN), None),
    "no access on a collection hides what is in it": (world("create", outer=HIDDEN), None),
    "guest sees nothing by a level": (world(None, space=level("read"), site=level("edit")), None),
    "guest with a direct role": (world(None, space=to_user("comment")), "comment"),
    "guest with a role on the collection": (world(None, outer=to_user("comment")), "comment"),
    "guest who created the space": (world(None, space=BY_SUB), None),
    "strongest of member and team on the space": (world("create", space=to_both("read", "create")), "create"),
    "the role null gives and takes nothing": (world("review", space=to_user(None)), "review"),
}  # fmt: skip
"""Situations in which both rules give the same role."""

PRECEDENCE: dict[str, tuple[Json, Role]] = {
    **{case: (made, role) for case, (made, _, role) in DIFFERENT.items()},
    **ALIKE,
    "strongest of member and team on the site": (world("create", site=to_both("read", "edit")), "edit"),
    "role on the site wins over its level": (
        world("create", site={**level("create"), **to_user("read")}), "read"),
    "role on the collection wins over its level": (
        world("create", inner={**level("create"), **to_user("read")}), "read"),
    "site that sets nothing leaves it to the collection": (world("create", inner=level("read")), "read"),
    "strongest role among the sites": (
        two_sites(world("create", site=to_user("read")), second_site(**to_user("edit"))), "edit"),
    "site that sets nothing beside one that does": (
        two_sites(world("create", site=to_user("read")), second_site()), "read"),
    "no access on one of two sites": (
        two_sites(world("create", site=HIDDEN), second_site(**level("comment"))), "comment"),
    "guest passes by the level of a site": (
        world(None, site=level("edit"), outer=to_user("comment")), "comment"),
    "guest inherits nothing where the space has a level": (
        world(None, outer=to_user("edit"), space=level("create")), None),
    "creator of the space in a hidden collection": (world("read", inner=HIDDEN, space=BY_SUB), "read"),
    "creator of the space on a hidden site": (world("read", site=HIDDEN, space=BY_SUB), "read"),
    "creator of the hidden site": (world("read", site={**HIDDEN, **BY_SUB}), "read"),
    "creator of the space who is commenter on the site": (
        world("create", space=BY_SUB, site=to_user("comment")), "comment"),
    "creator of a space with a level": (world("create", space={**level("read"), **BY_SUB}), "read"),
    "space created by somebody else": (world("create", space={**HIDDEN, "createdBy": "other"}), None),
}  # fmt: skip

COLLECTION: dict[str, tuple[Json, Role]] = {
    "direct role wins over the organization role": (world("create", inner=to_user("read")), "read"),
    "direct role wins over the level": (world("read", inner={**HIDDEN, **to_team("edit")}), "edit"),
    "direct role wins over that on the outer collection": (
        world("read", outer=to_user("create"), inner=to_user("comment")), "comment"),
    "role on the outer collection": (world("create", outer=to_user("read")), "read"),
    "level replaces the organization role": (world("create", inner=level("read")), "read"),
    "level stops a role on the outer collection": (
        world("create", outer=to_user("edit"), inner=level("read")), "read"),
    "site role does not reach a collection": (world("create", site=to_user("read")), "create"),
    "no access": (world("create", inner=HIDDEN), None),
    "no access and its creator": (world("create", inner={**HIDDEN, **BY_SUB}), "create"),
    "no access on the outer collection and the creator of the inner": (
        world("create", outer=HIDDEN, inner=BY_SUB), "create"),
}  # fmt: skip
SITE: dict[str, tuple[Json, Role]] = {
    "direct role wins over the organization role": (world("create", site=to_user("read")), "read"),
    "direct role wins over the level": (world("create", site={**level("edit"), **to_team("read")}), "read"),
    "level replaces the organization role": (world("create", site=level("comment")), "comment"),
    "no access": (world("create", site=HIDDEN), None),
    "no access and its creator": (world("create", site={**HIDDEN, **BY_SUB}), "create"),
    "role on the space does not reach its site": (world("comment", space=to_user("create")), "comment"),
}  # fmt: skip


def check_role(api: Api, kind: str, role: Role) -> None:
    """Check the role of `sub` in the object, in lists, and in the list of members with access."""
    sub, path, name = api.as_("sub-token"), PATHS[kind], PATHS[kind].rpartition("/")[2]
    if role is None:
        sub.refused(404, "GET", path)
    else:
        flags = {flag: reaches(role, least) for flag, least in NEEDED[kind].items()}
        assert sub.get(path)["permissions"] == flags
    assert (name in sub.ids(f"{ORG}/{kind}s")) == (role is not None)
    root = api.as_("root-token")
    found = {item["user"]["id"]: item["permission"] for item in root.items(f"{path}/permissions/aggregate")}
    assert found.get("sub") == role


def check_spaces(api: Api, role: Role) -> None:
    """Check the lists of spaces and the space count of the member."""
    root, sub = api.as_("root-token"), api.as_("sub-token")
    found = {item["space"]["id"]: item["permission"] for item in root.items(f"{ORG}/members/sub/spaces")}
    assert found.get("space") == role
    assert root.get(f"{ORG}/members/sub")["spaces"] == len(found) == len(sub.ids(f"{ORG}/spaces"))
    assert set(sub.ids(f"{ORG}/search", query="space")) == found.keys() & {"space"}


@pytest.mark.parametrize("case", PRECEDENCE)
def test_published_api_version_space_role_follows_precedence(published: Api, case: str) -> None:
    made, role = PRECEDENCE[case]
    published.server.reset(made)
    check_role(published, "space", role)
    check_spaces(published, role)


@pytest.mark.parametrize("case", COLLECTION)
def test_published_api_version_collection_role_follows_precedence(published: Api, case: str) -> None:
    made, role = COLLECTION[case]
    published.server.reset(made)
    check_role(published, "collection", role)


@pytest.mark.parametrize("case", SITE)
def test_published_api_version_site_role_follows_precedence(published: Api, case: str) -> None:
    made, role = SITE[case]
    published.server.reset(made)
    check_role(published, "site", role)
    sites = published.as_("root-token").get(f"{ORG}/members/sub")["sites"]
    assert sites == len(published.as_("sub-token").ids(f"{ORG}/sites")) == (role is not None)


@pytest.mark.parametrize("case", [*DIFFERENT, *ALIKE])
def test_full_api_version_uses_strongest_role_on_space(api: Api, case: str) -> None:
    made, role = {**{case: found[:2] for case, found in DIFFERENT.items()}, **ALIKE}[case]
    api.server.reset(made)
    check_role(api, "space", role)
    check_spaces(api, role)


def test_platforms_page_lists_differing_access_situations() -> None:
    page = (DOCS / "platforms.md").read_text(encoding="utf-8")
    named = {None: "no access"}
    for situation, (_, strongest, precedence) in DIFFERENT.items():
        roles = (f"`{role}`" if role else named[role] for role in (strongest, precedence))
        assert f"| {situation[0].upper()}{situation[1:]}. | {' | '.join(roles)} |" in page


# --- who created something ------------------------------------------------------------------------

MADE: dict[str, tuple[str, Json, str]] = {
    "space": (f"{ORG}/spaces", {"title": "New"}, "/spaces/{}"),
    "collection": (f"{ORG}/collections", {"title": "New"}, "/collections/{}"),
    "site": (f"{ORG}/sites", {"title": "New"}, f"{ORG}/sites/{{}}"),
}


@pytest.mark.parametrize("kind", MADE)
def test_hidden_content_stays_visible_to_its_creator(published: Api, kind: str) -> None:
    at, body, path = MADE[kind]
    published.server.reset(world("create"))
    root, sub = published.as_("root-token"), published.as_("sub-token")
    root.patch(f"{ORG}/members/other", {"role": "create"})
    path = path.format(sub.make(at, body)["id"])
    hidden = root.patch(path, {"defaultLevel": None})
    assert sub.get(path) == {**hidden, "permissions": sub.get(PATHS[kind])["permissions"]}
    assert hidden["id"] in sub.ids(at)
    other = published.as_("other-token")
    other.refused(404, "GET", path)
    assert hidden["id"] not in other.ids(at)
    assert not {"createdBy", "creator"} & hidden.keys()


def test_duplicating_user_becomes_creator_of_copy(published: Api) -> None:
    published.server.reset(world("create", space={"createdBy": "root"}))
    sub, root = published.as_("sub-token"), published.as_("root-token")
    copy = f"/spaces/{sub.make('/spaces/space/duplicate')['id']}"
    root.patch(copy, {"defaultLevel": None})
    assert sub.get(copy)["title"] == "Space"


def test_exported_server_data_keeps_creators(published: Api) -> None:
    published.server.reset(world("create"))
    sub, root = published.as_("sub-token"), published.as_("root-token")
    path = f"/spaces/{sub.make(f'{ORG}/spaces', {'title': 'New'})['id']}"
    root.patch(path, {"defaultLevel": None})
    published.server.reset(published.state())
    sub.get(path)


def test_changed_site_role_affects_spaces_at_once(published: Api) -> None:
    """A stale cache would show a space after the member has lost the role."""
    published.server.reset(world(None))
    root, sub = published.as_("root-token"), published.as_("sub-token")
    permissions = f"{ORG}/sites/site/permissions"
    for role in ("read", "edit"):
        sub.refused(404, "GET", "/spaces/space")
        assert sub.ids(f"{ORG}/spaces") == []
        root.post(permissions, {"users": ["sub"], "role": role}, 204)
        assert sub.get("/spaces/space")["permissions"]["edit"] == (role == "edit")
        assert sub.ids(f"{ORG}/spaces") == ["space"]
        root.ok("DELETE", f"{permissions}/users/sub", status=205)
    root.post(permissions, {"users": ["sub"], "role": "read"}, 204)
    assert sub.ids(f"{ORG}/spaces") == ["space"]
    root.ok("DELETE", f"{ORG}/sites/site/site-spaces/place", status=205)
    assert sub.ids(f"{ORG}/spaces") == []
    sub.refused(404, "GET", "/spaces/space")


# --- what a role allows ---------------------------------------------------------------------------

GIVEN: Json = {"users": ["other"], "role": "read"}
BY_CREATORS: dict[str, tuple[str, str, Json | None]] = {
    "delete a space": ("DELETE", "/spaces/space", None),
    "delete a collection": ("DELETE", "/collections/inner", None),
    "delete a site": ("DELETE", f"{ORG}/sites/site", None),
    "set the level of a space": ("PATCH", "/spaces/space", {"defaultLevel": "edit"}),
    "set the level of a collection": ("PATCH", "/collections/inner", {"defaultLevel": None}),
    **{
        f"{does} on a {kind}": (method, f"{PATHS[kind]}/permissions{tail}", body)
        for kind in ("space", "collection")
        for does, method, tail, body in (
            ("give a role", "POST", "", GIVEN),
            ("change a member's role", "PATCH", "/users/other", {"role": "edit"}),
            ("take a member's role", "DELETE", "/users/other", None),
            ("change a team's role", "PATCH", "/teams/spare", {"role": "edit"}),
            ("take a team's role", "DELETE", "/teams/spare", None),
        )
    },
}
BY_ADMINS: dict[str, tuple[str, str, Json | None]] = {
    "rename a space": ("PATCH", "/spaces/space", {"title": "New", "defaultLevel": "edit"}),
    "rename a collection": ("PATCH", "/collections/inner", {"title": "New"}),
    "rename a site": ("PATCH", f"{ORG}/sites/site", {"title": "New"}),
    "give a role on a site": ("POST", f"{ORG}/sites/site/permissions", GIVEN),
    "move a space": ("POST", "/spaces/space/move", {"parent": None}),
}


def with_roles(role: Role) -> Json:
    there: Json = {"permissions": {"users": {"other": "comment"}, "teams": {"spare": "comment"}}}
    return world(role, space=there, inner=there)


@pytest.mark.parametrize("what", BY_CREATORS)
def test_published_create_role_manages_content_and_permissions(published: Api, what: str) -> None:
    published.server.reset(with_roles("review"))
    published.as_("sub-token").refused(403, *BY_CREATORS[what])
    published.server.reset(with_roles("create"))
    assert published.as_("sub-token").call(*BY_CREATORS[what]).is_success


@pytest.mark.parametrize("what", BY_ADMINS)
def test_published_api_version_settings_need_admin_role(published: Api, what: str) -> None:
    published.server.reset(with_roles("create"))
    published.as_("sub-token").refused(403, *BY_ADMINS[what])
    published.server.reset(with_roles("admin"))
    assert published.as_("sub-token").call(*BY_ADMINS[what]).is_success


@pytest.mark.parametrize("what", BY_CREATORS)
def test_full_api_version_content_management_needs_admin_role(api: Api, what: str) -> None:
    api.server.reset(with_roles("create"))
    api.as_("sub-token").refused(403, *BY_CREATORS[what])
