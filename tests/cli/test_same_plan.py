"""For the same files, commit and platform every way to a plan leads to the same one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLE, Run
from tests.cli.test_git_base import git


def _committed(directory: Path) -> None:
    """Leave the files as they are in HEAD."""


def _edited(directory: Path) -> None:
    people = directory / "people.yaml"
    people.write_text(people.read_text().replace("Technical writers", "Writers"))


def _entry_added(directory: Path) -> None:
    people = directory / "people.yaml"
    people.write_text(
        people.read_text().replace("      support:", "      legacies: { title: Legacies }\n      support:")
    )


@pytest.mark.parametrize("edit", [_committed, _edited, _entry_added])
@pytest.mark.usefixtures("platform")
def test_base_flag_with_head_gives_default_plan(
    edit: Callable[[Path], None], tmp_path: Path, run: Run
) -> None:
    """A saved plan names its base: if that asked more questions, `apply` would refuse what `plan` showed."""
    directory = tmp_path / "acme"
    shutil.copytree(EXAMPLE, directory)
    git(directory, "init", "-q")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "files")
    edit(directory)
    head = git(directory, "rev-parse", "HEAD").strip()
    plans = [
        json.loads(run("plan", "-C", str(directory), *flags, "--format", "json").out)
        for flags in ((), ("--base", "HEAD"), ("--base", head), ("--base", "HEAD^{commit}"))
    ]
    assert len({plan["digest"] for plan in plans}) == 1
    run("plan", "-C", str(directory), "--out", "plan.json")
    saved = json.loads((directory / "plan.json").read_text())
    applied = run("apply", "-C", str(directory), "plan.json", "--yes", "--format", "json")
    assert saved["digest"] == plans[0]["digest"]
    assert applied.code == (4 if plans[0]["plan"]["refusals"] else 0), applied.err


@pytest.mark.usefixtures("platform")
def test_ci_git_base_plans_like_base_flag(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit before the push is HEAD, as when a CI job is re-run. Such a plan asks no extra questions."""
    directory = tmp_path / "acme"
    shutil.copytree(EXAMPLE, directory)
    _entry_added(directory)
    git(directory, "init", "-q")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "files")
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": git(directory, "rev-parse", "HEAD")}), encoding="utf-8")
    for name, value in {"CI": "true", "GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(event)}.items():
        monkeypatch.setenv(name, value)
    by_default, named = (
        json.loads(run("plan", "-C", str(directory), *flags, "--format", "json").out)["plan"]
        for flags in ((), ("--base", "HEAD"))
    )
    assert by_default["base"] == named["base"]
    assert [item["code"] for item in by_default["refusals"]] == [item["code"] for item in named["refusals"]]


@pytest.mark.parametrize("edit", [_committed, _edited, _entry_added])
@pytest.mark.usefixtures("platform")
def test_older_base_flag_changes_only_labels(edit: Callable[[Path], None], tmp_path: Path, run: Run) -> None:
    """An older base has other names and protections: they must not change what is asked or done."""
    directory = tmp_path / "acme"
    shutil.copytree(EXAMPLE, directory)
    people = directory / "people.yaml"
    now = people.read_text()
    people.write_text(now.replace("Technical writers", "Scribes"))
    git(directory, "init", "-q")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "older files")
    people.write_text(now)
    git(directory, "commit", "-q", "-a", "-m", "files")
    edit(directory)
    default, older = (
        json.loads(run("plan", "-C", str(directory), *flags, "--format", "json").out)
        for flags in ((), ("--base", "HEAD~1"))
    )
    assert older["digest"] == default["digest"]
    assert older["plan"]["base"] == default["plan"]["base"]
    for plan in (older["plan"], default["plan"]):
        for change in plan["changes"]:
            change.pop("cause")
            for item in change["differences"]:
                item.pop("cause")
    assert older["plan"] == default["plan"]


@pytest.mark.usefixtures("platform")
def test_saved_plan_without_git_base_applies_without_base(tmp_path: Path, run: Run) -> None:
    """Otherwise, `apply` asks other questions than `plan` has shown, once the files are committed."""
    directory = tmp_path / "acme"
    shutil.copytree(EXAMPLE, directory)
    _edited(directory)
    planned = json.loads(run("plan", "-C", str(directory), "--out", "plan.json", "--format", "json").out)
    assert planned["plan"]["base"] is None
    git(directory, "init", "-q")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "files")
    applied = run("apply", "-C", str(directory), "plan.json", "--yes", "--format", "json")
    found = json.loads(applied.out)["plan"]
    assert found["plan"]["base"] is None
    assert found["digest"] == planned["digest"]
