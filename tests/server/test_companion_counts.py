"""How many spaces members and teams may view: the same as one by one, and not looked at one by one."""

from typing import Any

import httpx
import pytest
from companion_calls import START

from dpsync.server.access.roles import Role, Standing
from dpsync.server.access.visible_spaces import SpaceGroups
from dpsync.server.process.thread import ThreadedServer
from dpsync.server.request.cache import StateCache
from dpsync.server.request.context import Context
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
]


def record(kind: str, id: str, parent: str, level: Role) -> Record:
    return Record(kind, id, {"defaultLevel": level}, "org", "org", parent)


SPACES = {
    f"{parent}-{level}": record("space", f"{parent}-{level}", parent, level)
    for parent in ("", *COLLECTIONS)
    for level in LEVELS
}
AROUND = {id: record("collection", id, parent, level) for id, (parent, level) in COLLECTIONS.items()}


@pytest.mark.parametrize("role", ["admin", "read", None])
@pytest.mark.parametrize("given", [[], *([grant] for grant in GRANTS), GRANTS[:4], GRANTS], ids=str)
def test_a_count_is_that_of_the_spaces_with_a_level(role: Role, given: list[Any]) -> None:
    standing = Standing(True, role, frozenset(given))
    one_by_one = sum(standing.level(space, AROUND.get) is not None for space in SPACES.values())
    groups = SpaceGroups(SPACES.values(), AROUND.values())
    assert groups.visible([standing], SPACES.get) == one_by_one


@pytest.mark.parametrize("role", ["admin", "read", None])
@pytest.mark.parametrize("other", ["admin", "read", None])
@pytest.mark.parametrize("given", [[], GRANTS[:1], GRANTS[3:4], GRANTS[:4], GRANTS], ids=str)
@pytest.mark.parametrize("others", [[], GRANTS[1:2], GRANTS[3:5]], ids=str)
def test_a_count_for_two_is_that_of_the_spaces_with_a_level_for_both(
    role: Role, other: Role, given: list[Any], others: list[Any]
) -> None:
    both = [Standing(True, role, frozenset(given)), Standing(True, other, frozenset(others))]
    one_by_one = sum(
        all(standing.level(space, AROUND.get) is not None for standing in both) for space in SPACES.values()
    )
    assert SpaceGroups(SPACES.values(), AROUND.values()).visible(both, SPACES.get) == one_by_one


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


def test_the_spaces_are_read_once_for_all_members_and_all_requests_on_one_state() -> None:
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
        ctx.use_cache(remembered.at(store.version()))
        counts = [ctx.count_spaces_of("org", user) for user in members]
    assert store.times == 1
    assert len(set(counts)) > 1
    store.put(record("space", "one-more", "", "read"))
    ctx = Context(store, "user-0", lambda: START)
    ctx.use_cache(remembered.at(store.version()))
    assert ctx.count_spaces_of("org", "user-0") == counts[0] + 1
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


def test_what_is_remembered_follows_every_write(server: ThreadedServer) -> None:
    """The same as for a process that has just begun, and without having been worked out anew."""
    server.reset(FEW)
    store, remembered = server.app.store, server.app._state_cache

    def seen(by: StateCache) -> list[Any]:
        with store.reading():
            ctx = Context(store, "ada", lambda: START)
            ctx.use_cache(by.at(store.version()))
            users = ("ada", "bo", "cy")
            lists = [
                ctx.count(kind, organization="acme") for kind in ("space", "member", "membership", "grant")
            ]
            members = ctx.ordered("all", {"member"}, lambda: store.find("member", organization="acme"))
            both = [ctx.count_spaces_of_both("acme", user) for user in users]
            counts = [ctx.count_spaces_of("acme", user) for user in users]
            return [lists, both, counts, [ctx.standing("acme", user) for user in users], members]

    with httpx.Client(
        base_url=f"{server.url}/v1", headers={"Authorization": "Bearer ada-token"}, timeout=PATIENCE
    ) as http:
        server.call(lambda: seen(remembered))
        for method, path, body in STEPS:
            assert http.request(method, path, json=body).is_success == (path != "/spaces/nowhere"), path
            assert server.call(lambda: remembered.version == store.version()), path
            assert server.call(lambda: seen(remembered)) == server.call(lambda: seen(StateCache())), path
