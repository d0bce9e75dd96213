"""Everything that can be wrong has its own message, place, way out and exit code. Never a traceback."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run

Project = Callable[..., Path]

BASE = "dpsync: 1\norganizations:\n  acme:\n    id: acme\n"

WRONG_FILES = {
    "unknown key": (BASE + "    titel: Acme\n", "DP201", "5:5", 'did you mean "title"?'),
    "wrong type": (BASE + "    title: [Acme]\n", "DP202", "5:12", "expected text, found a list"),
    "unknown reference": (
        BASE + "    collections: {p: {title: P}}\n    spaces: {s: {title: S, collection: q}}\n",
        "DP220", "6:40", 'your files contain no collection "q"',
    ),
    "duplicate key": (BASE + "    title: A\n    title: B\n", "DP110", "6:5", "dpsync.yaml:5:5"),
    "missing variable": (BASE + "    title: ${NOT_SET_ANYWHERE}\n", "DP131", "5:12", "NOT_SET_ANYWHERE"),
    "missing file": (
        BASE + "    sites: {d: {title: Docs, adaptiveSchema: {file: gone.json}}}\n",
        "DP122", "5:53", 'cannot read "gone.json"',
    ),
    "missing include": (
        "dpsync: 1\ninclude: [gone.yaml]\norganizations: {acme: {id: acme}}\n", "DP124", "2:11", "gone.yaml",
    ),
    "out of limits": (BASE + "    title: A\n", "DP203", "5:12", "2 to 255"),
    "environment": (
        "dpsync: 1\nenvironments: {prod: {ulr: x}}\norganizations: {acme: {id: acme}}\n", "DP141", "2:23",
        'did you mean "url"?',
    ),
    "empty file": ("", "DP129", "1:1", ""),
    "not YAML": ("dpsync: 1\norganizations: {acme: [}\n", "DP101", "2:24", ""),
    "no id": ("dpsync: 1\norganizations: {acme: {title: Acme}}\n", "DP216", "2:17", "hostname"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_FILES)
@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
def test_invalid_configuration_exits_5_with_location(
    name: str, command: str, run: Run, project: Project, platform: ThreadedServer
) -> None:
    text, code, place, words = WRONG_FILES[name]
    directory = project(text)
    platform.app.requests.clear()
    ended = run(command, "-C", str(directory))
    assert ended.code == 5
    assert f"error[{code}]" in ended.err
    assert f"dpsync.yaml:{place}" in ended.err
    assert words in ended.err
    assert "Traceback" not in ended.err + ended.out
    assert not platform.app.requests


def test_validate_reports_all_errors_at_once(run: Run, project: Project) -> None:
    directory = project(BASE + "    titel: A\n    defaultRole: boss\n    sites: {d: {title: D}}\n")
    ended = run("validate", "-C", str(directory))
    assert [code for code in ("DP201", "DP202", "DP203") if code in ended.err] == ["DP201", "DP202", "DP203"]
    assert "3 errors in 1 file" in ended.err


def test_validate_prints_findings_as_json(run: Run, project: Project) -> None:
    import json

    ended = run("validate", "-C", str(project(BASE + "    titel: A\n")), "--format", "json")
    document = json.loads(ended.out)
    assert document["format"] == "dpsync.findings/1"
    assert document["findings"][0]["at"] == {"file": "dpsync.yaml", "line": 5, "column": 5}


def test_plan_exits_1_when_server_is_unreachable(
    run: Run, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, whatever the platform answers is told as a mistake of dpsync's."""
    monkeypatch.setenv("DPSYNC_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("DPSYNC_TOKEN", "t")
    ended = run("plan", "-C", str(example))
    assert ended.code == 1
    assert "dpsync cannot connect to http://127.0.0.1:9" in ended.err


@pytest.mark.usefixtures("platform")
def test_plan_exits_1_for_rejected_token(run: Run, example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "not-a-token")
    ended = run("plan", "-C", str(example))
    assert ended.code == 1
    assert "GitBook did not accept the token (401)" in ended.err
    assert "not-a-token" not in ended.err


@pytest.mark.usefixtures("platform")
def test_plan_exits_1_for_unknown_organization_id(run: Run, project: Project) -> None:
    ended = run("plan", "-C", str(project("dpsync: 1\norganizations:\n  x: { id: nowhere }\n")))
    assert ended.code == 1
    assert 'the organization "nowhere" does not exist' in ended.err
    assert "dpsync.yaml:3:12" in ended.err


@pytest.mark.usefixtures("platform")
def test_plan_exits_1_for_unknown_hostname(run: Run, project: Project) -> None:
    ended = run("plan", "-C", str(project("dpsync: 1\norganizations:\n  x: { hostname: nowhere }\n")))
    assert ended.code == 1
    assert 'the organization "nowhere" does not exist' in ended.err


@pytest.mark.usefixtures("platform")
def test_plan_finds_organization_by_hostname(run: Run, project: Project) -> None:
    ended = run(
        "plan", "-C", str(project("dpsync: 1\norganizations:\n  x: { hostname: acme, title: Acme }\n"))
    )
    assert ended.code == 0
    assert "No changes." in ended.out


@contextmanager
def login_page() -> Iterator[str]:
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<html>please log in</html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_plan_exits_1_for_non_json_response(run: Run, example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "t")
    with login_page() as url:
        monkeypatch.setenv("DPSYNC_URL", url)
        ended = run("plan", "-C", str(example))
    assert ended.code == 1
    assert "does not come from the GitBook API" in ended.err


@pytest.mark.usefixtures("platform")
def test_plan_exits_5_for_unknown_team_member(run: Run, project: Project) -> None:
    text = BASE + "    teams: {t: {title: T, members: {no@acme.example: owner}}}\n"
    ended = run("plan", "-C", str(project(text)))
    assert ended.code == 5
    assert "DP304" in ended.err
    assert "dpsync.yaml:5:37" in ended.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plam"], 'did you mean "plan"?'),
        (["plan", "--confrim", "x"], "--confirm"),
        (["plan", "--parallelism", "0"], "--parallelism"),
        (["plan", "--confirm", "yes"], "Valid confirmations:"),
        (["apply", "--confirm", "delete all"], 'delete N", with a number'),
        (["import", "--update", "--add", "x"], "--update and --add cannot be combined"),
        (
            ["import", "--update", "--from-navigation", "x.yaml"],
            "--from-navigation cannot be combined",
        ),
        (
            ["import", "--update", "--full", "x"],
            "--full cannot be combined with --update, --add or --from-navigation",
        ),
        (["import", "--update", "--organization", "acme", "x"], "--organization cannot be combined"),
        (["import", "--update"], "--update and --add need addresses, and addresses need --update or --add"),
        (["import", "--title", "T"], "--title needs --from-navigation"),
        (["import", "--into", "a.yaml"], "--into needs --update or --add"),
        (["init", "--import", "--empty"], "--import and --empty cannot be combined"),
        (["plan", "-out=x"], "There is no flag -out"),
        (["apply", "--confirm", "run acme/translation/fr"], 'did you mean "acme/translations/fr"?'),
    ],
)
def test_wrong_command_line_exits_64(arguments: list[str], words: str, run: Run) -> None:
    ended = run(*arguments)
    assert ended.code == 64
    assert words in ended.err


@pytest.mark.parametrize(
    ("missing", "words"), [("DPSYNC_URL", "dpsync serve"), ("DPSYNC_TOKEN", "DPSYNC_TOKEN_FILE")]
)
@pytest.mark.usefixtures("platform")
def test_plan_exits_64_without_url_or_token(
    missing: str, words: str, run: Run, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(missing)
    ended = run("plan", "-C", str(example))
    assert ended.code == 64
    assert words in ended.err


def test_url_with_api_version_exits_64(
    run: Run, example: Path, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_URL", f"{platform.url}/v1")
    ended = run("plan", "-C", str(example))
    assert ended.code == 64
    assert f"must not end with /v1. Write {platform.url}" in ended.err


def test_plan_warns_about_token_over_plain_http(
    run: Run, monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    monkeypatch.setenv("DPSYNC_URL", "http://docs.invalid")
    monkeypatch.setenv("DPSYNC_TOKEN", "t")
    assert "others can read the token" in run("plan", "-C", str(project(BASE))).err


@pytest.mark.usefixtures("platform")
def test_plan_reads_token_from_token_file(
    run: Run, example: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DPSYNC_TOKEN")
    (tmp_path / "token").write_text("ada-token\n")
    monkeypatch.setenv("DPSYNC_TOKEN_FILE", str(tmp_path / "token"))
    assert run("plan", "-C", str(example)).code == 0
