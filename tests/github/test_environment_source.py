"""The workflow or the merged configuration decides where the action sends a token, never a change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.github.conftest import CONFIG, Ended, Workflow
from tests.github.fake_github import REPOSITORY
from tests.recording_host import RecordingHost


def configuration(url: str, variable: str = "DPSYNC_TOKEN_PROD", name: str = "prod") -> str:
    """Return a configuration with one environment."""
    return f"{CONFIG}environments: {{ {name}: {{ url: {url}, token: {{ env: {variable} }} }} }}\n"


@pytest.fixture
def evil() -> Iterator[RecordingHost]:
    with RecordingHost() as host:
        yield host


def test_action_inputs_override_the_environment(
    workflow: Workflow, evil: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, an environment in a change could send a job secret to a host of its author's choice."""
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "a-secret-of-the-job")
    workflow.commit(configuration(evil.url))
    ended = workflow.run("pull_request", workflow.request(), environment="prod")
    assert evil.requests == []
    assert (ended.code, ended.outputs["outcome"]) == (0, "changes")
    assert f"of the environment prod, so dpsync does not use {evil.url}" in ended.printed


@pytest.mark.parametrize("missing", ["api_url", "api_token"])
def test_api_url_input_without_token_is_an_error(
    missing: str, workflow: Workflow, evil: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "a-secret-of-the-job")
    workflow.commit(configuration(evil.url))
    ended = workflow.run("pull_request", workflow.request(), environment="prod", **{missing: ""})
    assert (ended.code, evil.requests) == (64, [])
    assert 'the input "api-url" or "api-token" is empty' in ended.printed


@pytest.fixture
def change(workflow: Workflow, evil: RecordingHost, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the event of a pull request from a branch that sends the token of prod to the host `evil`.

    Its trial merge is checked out. main sends the token to the platform.
    """
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "ada-token")
    base = workflow.commit(configuration(workflow.platform.url))
    workflow.git("update-ref", "refs/remotes/origin/main", "HEAD")
    workflow.git("checkout", "-q", "-b", "change")
    head = workflow.commit(configuration(evil.url))
    workflow.git("checkout", "-q", "--detach", "main")
    workflow.git("merge", "-q", "--no-ff", "--no-edit", "change")
    sides = {"head": {"sha": head}, "base": {"sha": base, "ref": "main"}}
    for side in sides.values():
        side["repo"] = {"full_name": REPOSITORY}
    merge = {"merge_commit_sha": workflow.git("rev-parse", "HEAD")}
    workflow.github.requests[7] = {"number": 7, "state": "open", "merged_at": None, **sides, **merge}
    return {"pull_request": {"number": 7, **sides, **merge}, "repository": {"default_branch": "main"}}


def run_plan_comment(workflow: Workflow, **inputs: str) -> Ended:
    """Run the action for a `/dpsync plan` comment: on the default branch, with the repository's secrets."""
    said = workflow.github.comment(7, "/dpsync plan", login="ada")
    payload = {
        "action": "created", "comment": {"id": said["id"], "body": said["body"]},
        "issue": {"number": 7, "state": "open", "pull_request": {"url": "https://github.example"}},
        "repository": {"default_branch": "main"},
    }  # fmt: skip
    return workflow.run("issue_comment", payload, tested=workflow.git("rev-parse", "main"), **inputs)


def test_comment_says_changed_api_url_needs_merge(
    workflow: Workflow, evil: RecordingHost, change: dict[str, Any]
) -> None:
    more = {"environment": "prod", "api_url": "", "api_token": "", "ref": "refs/pull/7/merge"}
    planned = workflow.run("pull_request", change, **more)
    (first,) = workflow.github.bodies(7)
    again = run_plan_comment(workflow, **more | {"ref": "refs/heads/main"})
    (second, _) = workflow.github.bodies(7)
    assert evil.requests == []
    for ended, body in ((planned, first), (again, second)):
        assert (ended.code, ended.outputs["outcome"]) == (0, "changes")
        assert "takes effect after the merge" in body
        assert evil.url in body
        assert "takes effect after the merge" in ended.printed
    assert planned.outputs["digest"] == again.outputs["digest"]


def test_new_environment_is_refused_as_untrusted(
    workflow: Workflow, evil: RecordingHost, change: dict[str, Any]
) -> None:
    workflow.commit(configuration(evil.url, name="new"))
    change["pull_request"]["head"]["sha"] = workflow.git("rev-parse", "HEAD")
    more = {"environment": "new", "api_url": "", "api_token": ""}
    for ended in (
        workflow.run("pull_request", change, ref="refs/pull/7/merge", **more),
        run_plan_comment(workflow, **more),
    ):
        assert (ended.code, ended.outputs["outcome"]) == (4, "refused")
        assert ended.outputs["failure-reason"] == "untrusted"
        assert 'the environment "new" is not reviewed' in ended.printed
        assert 'the environment "new" is not reviewed' in ended.summary
    assert evil.requests == []


def test_new_environment_is_planned_with_inputs(
    workflow: Workflow, evil: RecordingHost, change: dict[str, Any]
) -> None:
    """The workflow provides address and token, so dpsync need not refuse a new environment."""
    workflow.commit(configuration(evil.url, name="new"))
    ended = workflow.run("pull_request", change, environment="new")
    assert (ended.code, ended.outputs["outcome"], evil.requests) == (0, "changes", [])


@pytest.mark.parametrize(("branches", "reached"), [("release", True), ("main\nrelease", True), ("", False)])
def test_api_url_of_allowed_target_branch_is_used(
    branches: str, reached: bool, workflow: Workflow, evil: RecordingHost, change: dict[str, Any]
) -> None:
    """Branches of the input `branches` may have their own address. Others may not: anyone may push them."""
    workflow.git("update-ref", "refs/remotes/origin/release", "change")
    change["pull_request"]["base"] |= {"ref": "release", "sha": workflow.git("rev-parse", "change")}
    more = {"environment": "prod", "api_url": "", "api_token": "", "branches": branches}
    workflow.run("pull_request_target", change, tested=workflow.git("rev-parse", "main"), **more)
    assert bool(evil.requests) == reached
