"""What an apply has printed is made again from its journal: the same bytes, the same exit code."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from dpsync.client.client import WriteClient
from dpsync.model.journal import EVENT_ADAPTER
from dpsync.model.text import INVISIBLE_CHARACTERS
from dpsync.render.formats import FORMATS
from tests.cli.conftest import Run
from tests.cli.held import holding
from tests.cli.test_apply_ending import TEXT, breaking
from tests.cli.test_interrupted import environment, start
from tests.patience import PATIENCE
from tests.render.hostile import forge

Project = Callable[..., Path]


def newest(directory: Path) -> Path:
    journals = (directory / ".dpsync" / "journal").glob("*.jsonl")
    return max(journals, key=lambda path: path.stat().st_mtime_ns)


def without_course(printed: str) -> str:
    """Return the output of an apply without its steps, its time and the line about later plans."""
    lines = re.sub(r"^(?:\[\d+/\d+\]|Later plans) .*\n", "", printed, flags=re.MULTILINE)
    return re.sub(r", in \d+ s\b", "", lines)


@pytest.mark.parametrize("flags", [[], ["-v"], ["-q", "--summary"], ["--rehearse"]], ids=" ".join)
@pytest.mark.usefixtures("platform")
def test_show_journal_reprints_apply_output(
    flags: list[str], run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = project(TEXT)
    applied = run("apply", "-C", str(at), "--yes", *flags)
    monkeypatch.delenv("DPSYNC_URL")
    again = [flag for flag in flags if flag != "--rehearse"]
    shown = run("show", str(newest(at)), "-C", str(at), *again)
    assert (shown.code, applied.code) == (0, 0)
    assert shown.out == without_course(applied.out)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.usefixtures("platform")
def test_show_journal_reprints_failed_apply_in_every_format(
    name: str, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = project(TEXT)
    with monkeypatch.context() as patched:
        patched.setattr(WriteClient, "send", breaking(2, RuntimeError("x")))
        applied = run("apply", "-C", str(at), "--yes", "--parallelism", "1", "--format", name)
    shown = run("show", str(newest(at)), "-C", str(at), "--format", name)
    assert (shown.code, applied.code) == (3, 3)
    assert shown.out == without_course(applied.out)


@pytest.mark.usefixtures("platform")
def test_show_journal_suggests_commands_with_apply_flags(run: Run, project: Project) -> None:
    at = project(TEXT)
    applied = run("apply", "-C", str(at), "--yes", "--ids", "other.ids.yaml", "--format", "json")
    assert run("show", str(newest(at)), "--format", "json").out == applied.out
    flags = json.loads(newest(at).read_text().splitlines()[0])["flags"]
    assert (flags["directory"], flags["ids"]) == (str(at), "other.ids.yaml")


@pytest.mark.usefixtures("platform")
def test_show_journal_prints_apply_time_to_stderr(run: Run, project: Project) -> None:
    at = project(TEXT)
    run("apply", "-C", str(at), "--yes")
    assert run("show", str(newest(at))).err.startswith("Applied by dpsync ")
    assert run("show", str(newest(at)), "--quiet").err == ""


def test_show_journal_of_killed_apply_exits_3(run: Run, example: Path, tmp_path: Path) -> None:
    with holding(3) as (server, app):
        process = start(example, environment(server, tmp_path))
        assert app.reached.wait(PATIENCE)
        process.kill()
        process.communicate(timeout=PATIENCE)
        app.let_go()
    shown = run("show", str(newest(example)))
    assert shown.code == 3
    assert "Applied: 2 changed; 1 step unknown, 23 not tried." in shown.out
    assert (
        "the last line of the journal is missing, because the apply was killed or is still running"
        in shown.out
    )
    assert "Not verified. To see the remaining changes: dpsync plan" in shown.out


@pytest.mark.usefixtures("platform")
def test_show_reads_copied_journal(run: Run, project: Project, tmp_path: Path) -> None:
    at = project(TEXT)
    applied = run("apply", "-C", str(at), "--yes", "--format", "markdown").out
    moved = Path(shutil.copy(newest(at), tmp_path / "journal.jsonl"))
    assert run("show", str(moved), "--format", "markdown").out == applied.replace(str(newest(at)), str(moved))


def test_show_exits_5_for_truncated_journal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl").write_text('{"event":"journal","format":"dpsync.jour')
    ended = run("show", str(tmp_path / "cut.jsonl"))
    assert (ended.code, ended.out) == (5, "")
    assert "error[DP144]" in ended.err


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.usefixtures("platform")
def test_show_escapes_forged_journal_in_every_format(
    name: str, run: Run, project: Project, tmp_path: Path
) -> None:
    """Whoever may write a journal may have it say anything, and nothing that is more than text."""
    at = project(TEXT)
    assert run("apply", "-C", str(at), "--yes").code == 0
    lines = newest(at).read_text(encoding="utf-8").splitlines()
    journal = tmp_path / "forged.jsonl"
    journal.write_text("".join(f"{forge_line(line)}\n" for line in lines), encoding="utf-8")
    shown = run("show", str(journal), "--format", name, *(["-vv"] if name == "text" else []))
    assert shown.code in (0, 3), shown.err
    harmless(shown.out, name)
    harmless(shown.err, "text")


def forge_line(line: str) -> str:
    """Make every text of a journal line hostile and keep the event's name first."""
    return forge(line, EVENT_ADAPTER.validate_json).replace('{"event": ', '{"event":', 1)


def harmless(printed: str, format_: str) -> None:
    """Raise AssertionError where a text has become more than text, or a format is broken."""
    assert not re.search(f"(?!\n)[{INVISIBLE_CHARACTERS}]", printed)
    assert "\n::error::y" not in printed
    if format_ == "junit":
        etree.fromstring(printed.encode())
    if format_ in ("json", "sarif", "codequality"):
        json.loads(printed)
