"""Checks for drift that fail: counted without a mail to anybody, and told once there are three in a row."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsync.github.issues import FailedChecks, parse_failed_checks
from dpsync.github.plan_comment import FailingChecksMarker, read_marker
from tests.github.conftest import CONFIG, Workflow
from tests.github.fake_github import Token
from tests.github.test_drift import AS_IT_IS, check

NETWORK, AUTH = {"api_url": "http://127.0.0.1:1"}, {"api_token": "nobody"}


@pytest.fixture
def watched(workflow: Workflow) -> Workflow:
    """Commit a configuration that equals the state of the platform."""
    workflow.commit(AS_IT_IS)
    return workflow


def issues(workflow: Workflow) -> list[tuple[str, str]]:
    return [(issue["title"], issue["state"]) for issue in workflow.github.issues.values()]


def label(workflow: Workflow) -> str:
    (said,) = workflow.github.labels.values()
    return said


def test_third_consecutive_failed_drift_run_opens_issue(
    watched: Workflow,
) -> None:
    check(watched, **NETWORK)
    assert label(watched).startswith("1 failed drift check since ")
    check(watched, **AUTH)
    assert label(watched).endswith(f"run {watched.runs}.1: network auth")
    assert watched.github.issues == {}  # nobody has got a mail
    watched.commit(AS_IT_IS.replace("teams:\n", "tems:\n"))
    ended = check(watched)
    (issue,) = watched.github.issues.values()
    assert (issue["title"], issue["state"]) == ("Drift checks fail", "open")
    assert "3 drift checks in a row have failed** since 20" in issue["body"]
    assert "The reasons of the last failures are: network, auth, invalid." in issue["body"]
    assert "tems" in issue["body"]  # what is wrong
    assert ended.outputs["issue-url"] == issue["html_url"]
    assert ended.outputs["outcome"] == "invalid"

    check(watched)
    assert "4 drift checks in a row" in issue["body"]
    assert watched.github.comments == {}

    watched.commit(AS_IT_IS)
    ended = check(watched)
    assert (ended.outputs["outcome"], issue["state"], issue["state_reason"]) == (
        "no-changes", "closed", "completed",
    )  # fmt: skip
    assert watched.github.labels == {}
    (said,) = watched.github.bodies(issue["number"])
    assert said.startswith("**Drift checks work again.** A drift check has succeeded.")

    for _ in range(3):
        assert issue["state"] == "closed"
        check(watched, **NETWORK)
    assert issues(watched) == [("Drift checks fail", "open")]
    assert "Drift checks fail again" in watched.github.bodies(issue["number"])[-1]


def test_only_consecutive_failed_drift_runs_are_counted(watched: Workflow) -> None:
    for wrong in (NETWORK, NETWORK, {}, NETWORK, NETWORK):
        check(watched, **wrong)
    assert watched.github.issues == {}
    assert label(watched).startswith("2 failed")
    watched.commit(CONFIG)
    check(watched)
    assert (issues(watched), watched.github.labels) == ([("Drift", "open")], {})


def test_cancelled_drift_run_is_not_counted_as_failed(
    watched: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a check that somebody has cancelled counts as one that has failed."""
    check(watched, **NETWORK)
    before = label(watched)
    with monkeypatch.context() as patch:
        cancel = "dpsync.workflows.session.Session.drift"
        patch.setattr(cancel, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        assert check(watched).code == 130
    assert label(watched) == before


def test_late_result_of_older_drift_keeps_failure_count(watched: Workflow) -> None:
    """Otherwise, an older run counts once more.

    Otherwise, an older check ends the count of a newer one.
    """
    for _ in range(3):
        check(watched, **NETWORK)
    before = label(watched)
    check(watched, run_id="1", **NETWORK)
    check(watched, run_id="1")
    assert (label(watched), issues(watched)) == (before, [("Drift checks fail", "open")])


def test_concurrent_failure_issues_keep_only_first(watched: Workflow) -> None:
    for _ in range(3):
        check(watched, **NETWORK)
    (first,) = watched.github.issues.values()
    watched.github.issues.clear()

    def meanwhile(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/issues") and not watched.github.issues:
            watched.github.issue(first["title"], first["body"])

    watched.github.before = meanwhile
    check(watched, **NETWORK)
    assert [state for _, state in issues(watched)] == ["open", "closed"]


def test_failed_drift_runs_are_counted_per_selection(watched: Workflow) -> None:
    check(watched, **NETWORK)
    check(watched, select="acme", **NETWORK)
    assert [said[:2] for said in watched.github.labels.values()] == ["1 ", "1 "]
    for _ in range(2):
        check(watched, **NETWORK)
    (issue,) = watched.github.issues.values()
    issue["user"] = {"login": "eve"}
    check(watched)
    assert issue["state"] == "open"
    marker = read_marker(issue["body"], FailingChecksMarker)
    assert marker is not None


def test_unrecordable_drift_failure_is_only_a_notice(watched: Workflow) -> None:
    watched.github.tokens["token"] = Token(writes=frozenset({"pull-requests"}))
    ended = check(watched, **NETWORK)
    assert (ended.code, ended.outputs["failure-reason"]) == (1, "network")
    assert "dpsync could not record that the drift check failed" in ended.step.of("notice")[0].data


def test_failed_drift_runs_not_counted_without_drift_issue(watched: Workflow) -> None:
    check(watched, drift_issue="false", **NETWORK)
    assert watched.github.writes == []


# What the label says.


@settings(max_examples=30)
@given(
    st.integers(1, 10**6 - 1), st.integers(0, 2**31), st.integers(0, 10**18 - 1), st.integers(1, 999),
    st.lists(st.sampled_from(["network", "rate-limited", "auth", "invalid"]), max_size=3),
)  # fmt: skip
def test_failure_count_label_survives_write_and_read(
    number: int, since: int, run: int, attempt: int, reasons: list[str]
) -> None:
    text = str(FailedChecks(number, since, (run, attempt), tuple(reasons)))
    assert len(text) <= 100
    read = parse_failed_checks(text)
    assert read is not None
    assert (read.number, read.first_failed_at, read.age) == (number, since - since % 60, (run, attempt))
    assert set(read.reasons) <= set(reasons)


def test_failure_count_label_drops_overflowing_reasons() -> None:
    """GitHub takes descriptions of a hundred characters."""
    head = "3 failed drift checks since 1970-01-01T00:00Z, run 1.1:"
    assert str(FailedChecks(3, 0, (1, 1), ("a", "b", "c"))) == f"{head} b c"
    longest = "x" * (100 - len(head) - 1)
    assert str(FailedChecks(3, 0, (1, 1), (longest,))) == f"{head} {longest}"
    assert str(FailedChecks(3, 0, (1, 1), ("a", f"{longest}x"))) == f"{head} a"


@pytest.mark.parametrize("text", [
    "", "words", "2 failed drift checks since 2026-13-01T00:00Z, run 1.1: network",
    "2 failed drift checks since 2026-01-01T00:00Z, run 1.1: <b>",
])  # fmt: skip
def test_malformed_failure_count_label_is_ignored(text: str) -> None:
    assert parse_failed_checks(text) is None


def test_edited_failure_count_label_is_rewritten(watched: Workflow) -> None:
    check(watched, **NETWORK)
    (name,) = watched.github.labels
    watched.github.labels[name] = "words"
    check(watched, **NETWORK)
    assert label(watched).startswith("1 failed")
