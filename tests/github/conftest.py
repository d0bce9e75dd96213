"""GitHub, its runner and the companion around `dpsync github`, which runs in this process."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from dpsync.cli.main import run as run_command
from dpsync.server.process.threaded_server import ThreadedServer
from tests.github.fake_github import REPOSITORY, FakeGitHub
from tests.github.runner import Step, read_outputs, read_summary
from tests.no_tls import NO_TLS

CONFIG = """\
dpsync: 1
policy: { prune: [teams], limits: { deletes: 5, percent: 60 } }
organizations:
  acme:
    id: acme
    title: Acme
    teams:
      writers: { title: Technical writers }
      reviewers: { title: Reviewers }
      sales: { title: Sales }
      legacy: { title: Legacy }
      support: { title: Support }
"""


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as running:
        yield running


@dataclass(frozen=True)
class Ended:
    """What the runner has of a step."""

    code: int
    printed: str
    outputs: dict[str, str]
    summary: str

    @property
    def step(self) -> Step:
        return Step().read(self.printed)


@dataclass
class Workflow:
    """A repository with a configuration, and runs of the action in it."""

    folder: Path
    github: FakeGitHub
    platform: ThreadedServer
    set_env: Callable[[str, str], None]
    printed: Callable[[], str]
    waited: list[float]
    """Seconds that were waited for GitHub."""
    runs: int = 100

    def git(self, *words: str) -> str:
        author = ["-c", "user.name=Ada", "-c", "user.email=ada@acme.example", "-c", "maintenance.auto=false"]
        done = subprocess.run(
            ["git", *author, *words], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, text: str, name: str = "dpsync.yaml") -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a change")
        return self.pushed()

    def pushed(self) -> str:
        """Push the current branch to the fake GitHub and return its commit."""
        commit, branch = self.git("rev-parse", "HEAD"), self.git("branch", "--show-current")
        self.github.tips[branch or "main"] = commit
        if branch in self.github.git.branches:
            self.github.git.push(branch, {}, at=commit)
        return commit

    def checked_out_again(self) -> None:
        """Simulate the new checkout of the next job, without records of earlier applies."""
        shutil.rmtree(self.folder / ".dpsync" / "applied", ignore_errors=True)

    def ask(self, method: str, path: str, content: Any = None) -> Any:
        """Send a request to the platform as another client."""
        headers = {"Authorization": "Bearer ada-token"}
        url = self.platform.url + path
        return httpx.request(method, url, json=content, headers=headers, **NO_TLS).json()

    def request(self, number: int = 7, sha: str = "", repository: str = REPOSITORY) -> dict[str, Any]:
        """Register a pull request with the fake GitHub and return the pull request's event."""
        head = {"sha": sha or self.git("rev-parse", "HEAD"), "repo": {"full_name": repository}}
        base = {"sha": self.git("rev-parse", "HEAD"), "ref": "main", "repo": {"full_name": REPOSITORY}}
        request = {"number": number, "head": head, "base": base}
        known = self.github.requests.setdefault(
            number, {"number": number, "state": "open", "merged_at": None}
        )
        known |= {"head": dict(head), "base": dict(base)}
        return {"pull_request": request}

    def run(self, event: str = "push", payload: dict[str, Any] | None = None, **inputs: str) -> Ended:
        """One step. Inputs have underscores here; `run_id` and `actor` are of the run."""
        self.runs += 1
        files = {name: self.folder.parent / f"{self.runs}-{name}" for name in ("output", "summary", "event")}
        for file in files.values():
            file.write_text("", encoding="utf-8")
        files["event"].write_text(json.dumps(payload or {}), encoding="utf-8")
        environment = {
            "CI": "true",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(files["event"]),
            "GITHUB_OUTPUT": str(files["output"]),
            "GITHUB_STEP_SUMMARY": str(files["summary"]),
            "GITHUB_RUN_ID": inputs.pop("run_id", str(self.runs)),
            "GITHUB_ACTOR": inputs.pop("actor", "ada"),
            "GITHUB_REF": inputs.pop("ref", "refs/heads/main"),
            "GITHUB_SHA": inputs.pop("tested", "") or self.git("rev-parse", "HEAD"),
        }
        given = {
            "github-token": "token",
            "api-url": self.platform.url,
            "api-token": "ada-token",
            **{name.replace("_", "-"): value for name, value in inputs.items()},
        }
        for name, value in environment.items():
            self.set_env(name, value)
        self.printed()
        code = run_command(["github"], json.dumps(given))
        return Ended(
            code,
            self.printed(),
            read_outputs(files["output"].read_text(encoding="utf-8")),
            read_summary(files["summary"].read_bytes()),
        )


@pytest.fixture
def workflow(
    github: FakeGitHub,
    server: ThreadedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Workflow:
    server.reset()
    for name in ("DPSYNC_URL", "DPSYNC_TOKEN", "DPSYNC_TOKEN_FILE", "DPSYNC_FILE", "GITHUB_BASE_REF"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_API_URL": github.url,
        "GITHUB_GRAPHQL_URL": f"{github.url}/graphql",
        "RUNNER_TEMP": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    waited: list[float] = []
    monkeypatch.setattr("dpsync.github.api.sleep", waited.append)
    made = Workflow(folder, github, server, monkeypatch.setenv, lambda: capsys.readouterr().out, waited)
    made.git("init", "-q", "-b", "main")
    made.commit(CONFIG)
    return made
