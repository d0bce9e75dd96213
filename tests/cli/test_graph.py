"""The picture of an organization in mermaid and dot, whatever the titles say.

Parsers that know nothing of dpsync read both back. The one for mermaid has no build for some machines, so the
lines are held against a strict grammar as well: it says also what no parser does, that in a label nothing is
left of what mermaid takes for Markdown.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pydot
import pytest

from dpsync.api import load, load_registry
from dpsync.apply.saved_plan import save_plan
from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.render.graph import GRAPH_WRITERS, Graph, as_dot, as_mermaid, make_graph
from tests.cli.conftest import Run

HOSTILE = [
    'a"]; evil["x', "a\\", 'a\\"', "end", "#quot;", "%%{init}", "x\n  n9 --- n8", "<img src=x>", "];}",
    "\u202e", "_em_", "1. one", "2) two", "- item", "www.a.example", "&lt;b&gt;", "\\N \\l", "'",
    "`x`", "漢字",
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
_WORDS = r"(?:[^\W\d_]|#\d+;)(?:[^\W_]|[ /()]|#\d+;)*"
MERMAID = re.compile(
    rf'flowchart LR|  n\d+\["{_WORDS}"\]|  n\d+ --- n\d+'
    rf'|  n\d+ -\. "{_WORDS}" \.-> n\d+'
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
    return make_graph(load(file, {}), load_registry(), plan)


def test_graph_draws_containment_and_references(tmp_path: Path) -> None:
    found = drawn(tmp_path)
    texts = {box.id: box.text for box in found.boxes}
    lines = {(texts[line.start], line.field, texts[line.end]) for line in found.arrows}
    assert ("Docs (site)", "", "n (site space)") in lines
    assert ("n (site space)", "space", "News (space)") in lines
    assert ("acme (organization)", "", "Team (team)") in lines


@pytest.mark.parametrize("title", HOSTILE)
def test_graph_escapes_hostile_titles(tmp_path: Path, title: str) -> None:
    change = Change(address="acme/teams/[gone]", kind="team", action="delete", label=title)
    found = drawn(tmp_path, title, Plan(changes=(change,)))
    lines = as_mermaid(found).splitlines()
    assert [line for line in lines if not MERMAID.fullmatch(line)] == []
    assert [line for line in as_dot(found).splitlines() if not DOT.fullmatch(line)] == []
    assert sum('["' in line for line in lines) == len(found.boxes) == 6


Read = tuple[dict[str, str], set[tuple[str, str, str]]]
"""The texts of the boxes by their names, and the lines, each with its field."""


def by_pydot(text: str) -> Read:
    (found,) = pydot.graph_from_dot_data(text) or ()

    def said(label: str) -> str:
        return html.unescape(re.sub(r"\\(.)", r"\1", label[1:-1]))

    boxes = {one.get_name(): said(one.get("label")) for one in found.get_nodes() if one.get_name() != "node"}
    lines = {
        (one.get_source(), said(one.get("label") or '""'), one.get_destination()) for one in found.get_edges()
    }
    return boxes, lines


def by_merman(text: str) -> Read:
    found = json.loads(pytest.importorskip("merman").Merman().parse_json(text, None))
    boxes = {one["id"]: one["label"] for one in found["nodes"]}
    return boxes, {(one["from"], one["label"] or "", one["to"]) for one in found["edges"]}


@pytest.mark.filterwarnings("ignore:.*deprecated - use:DeprecationWarning")  # pydot's own
@pytest.mark.parametrize(("language", "read"), [("dot", by_pydot), ("mermaid", by_merman)])
@pytest.mark.parametrize("title", HOSTILE)
def test_graph_parsers_read_same_boxes_and_lines(
    tmp_path: Path, title: str, language: str, read: Callable[[str], Read]
) -> None:
    change = Change(address="acme/teams/[gone]", kind="team", action="delete", label=title)
    found = drawn(tmp_path, title, Plan(changes=(change,)))
    boxes, lines = read(GRAPH_WRITERS[language](found))
    assert boxes == {box.id: box.text for box in found.boxes}
    assert lines == {(line.start, line.field, line.end) for line in found.arrows}


def test_graph_colors_planned_changes(tmp_path: Path) -> None:
    change = Change(address="acme/teams/t", kind="team", action="update", label="Team")
    found = drawn(tmp_path, plan=Plan(changes=(change,)))
    assert [box.text for box in found.boxes if box.action] == ["~ Team (team)"]
    assert "class n" in as_mermaid(found)
    assert 'fillcolor="#fff3c4"' in as_dot(found)


def test_graph_command_draws_saved_plan(tmp_path: Path, run: Run) -> None:
    drawn(tmp_path)
    change = Change(address="acme/teams/t", kind="team", action="update", label="Team")
    save_plan(tmp_path / "plan.json", Plan(changes=(change,)))
    ended = run("graph", "-C", str(tmp_path), "--plan", "plan.json", "--format", "dot")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("digraph dpsync {")
    assert "~ Team (team)" in ended.out


def test_graph_rejects_invalid_plan_file(tmp_path: Path, run: Run) -> None:
    drawn(tmp_path)
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    ended = run("graph", "-C", str(tmp_path), "--plan", "plan.json")
    assert (ended.code, ended.out) == (5, "")
    assert "DP143" in ended.err


SAME = """
dpsync: 1
organizations:
  acme:
    id: acme
    teams: { t: { title: Team } }
    spaces: { one: { title: One }, other: { title: Other } }
    sites:
      docs:
        title: Docs
        structure:
          - { type: section, key: g, title: Guides, children: [ { type: space, key: n, space: one } ] }
      help:
        title: Help
        structure:
          - { type: section, key: g, title: Guides, children: [ { type: space, key: m, space: other } ] }
"""


def texts(tmp_path: Path, run: Run, *words: str) -> set[str]:
    (tmp_path / "dpsync.yaml").write_text(SAME, encoding="utf-8")
    ended = run("graph", "-C", str(tmp_path), "--format", "dot", *words)
    assert (ended.code, ended.err) == (0, "")
    return set(by_pydot(ended.out)[0].values()) - {"acme (organization)"}


@pytest.mark.filterwarnings("ignore:.*deprecated - use:DeprecationWarning")  # pydot's own
def test_graph_shows_addresses_for_duplicate_titles(tmp_path: Path, run: Run) -> None:
    guides = {f"Guides (section) acme/sites/{site}/structure/g" for site in ("docs", "help")}
    assert texts(tmp_path, run) == {
        "Team (team)", "One (space)", "Other (space)", "Docs (site)", "Help (site)", "n (site space)",
        "m (site space)", *guides,
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*deprecated - use:DeprecationWarning")  # pydot's own
@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("--select acme/sites/docs", {"Docs (site)", "Guides (section)", "n (site space)", "One (space)"}),
        (
            "--select sites/help/structure/g",
            {"Help (site)", "Guides (section)", "m (site space)", "Other (space)"},
        ),
        ("--select teams --select spaces/other", {"Team (team)", "Other (space)"}),
        ("--select spaces --exclude spaces/other", {"One (space)"}),
    ],
)
def test_graph_select_draws_matching_objects_and_context(
    tmp_path: Path, run: Run, words: str, left: set[str]
) -> None:
    assert texts(tmp_path, run, *words.split()) == left


def test_graph_rejects_select_pattern_without_match(tmp_path: Path, run: Run) -> None:
    (tmp_path / "dpsync.yaml").write_text(SAME, encoding="utf-8")
    ended = run("graph", "-C", str(tmp_path), "--select", "acme/teams/none")
    assert (ended.code, ended.out) == (5, "")


def test_graph_select_matches_planned_deletes(tmp_path: Path, run: Run) -> None:
    (tmp_path / "dpsync.yaml").write_text(SAME, encoding="utf-8")
    changes = tuple(
        Change(address=f"acme/teams/[{name}]", kind="team", action="delete", label=name)
        for name in ("Old", "Older")
    )
    save_plan(tmp_path / "plan.json", Plan(changes=changes))
    ended = run(
        "graph", "-C", str(tmp_path), "--plan", "plan.json", "--format", "dot",
        "--select", "acme/teams/[Old]",
    )  # fmt: skip
    assert "- Old (team)" in ended.out
    assert "Older" not in ended.out
