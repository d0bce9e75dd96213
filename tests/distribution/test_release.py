"""How dpsync is released and offered to other tools: workflows, pre-commit hooks, the container."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpsync import __version__
from tests.distribution.installed import PROGRAMS, ROOT, copied, missing
from tests.distribution.test_installing import run, surroundings
from tests.patience import PATIENCE

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DOCKERFILE = ROOT / "Dockerfile"
HOOKS = ROOT / ".pre-commit-hooks.yaml"


# Workflows.


@pytest.mark.parametrize(
    "command",
    [
        ["zizmor", "-q", "--offline", "--persona=auditor"],
        ["actionlint"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
    ],
    ids=lambda command: command[0],
)
def test_repository_workflows_pass_linters(command: list[str]) -> None:
    done = subprocess.run(
        [PROGRAMS / command[0], *command[1:], *WORKFLOWS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def jobs(file: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"])


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflow_actions_are_pinned_by_commit(file: Path) -> None:
    for job in jobs(file).values():
        for step in job["steps"]:
            assert re.fullmatch(r"[\w/.-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + "0" * 40))


def test_release_jobs_have_minimal_permissions_without_secrets() -> None:
    file = ROOT / ".github" / "workflows" / "release.yml"
    may = {name: set(job["permissions"]) for name, job in jobs(file).items()}
    assert may == {
        "build": {"contents"},
        "attest": {"id-token", "attestations"},
        "pypi": {"id-token"},
        "github": {"contents"},
    }
    assert jobs(file)["pypi"]["environment"] == "pypi"
    assert "secrets." not in file.read_text(encoding="utf-8")


def test_release_jobs_depend_on_tag_check() -> None:
    """Otherwise, a job could use its permissions for a tag that is not on the default branch."""
    release = jobs(ROOT / ".github" / "workflows" / "release.yml")
    first = next(step["run"] for step in release["build"]["steps"] if "run" in step)
    assert "release.py check" in first
    assert release["build"]["permissions"] == {"contents": "read"}
    for name in release:
        needs = name
        while needs != "build":
            needs = release[needs]["needs"]


def tag_of_the_tip(clone: Path) -> None:
    git(clone, "tag", "v1.2.3")


def annotated_tag(clone: Path) -> None:
    git(clone, "tag", "-a", "-m", "1.2.3", "v1.2.3")


def tag_below_the_tip(clone: Path) -> None:
    git(clone, "tag", "v1.2.3")
    git(clone, "commit", "-q", "--allow-empty", "-m", "later")


def tag_of_another_branch(clone: Path) -> None:
    git(clone, "switch", "-q", "-c", "mine")
    git(clone, "commit", "-q", "--allow-empty", "-m", "nobody has reviewed it")
    git(clone, "tag", "v1.2.3")


def tag_of_no_branch(clone: Path) -> None:
    git(clone, "switch", "-q", "--detach")
    git(clone, "commit", "-q", "--allow-empty", "-m", "nobody has reviewed it")
    git(clone, "tag", "v1.2.3")


def tag_beside_one_named_like_the_branch(clone: Path) -> None:
    tag_of_another_branch(clone)
    for name in ("origin/main", "refs/remotes/origin/main"):
        git(clone, "tag", name)


def tag_of_another_version(clone: Path) -> None:
    git(clone, "tag", "v1.2.4")


def run_tag_check(folder: Path, make: Callable[[Path], None], tag: str, at: str = "") -> tuple[int, str]:
    """Run the check of the release workflow in a checkout with the refs that actions/checkout fetches."""
    clone, checkout = folder / "clone", folder / "checkout"
    (clone / "dpsync").mkdir(parents=True)
    shutil.copytree(ROOT / ".ci", clone / ".ci")
    (clone / "dpsync" / "__init__.py").write_text('__version__ = "1.2.3"\n', encoding="utf-8")
    (clone / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (2026-01-01)\n", encoding="utf-8")
    git(clone, "init", "-q", "-b", "main")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "release")
    make(clone)
    checkout.mkdir()
    git(checkout, "init", "-q")
    fetched = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
    git(checkout, "fetch", "-q", str(clone), *fetched)
    git(checkout, "checkout", "-q", "--detach", at or f"refs/tags/{tag}")
    steps = jobs(ROOT / ".github" / "workflows" / "release.yml")["build"]["steps"]
    (step,) = (step["run"] for step in steps if "release.py check" in step.get("run", ""))
    ended = subprocess.run(
        ["bash", "-ec", re.sub(r"^\S*python3?\b", sys.executable, step)],
        cwd=checkout, env={**os.environ, "GITHUB_REF_NAME": tag, "BRANCH": "main"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stderr


@pytest.mark.parametrize(
    "make",
    [tag_of_the_tip, annotated_tag, tag_below_the_tip],
    ids=["of the last commit", "annotated", "of an earlier commit"],
)
def test_release_accepts_tag_on_default_branch(make: Callable[[Path], None], tmp_path: Path) -> None:
    assert run_tag_check(tmp_path, make, "v1.2.3") == (0, "")


@pytest.mark.parametrize(
    ("make", "tag", "problem"),
    [
        (tag_of_another_branch, "v1.2.3", "is not on refs/remotes/origin/main"),
        (tag_of_no_branch, "v1.2.3", "is not on refs/remotes/origin/main"),
        (tag_beside_one_named_like_the_branch, "v1.2.3", "is not on refs/remotes/origin/main"),
        (tag_of_another_version, "v1.2.4", "the tag is v1.2.4, and the version v1.2.3"),
    ],
    ids=["of another branch", "of no branch", "beside one named like the branch", "of another version"],
)
def test_release_rejects_tag_off_default_branch(
    make: Callable[[Path], None], tag: str, problem: str, tmp_path: Path
) -> None:
    """Pushing a tag needs no review. Otherwise, a tag could publish a commit that nobody has merged."""
    code, said = run_tag_check(tmp_path, make, tag)
    assert (code, problem in said) == (1, True), said


def test_release_rejects_checkout_of_other_commit(tmp_path: Path) -> None:
    code, said = run_tag_check(tmp_path, tag_below_the_tip, "v1.2.3", at="refs/remotes/origin/main")
    assert (code, "another one is checked out" in said) == (1, True), said


@pytest.fixture
def release(tmp_path: Path) -> tuple[str, Path]:
    """Return the commit of a release, and the directory of its sources."""
    clone = copied(tmp_path / "clone")
    shutil.copytree(ROOT / ".ci", clone / ".ci")
    git(clone, "init", "-q", "-b", "main")
    git(clone, "add", "-f", ".")
    git(clone, "commit", "-q", "-m", "release")
    (clone / "dpsync" / "cli" / "main.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
    script = [sys.executable, str(clone / ".ci" / "release.py"), "sources", str(tmp_path / "sources")]
    ended = subprocess.run(script, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return git(clone, "rev-parse", "HEAD"), tmp_path / "sources"


def test_released_init_pins_action_by_commit(release: tuple[str, Path], tmp_path: Path) -> None:
    """A release knows its own commit, and `init` writes workflows that run exactly this commit."""
    commit, sources = release
    project = tmp_path / "project"
    words = ["init", "-C", str(project), "--organization", "acme", "--empty", "--workflows"]
    run([sys.executable, "-m", "dpsync", *words], sources, PYTHONPATH=str(sources))
    for name in ("plan", "apply", "drift"):
        text = (project / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
        assert f"      - uses: dpsync/dpsync@{commit} # v{__version__}\n" in text
    linter = [PROGRAMS / "zizmor", "-q", "--offline", "--persona=auditor", str(project)]
    done = subprocess.run(linter, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# pre-commit.


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@acme.example"]
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a repository that uses the pre-commit hooks of this checkout."""
    if not (PROGRAMS / "pre-commit").exists():
        missing("pre-commit is not installed")
    hooks = copied(tmp_path / "hooks")
    folder = tmp_path / "project"
    folder.mkdir()
    for place in (hooks, folder):
        git(place, "init", "-q")
    git(hooks, "add", "-f", ".")
    git(hooks, "commit", "-q", "-m", "all")
    used = [{"id": "dpsync-validate"}, {"id": "dpsync-fmt"}]
    config = {"repos": [{"repo": str(hooks), "rev": git(hooks, "rev-parse", "HEAD"), "hooks": used}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder


def test_pre_commit_hooks_format_and_validate_project(project: Path, tmp_path: Path) -> None:
    file = project / "dpsync.yaml"
    own = {"PRE_COMMIT_HOME": str(tmp_path / "cache")}

    def hooks() -> tuple[int, str]:
        git(project, "add", ".")
        ended = subprocess.run(
            [PROGRAMS / "pre-commit", "run", "--color", "never"],
            cwd=project, env=surroundings(tmp_path, **own), capture_output=True, text=True, check=False,
            timeout=PATIENCE,
        )  # fmt: skip
        return ended.returncode, ended.stdout + ended.stderr

    file.write_text("dpsync: 1\norganizations: {acme: {id: acme}}\n", encoding="utf-8")
    code, printed = hooks()
    assert (code, "files were modified by this hook" in printed) == (1, True), printed
    assert file.read_text(encoding="utf-8") == "dpsync: 1\norganizations: { acme: { id: acme } }\n"
    assert hooks()[0] == 0
    file.write_text("dpsync: 1\norganizations: { acme: { id: acme, titel: Acme } }\n", encoding="utf-8")
    code, printed = hooks()
    assert (code, "dpsync.yaml:2:36" in printed, 'did you mean "title"' in printed) == (1, True, True), (
        printed
    )


# The container.


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, each on one line."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"), flags=re.M).replace("\\\n", " ")
    lines = (line.split(None, 1) for line in text.splitlines() if line.strip())
    return [(word, re.sub(r"\s+", " ", rest)) for word, rest in lines]


def test_container_runs_unprivileged_with_configurable_base() -> None:
    found = instructions()
    words = [word for word, _ in found]
    assert found[0] == ("ARG", "BASE=python:3.13-slim")
    assert {rest.split()[0] for word, rest in found if word == "FROM"} == {"${BASE}"}
    last = len(words) - 1 - words[::-1].index("FROM")
    assert ("USER", "10001:10001") in found[last:]
    assert not {"ADD", "VOLUME", "EXPOSE"} & {*words}
    assert not re.search(r"TOKEN|SECRET|PASSWORD", str([one for one in found if one[0] in ("ARG", "ENV")]))


def test_container_build_context_contains_only_copied_files() -> None:
    sources = {
        source
        for word, rest in instructions()
        if word == "COPY" and "--from=" not in rest
        for source in rest.split()[:-1]
    }
    assert sources == {"action/requirements.txt", "dist/*.whl"}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert ignored == ["*", *(f"!{source}" for source in sorted(sources))]


def test_container_install_command_installs_dpsync(wheel: Path, tmp_path: Path) -> None:
    """Docker is not needed: the commands are run here, in other directories."""
    build = tmp_path / "build"
    build.mkdir()
    for path in (ROOT / "action" / "requirements.txt", wheel):
        shutil.copy2(path, build)
    command = next(rest for word, rest in instructions() if word == "RUN")
    command = command.replace("/build/", f"{build}/").replace("/opt/dpsync", str(tmp_path / "dpsync"))
    path = f"{Path(sys.executable).resolve().parent}:/usr/bin:/bin"
    run(["sh", "-c", command.replace("python -m venv", f"{sys.executable} -m venv")], tmp_path, PATH=path)
    assert (
        run([str(tmp_path / "dpsync" / "bin" / "dpsync"), "--version"], tmp_path) == f"dpsync {__version__}\n"
    )
