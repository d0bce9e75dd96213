"""What a failed request says of itself, by values; and the way that the environment chooses to a platform."""

from __future__ import annotations

import socket
import ssl
import zlib

import httpcore
import pytest

from dpsync.client.errors import (
    ClientError,
    InvalidListError,
    NotJsonError,
    NotSentError,
    RateLimitedError,
    RedirectedError,
    ServerFaultError,
    StatusError,
    UnexpectedResponseError,
    UnknownOutcomeError,
    WriteRefusedError,
)
from dpsync.client.proxy import Setting, certificate_setting, find_route, proxy_of
from dpsync.client.responses import origin
from dpsync.client.transport import _not_sent_reason, _unknown_reason

AT = ("GET", "/a")
WROTE = ("PUT", "/a")


def test_bad_list_error_has_status_200() -> None:
    assert InvalidListError("/a", "no items", 2).status == 200


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://other.example/login?token=x", "https://other.example"),
        ("https://ada:x@other.example/", "https://other.example"),
        ("//other.example/login", None),
        ("/login?token=x", None),
        ("mailto:ada@acme.example", None),
        ("https://[other/", None),
    ],
)
def test_redirect_error_shows_origin_only(location: str, shown: str | None) -> None:
    assert origin(location) == shown


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ClientError(*AT, 418), "GET /a: status 418"),
        (WriteRefusedError(*WROTE), "PUT /a: this client sends only GET requests"),
        (NotSentError(*AT, "refused"), "unreachable (the connection was refused"),
        (NotSentError(*AT, "certificate", "expired"), "(expired))"),
        (UnknownOutcomeError(*AT, "timeout"), "no response in time"),
        (UnknownOutcomeError(*AT, "timeout", seconds=2.5), "no response within 2.5 s"),
        (UnknownOutcomeError(*AT, "fault"), "GET /a: "),
        (UnknownOutcomeError(*WROTE, "timeout"), "the result of the request is unknown (timeout)"),
        (
            UnknownOutcomeError(*WROTE, "fault", 502),
            "the result of the request is unknown (fault, status 502)",
        ),
        (StatusError(*AT, 403), "status 403"),
        (StatusError(*AT, 403, "not yours"), "status 403: 'not yours'"),
        (RateLimitedError(*AT), "too many requests (dpsync waited 0 s)"),
        (
            RateLimitedError(*AT, None, 30.0),
            "too many requests (dpsync waited 0 s, and GitBook demands another 30 s)",
        ),
        (RedirectedError(*AT, 302), "GitBook redirected the request (status 302)"),
        (
            RedirectedError(*AT, 302, "https://x"),
            "GitBook redirected the request (status 302) to 'https://x'",
        ),
        (NotJsonError(*AT, 200, None, "an empty body"), "(status 200, no content type): an empty body"),
        (NotJsonError(*AT, 200, "text/html", "an HTML page"), "(status 200, text/html): an HTML page"),
        (InvalidListError("/a", "no items", 2), "no items (page 2 of the list)"),
        (
            UnexpectedResponseError("/a", "", None, "", "a list", "a text"),
            "the response is a text, not a list",
        ),
        (
            UnexpectedResponseError("/a", "items[1]", "7", "title", "a text", "missing"),
            "in items[1] (id '7'), 'title' is missing",
        ),
        (
            UnexpectedResponseError("/a", "items[1]", None, "title", "a text", "a number"),
            "in items[1], 'title' is a number, not a text",
        ),
    ],
)
def test_client_error_message_names_request_and_cause(error: ClientError, words: str) -> None:
    assert words in str(error)
    assert str(error).startswith(f"{error.method} {error.path}")


def test_rate_limit_error_has_status_429() -> None:
    assert RateLimitedError(*AT).status == 429


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (NotSentError(*AT, "refused"), True),
        (NotSentError(*AT, "certificate"), False),
        (NotSentError(*AT, "too long"), False),
        (UnknownOutcomeError(*AT, "reset"), True),
        (UnknownOutcomeError(*AT, "unreadable"), False),
        (UnknownOutcomeError(*AT, "redirect"), False),
        (ServerFaultError(*AT, 500), True),
        (ServerFaultError(*AT, 501), False),
    ],
)
def test_only_listed_client_errors_are_transient(
    error: NotSentError | UnknownOutcomeError | ServerFaultError, transient: bool
) -> None:
    assert error.transient is transient


def because(error: Exception, cause: Exception) -> Exception:
    """Return the error with `cause` as its cause."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (httpcore.ProxyError("407 Proxy Authentication Required"), ("proxy", "status 407")),
        (httpcore.ProxyError("4071 is no status"), ("proxy", "")),
        (httpcore.ProxyError("closed"), ("proxy", "")),
        (httpcore.ConnectTimeout(), ("timeout", "")),
        (httpcore.PoolTimeout(), ("timeout", "")),
        (because(httpcore.ConnectError(), ConnectionRefusedError()), ("refused", "")),
        (because(httpcore.ConnectError(), because(OSError(), socket.gaierror())), ("dns", "")),
        (because(httpcore.ConnectError(), ssl.SSLError()), ("tls", "")),
        (because(httpcore.ConnectError(), ssl.SSLCertVerificationError()), ("certificate", "")),
        (because(httpcore.ConnectError(), OSError("no route")), ("connect", "")),
        (httpcore.ConnectError(), ("connect", "")),
    ],
)
def test_transport_error_gives_reason_request_was_not_sent(error: Exception, said: tuple[str, str]) -> None:
    assert _not_sent_reason(error) == said


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (httpcore.ReadTimeout(), None, "timeout"),
        (httpcore.ReadTimeout(), 200, "timeout"),
        (httpcore.RemoteProtocolError(), None, "closed"),
        (httpcore.RemoteProtocolError(), 200, "truncated"),
        (httpcore.ReadError(), None, "reset"),
        (httpcore.WriteError(), None, "reset"),
        (httpcore.LocalProtocolError(), None, "failed"),
        (zlib.error("cut off"), 200, "truncated"),
    ],
)
def test_transport_error_gives_reason_result_is_unknown(
    error: Exception, status: int | None, reason: str
) -> None:
    assert _unknown_reason(error, status) == reason


# The way.


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("http://ada:pass@proxy:3128/path", "http://proxy:3128"),
        ("proxy", "http://proxy"),
        ("http://[", "an invalid URL"),
    ],
)
def test_proxy_setting_hides_password(address: str, shown: str) -> None:
    assert proxy_of("https", {"HTTPS_PROXY": address}) == Setting("HTTPS_PROXY", shown)


def test_specific_proxy_variable_takes_precedence() -> None:
    env = {"ALL_PROXY": "d", "all_proxy": "c", "HTTPS_PROXY": "b", "https_proxy": "a"}
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        assert proxy_of("https", env).variable == name
        del env[name]
    assert proxy_of("https", env).variable == "the proxy of this machine"


def test_connection_settings_list_ignored_certificate_variables() -> None:
    env = {"REQUESTS_CA_BUNDLE": "a.pem"}
    assert find_route("https://x", False, env).ignored_variables == ("REQUESTS_CA_BUNDLE",)
    assert find_route("http://x", False, env).ignored_variables == ()
    own = {**env, "SSL_CERT_FILE": "b.pem"}
    assert find_route("https://x", False, own).ignored_variables == ()
    assert (
        find_route("https://x", False, own).certificates
        == certificate_setting(own)
        == Setting("SSL_CERT_FILE", "b.pem")
    )
    assert find_route("http://x", False, own).certificates is None
    assert find_route("https://x", False, {}).proxy is None
    assert find_route("https://x", True, {"https_proxy": "p"}).proxy == Setting("https_proxy", "http://p")
