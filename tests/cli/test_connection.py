"""Where a command goes, and with whose token: both from one source; and what is said when no answer comes."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpsync.model.urls import url_problem
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.silent_host import SilentHost

Project = Callable[..., Path]

TEXT = """\
dpsync: 1
organizations: {{ acme: {{ id: acme, title: Acme }} }}
environments:
  prod: {{ url: "{url}", token: {{ env: DPSYNC_TOKEN_PROD }} }}
  address: {{ url: "{url}" }}
  token: {{ token: {{ env: DPSYNC_TOKEN_PROD }} }}
  nothing: {{ organizations: {{ acme: {{ id: acme }} }} }}
"""
WRONG = "http://127.0.0.1:9"


UNAUTHORIZED = b"HTTP/1.1 401 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


class Platform(SilentHost):
    """A server that knows no token."""

    def __init__(self) -> None:
        super().__init__(UNAUTHORIZED)

    @property
    def tokens(self) -> set[str]:
        """The bearer tokens of all requests."""
        marker = "authorization: bearer "
        lines = self.received.decode("latin-1").split("\r\n")
        return {line[len(marker) :] for line in lines if line.lower().startswith(marker)}


@pytest.fixture
def two() -> Iterator[tuple[Platform, Platform]]:
    """Yield two platforms: that of the file and that of the shell."""
    both = Platform(), Platform()
    yield both
    for one in both:
        one.close()


# By flag or variable; DPSYNC_URL, DPSYNC_TOKEN and DPSYNC_TOKEN_PROD as set or not; what is then sent to the
# platform of the file and to that of the shell, or the words of the refusal.
FILE, SHELL = ({"grace-token"}, set()), (set(), {"shell-token"})
GITBOOK = "dpsync cannot connect to https://api.gitbook.com through the proxy"
CASES = [
    ("--env", "prod", "U T P", FILE),  # an explicit flag goes before the variables
    ("--env", "prod", "U P", FILE),
    ("--env", "prod", "T P", FILE),
    ("--env", "prod", "P", FILE),
    ("--env", "prod", "U T", "DPSYNC_TOKEN_PROD is not set"),
    ("--env", "address", "U T P", 'the environment "address" has a url but no token'),
    ("--env", "address", "T", 'the environment "address" has a url but no token'),
    ("--env", "token", "U T P", 'the environment "token" has a token but no url'),
    ("--env", "nothing", "U T P", SHELL),
    ("--env", "nothing", "U P", "neither DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set"),
    ("--env", "nothing", "T P", GITBOOK),
    ("--env", "nothing", "P", "neither DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set"),
    ("DPSYNC_ENV", "prod", "U T P", SHELL),  # a variable before what a variable chose in the file
    ("DPSYNC_ENV", "prod", "U P", "neither DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set"),
    ("DPSYNC_ENV", "prod", "T P", FILE),
    ("DPSYNC_ENV", "prod", "P", FILE),
    ("DPSYNC_ENV", "address", "T P", 'the environment "address" has a url but no token'),
    ("DPSYNC_ENV", "address", "U T", SHELL),
    ("DPSYNC_ENV", "token", "T P", 'the environment "token" has a token but no url'),
    ("DPSYNC_ENV", "token", "U P", "neither DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set"),
    ("DPSYNC_ENV", "nothing", "U T P", SHELL),
    ("neither", "", "U T P", SHELL),
    ("neither", "", "U P", "neither DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set"),
    ("neither", "", "T P", GITBOOK),  # the default address goes with the token of the shell
    ("neither", "", "P", "neither DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set"),
]


@pytest.mark.parametrize(("by", "name", "given", "expected"), CASES)
def test_url_and_token_come_from_same_source(
    by: str, name: str, given: str, expected: object, run: Run, project: Project,
    two: tuple[Platform, Platform], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Otherwise, the token of an environment goes to an address from elsewhere.

    Otherwise, a token from elsewhere goes to the address of an environment.
    Otherwise, what the shell says is passed over, and another platform is written to.
    """
    file, shell = two
    monkeypatch.setenv("HTTPS_PROXY", WRONG)  # a connection to GitBook would leave this machine
    values = {"DPSYNC_URL": shell.url, "DPSYNC_TOKEN": "shell-token", "DPSYNC_TOKEN_PROD": "grace-token"}
    for variable, value in values.items():
        short = {"DPSYNC_URL": "U", "DPSYNC_TOKEN": "T", "DPSYNC_TOKEN_PROD": "P"}[variable]
        monkeypatch.setenv(variable, value) if short in given.split() else monkeypatch.delenv(variable, False)
    monkeypatch.delenv("DPSYNC_ENV", raising=False)
    if by == "DPSYNC_ENV":
        monkeypatch.setenv("DPSYNC_ENV", name)
    ended = run(
        "plan", "-C", str(project(TEXT.format(url=file.url))), *(["--env", name] if by == "--env" else [])
    )
    if isinstance(expected, str):
        assert (ended.code, file.tokens, shell.tokens) == (1 if expected is GITBOOK else 64, set(), set())
        assert expected in ended.err
        lacks_shell_token = expected == "neither DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set" and name in (
            "prod",
            "token",
        )
        told = f"dpsync never sends the token of the environment {name} to DPSYNC_URL." in ended.err
        assert told == lacks_shell_token
    else:
        assert ended.code == 1
        assert "(401)" in ended.err
        assert (file.tokens, shell.tokens) == expected


@pytest.mark.parametrize(
    ("by", "variables", "words"),
    [
        (
            "--env",
            ("DPSYNC_URL", "DPSYNC_TOKEN"),
            "note: dpsync does not use DPSYNC_URL and DPSYNC_TOKEN, because --env chose",
        ),
        ("DPSYNC_ENV", ("DPSYNC_TOKEN",), "note: dpsync does not use DPSYNC_TOKEN, because DPSYNC_ENV chose"),
        (
            "DPSYNC_ENV",
            ("DPSYNC_URL", "DPSYNC_TOKEN"),
            "warning: dpsync uses the URL in DPSYNC_URL",
        ),
    ],
)
def test_ignored_or_overriding_connection_variable_is_reported(
    by: str,
    variables: tuple[str, ...],
    words: str,
    run: Run,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "grace-token")
    for name, value in (("DPSYNC_URL", "http://127.0.0.1:11"), ("DPSYNC_TOKEN", "shell-token")):
        monkeypatch.setenv(name, value) if name in variables else monkeypatch.delenv(name, raising=False)
    flags = ["--env", "prod"] if by == "--env" else []
    monkeypatch.setenv("DPSYNC_ENV", "prod") if not flags else monkeypatch.delenv("DPSYNC_ENV", raising=False)
    ended = run("plan", "-C", str(project(TEXT.format(url=WRONG))), *flags)
    assert words in ended.err
    assert "shell-token" not in ended.err


def test_connection_error_names_environment_setting(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "grace-token")
    ended = run("plan", "-C", str(project(TEXT.format(url=WRONG))), "--env", "prod")
    assert f"dpsync cannot connect to {WRONG}: the connection was refused" in ended.err
    assert 'check the url of the environment "prod"' in ended.err
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "not a token")
    flags = ("--env", "prod", "--trust-environment", "prod")
    ended = run("plan", "-C", str(project(TEXT.format(url=WRONG))), *flags)
    assert (ended.code, "DPSYNC_TOKEN_PROD contains a space" in ended.err) == (64, True)


def test_password_in_url_is_never_printed(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "t")
    monkeypatch.setenv("DPSYNC_ENV", "prod")
    for url in ("https://ada:pass-word@docs.example", "http://ada:pass-word@docs.example/v1"):
        monkeypatch.setenv("DPSYNC_URL", url)
        ended = run("plan", "-C", str(project(TEXT.format(url=WRONG))))
        assert (ended.code, "must not contain a user or password" in ended.err) == (64, True)
        assert "pass-word" not in ended.out + ended.err


def test_first_import_with_env_flag_exits_64(run: Run, tmp_path: Path) -> None:
    ended = run("import", "-C", str(tmp_path), "--env", "prod")
    assert (ended.code, "--env needs --update or --add" in ended.err) == (64, True)


def test_import_update_uses_url_of_environment(
    run: Run, project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "ada-token")
    monkeypatch.setenv("DPSYNC_URL", WRONG)
    at = project(TEXT.format(url=platform.url))
    assert run("import", "--update", "acme#title", "-C", str(at), "--env", "prod", "--force").code == 0


# An answer that does not come.


@contextmanager
def silent(answer: bytes | None) -> Iterator[str]:
    """Run a server that sends `answer` and then waits, or hangs up if `answer` is None."""
    listening = socket.create_server(("127.0.0.1", 0))
    open_ones: list[socket.socket] = []
    ending = threading.Event()

    def serve() -> None:
        while True:
            connected, _ = listening.accept()
            if ending.is_set():
                connected.close()
                return
            connected.recv(65536)
            if answer is None:
                connected.close()
                continue
            connected.sendall(answer)
            open_ones.append(connected)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        ending.set()
        socket.create_connection(listening.getsockname()).close()
        thread.join()
        for one in (*open_ones, listening):
            one.close()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"


@pytest.mark.parametrize("answer", [b"", HEAD], ids=["nothing", "a part"])
@pytest.mark.parametrize("command", ["plan", "drift"])
def test_read_timeout_error_names_url_and_timeout_flag(
    command: str, answer: bytes, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "t")
    with silent(answer) as url:
        monkeypatch.setenv("DPSYNC_URL", url)
        ended = run(command, "-C", str(project(TEXT.format(url=WRONG))), "--timeout", "0.1")
    assert ended.code == 1
    assert "error[timeout]" in ended.err
    assert f"{url}: GET /orgs/acme: no response within 0.1 s" in ended.err
    assert "DPSYNC_URL" in ended.err
    assert "--timeout" in ended.err
    assert "unknown" not in ended.err


def test_dropped_connection_during_read_exits_1(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "t")
    with silent(None) as url:
        monkeypatch.setenv("DPSYNC_URL", url)
        ended = run("plan", "-C", str(project(TEXT.format(url=WRONG))))
    assert ended.code == 1
    assert f"{url}: GET /orgs/acme: the connection was" in ended.err
    assert "unknown" not in ended.err


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://a..b", url_problem("http://a..b")),
        ("http://a:99999", "must have a port from 1 to 65535"),
    ],
)
def test_invalid_url_is_rejected_with_location(
    url: str, why: str, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(TEXT.format(url=url))
    ended = run("validate", "-C", str(folder), "--format", "json")
    assert ended.code == 5
    found = json.loads(ended.out)["findings"]
    assert [(one["message"], one["at"]["line"]) for one in found] == [
        (f"the url {why}", 4),
        (f"the url {why}", 5),
    ]
    monkeypatch.setenv("DPSYNC_URL", url)
    monkeypatch.setenv("DPSYNC_TOKEN", "t")
    for words in (("plan",), ("apply", "--yes"), ("drift",), ("ids",)):
        ended = run(*words, "-C", str(project("dpsync: 1\norganizations: { acme: { id: acme } }\n")))
        assert ended.code == 64
        assert f"DPSYNC_URL {why}" in ended.err
