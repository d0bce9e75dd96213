"""Annotations: each line is a command of ours, on the line of the YAML, and never more than GitHub shows."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from pydantic import BaseModel

from dpsync.model.change import Blocked, Change, Difference
from dpsync.model.plan import Origin, Plan
from dpsync.model.question import Refusal
from dpsync.render.documents import Finding, FindingsDocument
from dpsync.render.formats import FormatOptions, render
from dpsync.render.json_conversion import plan_document
from dpsync.render.views import make_view
from dpsync.render.visible import visible
from tests.render.hostile import DOCUMENTS
from tests.render.runner import KNOWN, Command, commands


def annotations(document: BaseModel, below: str = "") -> list[Command]:
    log = render(document, "github", FormatOptions(project_prefix=lambda: below))
    found = commands(log) if log else []
    assert None not in found
    return [one for one in found if one is not None]


@settings(max_examples=40, deadline=None)
@given(DOCUMENTS)
def test_hostile_text_cannot_break_github_annotations(document: BaseModel) -> None:
    found = annotations(document)
    assert {one.name for one in found} <= {"error", "warning", "notice"}
    assert {name for one in found for name in one.properties} <= {"file", "line", "endLine", "col", "title"}
    assert len(found) <= 10
    for one in found:
        assert one.data
        assert all(text == visible(text) for text in (*one.data.split("\n"), *one.properties.values()))
    shown = [entry for entry in make_view(document) if entry.level != "none"]
    assert len(found) >= min(len(shown), 9)
    older = KNOWN - {"error", "warning", "notice"}
    assert all(one is None for one in commands(render(document, "github"), older))


def test_github_annotation_is_placed_on_changed_line() -> None:
    plan = Plan(
        changes=(
            Change(
                address="acme/sites/docs", kind="site", action="update",
                differences=(Difference(field="title", before="100%", after="a: b, c"),),
            ),
            Change(address="acme/teams/[Old]", kind="team", action="delete", label="Old"),
        ),
        origins={
            "acme": Origin(file="dpsync.yaml", line=2, column=3),
            "acme/sites/docs": Origin(file="sites/docs, en.yaml", line=4, column=7),
        },
    )  # fmt: skip
    delete, change = annotations(plan_document(plan), below="docs/")
    assert delete == Command(
        "warning", "team [Old]",
        {"file": "docs/dpsync.yaml", "line": "2", "endLine": "2", "col": "3", "title": "- team [Old]"},
    )  # fmt: skip
    assert change.name == "notice"
    assert change.properties["file"] == "docs/sites/docs, en.yaml"
    assert change.data == '- title: "100%"\n+ title: "a: b, c"'


def test_github_annotations_list_errors_first_and_count_rest() -> None:
    deletes = tuple(Change(address=f"acme/teams/[{n}]", kind="team", action="delete") for n in range(20))
    refusal = Refusal(code="limits", address="acme", message="20 would go", way_out="say so")
    blocked = Blocked(address="acme/members/x", reason="no")
    found = annotations(plan_document(Plan(changes=deletes, refusals=(refusal,), blocked=(blocked,))))
    assert [one.name for one in found] == ["error", *["warning"] * 8, "notice"]
    assert found[0].data == "20 would go (limits)\nsay so"
    assert found[-1].data.startswith("13 more annotations ")


def told(count: int, changed: frozenset[str]) -> list[tuple[str, str]]:
    """Return the levels and files of the annotations of `count` errors and warnings, one file each."""
    kinds: tuple[Literal["error", "warning"], ...] = ("warning", "error")
    places = [
        (kind, Origin(file=f"{kind}{n}.yaml", line=1, column=1)) for kind in kinds for n in range(count)
    ]
    findings = tuple(Finding(code="DP201", severity=kind, message="m", at=place) for kind, place in places)
    how = FormatOptions(project_prefix=lambda: "docs/", changed_files=lambda: changed)
    log = commands(render(FindingsDocument(exit=5, findings=findings), "github", how))
    return [(one.name, one.properties.get("file", "")) for one in log if one is not None]


def test_github_annotations_prefer_files_of_the_change() -> None:
    changed = frozenset({"docs/warning1.yaml", "docs/error7.yaml", "docs/error5.yaml", "error1.yaml"})
    *first, last = told(8, changed)
    files = [5, 7, 0, 1, 2, 3, 4, 6]
    assert first == [("error", f"docs/error{n}.yaml") for n in files] + [("warning", "docs/warning1.yaml")]
    assert last == ("notice", "")
    assert told(4, changed)[:4] == [("error", f"docs/error{n}.yaml") for n in range(4)]  # all are shown


@pytest.mark.parametrize("number", [9, 10])
def test_github_annotations_count_omitted_findings(number: int) -> None:
    finding = Finding(code="DP201", severity="error", message="m")
    document = FindingsDocument(exit=5, findings=(finding,) * number, left_out={"DP201": 30})
    assert annotations(document)[-1].data.startswith(f"{number - 9 + 30} more annotation")


def test_github_annotations_are_empty_for_empty_plan() -> None:
    assert render(plan_document(Plan()), "github") == ""
