"""Tests of RequestGuard over raw sockets, because an HTTP client would correct malformed requests."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest
from console import served

from tests.patience import PATIENCE

Serving = Callable[..., AbstractContextManager[str]]

PATHS = {
    "API": "/v1/user",
    "OpenAPI document": "/v1/openapi.json",
    "unknown path": "/favicon.ico",
    "printed page": "/pdf/x",
    "console": "/",
    "console log": "/_dpsync/page/requests.json",
    "control plane": "/_dpsync/health",
    "world": "/_dpsync/world",
}
FOREIGN_NAMES = {
    "another site": "evil.example:8787",
    "name that starts with a loopback address": "127.0.0.1.evil.example",
    "name that ends with localhost": "evillocalhost",
    "user and loopback address": "evil.example@127.0.0.1",
    "unspecified address": "0.0.0.0",
    "private address": "192.168.1.5",
    "name without a dot": "companion",
    "spaces": "127.0.0.1 evil.example",
    "empty": "",
}
LOOPBACK_NAMES = {
    "address": "127.0.0.1",
    "address and port": "127.0.0.1:1",
    "another loopback address": "127.8.7.6:8787",
    "IPv6": "[::1]:8787",
    "IPv4 in IPv6": "[::ffff:127.0.0.1]",
    "localhost": "localhost",
    "capitals": "LocalHost:8787",
    "fully qualified": "localhost.:8787",
    "below localhost": "docs.localhost:8787",
}


def table(cases: dict[str, str]) -> list[object]:
    return [pytest.param(value, id=name) for name, value in cases.items()]


def answer(url: str, target: str, *headers: str, method: str = "GET", version: str = "HTTP/1.1") -> str:
    """Send a request with exactly these headers and the well-known token, and return the response."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    lines = [f"{method} {target} {version}", "Authorization: Bearer ada-token", "Connection: close", *headers]
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return connection.makefile("rb").read().decode()


def status(url: str, target: str, *headers: str, **options: str) -> int:
    return int(answer(url, target, *headers, **options).split()[1])


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as running:
        yield running.url


@pytest.fixture
def serving(programs: Path) -> Serving:
    return partial(run_serve, programs)


@contextmanager
def run_serve(programs: Path, *options: str) -> Iterator[str]:
    """Run `dpsync serve` with these options and yield the URL."""
    command = [str(programs / "dpsync"), "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            yield running.stdout.readline().strip()
        finally:
            running.terminate()
            assert running.wait(PATIENCE) == 0


# --- on loopback --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", table(PATHS))
@pytest.mark.parametrize("name", table(FOREIGN_NAMES))
def test_loopback_server_refuses_foreign_host_names(url: str, name: str, path: str) -> None:
    """With DNS rebinding, a web page could otherwise read everything with the well-known token."""
    assert status(url, path, f"Host: {name}") == 421


@pytest.mark.parametrize("name", table(LOOPBACK_NAMES))
def test_loopback_server_accepts_loopback_host_names(url: str, name: str) -> None:
    assert status(url, "/v1/user", f"Host: {name}") == 200
    assert status(url, "/_dpsync/health", f"Host: {name}") == 200


@pytest.mark.parametrize("path", table(PATHS))
@pytest.mark.parametrize(
    "header",
    [
        pytest.param("Origin: https://evil.example", id="origin of another site"),
        pytest.param("Origin: null", id="opaque origin"),
        pytest.param("Origin: http://127.0.0.1:1", id="origin of another port"),
        pytest.param("Sec-Fetch-Site: cross-site", id="cross-site"),
        pytest.param("Sec-Fetch-Site: same-site", id="same-site"),
    ],
)
def test_loopback_server_refuses_cross_site_requests(url: str, header: str, path: str) -> None:
    assert status(url, path, "Host: 127.0.0.1", header) == 403


def test_same_origin_page_may_call_api(url: str) -> None:
    own = ("Host: 127.0.0.1:8787", "Origin: http://127.0.0.1:8787", "Sec-Fetch-Site: same-origin")
    assert status(url, "/v1/user", *own) == 200


@pytest.mark.parametrize("path", table(PATHS))
@pytest.mark.parametrize(
    "headers",
    [
        pytest.param((), id="no Host"),
        pytest.param(("Host: 127.0.0.1", "Host: evil.example"), id="loopback first"),
        pytest.param(("Host: evil.example", "Host: 127.0.0.1"), id="loopback last"),
        pytest.param(("Host: 127.0.0.1", "Host: 127.0.0.1"), id="twice the same"),
    ],
)
@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
def test_exactly_one_host_header_is_required(
    url: str, version: str, headers: tuple[str, ...], path: str
) -> None:
    assert status(url, path, *headers, version=version) == 421


@pytest.mark.parametrize(
    ("target", "host", "expected"),
    [
        pytest.param("http://127.0.0.1:8787/v1/user", "127.0.0.1:8787", 200, id="both loopback"),
        pytest.param("http://evil.example/v1/user", "127.0.0.1:8787", 421, id="target of another site"),
        pytest.param("http://127.0.0.1/v1/user", "evil.example", 421, id="Host of another site"),
        pytest.param("http://evil.example?/v1/user", "127.0.0.1", 400, id="query in place of a path"),
        pytest.param("http://evil.example@127.0.0.1/v1/user", "127.0.0.1", 421, id="user in the target"),
        pytest.param("/v1/user?next=http://evil.example/", "127.0.0.1", 200, id="URL in the query"),
        pytest.param("/v1/http://evil.example/", "127.0.0.1", 404, id="URL in the path"),
    ],
)
def test_absolute_target_needs_accepted_host(url: str, target: str, host: str, expected: int) -> None:
    """The host in an absolute target overrides `Host` (RFC 9112, 3.2.2)."""
    assert status(url, target, f"Host: {host}") == expected


@pytest.mark.parametrize("path", table(PATHS))
def test_websocket_handshake_needs_loopback_host_name(url: str, path: str) -> None:
    upgrade = (
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: x",
    )
    assert status(url, path, "Host: evil.example", *upgrade) == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_every_http_method_needs_loopback_host_name(url: str, method: str) -> None:
    assert status(url, "/v1/orgs/acme", "Host: evil.example", method=method) == 421


# --- options of `dpsync serve` -----------------------------------------------------------------------


def test_refused_host_name_error_mentions_allow_host(serving: Serving) -> None:
    with serving() as url:
        refusal = answer(url, "/v1/user", "Host: docs.acme.example")
    assert refusal.startswith("HTTP/1.1 421 ")
    assert "Accepted host names: localhost" in refusal
    assert "refuses the host name 'docs.acme.example'" in refusal
    assert "dpsync serve with --allow-host NAME" in refusal


def test_allowed_host_reaches_only_the_api(serving: Serving) -> None:
    """A reverse proxy needs its own host name. The control plane still accepts only loopback names."""
    with serving("--allow-host", "Docs.Acme.example") as url:
        assert status(url, "/v1/user", "Host: docs.acme.example") == 200
        assert status(url, "/v1/user", "Host: docs.acme.example", "Origin: https://docs.acme.example") == 200
        assert status(url, "/_dpsync/health", "Host: docs.acme.example") == 404
        assert status(url, "/", "Host: docs.acme.example") == 404
        assert status(url, "/v1/user", "Host: www.docs.acme.example") == 421
        assert status(url, "/v1/user", "Host: docs.acme.example", "Origin: https://evil.example") == 403
        assert status(url, "/v1/user", "Host: 127.0.0.1") == 200


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("companion:8787", 200, id="service name of compose"),
        pytest.param("172.17.0.2:8787", 200, id="address"),
        pytest.param("[fd00::2]:8787", 200, id="IPv6 address"),
        pytest.param("localhost:8787", 200, id="published port"),
        pytest.param("docs.acme.example", 200, id="allowed name"),
        pytest.param("evil.example:8787", 421, id="another site"),
        pytest.param("", 421, id="empty"),
    ],
)
def test_server_on_all_addresses_accepts_local_host_names(everywhere: str, name: str, expected: int) -> None:
    """A container listens on all addresses, and DNS rebinding can reach its published port."""
    assert status(everywhere, "/v1/user", f"Host: {name}") == expected


@pytest.fixture(scope="module")
def everywhere(programs: Path) -> Iterator[str]:
    with run_serve(programs, "--host", "0.0.0.0", "--allow-host", "docs.acme.example") as url:
        yield url


@pytest.mark.parametrize("name", ["", "*", "*.example", "docs.example:8787", "http://docs", "fd00::2"])
def test_unusable_allow_host_is_refused(programs: Path, name: str) -> None:
    command = [str(programs / "dpsync"), "serve", "--port", "0", "--allow-host", name]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f"--allow-host {name!r}" in ended.stderr
