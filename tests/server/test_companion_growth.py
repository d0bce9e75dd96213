"""The number of records that a request reads does not grow with the state.

One object, and the first page of a list, read as many records of a large store as of a small one, once the
state has been read; also right after a write.

Records are counted, not seconds. What has to be worked out from all of a state (how many spaces each member
may view) is worked out once, and follows what is written. Only a list with an order of its own (members,
sites, collections), and the number of sites of a member, is worked out again when one of those was written.
The profile `published` reads the sites of spaces, too.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from companion_calls import Api, StillClock

from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import Record, open_store
from tests.patience import PATIENCE

FEW, MANY = 30, 150
LIMIT = 5
ORG = "/orgs/acme"
TOKENS = {"admin": "user-0", "reader": "user-1", "guest": "user-2"}
OBJECTS = [
    ORG,
    f"{ORG}/members/user-7",
    f"{ORG}/teams/team-7",
    f"{ORG}/sites/site-7",
    f"{ORG}/saml/saml-7",
    f"{ORG}/openapi/spec-7",
    f"{ORG}/translations/translation-7",
    "/spaces/space-7",
    "/collections/col-7",
]
LISTS = [
    "/orgs",
    f"{ORG}/members",
    f"{ORG}/members?sort=name&order=asc",
    f"{ORG}/teams",
    f"{ORG}/teams/team-7/members",
    f"{ORG}/sites",
    f"{ORG}/spaces",
    f"{ORG}/collections",
    f"{ORG}/saml",
    f"{ORG}/openapi",
    f"{ORG}/translations",
    f"{ORG}/sites/site-0/share-links",
    f"{ORG}/members/user-1/spaces",
    f"{ORG}/members/user-1/spaces?order=desc",
]


class Counting:
    """A store that counts queries and returned records."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.records = 0
        self.queries = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, kind: str, id: str) -> Record | None:
        found: Record | None = self._store.get(kind, id)
        self.queries += 1
        self.records += found is not None
        return found

    def find(self, kind: str, **where: str) -> list[Record]:
        found: list[Record] = self._store.find(kind, **where)
        self.queries += 1
        self.records += len(found)
        return found

    def find_by_creation(self, kind: str, after: int, limit: int, **where: Any) -> list[Record]:
        found: list[Record] = self._store.find_by_creation(kind, after, limit, **where)
        self.queries += 1
        self.records += len(found)
        return found


def world(size: int) -> dict[str, Any]:
    """`size` of everything, some of it given to the members one by one."""
    numbers = range(size)
    roles = {0: "admin", 1: "read", 2: None}
    shown = [{"id": f"share-{number}", "name": "Dependency"} for number in numbers]
    acme = {
        "id": "acme",
        "members": [{"user": f"user-{number}", "role": roles.get(number, "read")} for number in numbers],
        "teams": [
            {"id": f"team-{number}", "title": "Team", "members": [{"user": f"user-{one}"} for one in numbers]}
            if number == 7
            else {"id": f"team-{number}", "title": "Team"}
            for number in numbers
        ],
        "collections": [{"id": f"col-{number}", "title": "Shelf"} for number in numbers],
        "spaces": [
            {"id": f"space-{number}", "title": "Space", "parent": f"col-{number % 3}",
             "permissions": {"users": {"user-2": "read"}} if number < 10 else {}}
            for number in numbers
        ],
        "sites": [
            {"id": f"site-{number}", "title": "Site", "basename": f"site-{number}",
             "structure": [{"type": "space", "id": f"place-{number}", "space": f"space-{number}"}],
             "defaultLevel": "comment" if number % 2 else "inherit",
             "shareLinks": shown if number == 0 else []}
            for number in numbers
        ],
        "samlProviders": [{"id": f"saml-{number}"} for number in numbers],
        "openapi": [
            {"id": f"spec-{number}", "slug": f"spec-{number}", "processingState": "complete"}
            for number in numbers
        ],
        "translations": [
            {"id": f"translation-{number}", "source": {"space": f"space-{number}", "language": "en"},
             "language": "fr", "status": "completed"}
            for number in numbers
        ],
    }  # fmt: skip
    users = [{"id": f"user-{number}", "displayName": f"User {number}"} for number in numbers]
    return {"users": users, "tokens": TOKENS, "organizations": [acme]}


def serving(size: int, profile: str) -> Iterator[tuple[Api, Counting]]:
    store = Counting(open_store(":memory:"))
    app = build_companion(store, profile=profile)
    with ThreadedServer(app) as server, httpx.Client(base_url=server.url, timeout=PATIENCE) as http:
        server.reset(world(size))
        yield Api(server, http, StillClock()), store
    store.close()


@pytest.fixture(scope="module", params=["full", "published"])
def profile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def few(profile: str) -> Iterator[tuple[Api, Counting]]:
    yield from serving(FEW, profile)


@pytest.fixture(scope="module")
def many(profile: str) -> Iterator[tuple[Api, Counting]]:
    yield from serving(MANY, profile)


def read(companion: tuple[Api, Counting], token: str, path: str) -> int:
    """How many records a request reads of a state that was asked the same for another page before."""
    api, store = companion
    api.as_(token).call("GET", path, params={"limit": LIMIT + 1})
    before = store.records
    assert api.as_(token).call("GET", path, params={"limit": LIMIT}).status_code in (200, 403, 404)
    return store.records - before


WRITES = [
    ("PATCH", "/spaces/space-7", {"emoji": "1f600"}),
    ("PATCH", "/collections/col-7", {"description": "Other"}),
    ("POST", f"{ORG}/spaces", {"title": "One more"}),
    ("PATCH", f"{ORG}/teams/team-7", {"title": "Other"}),
    ("PUT", f"{ORG}/teams/team-7/members/user-7", None),
    ("DELETE", f"{ORG}/saml/saml-9", None),
    ("PATCH", f"{ORG}/sites/site-7", {"title": "Other"}),
    ("POST", f"{ORG}/sites/site-7/site-spaces", {"spaceId": "space-8"}),
]
RESORTED = {
    "/collections/col-7": (f"{ORG}/collections",),
    f"{ORG}/sites/site-7": (
        f"{ORG}/sites",
        f"{ORG}/members",
        f"{ORG}/members?sort=name&order=asc",
        f"{ORG}/members/user-7",
        f"{ORG}/teams/team-7/members",
    ),
}
"""For each write, the paths that read every collection or site again afterwards: lists of collections or
sites, and members, because the sites of each member are counted."""


@pytest.mark.parametrize("path", [*OBJECTS, *LISTS])
@pytest.mark.parametrize(("method", "written", "body"), WRITES)
def test_reads_after_write_do_not_grow_with_data(
    few: tuple[Api, Counting], many: tuple[Api, Counting], method: str, written: str, body: Any, path: str
) -> None:
    if path in RESORTED.get(written, ()):
        pytest.skip("reads all collections or sites again")
    counts = []
    for api, store in (few, many):
        for _ in range(2):
            api.as_("admin").call(method, written, json=body)
            before = store.records
            for token in TOKENS:
                api.as_(token).call("GET", path, params={"limit": LIMIT})
        counts.append(store.records - before)
    assert counts[1] <= counts[0] + len(TOKENS)


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("path", [*OBJECTS, *LISTS])
def test_reads_per_request_do_not_grow_with_data(
    few: tuple[Api, Counting], many: tuple[Api, Counting], token: str, path: str
) -> None:
    assert read(many, token, path) <= read(few, token, path) + 1


def test_requests_of_growth_tests_succeed(many: tuple[Api, Counting]) -> None:
    for path in OBJECTS:
        assert many[0].as_("admin").call("GET", path).status_code == 200, path
    for path in LISTS:
        assert many[0].as_("admin").call("GET", path).json()["count"] not in range(2, MANY - 1), path


def test_filtered_list_pages_end_at_last_visible_item(many: tuple[Api, Counting]) -> None:
    guest = many[0].as_("guest")
    whole = guest.get(f"{ORG}/spaces", limit=1000)
    assert whole["count"] == len(whole["items"]) == 10
    assert guest.items(f"{ORG}/spaces", limit=3) == whole["items"]
    assert guest.get(f"{ORG}/spaces", limit=0) == {"count": 10, "items": []}


FILTERED = [
    f"{ORG}/spaces",
    f"{ORG}/collections",
    f"{ORG}/sites",
    f"{ORG}/change-requests",
    f"{ORG}/members/user-1/spaces",
    "/collections/col-1/spaces",
]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("path", FILTERED)
def test_first_list_queries_do_not_grow_with_data(
    few: tuple[Api, Counting], many: tuple[Api, Counting], token: str, path: str
) -> None:
    """Access checks of a list must not query the store once for each object."""
    counts = []
    for (api, store), size in ((few, FEW), (many, MANY)):
        api.server.reset(world(size))
        before = store.queries
        assert api.as_(token).call("GET", path, params={"limit": LIMIT}).status_code in (200, 403, 404)
        counts.append(store.queries - before)
    assert counts[1] <= counts[0] + 3
