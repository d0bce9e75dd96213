"""`dpsync fmt` puts the white space of the files in order, and changes no value, comment or other file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dpsync.api import load
from tests.cli.conftest import Run

ROOT = (
    "dpsync:  1\ninclude: [ teams.yaml ]\nenvironments: { prod: { overlay: prod.yaml } }\n"
    "organizations: {acme: {id: acme}}\n"
)
TEAMS = "organizations:\n    acme:\n        teams:  # of us\n            writers: {title: Writers}\n"
PROD = "organizations:\n    acme: { title:   Acme }\n"
FILES = {"teams.yaml": TEAMS, "prod.yaml": PROD, "other.yaml": "a:   1\n"}


def declared(folder: Path) -> dict[str, dict[str, object]]:
    """Return the declared fields by address, regardless of the file that declares them."""
    entries = load(folder / "dpsync.yaml", environment="prod").entries
    return {str(address): dict(entry.fields) for address, entry in entries.items()}


def test_fmt_formats_every_configuration_file(project: Callable[..., Path], run: Run) -> None:
    folder = project(ROOT, FILES)
    before = declared(folder)
    ended = run("fmt", "-C", str(folder))
    assert (ended.code, ended.out) == (0, "dpsync.yaml\nprod.yaml\nteams.yaml\n")
    assert (folder / "teams.yaml").read_text() == (
        "organizations:\n  acme:\n    teams:  # of us\n      writers: { title: Writers }\n"
    )
    assert (folder / "other.yaml").read_text() == "a:   1\n"
    assert declared(folder) == before
    assert run("fmt", "-C", str(folder)).out == ""


def test_fmt_check_flag_exits_2_without_writing(project: Callable[..., Path], run: Run) -> None:
    folder = project(ROOT, FILES)
    assert run("fmt", "-C", str(folder), "--check").code == 2
    assert (folder / "teams.yaml").read_text() == TEAMS
    run("fmt", "-C", str(folder))
    assert run("fmt", "-C", str(folder), "--check").code == 0


def test_fmt_diff_flag_shows_changes_without_writing(project: Callable[..., Path], run: Run) -> None:
    folder = project(ROOT, FILES)
    ended = run("fmt", "-C", str(folder), "--diff")
    assert ended.code == 0
    assert {"-dpsync:  1", "+dpsync: 1"} <= {*ended.out.splitlines()}
    assert (folder / "teams.yaml").read_text() == TEAMS


def test_fmt_accepts_file_or_directory_argument(project: Callable[..., Path], run: Run) -> None:
    folder = project(ROOT, FILES)
    assert run("fmt", "-C", str(folder), "other.yaml").out == "other.yaml\n"
    assert (folder / "teams.yaml").read_text() == TEAMS
    assert run("fmt", "-C", str(folder), ".").out == "dpsync.yaml\nprod.yaml\nteams.yaml\n"


def test_fmt_skips_invalid_yaml_and_formats_other_files(project: Callable[..., Path], run: Run) -> None:
    folder = project(ROOT, {**FILES, "teams.yaml": "organizations: [\n"})
    ended = run("fmt", "-C", str(folder))
    assert (ended.code, ended.out) == (5, "dpsync.yaml\nprod.yaml\n")
    assert "dpsync did not change teams.yaml" in ended.err
    assert (folder / "teams.yaml").read_text() == "organizations: [\n"


def test_fmt_formats_invalid_configuration(project: Callable[..., Path], run: Run) -> None:
    folder = project("dpsync:  1\norganizations: { acme: { id: acme, titel: A } }\n")
    assert (run("fmt", "-C", str(folder)).code, run("validate", "-C", str(folder)).code) == (0, 5)


def test_fmt_rejects_symlink(project: Callable[..., Path], run: Run, tmp_path: Path) -> None:
    """Otherwise, a file outside of the project is read and rewritten through a link."""
    folder = project("dpsync: 1\norganizations: { acme: { id: acme } }\n")
    outside = tmp_path / "outside.yaml"
    outside.write_text("a:   1\n")
    (folder / "link.yaml").symlink_to(outside)
    ended = run("fmt", "-C", str(folder), "link.yaml")
    assert (ended.code, ended.out) == (5, "")
    assert (outside.read_text(), (folder / "link.yaml").is_symlink()) == ("a:   1\n", True)


def test_fmt_diff_escapes_control_characters(project: Callable[..., Path], run: Run) -> None:
    folder = project('dpsync:  1\norganizations:  { acme: { id: "a\u202e" } }\n')
    ended = run("fmt", "-C", str(folder), "--diff")
    assert "\u202e" not in ended.out + ended.err


def test_fmt_reports_exceeded_yaml_nesting_limit(project: Callable[..., Path], run: Run) -> None:
    folder = project(ROOT, {**FILES, "teams.yaml": "a: " + "[" * 101 + "]" * 101 + "\n"})
    ended = run("fmt", "-C", str(folder), "teams.yaml")
    assert ended.code == 5
    assert "DP105" in ended.err
    assert "valid YAML" not in ended.err
