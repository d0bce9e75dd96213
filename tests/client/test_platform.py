"""What names a platform where ids are kept, and which addresses are on this machine."""

from __future__ import annotations

import pytest

from dpsync.client.client import ReadClient
from dpsync.client.platform import is_platform_name, origin, world_name
from dpsync.client.transport import Request, Response, Stats
from dpsync.model.urls import is_loopback

HERE = [
    "http://localhost:8787", "http://127.0.0.1", "https://127.9.9.9:1", "http://[::1]:8787", "http://LOCALHOST",
    "http://docs.localhost", "http://localhost.", "http://0.0.0.0:8787", "http://[::ffff:127.0.0.1]",
]  # fmt: skip
ELSEWHERE = [
    "https://api.acme.example", "http://127.evil.example", "http://localhost.evil.example", "http://10.0.0.1",
    "http://notlocalhost", "http://[::2]", "http://[", "",
]  # fmt: skip


@pytest.mark.parametrize("url", HERE)
def test_loopback_urls_are_recognized(url: str) -> None:
    assert is_loopback(url)


@pytest.mark.parametrize("url", ELSEWHERE)
def test_non_loopback_urls_are_recognized(url: str) -> None:
    assert not is_loopback(url)


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("https://API.acme.example", "https://api.acme.example"),
        ("https://api.acme.example:443/tenant", "https://api.acme.example"),
        ("http://api.acme.example:443", "http://api.acme.example:443"),
        ("http://api.acme.example:80/", "http://api.acme.example"),
        ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443"),
    ],
)
def test_platform_origin_is_normalized(url: str, named: str) -> None:
    assert origin(url) == named
    assert is_platform_name(named)


@pytest.mark.parametrize(
    ("url", "named"),
    [("https://[::1", ""), ("https://a:port", "https://a"), ("https://a:99999", "https://a"), ("a", "://")],
)
def test_invalid_url_has_no_valid_platform_origin(url: str, named: str) -> None:
    assert origin(url) == named


@pytest.mark.parametrize(
    "text", ["", "acme", "https://", "https://a/b", "https://a b", "world-", "world-a b"]
)
def test_invalid_platform_names_are_rejected(text: str) -> None:
    assert not is_platform_name(text)


class Answering:
    """A transport whose answers name worlds, one after the other."""

    def __init__(self, *worlds: str) -> None:
        self.worlds = list(worlds)

    def send(self, _request: Request) -> Response:
        headers = {"content-type": "application/json", "dpsync-world": self.worlds.pop(0)}
        return Response(200, headers, b"{}")

    def close(self) -> None:
        """Nothing to close."""

    def stats(self) -> Stats:
        return Stats(0, {})


def test_loopback_platform_name_is_first_dataset_header() -> None:
    client = ReadClient("http://localhost:8787", "token", transport=Answering("one", "two"))
    before = client.platform
    client.get("/user")
    client.get("/user")

    assert (before, client.platform) == ("http://localhost:8787", "world-one")


def test_remote_platform_name_ignores_dataset_header() -> None:
    """Otherwise, a platform that names itself a world gets the ids of another one."""
    client = ReadClient("https://api.acme.example", "token", transport=Answering("one"))
    client.get("/user")

    assert client.platform == "https://api.acme.example"


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "https://api.acme.example", "é"])
def test_invalid_dataset_header_is_ignored(name: str) -> None:
    """Otherwise, a header puts a name into the ids file that no reading of it accepts."""
    assert world_name("http://localhost", {"dpsync-world": name}) is None
