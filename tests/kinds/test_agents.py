"""What a site's agents have: channels and context connections, against the platform as it is today."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.api import Options
from dpsync.kinds.registry import build_registry
from dpsync.kinds.types import Object, Text
from dpsync.model.diagnostic import DiagnosticError
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.direct import reading, writing
from tests.planner.lab import Lab

SETTINGS = {"baseUrl": "https://acme.example/", "apiEmail": "bo@acme.example", "apiToken": "old"}
JIRA = {
    "id": "jira",
    "connector": "builtin:jira",
    "setupSettings": {**SETTINGS, "statusMapping": {"merged": "Done"}},
}


@pytest.fixture(scope="module")
def today() -> Iterator[ThreadedServer]:
    with ThreadedServer(build_companion(open_store(":memory:"), profile="published")) as running:
        yield running


@pytest.fixture
def lab(today: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(today, tmp_path, build_registry("published"))


def docs(said: str) -> str:
    return f"sites: {{ docs: {{ id: docs, title: Docs, {said} }} }}"


def site(**parts: Any) -> dict[str, Any]:
    return {"id": "docs", "title": "Docs", **parts}


def live(lab: Lab) -> Any:
    (found,) = lab.world()["organizations"][0]["sites"]
    return found


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("channels: { it: { type: 'builtin:slack', setupSettings: { allowedTeams: [a] } } }", "allowedTeams"),
        ("channels: { it: { type: 'builtin:slack', setupSettings: { allowedChannels: ['#a'] } } }", "#a"),
        ("contextConnections: { it: { connector: 'builtin:jira' } }", '"setupSettings" is missing'),
        ("contextConnections: { it: { connector: 'builtin:fax' } }", "a connector"),
        (
            "contextConnections: { it: { connector: 'builtin:linear', setupSettings: {} } }",
            '"token" is missing',
        ),
        (
            "contextConnections: { it: { connector: 'builtin:website', "
            "setupSettings: { url: 'https://a.example', token: { env: T } } } }",
            "token",
        ),
        (
            "contextConnections: { it: { connector: 'builtin:email', setupSettings: { url: x } } }",
            "url",
        ),
        (
            "contextConnections: { it: { connector: 'builtin:linear', setupSettings: { token: abc } } }",
            "secret",
        ),
    ],
)
def test_invalid_channel_or_connection_setup_is_rejected(lab: Lab, said: str, told: str) -> None:
    with pytest.raises(DiagnosticError) as refused:
        lab.session(docs(said))
    assert told in "\n".join(item.message for item in refused.value.diagnostics)


def test_new_context_connection_is_created_with_label(lab: Lab) -> None:
    lab.holds(sites=[site()])
    lab.converges(docs("contextConnections: { it: { connector: 'builtin:api', label: Pushed } }"))
    assert [found["label"] for found in live(lab)["contextConnections"]] == ["Pushed"]


def test_context_connections_are_matched_by_label(lab: Lab) -> None:
    two = [{"id": name, "connector": "builtin:api", "label": name} for name in ("one", "two")]
    lab.holds(sites=[site(contextConnections=two)])
    said = "contextConnections: { b: { connector: 'builtin:api', label: two, filter: x } }"
    lab.converges(docs(said))
    assert [found.get("filter") for found in live(lab)["contextConnections"]] == [None, "x"]


def test_context_connection_without_label_is_ambiguous_between_two(lab: Lab) -> None:
    two = [{"id": name, "connector": "builtin:api"} for name in ("one", "two")]
    lab.holds(sites=[site(contextConnections=two)])
    with pytest.raises(DiagnosticError) as refused, reading(lab.server) as client:
        lab.session(docs("contextConnections: { it: { connector: 'builtin:api' } }")).plan(client)
    assert [item.code for item in refused.value.diagnostics] == ["DP302"]


def test_duplicate_mcp_server_name_is_ambiguous_until_pinned(lab: Lab) -> None:
    two = [{"id": name, "name": "Tools", "url": "https://a.example/"} for name in ("one", "two")]
    lab.holds(sites=[site(mcpServers=two)])
    said = "mcpServers: { it: { %sname: Tools, url: 'https://b.example/' } }"
    with pytest.raises(DiagnosticError), reading(lab.server) as client:
        lab.session(docs(said % "")).plan(client)
    lab.converges(docs(said % "id: two, "))
    assert [found["url"] for found in live(lab)["mcpServers"]] == ["https://a.example/", "https://b.example/"]


def test_undeclared_connection_settings_survive_update(lab: Lab) -> None:
    lab.holds(sites=[site(contextConnections=[JIRA])])
    said = (
        "contextConnections: { it: { connector: 'builtin:jira', "
        "setupSettings: { baseUrl: 'https://b.example/', apiEmail: bo@acme.example, "
        "apiToken: { env: T } } } }"
    )
    session = lab.session(docs(said))
    with writing(lab.server) as client:
        planned = session.plan(client, Options())
        assert session.apply(client, planned, secrets={"T": "new"}).settled
    (found,) = live(lab)["contextConnections"]
    assert found["setupSettings"] == {
        **JIRA["setupSettings"],
        "baseUrl": "https://b.example/",
        "apiToken": "new",
    }


def test_plan_reports_channel_awaiting_authorization(lab: Lab) -> None:
    lab.holds(sites=[site(channels=[{"id": "slack", "type": "builtin:slack"}])])
    plan = lab.plan(docs("channels: { it: { type: 'builtin:slack' } }"))
    assert plan.changes == ()
    assert "a person must still allow the agent" in str(plan)


def test_topic_is_blocked_until_platform_creates_topic(lab: Lab) -> None:
    lab.holds(sites=[site(topics=[{"id": "billing", "label": "Billing"}])])
    said = "topics: { it: { label: %s, usageSettings: { changeRequests: true } } }"
    (blocked,) = lab.plan(docs(said % "Refunds")).blocked
    assert "wait until GitBook creates the topic" in str(blocked)
    lab.converges(docs(said % "Billing"))
    assert [found["usageSettings"] for found in live(lab)["topics"]] == [{"changeRequests": True}]


def test_topic_is_never_deleted(lab: Lab) -> None:
    lab.holds(sites=[site(topics=[{"id": "billing", "label": "Billing"}])])
    plan = lab.plan(docs("topics: {}"), "{ prune: [sites/*/topics] }")
    assert [change.action for change in plan.changes] == []


def test_partial_object_merge_keeps_undeclared_live_members() -> None:
    kind = Object({"a": Text(), "b": Text()})
    assert kind.merge_over_live({"a": "1", "b": "2"}, {"a": "3"}) == {"a": "3", "b": "2"}
    assert kind.merge_over_live(None, {"a": "3"}) == {"a": "3"}
