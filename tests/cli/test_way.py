"""What stands between: a dead proxy, a certificate that nobody trusts. The message names the setting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_bad_input import BASE
from tests.client import faulty
from tests.client.faulty import CERTIFICATES, FaultyServer, reply

Planned = Callable[..., str]
VARIABLES = (
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip


@pytest.fixture
def planned(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planned:
    """`planned(url, NAME=value)`: what a plan says, with these variables and no other of the network."""
    (tmp_path / "dpsync.yaml").write_text(BASE)
    monkeypatch.setenv("DPSYNC_TOKEN", "a-token")
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)

    def plan(url: str, **variables: str) -> str:
        monkeypatch.setenv("DPSYNC_URL", url)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        ended = run("plan", "-C", str(tmp_path))
        assert ended.code in (1, 64), ended.out + ended.err
        assert ended.out == ""
        return ended.err

    return plan


def test_unreachable_proxy_error_names_proxy_variable(planned: Planned) -> None:
    dead = f"http://ada:s3cret@127.0.0.1:{faulty.free_port()}"
    said = planned("http://docs.example", HTTP_PROXY=dead)
    assert (
        f"dpsync cannot connect to http://docs.example through the proxy {dead.replace('ada:s3cret@', '')}"
        in said
    )
    assert "from HTTP_PROXY: the connection was refused" in said
    assert "check HTTP_PROXY. To connect without the proxy, add the host to NO_PROXY" in said
    assert "check DPSYNC_URL" not in said
    assert "s3cret" not in said


def test_proxy_refusal_error_shows_status(planned: Planned) -> None:
    with FaultyServer(reply(407)) as proxy:
        said = planned("https://docs.example", HTTPS_PROXY=proxy.url)
    assert "the proxy refused the connection (status 407)" in said
    assert "check HTTPS_PROXY" in said


def test_dropped_proxy_connection_error_names_variable(planned: Planned) -> None:
    with FaultyServer(faulty.closed) as proxy:
        said = planned("http://docs.example", ALL_PROXY=proxy.url)
    assert "check ALL_PROXY" in said
    assert "check DPSYNC_URL" not in said


def test_untrusted_certificate_error_suggests_ssl_cert_file(planned: Planned) -> None:
    with FaultyServer(reply(200, {}), certificate="of-this-machine.pem") as server:
        said = planned(server.url)
        assert "the certificate of the server is not trusted (self-signed certificate)" in said
        assert "add the certificate of the issuer to the certificates of this machine" in said
        assert "or to a file in SSL_CERT_FILE\n" in said
        assert "server is running" not in said
        other = planned(server.url, REQUESTS_CA_BUNDLE=str(CERTIFICATES / "of-this-machine.pem"))
        assert "in SSL_CERT_FILE. dpsync does not read REQUESTS_CA_BUNDLE" in other
        wrong = CERTIFICATES / "of-another-name.pem"
        said = planned(server.url, SSL_CERT_FILE=str(wrong))
        assert f"add the certificate of the issuer to SSL_CERT_FILE ({wrong})" in said
        assert not server.requests
        planned(server.url, SSL_CERT_FILE=str(CERTIFICATES / "of-this-machine.pem"))
        assert server.requests


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("of-another-name.pem", "the certificate belongs to another host name"),
        ("expired.pem", "a new certificate"),
    ],
)
def test_invalid_trusted_certificate_error_explains_cause(planned: Planned, name: str, words: str) -> None:
    with FaultyServer(reply(200, {}), certificate=name) as server:
        said = planned(server.url, SSL_CERT_FILE=str(CERTIFICATES / name))
    assert "the certificate of the server is not trusted" in said
    assert words in said


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_missing_certificate_path_error_names_variable(planned: Planned, name: str) -> None:
    said = planned("https://docs.example", **{name: "/nonexistent/ca"})
    assert f"dpsync cannot load the certificates from {name} (/nonexistent/ca)" in said


def test_invalid_certificate_file_error_names_file(planned: Planned, tmp_path: Path) -> None:
    said = planned("https://docs.example", SSL_CERT_FILE=str(tmp_path / "dpsync.yaml"))
    assert f"SSL_CERT_FILE ({tmp_path / 'dpsync.yaml'})" in said
    assert "the file contains no certificate" in said


def test_https_to_plain_server_error_suggests_url(planned: Planned) -> None:
    with FaultyServer(faulty.not_http) as server:
        said = planned(server.url.replace("http:", "https:"))
    assert "check DPSYNC_URL: the server may not support https" in said
