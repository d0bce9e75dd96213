"""Commands that read and edit files with `organization: acme` at the top."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change

from .test_command import committed

ROOT = """\
dpsync: 1
include: [people.yaml]
policy: { watch: [teams] }
organization: acme
id: acme
title: Acme
"""
PEOPLE = """\
organization: acme
members: { lin@acme.example: create }
teams:
  writers: { title: Technical writers }   # who may publish
"""
OVERLAY = "organization: acme\ntitle: Another\n"


@pytest.fixture
def directory(project: Callable[..., Path], platform: ThreadedServer) -> Path:
    del platform
    made = project(ROOT, {"people.yaml": PEOPLE})
    committed(made)
    return made


def test_validate_names_file_missing_from_include(directory: Path, run: Run) -> None:
    """Otherwise, its entries look as if somebody removed them, and `prune` deletes their objects."""
    (directory / "dpsync.yaml").write_text(ROOT.replace("include: [people.yaml]\n", ""), encoding="utf-8")
    ended = run("validate", "-C", str(directory))
    assert "people.yaml" in ended.err
    assert "DP130" in ended.err


def test_fmt_leaves_flat_files_unchanged(directory: Path, run: Run) -> None:
    assert run("fmt", "--check", "-C", str(directory)).code == 0


def test_import_update_and_add_edit_flat_files(directory: Path, platform: ThreadedServer, run: Run) -> None:
    change(platform, "/orgs/acme", title="Acme Inc")
    change(platform, "/orgs/acme/members/lin", role="edit")
    ended = run("import", "-C", str(directory), "--update", "acme#title", "acme/members/*")
    assert ended.code == 0, ended.out + ended.err
    ended = run("import", "-C", str(directory), "--add", "acme/teams/[Sales]", "--force")
    assert ended.code == 0, ended.out + ended.err
    assert (directory / "dpsync.yaml").read_text(encoding="utf-8") == ROOT.replace("Acme", "Acme Inc")
    people = PEOPLE.replace("create", "edit") + "  sales: { title: Sales }\n"
    assert (directory / "people.yaml").read_text(encoding="utf-8") == people


def test_import_into_flat_overlay_keeps_flat_form(
    directory: Path, platform: ThreadedServer, run: Run
) -> None:
    overlay = directory / "over.yaml"
    overlay.write_text(OVERLAY, encoding="utf-8")
    committed(directory)
    flags = ("-f", "dpsync.yaml", "-f", "over.yaml", "--into", "over.yaml", "--force")
    change(platform, "/orgs/acme/members/lin", role="edit")
    ended = run("import", "-C", str(directory), *flags, "--update", "acme#title", "acme/members/*")
    assert ended.code == 0, ended.out + ended.err
    text = overlay.read_text(encoding="utf-8")
    assert text.startswith("organization: acme\ntitle: Acme\n")
    assert "organizations" not in text
    assert "lin@acme.example: edit" in text or "{ role: edit }" in text


def test_import_update_expands_short_member_entry(
    directory: Path, platform: ThreadedServer, run: Run
) -> None:
    change(platform, "/orgs/acme/members/lin", role="edit")
    change(platform, "/orgs/acme/members/lin/sso", "POST")
    ended = run("import", "-C", str(directory), "--update", "acme/members/*#sso", "--force")
    assert ended.code == 0, ended.out + ended.err
    text = (directory / "people.yaml").read_text(encoding="utf-8")
    assert "members: { lin@acme.example: { role: create, sso: true } }\n" in text
