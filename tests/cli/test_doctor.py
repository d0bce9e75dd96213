"""`dpsync doctor`: every setting with where it is from, whose token it is, and what that token may do."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

from dpsync.cli.connection import Connection
from dpsync.cli.doctor_platform import PlatformExamination
from dpsync.cli.doctor_settings import check_program, invalid_configuration_checks
from dpsync.kinds.kind import Call
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.kinds.urls import fill_path_template
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.cli.conftest import Run
from tests.no_tls import NO_TLS

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "doctor.schema.json").read_text(encoding="utf-8")
)
REGISTRY = load_registry()
ACME = "dpsync: 1\norganizations: { acme: { id: acme } }\n"


@pytest.fixture
def acme(project: Callable[..., Path]) -> Path:
    return project(ACME)


def document(run: Run, folder: Path, *flags: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("doctor", "-C", str(folder), "--format", "json", *flags).out)
    jsonschema.validate(found, SCHEMA)
    return found


def check(found: dict[str, Any], topic: str) -> dict[str, Any]:
    one: dict[str, Any] = [each for each in found["checks"] if each["topic"] == topic][-1]
    return one


@pytest.mark.usefixtures("platform")
def test_doctor_reports_all_topics_without_problems(acme: Path, run: Run) -> None:
    ended = run("doctor", "-C", str(acme))
    assert ended.code == 0
    for topic in (
        "root file",
        "profile",
        "address",
        "token",
        "proxy",
        "clock",
        "rate limit",
        "git base",
        "ids file",
    ):
        assert f" {topic} " in ended.out
    assert "the token belongs to Ada Byron ada@acme.example (id ada)" in ended.out


@pytest.mark.usefixtures("platform")
def test_doctor_never_prints_the_token(acme: Path, run: Run) -> None:
    for format_ in ("text", "json"):
        ended = run("doctor", "-C", str(acme), "--format", format_)
        assert "ada-token" not in ended.out + ended.err


@pytest.mark.usefixtures("platform")
def test_doctor_shows_source_of_each_setting(acme: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNC_PROFILE", "reference")
    found = document(run, acme, "-f", "dpsync.yaml")
    assert check(found, "root file")["source"] == "--file"
    assert check(found, "profile")["source"] == "DPSYNC_PROFILE"
    assert check(found, "address")["source"] == "DPSYNC_URL"
    assert check(found, "git base")["source"] == "the default"
    assert check(found, "ids file")["source"] == "the default"
    named = document(run, acme, "--ids", "ids.yaml")
    assert check(named, "ids file")["source"] == "--ids"


def test_doctor_continues_when_token_owner_is_unknown(
    acme: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadedServer(build_companion(open_store(":memory:"), profile="reference")) as platform:
        platform.reset()
        monkeypatch.setenv("DPSYNC_URL", platform.url)
        monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
        found = document(run, acme)
    assert (found["exit"], check(found, "token")["level"]) == (0, "note")
    assert check(found, "organization")["level"] == "ok"


def tries(url: str, token: str, name: str) -> int | None:
    """Try to create an object; return the HTTP status, or None if no request creates this kind."""
    kind = REGISTRY[name]
    if not isinstance(kind.create, Call):
        return None
    path = fill_path_template(
        REGISTRY, kind, kind.create.path, None, (("organization", "acme"),), {"slug": "new"}
    )
    headers = {"Authorization": f"Bearer {token}"}
    body = {"title": "New", "label": "New", "source": {"url": "https://acme.example/a.yaml"}}
    asked = httpx.request(kind.create.method, f"{url}/v1{path}", json=body, headers=headers, **NO_TLS)
    return asked.status_code


@pytest.mark.parametrize("user", ["ada", "lin", "rui", "gus"])
def test_doctor_write_access_matches_platform(
    user: str, platform: ThreadedServer, acme: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", f"{user}-token")
    nouns = {one["kind"]: one["write"] for one in document(run, acme)["access"]}
    names = ("team", "saml", "collection", "space", "site", "openapi")
    allowed = {name: tries(platform.url, f"{user}-token", name) != 403 for name in names}
    assert {name: nouns[REGISTRY[name].noun] for name in names} == allowed


def test_doctor_reports_read_access_to_nested_objects(platform: ThreadedServer, acme: Path, run: Run) -> None:
    read = {one["kind"]: one["read"] for one in document(run, acme)["access"]}
    assert read["share link of a site"] is read["section of a site"] is read["team member"] is True
    assert read["member permission of a space"] is True
    assert {method for method, _, _ in platform.app.requests} == {"GET"}


@pytest.mark.usefixtures("platform")
def test_doctor_finds_organization_by_hostname(project: Callable[..., Path], run: Run) -> None:
    found = document(run, project("dpsync: 1\norganizations: { x: { hostname: acme } }\n"))
    assert check(found, "organization")["said"] == "x is Acme (acme)"
    assert found["access"]
    found = document(run, project("dpsync: 1\norganizations: { x: { hostname: nowhere } }\n"))
    assert "the organization nowhere does not exist" in check(found, "organization")["said"]


@pytest.mark.usefixtures("platform")
def test_doctor_reports_unreadable_list_as_no_access(
    acme: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "gus-token")
    access = {one["kind"]: one["read"] for one in document(run, acme)["access"]}
    assert access["member"] is False


@pytest.mark.parametrize(
    ("variables", "said", "mend"),
    [
        ({"DPSYNC_URL": ""}, "DPSYNC_TOKEN is a public test token", None),
        (
            {"DPSYNC_TOKEN": ""},
            "neither DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set",
            "Create a token in GitBook",
        ),
        ({"DPSYNC_TOKEN": "wrong"}, "GitBook did not accept the token (401)", "check DPSYNC_TOKEN"),
    ],
)
@pytest.mark.usefixtures("platform")
def test_doctor_problem_exits_1_with_remedy(
    variables: dict[str, str],
    said: str,
    mend: str | None,
    acme: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = document(run, acme)
    one = check(found, "platform")
    assert (found["exit"], one["level"]) == (1, "problem")
    assert said in one["said"]
    assert (mend or "") in (one["mend"] or "")


def test_doctor_reports_unreachable_server(acme: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("DPSYNC_URL", f"http://127.0.0.1:{taken.getsockname()[1]}")
        monkeypatch.setenv("DPSYNC_TOKEN", "any")
        found = document(run, acme)
    assert "dpsync cannot connect" in check(found, "platform")["said"]
    assert check(found, "git base")


@pytest.mark.usefixtures("platform")
def test_doctor_reports_missing_organization(project: Callable[..., Path], run: Run) -> None:
    found = document(run, project("dpsync: 1\norganizations: { acme: { id: elsewhere } }\n"))
    assert found["exit"] == 1
    assert "the organization elsewhere does not exist" in check(found, "organization")["said"]


@pytest.mark.usefixtures("platform")
def test_doctor_checks_platform_despite_invalid_configuration(project: Callable[..., Path], run: Run) -> None:
    found = document(run, project("dpsync: 1\norganizations: { acme: { id: acme, titel: Acme } }\n"))
    assert found["exit"] == 5
    assert "dpsync.yaml:2: unknown key" in check(found, "configuration")["said"]
    assert "the token belongs to" in check(found, "token")["said"]


@pytest.mark.usefixtures("platform")
def test_doctor_sends_no_request_for_invalid_environment(project: Callable[..., Path], run: Run) -> None:
    """Otherwise, a question about one environment is sent to the platform of the shell."""
    folder = project("dpsync: 1\nenvironments: { prod: { url: 5 } }\norganizations: { acme: { id: acme } }\n")
    found = document(run, folder, "--env", "prod")
    assert check(found, "platform")["said"].startswith("dpsync sent no request")
    assert not [one for one in found["checks"] if one["topic"] == "token"]


@contextmanager
def answering(headers: dict[str, str], seen: list[str]) -> Iterator[str]:
    """Run a server that answers every request with a user whose name is hostile."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.command)
            content = json.dumps({"object": "user", "id": "x", "displayName": "A\x1b[2J\u202e\nb"}).encode()
            self.send_response_only(200)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def examination() -> Iterator[PlatformExamination]:
    """One that asks nothing."""
    made = PlatformExamination(Connection("http://127.0.0.1:9", "any", "DPSYNC_URL", "DPSYNC_TOKEN"), 1.0)
    yield made
    made.close()


HEADERS = {
    "Date": "Wed, 01 Jan 2020 00:00:00 GMT", "X-RateLimit-Remaining": "3", "X-RateLimit-Limit": "100",
}  # fmt: skip


def test_doctor_reports_clock_skew_and_low_rate_limit(
    acme: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    with answering(HEADERS, seen) as url:
        monkeypatch.setenv("DPSYNC_URL", url)
        monkeypatch.setenv("DPSYNC_TOKEN", "any")
        found, text = document(run, acme), run("doctor", "-C", str(acme)).out
    assert check(found, "clock")["level"] == "problem"
    assert "seconds behind this machine" in check(found, "clock")["said"]
    assert check(found, "rate limit")["said"] == "3 of 100 requests of the rate limit are left"
    assert check(found, "rate limit")["level"] == "note"
    assert set(seen) == {"GET"}
    assert "\x1b" not in text
    assert "A\\x1b[2J\\u202e\\nb" in text


@pytest.mark.parametrize(("ahead", "said"), [
    (0.0, "the clocks of this machine and GitBook differ by less than 60 seconds"),
    (60.0, "the clocks of this machine and GitBook differ by less than 60 seconds"),
    (-60.0, "the clocks of this machine and GitBook differ by less than 60 seconds"),
    (61.0, "the clock of GitBook is 61 seconds ahead of this machine"),
    (-61.0, "the clock of GitBook is 61 seconds behind this machine"),
    (None, "the responses of GitBook contain no date"),
])  # fmt: skip
def test_doctor_tolerates_60_seconds_clock_skew(
    ahead: float | None, said: str, examination: PlatformExamination
) -> None:
    examination._headers.clock_offset = ahead
    (clock,) = examination._check_clock()
    assert (clock.said, clock.level == "ok") == (said, said.startswith("the clocks"))


@pytest.mark.parametrize(("left", "level"), [(0, "note"), (99, "note"), (100, "ok"), (1_000, "ok")])
def test_doctor_notes_rate_limit_below_ten_percent(
    left: int, level: str, examination: PlatformExamination
) -> None:
    examination._headers.headers = {"x-ratelimit-remaining": str(left), "x-ratelimit-limit": "1000"}
    (limit,) = examination._check_rate_limit()
    assert (limit.level, limit.said) == (level, f"{left} of 1000 requests of the rate limit are left")


def test_doctor_prints_python_version_without_release_level() -> None:
    assert re.fullmatch(r".*, Python 3\.\d+\.\d+", check_program().said)


def test_doctor_shows_first_three_configuration_findings() -> None:
    def said(number: int) -> list[str]:
        found = [Diagnostic("DP201", f"wrong {at}") for at in range(number)]
        return [one.said for one in invalid_configuration_checks(DiagnosticError(found, Exit.INVALID))]

    three = [f"wrong {at} [DP201]" for at in range(3)]
    assert said(3) == three
    assert said(4) == [*three, "and 1 finding more"]
    assert said(5) == [*three, "and 2 findings more"]


@pytest.mark.usefixtures("platform")
def test_doctor_reports_github_token_permissions_in_workflow(
    acme: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/docs", "GITHUB_RUN_ID": "1",
        "GITHUB_EVENT_NAME": "push", "GITHUB_SHA": "a" * 40, "GITHUB_API_URL": "http://127.0.0.1:9",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert "GITHUB_TOKEN is not set" in check(document(run, acme), "permissions")["said"]
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_never_shown")
    seen: list[str] = []
    with answering({}, seen) as url:
        monkeypatch.setenv("GITHUB_API_URL", url)
        ended = run("doctor", "-C", str(acme))
    assert 'the job can read "contents"' in ended.out
    assert "ghs_never_shown" not in ended.out + ended.err
    assert set(seen) == {"GET"}


def test_doctor_exits_5_without_root_file(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPSYNC_URL", raising=False)
    ended = run("doctor", "-C", str(tmp_path))
    assert ended.code == 5
    assert "DP120" in ended.out
