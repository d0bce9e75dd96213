"""The looks of a site and the agent instructions, changed from one form to another and cleared."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.by_hand import by_hand

from .lab import Lab, section, site, spaces

ICON = {"icon": {"light": "https://a.example/i.png"}}
PAGE = {"kind": "page", "page": "p", "space": "a"}
URL = {"kind": "url", "url": "https://a.example"}


def announced(to: dict[str, Any] | None) -> dict[str, Any]:
    return {"enabled": True, "message": "New", "link": {"title": "T", "to": to}}


@pytest.mark.parametrize(
    ("live", "wanted", "then"),
    [
        ({"favicon": ICON}, {"favicon": {"emoji": "1f600"}}, {"favicon": {"emoji": "1f600"}}),
        ({"favicon": {"emoji": "1f600"}}, {"favicon": ICON}, {"favicon": ICON}),
        ({"favicon": ICON}, {"favicon": {"icon": None}}, {"favicon": {}}),
        (
            {"announcement": announced(PAGE)},
            {"announcement": {"link": {"to": URL}}},
            {"announcement": announced(URL)},
        ),
        (
            {"announcement": announced(PAGE)},
            {"announcement": {"link": None}},
            {"announcement": {"enabled": True, "message": "New"}},
        ),
        (
            {"localizedTitle": {"fr": "F", "de": "D"}},
            {"localizedTitle": {"fr": "F"}},
            {"localizedTitle": {"fr": "F"}},
        ),
    ],
)
def test_customization_value_is_replaced_or_cleared(
    lab: Lab, live: dict[str, Any], wanted: dict[str, Any], then: dict[str, Any]
) -> None:
    lab.holds(spaces=spaces("a"), sites=[site(section("k", "a"), customization=live)])
    body = f"sites: {{ docs: {{ title: Docs, customization: {json.dumps(wanted)} }} }}"
    lab.converges(body)
    shown = by_hand(lab.server, "GET", "/orgs/acme/sites/docs/customization", token="token")
    assert {name: shown.get(name) for name in then} == then
    assert lab.plan(body).changes == ()


@pytest.mark.parametrize("cleared", ["null", "~", "''"])
def test_null_agent_instructions_are_cleared_by_apply(lab: Lab, cleared: str) -> None:
    lab.holds()
    lab.converges("agentInstructions: Answer briefly.")
    report = lab.converges(f"agentInstructions: {cleared}")
    assert [outcome.address for outcome in report.outcomes] == ["acme/agentInstructions"]
    kept = by_hand(lab.server, "GET", "/orgs/acme/agent-instructions", token="token")
    assert kept["instructions"]["nodes"] == []
    assert lab.plan(f"agentInstructions: {cleared}").changes == ()
