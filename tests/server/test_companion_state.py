"""State: pages of lists, the trie, the store, worlds, and what survives."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from companion_calls import START, Api
from hypothesis import given
from hypothesis import strategies as st

from dpsync.server import world
from dpsync.server.handlers.spaces import spaces
from dpsync.server.http.app import build_companion
from dpsync.server.http.routing import Routes
from dpsync.server.request.context import Context
from dpsync.server.request.paging import paginate
from dpsync.server.store import StoreError, open_store
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

# --- routing -----------------------------------------------------------------------------------------


def test_route_prefers_exact_segment_over_parameter() -> None:
    routes = Routes([("GET", "/a/{x}", "any"), ("GET", "/a/b", "exact"), ("PUT", "/a/{y}", "put")])
    assert routes.match(["a", "b"]) == {"GET": ("exact", {}), "PUT": ("put", {"y": "b"})}
    assert routes.match(["a", "c"])["GET"] == ("any", {"x": "c"})
    assert routes.match(["a", ""]) == {}
    assert routes.match(["a"]) == {}


def test_ambiguous_routes_raise_value_error() -> None:
    with pytest.raises(ValueError, match="two targets"):
        Routes([("GET", "/a/{x}", 1), ("GET", "/a/{y}", 2)])


FIRST = {"type": "space", "space": "guides"}

# --- pages -------------------------------------------------------------------------------------------


def walk(items: list[int], limit: int, *, descending: bool = False) -> list[list[int]]:
    pages: list[list[int]] = []
    cursor = None
    while True:
        found, envelope = paginate(
            items, limit=limit, cursor=cursor, key=lambda n: [n], descending=descending
        )
        assert envelope["count"] == len(items)
        pages.append(found)
        if "next" not in envelope:
            return pages
        cursor = envelope["next"]["page"]


@given(st.sets(st.integers()), st.integers(1, 7), st.booleans())
def test_full_pages_together_form_whole_list(numbers: set[int], limit: int, down: bool) -> None:
    items = sorted(numbers, reverse=down)
    pages = walk(items, limit, descending=down)
    assert [item for found in pages for item in found] == items
    assert all(len(found) == limit for found in pages[:-1])


@given(st.sets(st.integers(0, 50), min_size=4), st.sets(st.integers(0, 50)), st.integers(1, 3))
def test_cursor_continues_after_last_item_despite_changes(
    before: set[int], after: set[int], limit: int
) -> None:
    first, envelope = paginate(sorted(before), limit=limit, cursor=None, key=lambda n: [n])
    cursor = envelope["next"]["page"]
    rest, _ = paginate(sorted(after), limit=100, cursor=cursor, key=lambda n: [n])
    assert set(rest) == {number for number in after if number > first[-1]}


def test_limit_zero_returns_count_only(api: Api) -> None:
    assert api.get("/orgs/acme/spaces", limit=0) == {"count": 8, "items": []}


@pytest.mark.parametrize(
    "path",
    [
        "/orgs",
        "/orgs/acme/spaces",
        "/orgs/acme/sites",
        "/orgs/acme/members",
        "/orgs/acme/teams",
        "/orgs/acme/collections",
        "/collections/product/spaces",
        "/orgs/acme/sites/docs/sections",
        "/orgs/acme/sites/docs/section-groups",
        "/orgs/acme/sites/docs/site-spaces",
    ],
)
def test_list_pages_of_any_size_form_whole_list(api: Api, path: str) -> None:
    whole = api.get(path, limit=1000)
    assert "next" not in whole
    for limit in (1, 2, 3):
        assert api.items(path, limit=limit) == whole["items"]


@pytest.mark.parametrize(
    ("method", "path", "body", "rest"),
    [
        ("DELETE", "/spaces/guides", None, ["news", "changelog"]),
        ("DELETE", "/spaces/news", None, ["changelog"]),
        ("POST", "/spaces/changelog/move", {"position": {"before": FIRST}}, ["news"]),
        ("POST", "/orgs/acme/spaces", {"parent": "product"}, ["news", "changelog", "space-1"]),
    ],
)  # fmt: skip
def test_next_page_continues_after_changed_last_item(
    api: Api, method: str, path: str, body: Any, rest: list[str]
) -> None:
    cursor = api.get("/collections/product/spaces", limit=1)["next"]["page"]
    assert api.call(method, path, body).is_success
    assert [item["id"] for item in api.get("/collections/product/spaces", page=cursor)["items"]] == rest


# --- store -------------------------------------------------------------------------------------------


def test_invalid_database_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("not a database, but long enough to be looked at" * 100)
    with pytest.raises(StoreError, match=r"state\.db"):
        open_store(str(tmp_path / "state.db"))


def test_database_in_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open"):
        open_store(str(tmp_path / "none" / "state.db"))


def test_local_server_loses_no_concurrent_update(api: Api) -> None:
    def write(name: str) -> None:
        headers = {"Authorization": "Bearer ada-token"}
        with httpx.Client(base_url=api.server.url, headers=headers, **NO_TLS, timeout=PATIENCE) as http:
            for number in range(20):
                body = {"title": f"{name}-{number}", "parent": "product"}
                assert http.post("/v1/orgs/acme/spaces", json=body).status_code == 201

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    titles = [item["title"] for item in api.items("/collections/product/spaces")]
    assert len(titles) == len(set(titles)) == 43
    assert [title for title in titles if title.startswith("a-")] == [f"a-{number}" for number in range(20)]


def test_operation_handler_runs_without_http() -> None:
    store = open_store(":memory:")
    world.load_world(store, world.load_builtin_world())
    answer = spaces.get_space(Context(store, "ada", lambda: START, {"spaceId": "guides"}))
    assert answer["title"] == "Guides"
    store.close()


# --- worlds ------------------------------------------------------------------------------------------


def _script(api: Api) -> list[Any]:
    api.server.reset()
    return [
        api.make("/orgs/acme/spaces", {"title": "New"}),
        api.make("/orgs/acme/sites", {"title": "New", "spaces": ["news"]}),
        api.make("/orgs/acme/sites/help/sections", {"spaceId": "news"}),
        api.put("/orgs/acme/teams", {"title": "New"}, 201),
        api.get("/orgs/acme/sites/help/structure"),
    ]


def test_same_requests_give_same_responses(api: Api) -> None:
    assert json.dumps(_script(api)) == json.dumps(_script(api))


def test_exported_server_data_reloads_with_same_responses(api: Api) -> None:
    api.post("/spaces/news/move", {"position": {"before": {"type": "collection", "collection": "api"}}})
    api.delete("/spaces/changelog")
    api.patch("/orgs/acme/sites/docs/sections/docs-guides", {"siteSectionGroupId": "docs-developers"})
    paths = ["/orgs", "/orgs/acme/members", "/orgs/acme/collections", "/orgs/acme/spaces", "/orgs/acme/sites"]
    paths += ["/orgs/acme/teams", "/collections/product/spaces", "/spaces/changelog"]
    paths += [f"/orgs/acme/sites/{site}/structure" for site in ("docs", "help", "internal-handbook")]
    before = [api.get(path) for path in paths]
    api.server.reset(api.server.run_in_server(lambda: world.dump_world(api.app.store)))
    assert [api.get(path) for path in paths] == before


def test_server_data_file_may_omit_all_ids(api: Api) -> None:
    nodes = [{"type": "section-group", "title": "G", "children": [{"type": "section", "title": "Sec"}]}]
    made = {
        "users": [{"id": "u", "displayName": "U"}],
        "tokens": {"t": "u"},
        "organizations": [
            {
                "title": "Org",
                "members": [{"user": "u", "role": "admin"}],
                "teams": [{"title": "T"}],
                "collections": [{"title": "C"}],
                "spaces": [{"title": "A"}, {"title": "B"}],
                "sites": [{"title": "One", "structure": nodes}, {"title": "One"}],
            }
        ],
    }
    api.server.reset(made)
    caller = api.as_("t")
    (organization,) = caller.ids("/orgs")
    sites = caller.items(f"/orgs/{organization}/sites")
    assert [site["basename"] for site in sites] == ["one", "one-2"]
    assert caller.items(f"/orgs/{organization}/sites/{sites[0]['id']}/sections")[0]["default"] is True
    ids = caller.ids(f"/orgs/{organization}/spaces")
    assert caller.make(f"/orgs/{organization}/spaces", {"title": "C"})["id"] not in ids


@pytest.mark.parametrize(
    "sites",
    [
        [{"title": "One", "structure": [{"type": "space", "space": "none"}]}],
        [{"title": "One", "structure": [{"type": "section"}, {"type": "space", "space": "a"}]}],
        [{"id": "x", "title": "One"}, {"id": "x", "title": "Two"}],
    ],
)
def test_invalid_server_data_leaves_old_data_loaded(api: Api, sites: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"unknown|next to|two objects"):
        api.server.reset({"organizations": [{"id": "o", "spaces": [{"id": "a"}], "sites": sites}]})
    assert api.ids("/orgs") == ["acme", "globex"]


# --- the process -------------------------------------------------------------------------------------


@contextmanager
def process(db: Path, token: str = "extra") -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    code = (
        f"from dpsync.server.process.run import serve; serve('127.0.0.1', 0, {str(db)!r}, {token!r}, 'full')"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            url = running.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:")
            headers = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=url + "/v1", headers=headers, **NO_TLS, timeout=PATIENCE) as http:
                yield running, http
        finally:
            running.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_server_process_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    with process(tmp_path / "state.db") as (running, http):
        assert http.get("/user").json()["id"] == "ada"
        running.send_signal(number)
        assert running.wait(PATIENCE) == 0


def test_local_server_restart_keeps_database_contents(tmp_path: Path) -> None:
    with process(tmp_path / "state.db") as (running, http):
        assert http.patch("/spaces/guides", json={"title": "Kept"}).status_code == 200
        running.send_signal(signal.SIGTERM)
        running.wait(PATIENCE)
    with process(tmp_path / "state.db", token="other") as (_, http):
        assert http.get("/spaces/guides").json()["title"] == "Kept"


def test_server_start_with_unknown_api_version_is_refused() -> None:
    store = open_store(":memory:")
    with pytest.raises(ValueError, match="unknown API version"):
        build_companion(store, profile="none")
    store.close()
