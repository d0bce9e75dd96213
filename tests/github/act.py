"""act, which plays GitHub's runner without Docker: it reads a workflow, copies the checkout, runs the action.

It does not play permissions, concurrency groups and limits.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.github.fake_github import REPOSITORY, FakeGitHub
from tests.patience import PATIENCE

TOOLS = Path(sys.executable).parent
CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1"
DPSYNC = "dpsync/dpsync@0123456789abcdef0123456789abcdef01234567"
STAND_IN = """\
# What actions/checkout does where it is told what to check out; otherwise act copies what there is.
name: checkout
description: checkout
inputs:
  ref: { description: ref, default: "" }
  fetch-depth: { description: depth, default: "1" }
  persist-credentials: { description: credentials, default: "true" }
runs:
  using: composite
  steps:
    - run: |
        git init -q
        git remote add origin "$FOLDER"
        git fetch -q origin "+refs/heads/*:refs/remotes/origin/*"
        git fetch -q origin "$REF"
        git checkout -q --detach FETCH_HEAD
      shell: bash
      env: { REF: "${{ inputs.ref }}", FOLDER: "%s" }
"""


@dataclass
class Act:
    """A checkout with the workflows, and the action as a repository of its own."""

    folder: Path
    github: FakeGitHub
    url: str
    home: Path
    action: Path
    checkout: Path
    dpsync: str = DPSYNC
    """What the workflow calls the action."""
    path: str = f"{TOOLS}:/usr/local/bin:/usr/bin:/bin"
    runs: int = 0

    def start(
        self,
        file: str,
        event: str,
        payload: dict[str, Any],
        token: str = "ada-token",
        words: tuple[str, ...] = (),
    ) -> subprocess.Popen[str]:
        self.runs += 1
        events = self.home / f"{self.runs}.json"
        events.write_text(json.dumps(payload), encoding="utf-8")
        home = self.home / str(self.runs)
        given = {
            "GITHUB_API_URL": self.github.url,
            "GITHUB_GRAPHQL_URL": f"{self.github.url}/graphql",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": str(100 + self.runs),
            "XDG_STATE_HOME": str(self.home / "state"),
        }
        home.mkdir()
        command = [
            str(TOOLS / "act"), event, "-W", f".github/workflows/{file}", "-e", str(events),
            "-P", "ubuntu-24.04=-self-hosted", f"--local-repository={self.dpsync}={self.action}",
            f"--local-repository={CHECKOUT}={self.checkout}",
            *(word for name, value in given.items() for word in ("--env", f"{name}={value}")),
            "--var", f"DPSYNC_URL={self.url}", "-s", f"DPSYNC_TOKEN={token}", "-s", "GITHUB_TOKEN=token",
            *words,
        ]  # fmt: skip
        environment = {"PATH": self.path, "HOME": str(home), "LANG": "C.UTF-8"}
        return subprocess.Popen(
            command, cwd=self.folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def run(self, file: str, event: str, payload: dict[str, Any] | None = None, **more: Any) -> str:
        return ended(self.start(file, event, payload or {}, **more))


def ended(running: subprocess.Popen[str]) -> str:
    """Wait for a run, require that every job succeeds, and return the output."""
    printed, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, printed
    return printed


def act_in(
    place: Path, folder: Path, github: FakeGitHub, url: str, action: Path, dpsync: str = DPSYNC
) -> Act:
    """Prepare act for the checkout `folder`; `place` holds the files that act itself needs."""
    home, checkout = place / "home", place / "checkout"
    for made in (home, checkout):
        made.mkdir()
    (checkout / "action.yml").write_text(STAND_IN % folder, encoding="utf-8")
    return Act(folder, github, url, home, action, checkout, dpsync)
