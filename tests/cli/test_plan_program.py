"""The process that makes a plan for the companion's page: its imports and its environment variables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import dpsync
from dpsync.cli.plan_program import plan_variables

SOURCE = Path(dpsync.__file__).parent
PRINT_COMMAND = (
    "import json; from dpsync.cli.plan_program import isolated_command as command;"
    " print(json.dumps(command('version')))"
)


@pytest.fixture
def another(tmp_path: Path) -> Path:
    """Create a directory with another version of dpsync."""
    folder = tmp_path / "another"
    shutil.copytree(SOURCE, folder / "dpsync", ignore=shutil.ignore_patterns("__pycache__"))
    version = folder / "dpsync" / "__init__.py"
    version.write_text(version.read_text().replace(dpsync.__version__, "99.0.0"))
    return folder


def installed(another: Path) -> tuple[Path, dict[str, str]]:
    return another.parent, {"PYTHONPATH": str(another)}


def source_tree(another: Path) -> tuple[Path, dict[str, str]]:
    return another, {}


def archive(another: Path) -> tuple[Path, dict[str, str]]:
    made = shutil.make_archive(str(another.parent / "archive"), "zip", another)
    return another.parent, {"PYTHONPATH": made}


@pytest.mark.parametrize("place", [installed, source_tree, archive], ids=lambda place: place.__name__)
def test_plan_process_runs_same_dpsync_installation(
    place: Callable[[Path], tuple[Path, dict[str, str]]], another: Path, tmp_path: Path
) -> None:
    folder, env = place(another)
    asked = [sys.executable, "-c", PRINT_COMMAND]
    command = json.loads(subprocess.run(asked, cwd=folder, env=env, capture_output=True, check=True).stdout)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = subprocess.run(command, cwd=elsewhere, env={}, capture_output=True, text=True, check=True)
    assert ran.stdout == "dpsync 99.0.0\n"


def test_plan_process_ignores_modules_in_working_directory(tmp_path: Path) -> None:
    asked = [sys.executable, "-c", PRINT_COMMAND]
    command = subprocess.run(asked, cwd=tmp_path, env={}, capture_output=True, text=True, check=True).stdout
    assert f"{str(tmp_path)!r}" not in command


def test_plan_process_receives_only_referenced_variables(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(
        "dpsync: 1\ninclude: [more.yaml]\norganizations:\n  acme: { id: '${ACME_ID}' }\n",
        {"more.yaml": "organizations: { acme: { title: '${ACME_TITLE:-Acme}' } }\n"},
    )
    for name in ("ACME_ID", "ACME_TITLE", "ACME_TOKEN", "DPSYNC_TOKEN", "DPSYNC_TOKEN_FILE", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "x")
    found = plan_variables(folder)
    assert {"ACME_ID", "ACME_TITLE", "PATH"} <= {*found}
    assert not [name for name in found if "TOKEN" in name]


def test_plan_process_without_configuration_receives_path(tmp_path: Path) -> None:
    assert plan_variables(tmp_path)["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize("name", ["DPSYNC_TOKEN", "DPSYNC_TOKEN_PROD", "ACME_TOKEN"])
def test_plan_process_receives_no_platform_token(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a checkout could show the token on the page by naming the variable in a title."""
    title = "${" + name + ":-none}"
    (tmp_path / "dpsync.yaml").write_text(
        f"dpsync: 1\norganizations: {{ acme: {{ id: acme, title: '{title}' }} }}\n"
    )
    monkeypatch.setenv("DPSYNC_TOKEN_NAMES", "ACME_TOKEN")
    monkeypatch.setenv(name, "secret-of-a-platform")
    assert "secret-of-a-platform" not in plan_variables(tmp_path).values()
