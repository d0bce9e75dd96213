"""`import --update` and `--add` where environments share files: who shares a line, and `--into`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpsync.server.process.thread import ThreadedServer
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
    """What the files say of an environment."""
    return run("graph", "-C", str(directory), "--env", environment).out


def test_a_line_that_is_shared_is_left_alone_and_says_with_whom(run: Run, directory: Path) -> None:
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


def test_what_is_printed_writes_it_for_this_environment_alone(
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


def test_a_line_of_the_overlay_is_nobody_elses(run: Run, directory: Path) -> None:
    """Otherwise, a line of one overlay counts as that of all, and cannot be written."""
    take(run, directory, 0, "--env", "prod", "--update", "acme#title")
    assert "title: Acme Inc   # as on the door" in (directory / "prod.yaml").read_text()


def test_the_file_of_the_line_can_be_named_to_write_it_for_all(run: Run, directory: Path) -> None:
    take(run, directory, 0, "--env", "prod", "--update", "acme/sites/docs#title", "--into", "dpsync.yaml")
    assert "title: Acme Manual" in (directory / "dpsync.yaml").read_text()


def test_without_an_environment_the_line_is_written_and_it_is_told_who_changes_with_it(
    run: Run, directory: Path
) -> None:
    ended = run("import", "-C", str(directory), "--update", "acme/sites/docs#title")
    assert ended.code == 0
    assert (
        "note: other environments (prod and staging) also use these lines, so their values change, too"
        in ended.out
    )


def test_an_entry_for_one_environment_alone_goes_into_its_overlay(
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


def test_overlays_on_the_command_line_are_told_apart_as_well(run: Run, directory: Path) -> None:
    """Otherwise, a value of one environment is written into a line of all, also of overlays on the command
    line.

    Otherwise, what is below an overlay changes with it, and nobody is told.
    """
    flags = ("-f", "dpsync.yaml", "-f", "prod.yaml", "--update", "acme/sites/docs#title")
    document = take(run, directory, 3, *flags)
    assert "what is without prod.yaml" in document["differences"][0]["message"]
    take(run, directory, 0, *flags, "--into", "prod.yaml")
    assert "title: Acme Manual" in (directory / "prod.yaml").read_text()


def test_only_the_last_overlay_is_left_out_to_know_who_shares_a_line(run: Run, directory: Path) -> None:
    between = "organizations: { acme: { sites: { docs: { title: Between } } } }\n"
    (directory / "between.yaml").write_text(between)
    overlays = ("-f", "dpsync.yaml", "-f", "between.yaml", "-f", "prod.yaml")
    document = take(run, directory, 3, *overlays, "--update", "acme/sites/docs#title")
    assert "what is without prod.yaml" in document["differences"][0]["message"]


def test_a_file_that_is_not_of_this_configuration_is_refused(run: Run, directory: Path) -> None:
    for name in ("staging.yaml", "../other.yaml", "nothing.yaml"):
        arguments = ("--env", "prod", "--update", "acme", "--into", name)
        ended = run("import", "-C", str(directory), *arguments)
        assert (ended.code, "is not a file of this configuration" in ended.err) == (64, True)


def test_what_cannot_be_put_into_an_overlay_is_told_and_the_overlay_stays_as_it_is(
    run: Run, directory: Path
) -> None:
    prod = "organizations:\n  acme:\n    spaces: { guides: { title: &title Guides } }\n    title: *title\n"
    (directory / "prod.yaml").write_text(prod)
    arguments = ("--env", "prod", "--update", "acme/sites/docs#title", "--into", "prod.yaml")
    document = take(run, directory, 3, *arguments)
    assert [one["message"] for one in document["differences"]] == [
        "dpsync cannot edit prod.yaml: the last entry of the list is a YAML alias"
    ]
    assert (directory / "prod.yaml").read_text() == prod
