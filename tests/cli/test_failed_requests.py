"""What a request that failed is called, and what to do about it: by values."""

from __future__ import annotations

import pytest

from dpsync.cli.connection import Connection
from dpsync.cli.failures import client_diagnostic
from dpsync.client import errors
from dpsync.client.proxy import Route, Setting

TO = Connection("https://api.acme.example", "t", "DPSYNC_URL", "DPSYNC_TOKEN")
PROXY = Route(proxy=Setting("HTTPS_PROXY", "http://proxy.example:3128"))
UNREAD = Route(ignored_variables=("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))
GET = ("GET", "/orgs")


@pytest.mark.parametrize(("error", "code", "message", "hint"), [
    (errors.UnauthorizedError(*GET, 401), "unauthorized", "(401): GET /orgs", "check DPSYNC_TOKEN"),
    (errors.ForbiddenError(*GET, 403), "forbidden", "(403): GET /orgs", "the token of a user with "
                                                                        "more rights"),
    (errors.NotFoundError(*GET, 404), "request", "404", "the API version (--profile)"),
    (errors.ServerFaultError(*GET, 501), "request", "501", "the API version (--profile)"),
    (errors.ServerFaultError(*GET, 500), "request", "500", "try again"),
    (errors.NotJsonError(*GET, 200, None, "HTML"), "not-json", "HTML (status 200)", "check DPSYNC_URL"),
    (errors.InvalidListError("/orgs", "no end", 7), "bad-list", "no end (page 7 of the list)", "try again"),  # type: ignore[arg-type]
    (errors.RateLimitedError(*GET), "rate-limited", "GitBook demands a longer pause", "try again later"),
    (errors.UnknownOutcomeError(*GET, "timeout"), "timeout", "GET /orgs", "--timeout SECONDS"),
    (errors.UnknownOutcomeError(*GET, "reset"), "request", "GET /orgs", "and the network"),
    (errors.UnknownOutcomeError(*GET, "reset", route=PROXY), "request", "GET /orgs", "with NO_PROXY"),
    (errors.InterruptedRequestError(*GET), "request", "interrupted", "try again"),
    (errors.NotSentError(*GET, "dns"), "unreachable", TO.url, "check the host name in DPSYNC_URL"),
    (errors.NotSentError(*GET, "dns", route=PROXY), "unreachable", "through the proxy", "check HTTPS_PROXY"),
    (errors.NotSentError(*GET, "tls"), "unreachable", TO.url, "may not support https"),
    (errors.NotSentError(*GET, "too long"), "unreachable", TO.url, "is too long"),
    (errors.NotSentError(*GET, "connect"), "unreachable", TO.url, "that the server is running"),
    (errors.NotSentError(*GET, "certificate", "expired"), "unreachable", TO.url, "a new certificate"),
    (errors.NotSentError(*GET, "certificate", "not valid for"), "unreachable", TO.url, "another host name"),
    (errors.NotSentError(*GET, "certificate", route=UNREAD),
     "unreachable", TO.url, "BUNDLE or CURL_CA_BUNDLE"),
    (errors.NotSentError(*GET, "certificate", route=Route(certificates=Setting("SSL_CERT_FILE", "a.pem"))),
     "unreachable", TO.url, "add the certificate of the issuer to SSL_CERT_FILE (a.pem)"),
])  # fmt: skip
def test_failed_request_has_code_message_and_hint(
    error: errors.ClientError, code: str, message: str, hint: str
) -> None:
    found = client_diagnostic(error, TO)
    assert found.code == code
    assert message in found.message
    assert hint in (found.hint or "")
