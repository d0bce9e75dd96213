"""Drift reports value changes of objects that import cannot write to files, through `policy: watch`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change, committed, drift

Project = Callable[..., Path]
SOURCE = {"text": 'openapi: 3.1.0\ninfo: { title: Pets, version: "1" }\npaths: {}\n'}
PATTERN = "acme/openapi/[pets]#visibility=private"


@pytest.fixture
def pets(platform: ThreadedServer) -> ThreadedServer:
    """Create the specification `pets`. Import omits it, because the API does not return its source text."""
    change(platform, "/orgs/acme/openapi/pets", "PUT", source=SOURCE)
    return platform


def project_file(*patterns: str, more: str = "") -> str:
    policy = f"policy: {{ watch: {json.dumps(patterns)}{more} }}"
    return f"dpsync: 1\n{policy}\norganizations: {{ acme: {{ id: acme }} }}\n"


def publish_pets(platform: ThreadedServer) -> None:
    change(platform, "/orgs/acme/openapi/pets", visibility="public")


def import_without_pets(run: Run, directory: Path) -> Path:
    ended = run("import", "-C", str(directory), "--organization", "acme")
    assert ended.code == 0, ended.out + ended.err
    assert "acme/openapi/pets: GitBook returns no value for the required field source" in ended.out
    return directory


def test_drift_reports_change_of_watched_specification(
    pets: ThreadedServer, run: Run, tmp_path: Path
) -> None:
    """Somebody makes a specification public that is in no file."""
    directory = import_without_pets(run, tmp_path)
    assert drift(run, directory, 0)["drift"]["found"] == []
    publish_pets(pets)
    (found,) = drift(run, directory, 2)["drift"]["found"]
    assert (found["address"], found["what"], found["kept"]) == ("acme/openapi/[pets]", "different", True)
    (field,) = found["fields"]
    assert (field["field"], field["live"], field["file"]) == ("visibility", "public", "private")


@pytest.mark.usefixtures("pets")
def test_second_import_does_not_add_watched_specification(run: Run, tmp_path: Path) -> None:
    directory = import_without_pets(run, tmp_path)
    again = run("import", "-C", str(directory))
    assert (again.code, "pets" in again.out) == (0, False), again.out


def test_watched_value_drift_prints_undo_and_keep(pets: ThreadedServer, run: Run, project: Project) -> None:
    directory = committed(project, project_file(PATTERN))
    publish_pets(pets)
    said = run("drift", "-C", str(directory)).out
    assert "    visibility  private → public\n" in said
    assert "    undo        set visibility to private in GitBook" in said
    keep = (
        "in policy: watch, replace the value of acme/openapi/[pets]#visibility with the value in GitBook at "
    )
    assert f"    keep        {keep}" in said
    project(project_file(PATTERN.replace("private", "public")))
    assert drift(run, directory, 0)["drift"]["found"] == []


@pytest.mark.parametrize(
    ("pattern", "more"),
    [
        ("acme/openapi/[pets]#visibility=public", ""),
        ("acme/openapi/[dogs~dogs]#visibility=private", ""),
        (PATTERN, ', forget: ["acme/openapi/[pets]"]'),
        (PATTERN, ', ignore: ["acme/openapi/[pets]"]'),
        (PATTERN, ', ignore: ["acme/openapi/*#visibility"]'),
    ],
    ids=["live value", "another object", "forgotten", "ignored object", "ignored field"],
)
def test_drift_ignores_unwatched_values(
    pets: ThreadedServer, run: Run, project: Project, pattern: str, more: str
) -> None:
    directory = project(project_file(pattern, more=more))
    publish_pets(pets)
    assert drift(run, directory, 0)["drift"]["found"] == []


@pytest.mark.parametrize(
    "pattern",
    ["acme/openapi/[pets~pets]#visibility=private", "acme/openapi/[Old~pets]#visibility=private",
     "openapi/*#visibility=private"],
    ids=["with id", "with id and old title", "wildcard"],
)  # fmt: skip
def test_watch_pattern_matches_object_with_id_or_wildcard(
    pets: ThreadedServer, run: Run, project: Project, pattern: str
) -> None:
    directory = project(project_file(pattern))
    publish_pets(pets)
    found = drift(run, directory, 2)["drift"]["found"]
    assert "acme/openapi/[pets]" in [one["address"] for one in found]


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (("--select", "acme/openapi/*"), ["acme/openapi/[pets]"]),
        (("--select", "acme/openapi/[pets]"), ["acme/openapi/[pets]"]),
        (("--select", "acme/teams"), []),
        (("--exclude", "acme/openapi/*"), []),
    ],
    ids=["list selected", "object selected", "other list selected", "list excluded"],
)
def test_select_and_exclude_flags_filter_watched_values(
    pets: ThreadedServer, run: Run, project: Project, flags: tuple[str, ...], found: list[str]
) -> None:
    below = "acme: { id: acme, teams: { writers: { title: Technical writers } } }"
    directory = project(project_file(PATTERN).replace("acme: { id: acme }", below))
    publish_pets(pets)
    ended = run("drift", "-C", str(directory), *flags, "--format", "json")
    assert [one["address"] for one in json.loads(ended.out)["drift"]["found"]] == found


def test_drift_warns_if_watched_object_was_deleted(pets: ThreadedServer, run: Run, project: Project) -> None:
    directory = project(project_file(PATTERN))
    assert drift(run, directory, 0)["drift"]["notes"] == []
    change(pets, "/orgs/acme/openapi/pets", "DELETE")
    (note,) = drift(run, directory, 0)["drift"]["notes"]
    assert (note["address"], note["severity"]) == (f'policy.watch "{PATTERN}"', "warning")


def test_plan_sends_no_request_for_watched_value(pets: ThreadedServer, run: Run, project: Project) -> None:
    directory = project(project_file(PATTERN))
    publish_pets(pets)
    pets.run_in_server(pets.app.requests.clear)
    assert run("plan", "-C", str(directory)).out.count("No changes.") == 1
    assert not any(path.endswith("/openapi") for _, path, *_ in pets.app.requests)
