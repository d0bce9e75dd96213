"""Which mutants of changed code the nightly job tests (.ci/mutations.py)."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.distribution.installed import ROOT


@pytest.fixture(scope="module")
def mutations() -> Any:
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("mutations", ROOT / ".ci" / "mutations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with one old commit that has four files, and no new commit."""
    for name in ("dpsync/disk.py", "dpsync/planner/plan.py", "dpsync/planner/urls.py", "tests/test_disk.py"):
        write(tmp_path, name, "number = 1\n")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "2026-01-01T12:00:00")
    return tmp_path


def write(repository: Path, name: str, text: str) -> None:
    (repository / name).parent.mkdir(parents=True, exist_ok=True)
    (repository / name).write_text(text, encoding="utf-8")


def git(repository: Path, *words: str, **environment: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *identity, *words], cwd=repository, env={**os.environ, **environment},
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip


def commit(repository: Path, time: str | None = None) -> str:
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "-m", "a commit", **({"GIT_COMMITTER_DATE": time} if time else {}))
    return git(repository, "rev-parse", "HEAD")


def test_every_package_has_existing_tests(mutations: Any) -> None:
    """Otherwise, the nightly job would fail only after somebody changes the package."""
    modules = {path.stem if path.is_file() else path.name for path in (ROOT / "dpsync").iterdir()}
    assert set(mutations.TESTS) == modules - {"__pycache__", "py"}
    for paths in mutations.TESTS.values():
        assert all((ROOT / path).exists() for path in paths.split())


def test_mutation_run_selects_added_or_changed_modules(mutations: Any, repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    write(repository, "dpsync/planner/plan.py", "number = 2\n")
    write(repository, "dpsync/model/refusals.py", "number = 1\n")
    write(repository, "tests/test_disk.py", "number = 2\n")
    write(repository, "dpsync/py.typed", "")
    (repository / "dpsync" / "disk.py").unlink()
    commit(repository)
    files = mutations.find_changed_files(repository, base)
    assert files == ["dpsync/model/refusals.py", "dpsync/planner/plan.py"]
    assert mutations.group_by_package(["dpsync/disk.py", *files]) == {
        "disk": ["dpsync/disk.py"],
        "model": ["dpsync/model/refusals.py"],
        "planner": ["dpsync/planner/plan.py"],
    }


def test_mutation_base_defaults_to_last_commit_before_yesterday(mutations: Any, repository: Path) -> None:
    old = git(repository, "rev-parse", "HEAD")
    write(repository, "dpsync/planner/plan.py", "number = 2\n")
    commit(repository)
    assert mutations.find_base(repository, None) == old


def test_mutation_base_of_young_repository_is_empty(mutations: Any, tmp_path: Path) -> None:
    write(tmp_path, "dpsync/disk.py", "number = 1\n")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path)
    assert mutations.find_changed_files(tmp_path, mutations.find_base(tmp_path, None)) == ["dpsync/disk.py"]


def test_mutation_run_compares_base_branch_at_merge_base(mutations: Any, repository: Path) -> None:
    """Otherwise, changes of the base branch would count as changes of HEAD."""
    merge_base = git(repository, "rev-parse", "HEAD")
    git(repository, "switch", "-q", "-c", "change")
    write(repository, "dpsync/planner/plan.py", "number = 2\n")
    commit(repository)
    git(repository, "switch", "-q", "main")
    write(repository, "dpsync/disk.py", "number = 2\n")
    commit(repository)
    git(repository, "switch", "-q", "change")
    assert mutations.find_base(repository, "main") == merge_base


@pytest.mark.parametrize(
    ("source", "annotations"),
    [
        ("number: int | None = 1 | 2", ["int | None"]),
        ("def add(a: A | B, *c: C) -> D | E: return a | c", ["A | B", "C", "D | E"]),
        ("numbers = 1 | 2", []),
    ],
    ids=["variable", "function", "no annotation"],
)
def test_type_annotations_are_found_with_exact_ranges(
    mutations: Any, source: str, annotations: list[str]
) -> None:
    ranges = mutations.find_annotations(source)
    assert sorted(source[start:end] for (_, start), (_, end) in ranges) == annotations


def mutants(mutations: Any, job: str) -> list[Any]:
    """Return three mutants for each of twenty lines."""
    return [
        mutations.Mutant("dpsync/disk.py", (line, 4), (line, 6), operator, line, f"{job}{line}{operator}")
        for line in range(20)
        for operator in ("AddNot", "NumberReplacer", "ReplaceOrWithAnd")
    ]


def chosen(mutations: Any, most: int, seed: int, job: str = "a") -> list[Any]:
    """Return the sample without the random ids of the mutants."""
    sample = mutations.choose_mutants(mutants(mutations, job)[:: -1 if job == "a" else 1], most, seed)
    return [mutant[:-1] for mutant in sample]


def test_mutant_sample_depends_only_on_seed(mutations: Any) -> None:
    assert chosen(mutations, 5, 7, "a") == chosen(mutations, 5, 7, "b")
    assert chosen(mutations, 5, 7) != chosen(mutations, 5, 8)


@pytest.mark.parametrize(("most", "number"), [(0, 0), (5, 5), (60, 20)], ids=["none", "some", "all"])
def test_mutant_sample_has_one_mutant_per_position(mutations: Any, most: int, number: int) -> None:
    positions = [mutant[:2] for mutant in chosen(mutations, most, 0)]
    assert len(positions) == len(set(positions)) == number
