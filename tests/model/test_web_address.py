"""What an address of a platform may look like, and that no library raises what is let through."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.model.urls import url_problem

NAMED = "must begin with http:// or https:// and a host name, such as https://api.acme.example"


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080", "https://docs.acme.example", "https://docs.acme.example/api/", "http://[::1]:1",
        "http://127.0.0.1", "https://xn--bcher-kva.example", "http://XN--BCHER-KVA.example", "http://a.",
        "http://a_b", "http://A", "https://a:1", "https://a:65535", "http://0.0.0.0", "http://255.255.255.255",
        f"http://{'a' * 63}.example", f"http://{'a.' * 125}abc", f"http://a/{'b' * 1991}",
    ],
)  # fmt: skip
def test_valid_platform_url_is_accepted(url: str) -> None:
    assert url_problem(url) is None


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://a..b", NAMED),
        ("http://.a", NAMED),
        ("http://-", NAMED),
        ("http://", NAMED),
        ("a.example", NAMED),
        ("ftp://a", NAMED),
        (f"http://{'a' * 64}.example", NAMED),
        (f"http://{'a.' * 125}abcd", NAMED),
        (f"http://{'a.' * 127}example", NAMED),
        ("http://xn--a\x80", "must not contain a space, a line break or a character outside ASCII"),
        ("http://xn--99999999", NAMED),
        ("http://1.2.3", NAMED),
        ("http://1.2.3.4.5", NAMED),
        ("http://a.2.3.4", NAMED),
        ("http://1.2.3.256", NAMED),
        ("http://[::1", "is not a valid URL"),
        ("http://[::1]x", "must have a port from 1 to 65535"),
        ("http://[::1%25eth0]", NAMED),
        ("http://[v1.a]", NAMED),
        ("http://a:65536", "must have a port from 1 to 65535"),
        ("http://a:99999", "must have a port from 1 to 65535"),
        ("http://a:0", "must have a port from 1 to 65535"),
        ("http://a:-1", "must have a port from 1 to 65535"),
        ("http://a:", "must have a port from 1 to 65535"),
        ("http://a:x", "must have a port from 1 to 65535"),
        ("http://a b", "must not contain a space, a line break or a character outside ASCII"),
        ("http://a\n::error::x", "must not contain a space, a line break or a character outside ASCII"),
        ("http://ada:pw@a", "must not contain a user or password"),
        ("http://a?b", "must not contain ? or #"),
        ("http://a#", "must not contain ? or #"),
        (f"http://a/{'b' * 1992}", "must have at most 2,000 characters"),
    ],
)
def test_invalid_platform_url_is_refused_with_reason(url: str, why: str) -> None:
    assert url_problem(url) == why


@given(
    st.one_of(st.text("ab.-:[]@/0195%xn_~\\", max_size=12), st.text(max_size=12)).map(
        lambda text: f"http://{text}"
    )
)
def test_accepted_platform_url_works_in_every_library(url: str) -> None:
    if url_problem(url) is None:
        parsed = httpx.URL(url)
        assert parsed.host
        assert parsed.port is None or 0 < parsed.port < 65536
        assert parsed.raw_host.decode().strip("[]").encode("idna")
