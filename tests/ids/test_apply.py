"""Apply writes the ids file: what it recognises and makes, what it deletes, and whatever ends it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from dpsync.api import IdsOnDisk, Options, Session, load
from dpsync.client.client import WriteClient
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.ids import IdsEdits
from dpsync.model.journal import Report
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.direct import transport, writing
from tests.identity.past import _Dead, _Dies
from tests.planner.lab import world

REGISTRY = load_registry()
BODY = """
teams:
  writers: { title: Writers }
  sales: { title: Sales }
spaces:
  guides: { title: Guides }
sites:
  docs:
    title: Docs
    structure:
      - type: section
        key: guides
        title: Guides
        path: guides
        children: [{ type: space, key: en, space: guides, path: en }]
"""
HOLDS: dict[str, Any] = {"teams": [{"id": "t-writers", "title": "Writers"}], "spaces": [], "sites": []}


class Lab:
    """One platform, one project and its ids file."""

    def __init__(self, server: ThreadedServer, project: Path) -> None:
        self.server = server
        self.project = project
        self.file = project / "ids.yaml"
        self.disk = IdsOnDisk(self.file, REGISTRY)

    def session(self, body: str = BODY, policy: str = "{}") -> Session:
        below = indent(dedent(body).strip("\n"), "    ")
        text = f"dpsync: 1\npolicy: {policy}\norganizations:\n  acme:\n    id: acme\n{below}\n"
        (self.project / "dpsync.yaml").write_text(text, encoding="utf-8")
        return Session(load(self.project / "dpsync.yaml", {}, REGISTRY), REGISTRY, 1, ids=self.disk.read())

    def record(self, body: str = BODY, policy: str = "{}", options: Options | None = None) -> None:
        """Apply a plan without changes."""
        session = self.session(body, policy)
        with writing(self.server) as client:
            planned = session.plan(client, options)
            assert planned.plan.empty
            session.record(client, planned, self.disk)

    def apply(
        self, body: str = BODY, policy: str = "{}", *, client: WriteClient | None = None,
        options: Options | None = None, store: Any = None,
    ) -> Report:  # fmt: skip
        session = self.session(body, policy)
        with client or writing(self.server) as open_:
            return session.apply(open_, session.plan(open_, options), ids=store or self.disk)

    @property
    def lines(self) -> dict[str, str]:
        """What the file says of this world, by address below the organization."""
        with writing(self.server) as client:
            client.get("/user")
            found = self.disk.read().lines(client.platform, "acme")
        return {
            str(address).removeprefix("acme/"): " ".join(filter(None, (one.id, one.second_id)))
            for address, one in found.items()
        }

    @property
    def marked(self) -> set[str]:
        """The addresses, below the organization, of the lines that are marked as kept."""
        with writing(self.server) as client:
            client.get("/user")
            found = self.disk.read().lines(client.platform, "acme")
        return {str(address).removeprefix("acme/") for address, line in found.items() if line.kept}


@pytest.fixture
def lab(server: ThreadedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    server.reset(world(**HOLDS))
    (tmp_path / "project").mkdir()
    return Lab(server, tmp_path / "project")


EVERYTHING = {
    "teams/writers", "teams/sales", "spaces/guides", "sites/docs", "sites/docs/structure/guides",
    "sites/docs/structure/guides/en",
}  # fmt: skip


def test_apply_writes_matched_and_created_ids_to_file(lab: Lab) -> None:
    report = lab.apply()
    lines = lab.lines

    assert report.complete
    assert set(lines) == EVERYTHING
    assert lines["teams/writers"] == "t-writers"
    section, place = lines["sites/docs/structure/guides"].split()
    assert section != place == lines["sites/docs/structure/guides/en"]


def test_apply_writes_only_selected_ids_to_file(lab: Lab) -> None:
    lab.apply(options=Options(select=("acme/teams/sales",)))

    assert set(lab.lines) == {"teams/sales"}


def test_apply_removes_ids_line_only_of_deleted_objects(lab: Lab) -> None:
    lab.apply()
    without = BODY.replace("  sales: { title: Sales }\n", "")
    lab.apply(without)
    kept = set(lab.lines)
    lab.apply(without, "{ prune: [teams], removed: [teams/sales], limits: { deletes: 9, percent: 100 } }")

    assert kept == EVERYTHING
    assert set(lab.lines) == EVERYTHING - {"teams/sales"}


WITHOUT_SALES = BODY.replace("  sales: { title: Sales }\n", "")


def test_apply_marks_kept_objects_of_removed_entries(lab: Lab) -> None:
    """Without the mark, each later new team would raise a question about the kept one."""
    lab.apply()
    assert lab.marked == set()
    lab.record(WITHOUT_SALES)
    assert lab.marked == {"teams/sales"}


def test_apply_marks_everything_inside_a_kept_object(lab: Lab) -> None:
    lab.apply(f"{BODY}  blog: {{ title: Blog }}\n")
    lab.record(f"{BODY[: BODY.index('sites:')]}sites:\n  blog: {{ title: Blog }}\n")
    assert lab.marked == {address for address in EVERYTHING if address.startswith("sites/")}


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        (Options(select=("acme/spaces/*",)), "{}"),
        (Options(delete=False), "{ prune: [teams] }"),
    ],
    ids=["outside of the selection", "its deletion is postponed"],
)
def test_object_of_interrupted_deletion_is_not_marked_kept(lab: Lab, options: Options, policy: str) -> None:
    """A mark would say that the removal is done, while a plan without these options deletes the object."""
    lab.apply()
    lab.record(WITHOUT_SALES, policy, options=options)
    assert lab.marked == set()


def test_apply_of_selected_scope_marks_kept_objects(lab: Lab) -> None:
    lab.apply()
    lab.record(WITHOUT_SALES, options=Options(select=("acme/teams/*",)))
    assert lab.marked == {"teams/sales"}


@pytest.mark.parametrize("key", ["sales", "vendors"], ids=["same address", "another address"])
def test_new_entry_for_kept_object_removes_mark(lab: Lab, key: str) -> None:
    lab.apply()
    lab.record(WITHOUT_SALES)
    lab.apply(BODY.replace("  sales:", f"  {key}:"))
    assert lab.marked == set()
    assert f"teams/{key}" in lab.lines


def test_each_local_server_dataset_has_own_ids_section(lab: Lab) -> None:
    lab.apply()
    first = lab.disk.read()
    lab.server.reset(world(**HOLDS))

    assert lab.lines == {}
    lab.apply()
    assert set(lab.lines) == EVERYTHING
    assert len(lab.disk.read().sections) == 2
    assert lab.disk.read().sections.items() >= first.sections.items()


class DyingWith:
    """A store that writes no more when the process is dead."""

    def __init__(self, lab: Lab, transport: _Dies) -> None:
        self.lab = lab
        self.transport = transport

    def edit(self, platform: str, edits: IdsEdits) -> None:
        if not self.transport.dead:
            self.lab.disk.edit(platform, edits)


@pytest.mark.parametrize("when", ["before", "after"])
def test_next_apply_completes_ids_file_after_crash(lab: Lab, when: str) -> None:
    died = 0
    while True:
        lab.server.reset(world(**HOLDS))
        dying = _Dies(transport(lab.server), died, when)
        client = WriteClient(lab.server.url, "token", transport=dying)
        with suppress(_Dead):
            lab.apply(client=client, store=DyingWith(lab, dying))
        if not dying.dead:
            break
        died += 1
        assert lab.apply().complete
        assert set(lab.lines) == EVERYTHING
    assert died > 4


def test_aborted_apply_keeps_ids_of_created_objects(lab: Lab) -> None:
    """Whatever ends the apply: here something that nobody catches."""

    def gone(_outcome: object) -> None:
        raise KeyboardInterrupt

    session = lab.session()
    with writing(lab.server) as client, pytest.raises(KeyboardInterrupt):
        session.apply(client, session.plan(client), ids=lab.disk, report=gone)

    assert "teams/writers" in lab.lines


def test_two_applies_keep_both_ids_lines(lab: Lab) -> None:
    one, other = (
        lab.session("teams: { writers: { title: Writers } }"),
        lab.session("spaces: { g: { title: G } }"),
    )
    with writing(lab.server) as client:
        planned = [(session, session.plan(client)) for session in (one, other)]
        for session, plan in planned:
            if plan.plan.empty:
                assert session.record(client, plan, lab.disk) is None
            else:
                session.apply(client, plan, ids=lab.disk)

    assert set(lab.lines) == {"teams/writers", "spaces/g"}


def test_unwritable_ids_file_does_not_stop_apply(lab: Lab) -> None:
    session = lab.session()
    lab.file.mkdir()
    with writing(lab.server) as client:
        report = session.apply(client, session.plan(client), ids=lab.disk)

    assert report.converged
    assert not report.complete
    assert "cannot be written: the path is a directory" in str(report.unrecorded)


# By the command.


@pytest.fixture
def ids(example: Path, platform: ThreadedServer) -> Path:
    del platform
    return example / ".dpsync" / "ids.yaml"


def test_plan_and_drift_do_not_write_ids_file(run: Run, example: Path, ids: Path) -> None:
    run("plan", "-C", str(example))
    run("drift", "-C", str(example))

    assert not ids.exists()


def test_unconfirmed_apply_does_not_write_ids_file(run: Run, example: Path, ids: Path) -> None:
    assert run("apply", "-C", str(example), "--no-input").code == 4
    assert not ids.exists()


def test_apply_without_changes_still_writes_ids(run: Run, example: Path, ids: Path) -> None:
    """Otherwise, what its key tells for certain gets a line."""
    run("apply", "--yes", "-C", str(example))
    first = ids.read_bytes()
    ids.unlink()
    again = run("apply", "-C", str(example))

    assert again.code == 0
    assert ids.read_bytes() == first


@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.usefixtures("ids")
def test_apply_exits_with_3_when_ids_unwritable(changed: bool, run: Run, example: Path) -> None:
    if not changed:
        run("apply", "--yes", "-C", str(example))
    ended = run("apply", "--yes", "-C", str(example), "--ids", "nowhere/ids.yaml")

    assert ended.code == 3
    assert "nowhere/ids.yaml cannot be written: No such file or directory" in ended.out + ended.err
    assert run("plan", "-C", str(example), "--detailed-exitcode").code == 0


@pytest.mark.usefixtures("platform")
def test_apply_leaves_checkout_unchanged_with_external_ids_file(
    run: Run, example: Path, tmp_path: Path
) -> None:
    before = sorted(example.rglob("*"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ended = run(
        "apply", "--yes", "-C", str(example), "--ids", str(elsewhere / "ids.yaml"),
        "--journal", str(elsewhere / "journal"),
    )  # fmt: skip

    assert ended.code == 0
    assert sorted(example.rglob("*")) == before
    assert sorted(path.name for path in elsewhere.iterdir()) == ["ids.yaml", "journal"]


# Import.


@pytest.mark.usefixtures("platform")
def test_import_keeps_keys_recorded_in_ids_file(run: Run, tmp_path: Path) -> None:
    here = tmp_path / "here"
    first = run("import", "-C", str(here), "--organization", "acme")
    ids = here / ".dpsync" / "ids.yaml"
    renamed = ids.read_text(encoding="utf-8")
    for old, new in (
        ("acme/teams/sales:", "acme/teams/writers-2:"),
        ("acme/teams/technical-writers:", "acme/teams/authors:"),
        ("acme/sites/docs", "acme/sites/manual"),
        ("structure/news", "structure/latest"),
        ("    acme/", "    corp/"),
    ):
        assert old in renamed
        renamed = renamed.replace(old, new)
    assert first.code == 0
    there = tmp_path / "there"
    (there / ".dpsync").mkdir(parents=True)
    (there / ".dpsync" / "ids.yaml").write_text(renamed, encoding="utf-8")
    assert run("import", "-C", str(there), "--organization", "acme").code == 0
    written = (there / ".dpsync" / "ids.yaml").read_text(encoding="utf-8")
    assert sorted(written.splitlines()) == sorted(renamed.splitlines())
    assert run("plan", "-C", str(there), "--detailed-exitcode").code == 0
    assert "  authors:" in (there / "corp" / "teams.yaml").read_text(encoding="utf-8")
