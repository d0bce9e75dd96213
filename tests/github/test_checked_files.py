"""A run that holds secrets reads only files that equal those of the checked commit.

A step between the checkout and dpsync may run what the change brings, or unpack what another workflow has
built. Whoever can write into the working copy wants dpsync to plan their files with the repository's secrets.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync import disk
from tests.github.conftest import Ended, Workflow
from tests.github.fake_github import REPOSITORY

FILES = {
    "docs/dpsync.yaml": """\
dpsync: 1
include: ["teams/*.yaml"]
organizations:
  acme:
    id: acme
    agentInstructions: { file: tone.md }
    openapi: { api: { source: { text: { file: api.yaml } } } }
    sites:
      notes: { title: Field notes, redirects: { file: redirects.csv } }
""",
    "docs/teams/a.yaml": "organizations: { acme: { teams: { a: { title: Aviators } } } }\n",
    "docs/teams/b.yaml": "organizations: { acme: { teams: { b: { title: Beekeepers } } } }\n",
    "docs/overlay.yaml": "organizations: { acme: { title: Acme overlaid } }\n",
    "docs/other.yaml": "organizations: { acme: { title: Acme otherwise } }\n",
    "docs/tone.md": "Be brief.\n",
    "docs/api.yaml": "openapi: 3.1.0\ninfo: { title: API, version: '1' }\npaths: {}\n",
    "docs/redirects.csv": "source,destination\n/a,https://a.example\n",
    "docs/more.csv": "source,destination\n/b,https://b.example\n",
    "docs/ids.yaml": "# no lines yet\n",
    "docs/below/readme.md": "nothing\n",
}
EVENTS = ("pull_request_target", "workflow_run", "issue_comment")
EVIL = "organizations: { acme: { teams: { evil: { title: Evil } } } }\n"


@pytest.fixture
def change(workflow: Workflow) -> Workflow:
    """Create a pull request from a branch of the repository, with its head checked out."""
    workflow.git("update-ref", "refs/remotes/origin/main", "HEAD")
    workflow.git("checkout", "-q", "-b", "change")
    for name, text in FILES.items():
        write(workflow, name, text)
    workflow.commit("# of the change\n", "README.md")
    return workflow


def write(workflow: Workflow, name: str, text: str) -> Path:
    path = workflow.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def run(workflow: Workflow, event: str, head: str = "", repository: str = REPOSITORY, **inputs: str) -> Ended:
    """Run the action for the change, in a workflow of the default branch."""
    head = head or workflow.git("rev-parse", "change")
    payload: dict[str, Any] = workflow.request(sha=head, repository=repository)
    workflow.github.requests[7]["base"] = {"ref": "main"}
    if event == "workflow_run":
        payload = {"workflow_run": {"head_sha": head, "head_repository": {"full_name": repository}}}
    if event == "issue_comment":
        said = workflow.github.comment(7, "/dpsync plan", login="ada")
        issue = {"number": 7, "state": "open", "pull_request": {"url": "https://github.example"}}
        payload = {"comment": {"id": said["id"]}, "issue": issue}
    inputs = {"working_directory": "docs", **inputs}
    return workflow.run(event, payload, tested=workflow.git("rev-parse", "main"), **inputs)


def refused(workflow: Workflow, event: str, reason: str = "untrusted", **more: str) -> str:
    """Check that a run is refused before any request to the platform, and return its output."""
    asked = len(workflow.platform.app.requests)
    ended = run(workflow, event, **more)
    assert (ended.code, ended.outputs["outcome"]) == (4, "refused"), ended.printed
    assert len(workflow.platform.app.requests) == asked
    assert (ended.outputs["digest"], ended.outputs["plan-file"]) == ("", "")
    assert ended.outputs["failure-reason"] == reason
    return "\n".join(error.data for error in ended.step.of("error"))


def root_file(workflow: Workflow) -> None:
    write(workflow, "docs/dpsync.yaml", FILES["docs/dpsync.yaml"] + "# more\n")


def included_file(workflow: Workflow) -> None:
    write(workflow, "docs/teams/a.yaml", EVIL)


def added_file(workflow: Workflow) -> None:
    write(workflow, "docs/teams/c.yaml", EVIL)


def removed_file(workflow: Workflow) -> None:
    (workflow.folder / "docs" / "teams" / "b.yaml").unlink()


def replaced_by_a_link(workflow: Workflow) -> None:
    (workflow.folder / "docs" / "teams" / "b.yaml").unlink()
    (workflow.folder / "docs" / "teams" / "b.yaml").symlink_to("a.yaml")


def overlay(workflow: Workflow) -> None:
    write(workflow, "docs/overlay.yaml", FILES["docs/other.yaml"])


def overlay_of_an_argument(workflow: Workflow) -> None:
    (workflow.folder / "docs" / "overlay.yaml").unlink()
    (workflow.folder / "docs" / "overlay.yaml").symlink_to("other.yaml")


def text_of_a_specification(workflow: Workflow) -> None:
    write(workflow, "docs/api.yaml", FILES["docs/api.yaml"].replace("API", "Evil"))


def text_of_instructions(workflow: Workflow) -> None:
    (workflow.folder / "docs" / "tone.md").unlink()


def file_of_rows(workflow: Workflow) -> None:
    write(workflow, "docs/redirects.csv", FILES["docs/more.csv"])


def file_of_rows_by_a_link(workflow: Workflow) -> None:
    (workflow.folder / "docs" / "redirects.csv").unlink()
    (workflow.folder / "docs" / "redirects.csv").symlink_to("more.csv")


def ids_file(workflow: Workflow) -> None:
    write(workflow, "docs/ids.yaml", "{}\n")


def ids_file_that_is_new(workflow: Workflow) -> None:
    write(workflow, "docs/new.yaml", "{}\n")


def nearer_root_file(workflow: Workflow) -> None:
    write(workflow, "docs/below/dpsync.yaml", "dpsync: 1\norganizations: { acme: { id: acme } }\n")


def removed_root_file(workflow: Workflow) -> None:
    """Remove the root file, so that dpsync would find the root file of the parent directory."""
    (workflow.folder / "docs" / "dpsync.yaml").unlink()


def converted_by_a_filter(workflow: Workflow) -> None:
    """Convert a file by a filter, as `git lfs` does: the working copy differs from the commit."""
    workflow.commit("*.md filter=shout\n", ".gitattributes")
    workflow.git("config", "filter.shout.smudge", "tr a-z A-Z")
    workflow.git("config", "filter.shout.clean", "tr A-Z a-z")
    (workflow.folder / "docs" / "tone.md").unlink()
    workflow.git("checkout", "docs/tone.md")
    assert (workflow.folder / "docs" / "tone.md").read_text() == "BE BRIEF.\n"


def some_other_line_ends(workflow: Workflow) -> None:
    text = FILES["docs/dpsync.yaml"]
    write(workflow, "docs/dpsync.yaml", text.replace("\n", "\r\n", 1))


def object_of_another_content(workflow: Workflow) -> None:
    """Store a git object whose content does not match its hash. `.git` is as easy to write as other files."""
    forged(workflow, "docs/teams/a.yaml", EVIL.encode(), b"blob")
    write(workflow, "docs/teams/a.yaml", EVIL)


def directory_of_another_content(workflow: Workflow) -> None:
    blob = workflow.git("rev-parse", "HEAD:docs/other.yaml")
    forged(workflow, "docs/teams", b"100644 a.yaml\0" + bytes.fromhex(blob), b"tree")
    write(workflow, "docs/teams/a.yaml", FILES["docs/other.yaml"])


def forged(workflow: Workflow, name: str, data: bytes, kind: bytes) -> None:
    id_ = workflow.git("rev-parse", f"HEAD:{name}")
    path = workflow.folder / ".git" / "objects" / id_[:2] / id_[2:]
    path.chmod(0o644)
    path.write_bytes(zlib.compress(b"%s %d\0%s" % (kind, len(data), data)))


CHANGES: dict[Callable[[Workflow], None], tuple[str, dict[str, str]]] = {
    root_file: ("dpsync.yaml", {}),
    included_file: ("teams/a.yaml", {}),
    added_file: ("teams/c.yaml", {}),
    removed_file: ("teams/b.yaml", {}),
    replaced_by_a_link: ("teams/b.yaml", {}),
    overlay: ("overlay.yaml", {"config": "dpsync.yaml\noverlay.yaml"}),
    overlay_of_an_argument: ("overlay.yaml", {"extra_args": "--file=dpsync.yaml\n--file=overlay.yaml"}),
    text_of_a_specification: ("api.yaml", {}),
    text_of_instructions: ("tone.md", {}),
    file_of_rows: ("redirects.csv", {}),
    file_of_rows_by_a_link: ("redirects.csv", {}),
    ids_file: ("ids.yaml", {"extra_args": "--ids=ids.yaml"}),
    ids_file_that_is_new: ("new.yaml", {"extra_args": "--ids=new.yaml"}),
    nearer_root_file: ("dpsync.yaml", {"working_directory": "docs/below"}),
    removed_root_file: ("docs/dpsync.yaml", {}),
    converted_by_a_filter: ("tone.md", {}),
    some_other_line_ends: ("dpsync.yaml", {}),
    object_of_another_content: ("teams/a.yaml", {}),
    directory_of_another_content: ("dpsync.yaml", {}),
}


@pytest.mark.parametrize("event", EVENTS)
def test_plan_with_secrets_reads_an_unchanged_checkout(event: str, change: Workflow) -> None:
    write(change, "README.md", "changed, and no file of the configuration\n")
    write(change, "docs/stray.yaml", EVIL)
    ended = run(change, event)
    assert (ended.code, ended.outputs["outcome"], ended.outputs["create"]) == (0, "changes", "5")


@pytest.mark.parametrize("event", EVENTS)
def test_plan_with_secrets_refuses_a_changed_file(event: str, change: Workflow) -> None:
    included_file(change)
    said = refused(change, event)
    assert f"teams/a.yaml differs from the checked-out commit {change.git('rev-parse', 'HEAD')[:12]}" in said


@pytest.mark.parametrize("edit", CHANGES, ids=lambda edit: edit.__name__.replace("_", " "))
def test_plan_with_secrets_names_the_changed_file(edit: Callable[[Workflow], None], change: Workflow) -> None:
    edit(change)
    name, inputs = CHANGES[edit]
    assert name in refused(change, "pull_request_target", **inputs)


@pytest.mark.parametrize("command", ["plan", "drift", "validate", "apply"])
def test_every_command_with_secrets_compares_files_with_commit(command: str, change: Workflow) -> None:
    included_file(change)
    change.git("checkout", "-q", "-B", "main")
    change.pushed()
    assert "teams/a.yaml" in refused(change, "workflow_run", command=command, approval="none")


def test_plan_with_secrets_accepts_line_endings_of_gitattributes(change: Workflow) -> None:
    change.commit("*.yaml text eol=crlf\n", ".gitattributes")
    for path in (change.folder / "docs").rglob("*.yaml"):
        path.unlink()
    change.git("checkout", "docs")
    assert b"\r\n" in (change.folder / "docs" / "dpsync.yaml").read_bytes()
    assert run(change, "pull_request_target").outputs["outcome"] == "changes"


def test_plan_with_secrets_uses_the_compared_bytes(change: Workflow, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may restore a file right after dpsync has read it, so a second read would find no change."""
    path = change.folder / "docs" / "teams" / "a.yaml"
    included_file(change)
    read = disk.read

    def read_and_put_back(name: Path, limit: int, follow: bool = True) -> bytes:
        data = read(name, limit, follow)
        if name == path:
            path.write_text(FILES["docs/teams/a.yaml"])
        return data

    monkeypatch.setattr(disk, "read", read_and_put_back)
    assert "teams/a.yaml" in refused(change, "pull_request_target")
    assert path.read_text() == FILES["docs/teams/a.yaml"]


def test_validate_with_secrets_ignores_stray_files(change: Workflow) -> None:
    """A file that is not in the commit causes no warning about a missing include."""
    write(change, "docs/stray.yaml", EVIL)
    ended = run(change, "workflow_run", command="validate")
    assert (ended.code, "stray.yaml" in ended.printed) == (0, False)


# The commit of the working copy.


def test_fork_files_overwriting_base_checkout_are_refused(change: Workflow) -> None:
    """The workflow overwrites files of its own checkout with those of the fork."""
    head = change.git("rev-parse", "HEAD")
    change.git("checkout", "-q", "main")
    for name in FILES:
        write(change, name, FILES[name])
    for event in ("pull_request_target", "workflow_run"):
        assert "dpsync.yaml" in refused(change, event, head=head, repository="eve/docs")


@pytest.mark.parametrize("event", EVENTS)
def test_commit_made_by_an_earlier_step_is_refused(event: str, change: Workflow) -> None:
    head = change.git("rev-parse", "HEAD")
    included_file(change)
    change.git("commit", "-q", "-a", "-m", "a step commits what it has made")
    assert "checked-out commit" in refused(change, event, head=head, reason="stale")


@pytest.mark.parametrize("event", EVENTS)
def test_merge_made_by_an_earlier_step_is_refused(event: str, change: Workflow) -> None:
    """Any program can make a commit whose second parent is the head of the pull request."""
    head = change.git("rev-parse", "HEAD")
    included_file(change)
    change.git("add", "-A")
    tree = change.git("write-tree")
    merge = change.git("commit-tree", tree, "-p", "main", "-p", head, "-m", "Merge")
    change.git("checkout", "-q", "--detach", merge)
    change.git("branch", "-q", "-f", "change", head)
    change.request(sha=head)
    change.github.requests[7]["merge_commit_sha"] = "f" * 40
    assert "checked-out commit" in refused(change, event, reason="stale")


@pytest.mark.parametrize("event", ["pull_request_target", "issue_comment"])
def test_trial_merge_of_github_is_planned(event: str, change: Workflow) -> None:
    change.git("checkout", "-q", "--detach", "main")
    change.git("merge", "-q", "--no-ff", "--no-edit", "change")
    change.request(sha=change.git("rev-parse", "change"))
    change.github.requests[7]["merge_commit_sha"] = change.git("rev-parse", "HEAD")
    assert run(change, event).outputs["outcome"] == "changes"


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run"])
def test_latest_branch_commit_is_planned_instead_of_event(event: str, change: Workflow) -> None:
    """Somebody pushed between the event and the checkout, so the branch has a later commit than the event."""
    change.git("checkout", "-q", "main")
    before = change.git("rev-parse", "HEAD")
    now = change.commit("# later\n", "README.md")
    change.git("update-ref", "refs/heads/main", before)
    change.git("checkout", "-q", "--detach", now)
    assert run(change, event, working_directory=".").outputs["outcome"] == "changes"
    change.github.tips["main"] = "f" * 40
    assert "checked-out commit" in refused(change, event, working_directory=".", reason="stale")


@pytest.mark.parametrize("token", ["", "unknown"], ids=["without a token", "with a wrong token"])
def test_commit_unknown_to_github_is_refused(token: str, change: Workflow) -> None:
    change.commit("# not pushed\n", "README.md")
    change.github.tips.clear()
    head = change.git("rev-parse", "HEAD^")
    assert "cannot check who wrote the change" in refused(
        change, "pull_request_target", head=head, github_token=token
    )
