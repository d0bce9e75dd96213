"""Plan and drift show the location of a value in the file that contains it, for example in a text file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.certificates import OKTA
from tests.cli.conftest import Run
from tests.config.loading import organization

Project = Callable[..., Path]
BODY = """\
agentInstructions: { file: texts/agents.md }
openapi: { shop: { source: { text: { file: texts/shop.yaml } } } }
saml: { okta: { label: Test, certificate: { file: texts/okta.pem } } }
sites:
  help:
    title: Help center
    adaptiveSchema: { file: texts/visitor.json }
    redirects: { file: texts/redirects.csv }
"""
FILES = {
    "texts/agents.md": "Answer briefly.\n",
    "texts/shop.yaml": "openapi: 3.1.0\n",
    "texts/okta.pem": OKTA,
    "texts/visitor.json": '{ "type": "object", "properties": {}, "additionalProperties": false }\n',
    "texts/redirects.csv": "source,destination\n/a,https://a.example\n/b,https://b.example\n",
}
INSTRUCTIONS = "acme/agentInstructions#instructions"


def plan_json(run: Run, directory: Path) -> dict[str, Any]:
    ended = run("plan", "-C", str(directory), "--format", "json")
    assert ended.code in (0, 2, 3), ended.out + ended.err
    found: dict[str, Any] = json.loads(ended.out)["plan"]
    return found


@pytest.mark.parametrize(
    ("field", "location"),
    [
        pytest.param(INSTRUCTIONS, "texts/agents.md:1", id="markdown"),
        pytest.param("acme/openapi/shop#source", "texts/shop.yaml:1", id="openapi-text"),
        pytest.param("acme/saml/okta#certificate", "texts/okta.pem:1", id="certificate"),
        pytest.param("acme/sites/help/adaptiveSchema#jsonSchema", "texts/visitor.json:1", id="json"),
        pytest.param("acme/sites/help/redirects//b#destination", "texts/redirects.csv:3", id="csv-row"),
        pytest.param("acme/saml/okta#label", "dpsync.yaml:7", id="value-in-root-file"),
    ],
)
@pytest.mark.usefixtures("platform")
def test_plan_locates_value_in_referenced_file(run: Run, project: Project, field: str, location: str) -> None:
    at = plan_json(run, project(organization(BODY), FILES))["origins"][field]
    assert f"{at['file']}:{at['line']}" == location


@pytest.mark.parametrize("command", ["plan", "drift"])
@pytest.mark.usefixtures("platform")
def test_plan_and_drift_locate_text_in_text_file(run: Run, project: Project, command: str) -> None:
    body = "agentInstructions: { file: agents.md }"
    ended = run(command, "-C", str(project(organization(body), {"agents.md": "Answer briefly.\n"})))
    (line,) = [line for line in ended.out.splitlines() if line.startswith("~ agent instructions ")]
    assert line.endswith(" agents.md:1"), ended.out
    assert "dpsync.yaml" not in line


@pytest.mark.usefixtures("platform")
def test_codequality_report_locates_change_in_text_file(run: Run, project: Project) -> None:
    """Otherwise, a merge request that changes only the text file would not show the finding."""
    body = "agentInstructions: { file: agents.md }"
    directory = project(organization(body), {"agents.md": "Answer briefly.\n"})
    ended = run("drift", "-C", str(directory), "--format", "codequality")
    (found,) = json.loads(ended.out)
    assert found["location"]["path"].endswith("agents.md")


def test_validate_locates_error_in_json_file(run: Run, project: Project) -> None:
    files = {**FILES, "texts/visitor.json": '{ "type": "object", "properties": {} }\n'}
    ended = run("validate", "-C", str(project(organization(BODY), files)), "--format", "json")
    (found,) = json.loads(ended.out)["findings"]
    assert (found["code"], found["at"]["file"]) == ("DP208", "texts/visitor.json")
