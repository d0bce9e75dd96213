"""After an apply: what it has learned about ids is on the branch, however it has ended."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from dpsync.github.ids_branch import PULL_REQUEST_TITLE
from tests.github.conftest import CONFIG, Ended, Workflow
from tests.github.fake_github import REPOSITORY, Token
from tests.github.test_cancelled import at

IDS = "dpsync.ids.yaml"
PUT = f"PUT /repos/{REPOSITORY}/contents/{IDS}"
HOME = f"https://github.example/{REPOSITORY}"
TEAMS = {"writers", "reviewers", "sales", "legacy", "support"}


@pytest.fixture
def branch(workflow: Workflow) -> Workflow:
    """Push the configuration of the working copy to the branch on GitHub."""
    workflow.github.git.push("main", {"dpsync.yaml": CONFIG}, at=workflow.git("rev-parse", "HEAD"))
    return workflow


def apply(workflow: Workflow, by: str = "commit", **more: Any) -> Ended:
    """Apply in a fresh checkout. On loopback the ids are not in git, unless the file is named."""
    workflow.git("clean", "-qfdx")
    workflow.git("checkout", "-q", ".")
    given = {"approval": "none", "extra_args": f"--ids={IDS}", "ids_file": by, **more}
    return workflow.run(command="apply", **given)


def lines(workflow: Workflow, branch: str = "main") -> dict[str, str]:
    """Return the ids on a branch, by the last part of their addresses."""
    text = workflow.github.git.text(branch, IDS)
    found = [line.strip().split(": ") for line in text.splitlines() if line.startswith("    ")]
    return {address.rpartition("/")[2]: id for address, id in found}


def test_ids_file_is_not_committed_by_default(branch: Workflow) -> None:
    ended = apply(branch, by="none")
    assert (ended.code, ended.outputs["ids-url"], branch.github.writes) == (0, "", [])


def test_ids_file_commit_contains_ids_learned_by_apply(branch: Workflow) -> None:
    git = branch.github.git
    before = git.branches["main"]
    ended = apply(branch)
    assert set(lines(branch)) == TEAMS
    sha = git.branches["main"]
    assert ended.outputs["ids-url"] == f"{HOME}/commit/{sha}"
    assert git.commits[sha].parents == (before,)
    assert git.commits[sha].message == f"{PULL_REQUEST_TITLE}\n\nBy dpsync apply: {HOME}/actions/runs/101\n"
    assert f"Saved 5 lines of the ids file for `main` in a [commit]({HOME}/commit/{sha})." in ended.summary
    assert ended.step.of("notice") == []
    assert [one.partition("/docs")[2] for one in branch.github.writes] == [f"/contents/{IDS}"]
    # Where the branch and the working copy know it all, GitHub is not even asked.
    (branch.folder / IDS).write_text(git.text("main", IDS), encoding="utf-8")
    branch.commit(CONFIG)
    asked = len(branch.github.asked)
    again = apply(branch)
    assert (again.outputs["outcome"], again.outputs["ids-url"]) == ("no-changes", "")
    assert not [one for one in branch.github.asked[asked:] if "contents" in one]


def test_ids_file_pull_request_contains_learned_ids(branch: Workflow) -> None:
    git = branch.github.git
    main = git.branches["main"]
    ended = apply(branch, by="pull-request")
    (request,) = git.requests.values()
    name = request["head"]["ref"]
    assert ended.outputs["ids-url"] == f"{HOME}/pull/{request['number']}"
    assert (request["title"], request["base"]["ref"]) == (PULL_REQUEST_TITLE, "main")
    assert f"({HOME}/actions/runs/101)" in request["body"]
    assert set(lines(branch, name)) == TEAMS
    assert (git.branches["main"], git.commits[git.branches[name]].parents) == (main, (main,))


def not_written(ended: Ended, why: str) -> None:
    """Nothing is lost silently: the lines are in the log and in the summary."""
    (notice,) = ended.step.of("notice")
    assert "missing on main: " in notice.data
    assert why in notice.data
    assert "missing on" in ended.summary
    for text in (ended.printed, ended.summary):
        assert all(f"\n+ acme/teams/{name}: " in text for name in TEAMS)


def test_protected_branch_notice_suggests_pull_request(branch: Workflow) -> None:
    branch.github.git.protected.add("main")
    ended = apply(branch)
    assert (ended.code, ended.outputs["outcome"], ended.outputs["ids-url"]) == (0, "applied", "")
    not_written(ended, "Set ids-file: pull-request, or an ids-token that is allowed to commit")
    assert branch.github.writes == [f"PUT /repos/{REPOSITORY}/contents/{IDS}"]


def test_ids_file_update_uses_separate_ids_token(branch: Workflow) -> None:
    branch.github.tokens["token"] = Token(writes=frozenset({"pull-requests", "issues"}))
    branch.github.tokens["writer"] = Token("docs-bot")
    not_written(apply(branch), "the job lacks the permission contents: write")
    ended = apply(branch, ids_token="writer")
    assert ended.outputs["ids-url"].startswith(f"{HOME}/commit/")
    assert "::add-mask::writer" in ended.printed


# Applies that do not end well.


def test_partial_apply_updates_ids_file(branch: Workflow) -> None:
    """A space whose object is gone is blocked: its line stays, and that of a new team comes."""
    apply(branch)
    text = branch.github.git.text("main", IDS)
    gone = text.replace("    acme/teams/legacy", "    acme/spaces/guides: gone\n    acme/teams/legacy", 1)
    (branch.folder / IDS).write_text(gone, encoding="utf-8")
    config = CONFIG.replace("      support:", "      new: { title: New }\n      support:")
    config += "    spaces: { guides: { title: Nowhere } }\n"
    branch.github.git.push("main", {"dpsync.yaml": config, IDS: gone}, at=branch.commit(config))
    ended = apply(branch)
    assert (ended.code, ended.outputs["outcome"]) == (3, "partial")
    assert set(lines(branch)) == {*TEAMS, "guides", "new"}
    assert ended.outputs["ids-url"].startswith(f"{HOME}/commit/")


def test_interrupted_apply_finishes_ids_file_update(branch: Workflow) -> None:
    branch.github.before = at(PUT, signal.SIGINT)
    ended = apply(branch)
    assert (ended.code, set(lines(branch))) == (0, TEAMS)
    assert ended.outputs["ids-url"].startswith(f"{HOME}/commit/")
    assert ended.step.of("notice") == []


def test_second_signal_reports_missing_ids_file_lines(branch: Workflow) -> None:
    branch.github.before = at(PUT, signal.SIGINT, signal.SIGTERM)
    ended = apply(branch)
    assert (ended.code, ended.outputs["outcome"]) == (0, "applied")
    not_written(ended, "interrupted")
    assert "5 lines of dpsync.ids.yaml may be missing on main" in ended.step.of("notice")[0].data


def test_aborted_ids_file_update_reports_missing_lines(
    branch: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However its end comes about: what is on the disk by then is told."""

    def bring(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpsync.github.ids_branch.IdsFileUpdate.push_and_report", bring)
    not_written(apply(branch), "the run was interrupted")
