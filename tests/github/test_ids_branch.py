"""Lines of the ids file onto a branch and into a pull request, whoever else writes there."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from dpsync.api import load_registry
from dpsync.config.ids_file import parse
from dpsync.github.api import GitHub
from dpsync.github.ids_branch import (
    PULL_REQUEST_TITLE,
    Branches,
    IdsBranch,
    IdsFileUpdate,
    LocalIds,
    SaveMethod,
    UnclearIdsError,
    read_local_ids,
)
from dpsync.github.runner import Log
from dpsync.github.workspace import WorkflowRun, find_workflow_run, make_key
from tests.github.fake_git import Commit, FakeGit
from tests.github.fake_github import REPOSITORY, FakeGitHub
from tests.github.runner import Step

IDS = "docs/dpsync.ids.yaml"
NAME = f"dpsync/ids-{make_key(IDS, 'main')[:8]}"
HOME = f"https://github.example/{REPOSITORY}"


def text(**lines: str) -> str:
    found = "".join(f"    acme/teams/{name}: {id}\n" for name, id in lines.items())
    return f"https://api.acme.example:\n  org-1:\n{found}" if found else ""


@dataclass
class Checkout:
    """A working copy of the branch, and what an apply leaves in its ids file."""

    folder: Path
    github: FakeGitHub
    client: GitHub
    waited: list[float]
    commit: str = ""

    @property
    def git(self) -> FakeGit:
        return self.github.git

    def clone(self, **before: str) -> None:
        """Commit an ids file with these lines and push it to the branch."""
        (self.folder / IDS).write_text(text(**before), encoding="utf-8")
        for words in (["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "x"]):
            author = ["-c", "user.name=Ada", "-c", "user.email=ada@acme.example"]
            subprocess.run(["git", *author, *words], cwd=self.folder, check=True)
        named = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.folder, capture_output=True, text=True)
        self.commit = named.stdout.strip()
        self.git.push("main", {IDS: text(**before)}, at=self.commit)

    def apply(self, by: SaveMethod = "commit", branch: str = "main", tested: str = "", **after: str) -> Told:
        """Update the branch with the ids file that an apply has left; return the result."""
        (self.folder / IDS).write_text(text(**after), encoding="utf-8")
        place = WorkflowRun(REPOSITORY, 9, 1, "push", "", tested or self.commit, HOME[:22], branch=branch)
        printed = io.StringIO()
        branches = Branches(self.client, REPOSITORY)
        update = IdsFileUpdate(self.folder / IDS, by, branches, place, Log(printed), load_registry())
        update.push_and_report()
        update.report_unsaved()
        step = Step().read(printed.getvalue())
        notices = [one.data for one in step.of("notice")]
        return Told(update.url, notices, update.summary, len(step.of("error")))

    def lines(self, branch: str = "main") -> dict[str, str]:
        found = self.git.text(branch, IDS).replace('"', "").splitlines()
        pairs = [line.strip().removeprefix("acme/teams/").split(": ") for line in found if line[:4] == "    "]
        return dict(pairs)


@dataclass(frozen=True)
class Told:
    url: str
    notices: list[str]
    said: str
    errors: int = 0


@pytest.fixture
def checkout(github: FakeGitHub, tmp_path: Path) -> Iterator[Checkout]:
    waited: list[float] = []
    client = GitHub(github.url, "token", REPOSITORY, wait=waited.append)
    (tmp_path / "docs").mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True)
    made = Checkout(tmp_path, github, client, waited)
    made.clone(a="1", b="2")
    yield made
    client.close()


# By a commit.


def test_ids_file_update_keeps_concurrent_lines(checkout: Checkout) -> None:
    """Other legs of a matrix write between the reading and the writing: the file is read again.

    Otherwise, what others have written meanwhile is not seen.
    """
    legs = [text(a="1", b="2", x="8"), text(a="1", b="2", x="8", y="9")]

    def leg(method: str, _path: str) -> None:
        if method == "PUT" and legs:
            checkout.git.push("main", {IDS: legs.pop(0)})

    checkout.github.before = leg
    told = checkout.apply(a="1", c="3")
    assert checkout.lines() == {"a": "1", "c": "3", "x": "8", "y": "9"}
    assert told.url == f"{HOME}/commit/{checkout.git.branches['main']}"
    assert (len(checkout.github.writes), len(checkout.waited)) == (3, 2)


def test_ids_file_without_new_lines_is_not_committed(checkout: Checkout) -> None:
    """Otherwise, every apply makes a commit, also one that has learned nothing.

    Otherwise, what was brought is told as missing.
    """
    checkout.git.push("main", {IDS: text(a="1", c="3")})
    assert checkout.apply(a="1", c="3") == Told("", [], "")
    assert checkout.github.writes == []


def test_duplicate_ids_file_line_causes_no_commit(checkout: Checkout) -> None:
    known = text(a="1", c="3")
    checkout.git.push("main", {IDS: known + known.splitlines(keepends=True)[-1]})
    assert checkout.apply(a="1", c="3") == Told("", [], "")
    assert checkout.github.writes == []


def test_conflicting_ids_file_lines_on_branch_are_reported(checkout: Checkout) -> None:
    checkout.git.push("main", {IDS: text(a="7", b="8")})
    told = checkout.apply(a="3")
    assert checkout.lines() == {"a": "3", "b": "8"}
    assert told.notices == [
        f"{IDS} on main had other ids for these lines, and dpsync replaced the ids: acme/teams/a: 7.",
        f"{IDS} on main has other ids for lines that the apply deleted, and dpsync kept the lines: "
        "acme/teams/b: 8.",
    ]


def test_missing_ids_file_is_created_on_branch(checkout: Checkout) -> None:
    checkout.git.push("main", {}, at="0" * 40)
    checkout.git.commits["0" * 40].files.clear()
    checkout.apply(a="1", b="2", c="3")
    assert checkout.lines() == {"c": "3"}


def test_large_ids_file_is_read_completely(checkout: Checkout) -> None:
    many = {f"t{n}": f"{n}-{'x' * 400}" for n in range(2500)}
    checkout.git.push("main", {IDS: text(**many)})
    checkout.apply(a="1", b="2", c="3")
    assert checkout.lines() == {**many, "c": "3"}


def test_lost_ids_file_commit_response_causes_no_retry(checkout: Checkout) -> None:
    def lose(method: str, _path: str) -> None:
        if method == "PUT" and not checkout.waited:
            checkout.git.push("main", {IDS: text(a="1", b="2", c="3")})
            checkout.github.answers = [(502, {}, {})]

    checkout.github.before = lose
    assert checkout.apply(a="1", b="2", c="3").notices == []
    assert len(checkout.github.writes) == 1


@pytest.mark.parametrize("by", ["commit", "pull-request"])
def test_concurrent_ids_file_updates_keep_all_lines(by: SaveMethod, checkout: Checkout) -> None:
    registry = load_registry()
    before, _ = parse(text(a="1", b="2"), IDS, registry)

    def leg(number: int) -> str:
        after, _ = parse(text(**{"a": "1", "b": "2", f"leg{number}": str(number)}), IDS, registry)
        place = WorkflowRun(REPOSITORY, number, 1, "push", "", checkout.commit, HOME[:22], branch="main")
        found = LocalIds(IDS, checkout.commit, before, after)
        return IdsBranch(Branches(checkout.client, REPOSITORY), place, registry, found).push(by).url

    with ThreadPoolExecutor(4) as threads:
        urls = list(threads.map(leg, range(4)))
    on = "main" if by == "commit" else NAME
    assert checkout.lines(on) == {"a": "1", "b": "2", **{f"leg{number}": str(number) for number in range(4)}}
    assert len(set(urls)) == (4 if by == "commit" else 1)


def always_another(checkout: Checkout) -> tuple[str, int]:
    def write(method: str, _path: str) -> None:
        if method == "PUT":
            checkout.git.push("main", {IDS: text(a=str(len(checkout.github.asked)))})

    checkout.github.before = write
    return "is missing on main: PUT", 20


def silent(checkout: Checkout) -> tuple[str, int]:
    def down(method: str, _path: str) -> None:
        if method == "PUT":
            checkout.github.answers = [(502, {}, {})]

    checkout.github.before = down
    return "may be missing on main: PUT", 3


def strange(checkout: Checkout) -> tuple[str, int]:
    def answer(method: str, _path: str) -> None:
        if method == "PUT":
            checkout.github.answers = [(200, {"commit": {"sha": "../x"}}, {})]

    checkout.github.before = answer
    return "may be missing on main: the response of GitHub contains no commit", 3


def broken(checkout: Checkout) -> tuple[str, int]:
    checkout.git.push("main", {IDS: "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"})
    return f"is missing on main: {IDS}:1: the ids file contains a merge conflict", 0


def protected(checkout: Checkout) -> tuple[str, int]:
    checkout.git.protected.add("main")
    return (
        "is missing on main: a rule of the repository forbids the commit (Repository rule violations found",
        1,
    )


def hostile(checkout: Checkout) -> tuple[str, int]:
    """Answer with a hostile message, which must always be shown as plain text."""

    def answer(method: str, _path: str) -> None:
        if method == "PUT":
            said = "x%0A::error::y\n##[error]z [a](https://evil.example) @ada <b>"
            checkout.github.answers = [(403, {"message": said}, {})]

    checkout.github.before = answer
    return "##[error]z [a](https://evil.example) @ada <b>", 1


def no_token(checkout: Checkout) -> tuple[str, int]:
    checkout.github.tokens.clear()
    return "The run is for a fork", 0


@pytest.mark.parametrize("state", [always_another, silent, strange, broken, protected, hostile, no_token])
def test_failed_ids_file_update_reports_missing_lines(
    state: Callable[[Checkout], tuple[str, int]], checkout: Checkout
) -> None:
    """Otherwise, a file that cannot be read is replaced, and its lines are lost.

    Otherwise, lines are said to be missing that may have been written.
    """
    why, tries = state(checkout)
    told = checkout.apply(a="1", b="2", c="3")
    assert told.url == ""
    assert why in told.notices[0]
    assert not told.errors
    shown = MarkdownIt().render(told.said)
    assert "<a" not in shown
    assert "<b>" not in shown
    assert told.said.endswith("\n\n```diff\n+ acme/teams/c: 3\n```")
    assert len(checkout.github.writes) == tries


@pytest.mark.parametrize(("status", "said"), [
    (399, "may be"), (400, "is"), (499, "is"), (500, "may be"), (599, "may be"),
])  # fmt: skip
def test_only_http_4xx_proves_ids_file_unwritten(status: int, said: str, checkout: Checkout) -> None:
    def answer(method: str, _path: str) -> None:
        if method == "PUT":
            checkout.github.answers = [(status, {}, {})]

    checkout.github.before = answer
    (notice,) = checkout.apply(a="1", b="2", c="3").notices
    assert f"1 line of {IDS} {said} missing on main" in notice


def test_ids_file_update_without_branch_is_reported(checkout: Checkout) -> None:
    (notice,) = checkout.apply(branch="", a="1", b="2", c="3").notices
    assert "missing on the branch: this CI run (event: push) does not belong to a branch" in notice
    assert checkout.github.writes == []


def test_untracked_ids_file_cannot_be_updated(tmp_path: Path) -> None:
    file, registry = tmp_path / "dpsync.ids.yaml", load_registry()
    with pytest.raises(UnclearIdsError):
        read_local_ids(file, registry)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    with pytest.raises(UnclearIdsError, match=r"dpsync.ids.yaml is not a regular file in a commit"):
        read_local_ids(file, registry)


def test_missing_ids_file_is_empty(
    checkout: Checkout,
) -> None:
    file, registry = checkout.folder / IDS, load_registry()
    file.unlink()
    assert (
        read_local_ids(file, registry).after.sections,
        bool(read_local_ids(file, registry).before.sections),
    ) == (
        {},
        True,
    )
    file.mkdir()
    with pytest.raises(UnclearIdsError, match="dpsync cannot read"):
        read_local_ids(file, registry)
    file.rmdir()
    file.symlink_to(checkout.folder / "elsewhere")
    with pytest.raises(UnclearIdsError, match="is not a regular file in a commit"):
        read_local_ids(file, registry)


@pytest.mark.parametrize("elsewhere", ["another branch", "another repository"])
def test_ids_file_update_refuses_commit_from_other_branch(elsewhere: str, checkout: Checkout) -> None:
    """Otherwise, lines of somebody else's commit get onto the branch."""
    git = checkout.git
    root = git.push("root", {})
    git.branches["main"] = git.push("root", {IDS: text(a="1")})
    if elsewhere == "another branch":
        git.commits[checkout.commit] = Commit({}, (root,), "on another branch")
    else:
        del git.commits[checkout.commit]
    (notice,) = checkout.apply(a="1", tested="a" * 40).notices
    assert notice == f"1 line of {IDS} is missing on main: the checked-out commit is not on main."
    assert checkout.github.writes == []


def test_symlinked_ids_file_is_not_committed(checkout: Checkout) -> None:
    """Otherwise, what a link in the checkout leads to is read and committed."""
    (checkout.folder / IDS).rename(checkout.folder / "elsewhere.yaml")
    (checkout.folder / IDS).symlink_to(checkout.folder / "elsewhere.yaml")
    (notice,) = checkout.apply(a="1", c="3").notices
    assert notice.endswith(f": {IDS} is not a regular file in a commit.")
    assert checkout.github.writes == []


def test_checkout_without_commit_gets_no_ids_file_update(checkout: Checkout) -> None:
    subprocess.run(["git", "update-ref", "-d", "HEAD"], cwd=checkout.folder, check=True)
    (notice,) = checkout.apply(a="1", c="3").notices
    assert notice.endswith(f": {IDS} is not a regular file in a commit.")
    assert checkout.github.writes == []


def test_ids_file_update_accepts_newer_branch_commit(checkout: Checkout) -> None:
    assert checkout.apply(a="1", tested="a" * 40).url


@pytest.mark.parametrize(
    ("event", "payload", "ref", "branch"),
    [
        ("push", {}, "refs/heads/release/1", "release/1"),
        ("push", {"repository": {"default_branch": "main"}}, "refs/tags/v1", "main"),
        ("push", {}, "refs/tags/v1", ""),
        ("pull_request", {"merged": True}, "refs/pull/7/merge", "main"),
        ("pull_request", {"merged": False}, "refs/pull/7/merge", "topic"),
        ("pull_request", {"merged": True}, "refs/heads/main", "main"),
        ("pull_request_target", {"merged": False}, "refs/heads/main", "main"),
        ("pull_request", {"fork": True}, "refs/pull/7/merge", ""),
    ],
)
def test_ids_file_branch_is_chosen_by_event(
    event: str, payload: dict[str, Any], ref: str, branch: str
) -> None:
    """Otherwise, lines learned in a fork's run go onto a branch of the repository."""
    if event != "push":
        repository = {"full_name": "eve/docs" if payload.get("fork") else REPOSITORY}
        head, base = {"ref": "topic", "repo": repository}, {"ref": "main"}
        payload = {"pull_request": {**payload, "head": head, "base": base}}
    names = {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_RUN_ID": "1", "GITHUB_EVENT_NAME": event}
    assert find_workflow_run({**names, "GITHUB_REF": ref}, payload).branch == branch


# By a pull request.


def request(checkout: Checkout, **after: str) -> Told:
    return checkout.apply("pull-request", **after)


def test_later_applies_extend_open_ids_file_pull_request(checkout: Checkout) -> None:
    told = request(checkout, a="1", b="2", c="3")
    assert told.url == f"{HOME}/pull/40"
    assert told.said == f"Saved 1 line of the ids file for `main` in a [pull request]({HOME}/pull/40)."
    head = checkout.git.branches[NAME]
    assert request(checkout, a="1", b="2", c="3").url == f"{HOME}/pull/40"
    assert checkout.git.branches[NAME] == head  # it has it all
    assert request(checkout, a="1", d="4").url == f"{HOME}/pull/40"
    assert checkout.lines(NAME) == {"a": "1", "c": "3", "d": "4"}
    assert (checkout.lines(), list(checkout.git.requests)) == ({"a": "1", "b": "2"}, [40])


def test_ids_file_pull_request_merges_new_branch_commits(checkout: Checkout) -> None:
    """Otherwise, a branch loses the commits that others have put onto it."""
    request(checkout, a="1", b="2", d="4")
    checkout.git.push("main", {"README": "new", IDS: text(a="1", c="3")})
    request(checkout, a="1", b="2", e="5")
    assert checkout.lines(NAME) == {"a": "1", "c": "3", "d": "4", "e": "5"}
    assert checkout.git.text(NAME, "README") == "new"
    checkout.git.merge(40)  # it asserts that there is no conflict
    assert checkout.lines() == {"a": "1", "c": "3", "d": "4", "e": "5"}


def test_ids_file_pull_request_drops_lines_already_merged(checkout: Checkout) -> None:
    request(checkout, a="1", b="2", c="3", d="4")
    checkout.git.push("main", {IDS: text(a="1", b="2", c="3")})
    request(checkout, a="1", b="2", c="3", d="4")
    checkout.git.merge(40)  # without that the two would be in conflict
    assert checkout.lines() == {"a": "1", "b": "2", "c": "3", "d": "4"}


@pytest.mark.parametrize("squash", [False, True])
def test_ids_file_pull_request_restarts_after_merge(squash: bool, checkout: Checkout) -> None:
    request(checkout, a="1", b="2", c="3")
    checkout.git.merge(40, squash)
    assert request(checkout, a="1", b="2", c="3").url == ""  # the branch has it
    checkout.git.push("main", {IDS: text(a="1", b="2")})  # and somebody has removed it
    assert request(checkout, a="1", b="2", d="4").url == f"{HOME}/pull/41"
    assert checkout.lines(NAME) == {"a": "1", "b": "2", "d": "4"}


def test_closed_ids_file_pull_request_is_not_reused(checkout: Checkout) -> None:
    """Otherwise, lines of a pull request that somebody has closed come again."""
    request(checkout, a="1", b="2", c="3")
    head = {"sha": checkout.git.branches[NAME], "ref": NAME}
    checkout.git.requests[40] |= {"state": "closed", "head": head}
    assert request(checkout, a="1", b="2", d="4").url == f"{HOME}/pull/41"
    assert checkout.lines(NAME) == {"a": "1", "b": "2", "d": "4"}


def test_ids_file_branch_is_linked_without_pull_request(checkout: Checkout) -> None:
    checkout.git.may_open = False
    told = request(checkout, a="1", b="2", c="3")
    assert told.url == f"{HOME}/compare/main...{NAME}?expand=1"
    assert "not permitted to create or approve pull requests). Allow GitHub Actions" in told.notices[0]
    checkout.git.may_open = True
    assert request(checkout, a="1", b="2", d="4").url == f"{HOME}/pull/40"
    assert checkout.lines(NAME) == {"a": "1", "b": "2", "c": "3", "d": "4"}


def test_concurrent_ids_file_updates_share_one_pull_request(checkout: Checkout) -> None:
    git = checkout.git

    def leg(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/git/refs") and NAME not in git.branches:
            git.branches[NAME] = git.branches["main"]
            git.push(NAME, {IDS: text(a="1", b="2", x="9")})
        if method == "POST" and path.endswith("/pulls") and not git.requests:
            asked = {"title": PULL_REQUEST_TITLE, "body": "", "head": NAME, "base": "main"}
            git.answer("POST", ["pulls"], asked, frozenset({"pull-requests"}), {})

    checkout.github.before = leg
    assert request(checkout, a="1", b="2", c="3").url == f"{HOME}/pull/40"
    assert checkout.lines(NAME) == {"a": "1", "b": "2", "c": "3", "x": "9"}
    assert (sorted(git.branches), list(git.requests)) == ([NAME, "main"], [40])


def test_concurrent_ids_file_pull_request_updates_keep_lines(checkout: Checkout) -> None:
    request(checkout, a="1", b="2", c="3")

    def leg(method: str, _path: str) -> None:
        if method == "PATCH" and "x:" not in checkout.git.text(NAME, IDS):
            checkout.git.push(NAME, {IDS: text(a="1", b="2", c="3", x="9")})

    checkout.github.before = leg
    request(checkout, a="1", b="2", d="4")
    assert checkout.lines(NAME) == {"a": "1", "b": "2", "c": "3", "d": "4", "x": "9"}


def test_refused_ids_file_branch_is_reported(checkout: Checkout) -> None:
    checkout.git.protected.add(NAME)
    (notice,) = request(checkout, a="1", b="2", c="3").notices
    assert "Set an ids-token that is allowed to commit" in notice
