"""Each printed command about the ids file, run as it is printed, ends its question and does no more."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Run
from tests.cli.test_git_base import git

CONFIGURATION = """\
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
WRITERS = "writers: { title: Technical writers }"


@dataclass
class Desk:
    """A project that is live, below another directory than the one that commands are started in."""

    root: Path
    ids: Path
    platform: ThreadedServer

    def edit(self, file: Path, before: str, after: str) -> None:
        text = file.read_text("utf-8")
        assert before in text
        file.write_text(text.replace(before, after), "utf-8")

    def lines(self) -> set[str]:
        return {line.strip() for line in self.ids.read_text("utf-8").splitlines() if ": " in line}


def another_key_has_its_object(desk: Desk) -> None:
    desk.edit(
        desk.ids,
        "    acme/teams/writers: writers",
        "    acme/teams/authors: writers\n    acme/teams/writers: writers",
    )
    desk.edit(desk.root, WRITERS, f"{WRITERS}\n      authors: {{ title: Authors }}")


def another_one_has_its_name(desk: Desk) -> None:
    by_hand(desk.platform, "PATCH", "/orgs/acme/teams/writers", {"title": "Press"})
    by_hand(desk.platform, "PUT", "/orgs/acme/teams", {"title": "Technical writers"})


def another_one_has_its_earlier_name(desk: Desk) -> None:
    by_hand(desk.platform, "PUT", "/orgs/acme/teams", {"title": "Press"})
    desk.edit(desk.root, WRITERS, "writers: { title: Authors, previously: Press }")


def it_was_removed_and_is_back_under_another_name(desk: Desk) -> None:
    desk.edit(desk.root, f"      {WRITERS}\n", "")
    git(desk.root.parent, "init", "-q", "-b", "main")
    git(desk.root.parent, "add", ".")
    git(desk.root.parent, "commit", "-q", "-m", "without it")
    by_hand(desk.platform, "PATCH", "/orgs/acme/teams/writers", {"title": "Press"})
    desk.edit(desk.root, "    teams:\n", f"    teams:\n      {WRITERS}\n")


def it_is_the_line_of_another_kind(desk: Desk) -> None:
    desk.edit(desk.ids, "acme/teams/writers: writers", "acme/teams/writers: internal-handbook")


def swap_two_lines(desk: Desk) -> None:
    text = desk.ids.read_text("utf-8")
    sales = next(line for line in desk.lines() if "teams/sales" in line)
    swapped = f"acme/teams/sales: writers\n    acme/teams/writers: {sales.partition(': ')[2]}"
    text = text.replace("    acme/teams/writers: writers\n", "").replace(sales, swapped)
    desk.ids.write_text(text, "utf-8")
    git(desk.root.parent, "init", "-q", "-b", "main")
    git(desk.root.parent, "add", desk.root.name)
    git(desk.root.parent, "commit", "-q", "-m", "files")


def it_has_two_lines(desk: Desk) -> None:
    desk.edit(
        desk.ids, "acme/teams/writers: writers", "acme/teams/writers: writers\n    acme/teams/writers: legacy"
    )


def a_merge_has_left_its_marks(desk: Desk) -> None:
    both = "    acme/teams/writers: {}\n"
    marked = f"<<<<<<< ours\n{both.format('writers')}=======\n{both.format('legacy')}>>>>>>> theirs"
    desk.edit(desk.ids, "    acme/teams/writers: writers", marked)


STORIES: dict[str, tuple[Callable[[Desk], None], int]] = {
    "DP243": (swap_two_lines, 1),
    "DP311": (another_key_has_its_object, 2),
    "DP312": (another_one_has_its_name, 1),
    "DP313": (another_one_has_its_earlier_name, 1),
    "DP314": (it_was_removed_and_is_back_under_another_name, 1),
    "DP315": (it_is_the_line_of_another_kind, 1),
    "DP153": (it_has_two_lines, 1),
    "DP154": (a_merge_has_left_its_marks, 1),
}
"""By code: what happened, and how many commands are printed."""


@pytest.fixture
def desk(run: Run, platform: ThreadedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    directory = tmp_path / "a project"
    directory.mkdir()
    (directory / "dpsync.yaml").write_text(CONFIGURATION, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("apply", *FLAGS, "--yes").code == 0
    assert run("ids", *FLAGS).code == 0
    return Desk(directory / "dpsync.yaml", directory / "who is.yaml", platform)


FLAGS = ("-C", "a project", "--ids", "who is.yaml")


def asked(run: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("plan", *FLAGS, "--format", "json").out).get("findings", [])
    return found


def printed(diagnostics: list[dict[str, Any]]) -> set[str]:
    texts = [text for one in diagnostics for text in (one["hint"], *(way["add"] for way in one["answers"]))]
    return {command for text in texts for command in re.findall(r"dpsync ids [^;`\n]*", text or "")}


@pytest.mark.parametrize("code", STORIES)
def test_printed_ids_command_resolves_diagnostic(
    code: str, desk: Desk, run: Run, platform: ThreadedServer
) -> None:
    happened, number = STORIES[code]
    happened(desk)
    diagnostics = asked(run)
    assert {one["code"] for one in diagnostics} == {code}
    commands = printed(diagnostics)
    assert len(commands) == number, diagnostics
    before, others = desk.ids.read_text("utf-8"), {line for line in desk.lines() if "writers" not in line}
    for command in sorted(commands):
        desk.ids.write_text(before, "utf-8")
        platform.app.requests.clear()
        ended = run(*shlex.split(command)[1:])
        assert ended.code == 0, command + ended.out + ended.err
        assert {request[0] for request in platform.app.requests} <= {"GET"}
        assert others <= desk.lines()
        assert code not in {one["code"] for one in asked(run)}, command
