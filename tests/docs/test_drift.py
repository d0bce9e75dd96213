"""The commands that docs/drift.md shows are run after what it says has happened, and print what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpsync.cli.main import main
from dpsync.server.thread import ThreadedServer

from .examples import happen, lay_out
from .markdown import DOCS, sections
from .test_plan import shown

PAGE = DOCS / "drift.md"
TOP = next(section for section in sections(PAGE) if section.level == 1)


def without_commit(text: str) -> str:
    return re.sub(r"HEAD \([0-9a-f]{12}\)", "HEAD (…)", text)


def test_the_commands_print_what_the_page_shows(
    platform: ThreadedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lay_out(TOP, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    happen(TOP, platform.url)
    monkeypatch.setenv("DPSYNC_URL", platform.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
    for name in ("DPSYNC_FILE", "DPSYNC_ENV", "DPSYNC_TOKEN_FILE", "CI"):
        monkeypatch.delenv(name, raising=False)
    code = 0
    for command, output in shown([TOP]):
        if command == "echo $?":
            assert output == f"{code}\n"
            continue
        with pytest.raises(SystemExit) as ended:
            main(command.split()[1:])
        code = int(ended.value.code or 0)
        assert without_commit(capsys.readouterr().out) == without_commit(output), command
