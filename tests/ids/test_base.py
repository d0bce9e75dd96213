"""The ids file of the git base, and the lines that are others there."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from dpsync.api import ids_path, load, load_base, load_ids
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.address import Address
from dpsync.model.desired import Base
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.model.ids import NO_IDS, RecordedLine
from dpsync.model.snapshot import RecordedIds
from dpsync.planner.decide import decide
from dpsync.planner.notes import history_notes
from tests.identity.past import configuration, git
from tests.planner.stages import Case

from .test_file import HERE, ids_of, line, section

REGISTRY = load_registry()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "repository" / "project"
    project.mkdir(parents=True)
    git(tmp_path / "repository", "init", "-q", "-b", "main")
    (project / "dpsync.yaml").write_text(configuration("title: Acme"), encoding="utf-8")
    return project


def commit(project: Path) -> None:
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "as it is")


def base_of(project: Path, ids: Path) -> Base:
    return load_base(project / "dpsync.yaml", env={}, registry=REGISTRY, ids=ids)


def test_git_base_contains_ids_file_of_commit(project: Path) -> None:
    file = project / "dpsync.ids.yaml"
    file.write_text(section("acme/teams/a: x"), encoding="utf-8")
    commit(project)
    file.write_text(section("acme/teams/a: y"), encoding="utf-8")

    assert base_of(project, file).ids == ids_of(line("acme/teams/a", "x"))
    assert load_ids(file) == ids_of(line("acme/teams/a", "y"))


def test_git_base_reads_custom_ids_file_inside_repository(project: Path, tmp_path: Path) -> None:
    for file in (project.parent / "ids" / "prod.yaml", tmp_path / "elsewhere.yaml"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(section("acme/teams/a: x"), encoding="utf-8")
    commit(project)

    assert base_of(project, project.parent / "ids" / "prod.yaml").ids != NO_IDS
    assert base_of(project, tmp_path / "elsewhere.yaml").ids == NO_IDS
    assert base_of(project, project / "dpsync.ids.yaml").ids == NO_IDS


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n", "- a\n", "\x00"])
def test_invalid_ids_file_in_base_is_a_warning(project: Path, text: str) -> None:
    file = project / "dpsync.ids.yaml"
    file.write_text(text, encoding="utf-8")
    commit(project)
    base = base_of(project, file)

    assert base.desired is not None
    assert base.ids == NO_IDS
    assert base.warning is not None
    assert "project/dpsync.ids.yaml:1: " in base.warning.message


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.acme.example", "dpsync.ids.yaml"),
        ("http://localhost:8787", ".dpsync/ids.yaml"),
        ("http://[::1]:8787", ".dpsync/ids.yaml"),
    ],
)
def test_local_platform_uses_untracked_ids_file(url: str, name: str) -> None:
    assert ids_path(Path("project/dpsync.yaml"), url) == Path("project") / name


def test_unreadable_ids_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dpsync.ids.yaml").mkdir()
    with pytest.raises(DiagnosticError) as ended:
        load_ids(tmp_path / "dpsync.ids.yaml")

    assert [one.code for one in ended.value.diagnostics] == ["DP122"]
    assert ended.value.exit_code == Exit.INVALID


def test_missing_ids_file_is_empty(tmp_path: Path) -> None:
    assert load_ids(tmp_path / "dpsync.ids.yaml") == NO_IDS


# What somebody has changed.


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        ([line("acme/teams/a", "x")], [line("acme/teams/a", "y")], ["acme/teams/a"]),
        ([line("acme/teams/a", "x")], [line("acme/teams/a", "x")], []),
        ([line("acme/teams/a", "x")], [], []),
        ([], [line("acme/teams/a", "x")], []),
        ([line("old/teams/a", "x")], [line("acme/teams/a", "x")], []),
        ([line("old/teams/a", "x")], [line("acme/teams/a", "y")], ["acme/teams/a"]),
        (
            [line("acme/sites/d/structure/n", "x", "p")],
            [line("acme/sites/d/structure/n", "x", "q")],
            ["acme/sites/d/structure/n"],
        ),
    ],
)
def test_changed_ids_lines_exclude_new_and_removed_lines(
    before: list[RecordedLine], after: list[RecordedLine], pairs: list[str]
) -> None:
    lines, earlier = (ids_of(*each).lines(HERE, "org-1", "acme") for each in (after, before))

    assert [str(new.address) for _, new in RecordedIds(lines, earlier).changed_lines] == pairs


def test_ids_lines_are_limited_to_platform_and_organization() -> None:
    file = ids_of(line("acme/teams/a", "x"))

    assert file.lines("https://other.example", "org-1", "acme") == {}
    assert file.lines(HERE, "org-2", "acme") == {}


def test_changed_ids_line_adds_note_to_plan() -> None:
    case = Case(wanted={"team": {"a": {"title": "A"}}}, live={"team": {"a": {"title": "A"}}}, base={})
    sides, at = case.sides(), Address.parse("acme/teams/a")
    records = RecordedIds({at: line("acme/teams/a", "y")}, {at: line("acme/teams/a", "x")})
    sides = replace(sides, snapshot=replace(sides.snapshot, recorded_ids=records))

    assert [(note.address, note.text) for note in history_notes(sides, decide(sides).deletions)] == [
        ("acme/teams/a", "the line of this entry in the ids file changed from x (in the base) to y")
    ]


def test_include_pattern_skips_ids_file(project: Path) -> None:
    (project / "dpsync.yaml").write_text('dpsync: 1\ninclude: ["*.yaml"]\n', encoding="utf-8")
    teams = "organizations:\n  acme:\n    id: acme\n    teams: { a: { title: A } }\n"
    (project / "teams.yaml").write_text(teams, encoding="utf-8")
    (project / "dpsync.ids.yaml").write_text(section("acme/teams/a: x"), encoding="utf-8")
    commit(project)

    assert Address.parse("acme/teams/a") in load(project / "dpsync.yaml", {}).entries
    before = base_of(project, project / "dpsync.ids.yaml").desired
    assert before is not None
    assert Address.parse("acme/teams/a") in before.entries
