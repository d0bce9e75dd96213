"""`validate --changes`: what the files say otherwise than the git base, without a platform."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import Run

Project = Callable[..., Path]
SCHEMAS = Path(__file__).parents[2] / "schemas"
BEFORE = """\
dpsync: 1
organizations:
  acme:
    id: acme
    teams:
      writers: { title: Writers }
"""
NOW = BEFORE.replace("writers: {", "authors: {") + "      sales: { title: Sales }\n"


@pytest.fixture
def at(project: Project) -> str:
    """Return a project whose files differ from its only commit."""
    folder = project(BEFORE)
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@acme.example"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *author, *words], cwd=folder, check=True)
    (folder / "dpsync.yaml").write_text(NOW, encoding="utf-8")
    return str(folder)


def test_validate_changes_lists_renamed_and_added_entries(run: Run, at: str) -> None:
    ended = run("validate", "-C", at, "--changes")
    assert (ended.code, ended.err) == (0, "")
    valid, count, base, *entries = ended.out.splitlines()
    assert valid == "Valid: 3 entries in 1 file."
    assert count == "Entries in the files: 1 renamed, 1 added."
    assert base.startswith("(compared with: HEAD (")
    assert entries == [
        '~ acme/teams/authors  team "Writers", was acme/teams/writers  dpsync.yaml:6',
        '+ acme/teams/sales  team "Sales"  dpsync.yaml:7',
        '    + title "Sales"',
    ]
    document = json.loads(run("validate", "-C", at, "--changes", "--format", "json").out)
    jsonschema.validate(document, json.loads((SCHEMAS / "findings.schema.json").read_text()))
    assert [one["what"] for one in document["edits"]["found"]] == ["renamed", "added"]
    assert json.loads(run("validate", "-C", at, "--format", "json").out)["edits"] is None


@pytest.mark.usefixtures("project")
def test_validate_changes_reports_no_changes_or_base(run: Run, at: str, tmp_path: Path) -> None:
    Path(at, "dpsync.yaml").write_text(BEFORE, encoding="utf-8")
    assert "Entries in the files: no changes." in run("validate", "-C", at, "--changes").out
    Path(at, ".git").rename(tmp_path / "elsewhere")
    ended = run("validate", "-C", at, "--changes")
    assert (ended.code, ended.out.splitlines()[1]) == (
        0,
        "dpsync has no earlier version of the files to compare with: the files are not in a git repository.",
    )


def test_base_flag_requires_changes_flag(run: Run, at: str) -> None:
    assert "compared with: HEAD~0 (" in run("validate", "-C", at, "--changes", "--base", "HEAD~0").out
    assert run("validate", "-C", at, "--changes", "--base", "gone").code == 5
    assert run("validate", "-C", at, "--base", "HEAD").code == 64
