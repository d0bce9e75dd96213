"""`dpsync config`: the configuration after includes, overlays and variables, and where it is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpsync.api import load
from dpsync.config.yaml_reader import read
from dpsync.model.nodes import plain
from dpsync.render.command_documents import part_of
from dpsync.render.config_text import render_config
from dpsync.render.documents import ConfigDocument, ValueOrigin
from dpsync.render.paint import Paint
from tests.cli.conftest import Run

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "config.schema.json").read_text(encoding="utf-8")
)
ROOT = """\
dpsync: 1
include: [teams.yaml]
environments:
  prod: { url: "https://api.acme.example", token: { env: DPSYNC_TOKEN_PROD }, overlay: prod.yaml }
organizations:
  acme:
    id: ${ACME_ID:-acme}
    title: ${TITLE}
"""
TEAMS = "organizations:\n  acme:\n    teams:\n      writers: { title: Technical writers }\n"
PROD = "organizations:\n  acme:\n    teams:\n      writers:\n        title: Writers\n"


@pytest.fixture
def acme(project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TITLE", "Acme")
    monkeypatch.delenv("ACME_ID", raising=False)
    return project(ROOT, {"teams.yaml": TEAMS, "prod.yaml": PROD})


def test_a_value_has_its_file_its_line_and_its_variable_beside_it(acme: Path, run: Run) -> None:
    ended = run("config", "-C", str(acme))
    assert ended.out == (
        "dpsync: 1  # dpsync.yaml:1\n"
        "organizations:\n"
        "  acme:\n"
        "    id: acme  # dpsync.yaml:7, the default of ${ACME_ID}\n"
        "    title: Acme  # dpsync.yaml:8, ${TITLE}\n"
        "    teams:\n"
        "      writers:\n"
        "        title: Technical writers  # teams.yaml:4\n"
    )


def test_a_list_of_one_place_is_one_line_and_with_a_variable_each_value_has_its_own(
    project: Callable[..., Path], run: Run
) -> None:
    policy = 'policy: { prune: [teams, spaces], protect: [teams/a, "${OTHER_TEAM:-teams/b}"] }'
    out = run(
        "config", "-C", str(project(f"dpsync: 1\n{policy}\norganizations: {{ acme: {{ id: acme }} }}\n"))
    ).out
    assert out.startswith(
        "dpsync: 1  # dpsync.yaml:1\n"
        "policy:\n"
        "  prune: [teams, spaces]  # dpsync.yaml:2\n"
        "  protect:\n"
        "    - teams/a  # dpsync.yaml:2\n"
        "    - teams/b  # dpsync.yaml:2, the default of ${OTHER_TEAM}\n"
    )


def test_an_overlay_of_an_environment_is_where_the_value_is_from(acme: Path, run: Run) -> None:
    out = run("config", "-C", str(acme), "--env", "prod").out
    assert out.startswith("# The environment prod is applied.\n")
    assert "title: Writers  # prod.yaml:5" in out
    assert "DPSYNC_TOKEN_PROD" not in out


def test_json_is_as_its_schema_says_and_names_each_place(acme: Path, run: Run) -> None:
    document = json.loads(run("config", "-C", str(acme), "--format", "json").out)
    jsonschema.validate(document, SCHEMA)
    places = {one["pointer"]: one for one in document["origins"]}
    assert places["/organizations/acme/title"]["at"]["line"] == 8
    assert places["/organizations/acme/title"]["variables"] == [{"name": "TITLE", "is_set": True}]
    assert places["/organizations/acme/id"]["variables"] == [{"name": "ACME_ID", "is_set": False}]
    assert document["files"] == ["dpsync.yaml", "teams.yaml"]


def test_a_secret_is_never_resolved(
    project: Callable[..., Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "hunter2")
    folder = project(
        "dpsync: 1\norganizations:\n  acme:\n    id: acme\n    integrations:\n"
        "      slack: { configuration: { key: { env: KEY } } }\n"
    )
    for format_ in ("yaml", "json"):
        ended = run("config", "-C", str(folder), "--format", format_)
        assert "KEY" in ended.out
        assert "hunter2" not in ended.out + ended.err


def test_the_example_prints_a_configuration_that_says_the_same(
    example: Path, run: Run, tmp_path: Path
) -> None:
    (before,) = (load(example / "dpsync.yaml").resources,)
    text = run("config", "-C", str(example)).out
    for path in example.rglob("*.yaml"):
        path.unlink()
    for path in (example / "sites").glob("*"):
        path.rename(example / path.name)
    (example / "dpsync.yaml").write_text(text, encoding="utf-8")
    after = load(example / "dpsync.yaml").resources
    assert {str(at): dict(item.fields) for at, item in after.items()} == {
        str(at): dict(item.fields) for at, item in before.items()
    }


def test_what_is_wrong_is_told_as_by_validate(project: Callable[..., Path], run: Run) -> None:
    folder = project("dpsync: 1\norganizations: { acme: { id: acme, titel: Acme } }\n")
    assert run("config", "-C", str(folder)).code == 5
    assert run("config", "-C", str(folder)).err == run("validate", "-C", str(folder)).err


def test_text_of_the_files_cannot_write_to_the_terminal(project: Callable[..., Path], run: Run) -> None:
    folder = project('dpsync: 1\norganizations: { acme: { id: acme, title: "A\\e[2J\\u202e # b" } }\n')
    out = run("config", "-C", str(folder)).out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert yaml.safe_load(out)["organizations"]["acme"]["title"] == "A\x1b[2J\u202e # b"


LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=12)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
)


def pointers(value: Any, at: str = "") -> list[str]:
    parts = list(value.items() if isinstance(value, dict) else enumerate(value or [])) if isinstance(
        value, dict | list
    ) else []  # fmt: skip
    return [one for key, item in parts for one in pointers(item, part_of(at, key))] if parts else [at]


@given(st.dictionaries(st.text(max_size=6), VALUES, min_size=1, max_size=3))
def test_whatever_is_printed_is_read_as_the_same_values(configuration: dict[str, Any]) -> None:
    at = {"file": "a b#.yaml", "line": 1, "column": 1}
    places = (ValueOrigin.model_validate({"pointer": one, "at": at}) for one in pointers(configuration))
    document = ConfigDocument(files=("a",), configuration=configuration, origins=tuple(places))
    text = render_config(document, Paint(False))
    assert text.count("\n") < 200
    node, problems = read(text.encode("utf-8", "surrogatepass"), "x.yaml")
    if not problems:  # what no YAML of ours can hold, such as a key that is not one line
        assert node is not None
        assert plain(node) == undollared(configuration)


def undollared(value: Any) -> Any:
    """As it is read before variables are put in: a `$` that would begin one is two."""
    match value:
        case dict():
            return {key: undollared(item) for key, item in value.items()}
        case list():
            return [undollared(item) for item in value]
        case str() if "${" in value or "$$" in value:
            return value.replace("$", "$$")
    return value
