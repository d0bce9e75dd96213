"""`import --update` and `--add` where environments share files: who shares a line, and `--into`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Run
from tests.importing.test_command import committed

Project = Callable[..., Path]

ROOT = """\
dpsync: 1
environments:
  prod: { overlay: prod.yaml }
  staging: { overlay: staging.yaml, organizations: { acme: { id: globex } } }
policy: { watch: [teams] }
organizations:
  acme:
    id: acme
    teams: { writers: { title: Technical writers } }
    spaces: { guides: { title: Guides } }
    sites:
      docs:
        title: Acme Docs
        basename: docs
        structure:
          - type: section
            key: guides
            title: Guides
            path: guides
            children: [{ type: space, key: en, space: guides, path: en }]
"""
PROD = """\
# Only here.
organizations:
  acme:
    title: Acme   # as on the door
"""
STAGING = "organizations: { acme: { title: Acme, teams: { writers: { title: Writers } } } }\n"


@pytest.fixture
def directory(platform: ThreadedServer, project: Project) -> Path:
    made = project(ROOT, {"prod.yaml": PROD, "staging.yaml": STAGING})
    committed(made)
    by_hand(platform, "PATCH", "/orgs/acme", {"title": "Acme Inc"})
    by_hand(platform, "PATCH", "/orgs/acme/sites/docs", {"title": "Acme Manual"})
    by_hand(platform, "PATCH", "/orgs/acme/sites/docs/sections/docs-guides", {"title": "Guide"})
    return made


def take(run: Run, directory: Path, code: int, *arguments: str) -> dict[str, Any]:
    ended = run("import", "-C", str(directory), "--force", *arguments, "--format", "json")
    assert ended.code == code, ended.out + ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def wanted(run: Run, directory: Path, environment: str) -> str:
    """Return the output of `dpsync graph` for an environment."""
    return run("graph", "-C", str(directory), "--env", environment).out


def test_import_update_refuses_line_shared_between_environments(run: Run, directory: Path) -> None:
    """Otherwise, a value of one environment is written into a line of all.

    Otherwise, an environment is said to share its lines with itself, and nothing can be written.
    """
    document = take(run, directory, 3, "--env", "prod", "--update", "acme/sites/docs")
    assert (directory / "dpsync.yaml").read_text() == ROOT
    (problem, *_) = document["differences"]
    assert (
        problem["message"]
        == "other configurations use the line of title, too: the top-level values and staging"
    )
    assert problem["hint"].startswith(
        "to write the value for all configurations, pass --into dpsync.yaml. "
        "To write the value only for this configuration: dpsync import "
    )
    assert problem["at"] == {"file": "dpsync.yaml", "line": 13, "column": 9}


def test_import_update_hint_writes_only_selected_environment(
    run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = wanted(run, directory, "staging")
    monkeypatch.chdir(directory)
    document = take(run, directory, 3, "--env", "prod", "--update", "acme/sites/docs")
    for problem in document["differences"]:
        command = shlex.split(problem["hint"].partition("for this configuration: ")[2])[1:]
        ended = run(*command, "--force")
        assert ended.code == 0, ended.out + ended.err
    assert (directory / "dpsync.yaml").read_text() == ROOT
    assert (directory / "prod.yaml").read_text().startswith(PROD.rstrip("\n"))
    (site,) = yaml.safe_load((directory / "prod.yaml").read_text())["organizations"]["acme"]["sites"].values()
    assert site == {"title": "Acme Manual", "structure": [{"key": "guides", "title": "Guide"}]}
    assert wanted(run, directory, "staging") == before
    assert "~ acme/sites" not in run("drift", "-C", str(directory), "--env", "prod").out


def test_import_update_edits_value_in_overlay(run: Run, directory: Path) -> None:
    """Otherwise, a line of one overlay counts as that of all, and cannot be written."""
    take(run, directory, 0, "--env", "prod", "--update", "acme#title")
    assert "title: Acme Inc   # as on the door" in (directory / "prod.yaml").read_text()


def test_import_update_into_root_file_changes_all_environments(run: Run, directory: Path) -> None:
    take(run, directory, 0, "--env", "prod", "--update", "acme/sites/docs#title", "--into", "dpsync.yaml")
    assert "title: Acme Manual" in (directory / "dpsync.yaml").read_text()


def test_import_update_without_environment_notes_affected_environments(run: Run, directory: Path) -> None:
    ended = run("import", "-C", str(directory), "--update", "acme/sites/docs#title")
    assert ended.code == 0
    assert (
        "note: other environments (prod and staging) also use these lines, so their values change, too"
        in ended.out
    )


def test_import_add_into_overlay_affects_one_environment(
    run: Run, directory: Path, platform: ThreadedServer
) -> None:
    by_hand(platform, "PUT", "/orgs/acme/teams", {"title": "New"})
    before = wanted(run, directory, "staging")
    document = take(run, directory, 3, "--env", "prod", "--add", "acme/teams/[New]")
    assert (
        "other configurations use dpsync.yaml, too: the top-level values and staging"
        in document["differences"][0]["message"]
    )
    take(run, directory, 0, "--env", "prod", "--add", "acme/teams/[New]", "--into", "prod.yaml")
    overlay = yaml.safe_load((directory / "prod.yaml").read_text())
    assert overlay["organizations"]["acme"]["teams"] == {"new": {"title": "New"}}
    assert wanted(run, directory, "staging") == before


def test_import_update_protects_base_of_command_line_overlays(run: Run, directory: Path) -> None:
    """Otherwise, the value of an environment with its own overlay is written into a line that all share.

    Otherwise, a change also affects the configuration without the overlay, and no message says so.

    Otherwise, what is below an overlay changes with it, and nobody is told.
    """
    flags = ("-f", "dpsync.yaml", "-f", "prod.yaml", "--update", "acme/sites/docs#title")
    document = take(run, directory, 3, *flags)
    assert "what is without prod.yaml" in document["differences"][0]["message"]
    take(run, directory, 0, *flags, "--into", "prod.yaml")
    assert "title: Acme Manual" in (directory / "prod.yaml").read_text()


def test_shared_line_message_names_only_last_overlay(run: Run, directory: Path) -> None:
    between = "organizations: { acme: { sites: { docs: { title: Between } } } }\n"
    (directory / "between.yaml").write_text(between)
    overlays = ("-f", "dpsync.yaml", "-f", "between.yaml", "-f", "prod.yaml")
    document = take(run, directory, 3, *overlays, "--update", "acme/sites/docs#title")
    assert "what is without prod.yaml" in document["differences"][0]["message"]


def test_import_into_file_outside_configuration_is_refused(run: Run, directory: Path) -> None:
    for name in ("staging.yaml", "../other.yaml", "nothing.yaml"):
        arguments = ("--env", "prod", "--update", "acme", "--into", name)
        ended = run("import", "-C", str(directory), *arguments)
        assert (ended.code, "is not a file of this configuration" in ended.err) == (64, True)


def test_uneditable_overlay_is_reported_and_unchanged(run: Run, directory: Path) -> None:
    prod = "organizations:\n  acme:\n    spaces: { guides: { title: &title Guides } }\n    title: *title\n"
    (directory / "prod.yaml").write_text(prod)
    arguments = ("--env", "prod", "--update", "acme/sites/docs#title", "--into", "prod.yaml")
    document = take(run, directory, 3, *arguments)
    assert [one["message"] for one in document["differences"]] == [
        "dpsync cannot edit prod.yaml: the last entry of the list is a YAML alias"
    ]
    assert (directory / "prod.yaml").read_text() == prod
