"""Names with numbers are printed by the value of the number in every output. A plan keeps its own order."""

from __future__ import annotations

import re

import pytest

from dpsync.model.change import Change, Note
from dpsync.model.drift import Drift, Drifted
from dpsync.model.plan import Plan
from dpsync.render.formats import FormatOptions, render
from dpsync.render.json_conversion import drift_document, plan_document


def changes(*keys: str, action: str = "create") -> tuple[Change, ...]:
    return tuple(Change(address=f"acme/teams/{key}", kind="team", action=action, label=key) for key in keys)


def printed(text: str) -> list[str]:
    """Return the keys in a text, in the order of their first mention."""
    return list(dict.fromkeys(re.findall(r"gen-\d+", text)))


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
@pytest.mark.parametrize("action", ["create", "delete"])
def test_plan_prints_changes_in_natural_order(format_: str, action: str) -> None:
    plan = Plan(changes=changes("gen-1", "gen-10", "gen-2", action=action))
    text = render(plan_document(plan), format_, FormatOptions())
    assert printed(text) == ["gen-1", "gen-2", "gen-10"]


@pytest.mark.parametrize("format_", ["text", "markdown"])
def test_drift_prints_objects_in_natural_order(format_: str) -> None:
    found = tuple(
        Drifted(address=f"acme/teams/{key}", kind="team", what="missing", label=key)
        for key in ("gen-1", "gen-10", "gen-2")
    )
    text = render(drift_document(Drift(found=found)), format_, FormatOptions())
    assert printed(text) == ["gen-1", "gen-2", "gen-10"]


def test_natural_order_changes_neither_digest_nor_json() -> None:
    """Otherwise, plans that were approved before an upgrade could not be applied after it."""
    plan = Plan(changes=changes("gen-1", "gen-10", "gen-2"))
    assert printed(render(plan_document(plan), "json", FormatOptions())) == ["gen-1", "gen-10", "gen-2"]
    assert f"digest {plan.digest[:32]}" in render(plan_document(plan), "text", FormatOptions(verbose=1))


def test_plan_digest_ignores_position_of_notes() -> None:
    """Otherwise, plans that were approved before an upgrade could not be applied after it."""
    plans = [
        Plan(notes=(Note(address="acme/teams/a", text="it goes with it", consequence=True, detail=detail),))
        for detail in (False, True)
    ]
    assert b"detail" not in plans[0].canonical_json()
    assert plans[0].digest == plans[1].digest
