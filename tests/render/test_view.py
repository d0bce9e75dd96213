"""What every output but text and JSON is written from: its numbers are right, and nothing is told twice."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.model.change import Change, Difference, Kept
from dpsync.model.diagnostic import Exit
from dpsync.model.drift import Drift, Drifted, FieldDrift
from dpsync.model.plan import Plan
from dpsync.model.question import Refusal
from dpsync.render.documents import ApplyDocument
from dpsync.render.formats import FORMATS, FormatOptions, render
from dpsync.render.json_conversion import drift_document, plan_document
from dpsync.render.plan_layout import plan_blocks
from dpsync.render.shown_values import diff_lines
from dpsync.render.view import ViewEntry, body_lines
from dpsync.render.views import make_view


def test_plan_heading_counts_each_unmanaged_object() -> None:
    kept = (
        Kept(place="acme/teams", addresses=("acme/teams/[A]", "acme/teams/[B]", "acme/teams/[C]")),
        Kept(place="acme/spaces", addresses=("acme/spaces/[A]",)),
    )
    assert [block.title for block in plan_blocks(Plan(kept=kept))] == [
        "Objects without an entry, which dpsync keeps: 4"
    ]


@pytest.mark.parametrize(
    ("address", "group"),
    [("acme#mergeRules", "acme"), ("acme/sites/docs#title", "acme/sites"), ("acme", "acme"), ("", "")],
)
def test_view_entry_is_grouped_by_parent_list(address: str, group: str) -> None:
    assert ViewEntry(address).group == group


def test_drift_label_of_new_object_is_shown_once() -> None:
    new = Change(
        address="acme/teams/n",
        kind="team",
        action="create",
        label="N",
        cause="changed outside",
        differences=(Difference(field="icon", after="N", cause="changed outside"),),
    )
    plan = Plan(base="0" * 40, base_from="HEAD", changes=(new,))
    [entry] = make_view(plan_document(plan))
    assert entry.title == 'team n "N"'
    assert body_lines(entry) == ["+ icon N", "deleted outside"]


@pytest.mark.parametrize("is_refused", [True, False], ids=["refused", "empty"])
def test_apply_without_changes_prints_its_reason(is_refused: bool) -> None:
    refusal = Refusal(code="limits", address="acme", message="too many", way_out="fewer")
    plan = Plan(refusals=(refusal,) if is_refused else ())
    code = Exit.REFUSED if is_refused else Exit.DONE
    document = ApplyDocument(exit=code, converged=False, plan=plan_document(plan), report=None)
    for name in FORMATS.keys() - {"json", "github", "sarif", "codequality"}:
        printed = render(document, name, FormatOptions())
        said = "This plan cannot be applied, for 1 reason." if is_refused else "No changes."
        assert ("Nothing was applied." in printed, said in printed) == (is_refused, True), name


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (
            {"kind": "external", "url": "https://e.example"},
            ['+ kind: "external"', '+ url: "https://e.example"'],
        ),
        (["one", {"two": 2}], ['+ "one"', "+ { two: 2 }"]),
        (["a", "b", "c", "d"], ['+ "a"', '+ "b"', '+ "c"', "… 1 more line"]),
        (["\x1b[31m"], ['+ "\\x1b[31m"']),
    ],
)
def test_large_new_value_is_shown_member_by_member(value: Any, lines: list[str]) -> None:
    assert list(diff_lines(Difference(field="x", after=value), max_lines=3)) == lines


def test_ignored_drift_shows_no_suggested_resolutions() -> None:
    def drifted(name: str) -> Drifted:
        field = FieldDrift(field=name, live="a", file="b")
        return Drifted(address="acme/sites/docs", kind="site", what="different", fields=(field,))

    document = drift_document(Drift(found=(drifted("title"),), ignored=(drifted("visibility"),)))
    told = {entry.name: [word.subject for word in entry.sentences] for entry in make_view(document)}
    assert told == {"drift": ["undo", "keep"], "ignored": []}
