"""The ids file in the circumstances that it is there for: cut off, deleted, of two environments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsync.api import IdsOnDisk, Session, load
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.diagnostic import DiagnosticError
from dpsync.server.process.threaded_server import ThreadedServer
from tests.direct import writing
from tests.planner.lab import world

from .test_apply import EVERYTHING, HOLDS, Lab

REGISTRY = load_registry()


@pytest.fixture
def lab(server: ThreadedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    server.reset(world(**HOLDS))
    (tmp_path / "project").mkdir()
    return Lab(server, tmp_path / "project")


def test_truncated_ids_file_never_changes_plan(lab: Lab) -> None:
    """Never something else: what it does not say any more, names tell."""
    lab.apply()
    whole = lab.file.read_text(encoding="utf-8")
    read = 0
    for length in range(0, len(whole), 7):
        lab.file.write_text(whole[:length], encoding="utf-8")
        try:
            session = lab.session()
        except DiagnosticError:
            continue
        with writing(lab.server) as client:
            assert session.plan(client).plan.changes == (), whole[:length]
        read += 1
    assert read > 5


def test_deleted_ids_file_is_rebuilt_by_apply(lab: Lab) -> None:
    lab.apply()
    lines = lab.lines
    lab.file.unlink()
    report = lab.apply()
    assert report.outcomes == ()
    assert lab.lines == lines
    assert set(lines) == EVERYTHING


def test_two_environments_share_one_ids_file(
    server: ThreadedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is an organization of its own; names are exchanged in both, by hand in one and in the files."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ada = {"id": "ada", "displayName": "ada", "email": "ada@acme.example"}
    members = [{"user": "ada", "role": "admin"}]

    def organization(id: str) -> dict[str, Any]:
        spaces = [{"id": f"{id}-{n}", "title": title} for n, title in enumerate(("Guides", "News"))]
        return {"id": id, "title": id, "members": members, "spaces": spaces}

    server.reset(
        {
            "users": [ada],
            "tokens": {"token": "ada"},
            "organizations": [organization(id) for id in ("stage", "live")],
        }
    )
    root, disk = tmp_path / "dpsync.yaml", IdsOnDisk(tmp_path / "ids.yaml", REGISTRY)

    def apply(id: str, one: str, other: str) -> None:
        spaces = f"{{ g: {{ title: {one} }}, n: {{ title: {other} }} }}"
        root.write_text(f'dpsync: 1\norganizations: {{ acme: {{ id: "${{ORG}}", spaces: {spaces} }} }}\n')
        session = Session(load(root, {"ORG": id}, REGISTRY), REGISTRY, ids=disk.read())
        with writing(server) as client:
            assert session.apply(client, session.plan(client), ids=disk).converged

    def titles(id: str) -> dict[str, str]:
        with writing(server) as client:
            return {one["id"]: one["title"] for one in client.pages(f"/orgs/{id}/spaces")}

    for id in ("stage", "live"):
        apply(id, "Guides", "News")
    with writing(server) as client:
        for id, title in (("live-0", "News"), ("live-1", "Guides")):
            client.send("PATCH", f"/spaces/{id}", {"title": title}, repeatable=False)
    apply("stage", "News", "Guides")
    apply("live", "Guides", "News")
    assert titles("stage") == {"stage-0": "News", "stage-1": "Guides"}
    assert titles("live") == {"live-0": "Guides", "live-1": "News"}
