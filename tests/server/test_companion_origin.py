"""A world that was read from a platform says so, and one that a stranger has sent does no harm."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from dpsync.server import world as worlds
from dpsync.server.control.request_guard import RequestGuard
from dpsync.server.control.world_export import export_state
from dpsync.server.jobs.outside_services import FetchError, OutsideServices
from dpsync.server.store import Store, open_store
from dpsync.testing import DocsPlatform
from tests.no_tls import NO_TLS

READ: dict[str, Any] = {
    "platform": "https://api.acme.example", "readAt": "2026-01-31T09:30:00Z", "profile": "full",
    "anonymous": False, "caller": "zoe", "notRead": ["/orgs/zoo/saml"],
}  # fmt: skip
WORLD = {
    "format": "dpsync.world/1",
    "origin": READ,
    "users": [{"id": "zoe", "displayName": "Zoe"}],
    "organizations": [{"id": "zoo", "title": "Zoo", "members": [{"user": "zoe", "role": "admin"}]}],
}


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store(":memory:")
    yield opened
    opened.close()


def test_responses_show_platform_imported_data_came_from(docs_platform: DocsPlatform) -> None:
    docs_platform.world = WORLD
    headers = {"Authorization": f"Bearer {docs_platform.token}"}
    answer = httpx.get(f"{docs_platform.url}/v1/orgs/zoo", headers=headers, **NO_TLS)
    assert answer.headers["dpsync-world-origin"] == "https://api.acme.example at 2026-01-31T09:30:00Z"


def test_health_endpoint_shows_platform_of_imported_data(docs_platform: DocsPlatform) -> None:
    health = lambda: httpx.get(f"{docs_platform.url}/_dpsync/health", **NO_TLS).json()  # noqa: E731
    assert health()["origin"] is None
    docs_platform.world = WORLD
    assert health()["origin"] == READ


def test_server_data_without_tokens_accepts_administrator_token(docs_platform: DocsPlatform) -> None:
    docs_platform.world = WORLD
    headers = {"Authorization": f"Bearer {docs_platform.token}"}
    assert httpx.get(f"{docs_platform.url}/v1/user", headers=headers, **NO_TLS).json()["id"] == "zoe"


def test_exported_server_data_keeps_its_platform_origin(store: Store) -> None:
    worlds.load_world(store, WORLD)
    assert export_state(store)["origin"] == READ


@pytest.mark.parametrize(
    "wrong",
    [
        {"platform": "https://acme.example\r\nSet-Cookie: a=b"},
        {"platform": "\x1b[2Jhttps://acme.example"},
        {"platform": "javascript:alert(1)"},
        {"readAt": "yesterday"},
        {"notRead": ["/a\nb"]},
        {"profile": "other"},
    ],
)
def test_server_data_with_invalid_origin_is_refused(store: Store, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"origin.{next(iter(wrong))}"):
        worlds.load_world(store, {**WORLD, "origin": {**READ, **wrong}})
    record = {"kind": "origin", "id": "origin", "doc": {**READ, **wrong}}
    with pytest.raises(ValueError, match=f"origin.{next(iter(wrong))}"):
        worlds.load_world(store, {**WORLD, "records": [record]})


def test_server_data_file_of_unknown_format_is_refused(store: Store) -> None:
    with pytest.raises(
        ValueError, match=r"'dpsync.world/2', but this version of dpsync reads dpsync.world/1"
    ):
        worlds.load_world(store, {**WORLD, "format": "dpsync.world/2"})


def test_yaml_alias_bomb_in_server_data_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (tmp_path / "world.yaml").write_text("\n".join(lines))
    with pytest.raises(ValueError, match="contain more than"):
        worlds.read_world(tmp_path / "world.yaml")


def test_directory_is_refused_as_server_data_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a regular file"):
        worlds.read_world(tmp_path)


def apart(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in another thread, because a browser of other tests may have a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/openapi.json", "http://localhost:9/", "http://[::1]:9/"])
def test_server_refuses_fetching_from_loopback_unless_allowed(url: str) -> None:
    with pytest.raises(FetchError, match="start dpsync serve with --allow-fetch"):
        apart(OutsideServices(allow_loopback=False).fetch(url))


# --- who may ask --------------------------------------------------------------------------------------


async def _inner(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def status(headers: dict[str, str], peer: str = "127.0.0.1") -> int:
    """Return the status of a request to a world that only this machine may read."""
    sent: list[Any] = []

    async def ask() -> None:
        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        async def send(message: Any) -> None:
            sent.append(message)

        pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http", "method": "GET", "path": "/v1/orgs", "raw_path": b"/v1/orgs", "scheme": "http",
            "query_string": b"", "headers": pairs, "client": (peer, 5), "server": ("127.0.0.1", 80),
        }  # fmt: skip
        await RequestGuard(_inner, "127.0.0.1", local_only=True)(scope, receive, send)

    apart(ask())
    return int(sent[0]["status"])


@pytest.mark.parametrize("host", ["127.0.0.1:8787", "localhost:8787", "[::1]:8787"])
def test_control_plane_accepts_local_request(host: str) -> None:
    assert status({"Host": host}) == 204


def test_control_plane_accepts_same_origin_request() -> None:
    own = {"Host": "127.0.0.1:8787", "Origin": "http://127.0.0.1:8787", "Sec-Fetch-Site": "same-origin"}
    assert status(own) == 204


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example:8787"},  # a name that was made to lead here
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "127.0.0.1:8787", "Origin": "https://evil.example"},
        {"Host": "127.0.0.1:8787", "Origin": "null"},
        {"Host": "127.0.0.1:8787", "Origin": "http://127.0.0.1:3000"},
        {"Host": "127.0.0.1:8787", "Sec-Fetch-Site": "cross-site"},
        {"Host": "127.0.0.1:8787", "X-Forwarded-For": "203.0.113.5"},
        {},
    ],
)
def test_control_plane_refuses_cross_site_request(headers: dict[str, str]) -> None:
    assert status(headers) == 403


def test_control_plane_refuses_remote_request() -> None:
    assert status({"Host": "127.0.0.1:8787"}, peer="203.0.113.5") == 403
