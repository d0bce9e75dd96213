"""A platform that repeats a secret wherever it can does not make dpsync repeat it."""

from __future__ import annotations

import base64
import http.server
import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Ran, Run
from tests.no_tls import NO_TLS

Project = Callable[..., Path]

SECRET = 'xoxb-17"ß/42+tok'
TOKEN = "ada-token"
FORMS = (
    SECRET,
    json.dumps(SECRET)[1:-1],
    urllib.parse.quote(SECRET, safe=""),
    base64.b64encode(SECRET.encode()).decode(),
    base64.b64encode(b"user:" + SECRET.encode()).decode()[8:-4],
)
LONG = "x" * 110 + SECRET  # so that the line of a plan is cut inside of it

TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    integrations:
      acme-tools: { configuration: { channel: docs, token: { env: TOOLS_TOKEN } } }
    teams:
      writers: { id: writers, title: Writers of words }
      reviewers: { id: reviewers, title: Reviewers of words }
"""


class Telltale(http.server.BaseHTTPRequestHandler):
    """The companion, except that it says what it knows: to another request, and in what it lists."""

    protocol_version = "HTTP/1.1"
    inner: str
    loud = False
    """Set by the first write: from then on titles hold the secret."""

    def _answer(self) -> None:
        kind = type(self)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if self.command == "PATCH" and self.path.endswith("/teams/writers"):
            said = f"no: {' and '.join(FORMS)}; {TOKEN}; {urllib.parse.quote(TOKEN)}"
            return self._send(400, json.dumps({"error": {"message": said}}).encode())
        headers = {
            name: self.headers[name] for name in ("Authorization", "Content-Type") if self.headers[name]
        }
        given = httpx.request(self.command, kind.inner + self.path, content=body, headers=headers, **NO_TLS)
        if self.command != "GET":
            kind.loud = True
        content = given.content
        if kind.loud and self.command == "GET" and "/teams?" in self.path:
            listed = given.json()
            for team in listed["items"]:
                if team["id"] == "reviewers":
                    team["title"] = LONG
                if team["id"] == "sales":
                    team["title"] = f"Sales of {SECRET}"
            content = json.dumps(listed).encode()
        return self._send(given.status_code, content)

    do_GET = do_PATCH = do_PUT = do_POST = do_DELETE = _answer

    def _send(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def telltale(platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Telltale]]:
    handler = type("Fresh", (Telltale,), {"inner": platform.url, "loud": False})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("DPSYNC_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("TOOLS_TOKEN", SECRET)
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def pieces(secret: str) -> list[str]:
    """Half of a secret is too much, too."""
    return [secret, secret[:10], *FORMS]


@pytest.mark.parametrize("flags", [[], ["-vv"], ["--format", "json"]], ids=["text", "verbose", "json"])
@pytest.mark.usefixtures("telltale")
def test_sent_secret_is_masked_in_output_and_journal(flags: list[str], run: Run, project: Project) -> None:
    at = project(TEXT)
    ended = run("apply", "-C", str(at), "--yes", *flags)
    assert ended.code == 3, ended
    assert "status 400" in ended.out
    assert "[secret]" in ended.out
    journal = next((at / ".dpsync" / "journal").glob("*.jsonl")).read_text(encoding="utf-8")
    assert "status 400" in journal
    shown = run("show", str(next((at / ".dpsync" / "journal").glob("*.jsonl"))), *flags)
    for text in (ended.out, ended.err, journal, shown.out, shown.err):
        for piece in (*pieces(SECRET), json.dumps(SECRET)[1:11], TOKEN):
            assert piece not in text


def test_plan_before_apply_masks_secrets(
    run: Run, project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLS_TOKEN", SECRET)
    by_hand(platform, "PATCH", "/orgs/acme/teams/writers", {"title": f"by {SECRET}"}, TOKEN)
    ended = run("apply", "-C", str(project(TEXT)), "--no-input")
    assert ended.code == 4
    assert "[secret]" in ended.out
    assert not any(piece in ended.out + ended.err for piece in pieces(SECRET))


def test_journal_masks_token_in_live_values(run: Run, project: Project, platform: ThreadedServer) -> None:
    """The platform may repeat either in any value: here the title that is changed has the token in it."""
    by_hand(platform, "PATCH", "/orgs/acme/teams/writers", {"title": f"by {TOKEN}"}, TOKEN)
    integrations = TEXT[TEXT.index("    integrations") : TEXT.index("    teams")]
    at = project(TEXT.replace(integrations, ""))
    assert clean(run("apply", "-C", str(at), "--yes")).code == 0
    journal = next((at / ".dpsync" / "journal").glob("*.jsonl"))
    assert "by [secret]" in journal.read_text(encoding="utf-8")
    assert TOKEN not in journal.read_text(encoding="utf-8")


def clean(ended: Ran) -> Ran:
    assert TOKEN not in ended.out + ended.err
    return ended


def test_plan_and_drift_mask_token_in_live_values(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    by_hand(platform, "PATCH", "/orgs/acme/teams/writers", {"title": f"by {TOKEN}"}, TOKEN)
    integrations = TEXT[TEXT.index("    integrations") : TEXT.index("    teams")]
    at = project(TEXT.replace(integrations, ""))
    for command in ("plan", "drift"):
        assert "[secret]" in clean(run(command, "-C", str(at))).out
        assert "[secret]" in clean(run(command, "-C", str(at), "--format", "json")).out
