"""Drift on a timer: one issue that comes, changes and goes with it."""

from __future__ import annotations

import pytest

from dpsync.github.plan_comment import DriftMarker, read_marker
from dpsync.github.runner import History
from tests.github.conftest import CONFIG, Ended, Workflow
from tests.github.fake_github import Token

AS_IT_IS = CONFIG.replace("      support: { title: Support }\n", "")


@pytest.fixture
def watched(workflow: Workflow) -> Workflow:
    """Commit a configuration that equals the state of the platform."""
    workflow.commit(AS_IT_IS)
    return workflow


def check(workflow: Workflow, **inputs: str) -> Ended:
    return workflow.run("schedule", command="drift", **inputs)


def by_hand(workflow: Workflow, title: str) -> None:
    workflow.ask("PATCH", "/v1/orgs/acme", {"title": title})


def state(workflow: Workflow) -> list[str]:
    return [issue["state"] for issue in workflow.github.issues.values()]


def test_drift_run_without_drift_opens_no_issue(watched: Workflow) -> None:
    ended = check(watched)
    assert (ended.code, ended.outputs["outcome"], watched.github.issues) == (0, "no-changes", {})


def test_drift_issue_opens_closes_and_reopens_with_drift(watched: Workflow) -> None:
    by_hand(watched, "Acne")
    ended = check(watched, issue_labels="drift\ndocs team")
    (issue,) = watched.github.issues.values()
    assert (ended.code, ended.outputs["outcome"]) == (0, "drift")
    assert ended.outputs["issue-url"] == issue["html_url"]
    assert [label["name"] for label in issue["labels"]] == ["drift", "docs team"]
    assert "Acne" in issue["body"]
    assert "dpsync import --update" in issue["body"]

    watched.github.asked.clear()
    check(watched)  # the same drift
    assert watched.github.writes == [f"PATCH /repos/acme/docs/issues/{issue['number']}"]
    assert "in 2 checks so far." in issue["body"]

    by_hand(watched, "Akne")
    check(watched)
    assert "Akne" in issue["body"]
    assert "The drift has changed" in watched.github.bodies(issue["number"])[-1]

    by_hand(watched, "Acme")
    check(watched)
    assert (issue["state"], issue["state_reason"]) == ("closed", "completed")
    assert "There is no drift any more" in watched.github.bodies(issue["number"])[-1]

    watched.github.asked.clear()
    check(watched)
    assert watched.github.writes == []

    by_hand(watched, "Acne")
    check(watched)
    assert state(watched) == ["open"]
    assert "There is drift again" in watched.github.bodies(issue["number"])[-1]


def test_apply_closes_drift_issue_with_comment(watched: Workflow) -> None:
    by_hand(watched, "Acne")
    check(watched)
    ended = watched.run("workflow_dispatch", command="apply", approval="none")
    (issue,) = watched.github.issues.values()
    assert (ended.outputs["outcome"], issue["state"]) == ("applied", "closed")
    last = watched.github.bodies(issue["number"])[-1]
    assert "An apply changed GitBook to match the files" in last
    assert ended.outputs["issue-url"] == issue["html_url"]


def merged_and_applied(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request())
    workflow.github.merge(workflow.git("rev-parse", "HEAD"), 7)
    assert workflow.run("push", command="apply").outputs["outcome"] == "applied"
    workflow.checked_out_again()


def drift_labels(ended: Ended) -> set[str]:
    """Return what drift prints about who changed something."""
    said = ("changed outside", "edited here", "deleted outside", "made outside")
    return {line.strip() for line in ended.printed.splitlines() if line.strip().startswith(said)}


def test_drift_since_last_apply_is_labeled_changed_outside(workflow: Workflow) -> None:
    merged_and_applied(workflow)
    by_hand(workflow, "Acne")
    ended = check(workflow)
    assert ended.outputs["outcome"] == "drift"
    assert drift_labels(ended) == {"changed outside"}
    (issue,) = workflow.github.issues.values()
    assert "changed outside" in issue["body"]


def test_unapplied_merged_edit_is_labeled_edited_here(workflow: Workflow) -> None:
    """Otherwise, the issue blames somebody for a change that only waits for its apply."""
    merged_and_applied(workflow)
    workflow.commit(CONFIG.replace("title: Acme", "title: Acme Inc"))
    assert drift_labels(check(workflow)) == {"edited here"}


def test_drift_of_organization_never_applied_has_no_label(workflow: Workflow) -> None:
    """Otherwise, what was applied to one organization counts as applied to another."""
    merged_and_applied(workflow)
    by_hand(workflow, "Acne")
    two = f"{CONFIG}  globex: {{ id: globex }}\n"
    workflow.commit(two)
    ended = check(workflow)
    assert ended.outputs["outcome"] == "drift"
    assert drift_labels(ended) == set()


@pytest.mark.parametrize("lacks", ["comments", "history"])
def test_drift_has_no_label_without_comments_or_history(
    workflow: Workflow, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged_and_applied(workflow)
    by_hand(workflow, "Acne")
    if lacks == "comments":
        workflow.github.answers = [(403, {}, {})]
    else:
        monkeypatch.setattr("dpsync.cli.github_action._history", lambda _inputs: History())
    ended = check(workflow)
    assert (ended.code, ended.outputs["outcome"]) == (0, "drift")
    assert drift_labels(ended) == set()
    assert len(workflow.github.issues) == 1
    assert "applied last" not in ended.printed


@pytest.mark.parametrize("wrong", [{"api_url": "http://127.0.0.1:1"}, {"api_token": "nobody"}])
def test_failed_drift_run_leaves_issue_unchanged(wrong: dict[str, str], watched: Workflow) -> None:
    by_hand(watched, "Acne")
    check(watched)
    before = str(watched.github.issues)
    by_hand(watched, "Acme")
    ended = check(watched, **wrong)
    assert (ended.code, ended.outputs["outcome"]) == (1, "failed")
    assert str(watched.github.issues) == before


def test_older_drift_run_leaves_issue_unchanged(watched: Workflow) -> None:
    """Otherwise, an older check is told over a newer one.

    Otherwise, an older check closes the issue of a newer one.
    """
    by_hand(watched, "Acne")
    check(watched, run_id="9")
    watched.github.asked.clear()
    by_hand(watched, "Akne")
    check(watched, run_id="8")
    by_hand(watched, "Acme")
    check(watched, run_id="8")
    assert watched.github.writes == []


def test_concurrent_drift_issues_keep_only_first(watched: Workflow) -> None:
    """Otherwise, two runs open two issues for one drift."""
    by_hand(watched, "Acne")
    check(watched)
    (first,) = watched.github.issues.values()
    body = first["body"]
    watched.github.issues.clear()

    def meanwhile(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/issues") and not watched.github.issues:
            watched.github.issue("Drift", body)

    watched.github.before = meanwhile
    ended = check(watched)
    assert state(watched) == ["open", "closed"]
    assert ended.outputs["issue-url"] == next(iter(watched.github.issues.values()))["html_url"]


def test_each_selection_has_own_drift_issue(watched: Workflow) -> None:
    """Otherwise, the drift of one part is told over that of another."""
    by_hand(watched, "Acne")
    check(watched)
    check(watched, select="acme")
    assert state(watched) == ["open", "open"]
    (first, second) = watched.github.issues.values()
    assert (first["title"], second["title"]) == ("Drift", "Drift · acme")
    first["user"] = {"login": "eve"}
    check(watched)
    assert len(watched.github.issues) == 3
    marker = read_marker(first["body"], DriftMarker)
    assert marker is not None
    assert marker.run == watched.runs - 2


def test_missing_issue_permission_is_only_a_notice(watched: Workflow) -> None:
    watched.github.tokens["token"] = Token(writes=frozenset({"pull-requests"}))
    by_hand(watched, "Acne")
    ended = check(watched)
    assert (ended.code, ended.outputs["outcome"], watched.github.issues) == (0, "drift", {})
    assert "could not update the drift issue" in ended.step.of("notice")[0].data


def test_drift_fails_job_with_fail_on_changes(watched: Workflow) -> None:
    by_hand(watched, "Acne")
    assert check(watched, fail_on="changes", drift_issue="false").code == 2
    assert watched.github.writes == []
