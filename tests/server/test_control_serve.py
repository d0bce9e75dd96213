"""`dpsync serve` with a world, faults, a rate limit, latency, and without the control plane."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path

import httpx
import pytest

from dpsync.client.client import ReadClient
from dpsync.server.control.rate_limit import RateLimit
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

WORLD = {
    "users": [{"id": "zoe", "displayName": "Zoe"}],
    "tokens": {"zoe-token": "zoe"},
    "organizations": [{"id": "zoo", "title": "Zoo", "members": [{"user": "zoe", "role": "admin"}]}],
}


Serving = Callable[..., AbstractContextManager[httpx.Client]]


@pytest.fixture
def command(programs: Path) -> list[str]:
    return [str(programs / "dpsync"), "serve", "--port", "0"]


@pytest.fixture
def serving(command: list[str]) -> Serving:
    return partial(served, command)


@contextmanager
def served(command: list[str], *options: str, token: str = "ada-token") -> Iterator[httpx.Client]:
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            url = running.stdout.readline().strip()
            headers = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=url, headers=headers, **NO_TLS, timeout=PATIENCE) as http:
                yield http
        finally:
            running.terminate()
            assert running.wait(PATIENCE) == 0


def test_serve_resets_to_server_data_file(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "world.json").write_text(json.dumps(WORLD))
    with serving("--world", str(tmp_path / "world.json"), "--token", "more", token="more") as http:
        assert http.get("/v1/user").json()["id"] == "zoe"
        assert http.put("/v1/orgs/zoo/teams", json={"title": "New"}).status_code == 201
        assert http.post("/_dpsync/reset").status_code == 204
        assert http.get("/v1/orgs/zoo/teams").json()["count"] == 0


def test_serve_applies_faults_file_from_start(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "faults.yaml").write_text("- { operation: getUser, nth: 2, fault: { kind: reset } }\n")
    with serving("--faults", str(tmp_path / "faults.yaml")) as http:
        assert http.get("/v1/user").status_code == 200
        with pytest.raises(httpx.ReadError):
            http.get("/v1/user")
        assert http.get("/_dpsync/faults").json()["rules"][0]["used"] == 1


def test_serve_without_control_plane_hides_control_endpoints(serving: Serving) -> None:
    with serving("--no-control", "--rate-limit", "100/s") as http:
        for path in ("/_dpsync/health", "/_dpsync/page/switches", "/"):
            assert http.get(path).json()["error"]["message"] == f"path '{path}' not found"
        assert http.get("/v1/user").headers["x-ratelimit-limit"] == "100"


def test_serve_adds_latency_to_every_request(serving: Serving) -> None:
    with serving("--latency", "200") as http:
        began = time.monotonic()
        assert http.get("/v1/user").status_code == 200
        assert time.monotonic() - began >= 0.2


def test_serve_stops_without_waiting_for_delay_faults(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "faults.json").write_text('[{"fault": {"kind": "delay", "seconds": 600}}]')
    with (
        serving("--faults", str(tmp_path / "faults.json")) as http,
        pytest.raises(httpx.ReadTimeout),
    ):
        http.get("/v1/user", timeout=httpx.Timeout(PATIENCE, read=0.2))


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--world", "organizations: 3", "file:1:1: invalid data: organizations: expected a list"),
        (
            "--world",
            "organizations: [{ members: [{}] }]",
            'file:1:29: invalid data: organizations[0].members[0]: "user" is missing',
        ),
        (
            "--world",
            "records:\n- { kind: x, id: a, doc: {} }",
            "file:2:5: invalid data: records[0].kind: unknown kind",
        ),
        (
            "--world",
            'tokens: { "a\\ab": ada }',
            "file:1:11: invalid data: tokens.'a\\x07b': the text contains the character",
        ),
        ("--world", "a: [", "file:2:1: invalid data: while parsing"),
        ("--world", "[]", "invalid data: the data must be a mapping"),
        ("--faults", "- {fault: {kind: none}}", "kind"),
        ("--rate-limit", "", "not a rate limit"),
    ],
)
def test_serve_refuses_invalid_option_files(
    command: list[str], tmp_path: Path, option: str, text: str, message: str
) -> None:
    (tmp_path / "file").write_text(text)
    value = "fast" if option == "--rate-limit" else str(tmp_path / "file")
    ended = subprocess.run(
        [*command, option, value], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ended.returncode != 0
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


# --- a world that was read from a platform ------------------------------------------------------------


def read_world(tmp_path: Path, anonymous: bool) -> str:
    origin = {
        "platform": "https://api.acme.example", "readAt": "2026-01-31T09:30:00Z", "profile": "published",
        "caller": "zoe", "anonymous": anonymous,
    }  # fmt: skip
    path = tmp_path / "world.json"
    path.write_text(json.dumps({**WORLD, "tokens": {}, "origin": origin, "format": "dpsync.world/1"}))
    return str(path)


def test_copied_organization_is_served_locally_with_token(command: list[str], tmp_path: Path) -> None:
    served_ = [*command, "--world", read_world(tmp_path, anonymous=False)]
    with subprocess.Popen(served_, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert running.stderr is not None
            url = running.stdout.readline().strip()
            banner, export = running.stderr.readline(), running.stderr.readline()
            token = export.removeprefix("export DPSYNC_TOKEN=").split()[0]
            headers = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=url, headers=headers, **NO_TLS, timeout=PATIENCE) as http:
                answers = [http.get("/v1/user"), http.get("/v1/user", headers={"Host": "evil.example"})]
                http.post("/_dpsync/reset")
                answers.append(http.get("/v1/user"))
                health = http.get("/_dpsync/health").json()
        finally:
            running.terminate()
    assert banner.startswith("A copy of https://api.acme.example at 2026-01-31T09:30:00Z (API version publ")
    assert [answer.status_code for answer in answers] == [200, 403, 200]
    assert health["profile"] == "published"


def test_copied_organization_is_not_served_publicly(command: list[str], tmp_path: Path) -> None:
    asked = [*command, "--host", "0.0.0.0", "--world", read_world(tmp_path, anonymous=False)]
    ended = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "use --host 127.0.0.1" in ended.stderr


def test_copied_organization_refuses_allow_host(command: list[str], tmp_path: Path) -> None:
    world = read_world(tmp_path, anonymous=False)
    asked = [*command, "--allow-host", "docs.acme.example", "--world", world]
    ended = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "only this machine may reach a copy of an organization: omit --allow-host" in ended.stderr


# --- rate limit ---------------------------------------------------------------------------------------


def test_serve_rate_limit_returns_429_with_retry_after(serving: Serving) -> None:
    with serving("--rate-limit", "3/m") as http:
        answers = [http.get("/v1/user") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert [answer.headers["x-ratelimit-remaining"] for answer in answers] == ["2", "1", "0", "0"]
        assert {answer.headers["x-ratelimit-limit"] for answer in answers} == {"3"}
        assert 1 <= int(answers[3].headers["retry-after"]) <= 60
        assert 0 <= int(answers[3].headers["x-ratelimit-reset"]) - time.time() <= 61
        assert parsedate_to_datetime(answers[3].headers["date"])
        assert answers[3].json()["error"]["code"] == 429
        other = http.get("/v1/user", headers={"Authorization": "Bearer grace-token"})
        assert other.status_code == 200
        assert http.get("/_dpsync/requests").json()["requests"][3]["status"] == 429


def test_dpsync_client_respects_serve_rate_limit(serving: Serving) -> None:
    with serving("--rate-limit", "5/s") as http, ReadClient(str(http.base_url), "ada-token") as client:
        for _ in range(8):
            assert client.get("/user")["id"] == "ada"


def test_rate_limit_window_restarts_after_expiry() -> None:
    now = [0.0]
    limit = RateLimit(2, 10, now=lambda: now[0])
    assert [limit.consume("a").allowed for _ in range(3)] == [True, True, False]
    now[0] = 9.9
    assert not limit.consume("a").allowed
    assert limit.consume("a").headers()["retry-after"] == "1"
    now[0] = 10.0
    assert limit.consume("a").remaining == 1


@pytest.mark.parametrize("text", ["", "10", "0/s", "10/h", "-1/s", "1.5/s", "10/s "])
def test_invalid_rate_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a rate limit"):
        RateLimit.parse(text)


def test_console_shows_plan_of_served_directory(serving: Serving, tmp_path: Path) -> None:
    text = "dpsync: 1\norganizations:\n  acme:\n    id: acme\n    teams: { more: { title: <More> } }\n"
    (tmp_path / "dpsync.yaml").write_text(text)
    with serving("--plan", str(tmp_path)) as http:
        assert f"dpsync plan -C {tmp_path}" in http.get("/_dpsync/page/plan").text
        report = http.get("/_dpsync/page/plan/report").text
        assert "acme/teams/more" in report
        assert f"platform: {str(http.base_url).rstrip('/')}" in report
