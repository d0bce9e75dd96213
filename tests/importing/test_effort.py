"""What an import costs: each list once per page, each tree and single once, never a request per item.

And twice as much takes twice as long: tests/planner/test_growth.py says how that is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.memory import Memory
from benchmarks.shapes import ACME
from dpsync.api import import_
from dpsync.client.transport import Request, Response
from dpsync.importing.files import CachingClient
from dpsync.kinds.kind import SingleEntry
from dpsync.kinds.registry import build_registry
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.patience import PATIENCE
from tests.planner.test_growth import steep
from tests.soak import examples

SITES, SPACES = examples(20, soak=500), examples(80, soak=2_000)
PEOPLE, PAGE = 1_001, 1_000


def world() -> dict[str, Any]:
    return {
        "users": [
            {"id": "ada", "displayName": "Ada", "email": "ada@acme.example"},
            *({"id": f"u{n}", "displayName": f"U{n}"} for n in range(1, PEOPLE)),
        ],
        "tokens": {"ada-token": "ada"},
        "organizations": [{
            "id": "acme", "title": "Acme", "hostname": "acme",
            "members": [
                {"user": "ada", "role": "admin"},
                *({"user": f"u{n}", "role": "read"} for n in range(1, PEOPLE)),
            ],
            "spaces": [{"id": f"space{n}", "title": f"Space {n}"} for n in range(SPACES)],
            "sites": [
                {
                    "id": f"site{n}", "title": f"Site {n}", "basename": f"site-{n}",
                    "structure": [
                        {"type": "space", "id": f"at{n}-{m}", "space": f"space{4 * n + m}", "path": f"p{m}"}
                        for m in range(4)
                    ],
                }
                for n in range(SITES)
            ],
        }],
    }  # fmt: skip


def test_large_import_reads_each_list_page_once() -> None:
    with ThreadedServer(build_companion(open_store(":memory:"))) as server:
        server.reset(world())
        server.run_in_server(server.app.requests.clear)
        with CachingClient(server.url, "ada-token", timeout=PATIENCE) as client:
            made = import_(client, build_registry(), parallelism=8)
        seen = Counter(
            path.partition("?")[0]
            for method, path, *_ in server.run_in_server(lambda: list(server.app.requests))
        )
    assert made.proven, made.problems
    pages = {"spaces": -(-SPACES // PAGE), "sites": 1, "members": 2}
    assert {name: seen[f"/v1/orgs/acme/{name}"] for name in pages} == pages
    assert sum(path.endswith("/structure") for path in seen) == SITES
    more = {f"/v1/orgs/acme/{name}" for name, times in pages.items() if times > 1}
    assert {path for path, times in seen.items() if times > 1} == more
    words = {path.rsplit("/", 1)[1] for path in seen if not path.startswith("/v1/orgs/acme/sites/")}
    assert not any(
        word.startswith(("space", "at")) and word[-1].isdigit() for word in words
    )  # no item by its id


REGISTRY = build_registry()
SINGLES = {
    kind.url_path.rpartition("/")[2]
    for kind in REGISTRY.in_dependency_order
    if isinstance(kind.shape, SingleEntry)
}


class Bare(Memory):
    """A platform in memory on which there is no single of anything."""

    def send(self, request: Request) -> Response:
        if request.path.rpartition("/")[2] in SINGLES:
            return Response(404, {"content-type": "application/json"}, b'{"error": {"code": 404}}')
        return super().send(request)


def importing(size: int) -> Callable[[], object]:
    """Return an import of an organization whose lists, and the lists inside them, grow with `size`."""
    user = {"object": "user", "id": "u", "displayName": "U", "email": "u@acme.example"}
    member = {"object": "member", "id": "u", "role": "admin", "user": user, "disabled": False, "sso": False}
    shown: dict[str, Any] = {"object": "space", "defaultLevel": "read", "editMode": "live"}
    shown["mergeRules"] = {"type": "inherit"}
    site = {"object": "site", "type": "basic", "visibility": "public", "published": False}
    numbers = range(size)
    spaces = [{**shown, "id": f"p{n}", "title": f"P {n}", "parent": f"c{n // 2}"} for n in range(2 * size)]
    at = "/orgs/acme"
    lists: dict[str, list[dict[str, Any]]] = {
        "/orgs": [ACME],
        f"{at}/members": [member],
        f"{at}/teams": [{"object": "team", "id": f"t{n}", "title": f"T {n}"} for n in numbers],
        f"{at}/collections": [{"object": "collection", "id": f"c{n}", "title": f"C {n}"} for n in numbers],
        f"{at}/spaces": spaces,
        f"{at}/sites": [{**site, "id": f"w{n}", "title": f"W {n}", "basename": f"w{n}"} for n in numbers],
        **{f"/collections/c{n}/spaces": spaces[2 * n : 2 * n + 2] for n in numbers},
    }
    navigation = [
        {
            "object": "site-section", "id": f"s{n}", "title": f"S {n}", "path": f"s{n}", "default": n == 0,
            "siteSpaces": [{"object": "site-space", "id": f"e{n}", "path": "en", "space": spaces[n]}],
        }
        for n in numbers
    ]  # fmt: skip
    structures = {f"{at}/sites/w{n}/structure": {"type": "sections", "structure": []} for n in numbers}
    structures[f"{at}/sites/w0/structure"] = {"type": "sections", "structure": navigation}
    platform = Bare({at: ACME, "/user": user, **structures}, lists)

    def once() -> object:
        with CachingClient("http://platform.example", "token", transport=platform) as client:
            made = import_(client, REGISTRY, parallelism=1)
        assert made.proven, made.problems
        return made

    return once


def test_import_effort_grows_linearly() -> None:
    assert steep(importing) == {}
