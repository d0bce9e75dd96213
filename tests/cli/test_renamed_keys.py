"""A new key that changes nothing in GitBook still changes the ids file: a plan and an apply say so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run

Project = Callable[..., Path]
TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    teams:
      writers: { title: Technical writers }
      sales: { title: Sales }
"""
HINT = (
    "1 entry has another key than in the ids file: acme/teams/writers → acme/teams/authors. "
    "To update the ids file: dpsync apply"
)
RECORDED = "dpsync updated the key of 1 renamed entry in the ids file."


@pytest.fixture
def renamed(run: Run, project: Project, platform: ThreadedServer) -> Path:
    """Return a project in which one key has changed since the apply."""
    del platform
    at = project(TEXT)
    assert run("apply", "-C", str(at), "--yes").code == 0
    root = at / "dpsync.yaml"
    root.write_text(root.read_text().replace("writers:", "authors:"))
    return at


def test_plan_announces_new_key_for_ids_file(run: Run, renamed: Path) -> None:
    planned = run("plan", "-C", str(renamed))
    hint = HINT.replace("dpsync apply", f"dpsync apply -C {renamed}")
    assert planned.out.splitlines() == [hint, "No changes. acme matches your files."]


@pytest.mark.usefixtures("platform")
def test_plan_lists_three_new_keys_and_counts_rest(run: Run, project: Project) -> None:
    at = project(TEXT + "".join(f"      {key}: {{ title: Team {key} }}\n" for key in "abcde"))
    assert run("apply", "-C", str(at), "--yes").code == 0
    root = at / "dpsync.yaml"
    for key in "abcde":
        root.write_text(root.read_text().replace(f" {key}:", f" {key}2:"))
    first, _ = run("plan", "-C", str(at)).out.splitlines()
    assert first.partition(". To")[0] == (
        "5 entries have other keys than in the ids file: acme/teams/a → acme/teams/a2, "
        "acme/teams/b → acme/teams/b2, "
        "acme/teams/c → acme/teams/c2 and 2 more"
    )


def test_apply_without_changes_records_new_key(run: Run, renamed: Path) -> None:
    applied = run("apply", "-C", str(renamed), "--yes")
    assert applied.out.splitlines() == ["No changes. acme matches your files.", RECORDED]
    assert "acme/teams/authors: writers" in (renamed / ".dpsync" / "ids.yaml").read_text()
    assert run("plan", "-C", str(renamed)).out == "No changes. acme matches your files.\n"


def test_apply_report_mentions_recorded_key(run: Run, renamed: Path) -> None:
    root = renamed / "dpsync.yaml"
    root.write_text(root.read_text().replace("title: Sales", "title: Selling"))
    applied = run("apply", "-C", str(renamed), "--yes")
    assert applied.out.splitlines()[-2] == RECORDED
    assert "has another key" not in applied.out


def test_plan_omits_new_key_hint_for_listed_change(run: Run, renamed: Path) -> None:
    root = renamed / "dpsync.yaml"
    root.write_text(root.read_text().replace("Technical writers }", "Authors, previously: writers }"))
    planned = run("plan", "-C", str(renamed))
    assert planned.out.splitlines()[-1] == "Plan: 1 to change."
    assert "new key" not in planned.out
