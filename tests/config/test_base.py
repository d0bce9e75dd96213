"""The git base: which commit it is, and its configuration, read without a checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from dpsync.config.commits import Project
from dpsync.config.git import Repository
from dpsync.config.git_base import read_base
from dpsync.model.desired import Base
from dpsync.model.diagnostic import DiagnosticError, Exit

from .loading import REGISTRY, organization


def git(directory: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    settings = (
        "user.name=Ada", "user.email=ada@acme.example", "protocol.file.allow=always", "maintenance.auto=false"
    )  # fmt: skip
    options = [word for setting in settings for word in ("-c", setting)]
    command = ["git", "-C", str(directory), *options, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout.strip()


def lay(directory: Path, **files: str) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def commit(directory: Path, files: dict[str, str], message: str = "change") -> str:
    if not (directory / ".git").exists():
        directory.mkdir(parents=True, exist_ok=True)
        git(directory, "init", "-q", "-b", "main")
    lay(directory, **files)
    git(directory, "add", "--all")
    git(directory, "commit", "-q", "-m", message)
    return git(directory, "rev-parse", "HEAD")


ACME = "organizations: { acme: { id: acme } }\n"


def team(title: str) -> str:
    return organization(f"teams: {{ writers: {{ title: {title} }} }}")


def base(directory: Path, ref: str | None = None, **env: str) -> Base:
    return read_base(directory / "dpsync.yaml", REGISTRY, env, ref)


def titles(found: Base) -> list[str]:
    assert found.desired is not None, found.name
    return sorted(
        str(item.fields["title"]) for item in found.desired.entries.values() if "title" in item.fields
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    commit(tmp_path / "work", {"dpsync.yaml": team("First")})
    return tmp_path / "work"


# What is read.


def test_git_base_ignores_uncommitted_changes(checkout: Path) -> None:
    lay(checkout, **{"dpsync.yaml": team("Second")})
    found = base(checkout)
    assert titles(found) == ["First"]
    assert (found.name, found.commit) == ("HEAD", git(checkout, "rev-parse", "HEAD"))


def test_git_base_ignores_staged_changes(checkout: Path) -> None:
    lay(checkout, **{"dpsync.yaml": team("Second")})
    git(checkout, "add", "--all")
    assert titles(base(checkout)) == ["First"]


def test_git_base_reads_included_files_from_commit(tmp_path: Path) -> None:
    site = "organizations:\n  acme:\n    sites: { docs: { title: Docs, adaptiveSchema: { file: s.json } } }\n"
    commit(
        tmp_path,
        {
            "dpsync.yaml": "dpsync: 1\ninclude: ['sites/**/*.yaml', people.yaml]\n" + ACME,
            "people.yaml": "organizations: { acme: { teams: { a: { title: People } } } }\n",
            "sites/deep/docs.yaml": site,
            "sites/deep/s.json": '{"type": "object", "properties": {"beta":{}},"additionalProperties":false}',
            "sites/.hidden/x.yaml": "nothing that is read",
        },
    )
    git(tmp_path, "rm", "-q", "-r", "sites", "people.yaml")
    found = base(tmp_path)
    assert titles(found) == ["Docs", "People"]
    assert found.desired is not None
    schema = next(item for item in found.desired.entries.values() if item.kind == "adaptive_schema")
    assert "beta" in json.dumps(dict(schema.fields))


def test_git_base_follows_symlinked_include(tmp_path: Path) -> None:
    commit(tmp_path, {"real/teams.yaml": "organizations: { acme: { teams: { a: { title: Linked } } } }\n"})
    (tmp_path / "teams.yaml").symlink_to("real/teams.yaml")
    root = "dpsync: 1\ninclude: [teams.yaml]\norganizations: { acme: { id: acme } }\n"
    commit(tmp_path, {"dpsync.yaml": root})
    assert titles(base(tmp_path)) == ["Linked"]


@pytest.mark.parametrize("name", [".git", ".GIT", ".git."])
def test_git_base_refuses_files_inside_dot_git(tmp_path: Path, name: str) -> None:
    """An attacker can build a commit with files below `.git`, which git itself never adds."""
    text = organization(f"agentInstructions: {{ file: '{name}/config' }}")
    commit(tmp_path, {"dpsync.yaml": text, "part/config": "a secret"})
    tree = git(tmp_path, "cat-file", "-p", "HEAD^{tree}").replace("\tpart", f"\t{name}")
    made = subprocess.run(
        ["git", "mktree"], cwd=tmp_path, input=f"{tree}\n", capture_output=True, text=True, check=True
    )
    hostile = git(tmp_path, "commit-tree", "-m", "x", made.stdout.strip())
    with pytest.raises(DiagnosticError, match=f'"{re.escape(name)}/config" is outside the project'):
        base(tmp_path, hostile)


@pytest.mark.parametrize(
    ("include", "target"),
    [
        ("linked/teams.yaml", "real"),
        ("linked/*.yaml", "real"),
        ("linked/**/teams.yaml", "real"),
        ("linked/deep/*.yaml", "other"),
        ("deep/linked/*.yaml", "../real"),
    ],
    ids=["a file", "a pattern", "any depth", "a directory below the link", "a link below a directory"],
)
def test_git_base_include_follows_directory_links(include: str, target: str, tmp_path: Path) -> None:
    """If the git base does not load, dpsync cannot detect renames and removed protections."""
    text = "organizations: { acme: { teams: { a: { title: Linked } } } }\n"
    commit(tmp_path, {"real/teams.yaml": text, "other/deep/teams.yaml": text, "deep/readme.md": ""})
    (tmp_path / include.partition("linked")[0] / "linked").symlink_to(target)
    root = f"dpsync: 1\ninclude: ['{include}']\norganizations: {{ acme: {{ id: acme }} }}\n"
    commit(tmp_path, {"dpsync.yaml": root})
    assert titles(base(tmp_path)) == ["Linked"]


def test_git_base_supports_project_in_subdirectory(tmp_path: Path) -> None:
    commit(tmp_path, {"docs/acme/dpsync.yaml": team("Below"), "dpsync.yaml": team("Above")})
    assert titles(base(tmp_path / "docs" / "acme")) == ["Below"]


def test_git_base_finds_root_file_with_other_extension(checkout: Path) -> None:
    git(checkout, "mv", "dpsync.yaml", "dpsync.yml")
    assert titles(read_base(checkout / "dpsync.yml", REGISTRY, {})) == ["First"]


def test_reading_git_base_leaves_checkout_unchanged(checkout: Path) -> None:
    lay(checkout, **{"dpsync.yaml": team("Second"), "new.yaml": "x"})
    index = (checkout / ".git" / "index").read_bytes()
    before = {path: path.stat().st_mtime_ns for path in checkout.rglob("*") if path.is_file()}
    base(checkout, "HEAD")
    assert (checkout / ".git" / "index").read_bytes() == index
    assert {path: path.stat().st_mtime_ns for path in checkout.rglob("*") if path.is_file()} == before


def test_git_base_is_readable_inside_git_hook(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index.lock")
    assert titles(base(checkout)) == ["First"]


def test_git_base_loads_despite_unset_variable(tmp_path: Path) -> None:
    commit(tmp_path, {"dpsync.yaml": team('"${OLD_TITLE}"').replace("id: acme", "id: acme")})
    assert base(tmp_path).desired is not None


def test_git_base_keeps_valid_protect_patterns_beside_unknown(tmp_path: Path) -> None:
    commit(tmp_path, {"dpsync.yaml": "policy: { protect: [team/*, teams/*] }\n" + team("First")})
    found = base(tmp_path).desired
    assert found is not None
    assert [pattern.text for pattern in found.policy.protect] == ["team/*", "teams/*"]


# No base.


def test_git_base_is_empty_outside_git(tmp_path: Path) -> None:
    lay(tmp_path, **{"dpsync.yaml": team("First")})
    assert base(tmp_path) == Base("the files are not in a git repository")


def test_git_base_warns_about_untrusted_repository_owner(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: checkout.stat().st_uid + 12345)
    os.chown(checkout / ".git", 23456, -1)
    monkeypatch.setenv("HOME", str(tmp_path))
    found = base(checkout)
    assert found.desired is None
    assert found.warning is not None
    assert f"safe.directory {checkout}" in (found.warning.hint or "")
    git(tmp_path, *(found.warning.hint or "").split()[2:])
    assert titles(base(checkout)) == ["First"]


def test_git_base_is_empty_without_git_installed(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert base(checkout) == Base("git is not installed")


def test_git_base_is_empty_before_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    lay(tmp_path, **{"dpsync.yaml": team("First")})
    assert base(tmp_path) == Base("the repository has no commit")


def test_git_base_is_empty_for_uncommitted_root_file(tmp_path: Path) -> None:
    commit(tmp_path, {"README": "x"})
    lay(tmp_path, **{"dpsync.yaml": team("First")})
    assert base(tmp_path) == Base("HEAD does not contain dpsync.yaml")
    assert base(tmp_path, "HEAD").desired is None


def test_invalid_default_git_base_is_a_warning(tmp_path: Path) -> None:
    commit(tmp_path, {"dpsync.yaml": "dpsync: 1\norganizations: { acme: { id: acme, titel: A } }\n"})
    found = base(tmp_path)
    assert found.desired is None
    assert found.warning is not None
    assert found.warning.severity == "warning"
    assert "dpsync.yaml:2:" in found.warning.message


@pytest.mark.parametrize("ref", ["no-such-branch", "--help", "HEAD:dpsync.yaml"])
def test_unknown_base_ref_is_an_error(checkout: Path, ref: str) -> None:
    with pytest.raises(DiagnosticError) as ended:
        base(checkout, ref)
    assert ended.value.exit_code == Exit.INVALID
    assert f'"{ref}"' in ended.value.diagnostics[0].message


def test_invalid_explicit_git_base_is_an_error(tmp_path: Path) -> None:
    commit(tmp_path, {"dpsync.yaml": "dpsync: 2\n"})
    lay(tmp_path, **{"dpsync.yaml": team("First")})
    with pytest.raises(DiagnosticError, match='dpsync cannot compare the files with "HEAD"') as ended:
        base(tmp_path, "HEAD")
    assert ended.value.exit_code == Exit.INVALID


def test_explicit_git_base_outside_git_is_an_error(tmp_path: Path) -> None:
    lay(tmp_path, **{"dpsync.yaml": team("First")})
    with pytest.raises(DiagnosticError, match="the files are not in a git repository"):
        base(tmp_path, "main")


# Which commit.


def test_merge_commit_parents_are_known_in_shallow_clone(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "checkout", "-q", "-b", "topic")
    commit(checkout, {"more.txt": "parent 0"})
    topic = git(checkout, "rev-parse", "HEAD")
    git(checkout, "checkout", "-q", "--detach", "HEAD~1")
    git(checkout, "merge", "-q", "--no-ff", "-m", "parent x\n\nparent y", "topic")
    first = git(checkout, "rev-parse", "HEAD^1")
    git(checkout, "branch", "merged")
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=merged", f"file://{checkout}", str(clone))
    assert git(clone, "rev-list", "--count", "HEAD") == "1"
    repository = Repository.containing(clone)
    assert repository.parents(repository.resolve_commit("HEAD") or "") == [first, topic]


def test_explicit_git_base_ref_selects_commit(checkout: Path) -> None:
    first = git(checkout, "rev-parse", "HEAD")
    commit(checkout, {"dpsync.yaml": team("Second")})
    assert titles(base(checkout, "HEAD~1")) == ["First"]
    assert titles(base(checkout, first[:10])) == ["First"]


@pytest.fixture
def branch(checkout: Path, tmp_path: Path) -> Path:
    """Create a clone on a branch of two commits, while main has got another commit."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(checkout), str(clone))
    git(clone, "switch", "-q", "-c", "topic")
    commit(clone, {"dpsync.yaml": team("Topic")})
    commit(clone, {"more.txt": "x"})
    commit(checkout, {"dpsync.yaml": team("Main")})
    git(clone, "fetch", "-q")
    return clone


def test_git_base_in_pull_request_is_merge_base(branch: Path) -> None:
    found = base(branch, CI="true", GITHUB_BASE_REF="main", GITHUB_EVENT_NAME="pull_request")
    assert titles(found) == ["First"]
    assert found.name == "the merge base with origin/main"


@pytest.mark.parametrize("ref", ["main", None, {"x": 1}])
def test_git_base_of_review_is_its_merge_base(branch: Path, tmp_path: Path, ref: object) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"base": {"ref": ref}}}))
    names = {"GITHUB_EVENT_NAME": "pull_request_review", "GITHUB_EVENT_PATH": str(event)}
    assert titles(base(branch, CI="true", **names)) == ["First" if ref == "main" else "Topic"]


def test_git_base_in_ci_is_parent_commit(branch: Path) -> None:
    git(branch, "reset", "-q", "--hard", "HEAD~1")
    assert titles(base(branch, CI="true")) == ["First"]
    assert base(branch, CI="1", GITHUB_EVENT_NAME="push").name == "the parent of HEAD"


def test_git_base_of_push_is_commit_before_push(branch: Path, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": git(branch, "rev-parse", "HEAD~2")}))
    found = base(branch, CI="true", GITHUB_EVENT_NAME="push", GITHUB_EVENT_PATH=str(event))
    assert titles(found) == ["First"]
    assert found.name == "the commit before the push"


def test_git_base_of_first_push_is_branch_parent(branch: Path, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": "0" * 40}))
    found = base(branch, CI="true", GITHUB_EVENT_NAME="push", GITHUB_EVENT_PATH=str(event))
    assert titles(found) == ["Topic"]


def test_git_base_in_merge_queue_is_queue_base(branch: Path, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"merge_group": {"base_sha": git(branch, "rev-parse", "HEAD~2")}}))
    found = base(branch, CI="true", GITHUB_EVENT_NAME="merge_group", GITHUB_EVENT_PATH=str(event))
    assert titles(found) == ["First"]


def test_merge_base_uses_event_commit_without_target_branch(branch: Path, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"base": {"sha": git(branch, "rev-parse", "origin/main")}}}))
    git(branch, "update-ref", "refs/keep", "refs/remotes/origin/main")
    git(branch, "update-ref", "-d", "refs/remotes/origin/main")
    names = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(event)}
    found = base(branch, CI="true", GITHUB_BASE_REF="main", **names)
    assert titles(found) == ["First"]
    assert found.name == "the merge base with origin/main"


@pytest.mark.parametrize("sha", ["HEAD~2", "--all", 7, None, {"x": 1}, "0" * 40])
def test_invalid_commit_id_in_github_event_is_ignored(branch: Path, tmp_path: Path, sha: object) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": sha, "merge_group": {"base_sha": sha}}))
    found = base(branch, CI="true", GITHUB_EVENT_NAME="push", GITHUB_EVENT_PATH=str(event))
    assert found.name == "the parent of HEAD"
    found = base(branch, CI="true", GITHUB_EVENT_NAME="merge_group", GITHUB_EVENT_PATH=str(event))
    assert found.is_commit_missing


@pytest.mark.parametrize("name", ["CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"])
def test_git_base_in_gitlab_merge_request(branch: Path, name: str) -> None:
    tip = git(branch, "rev-parse", "HEAD~2" if "DIFF" in name else "origin/main")
    env = {"CI": "true", "GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event", name: tip}
    found = base(branch, CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main", CI_COMMIT_BEFORE_SHA="0" * 40, **env)
    assert titles(found) == ["First"]
    assert found.name == "the merge base with main"


def test_gitlab_branch_pipeline_base_is_commit_before_push(branch: Path) -> None:
    env = {"CI": "true", "GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "push"}
    before = git(branch, "rev-parse", "HEAD~2")
    assert titles(base(branch, CI_COMMIT_BEFORE_SHA=before, **env)) == ["First"]
    assert base(branch, CI_COMMIT_BEFORE_SHA="0" * 40, **env).name == "the parent of HEAD"
    assert base(branch, **{**env, "CI_PIPELINE_SOURCE": "schedule"}).name == "HEAD"


# What earlier commits said.


def test_earlier_git_bases_are_listed_newest_first(
    tmp_path: Path,
) -> None:
    for title in ("First", "Second", "Third"):
        commit(tmp_path, {"dpsync.yaml": team(title)})
        commit(tmp_path, {"notes.txt": title})
    found = base(tmp_path)
    assert titles(found) == ["Third"]
    # Before the first one there was nothing.
    assert [titles(Base("", desired=then)) for then in found.earlier_configurations] == [
        ["Second"],
        ["First"],
        [],
    ]
    assert [titles(Base("", desired=then)) for then in found.earlier_configurations] == [
        ["Second"],
        ["First"],
        [],
    ]


def test_earlier_git_bases_stop_at_shallow_clone_boundary(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    for title in ("First", "Second", "Third"):
        commit(tmp_path / "whole", {"dpsync.yaml": team(title)})
    for depth, there in ((1, []), (2, [["Second"]]), (3, [["Second"], ["First"]])):
        clone = tmp_path / f"depth-{depth}"
        git(tmp_path, "clone", "-q", f"--depth={depth}", f"file://{tmp_path / 'whole'}", str(clone))
        assert [titles(Base("", desired=then)) for then in base(clone).earlier_configurations] == there


def test_earlier_git_base_before_first_configuration_is_empty(tmp_path: Path) -> None:
    commit(tmp_path, {"notes.txt": "x"})
    commit(tmp_path, {"dpsync.yaml": team("First")})
    assert [titles(Base("", desired=then)) for then in base(tmp_path).earlier_configurations] == [[]]


def test_earlier_git_bases_skip_commits_with_invalid_files(tmp_path: Path) -> None:
    for text in (team("First"), "dpsync: 2\n", team("Third")):
        commit(tmp_path, {"dpsync.yaml": text})
    assert [titles(Base("", desired=then)) for then in base(tmp_path).earlier_configurations] == [
        ["First"],
        [],
    ]


def test_earlier_git_bases_are_loaded_lazily_and_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(14):
        commit(tmp_path, {"dpsync.yaml": team(f"T{number}")})
    found = base(tmp_path)
    read: list[str] = []
    load = Project.load
    monkeypatch.setattr(Project, "load", lambda self, id: read.append(id) or load(self, id))
    assert read == []
    assert titles(Base("", desired=next(iter(found.earlier_configurations)))) == ["T12"]
    assert len(read) == 1
    assert [titles(Base("", desired=then)) for then in found.earlier_configurations][-1] == ["T3"]
    assert len(read) == 10


def test_earlier_git_bases_search_limited_number_of_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsync.config.git._MAX_SEARCHED_COMMITS", 3)
    for title in ("First", "Second"):
        commit(tmp_path, {"dpsync.yaml": team(title)})
    assert [titles(Base("", desired=then)) for then in base(tmp_path).earlier_configurations] == [
        ["First"],
        [],
    ]
    commit(tmp_path, {"dpsync.yaml": team("Third")})
    commit(tmp_path, {"notes.txt": "x"})
    assert [titles(Base("", desired=then)) for then in base(tmp_path).earlier_configurations] == [
        ["Second"],
        ["First"],
    ]


ROOT = "dpsync: 1\ninclude: [parts/*.yaml]\norganizations: { acme: { id: acme } }\n"


def part(title: str) -> str:
    return f"organizations: {{ acme: {{ teams: {{ {title.lower()}: {{ title: {title} }} }} }} }}\n"


def test_earlier_git_bases_include_commits_before_file_rename(tmp_path: Path) -> None:
    for title in ("First", "Second"):
        commit(tmp_path, {"dpsync.yaml": ROOT, "parts/one.yaml": part(title)})
    commit(tmp_path, {"dpsync.yaml": f"{ROOT}# later\n"})
    git(tmp_path, "mv", "parts/one.yaml", "parts/other.yaml")
    commit(tmp_path, {"notes.txt": "x"})
    commit(tmp_path, {"parts/other.yaml": part("Third")})
    earlier = [titles(Base("", desired=then)) for then in base(tmp_path).earlier_configurations]
    assert earlier == [["Second"], ["Second"], ["Second"], ["First"], []]


@pytest.mark.parametrize("to", ["elsewhere.yaml", None])
def test_earlier_git_bases_include_removed_file(tmp_path: Path, to: str | None) -> None:
    commit(tmp_path, {"dpsync.yaml": ROOT, "parts/one.yaml": part("One")})
    commit(tmp_path, {"parts/two.yaml": part("Two")})
    git(tmp_path, *(("mv", "parts/two.yaml", to) if to else ("rm", "-q", "parts/two.yaml")))
    commit(tmp_path, {"notes.txt": "x"})
    found = base(tmp_path)
    assert titles(found) == ["One"]
    assert [titles(Base("", desired=then)) for then in found.earlier_configurations] == [
        ["One", "Two"],
        ["One"],
        [],
    ]


def test_earlier_git_bases_follow_first_parent_of_merge(checkout: Path) -> None:
    git(checkout, "switch", "-q", "-c", "topic")
    commit(checkout, {"dpsync.yaml": team("Tried")})
    commit(checkout, {"dpsync.yaml": team("Better")})
    git(checkout, "switch", "-q", "main")
    git(checkout, "merge", "-q", "--no-ff", "-m", "merge", "topic")
    assert [titles(Base("", desired=then)) for then in base(checkout).earlier_configurations] == [
        ["First"],
        [],
    ]


def test_git_base_of_scheduled_run_is_head(branch: Path) -> None:
    assert base(branch, CI="true", GITHUB_EVENT_NAME="schedule").name == "HEAD"


def test_git_base_is_head_when_ci_is_false(branch: Path) -> None:
    assert base(branch, CI="false").name == "HEAD"


@pytest.mark.parametrize("env", [{"GITHUB_BASE_REF": "main"}, {"GITHUB_EVENT_NAME": "push"}])
def test_shallow_clone_warning_suggests_fetch_depth(
    branch: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", "--branch", "topic", f"file://{branch}", str(shallow))
    found = base(shallow, CI="true", **env)
    assert found.desired is None
    assert found.warning is not None
    assert "fetch-depth: 0" in (found.warning.hint or "")


def test_base_missing_from_shallow_clone_hints_fetch_depth(branch: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", "--branch", "topic", f"file://{branch}", str(shallow))
    with pytest.raises(DiagnosticError) as ended:
        base(shallow, git(branch, "rev-parse", "HEAD~1"))
    assert "fetch-depth: 0" in (ended.value.diagnostics[0].hint or "")
