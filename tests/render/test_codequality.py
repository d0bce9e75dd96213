"""GitLab's code quality report has the shape that its documentation asks for, and names nothing twice."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import jsonschema
from pydantic import BaseModel

from dpsync.model.plan import Origin, Plan
from dpsync.model.question import Refusal
from dpsync.render.documents import Finding, FindingsDocument
from dpsync.render.formats import FormatOptions, render
from dpsync.render.json_conversion import plan_document

TEXT = {"type": "string", "minLength": 1}
REPORT = jsonschema.Draft202012Validator({
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": TEXT,
            "check_name": {**TEXT, "pattern": "^dpsync/"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": TEXT,
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
})  # fmt: skip


def report(document: BaseModel, **how: Any) -> list[Any]:
    text = render(document, "codequality", FormatOptions(**how))
    assert not text.startswith("\ufeff")
    found = json.loads(text)
    REPORT.validate(found)
    assert not any("\n" in one["description"] for one in found)
    assert len({one["fingerprint"] for one in found}) == len(found)  # GitLab drops the second of two
    return list(found)


def finding(message: str, line: int = 4, **more: Any) -> Finding:
    at = Origin(file="sites/docs.yaml", line=line, column=3)
    return Finding(**{"code": "DP201", "severity": "error", "message": message, "at": at, **more})


def test_code_quality_finding_has_location_and_hint() -> None:
    one = finding("unknown key", address="acme/sites/docs", hint="remove it")
    (found,) = report(FindingsDocument(exit=5, findings=(one,)), project_prefix=lambda: "org/")
    assert found["location"] == {"path": "org/sites/docs.yaml", "lines": {"begin": 4}}
    assert (found["check_name"], found["severity"]) == ("dpsync/DP201", "blocker")
    assert found["description"] == "acme/sites/docs: unknown key; remove it"
    (found,) = report(FindingsDocument(exit=0, findings=(one.model_copy(update={"severity": "warning"}),)))
    assert found["severity"] == "major"


def prints(*findings: Finding) -> list[str]:
    return [one["fingerprint"] for one in report(FindingsDocument(exit=5, findings=findings))]


def test_code_quality_fingerprint_ignores_line_and_other_findings() -> None:
    first, second = finding("unknown key a"), finding("unknown key b", line=9)
    known = prints(first, second)
    assert prints(finding("unknown key b", line=30)) == known[1:]
    assert prints(finding("new"), finding("unknown key a", line=1))[1:] == known[:1]
    assert len(set(prints(first, first, first))) == 3


def test_code_quality_fingerprint_is_stable_across_releases() -> None:
    """GitLab compares with what an older release has written for the target branch."""
    known = "DP201\n\nsites/docs.yaml\nunknown key"
    wanted = [hashlib.sha256(text.encode()).hexdigest() for text in (known, f"{known}\n2", f"{known}\n3")]
    assert prints(*[finding("unknown key")] * 3) == wanted


def test_code_quality_finding_without_line_uses_root_file() -> None:
    plan = Plan(refusals=(Refusal(code="limits", address="", message="too many deletes", way_out="look"),))
    (found,) = report(plan_document(plan), project_prefix=lambda: "org/", root="dpsync.yml")
    assert found["location"] == {"path": "org/dpsync.yml", "lines": {"begin": 1}}
    assert found["description"] == "too many deletes; look (not on a line in your files)"
    assert found["check_name"] == "dpsync/limits"
