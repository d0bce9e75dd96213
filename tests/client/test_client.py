"""What goes over the wire, who can write, what is refused unsent, and where the token never is."""

from __future__ import annotations

import json
import traceback
import weakref
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpsync
from dpsync.client import responses
from dpsync.client.client import ReadClient, WriteClient, WriteResult, quote
from dpsync.client.errors import (
    ClientError,
    InvalidClientValueError,
    NotFoundError,
    NotSentError,
    WriteRefusedError,
)
from dpsync.client.transport import GetOnlyTransport, HttpTransport, Request, Response, Stats, Token
from dpsync.collector import collector_paused

from . import faulty
from .conftest import FakeClock
from .faulty import Act, FaultyServer, reply

TOKEN = "s3cret-t0ken/+="


class Recorder:
    """A transport that answers everything with an empty object."""

    def __init__(self) -> None:
        self.sent: list[Request] = []
        self.is_closed = False

    def send(self, request: Request) -> Response:
        self.sent.append(request)
        return Response(200, {"content-type": "application/json"}, b"{}")

    def close(self) -> None:
        self.is_closed = True

    def stats(self) -> Stats:
        return Stats(len(self.sent), {})


def test_read_client_has_no_write_methods() -> None:
    public = {name for name in dir(ReadClient) if not name.startswith("_")}

    assert public == {
        "begin",
        "cancel",
        "close",
        "get",
        "pages",
        "pause",
        "platform",
        "requests",
        "stats",
        "text",
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "get", "GET "])
def test_read_only_transport_refuses_non_get_methods(method: str) -> None:
    """Otherwise, a plan can write."""
    inner = Recorder()
    with pytest.raises(WriteRefusedError):
        GetOnlyTransport(inner).send(Request(method, "/orgs/acme"))

    assert inner.sent == []


def test_read_only_transport_refuses_get_with_body() -> None:
    """Otherwise, a plan can send content."""
    inner = Recorder()
    with pytest.raises(WriteRefusedError):
        GetOnlyTransport(inner).send(Request("GET", "/orgs/acme", body=b"{}"))

    assert inner.sent == []


def test_read_client_uses_read_only_transport() -> None:
    inner = Recorder()
    client = ReadClient("http://x", TOKEN, transport=inner)

    assert inner not in vars(client).values()
    with pytest.raises(WriteRefusedError):
        client._transport.send(Request("DELETE", "/orgs/acme"))
    client.close()
    assert inner.is_closed


def test_write_client_reads_through_read_only_transport() -> None:
    client = WriteClient("http://x", TOKEN, transport=Recorder())
    with pytest.raises(WriteRefusedError):
        client._transport.send(Request("DELETE", "/orgs/acme"))


def test_write_client_send_rejects_get() -> None:
    """Otherwise, a reading goes out as a write, and is not sent again after a fault."""
    with (
        WriteClient("http://x", TOKEN, transport=Recorder()) as client,
        pytest.raises(ValueError, match="GET"),
    ):
        client.send("GET", "/orgs/acme", repeatable=True)


def test_client_sends_correct_url_headers_and_body() -> None:
    with (
        FaultyServer(reply(200, {"a": "é"}), reply(201, {"id": "t"}), reply(204)) as server,
        WriteClient(f"{server.url}/base/", TOKEN) as client,
    ):
        assert client.get("/orgs/acme", {"limit": 5, "deep": False, "ids": ["a", "b"], "no": None}) == {
            "a": "é"
        }
        created = client.send("POST", f"/orgs/{quote('a/b?c#d é')}/sites", {"title": "é"}, repeatable=False)
        deleted = client.send("DELETE", "/orgs/acme/teams/t", repeatable=True)

    get, post, delete = server.requests
    assert get.target == "/base/v1/orgs/acme?limit=5&deep=false&ids=a&ids=b"
    assert get.headers["authorization"] == f"Bearer {TOKEN}"
    assert get.headers["accept"] == "application/json"
    assert get.headers["user-agent"] == f"dpsync/{dpsync.__version__}"
    assert "content-type" not in get.headers
    assert post.target == "/base/v1/orgs/a%2Fb%3Fc%23d%20%C3%A9/sites"
    assert (post.headers["content-type"], post.body) == ("application/json", '{"title":"é"}'.encode())
    assert (delete.body, delete.headers.get("content-type")) == (b"", None)
    assert (created, deleted) == (WriteResult(201, {"id": "t"}), WriteResult(204, None))


@pytest.mark.parametrize(
    ("method", "act", "answer"),
    [
        ("PUT", reply(200, {"id": "x"}), WriteResult(200, {"id": "x"})),
        ("PUT", reply(201, {"id": "x"}), WriteResult(201, {"id": "x"})),
        ("PUT", reply(202), WriteResult(202, None)),
        ("PUT", reply(202, {"id": "x"}), WriteResult(202, {"id": "x"})),
        ("PUT", reply(203, {"id": "x"}), WriteResult(203, {"id": "x"})),
        ("PUT", reply(204), WriteResult(204, None)),
        ("PUT", reply(205), WriteResult(205, None)),
        ("PUT", reply(200), WriteResult(200, None)),
        ("DELETE", reply(200, b"deleted", content_type="text/plain"), WriteResult(200, None)),
        ("DELETE", reply(202, {"pending": True}), WriteResult(202, None)),
        (
            "PUT",
            reply(200, {"id": "x"}, content_type="application/vnd.api+json; v=1"),
            WriteResult(200, {"id": "x"}),
        ),
    ],
)
def test_client_accepts_every_success_status(method: str, act: Act, answer: WriteResult) -> None:
    """Otherwise, a delete that was done and answered with words is told as unknown."""
    with FaultyServer(act) as server, WriteClient(server.url, TOKEN) as client:
        assert client.send(method, "/orgs/acme/x", repeatable=False) == answer


def test_client_reads_gzip_and_large_responses() -> None:
    large = {"items": ["x" * 1000] * 3000}
    packed = zlib.compress(json.dumps(large).encode(), wbits=31)
    with (
        FaultyServer(reply(200, packed, content_encoding="gzip"), reply(200, large)) as server,
        ReadClient(server.url, TOKEN) as client,
    ):
        assert client.get("/a") == large == client.get("/b")


def test_client_reuses_connection_and_counts_requests() -> None:
    seen: list[tuple[str, str, int | None]] = []
    with (
        FaultyServer(reply(200, {}), reply(201, {}), reply(200, {})) as server,
        WriteClient(server.url, TOKEN, trace=lambda m, p, s, _: seen.append((m, p, s))) as client,
    ):
        client.get("/a", {"q": "1"})
        client.send("POST", "/b", {}, repeatable=False)
        client.get("/c")

        assert (client.requests, client.stats().by_method) == (3, {"GET": 2, "POST": 1})
        assert len(server._connections) == 1
    assert seen == [("GET", "/a", 200), ("POST", "/b", 201), ("GET", "/c", 200)]


def test_trace_reports_failed_tries_and_may_raise(clock: FakeClock) -> None:
    """Otherwise, a terminal that is gone makes a failure of a write that was done."""
    statuses: list[int | None] = []

    def trace(_method: str, _path: str, status: int | None, seconds: float) -> None:
        assert seconds >= 0
        statuses.append(status)
        raise BrokenPipeError

    with (
        FaultyServer(faulty.reset, reply(200, {})) as server,
        ReadClient(server.url, TOKEN, clock=clock, trace=trace) as client,
    ):
        assert client.get("/a") == {}
    assert statuses == [None, 200]


def test_client_uses_environment_proxy_under_deadline(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultyServer(reply(200, {"via": "proxy"}), faulty.drip_head) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        with WriteClient("http://docs.example", TOKEN, clock=clock) as client:
            assert client.get("/a") == {"via": "proxy"}
        with (
            WriteClient("http://docs.example", TOKEN, timeout=0.3, clock=clock) as client,
            pytest.raises(ClientError),
        ):
            client.send("POST", "/b", repeatable=False)
        assert proxy.requests[0].target == "http://docs.example/v1/a"


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("HTTPS_PROXY", "gopher://u:s3cret@proxy:1", "proxy"),
        ("SSL_CERT_FILE", "/nonexistent/ca.pem", "certificates"),
        ("SSL_CERT_DIR", "/nonexistent", "certificates"),
    ],
)
def test_unusable_proxy_or_certificates_are_reported(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, part: str
) -> None:
    """Otherwise, a missing certificate directory makes every server untrusted, without an explanation."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidClientValueError) as caught:
        ReadClient("https://docs.example", TOKEN)

    assert caught.value.part == part
    assert name in caught.value.problem
    assert ("/nonexistent" in caught.value.problem) == (part == "certificates")
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "docs.example",
        "ftp://docs.example",
        "http://",
        "https://u:s3cret@h",
        "https://h?s3cret",
        "http://[s3cret",
        "https://xn--ls8h.s3cret",
    ],
)
def test_invalid_platform_url_is_hidden_in_error(url: str) -> None:
    """Otherwise, a token goes to an address that only looks like a host."""
    with pytest.raises(InvalidClientValueError) as caught:
        ReadClient(url, TOKEN)

    assert caught.value.part == "url"
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


def test_oversized_request_url_is_not_sent(clock: FakeClock) -> None:
    """Otherwise, a very long id from the platform makes a request that fails as a lost answer."""
    with FaultyServer() as server, ReadClient(server.url, TOKEN, clock=clock) as client:
        with pytest.raises(NotSentError, match="too long") as caught:
            client.get(f"/orgs/{'a' * 70_000}")
        assert len(str(caught.value)) < 500
        assert server.requests == []


@pytest.mark.parametrize("token", ["", "s3cret\n", "s3cret x", "s3cret\r\nX-Evil: 1", "s3crét"])
def test_invalid_token_is_hidden_in_error(token: str) -> None:
    """Otherwise, a line break in a token makes another header of it."""
    with pytest.raises(InvalidClientValueError) as caught:
        ReadClient("http://127.0.0.1", token)

    assert caught.value.part == "token"
    assert "s3cr" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "path", ["", "orgs", "/", "/orgs//teams", "/orgs/", "/a/../b", "/a/.", "/a?b", "/a#b", "/é", "/a b"]
)
def test_ambiguous_request_path_is_refused(path: str) -> None:
    """Otherwise, an id of two dots addresses another path, whose object is then changed or deleted.

    Otherwise, a path that is no part of the API goes out.
    """
    with pytest.raises(InvalidClientValueError):
        responses.request("DELETE", path)


@pytest.mark.parametrize("segment", ["", ".", "..", "\ud800"])
def test_ambiguous_path_segment_is_refused(segment: str) -> None:
    """Otherwise, an id of two dots names another path, and what is there is written to or deleted."""
    with pytest.raises(InvalidClientValueError):
        quote(segment)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda s: s not in (".", "..")))
def test_quoted_id_stays_a_single_path_segment(segment: str) -> None:
    path = responses.request("GET", f"/orgs/{quote(segment)}/teams").path

    assert path.count("/") == 3
    assert path.isascii()


@pytest.mark.parametrize("body", [float("nan"), {"a": [float("inf")]}, {"a": "\ud800"}, {"a": object()}])
def test_body_invalid_in_json_is_refused(body: object) -> None:
    """Otherwise, what is no JSON is sent as a body."""
    with pytest.raises(InvalidClientValueError):
        responses.encode_body(body)


FAILURES = [
    faulty.reset,
    faulty.cut_length,
    faulty.HTML,
    *(
        reply(s, {"error": {"message": f"bad Bearer {TOKEN} given"}})
        for s in (400, 401, 403, 404, 429, 500, 501)
    ),
    reply(302, None, location=f"https://{TOKEN[:12]}.example/?t={TOKEN}"),
    reply(200, TOKEN.encode(), content_type=f"text/plain; {TOKEN}"),
]


@pytest.mark.parametrize("act", FAILURES)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_token_is_hidden_in_exceptions_and_reprs(clock: FakeClock, act: Act, method: str) -> None:
    with (
        FaultyServer(act) as server,
        WriteClient(server.url, TOKEN, max_wait=0, clock=clock) as client,
    ):
        with pytest.raises(ClientError) as caught:
            client.get("/a") if method == "GET" else client.send("POST", "/a", {}, repeatable=False)
        shown = [repr(client), repr(client._transport), repr(client._write_transport), repr(Token(TOKEN))]

    error = caught.value
    shown += [str(error), repr(error), repr(vars(error)), "".join(traceback.format_exception(error))]
    assert not any(TOKEN in text for text in shown)
    assert error.__cause__ is None
    assert type(error.__context__) in (type(None), *_own_errors())


def test_sent_secret_is_masked_in_later_errors(clock: FakeClock) -> None:
    """Otherwise, a secret that the platform repeats to a later request gets into report and log."""
    answers_ = [reply(200, {}), reply(403, {"error": {"message": "s3cret-value, was it?"}})]
    with (
        FaultyServer(*answers_) as server,
        WriteClient(server.url, TOKEN, max_wait=0, clock=clock) as client,
    ):
        client.send("POST", "/a", {}, repeatable=False, secrets=["s3cret-value"])
        with pytest.raises(ClientError) as caught:
            client.get("/b")

    assert "[secret], was it?" in str(caught.value)


def _own_errors() -> list[type[BaseException]]:
    found: list[type[BaseException]] = [ClientError]
    for kind in found:
        found += kind.__subclasses__()
    return found


def test_transport_repr_shows_origin_only() -> None:
    transport = HttpTransport("http://127.0.0.1:1/", Token(TOKEN))

    assert repr(transport) == "HttpTransport('http://127.0.0.1:1')"
    transport.close()


class Refusing(Recorder):
    """A transport on which nothing is there."""

    def send(self, _request: Request) -> Response:
        return Response(404, {"content-type": "application/json"}, b'{"error": {"message": "gone"}}')


def test_failed_read_is_freed_without_garbage_collector() -> None:
    client = ReadClient("http://x", TOKEN, transport=Refusing())
    with collector_paused():
        try:
            client.get("/spaces/p7")
        except NotFoundError as refused:
            remembered = weakref.ref(refused)
        assert remembered() is None
