"""The picture of an organization in mermaid and dot, whatever the titles say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dpsync.api import load, load_registry
from dpsync.apply.saved import save
from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.render.graph import Graph, as_dot, as_mermaid, graph
from tests.cli.conftest import Run

HOSTILE = [
    'a"]; evil["x', "a\\", 'a\\"', "end", "#quot;", "%%{init}", "x\n  n9 --- n8", "<img src=x>", "];}",
    "\u202e",
]  # fmt: skip
BODY = """
dpsync: 1
organizations:
  acme:
    id: acme
    teams: {{ t: {{ title: {title} }} }}
    spaces: {{ s: {{ title: News }} }}
    sites:
      docs: {{ title: Docs, structure: [ {{ type: space, key: n, space: s, path: n }} ] }}
"""
MERMAID = re.compile(
    r'flowchart LR|  n\d+\["(?:[\w ./()-]|#\d+;)*"\]|  n\d+ --- n\d+'
    r'|  n\d+ -\. "(?:[\w ./()-]|#\d+;)*" \.-> n\d+'
    r"|  classDef \w+ fill:#\w+,color:#111|  class n\d+(?:,n\d+)* \w+"
)
_TEXT = r'"(?:[^"\\\n]|\\["\\])*"'
DOT = re.compile(
    rf'digraph dpsync \{{|  rankdir=LR;|  node \[[^"\]]*\];|  n\d+ \[label={_TEXT}(?:, fillcolor="#\w+")?\];'
    rf"|  n\d+ -> n\d+ \[(?:dir=none|style=dashed, label={_TEXT})\];|\}}"
)


def drawn(tmp_path: Path, title: str = "Team", plan: Plan | None = None) -> Graph:
    file = tmp_path / "dpsync.yaml"
    file.write_text(BODY.format(title=json.dumps(title)), encoding="utf-8")
    return graph(load(file, {}), load_registry(), plan)


def test_what_is_in_what_and_what_names_what(tmp_path: Path) -> None:
    found = drawn(tmp_path)
    texts = {box.id: box.text for box in found.boxes}
    lines = {(texts[line.start], line.field, texts[line.end]) for line in found.lines}
    assert ("Docs (site)", "", "n (site space)") in lines
    assert ("n (site space)", "space", "News (space)") in lines
    assert ("acme (organization)", "", "Team (team)") in lines


@pytest.mark.parametrize("title", HOSTILE)
def test_no_title_breaks_out(tmp_path: Path, title: str) -> None:
    change = Change(address="acme/teams/[gone]", kind="team", action="delete", label=title)
    found = drawn(tmp_path, plan=Plan(changes=(change,)))
    lines = as_mermaid(found).splitlines()
    assert [line for line in lines if not MERMAID.fullmatch(line)] == []
    assert [line for line in as_dot(found).splitlines() if not DOT.fullmatch(line)] == []
    assert sum('["' in line for line in lines) == len(found.boxes) == 6


def test_a_plan_colours_what_it_changes(tmp_path: Path) -> None:
    change = Change(address="acme/teams/t", kind="team", action="update", label="Team")
    found = drawn(tmp_path, plan=Plan(changes=(change,)))
    assert [box.text for box in found.boxes if box.action] == ["~ Team (team)"]
    assert "class n" in as_mermaid(found)
    assert 'fillcolor="#fff3c4"' in as_dot(found)


def test_the_command_draws_what_is_declared_and_what_a_plan_changes(tmp_path: Path, run: Run) -> None:
    drawn(tmp_path)
    change = Change(address="acme/teams/t", kind="team", action="update", label="Team")
    save(tmp_path / "plan.json", Plan(changes=(change,)))
    ended = run("graph", "-C", str(tmp_path), "--plan", "plan.json", "--format", "dot")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("digraph dpsync {")
    assert "~ Team (team)" in ended.out


def test_a_file_without_a_plan_is_refused(tmp_path: Path, run: Run) -> None:
    drawn(tmp_path)
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    ended = run("graph", "-C", str(tmp_path), "--plan", "plan.json")
    assert (ended.code, ended.out) == (5, "")
    assert "DP143" in ended.err
