"""A plan that somebody has asked for in a comment: on which change it is made, and on which it is refused."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from dpsync.github.plan_comment import PlanMarker, read_marker
from tests.github.conftest import CONFIG, Ended, Workflow
from tests.github.fake_github import REPOSITORY, Token
from tests.github.test_cancelled import at

RENAMED = CONFIG.replace("title: Support", "title: Help desk")


@pytest.fixture
def request_7(workflow: Workflow) -> dict[str, Any]:
    """Create a pull request from a branch of the repository and check out its trial merge."""
    workflow.git("update-ref", "refs/remotes/origin/main", "HEAD")
    workflow.git("checkout", "-q", "-b", "change")
    head = workflow.commit(RENAMED)
    workflow.git("checkout", "-q", "--detach", "main")
    workflow.git("merge", "-q", "--no-ff", "--no-edit", "change")
    workflow.github.requests[7] = {
        "number": 7, "state": "open", "head": {"sha": head, "repo": {"full_name": REPOSITORY}},
        "merge_commit_sha": workflow.git("rev-parse", "HEAD"),
        "base": {"ref": "main", "repo": {"full_name": REPOSITORY}},
    }  # fmt: skip
    return workflow.github.requests[7]


def say(workflow: Workflow, **inputs: str) -> Ended:
    """Somebody asks. Such a run begins on the tip of the default branch."""
    said = workflow.github.comment(7, "/dpsync plan", login="ada")
    payload = {
        "action": "created", "comment": {"id": said["id"], "body": said["body"], "user": {"login": "ada"}},
        "issue": {"number": 7, "state": "open", "pull_request": {"url": "https://github.example"}},
    }  # fmt: skip
    return workflow.run("issue_comment", payload, tested=workflow.git("rev-parse", "main"), **inputs)


def ours(workflow: Workflow) -> list[str]:
    return [body for body in workflow.github.bodies(7) if body.startswith("<!-- dpsync")]


@pytest.mark.parametrize("checkout", ["trial merge", "branch"])
def test_plan_requested_by_comment_plans_its_pull_request(
    checkout: str, workflow: Workflow, request_7: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("GITHUB_BASE_REF", "main")
        first = workflow.run("pull_request", workflow.request(sha=request_7["head"]["sha"]))
    workflow.ask("PATCH", "/v1/orgs/acme", {"title": "Acne"})  # so that there is something new to tell
    if checkout == "branch":
        workflow.git("checkout", "-q", "change")
    ended = say(workflow)
    (body,) = ours(workflow)
    marker = read_marker(body, PlanMarker)
    assert marker is not None
    assert (marker.run, marker.sha) == (workflow.runs, request_7["head"]["sha"])
    assert (ended.code, ended.outputs["outcome"]) == (0, "changes")
    assert ended.outputs["comment-url"] == first.outputs["comment-url"]
    assert "Acne" in body
    plan = json.loads(Path(ended.outputs["json-file"]).read_text(encoding="utf-8"))["plan"]
    assert (plan["base"], plan["base_from"]) == (
        workflow.git("rev-parse", "main"),
        "the merge base with origin/main",
    )
    (said,) = (one for one in workflow.github.comments.values() if one["user"]["login"] == "ada")
    assert said["reactions"] == ["eyes"]


def refused(workflow: Workflow, reason: str, **inputs: str) -> str:
    """Check that a run is refused before it reads the change; return its error message."""
    asked = len(workflow.platform.app.requests)
    ended = say(workflow, **inputs)
    assert (ended.code, ended.outputs["outcome"], ended.outputs["failure-reason"]) == (4, "refused", reason)
    assert len(workflow.platform.app.requests) == asked
    assert "$ dpsync" not in ended.printed
    assert ours(workflow) == []
    return ended.step.of("error")[0].data


@pytest.mark.parametrize("repository", [{"full_name": "eve/docs"}, None])
def test_plan_requested_by_comment_on_fork_is_refused(
    repository: Any, workflow: Workflow, request_7: dict[str, Any]
) -> None:
    """Otherwise, a fork's change is planned with the repository's secrets.

    Otherwise, a comment lets a run touch a change that nobody has asked about.
    """
    request_7["head"]["repo"] = repository
    assert "fork" in refused(workflow, "untrusted")
    workflow.git("checkout", "-q", "main")
    refused(workflow, "untrusted")
    said = [one.get("reactions") for one in workflow.github.comments.values()]
    assert said == [["confused"], ["confused"]]


def test_requested_plan_checks_fork_before_starting_git(
    workflow: Workflow, request_7: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\necho >> {tmp_path}/started\nexec /usr/bin/git "$@"\n')
    git.chmod(0o755)
    head = workflow.git("rev-parse", "main")
    fork = workflow.request(repository="eve/docs", sha=request_7["head"]["sha"])
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    assert workflow.run("pull_request_target", fork, tested=head).outputs["failure-reason"] == "untrusted"
    said = workflow.github.comment(7, "/dpsync plan", login="ada")
    issue = {"number": 7, "state": "open", "pull_request": {"url": "https://github.example"}}
    request_7["head"]["repo"] = {"full_name": "eve/docs"}
    (tmp_path / "started").unlink(missing_ok=True)
    ended = workflow.run("issue_comment", {"comment": {"id": said["id"]}, "issue": issue}, tested=head)
    assert ended.outputs["failure-reason"] == "untrusted"
    assert not (tmp_path / "started").exists()
    request_7["head"]["repo"] = {"full_name": REPOSITORY}
    workflow.run("issue_comment", {"comment": {"id": said["id"]}, "issue": issue}, tested=head)
    assert (tmp_path / "started").exists()


def test_plan_requested_before_new_push_is_stale(workflow: Workflow, request_7: dict[str, Any]) -> None:
    """Otherwise, what somebody has pushed meanwhile is told as what was asked for."""
    request_7["head"]["sha"] = "f" * 40
    assert "ffffffffffff" in refused(workflow, "stale")


@pytest.mark.usefixtures("request_7")
def test_requested_plan_of_outdated_checkout_is_stale(workflow: Workflow) -> None:
    workflow.git("checkout", "-q", "main")  # as actions/checkout does where nobody says what to check out
    refused(workflow, "stale")
    workflow.git("checkout", "-q", "--detach", "change")
    workflow.commit(RENAMED)  # on it, and not it
    refused(workflow, "stale")


def test_requested_plan_for_closed_pull_request_is_refused(
    workflow: Workflow, request_7: dict[str, Any]
) -> None:
    """Otherwise, a merged request is planned as if it were still to come."""
    request_7["state"] = "closed"
    assert "no longer open" in refused(workflow, "stale")


@pytest.mark.usefixtures("request_7")
def test_requested_plan_for_unknown_author_is_refused(workflow: Workflow) -> None:
    """Otherwise, without a token nobody asks whose change it is."""
    refused(workflow, "untrusted", github_token="")
    refused(workflow, "untrusted", github_token="unknown")
    del workflow.github.requests[7]
    refused(workflow, "untrusted")


@pytest.mark.usefixtures("request_7")
def test_reaction_to_plan_comment_is_tried_once(workflow: Workflow) -> None:
    github = workflow.github

    def limited(_method: str, path: str) -> None:
        if path.endswith("/reactions"):
            github.answers = [(429, {"message": "slow down"}, {"Retry-After": "1"})]

    github.before = limited
    assert say(workflow).code == 0
    assert [one.endswith("/reactions") for one in github.asked].count(True) == 1
    assert len(ours(workflow)) == 1


@pytest.mark.usefixtures("request_7")
def test_failed_reaction_to_plan_comment_is_not_reported(workflow: Workflow) -> None:
    workflow.github.tokens["token"] = Token(writes=frozenset())
    ended = say(workflow)
    assert (ended.code, ended.outputs["outcome"]) == (0, "changes")
    (notice,) = ended.step.of("notice", "warning", "error")[:1]
    assert "dpsync could not write the comment" in notice.data


def test_comment_on_issue_requests_no_plan(workflow: Workflow) -> None:
    payload = {"issue": {"number": 7, "state": "open"}, "comment": {"id": 1}}
    ended = workflow.run("issue_comment", payload)
    assert (ended.code, ended.outputs["comment-url"]) == (0, "")


@pytest.mark.usefixtures("request_7")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_before_first_command_interrupts_run(number: int, code: int, workflow: Workflow) -> None:
    workflow.github.before = at("/pulls/7", number)
    ended = say(workflow)
    assert (ended.code, ended.outputs["failure-reason"]) == (code, "interrupted")
    assert ours(workflow) == []
