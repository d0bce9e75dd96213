"""`validate` without `--env` checks the configuration alone and with every environment."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

Project = Callable[..., Path]
ROOT = """\
dpsync: 1
organizations:
  acme: { id: acme, teams: { writers: { title: Writers } } }
environments:
  prod: { overlay: prod.yaml }
  staging: { overlay: staging.yaml, organizations: { acme: { id: acme-staging } } }
  trial: { url: "https://trial.acme.example" }
"""
GOOD = "organizations: { acme: { title: Acme Prod } }\n"


def findings(run: Run, directory: Path, *flags: str, code: int = 5) -> list[dict[str, Any]]:
    ended = run("validate", "-C", str(directory), "--format", "json", *flags)
    assert ended.code == code, ended.out + ended.err
    found: list[dict[str, Any]] = json.loads(ended.out)["findings"]
    return found


def test_validate_lists_every_valid_environment(run: Run, project: Project) -> None:
    ended = run("validate", "-C", str(project(ROOT, {"prod.yaml": GOOD, "staging.yaml": GOOD})))
    assert (ended.code, ended.out) == (
        0, "Valid: 2 entries in 3 files, and with each environment: prod, staging, trial.\n",
    )  # fmt: skip


def test_validate_names_environment_of_overlay_error(run: Run, project: Project) -> None:
    directory = project(ROOT, {"prod.yaml": GOOD, "staging.yaml": GOOD.replace("title", "titel")})
    (found,) = findings(run, directory)
    assert (found["code"], found["at"]["file"], found["environments"]) == (
        "DP201",
        "staging.yaml",
        ["staging"],
    )
    ended = run("validate", "-C", str(directory))
    assert "= with --env staging" in ended.err
    assert "titel" in ended.err


def test_validate_merges_same_error_of_several_environments(run: Run, project: Project) -> None:
    root = ROOT.replace("overlay: staging.yaml", "overlay: prod.yaml")
    (found,) = findings(run, project(root, {"prod.yaml": GOOD.replace("title", "titel")}))
    assert found["environments"] == ["prod", "staging"]


def test_validate_reports_root_file_error_without_environment(run: Run, project: Project) -> None:
    root = ROOT.replace("title: Writers", "titel: Writers")
    found = findings(run, project(root, {"prod.yaml": GOOD, "staging.yaml": GOOD}))
    assert [(item["code"], item["environments"]) for item in found] == [("DP201", [])]


def test_validate_finds_conflict_between_overlay_and_root(run: Run, project: Project) -> None:
    prod = "organizations: { acme: { teams: { others: { title: Writers } } } }\n"
    (found,) = findings(run, project(ROOT, {"prod.yaml": prod, "staging.yaml": GOOD}))
    assert (found["code"], found["environments"]) == ("DP223", ["prod"])


@pytest.mark.parametrize("broken", ["a: [\n", None])
def test_validate_reports_unreadable_overlay(run: Run, project: Project, broken: str | None) -> None:
    files = {"prod.yaml": GOOD, **({"staging.yaml": broken} if broken else {})}
    (found,) = findings(run, project(ROOT, files))
    assert found["environments"] == ["staging"]


def test_validate_ignores_unset_variables_of_unselected_environments(run: Run, project: Project) -> None:
    files = {"prod.yaml": GOOD.replace("Acme Prod", "'${PROD_TITLE}'"), "staging.yaml": GOOD}
    directory = project(ROOT, files)
    assert findings(run, directory, code=0) == []
    assert [item["code"] for item in findings(run, directory, "--env", "prod")] == ["DP131"]


def test_validate_checks_only_the_selected_environment(run: Run, project: Project) -> None:
    files = {"prod.yaml": GOOD.replace("title", "titel"), "staging.yaml": GOOD}
    assert findings(run, project(ROOT, files), "--env", "staging", code=0) == []


def test_validate_shows_50_errors_and_counts_rest(run: Run, project: Project) -> None:
    lines = "".join(f"    unknown{number}: 1\n" for number in range(120))
    directory = project(f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n{lines}")
    ended = run("validate", "-C", str(directory), "--format", "json")
    document = json.loads(ended.out)
    assert (len(document["findings"]), document["left_out"]) == (50, {"DP201": 70})
    assert ended.err.endswith("70 more messages are not shown (DP201: 70)\n\n120 errors in 1 file\n")


def test_validate_limits_errors_of_an_environment(run: Run, project: Project) -> None:
    keys = ", ".join(f"unknown{number}: 1" for number in range(120))
    directory = project(
        ROOT, {"prod.yaml": f"organizations: {{ acme: {{ {keys} }} }}\n", "staging.yaml": GOOD}
    )
    document = json.loads(run("validate", "-C", str(directory), "--format", "json").out)
    assert (len(document["findings"]), document["left_out"]) == (50, {"DP201": 70})
