"""Access by a model of its own: for any roles, defaults and grants, the API tells and shows what follows."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cases import BODIES
from companion_calls import Api
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from platform_of_roles import NEEDED, ROLES, Role, reaches
from test_companion_operations import path_of, prepare

from dpsync.server.control.world_export import export_state
from dpsync.server.operations import OPERATIONS
from dpsync.server.request.operation import Operation
from tests.soak import examples

ORG = "/orgs/o"
USERS = ("ann", "bob", "cid")
TEAMS = ("red", "blue")
Json = dict[str, Any]

roles = st.sampled_from(ROLES)
grants = st.fixed_dictionaries(
    {},
    optional={
        "users": st.dictionaries(st.sampled_from(USERS), roles),
        "teams": st.dictionaries(st.sampled_from(TEAMS), roles),
    },
)


@st.composite
def things(draw: st.DrawFn, kind: str, within: list[str]) -> list[Json]:
    """Each in one of those that there are, or of those before it."""
    made: list[Json] = []
    for number in range(draw(st.integers(1, 3))):
        one: Json = {"id": f"{kind}-{number}", "title": f"{kind} {number}", "permissions": draw(grants)}
        if kind != "site":
            before = [other["id"] for other in made] if kind == "collection" else []
            one["parent"] = draw(st.sampled_from([None, *within, *before]))
        if draw(st.booleans()):
            one["defaultLevel"] = draw(st.sampled_from([*ROLES, "inherit"]))
        made.append(one)
    return made


@st.composite
def organizations(draw: st.DrawFn) -> Json:
    members = [
        {"user": user, "role": draw(roles), "disabled": draw(st.integers(0, 5)) == 0} for user in USERS
    ]
    teams = [
        {
            "id": team,
            "title": team,
            "members": [{"user": user} for user in draw(st.sets(st.sampled_from(USERS)))],
        }
        for team in TEAMS
    ]
    collections = draw(things("collection", []))
    return {
        "id": "o",
        "title": "Organization",
        "members": [{"user": "root", "role": "admin"}, *members],
        "teams": teams,
        "collections": collections,
        "spaces": draw(things("space", [collection["id"] for collection in collections])),
        "sites": draw(things("site", [])),
    }


# --- the model ------------------------------------------------------------------------------------------


def around(organization: Json, thing: Json) -> Iterator[Json]:
    """Yield the thing, then each collection around it."""
    collections = {collection["id"]: collection for collection in organization["collections"]}
    at: Json | None = thing
    while at is not None:
        yield at
        at = collections.get(at.get("parent"))


def effective(organization: Json, user: str, thing: Json) -> Role:
    """By the rules of part 5; None is no access."""
    member = next(member for member in organization["members"] if member["user"] == user)
    if member.get("disabled") or member["role"] == "admin":
        return None if member.get("disabled") else "admin"
    teams = [team["id"] for team in organization["teams"] if {"user": user} in team["members"]]
    found: list[Role] = [None]
    for at in around(organization, thing):
        given = at["permissions"]
        found.append(given.get("users", {}).get(user))
        found += [given.get("teams", {}).get(team) for team in teams]
    if member["role"] is not None:
        levels = [at.get("defaultLevel", "inherit") for at in around(organization, thing)]
        found.append(next((level for level in levels if level != "inherit"), member["role"]))
    return max(found, key=ROLES.index)


# --- the laws -------------------------------------------------------------------------------------------


def world(organization: Json) -> Json:
    users = ("root", "out", *USERS)
    return {
        "users": [{"id": user, "displayName": user, "email": f"{user}@o.example"} for user in users],
        "tokens": {f"{user}-token": user for user in users},
        "organizations": [organization],
    }


PATHS = {"spaces": "/spaces/{}", "collections": "/collections/{}", "sites": ORG + "/sites/{}"}
Resolve = Callable[[Json, str, Json], Role]
"""Returns the role of a user on a space, collection or site, by the rules of an edition."""


def check(api: Api, organization: Json, user: str, resolve: Resolve = effective) -> None:
    caller = api.as_(f"{user}-token")
    for several, path in PATHS.items():
        seen = set()
        for thing in organization[several]:
            role, where = resolve(organization, user, thing), path.format(thing["id"])
            if role is None:
                caller.refused(404, "GET", where)
                continue
            seen.add(thing["id"])
            needed = NEEDED[several[:-1]]
            flags = {flag: reaches(role, least) for flag, least in needed.items()}
            assert caller.get(where)["permissions"] == flags
        assert set(caller.ids(f"{ORG}/{several}")) == seen


def check_lists_of(api: Api, organization: Json, user: str, resolve: Resolve = effective) -> None:
    """Check an admin's list of the spaces that a member can access."""
    roles_on = {space["id"]: resolve(organization, user, space) for space in organization["spaces"]}
    seen = {id: role for id, role in roles_on.items() if role is not None}
    found = api.items(f"{ORG}/members/{user}/spaces")
    assert {item["space"]["id"]: item["permission"] for item in found} == seen
    assert api.get(f"{ORG}/members/{user}")["spaces"] == len(seen)


def check_aggregates(api: Api, organization: Json, resolve: Resolve = effective) -> None:
    """Check the lists of members with access to each space, collection and site."""
    users = [member["user"] for member in organization["members"]]
    for several, path in PATHS.items():
        for thing in organization[several]:
            roles_of = {user: resolve(organization, user, thing) for user in users}
            found = api.items(path.format(thing["id"]) + "/permissions/aggregate")
            assert {item["user"]["id"]: item["permission"] for item in found} == {
                user: role for user, role in roles_of.items() if role is not None
            }


@settings(
    max_examples=examples(15, soak=400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(organizations())
def test_visibility_and_permissions_follow_roles_defaults_and_grants(api: Api, organization: Json) -> None:
    api.server.reset(world(organization))
    root = api.as_("root-token")
    for member in organization["members"]:
        user = member["user"]
        check_lists_of(root, organization, user)
        if member.get("disabled"):
            api.as_(f"{user}-token").refused(404, "GET", ORG)
            continue
        check(api, organization, user)
        words = {"query": "space"}
        found = set(api.as_(f"{user}-token").ids(f"{ORG}/search", **words))
        assert found == set(api.as_(f"{user}-token").ids(f"{ORG}/spaces"))
    check_aggregates(root, organization)


# --- what is enough -----------------------------------------------------------------------------------

WITH_LESS = [row for row in OPERATIONS if row.required_role not in (None, "admin")]


@pytest.mark.parametrize("row", WITH_LESS, ids=lambda row: str(row.id))
def test_documented_minimum_role_suffices_for_each_operation(
    api: Api, builtin_world: Json, row: Operation
) -> None:
    acme, *others = builtin_world["organizations"]
    open_to_all = [{**collection, "defaultLevel": "inherit"} for collection in acme["collections"]]
    prepare(api, {**builtin_world, "organizations": [{**acme, "collections": open_to_all}, *others]})
    api.patch("/orgs/acme/members/grace", {"role": row.required_role})
    api.as_("grace-token").ok(row.method, path_of(row), BODIES.get(row.id), row.status)


# --- who is not in it -------------------------------------------------------------------------------


LETS_IN = ("joinOrganization", "joinOrganizationWithInvite")
INSIDE = [
    row
    for row in OPERATIONS
    if row.parameters and not row.path.startswith("/integrations") and row.id not in LETS_IN
]


def test_nonmembers_and_disabled_members_get_404_everywhere(api: Api, builtin_world: Json) -> None:
    acme, *others = builtin_world["organizations"]
    disabled = [{**member, "disabled": member["user"] == "grace"} for member in acme["members"]]
    prepare(api, {**builtin_world, "organizations": [{**acme, "members": disabled}, *others]})
    before = api.server.run_in_server(lambda: export_state(api.app.store))
    for caller in (api.as_("oli-token"), api.as_("grace-token")):
        assert caller.ids("/orgs") == []
        for row in INSIDE:
            answer = caller.call(row.method, path_of(row), BODIES.get(row.id))
            assert answer.status_code == 404, row.id
    assert api.server.run_in_server(lambda: export_state(api.app.store)) == before
    for id in LETS_IN:
        row = next(row for row in OPERATIONS if row.id == id)
        api.as_("grace-token").refused(404, row.method, path_of(row))
