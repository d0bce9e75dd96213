"""The pipeline for GitLab: the lines of its jobs are run as a runner runs them, against the companion."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.github.conftest import CONFIG, Workflow
from tests.render.test_codequality import REPORT

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "gitlab" / ".gitlab-ci.yml"
PIPELINE = yaml.safe_load(FILE.read_text(encoding="utf-8"))
TOOLS = Path(sys.executable).parent


def test_gitlab_pipeline_matches_gitlab_schema() -> None:
    command = [TOOLS / "check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", FILE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


Job = Callable[..., tuple[int, str]]


@pytest.fixture
def job(programs: Path) -> Job:
    return partial(run_job, programs)


def run_job(
    programs: Path, name: str, workflow: Workflow, source: str = "push", **more: str
) -> tuple[int, str]:
    """Run the lines of a job in one shell that ends with the first that fails."""
    environment = {
        "PATH": f"{programs}:{TOOLS}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(workflow.folder.parent),
        "LANG": "C.UTF-8",
        "CI": "true",
        "GITLAB_CI": "true",
        "CI_PIPELINE_SOURCE": source,
        "CI_COMMIT_BEFORE_SHA": workflow.git("rev-parse", "HEAD^"),
        "DPSYNC_URL": workflow.platform.url,
        "DPSYNC_TOKEN": "ada-token",
        **more,
    }
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(PIPELINE[name]["script"])], cwd=workflow.folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def quality(workflow: Workflow, name: str) -> list[Any]:
    """Return the code quality report of a job, read from the file that its artifacts name."""
    file = workflow.folder / PIPELINE[name]["artifacts"]["reports"]["codequality"]
    found = json.loads(file.read_text(encoding="utf-8"))
    REPORT.validate(found)
    return list(found)


@pytest.fixture
def project(workflow: Workflow) -> Workflow:
    workflow.git("rm", "-q", "dpsync.yaml")
    (workflow.folder / "docs-platform").mkdir()
    workflow.commit(CONFIG, "docs-platform/dpsync.yaml")
    return workflow


def test_gitlab_pipeline_plans_applies_and_detects_drift(job: Job, project: Workflow) -> None:
    head = project.git("rev-parse", "HEAD")
    project.commit(CONFIG.replace("title: Support", "title: Help desk"), "docs-platform/dpsync.yaml")
    target = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": head}
    code, printed = job("validate", project, "merge_request_event", DPSYNC_TOKEN="", **target)
    assert code == 0, printed
    assert "Entries in the files: 1 changed." in printed
    project.git("reset", "-q", "--hard", head)
    code, printed = job("plan", project)
    assert code == 0, printed
    assert 'team support "Support"' in printed
    assert "acme/teams/support" in (project.folder / "plan.html").read_text(encoding="utf-8")
    assert (project.folder / "junit.xml").read_text(encoding="utf-8").startswith("<?xml")
    assert quality(project, "plan") == []
    code, printed = job("apply", project)
    assert code == 0, printed
    assert "Verified: a new plan has no changes." in printed
    assert list((project.folder / "journal").iterdir())
    project.ask("PATCH", "/v1/orgs/acme", {"title": "Acne"})
    assert job("drift", project, "schedule")[0] == 2


def test_refused_gitlab_plan_fails_job_without_saved_plan(job: Job, project: Workflow) -> None:
    text = CONFIG.replace("deletes: 5", "deletes: 0").replace("      legacy: { title: Legacy }\n", "")
    project.commit(text, "docs-platform/dpsync.yaml")
    code, printed = job("plan", project)
    assert (code, "cannot be applied" in printed) == (4, True)
    found = {one["check_name"]: one for one in quality(project, "plan")}
    assert {"dpsync/delete", "dpsync/limits"} <= set(found)
    delete = found["dpsync/delete"]
    assert delete["location"] == {"path": "docs-platform/dpsync.yaml", "lines": {"begin": 4}}
    assert (project.folder / "plan.html").exists()
    assert not (project.folder / "saved.json").exists()


def test_gitlab_code_quality_locates_invalid_configuration(job: Job, project: Workflow) -> None:
    project.commit(CONFIG.replace("teams:\n", "tems:\n"), "docs-platform/dpsync.yaml")
    assert job("validate", project, "merge_request_event", DPSYNC_TOKEN="")[0] == 5
    (found,) = quality(project, "validate")
    assert found["location"] == {"path": "docs-platform/dpsync.yaml", "lines": {"begin": 7}}
