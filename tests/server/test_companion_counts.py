"""How many spaces members and teams may view: the same as one by one, and not looked at one by one."""

from typing import Any

import httpx
import pytest
from companion_calls import START

from dpsync.server.access.resolution import RULES, AccessRules, Containers, protected_object
from dpsync.server.access.roles import OrganizationAccess, Role
from dpsync.server.access.visible_spaces import SpaceGroups
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.request.context import Context
from dpsync.server.request.state_cache import StateCache
from dpsync.server.store import Record, open_store
from tests.patience import PATIENCE

COLLECTIONS = {
    "shut": ("", None),
    "open": ("", "read"),
    "as-around": ("shut", "inherit"),
    "open-inside": ("shut", "comment"),
    "lost": ("gone", "inherit"),
}
LEVELS: tuple[Role, ...] = ("inherit", None, "edit")
GRANTS: list[tuple[str, str, Role]] = [
    ("collection", "shut", "read"),
    ("collection", "as-around", "admin"),
    ("collection", "open", None),
    ("space", "shut-None", "comment"),
    ("space", "open-edit", "read"),
    ("space", "-None", None),
    ("space", "elsewhere", "read"),
    ("site", "shut-None", "read"),
    ("site", "hidden", "read"),
]


SITES: dict[str, Role] = {"plain": "inherit", "hidden": None, "readable": "read"}
PLACES = (
    ("plain", "-inherit"),
    ("hidden", "-inherit"),
    ("hidden", "shut-inherit"),
    ("hidden", "open-inherit"),
    ("readable", "open-inherit"),
    ("readable", "as-around-inherit"),
    ("readable", "open-None"),
)
"""(site, space) pairs: which site shows which space."""


def record(kind: str, id: str, parent: str, level: Role) -> Record:
    return Record(kind, id, {"defaultLevel": level, "createdBy": CREATED.get(id)}, "org", "org", parent)


CREATED = {"shut": "bo", "hidden": "bo", "-None": "bo", "shut-inherit": "cy", "as-around-None": "cy"}
"""The creator of each space, collection or site, by id."""


SPACES = {
    f"{parent}-{level}": record("space", f"{parent}-{level}", parent, level)
    for parent in ("", *COLLECTIONS)
    for level in LEVELS
}
AROUND = {id: record("collection", id, parent, level) for id, (parent, level) in COLLECTIONS.items()}
SHOWING = {id: record("site", id, "", level) for id, level in SITES.items()}
SHOWN = [Record("site-space", f"{site}:{space}", {}, "org", site, ref=space) for site, space in PLACES]
RECORDS = [*SPACES.values(), *AROUND.values(), *SHOWING.values(), *SHOWN]
EDITIONS = pytest.mark.parametrize("edition", ["full", "published"])


def sees(rules: AccessRules, standing: OrganizationAccess, space: Record) -> bool:
    """Return whether a member sees a space, without groups."""
    collections, at = [], AROUND.get(space.parent)
    while at is not None:
        collections.append(protected_object(at))
        at = AROUND.get(at.parent)
    sites = [protected_object(SHOWING[site]) for site, shown in PLACES if shown == space.id]
    around = Containers(tuple(collections), tuple(sites))
    return rules.resolve(standing, protected_object(space), around) is not None


@EDITIONS
@pytest.mark.parametrize("role", ["admin", "read", None])
@pytest.mark.parametrize("user", ["", "bo", "cy"])
@pytest.mark.parametrize("given", [[], *([grant] for grant in GRANTS), GRANTS[:4], GRANTS], ids=str)
def test_visible_space_count_matches_per_space_access_check(
    edition: str, role: Role, user: str, given: list[Any]
) -> None:
    standing = OrganizationAccess(True, role, frozenset(given), user_id=user)
    expected = sum(sees(RULES[edition], standing, space) for space in SPACES.values())
    assert SpaceGroups(RULES[edition], RECORDS).count_visible([standing]) == expected


@EDITIONS
@pytest.mark.parametrize("role", ["admin", "read", None])
@pytest.mark.parametrize("other", ["admin", "read", None])
@pytest.mark.parametrize("given", [[], GRANTS[:1], GRANTS[3:4], GRANTS[:4], GRANTS], ids=str)
@pytest.mark.parametrize("others", [[], GRANTS[1:2], GRANTS[3:5]], ids=str)
def test_shared_space_count_matches_per_space_access_check(
    edition: str, role: Role, other: Role, given: list[Any], others: list[Any]
) -> None:
    both = [
        OrganizationAccess(True, role, frozenset(given), user_id="bo"),
        OrganizationAccess(True, other, frozenset(others), user_id="cy"),
    ]
    expected = sum(all(sees(RULES[edition], one, space) for one in both) for space in SPACES.values())
    assert SpaceGroups(RULES[edition], RECORDS).count_visible(both) == expected


@EDITIONS
def test_visible_space_groups_are_updated_after_each_write(edition: str) -> None:
    """If the groups miss a write, members see the wrong number of spaces until a restart."""
    rules, members = (
        RULES[edition],
        [OrganizationAccess(True, "read", user_id="bo"), OrganizationAccess(True, None, frozenset(GRANTS))],
    )
    groups = SpaceGroups(rules, [])
    there: list[Record] = []
    for record in [*RECORDS, *RECORDS[::3]]:
        if record in there:
            there.remove(record)
            groups.update(record, None)
        else:
            there.append(record)
            groups.update(None, record)
        for member in members:
            assert groups.count_visible([member]) == SpaceGroups(rules, there).count_visible([member])


class Looking:
    """A store that says how often all spaces of an organization were read."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.times = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def find(self, kind: str, **where: str) -> Any:
        self.times += kind == "space"
        return self._store.find(kind, **where)


def test_server_reads_spaces_once_per_store_version() -> None:
    store = Looking(open_store(":memory:"))
    members = [f"user-{number}" for number in range(20)]
    with store.transaction():
        for space in SPACES.values():
            store.put(space)
        for number, user in enumerate(members):
            store.put(Record("member", f"org:{user}", {"role": "read"}, "org", "org", ref=user))
            doc = {"role": "read", "to": "user"}
            granted = list(SPACES)[number % len(SPACES)]
            store.put(Record("grant", f"space:{granted}:{user}", doc, "org", granted, "space", ref=user))
    remembered = StateCache()
    for _ in range(3):
        ctx = Context(store, "user-0", lambda: START)
        ctx.use_cache(remembered.at_version(store.version()))
        counts = [ctx.count_visible_spaces("org", user) for user in members]
    assert store.times == 1
    assert len(set(counts)) > 1
    store.put(record("space", "one-more", "", "read"))
    ctx = Context(store, "user-0", lambda: START)
    ctx.use_cache(remembered.at_version(store.version()))
    assert ctx.count_visible_spaces("org", "user-0") == counts[0] + 1
    store.close()


ORG = "/orgs/acme"
STEPS: list[tuple[str, str, Any]] = [
    ("PATCH", "/spaces/s1", {"defaultLevel": None}),
    ("POST", "/spaces/s1/permissions", {"users": ["bo"], "role": "edit"}),
    ("POST", "/spaces/s1/permissions", {"teams": ["t"], "role": "read"}),
    ("PUT", f"{ORG}/teams/t/members/cy", {"role": "owner"}),
    ("POST", "/spaces/s2/move", {"parent": "c"}),
    ("PATCH", "/collections/c", {"defaultLevel": None}),
    ("POST", f"{ORG}/spaces", {"title": "New", "parent": "c"}),
    ("PATCH", f"{ORG}/members/bo", {"role": None}),
    ("DELETE", "/spaces/s1/permissions/teams/t", None),
    ("DELETE", "/spaces/s2", None),
    ("DELETE", "/collections/c", None),
    ("POST", "/spaces/s2/restore", None),
    ("DELETE", f"{ORG}/teams/t/members/cy", None),
    ("DELETE", f"{ORG}/teams/t", None),
    ("DELETE", f"{ORG}/members/cy", None),
    ("PATCH", "/spaces/s1", {"title": ""}),
    ("PATCH", "/spaces/nowhere", {"title": "Other"}),
]
FEW: dict[str, Any] = {
    "users": [{"id": user, "displayName": user} for user in ("ada", "bo", "cy")],
    "tokens": {"ada-token": "ada"},
    "organizations": [
        {
            "id": "acme",
            "members": [
                {"user": "ada", "role": "admin"},
                {"user": "bo", "role": "read"},
                {"user": "cy", "role": None},
            ],
            "teams": [{"id": "t", "title": "Team", "members": [{"user": "bo"}]}],
            "collections": [{"id": "c", "title": "Shelf"}],
            "spaces": [{"id": f"s{number}", "title": "Space"} for number in range(4)],
        }
    ],
}


def test_cached_counts_are_updated_after_each_write(server: ThreadedServer) -> None:
    """The same as for a process that has just begun, and without having been worked out anew."""
    server.reset(FEW)
    store, remembered = server.app.store, server.app._state_cache

    def seen(by: StateCache) -> list[Any]:
        with store.read_transaction():
            ctx = Context(store, "ada", lambda: START)
            ctx.use_cache(by.at_version(store.version()))
            users = ("ada", "bo", "cy")
            lists = [
                ctx.count(kind, organization="acme") for kind in ("space", "member", "membership", "grant")
            ]
            members = ctx.cached_list("all", {"member"}, lambda: store.find("member", organization="acme"))
            both = [ctx.count_common_spaces("acme", user) for user in users]
            counts = [ctx.count_visible_spaces("acme", user) for user in users]
            return [lists, both, counts, [ctx.access_in("acme", user) for user in users], members]

    with httpx.Client(
        base_url=f"{server.url}/v1", headers={"Authorization": "Bearer ada-token"}, timeout=PATIENCE
    ) as http:
        server.run_in_server(lambda: seen(remembered))
        for method, path, body in STEPS:
            assert http.request(method, path, json=body).is_success == (path != "/spaces/nowhere"), path
            assert server.run_in_server(lambda: remembered.version == store.version()), path
            assert server.run_in_server(lambda: seen(remembered)) == server.run_in_server(
                lambda: seen(StateCache())
            ), path
