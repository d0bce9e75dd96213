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
from dpsync.model.nodes import node_value
from dpsync.render.command_documents import item_pointer
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


def test_config_prints_origin_of_each_value(acme: Path, run: Run) -> None:
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


def test_config_splits_list_with_values_from_variables(project: Callable[..., Path], run: Run) -> None:
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


def test_config_shows_overlay_as_origin_of_value(acme: Path, run: Run) -> None:
    out = run("config", "-C", str(acme), "--env", "prod").out
    assert out.startswith("# The environment prod is applied.\n")
    assert "title: Writers  # prod.yaml:5" in out
    assert "DPSYNC_TOKEN_PROD" not in out


def test_config_json_matches_schema_and_lists_origins(acme: Path, run: Run) -> None:
    document = json.loads(run("config", "-C", str(acme), "--format", "json").out)
    jsonschema.validate(document, SCHEMA)
    places = {one["pointer"]: one for one in document["origins"]}
    assert places["/organizations/acme/title"]["at"]["line"] == 8
    assert places["/organizations/acme/title"]["variables"] == [{"name": "TITLE", "is_set": True}]
    assert places["/organizations/acme/id"]["variables"] == [{"name": "ACME_ID", "is_set": False}]
    assert document["files"] == ["dpsync.yaml", "teams.yaml"]


def test_config_never_prints_secret_values(
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


def test_config_output_loads_as_same_resources(example: Path, run: Run) -> None:
    (before,) = (load(example / "dpsync.yaml").entries,)
    text = run("config", "-C", str(example)).out
    for path in example.rglob("*.yaml"):
        path.unlink()
    for path in (example / "sites").glob("*"):
        path.rename(example / path.name)
    (example / "dpsync.yaml").write_text(text, encoding="utf-8")
    after = load(example / "dpsync.yaml").entries
    assert {str(at): dict(item.fields) for at, item in after.items()} == {
        str(at): dict(item.fields) for at, item in before.items()
    }


def test_config_prints_same_errors_as_validate(project: Callable[..., Path], run: Run) -> None:
    folder = project("dpsync: 1\norganizations: { acme: { id: acme, titel: Acme } }\n")
    assert run("config", "-C", str(folder)).code == 5
    assert run("config", "-C", str(folder)).err == run("validate", "-C", str(folder)).err


def test_config_escapes_control_characters(project: Callable[..., Path], run: Run) -> None:
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
    return [one for key, item in parts for one in pointers(item, item_pointer(at, key))] if parts else [at]


@given(st.dictionaries(st.text(max_size=6), VALUES, min_size=1, max_size=3))
def test_rendered_config_parses_to_same_values(configuration: dict[str, Any]) -> None:
    at = {"file": "a b#.yaml", "line": 1, "column": 1}
    places = (ValueOrigin.model_validate({"pointer": one, "at": at}) for one in pointers(configuration))
    document = ConfigDocument(files=("a",), configuration=configuration, origins=tuple(places))
    text = render_config(document, Paint(False))
    assert text.count("\n") < 200
    node, problems = read(text.encode("utf-8", "surrogatepass"), "x.yaml")
    if not problems:  # what no YAML of ours can hold, such as a key that is not one line
        assert node is not None
        assert node_value(node) == undollared(configuration)


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
