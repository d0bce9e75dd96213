"""The target commit of a change, and not the change itself, decides where a token is sent.

`plan` needs no approval. If it used the address of the change, the token would be gone before anybody has
read the change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Ran, Run
from tests.cli.test_overlays import git
from tests.recording_host import RecordingHost

EVIL_TOKEN = "a-token-of-another-environment"
GITHUB = ("GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_BASE_REF", "GITHUB_REF", "GITHUB_SHA")
GITLAB = (
    "GITLAB_CI", "CI_PIPELINE_SOURCE", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    "CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "CI_MERGE_REQUEST_DIFF_BASE_SHA",
)  # fmt: skip


def configuration(url: str, variable: str = "DPSYNC_TOKEN_PROD", name: str = "prod") -> str:
    return (
        "dpsync: 1\norganizations: { acme: { id: acme, title: Acme } }\n"
        f"environments:\n  {name}:\n    url: {url}\n    token: {{ env: {variable} }}\n"
    )


@dataclass
class Clone:
    """A clone in CI. The environment prod has the host `merged` on main, and `evil` on branch `change`."""

    folder: Path
    merged: RecordingHost
    evil: RecordingHost
    run: Run
    env: pytest.MonkeyPatch

    def commit(self, text: str) -> str:
        (self.folder / "dpsync.yaml").write_text(text, encoding="utf-8")
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "--allow-empty", "-m", "a change")
        return self.id("HEAD")

    def id(self, name: str) -> str:
        return git(self.folder, "rev-parse", name).strip()

    def event(self, name: str, event: dict[str, Any], **variables: str) -> None:
        """Set the event and the variables of a run on GitHub. Commit names in the event become commit ids."""
        path = self.folder.parent / "event.json"
        path.write_text(json.dumps(event), encoding="utf-8")
        ids = {"GITHUB_SHA": self.id(variables.pop("sha"))} if "sha" in variables else {}
        known = {"CI": "true", "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path), **ids}
        for variable, value in {**known, **variables}.items():
            self.env.setenv(variable, value)

    def request(self, base: str = "main", default: str = "main") -> dict[str, Any]:
        """Return the event of a pull request from `change` into the branch `base`."""
        return {
            "pull_request": {
                "head": {"sha": self.id("change")}, "base": {"ref": base, "sha": self.id(base)},
            },
            "repository": {"default_branch": default},
        }  # fmt: skip

    def plan(self, *words: str) -> Ran:
        return self.run("plan", "-C", str(self.folder), "--env", "prod", *words)


@pytest.fixture
def clone(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clone]:
    for name in (*GITHUB, *GITLAB, "CI", "DPSYNC_URL", "DPSYNC_TOKEN", "DPSYNC_ENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "the-token-of-prod")
    monkeypatch.setenv("DPSYNC_TOKEN_OTHER", EVIL_TOKEN)
    folder = tmp_path / "clone"
    folder.mkdir()
    with RecordingHost() as merged, RecordingHost() as evil:
        made = Clone(folder, merged, evil, run, monkeypatch)
        git(folder, "init", "-q", "-b", "main")
        made.commit(configuration(merged.url))
        git(folder, "checkout", "-q", "-b", "change")
        made.commit(configuration(evil.url, "DPSYNC_TOKEN_OTHER"))
        git(folder, "checkout", "-q", "--detach", "main")
        git(folder, "merge", "-q", "--no-ff", "--no-edit", "change")
        git(folder, "update-ref", "refs/pull/7/merge", "HEAD")
        git(folder, "update-ref", "refs/remotes/origin/main", "main")
        yield made


def trial_merge(clone: Clone) -> None:
    sha = clone.id("refs/pull/7/merge")
    clone.event(
        "pull_request", clone.request(), sha=sha, GITHUB_REF="refs/pull/7/merge", GITHUB_BASE_REF="main"
    )


def trial_merge_without_branches(clone: Clone) -> None:
    trial_merge(clone)
    git(clone.folder, "update-ref", "-d", "refs/remotes/origin/main")


def review(clone: Clone) -> None:
    sha = clone.id("refs/pull/7/merge")
    clone.event("pull_request_review", clone.request(), sha=sha, GITHUB_REF="refs/pull/7/merge")


def checkout_of_the_branch(clone: Clone) -> None:
    git(clone.folder, "checkout", "-q", "change")
    clone.event("pull_request", clone.request(), sha="change", GITHUB_BASE_REF="main")


def pull_request_target(clone: Clone) -> None:
    git(clone.folder, "checkout", "-q", "change")
    clone.event("pull_request_target", clone.request(), sha="main", GITHUB_REF="refs/heads/main")


def workflow_run(clone: Clone) -> None:
    git(clone.folder, "checkout", "-q", "change")
    event = {"workflow_run": {"head_sha": clone.id("change")}, "repository": {"default_branch": "main"}}
    clone.event("workflow_run", event, sha="main", GITHUB_REF="refs/heads/main")


def comment(clone: Clone) -> None:
    event = {"issue": {"number": 7, "pull_request": {}}, "repository": {"default_branch": "main"}}
    clone.event("issue_comment", event, sha="main", GITHUB_REF="refs/heads/main")


def dispatch_for_a_comment(clone: Clone) -> None:
    git(clone.folder, "checkout", "-q", "change")
    clone.event("repository_dispatch", {}, sha="main", GITHUB_REF="refs/heads/main")


def button_for_a_change(clone: Clone) -> None:
    """Start a workflow by hand, with the pull request that it checks out as its input."""
    git(clone.folder, "checkout", "-q", "change")
    clone.event("workflow_dispatch", {}, sha="main", GITHUB_REF="refs/heads/main")


def merge_group(clone: Clone) -> None:
    event = {"merge_group": {"base_sha": clone.id("main"), "base_ref": "refs/heads/main"}}
    clone.event("merge_group", event, sha="HEAD")


def target_that_moved_on(clone: Clone) -> None:
    """Send an event with an older target commit than the clone has, whose address may be outdated."""
    old = clone.request()
    old["pull_request"]["base"]["sha"] = clone.id("change")  # as if the change had been merged and reverted
    clone.event("pull_request", old, sha="change", GITHUB_BASE_REF="main")


def own_branch_as_target(clone: Clone) -> None:
    """Anyone who may push a branch can open a pull request into that branch, and GitHub runs the workflow."""
    git(clone.folder, "checkout", "-q", "change")
    git(clone.folder, "branch", "mine", "change")
    git(clone.folder, "update-ref", "refs/remotes/origin/mine", "mine")
    event = clone.request(base="mine")
    clone.event(
        "pull_request_target", event, sha="main", GITHUB_REF="refs/heads/main", GITHUB_BASE_REF="mine"
    )


def gitlab(clone: Clone) -> None:
    for name, value in {
        "CI": "true", "GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": clone.id("main"),
    }.items():  # fmt: skip
        clone.env.setenv(name, value)


RUNS = [
    trial_merge, trial_merge_without_branches, review, checkout_of_the_branch, pull_request_target,
    workflow_run, comment, dispatch_for_a_comment, button_for_a_change, merge_group,
    target_that_moved_on, own_branch_as_target, gitlab,
]  # fmt: skip


@pytest.mark.parametrize("begin", RUNS, ids=lambda begin: begin.__name__.replace("_", " "))
def test_unmerged_environment_url_change_is_not_used(begin: Callable[[Clone], None], clone: Clone) -> None:
    begin(clone)
    ended = clone.plan()
    assert (clone.evil.requests, clone.merged.tokens) == ([], {"the-token-of-prod"})
    said = [line for line in ended.err.splitlines() if "takes effect after the merge" in line]
    assert len(said) == 1
    assert f"sets the url {clone.evil.url} and the token DPSYNC_TOKEN_OTHER." in said[0]
    assert f"still uses the url {clone.merged.url} and the token DPSYNC_TOKEN_PROD from" in said[0]
    assert EVIL_TOKEN not in ended.err + ended.out


def push(clone: Clone) -> None:
    clone.event("push", {}, sha="HEAD", GITHUB_REF="refs/heads/main")


def push_that_others_followed(clone: Clone) -> None:
    """Push, and let the job run later on the newest commit of its branch."""
    clone.event("push", {}, sha="main", GITHUB_REF="refs/heads/main")
    git(clone.folder, "update-ref", "refs/remotes/origin/main", "HEAD")


def tag(clone: Clone) -> None:
    clone.event("push", {}, sha="HEAD", GITHUB_REF="refs/tags/v1")


def timer(clone: Clone) -> None:
    clone.event("schedule", {}, sha="HEAD", GITHUB_REF="refs/heads/main")


def run_after_another_workflow(clone: Clone) -> None:
    """Such a run holds secrets, and here it works on the default branch."""
    clone.event("workflow_run", {"workflow_run": {}}, sha="HEAD", GITHUB_REF="refs/heads/main")


def pipeline_of_a_branch(clone: Clone) -> None:
    for name, value in {"CI": "true", "GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "push"}.items():
        clone.env.setenv(name, value)


@pytest.mark.parametrize(
    "begin",
    [push, push_that_others_followed, tag, timer, run_after_another_workflow, pipeline_of_a_branch],
    ids=lambda begin: begin.__name__.replace("_", " "),
)
def test_merged_environment_url_is_used_immediately(begin: Callable[[Clone], None], clone: Clone) -> None:
    """What is checked out here is the merge: ordinary work on the branch is not interrupted."""
    begin(clone)
    assert clone.plan().code == 1
    assert (clone.evil.tokens, clone.merged.requests) == ({EVIL_TOKEN}, [])


@pytest.mark.parametrize("command", ["plan", "drift", "list", "ids", "doctor", "world x", "import"])
def test_every_command_uses_url_of_target_commit(command: str, clone: Clone) -> None:
    trial_merge(clone)
    clone.run(*command.split(), "-C", str(clone.folder), "--env", "prod")
    assert clone.evil.requests == []
    assert clone.merged.requests != []


@pytest.mark.parametrize("begin", RUNS, ids=lambda begin: begin.__name__.replace("_", " "))
def test_new_environment_in_unmerged_change_is_refused(begin: Callable[[Clone], None], clone: Clone) -> None:
    begin(clone)
    (clone.folder / "dpsync.yaml").write_text(configuration(clone.evil.url, name="new"), encoding="utf-8")
    ended = clone.run("plan", "-C", str(clone.folder), "--env", "new")
    assert (ended.code, clone.evil.requests, clone.merged.requests) == (4, [], [])
    assert "error[untrusted-environment]" in ended.err
    assert 'the environment "new" is not reviewed' in ended.err
    assert "dpsync.yaml:5:10" in ended.err


@pytest.mark.parametrize(
    "command",
    [
        "plan", "apply --yes", "drift", "list", "ids", "import", "rehearse", "world x", "revert JOURNAL",
        "serve --from-live --port 0",
    ],
)  # fmt: skip
def test_every_command_refuses_unmerged_new_environment(
    command: str, clone: Clone, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    del platform  # it sets the address, after the clone has removed it
    git(clone.folder, "checkout", "-q", "change")
    clone.commit(configuration(clone.evil.url, name="new").replace("title: Acme", "title: Acne"))
    if "JOURNAL" in command:
        assert clone.run("apply", "-C", str(clone.folder), "--yes").code == 0
    for name in ("DPSYNC_URL", "DPSYNC_TOKEN"):
        monkeypatch.delenv(name)
    journal = "".join(map(str, (clone.folder / ".dpsync" / "journal").glob("*.jsonl")))
    words = [journal if word == "JOURNAL" else word for word in command.split()]
    checkout_of_the_branch(clone)
    ended = clone.run(*words, "-C", str(clone.folder), "--env", "new")
    assert (ended.code, clone.evil.requests) == (4, [])
    assert "error[untrusted-environment]" in ended.err


def test_doctor_reports_refused_new_environment(clone: Clone) -> None:
    git(clone.folder, "checkout", "-q", "change")
    clone.commit(configuration(clone.evil.url, name="new"))
    checkout_of_the_branch(clone)
    ended = clone.run("doctor", "-C", str(clone.folder), "--env", "new")
    assert (ended.code, clone.evil.requests) == (1, [])
    assert 'the environment "new" is not reviewed' in " ".join(ended.out.split())


def test_merged_environment_url_is_used_despite_removal(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an address in the environment, dpsync would plan against the address of the shell."""
    monkeypatch.setenv("DPSYNC_URL", clone.evil.url)
    monkeypatch.setenv("DPSYNC_TOKEN", EVIL_TOKEN)
    git(clone.folder, "checkout", "-q", "change")
    clone.commit("dpsync: 1\norganizations: { acme: { id: acme } }\nenvironments: { prod: {} }\n")
    checkout_of_the_branch(clone)
    ended = clone.plan()
    assert (clone.evil.requests, clone.merged.tokens) == ([], {"the-token-of-prod"})
    assert "this change sets no url and no token" in ended.err


def test_new_environment_without_url_is_planned(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without an address uses the address of the shell, so dpsync need not refuse it."""
    monkeypatch.setenv("DPSYNC_URL", clone.merged.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "the-token-of-the-shell")
    git(clone.folder, "checkout", "-q", "change")
    clone.commit("dpsync: 1\norganizations: { acme: { id: acme } }\nenvironments: { new: {} }\n")
    checkout_of_the_branch(clone)
    ended = clone.run("plan", "-C", str(clone.folder), "--env", "new")
    assert (ended.code, clone.merged.tokens) == (1, {"the-token-of-the-shell"})


def test_unchanged_environment_url_prints_no_note(clone: Clone) -> None:
    git(clone.folder, "checkout", "-q", "main")
    git(clone.folder, "checkout", "-q", "-B", "change")
    clone.commit(configuration(clone.merged.url).replace("title: Acme", "title: Acne"))
    checkout_of_the_branch(clone)
    ended = clone.plan()
    assert clone.merged.tokens == {"the-token-of-prod"}
    assert "merged" not in ended.err


def test_plan_refuses_clone_without_target_branch(clone: Clone, tmp_path: Path) -> None:
    checkout_of_the_branch(clone)
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=change", f"file://{clone.folder}", str(shallow))
    ended = clone.run("plan", "-C", str(shallow), "--env", "prod")
    assert (ended.code, clone.evil.requests, clone.merged.requests) == (4, [], [])
    assert "main (the target branch of this pull request) is not in this clone" in ended.err
    assert "fetch-depth: 0" in ended.err


def test_environment_url_from_submodule_branch_is_untrusted(clone: Clone) -> None:
    """A change can replace the project by a submodule, and its author chooses the branches in it."""
    outer = clone.folder.parent / "outer"
    outer.mkdir()
    git(outer, "init", "-q", "-b", "main")
    git(outer, "commit", "-q", "--allow-empty", "-m", "first")
    inner = outer / "docs"
    git(outer, "clone", "-q", str(clone.folder), str(inner))
    git(inner, "checkout", "-q", "--detach", "origin/change")
    git(inner, "update-ref", "refs/remotes/origin/main", "HEAD")
    base = git(outer, "rev-parse", "HEAD").strip()
    event = {"pull_request": {"base": {"ref": "main", "sha": base}}, "repository": {"default_branch": "main"}}
    clone.event("pull_request_target", event, sha="main", GITHUB_REF="refs/heads/main")
    clone.env.setenv("GITHUB_SHA", base)
    ended = clone.run("plan", "-C", str(inner), "--env", "prod")
    assert (ended.code, clone.evil.requests) == (4, [])


def test_forbidden_token_variable_in_target_commit_is_refused(clone: Clone) -> None:
    """A target commit that is older than this rule is refused. A merged correction is planned."""
    clone.env.setenv("PROD_TOKEN", "the-token-of-prod")
    git(clone.folder, "checkout", "-q", "main")
    clone.commit(configuration(clone.merged.url, "PROD_TOKEN"))
    git(clone.folder, "update-ref", "refs/remotes/origin/main", "main")
    checkout_of_the_branch(clone)
    ended = clone.plan()
    assert (ended.code, clone.merged.requests, clone.evil.requests) == (4, [], [])
    assert "PROD_TOKEN is not an allowed token variable" in ended.err
    clone.env.setenv("DPSYNC_TOKEN_NAMES", "PROD_TOKEN")
    clone.plan()
    assert (clone.merged.tokens, clone.evil.requests) == ({"the-token-of-prod"}, [])
