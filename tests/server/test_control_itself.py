"""The local server never contacts itself, nor the control plane of another local server."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any, TypeVar

import httpx
import pytest
from loopback import Quiet, listening
from msgspec.structs import replace

from dpsync.server.control.clock import MovableClock
from dpsync.server.control.gateway import Gateway
from dpsync.server.control.plane import ControlPlane
from dpsync.server.http.app import build_companion
from dpsync.server.jobs.outside_services import FetchError, OutsideServices, is_listening_address
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from dpsync.server.world import PreparedWorld, load_builtin_world
from tests.by_hand import by_hand
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

T = TypeVar("T")
SPELLINGS = (
    "127.0.0.1", "localhost", "LocalHost", "localhost.", "localhost.localdomain", "127.1", "127.0.0.2",
    "127.0.0.1.", "0.0.0.0", "0", "2130706433", "0x7f000001", "017700000001", "0177.0.0.1", "[::1]", "[::]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "user:password@127.0.0.1",
    "%31%32%37.0.0.1", "１２７.0.0.1",
)  # fmt: skip
PATHS = ("/_dpsync/reset", "/%5Fdpsync/reset", "/./_dpsync/reset", "/v1/../_dpsync/reset")


def host_of(spelling: str) -> str:
    """Return the host that an operator means by this spelling, or "" if it makes no URL."""
    try:
        return httpx.URL(f"http://{spelling}/").host
    except httpx.InvalidURL:
        return ""


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedServer]:
    """With a control plane, and one team that the starting world has not."""
    store = open_store(":memory:")
    clock = MovableClock(store)
    app = build_companion(store, clock=clock)
    start = PreparedWorld(load_builtin_world(), app.record_kinds)
    with ThreadedServer(app, ControlPlane(Gateway(app), clock, start.load)) as server:
        server.reset()
        by_hand(server, "PUT", "/orgs/acme/teams", {"title": "New"})
        yield server
    store.close()


def is_there(server: ThreadedServer) -> bool:
    teams = by_hand(server, "GET", "/orgs/acme/teams?limit=1000")["items"]
    return "New" in [team["title"] for team in teams]


def run(work: Coroutine[Any, Any, T]) -> T:
    """In a thread of its own: a browser that another test has opened keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def outcome(sources: OutsideServices, url: str) -> str:
    """Return the status that answers a post, or the reason why there is none."""
    try:
        return str(run(sources.post(url, b"{}")))
    except FetchError as error:
        return error.message


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_local_server_never_fetches_from_itself(server: ThreadedServer, spelling: str) -> None:
    """Not even where the operator has named that host."""
    named = OutsideServices([host_of(spelling)], own_addresses=server.app.outside_services.own_addresses)
    port = server.url.rpartition(":")[2]
    for sources in (named, server.app.outside_services):
        for path in PATHS:
            assert not outcome(sources, f"http://{spelling}:{port}{path}").isdigit()
    assert is_there(server)


def test_event_trace_names_local_server_as_blocked_tunnel(server: ThreadedServer) -> None:
    tools = "/integrations/acme-tools"
    by_hand(server, "PUT", f"{tools}/dev", {"tunnelUrl": f"{server.url}/_dpsync/reset"})
    by_hand(server, "PATCH", f"{tools}/installations/acme-tools-in-acme", {"configuration": {"server": "x"}})
    server.wait_for_jobs()
    last = by_hand(server, "GET", f"{tools}/events?limit=1000")["items"][-1]
    logs = by_hand(server, "GET", f"{tools}/events/{last['id']}")["trace"]["logs"]
    assert (last["status"], is_there(server)) == ("failed", True)
    assert logs[-1]["message"].endswith("is the local server, which never contacts itself")


def test_local_server_follows_no_redirect_to_itself(server: ThreadedServer) -> None:
    class Back(Quiet):
        def do_GET(self) -> None:
            self.answer(302, b"", {"Location": f"{server.url}/_dpsync/world"})

    with listening(Back) as url, pytest.raises(FetchError, match="never contacts itself"):
        run(server.app.outside_services.fetch(url))


def test_local_server_identifies_itself_to_other_local_servers(server: ThreadedServer) -> None:
    class Told(Quiet):
        def do_GET(self) -> None:
            self.answer(200, repr("dpsync-companion" in self.headers).encode(), {})

    with listening(Told) as url:
        assert run(server.app.outside_services.fetch(url)) == "True"


def test_control_plane_refuses_requests_of_other_local_servers(server: ThreadedServer) -> None:
    other = replace(server.app.outside_services, own_addresses=())
    assert outcome(other, f"{server.url}/_dpsync/reset") == "404"
    with pytest.raises(FetchError, match="returned the status 404"):
        run(other.fetch(f"{server.url}/_dpsync/world"))
    assert is_there(server)


@pytest.mark.parametrize(
    "name", ["Dpsync-Companion", "X-Forwarded-Host", "X-Forwarded-For", "Via", "X-Real-IP"]
)
def test_control_plane_refuses_forwarded_requests(server: ThreadedServer, name: str) -> None:
    answer = httpx.post(f"{server.url}/_dpsync/reset", headers={name: "localhost"}, **NO_TLS)
    assert (answer.status_code, is_there(server)) == (404, True)


@pytest.mark.parametrize("hosts", [("rebound.example", "localhost"), ("localhost", "rebound.example")])
def test_request_with_duplicate_host_is_refused(server: ThreadedServer, hosts: tuple[str, str]) -> None:
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=PATIENCE)
    connection.putrequest("POST", "/_dpsync/reset", skip_host=True)
    for host in hosts:
        connection.putheader("Host", host)
    connection.endheaders()
    assert (connection.getresponse().status, is_there(server)) == (421, True)
    connection.close()


@pytest.mark.parametrize(
    ("on", "peer", "local", "same"),
    [
        ("127.0.0.1", "127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "::ffff:127.0.0.1", "::ffff:127.0.0.1", True),
        ("127.0.0.1", "127.0.0.2", "127.0.0.1", False),
        ("::1", "::1", "::1", True),
        ("0.0.0.0", "127.0.0.2", "127.0.0.1", True),
        ("0.0.0.0", "192.168.1.5", "192.168.1.5", True),
        ("0.0.0.0", "192.168.1.6", "192.168.1.5", False),
        ("::", "127.0.0.1", "127.0.0.1", True),
        ("::", "::ffff:192.168.1.5", "192.168.1.5", True),
        ("192.168.1.5", "192.168.1.5", "192.168.1.5", True),
        ("192.168.1.5", "127.0.0.1", "127.0.0.1", False),
    ],
)  # fmt: skip
def test_connection_matches_socket_by_address_and_port(on: str, peer: str, local: str, same: bool) -> None:
    assert is_listening_address((on, 8787), (peer, 8787), local) == same
    assert not is_listening_address((on, 8787), (peer, 8788), local)
