"""`import` without `--organization`: the only organization, or a question if the token sees several."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run

ADA = {"id": "ada", "displayName": "Ada", "email": "ada@acme.example"}


@pytest.fixture
def two(platform: ThreadedServer) -> ThreadedServer:
    """Serve two organizations of which ada is a member."""
    members = [{"user": "ada", "role": "admin"}]
    platform.reset(
        {
            "users": [ADA],
            "tokens": {"ada-token": "ada"},
            "organizations": [
                {"id": "acme", "title": "Acme", "members": members},
                {"id": "globex", "title": "Globex \u202e", "members": members},
            ],
        }
    )
    return platform


@pytest.mark.usefixtures("two")
def test_import_without_terminal_lists_organizations(run: Run, tmp_path: Path) -> None:
    """Otherwise, an import for one team also writes, and later deletes in, organizations of others."""
    target = tmp_path / "new"
    ended = run("import", "-C", str(target))
    assert (ended.code, ended.out, target.exists()) == (64, "", False)
    assert "The token can read 2 organizations. Choose one organization:" in ended.err
    assert f"dpsync import -C {target} --organization acme  Acme\n" in ended.err
    assert f"dpsync import -C {target} --organization globex  Globex" in ended.err
    assert "\u202e" not in ended.err


@pytest.mark.usefixtures("two")
def test_import_in_terminal_asks_for_organization(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("nobody\nglobex\n"))
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    ended = run("import", "-C", str(tmp_path / "new"))
    assert ended.code == 0, ended.err
    assert "  acme  Acme" in ended.err
    assert (tmp_path / "new/globex").is_dir()
    assert not (tmp_path / "new/acme").exists()


@pytest.mark.usefixtures("two")
def test_import_of_named_organizations_asks_no_question(run: Run, tmp_path: Path) -> None:
    ended = run("import", "-C", str(tmp_path), "--organization", "acme", "--organization", "globex")
    assert ended.code == 0, ended.err
    assert (tmp_path / "acme").is_dir()
    assert (tmp_path / "globex").is_dir()
