"""How many spaces members and teams may view: the same as one by one, and not looked at one by one."""

from typing import Any

import pytest
from companion_calls import START

from dpsync.server.access import Role, Standing
from dpsync.server.context import Context
from dpsync.server.levels import SpaceGroups
from dpsync.server.remembered import Remembered
from dpsync.server.store import Record, open_store

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
    assert groups.visible(standing, SPACES.get) == one_by_one


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
    remembered = Remembered()
    for _ in range(3):
        ctx = Context(store, "user-0", lambda: START)
        ctx.recall(remembered.at(store.version()))
        counts = [ctx.count_spaces_of("org", user) for user in members]
    assert store.times == 1
    assert len(set(counts)) > 1
    store.put(record("space", "one-more", "", "read"))
    ctx = Context(store, "user-0", lambda: START)
    ctx.recall(remembered.at(store.version()))
    assert ctx.count_spaces_of("org", "user-0") == counts[0] + 1
    store.close()
