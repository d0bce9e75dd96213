"""Secrets that the platform reads back are forgotten there: nothing shows, writes or keeps one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from dpsync.server.world import load_builtin_world

from .conftest import Ran, Run

Project = Callable[..., Path]
CANARY = "c4nary-7f3a91"
LIVE: dict[str, Any] = {
    "mcpServers": [
        {
            "id": "tools",
            "name": "Tools",
            "url": "https://mcp.acme.example/",
            "headers": {"Authorization": f"Bearer {CANARY}", "X-Old": CANARY},
        }
    ],
    "topics": [
        {"id": name, "label": label} for name, label in (("a", "Cards"), ("b", "Cards"), ("c", "Bills"))
    ],
    "contextConnections": [
        {
            "id": "issues",
            "connector": "builtin:github-issues",
            "setupSettings": {"repository": "acme/shop", "token": CANARY},
        },
        {
            "id": "tickets",
            "label": "Tickets",
            "connector": "builtin:freshdesk",
            "setupSettings": {"domain": "acme", "apiKey": CANARY},
        },
    ],
}
"""What the site has, and no file says."""
TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    sites:
      docs:
        id: docs
        title: Acme Docs
        mcpServers:
          tools:
            name: Tools
            url: https://mcp.acme.example/
            headers: { Authorization: { env: TOOLS_KEY } }
        contextConnections:
          issues:
            connector: builtin:github-issues
            setupSettings: { repository: acme/docs, token: { env: TOOLS_KEY } }
"""
"""A header of those that are live; the other one is to go. Another repository of one connection."""
PROFILE = ("--profile", "published")


@pytest.fixture(scope="module")
def today() -> Iterator[ThreadedServer]:
    with ThreadedServer(build_companion(open_store(":memory:"), profile="published")) as running:
        yield running


@pytest.fixture
def platform(today: ThreadedServer, monkeypatch: pytest.MonkeyPatch) -> ThreadedServer:
    world = load_builtin_world()
    site = next(site for site in world["organizations"][0]["sites"] if site["id"] == "docs")
    site |= LIVE
    today.reset(world)
    monkeypatch.setenv("DPSYNC_URL", today.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
    monkeypatch.setenv("TOOLS_KEY", "0ther-secret")
    return today


def clean(ended: Ran, *folders: Path) -> Ran:
    """Return the run after checking that neither its output nor a file in the folders has the canary."""
    assert CANARY not in ended.out + ended.err
    for folder in folders:
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
    return ended


@pytest.mark.usefixtures("platform")
@pytest.mark.parametrize("flags", [[], ["-vv"], ["--format", "json"]], ids=["text", "verbose", "json"])
@pytest.mark.parametrize("command", ["plan", "drift"])
def test_plan_and_drift_hide_secret_header_values(
    command: str, flags: list[str], run: Run, project: Project
) -> None:
    """Otherwise, a secret that the platform reads back is in plans, reports and journals."""
    at = project(TEXT)
    ended = clean(run(command, "-C", str(at), *PROFILE, *flags), at)
    assert "X-Old" in ended.out
    assert "acme/shop" in ended.out
    assert "0ther-secret" not in ended.out + ended.err


@pytest.mark.usefixtures("platform")
def test_saved_plan_and_journal_contain_no_secrets(run: Run, project: Project) -> None:
    at = project(TEXT)
    saved = at / "saved.json"
    assert clean(run("plan", "-C", str(at), *PROFILE, "--out", str(saved)), at).code == 0
    assert clean(run("apply", "-C", str(at), *PROFILE, "--yes"), at).code == 0


@pytest.mark.usefixtures("platform")
def test_import_replaces_secrets_with_variables(run: Run, tmp_path: Path) -> None:
    at = tmp_path / "imported"
    ended = clean(run("import", "-C", str(at), "--organization", "acme", *PROFILE), at)
    assert ended.code == 0, ended.err
    assert "ACME_SITES_DOCS_MCPSERVERS_TOOLS_HEADERS_AUTHORIZATION" in ended.out + ended.err
    assert (
        "ACME_SITES_DOCS_CONTEXTCONNECTIONS_BUILTIN_FRESHDESK_SETUPSETTINGS_APIKEY" in ended.out + ended.err
    )
    planned = clean(run("plan", "-C", str(at), *PROFILE, "--format", "json"), at)
    assert json.loads(planned.out)["plan"]["changes"] == []


@pytest.mark.usefixtures("platform")
def test_plan_compares_header_names_but_not_values(run: Run, project: Project) -> None:
    as_it_is = TEXT.replace("Authorization: {", "X-Old: { env: TOOLS_KEY }, Authorization: {")
    at = project(as_it_is.replace("acme/docs", "acme/shop"))
    assert clean(run("plan", "-C", str(at), *PROFILE, "--detailed-exitcode")).code == 0
    at = project(TEXT)
    assert clean(run("plan", "-C", str(at), *PROFILE, "--detailed-exitcode")).code == 2


@pytest.mark.usefixtures("platform")
def test_import_update_keeps_variables_of_headers(run: Run, project: Project) -> None:
    at = project(TEXT)
    address = "acme/sites/docs/mcpServers/tools"
    assert clean(run("import", "--update", address, "--force", "-C", str(at), *PROFILE), at).code == 0
    text = (at / "dpsync.yaml").read_text(encoding="utf-8")
    assert "Authorization: { env: TOOLS_KEY }" in text
    assert "X-Old: { env: ACME_SITES_DOCS_MCPSERVERS_TOOLS_HEADERS_X_OLD }" in text


@pytest.mark.usefixtures("platform")
def test_rehearsal_with_mcp_servers_prints_no_secrets(run: Run, project: Project) -> None:
    at = project(TEXT)
    ended = clean(run("rehearse", "-C", str(at), *PROFILE), at)
    assert ended.code == 0, ended.out
    assert "The rehearsal succeeded." in ended.out
