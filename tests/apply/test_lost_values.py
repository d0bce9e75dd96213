"""What the platform accepts and does not keep is named once, with the part that was lost and the ways out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.apply.lost_values import find_lost_values
from dpsync.client.client import WriteClient
from dpsync.model.change import Change, Difference
from dpsync.model.journal import Outcome, Report, Result
from dpsync.model.plan import Plan
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_report
from tests.cli.conftest import Run, platform, project, run

__all__ = ["platform", "project", "run"]
AT = "acme/sites/docs/customization"


def plan(before: Any, after: Any, address: str = AT, field: str = "styling") -> Plan:
    difference = Difference(field=field, before=before, after=after)
    return Plan(
        changes=(Change(address=address, kind="customization", action="update", differences=(difference,)),)
    )


def outcome(result: Result, address: str = AT) -> Outcome:
    return Outcome(step=f"{address} update", address=address, verb="update", result=result)


@pytest.mark.parametrize(
    ("sent", "live", "paths"),
    [
        ("a", "b", ["styling"]),
        ("a", None, ["styling"]),
        ({"a": 1, "b": 2}, {"a": 1}, ["styling.b"]),
        ({"a": {"x": 1, "y": 2}, "b": 2}, {"a": {"x": 1, "y": 3}, "b": 4}, ["styling.a.y", "styling.b"]),
        ({"a": 1}, None, ["styling"]),
        ([1, 2], [1], ["styling"]),
        ({}, {"a": 1}, ["styling"]),
        ([1], {"a": 1}, ["styling"]),
    ],
)  # fmt: skip
def test_value_dropped_by_platform_is_reported_with_path(sent: Any, live: Any, paths: list[str]) -> None:
    found = find_lost_values(plan(None, sent), plan(live, sent), [outcome("done")])
    assert [item.path for item in found] == paths


def test_unreadable_value_is_not_reported_as_dropped() -> None:
    """Otherwise, what cannot be read is told as not kept by the platform."""
    again = plan(None, "a")
    (change,) = again.changes
    hidden = change.differences[0].model_copy(update={"known": False})
    changes = (change.model_copy(update={"differences": (hidden,)}),)
    assert not list(
        find_lost_values(plan(None, "a"), again.model_copy(update={"changes": changes}), [outcome("done")])
    )


@pytest.mark.parametrize(
    ("remaining", "results"),
    [
        (plan("b", "a", field="title"), ["done"]),  # this apply did not write it
        (plan("b", "a", address="acme/sites/other"), ["done"]),
        (plan("b", "a"), ["failed"]),  # it was never accepted
        (plan("b", "a"), ["done", "not-tried"]),
        (Plan(), ["done"]),
    ],
)
def test_only_successful_writes_are_checked_for_dropped_values(
    remaining: Plan, results: list[Result]
) -> None:
    """Otherwise, a value that was never sent is told as not kept by the platform.

    Otherwise, what somebody has changed meanwhile is told as not kept by the platform.
    """
    assert list(find_lost_values(plan("b", "a"), remaining, [outcome(result) for result in results])) == []


def test_dropped_value_is_reported_once_beside_remaining_plan() -> None:
    first = plan({}, {"primaryColour": "red"})
    left = plan({}, {"primaryColour": "red"})
    report = Report(
        plan="x", verified=True, remaining=left, outcomes=(outcome("done"),),
        unkept=tuple(find_lost_values(first, left, [outcome("done")])),
    )  # fmt: skip
    text = render_report(Plan(), report, Paint(on=False))
    assert text.count("primaryColour") == 1
    assert (
        f'GitBook did not keep the value of styling.primaryColour in {AT} (sent: "red", live: (nothing))'
        in text
    )
    way_out = f"policy: {{ ignore: [\"{AT}#styling\"] }}, or `dpsync import --update '{AT}#styling'`"
    assert f"fix: {way_out}" in text
    assert "Plan: " not in text
    both = left.model_copy(update={"changes": (*left.changes, *plan(1, 2, "acme/sites/other").changes)})
    text = render_report(Plan(), report.model_copy(update={"remaining": both}), Paint(on=False))
    assert text.count("primaryColour") == 1
    assert "Plan: 1 to change." in text


@pytest.mark.usefixtures("platform")
def test_apply_exits_with_3_when_platform_drops_value(
    run: Run, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    send = WriteClient.send

    def dropping(self: WriteClient, method: str, path: str, body: Any = None, **named: Any) -> Any:
        if path.endswith("/customization"):
            body["styling"].pop("corners", None)
        return send(self, method, path, body, **named)

    monkeypatch.setattr(WriteClient, "send", dropping)
    look = "customization: { styling: { corners: straight, depth: flat } }"
    directory = project(
        "dpsync: 1\norganizations:\n  acme:\n    id: acme\n    sites:\n"
        f"      docs: {{ title: Acme Docs, basename: docs, {look} }}\n"
    )
    ended = run("apply", "-C", str(directory), "--yes")
    assert ended.code == 3, ended.out + ended.err
    assert f'GitBook did not keep the value of styling.corners in {AT} (sent: "straight", live: ' in ended.out
    assert "did not keep styling.depth" not in ended.out
    assert ended.out.count("did not keep") == 1
