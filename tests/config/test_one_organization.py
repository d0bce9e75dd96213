"""Files with `organization: KEY` at the top mean the same as files with `organizations: { KEY: … }`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from dpsync.api import load
from dpsync.model.diagnostic import DiagnosticError

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "dpsync.schema.json").read_text(encoding="utf-8")
)
NESTED = {
    "dpsync.yaml": """\
dpsync: 1
include: [people.yaml]
policy: { prune: [teams] }
organizations:
  acme: { id: acme, title: Acme }
""",
    "people.yaml": """\
organizations:
  acme:
    members: { ada@acme.example: admin }
    teams:
      writers: { title: Writers }
""",
}
FLAT = {
    "dpsync.yaml": """\
dpsync: 1
include: [people.yaml]
policy: { prune: [teams] }
organization: acme
id: acme
title: Acme
""",
    "people.yaml": """\
organization: acme
members: { ada@acme.example: admin }
teams:
  writers: { title: Writers }   # who may publish
""",
}


def write(directory: Path, files: dict[str, str]) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory / "dpsync.yaml"


def test_flat_files_declare_the_same_entries(tmp_path: Path) -> None:
    flat, nested = (load(write(tmp_path / name, files)) for name, files in (("a", FLAT), ("b", NESTED)))
    assert flat.entries.keys() == nested.entries.keys()
    assert [one.fields for one in flat.entries.values()] == [one.fields for one in nested.entries.values()]
    (team,) = [one for one in flat.entries.values() if one.kind == "team"]
    assert (team.span.file, team.span.line, team.span.column) == ("people.yaml", 4, 3)


def test_flat_and_nested_files_merge(tmp_path: Path) -> None:
    mixed = {**NESTED, "people.yaml": FLAT["people.yaml"]}
    assert (
        load(write(tmp_path / "a", mixed)).entries.keys()
        == load(write(tmp_path / "b", NESTED)).entries.keys()
    )


def test_flat_overlay_changes_a_nested_file(tmp_path: Path) -> None:
    root = write(tmp_path, NESTED)
    overlay = tmp_path / "over.yaml"
    overlay.write_text("organization: acme\nteams: { writers: { title: Authors } }\n", encoding="utf-8")
    titles = [
        one.fields["title"] for one in load(root, overlays=[overlay]).entries.values() if one.kind == "team"
    ]
    assert titles == ["Authors"]


@pytest.mark.parametrize("name", FLAT)
def test_schema_accepts_flat_files(name: str) -> None:
    found = jsonschema.Draft7Validator(SCHEMA).iter_errors(yaml.safe_load(FLAT[name]))
    assert [error.message for error in found] == []


@pytest.mark.parametrize(
    ("people", "line", "message"),
    [
        pytest.param("organization: 1\n", 1, '"organization" must be the key of an organization', id="1"),
        pytest.param(
            "organization: acme\norganizations: { acme: {} }\n", 2,
            '"organization" and "organizations" cannot both be in one file', id="both words",
        ),
        pytest.param(
            "organization: acme\npolicy: {}\n", 2, '"policy" is only allowed in dpsync.yaml', id="policy",
        ),
        pytest.param(
            "organization: acme\nteems: {}\n", 2, 'unknown key "teems" in an organization', id="unknown key",
        ),
        pytest.param("teams: {}\n", 1, 'unknown key "teams" at the top of the file', id="no organization"),
    ],
)  # fmt: skip
def test_mistake_in_flat_file_is_located(people: str, line: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as raised:
        load(write(tmp_path, {**FLAT, "people.yaml": people}))
    found = next(one for one in raised.value.findings if one.message == message)
    assert found.span is not None
    assert (found.span.file, found.span.line) == ("people.yaml", line)
