"""Compare access with the profile `published` in random organizations with a model of the documented rules.

The model follows the vendor's documentation as of May 2026 sentence by sentence and shares no code with the
companion. The test reads and writes over HTTP with the token of each member.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import httpx
import pytest
from companion_calls import Api, StillClock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from platform_of_roles import ROLES, Role, reaches
from test_companion_access import (
    ORG,
    USERS,
    Json,
    check,
    check_aggregates,
    check_lists_of,
    organizations,
    world,
)

from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.patience import PATIENCE
from tests.soak import examples


@st.composite
def organizations_with_sites(draw: st.DrawFn) -> Json:
    """Generate organizations whose sites show spaces; a space may be shown several times."""
    organization = draw(organizations())
    spaces, places = [space["id"] for space in organization["spaces"]], count(1)
    for site in organization["sites"]:
        shown = draw(st.lists(st.sampled_from(spaces), max_size=3))
        site["structure"] = [{"type": "space", "id": f"place-{next(places)}", "space": id} for id in shown]
    for space in organization["spaces"]:
        space["editMode"] = draw(st.sampled_from(["live", "locked"]))
    for several in ("spaces", "collections", "sites"):
        for thing in organization[several]:
            if draw(st.integers(0, 2)) == 0:
                thing["createdBy"] = draw(st.sampled_from(USERS))
    return organization


# --- the documented rules -----------------------------------------------------------------------------


def documented_role(organization: Json, user: str, thing: Json) -> Role:
    """Return the role of a user on a space, collection or site; None is no access."""
    member = next(member for member in organization["members"] if member["user"] == user)
    if member.get("disabled"):
        return None
    if member["role"] == "admin":  # "Admins stay admins."
        return "admin"
    return _inherited_or_own(organization, member, thing, thing)


def _inherited_or_own(organization: Json, member: Json, place: Json, thing: Json) -> Role:
    direct = _direct_roles(organization, member, place)
    if direct:  # A direct role wins over levels and everything that would be inherited.
        return max(direct, key=ROLES.index)
    if not _is_inherited(member, place, thing):
        # A level replaces the organization role. Guests see only what they were given directly.
        return place["defaultLevel"] if member["role"] is not None else None
    if place in organization["spaces"]:
        roles = [
            role
            for site in organization["sites"]
            if any(node["space"] == place["id"] for node in site["structure"])
            for role in _roles_by_site(organization, member, site, thing)
        ]
        if roles:  # "else the role on the parent site"; among several sites the strongest
            return max(roles, key=ROLES.index)
    for collection in organization["collections"]:
        if collection["id"] == place.get("parent"):  # "else that of the parent collection"
            return _inherited_or_own(organization, member, collection, thing)
    role: Role = member["role"]
    return role  # "else the member's organization role"


def _roles_by_site(organization: Json, member: Json, site: Json, thing: Json) -> list[Role]:
    """Return the role that a site sets for a member on the spaces it shows, as a list of at most one."""
    direct = _direct_roles(organization, member, site)
    if direct:
        return [max(direct, key=ROLES.index)]
    if _is_inherited(member, site, thing) or member["role"] is None:
        return []
    return [site["defaultLevel"]]


def _direct_roles(organization: Json, member: Json, place: Json) -> list[Role]:
    user, given = member["user"], place["permissions"]
    teams = [team["id"] for team in organization["teams"] if {"user": user} in team["members"]]
    roles = [given.get("users", {}).get(user), *(given.get("teams", {}).get(team) for team in teams)]
    return [role for role in roles if role is not None]


def _is_inherited(member: Json, place: Json, thing: Json) -> bool:
    """Return whether a place sets no role: "No access" does not apply to admins and creators."""
    level = place.get("defaultLevel", "inherit")
    created = member["user"] in (place.get("createdBy"), thing.get("createdBy"))
    return level == "inherit" or (level is None and created)


# --- the companion follows them -----------------------------------------------------------------------


@pytest.fixture(scope="module", params=["memory", "file"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Yield a companion whose state is in memory or in an SQLite file."""
    directory: Path = tmp_path_factory.mktemp("state")
    store = open_store(":memory:" if request.param == "memory" else str(directory / "companion.db"))
    clock = StillClock()
    app = build_companion(store, profile="published", clock=clock, check_responses=True)
    with ThreadedServer(app) as server, httpx.Client(base_url=server.url, timeout=PATIENCE) as http:
        yield Api(server, http, clock)
    store.close()


def check_edits(api: Api, organization: Json, user: str) -> None:
    """Proposing a change needs the role `edit` on the space, locked or not."""
    caller = api.as_(f"{user}-token")
    for space in organization["spaces"]:
        role = documented_role(organization, user, space)
        answer = caller.call("POST", f"/spaces/{space['id']}/change-requests", {"subject": "Change"})
        assert answer.status_code == (404 if role is None else 201 if reaches(role, "edit") else 403)


@settings(
    max_examples=examples(20, soak=400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(organizations_with_sites())
def test_published_api_version_access_matches_documented_rules(served: Api, organization: Json) -> None:
    served.server.reset(world(organization))
    root = served.as_("root-token")
    check_aggregates(root, organization, documented_role)
    for member in organization["members"]:
        user = member["user"]
        check_lists_of(root, organization, user, documented_role)
        sites = [documented_role(organization, user, site) for site in organization["sites"]]
        assert root.get(f"{ORG}/members/{user}")["sites"] == sum(role is not None for role in sites)
        if not member.get("disabled"):
            check(served, organization, user, documented_role)
            check_edits(served, organization, user)
    assert served.app.violations == []
