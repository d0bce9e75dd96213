"""What an import costs: each list once per page, each tree and single once, never a request per item."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dpsync.api import import_
from dpsync.importing.caching import RememberingClient
from dpsync.kinds.registry import load
from dpsync.server.http.app import build
from dpsync.server.process.thread import ThreadedServer
from dpsync.server.store import open_store
from tests.patience import PATIENCE
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


def test_a_large_organization_takes_one_request_per_list_and_page_and_one_per_tree() -> None:
    with ThreadedServer(build(open_store(":memory:"))) as server:
        server.reset(world())
        server.call(server.app.requests.clear)
        with RememberingClient(server.url, "ada-token", timeout=PATIENCE) as client:
            made = import_(client, load(), parallelism=8)
        seen = Counter(
            path.partition("?")[0] for method, path, *_ in server.call(lambda: list(server.app.requests))
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
