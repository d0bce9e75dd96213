"""`dpsync ids`: what a reading recognises, what a person says, and files that a merge has left broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import yaml

from dpsync.config.ids_file import ids_schema
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Ran, Run

SCHEMAS = Path(__file__).parents[2] / "schemas"
CONFIGURATION = """
dpsync: 1
organizations:
  acme:
    id: acme
    teams:
      writers: { title: Technical writers }
      sales: { title: Sales }
    sites:
      handbook: { title: Internal handbook, basename: handbook }
"""
LINES = {
    "acme/teams/writers": "writers",
    "acme/teams/sales": "sales",
    "acme/sites/handbook": "internal-handbook",
}


class Desk:
    """A project, its ids file, and the command."""

    def __init__(self, run: Run, project: Path, server: ThreadedServer) -> None:
        self.run = run
        self.project = project
        self.file = project / ".dpsync" / "ids.yaml"
        self.world = f"world-{server.run_in_server(lambda: server.app.store.setting('world'))}"

    def ids(self, *arguments: str) -> Ran:
        return self.run("ids", "-C", str(self.project), *arguments)

    def holds(self, lines: dict[str, str], platform: str | None = None) -> Desk:
        self.file.parent.mkdir(exist_ok=True)
        section = {platform or self.world: {"acme": lines}}
        self.file.write_text(yaml.safe_dump(section), encoding="utf-8")
        return self

    @property
    def lines(self) -> dict[str, str]:
        found = yaml.safe_load(self.file.read_text(encoding="utf-8")) if self.file.exists() else None
        return dict((found or {}).get(self.world, {}).get("acme", {}))


@pytest.fixture
def desk(run: Run, project: Callable[[str], Path], platform: ThreadedServer) -> Desk:
    return Desk(run, project(CONFIGURATION), platform)


def test_ids_command_writes_lines_for_matched_entries(desk: Desk) -> None:
    first, again = desk.ids(), desk.ids()

    assert (first.code, again.code) == (0, 0)
    assert desk.lines == LINES
    assert "+ acme/teams/writers: writers\n" in first.out
    assert again.out.endswith("is up to date: 3 entries matched.\n")


def test_ids_check_flag_reports_missing_lines_without_writing(desk: Desk) -> None:
    ended = desk.ids("--check")

    assert (ended.code, desk.file.exists()) == (2, False)
    desk.ids()
    assert desk.ids("--check").code == 0


def test_ids_check_flag_reports_lines_of_missing_objects(desk: Desk) -> None:
    desk.holds(LINES | {"acme/teams/sales": "nobody", "acme/teams/old": "legacy"})
    ended = desk.ids("--check")

    assert ended.code == 2
    assert "acme/teams/sales: " in ended.out
    assert (
        "? acme/teams/old: dpsync found no entry for the id legacy, and keeps the line of the ids file"
        in ended.out
    )


def test_ids_command_keeps_line_of_removed_entry(desk: Desk) -> None:
    desk.holds(LINES | {"acme/teams/old": "legacy"})

    assert desk.ids("--check").code == 0
    desk.ids()
    assert desk.lines["acme/teams/old"] == "legacy"


def test_ids_command_ignores_other_local_server_datasets(desk: Desk) -> None:
    desk.holds({"acme/teams/sales": "writers"}, "world-0")
    desk.ids()

    assert desk.lines == LINES
    assert yaml.safe_load(desk.file.read_text(encoding="utf-8"))["world-0"] == {
        "acme": {"acme/teams/sales": "writers"}
    }


# What a person says.


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["--bind", "acme/teams/writers=legacy"], LINES | {"acme/teams/writers": "legacy"}),
        (
            ["--forget", "acme/teams/sales"],
            {name: id for name, id in LINES.items() if name != "acme/teams/sales"},
        ),
        (
            ["--move", "acme/teams/sales", "acme/teams/sellers"],
            {name.replace("teams/sales", "teams/sellers"): id for name, id in LINES.items()},
        ),
        (
            ["--move", "acme/teams/sales", "acme/teams/sellers", "--bind", "acme/teams/sales=legacy"],
            {name.replace("teams/sales", "teams/sellers"): id for name, id in LINES.items()}
            | {"acme/teams/sales": "legacy"},
        ),
    ],
)
def test_ids_command_options_edit_lines(arguments: list[str], lines: dict[str, str], desk: Desk) -> None:
    desk.holds(LINES)

    assert desk.ids(*arguments).code == 0
    assert desk.lines == lines


def test_ids_move_and_forget_include_child_lines(desk: Desk) -> None:
    below = "acme/sites/handbook/structure/people"
    desk.holds(LINES | {below: "section-1 place-1"})
    desk.ids("--move", "acme/sites/handbook", "acme/sites/manual")
    moved = desk.lines
    desk.ids("--forget", "acme/sites/manual")

    assert moved["acme/sites/manual/structure/people"] == "section-1 place-1"
    assert {name for name in desk.lines if "sites" in name} == set()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--bind", "acme/teams/writers"], "is not ADDRESS=ID"),
        (["--bind", "acme/teams/writers=two words"], "is not ADDRESS=ID"),
        (
            ["--bind", "acme/teams/writer=x"],
            'your files contain no entry acme/teams/writer. Did you mean "acme/teams/writers"?',
        ),
        (["--bind", "acme=x"], "acme is not the address of an entry that needs a line in the ids file"),
        (["--forget", "acme/teams/nobody"], "the ids file has no line for acme/teams/nobody"),
        (["--forget", "acme/team/nobody"], "is not the address of an entry"),
        (["--forget", "globex/teams/nobody"], '"globex" is not an organization of this configuration'),
        (
            ["--move", "acme/teams/sales", "acme/teams/writers"],
            "the ids file already has a line for acme/teams/writers",
        ),
        (["--move", "acme/teams/nobody", "acme/teams/x"], "the ids file has no line for acme/teams/nobody"),
        (["--check", "--forget", "acme/teams/sales"], "--check writes nothing"),
    ],
)
def test_invalid_ids_arguments_change_no_lines(arguments: list[str], why: str, desk: Desk) -> None:
    desk.holds(LINES)
    ended = desk.ids(*arguments)

    assert (ended.code, desk.lines) == (64, LINES)
    assert why in ended.err


def test_ids_bind_sends_no_request_to_remote_platform(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNC_URL", "https://nobody.invalid")
    monkeypatch.setenv("DPSYNC_TOKEN", "token-1")
    ended = desk.ids("--bind", "acme/teams/writers=team-1")

    assert ended.code == 0
    assert yaml.safe_load((desk.project / "dpsync.ids.yaml").read_text(encoding="utf-8")) == {
        "https://nobody.invalid": {"acme": {"acme/teams/writers": "team-1"}}
    }


# After a merge.


def conflict(desk: Desk, ours: str, theirs: str) -> None:
    desk.file.parent.mkdir(exist_ok=True)
    head = f"{desk.world}:\n  acme:\n    acme/sites/handbook: internal-handbook\n"
    text = f"{head}<<<<<<< HEAD\n    {ours}\n=======\n    {theirs}\n>>>>>>> feature\n"
    desk.file.write_text(text, encoding="utf-8")


def test_plan_with_ids_conflict_suggests_ids_command(desk: Desk) -> None:
    conflict(desk, "acme/teams/sales: sales", "acme/teams/sales: legacy")
    ended = desk.run("plan", "-C", str(desk.project))

    assert ended.code == 5
    assert "DP154" in ended.err
    assert f"dpsync ids -C {desk.project}\n" in ended.err


def test_ids_command_resolves_git_conflict_by_platform_state(desk: Desk) -> None:
    conflict(desk, "acme/teams/sales: sales", "acme/teams/sales: legacy\n    acme/teams/old: old")
    ended = desk.ids()

    assert ended.code == 0, ended.err
    assert desk.lines == LINES | {"acme/teams/old": "old"}


def test_ids_command_removes_line_of_renamed_key(desk: Desk) -> None:
    desk.holds(LINES | {"acme/teams/vendors": LINES["acme/teams/sales"], "acme/teams/old": "old"})
    ended = desk.ids("--check")
    assert ended.code == 2
    assert "- acme/teams/vendors: the id sales belongs to another address now" in ended.out
    assert desk.ids().code == 0
    assert desk.lines == LINES | {"acme/teams/old": "old"}


def test_duplicate_ids_line_warns_and_is_merged(desk: Desk) -> None:
    assert desk.ids().code == 0
    text = desk.file.read_text(encoding="utf-8")
    desk.file.write_text(text + text.splitlines()[-1] + "\n", encoding="utf-8")
    ended = desk.run("plan", "-C", str(desk.project))
    assert (ended.code, "has the same line twice" in ended.err) == (0, True)
    assert desk.ids().code == 0
    assert desk.file.read_text(encoding="utf-8") == text


def test_ids_command_resolves_two_lines_for_one_entry(desk: Desk) -> None:
    assert desk.ids().code == 0
    text = desk.file.read_text(encoding="utf-8")
    desk.file.write_text(text + "    acme/teams/sales: legacy\n", encoding="utf-8")
    ended = desk.run("plan", "-C", str(desk.project))
    assert (ended.code, "acme/teams/sales has two lines" in ended.err) == (5, True)
    assert f"dpsync ids -C {desk.project}\n" in ended.err
    assert desk.ids().code == 0
    assert desk.file.read_text(encoding="utf-8") == text


def test_ids_command_leaves_undecidable_git_conflict_unchanged(desk: Desk) -> None:
    conflict(desk, "acme/teams/old: one", "acme/teams/old: two")
    before = desk.file.read_text(encoding="utf-8")
    ended = desk.ids()

    assert (ended.code, desk.file.read_text(encoding="utf-8")) == (5, before)
    assert "the two sides of the merge have different ids for acme/teams/old" in ended.err


def test_ids_check_flag_leaves_git_conflict_unchanged(desk: Desk) -> None:
    conflict(desk, "acme/teams/sales: sales", "acme/teams/sales: legacy")
    before = desk.file.read_text(encoding="utf-8")

    assert desk.ids("--check").code == 2
    assert desk.file.read_text(encoding="utf-8") == before


# As data.


def test_ids_check_flag_json_matches_schema(desk: Desk) -> None:
    ended = desk.ids("--check", "--format", "json")
    document = json.loads(ended.out)
    jsonschema.validate(document, json.loads((SCHEMAS / "ids.schema.json").read_text()))

    assert (document["exit"], document["recognised"], document["written"]) == (2, 3, False)
    assert document["lines"][0] == {
        "address": "acme/sites/handbook", "what": "missing", "recorded": None, "found": "internal-handbook",
    }  # fmt: skip


def test_written_ids_file_matches_schema(desk: Desk) -> None:
    desk.ids()
    schema = json.loads((SCHEMAS / "ids-file.schema.json").read_text())
    jsonschema.validate(yaml.safe_load(desk.file.read_text(encoding="utf-8")), schema)


@pytest.mark.parametrize(
    "wrong",
    [
        {"acme": {}},
        {"https://a.example": []},
        {"https://a.example": {"o": {"acme/teams": "x"}}},
        {"https://a.example": {"o": {"acme/teams/a": None}}},
        {"https://a.example": {"o": {"acme/teams/a": "a b c"}}},
    ],
)
def test_ids_schema_refuses_invalid_files(wrong: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, ids_schema())
