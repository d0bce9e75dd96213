"""What `dpsync serve` says when it cannot: in words, with the way out, never a number of the system."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dpsync.server.process.listening import ListenError, listen_error, listen_on
from tests.cli.conftest import Run


def test_serve_exits_1_when_port_is_in_use(run: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ended = run("serve", "--port", str(port))
    assert ended.code == 1
    assert ended.err == (
        f"error[listen]: cannot listen on 127.0.0.1:{port}: another program uses port {port}\n"
        "  = stop that program, or choose another port with --port (--port 0 takes a free port)\n"
        "\n"
        "1 error\n"
    )


def test_serve_port_cannot_be_bound_twice() -> None:
    """Otherwise two companions start at the same time, and the second ends with a line of a library."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        with listen_on("127.0.0.1", port), pytest.raises(OSError, match="in use"):
            other.listen()


def test_serve_exits_1_for_foreign_host_address(run: Run) -> None:
    ended = run("serve", "--host", "203.0.113.9", "--port", "0")
    assert ended.code == 1
    assert "cannot listen on 203.0.113.9: this machine does not have that address" in ended.err


def test_serve_exits_1_for_unknown_host_name(run: Run) -> None:
    ended = run("serve", "--host", "nowhere.invalid", "--port", "0")
    assert ended.code == 1
    assert "cannot listen on nowhere.invalid: " in ended.err
    assert "[Errno" not in ended.err


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EADDRINUSE, "another program uses port 80"),
        (errno.EACCES, "ports below 1024 are reserved for the system"),
        (errno.EADDRNOTAVAIL, "this machine does not have that address"),
        (errno.ENOBUFS, os.strerror(errno.ENOBUFS)),
    ],
)
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_listen_error_explains_cause(number: int, words: str, host: str) -> None:
    found = listen_error(host, 80, OSError(number, os.strerror(number)))
    assert isinstance(found, ListenError)
    assert words in str(found)
    assert "Errno" not in str(found)


def test_serve_exits_1_when_database_directory_is_missing(run: Run, tmp_path: Path) -> None:
    ended = run("serve", "--port", "0", "--db", str(tmp_path / "gone" / "state.db"))
    assert ended.code == 1
    assert f"{tmp_path / 'gone' / 'state.db'}: unable to open database file" in ended.err


@pytest.mark.parametrize("option", ["--world", "--faults"])
def test_serve_exits_1_for_unreadable_file(run: Run, tmp_path: Path, option: str) -> None:
    (tmp_path / "file").write_bytes(b"\xff\xfe: {")
    ended = run("serve", "--port", "0", option, str(tmp_path / "file"))
    assert ended.code == 1
    assert str(tmp_path / "file") in ended.err
    assert "[Errno" not in ended.err


@pytest.mark.parametrize(
    ("package", "arguments", "words"),
    [
        ("uvicorn", [], "the local server needs the package uvicorn: run pip install 'dpsync[server]'"),
        (
            "starlette",
            [],
            "the local server needs the package starlette: run pip install 'dpsync[server]'",
        ),
        (
            "psycopg",
            ["--db", "postgresql://db.example/docs"],
            "PostgreSQL needs psycopg, but import of psycopg halted; None in sys.modules: "
            "pip install 'dpsync[postgres]'",
        ),
    ],
)
def test_serve_without_extra_names_package_to_install(package: str, arguments: list[str], words: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None; "
        f"from dpsync.cli.main import main; main(['serve', *{arguments!r}])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == f"Error: {words}\n"


@pytest.mark.parametrize("command", ["plan", "apply", "drift", "import"])
def test_command_exits_64_for_missing_token_file(
    command: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dpsync.yaml").write_text("dpsync: 1\norganizations: { acme: { id: acme } }\n")
    monkeypatch.setenv("DPSYNC_URL", "http://127.0.0.1:1")
    monkeypatch.delenv("DPSYNC_TOKEN", raising=False)
    monkeypatch.setenv("DPSYNC_TOKEN_FILE", str(tmp_path / "gone"))
    ended = run(command, "-C", str(tmp_path))
    assert ended.code == 64
    assert f"DPSYNC_TOKEN_FILE: {tmp_path / 'gone'} cannot be read: No such file or directory" in ended.err
