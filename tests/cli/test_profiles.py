"""--profile: which operations the platform has, the same in every command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store

from .conftest import Run

BLOCKED = "acme/sites/docs/redirects//start"
WHY = "the API version reference has no operation for reading a redirect"


@pytest.fixture(scope="module")
def documented() -> Iterator[ThreadedServer]:
    with ThreadedServer(build_companion(open_store(":memory:"), profile="reference")) as running:
        yield running


@pytest.fixture
def platform(documented: ThreadedServer, monkeypatch: pytest.MonkeyPatch) -> ThreadedServer:
    documented.reset()
    monkeypatch.setenv("DPSYNC_URL", documented.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
    monkeypatch.delenv("DPSYNC_PROFILE", raising=False)
    return documented


@pytest.mark.usefixtures("platform")
def test_plan_shows_api_version_and_blocked_objects(run: Run, example: Path) -> None:
    ended = run("plan", "-v", "-C", str(example), "--profile", "reference")
    assert ended.code == 0
    assert any(line == "API version (profile): reference" for line in ended.out.splitlines())
    assert f"! {BLOCKED}" in ended.out
    assert f"blocked: {WHY}" in ended.out


@pytest.mark.usefixtures("platform")
def test_plan_reads_api_version_from_environment_variable(
    run: Run, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_PROFILE", "reference")
    document = json.loads(run("plan", "-C", str(example), "--format", "json").out)
    assert document["plan"]["profile"] == "reference"
    assert BLOCKED in {item["address"] for item in document["plan"]["blocked"]}


def test_apply_with_blocked_objects_exits_3(run: Run, example: Path, platform: ThreadedServer) -> None:
    ended = run("apply", "-C", str(example), "--profile", "reference", "--yes")
    assert ended.code == 3, ended.err
    statuses = {status for _, _, status in platform.run_in_server(lambda: list(platform.app.requests))}
    assert max(statuses) < 300
    again = run("drift", "-C", str(example), "--profile", "reference", "--select", "acme/members")
    assert again.code == 0, again.out


@pytest.mark.usefixtures("platform")
def test_wrong_api_version_error_suggests_profile_flag(run: Run, example: Path) -> None:
    ended = run("plan", "-C", str(example), "--profile", "full")
    assert ended.code == 1
    assert "501" in ended.err
    assert "the API version (--profile)" in ended.err


def test_missing_list_operation_exits_1(
    run: Run, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that answers 404 ends the plan: nothing is concluded from it."""
    server = ThreadedServer(build_companion(open_store(":memory:"), profile="full"))
    root = "dpsync: 1\norganizations: { acme: { id: acme, sites: { docs: { basename: docs, title: Docs, "
    root += "mcpServers: { it: { name: It, url: 'https://mcp.example' } } } } } }\n"
    with server:
        server.reset()
        monkeypatch.setenv("DPSYNC_URL", server.url)
        monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
        ended = run("plan", "-C", str(project(root)), "--profile", "published")
    assert ended.code == 1
    assert "/mcp-servers: status 404" in ended.err
    assert "the API version (--profile)" in ended.err


def test_validate_lists_objects_unsupported_by_api_version(run: Run, example: Path) -> None:
    ended = run("validate", "-C", str(example), "--profile", "reference")
    assert ended.code == 0
    assert f"{BLOCKED}: {WHY}" in ended.out
    assert WHY not in run("validate", "-C", str(example)).out


@pytest.mark.parametrize("profile", ["full", "reference", "published"])
def test_example_is_valid_for_every_api_version(run: Run, example: Path, profile: str) -> None:
    ended = run("validate", "-C", str(example), "--profile", profile, "--format", "json")
    assert (ended.code, json.loads(ended.out)["profile"]) == (0, profile)


def test_unknown_api_version_exits_64_and_lists_versions(run: Run, example: Path) -> None:
    ended = run("validate", "-C", str(example), "--profile", "old")
    assert ended.code == 64
    assert "full, reference, published" in ended.err


@pytest.mark.usefixtures("platform")
def test_plan_uses_api_version_of_environment(run: Run, example: Path) -> None:
    with (example / "dpsync.yaml").open("a", encoding="utf-8") as root:
        root.write("environments: { small: { profile: reference } }\n")
    document = json.loads(run("plan", "-C", str(example), "--env", "small", "--format", "json").out)
    assert document["plan"]["profile"] == "reference"


@pytest.mark.usefixtures("platform")
def test_saved_plan_is_applied_with_its_api_version(run: Run, example: Path) -> None:
    saved = run("plan", "-C", str(example), "--profile", "reference", "--out", "plan.json")
    assert saved.code == 0, saved.err
    ended = run("apply", "-C", str(example), "plan.json", "--yes")
    assert ended.code == 3, ended.err
    assert f"blocked: {WHY}" in ended.out


def test_published_api_version_supports_whole_example(
    run: Run, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadedServer(build_companion(open_store(":memory:"), profile="published")) as server:
        server.reset()
        monkeypatch.setenv("DPSYNC_URL", server.url)
        monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
        planned = run("plan", "-C", str(example), "--profile", "published", "--format", "json")
        imported = run(
            "import",
            "-C",
            str(example / "new"),
            "--organization",
            "acme",
            "--profile",
            "published",
            "--format",
            "json",
        )
    plan = json.loads(planned.out)["plan"]
    assert [item["reason"] for item in plan["blocked"] if "profile" in item["reason"]] == []
    assert [item["why"] for item in json.loads(imported.out)["left_out"] if "profile" in item["why"]] == []
    assert json.loads(imported.out)["proven"]
