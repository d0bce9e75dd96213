"""Under act, no workflow sends a token to a host that a pull request chooses.

The workflows hold the secrets that a repository gives its own branches. The attacker's host is a real one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.github.act import CHECKOUT, DPSYNC, Act, act_in
from tests.github.conftest import Workflow
from tests.github.fake_github import REPOSITORY
from tests.github.test_environment_source import configuration
from tests.github.tool_cache import action_in
from tests.patience import PATIENCE
from tests.recording_host import RecordingHost

WORKFLOW = """\
on: [{event}]
permissions: {{}}
jobs:
  plan:
    runs-on: ubuntu-24.04
    steps:
      - uses: {checkout}
        with: {{ ref: "{ref}" }}
      - uses: {dpsync}
        with:
          command: plan
          environment: {environment}
          {inputs}
        env:
          DPSYNC_TOKEN_PROD: ${{{{ secrets.DPSYNC_TOKEN }}}}
          AWS_SECRET_ACCESS_KEY: a-secret-of-the-job
"""


@pytest.fixture
def evil() -> Iterator[RecordingHost]:
    with RecordingHost() as host:
        yield host
        assert host.requests == []


@pytest.fixture
def act(workflow: Workflow, tmp_path: Path) -> Act:
    action = action_in(tmp_path / "action")
    return act_in(tmp_path, workflow.folder, workflow.github, workflow.platform.url, action)


class Attack:
    """A repository whose main sends the token of prod to the platform, and a change to the attacker."""

    def __init__(self, act: Act, workflow: Workflow, evil: RecordingHost) -> None:
        self.act, self.workflow, self.evil = act, workflow, evil

    def run(self, event: str, environment: str, inputs: bool, change: str) -> tuple[int, str]:
        """Run a workflow for a pull request, and return the exit code and the output of act."""
        workflow, git = self.workflow, self.workflow.git
        refs = {
            "pull_request": "refs/pull/7/merge",
            "pull_request_target": "refs/heads/change",
            "workflow_run": "refs/heads/change",
            "issue_comment": "refs/pull/7/merge",
        }
        words = "api-url: ${{ vars.DPSYNC_URL }}\n          api-token: ${{ secrets.DPSYNC_TOKEN }}"
        text = WORKFLOW.format(
            event=event, checkout=CHECKOUT, ref=refs[event], dpsync=DPSYNC, environment=environment,
            inputs=words if inputs else "comment: always",
        )  # fmt: skip
        path = workflow.folder / ".github" / "workflows" / "attacked.yml"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        base = workflow.commit(configuration(workflow.platform.url))
        git("checkout", "-q", "-b", "change")
        head = workflow.commit(change)
        git("checkout", "-q", "--detach", "main")
        git("merge", "-q", "--no-ff", "--no-edit", "change")
        git("update-ref", "refs/pull/7/merge", "HEAD")
        merge = {"merge_commit_sha": git("rev-parse", "HEAD")}
        git("checkout", "-q", "main")
        sides: dict[str, Any] = {"head": {"sha": head, "ref": "change"}, "base": {"sha": base, "ref": "main"}}
        for side in sides.values():
            side["repo"] = {"full_name": REPOSITORY}
        workflow.github.requests[7] = {"number": 7, "state": "open", "merged_at": None, **sides, **merge}
        payload: dict[str, Any] = {"repository": {"default_branch": "main"}}
        match event:
            case "pull_request" | "pull_request_target":
                payload["pull_request"] = {"number": 7, **sides}
            case "workflow_run":
                payload["workflow_run"] = {
                    "head_sha": head, "head_branch": "change", "head_repository": {"full_name": REPOSITORY},
                }  # fmt: skip
            case "issue_comment":
                said = workflow.github.comment(7, "/dpsync plan", login="lin")
                payload |= {
                    "action": "created",
                    "comment": {"id": said["id"], "body": said["body"], "author_association": "MEMBER"},
                    "issue": {
                        "number": 7,
                        "state": "open",
                        "pull_request": {"url": "https://github.example"},
                    },
                }
        running = self.act.start("attacked.yml", event, payload)
        printed, _ = running.communicate(timeout=PATIENCE)
        assert "a-secret-of-the-job" not in printed
        return running.returncode, printed


@pytest.fixture
def attack(act: Act, workflow: Workflow, evil: RecordingHost) -> Attack:
    return Attack(act, workflow, evil)


EVENTS = ["pull_request", "pull_request_target", "workflow_run", "issue_comment"]


@pytest.mark.parametrize("event", EVENTS)
def test_changed_api_url_in_pull_request_is_unused(event: str, attack: Attack) -> None:
    code, printed = attack.run(event, "prod", False, configuration(attack.evil.url))
    assert code == 0, printed
    assert "takes effect after the merge" in printed
    assert attack.workflow.platform.app.requests


@pytest.mark.parametrize("event", EVENTS)
def test_new_environment_in_pull_request_is_refused(event: str, attack: Attack) -> None:
    code, printed = attack.run(event, "new", False, configuration(attack.evil.url, name="new"))
    assert code != 0
    assert 'the environment "new" is not reviewed' in printed


@pytest.mark.parametrize("event", EVENTS)
def test_action_inputs_override_changed_api_url(event: str, attack: Attack) -> None:
    code, printed = attack.run(event, "prod", True, configuration(attack.evil.url))
    assert code == 0, printed
    assert f"of the environment prod, so dpsync does not use {attack.evil.url}" in printed
    assert attack.workflow.platform.app.requests


def test_forbidden_job_secret_as_token_is_an_error(attack: Attack) -> None:
    change = configuration(attack.evil.url, "AWS_SECRET_ACCESS_KEY")
    code, printed = attack.run("issue_comment", "prod", True, change)
    assert code != 0
    assert "AWS_SECRET_ACCESS_KEY is not an allowed" in printed
