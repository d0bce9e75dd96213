"""An apply whose approvals nobody can read: nothing is taken for approved."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.github.action import apply
from dpsync.github.api import GitHub
from dpsync.github.runner import ActionRun, CommandResult, History, Inputs, Log
from dpsync.github.workspace import WorkflowRun
from dpsync.model.diagnostic import Exit
from tests.github.fake_github import REPOSITORY, FakeGitHub

COMMIT = "a" * 40
PLACE = WorkflowRun(REPOSITORY, 9, 1, "push", COMMIT, COMMIT, branch="main")


@pytest.fixture
def client(github: FakeGitHub) -> Iterator[GitHub]:
    """Of a token that may read the branch and no pull requests."""
    github.answers = [(200, {"object": {"sha": COMMIT}}, {}), (403, {}, {})]
    made = GitHub(github.url, "token", REPOSITORY, wait=lambda _: None)
    yield made
    made.close()


def applied(approval: str, client: GitHub | None) -> tuple[CommandResult, list[list[str]], str]:
    """How it ended, what was run, and what was said."""
    asked: list[list[str]] = []

    def run_dpsync(words: list[str], *_: object) -> CommandResult:
        asked.append(words)
        return CommandResult(Exit.DONE, None)

    said = io.StringIO()
    inputs = Inputs(command="apply", approval=approval, branches=("main",))
    run = ActionRun(inputs, PLACE, Log(said), run_dpsync, client, Path("plan.json"))
    run.history = lambda: History((COMMIT,), (COMMIT,))
    return apply(run, lambda: COMMIT), asked, said.getvalue()


def test_digest_apply_is_refused_when_approvals_unreadable(client: GitHub) -> None:
    ended, asked, said = applied("digest", client)
    assert (ended.code, asked) == (Exit.REFUSED, [])
    assert "dpsync could not read which plans were approved" in said
    assert "the approved plan is not known" in said


@pytest.mark.parametrize(("approval", "flag"), [("b" * 32, ["--approved", "b" * 32]), ("none", ["--yes"])])
def test_apply_without_comment_approval_ignores_unreadable_approvals(
    approval: str, flag: list[str], client: GitHub
) -> None:
    ended, ((command, *words),), said = applied(approval, client)
    assert (ended.code, command) == (Exit.DONE, "apply")
    assert words[: len(words) - 2][-len(flag) :] == flag
    assert "dpsync could not read which plans were approved" in said


def test_digest_apply_without_github_token_is_refused() -> None:
    ended, asked, said = applied("digest", None)
    assert (ended.code, asked) == (Exit.REFUSED, [])
    assert '"github-token" is missing' in said
