"""Whose certificates are trusted: those that a variable names, else those of the system, else Mozilla's."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from dpsync.client.proxy import has_system_certificates
from dpsync.client.transport import _tls_context

HERE = Path(__file__).parent / "certificates"


def paths(file: Path | None = None, folder: Path | None = None) -> ssl.DefaultVerifyPaths:
    """Return OpenSSL's default certificate paths; None means that the path does not exist."""
    return ssl.DefaultVerifyPaths(
        str(file) if file else None, str(folder) if folder else None, "SSL_CERT_FILE", "", "SSL_CERT_DIR", ""
    )


def test_windows_and_macos_have_system_certificates() -> None:
    assert has_system_certificates("win32", paths())
    assert has_system_certificates("darwin", paths())


def test_linux_system_certificates_need_file_or_nonempty_directory(tmp_path: Path) -> None:
    assert has_system_certificates("linux", paths(file=HERE / "of-this-machine.pem"))
    assert has_system_certificates("linux", paths(folder=HERE))
    assert not has_system_certificates("linux", paths(folder=tmp_path))
    assert not has_system_certificates("linux", paths(file=tmp_path / "gone", folder=tmp_path / "gone"))
    assert not has_system_certificates("linux", paths())


def test_tls_uses_system_certificates_without_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    truststore = pytest.importorskip("truststore")
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    if not has_system_certificates("linux", ssl.get_default_verify_paths()):
        pytest.skip("this machine has no certificates")
    assert isinstance(_tls_context(), truststore.SSLContext)


def test_ssl_cert_file_overrides_system_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(HERE / "of-this-machine.pem"))
    found = _tls_context()
    assert type(found) is ssl.SSLContext
    assert len(found.get_ca_certs()) == 1
