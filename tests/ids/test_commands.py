"""The commands read the ids file that belongs to their platform, over real HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.ids.test_file import section

pytestmark = pytest.mark.usefixtures("platform")
WRONG = section("acme/team/a: x")


@pytest.mark.parametrize("command", ["plan", "drift", "apply", "import"])
def test_on_this_machine_the_local_file_is_read(command: str, run: Run, example: Path) -> None:
    (example / "dpsync.ids.yaml").write_text(WRONG, encoding="utf-8")
    more = ("--update", "acme/teams") if command == "import" else ()
    fine = run(command, "-C", str(example), *more)
    (example / ".dpsync").mkdir()
    (example / ".dpsync" / "ids.yaml").write_text(WRONG, encoding="utf-8")
    wrong = run(command, "-C", str(example), *more)

    assert "DP151" not in fine.err
    assert wrong.code == 5
    assert "error[DP151]" in wrong.err
    assert f"{example / '.dpsync' / 'ids.yaml'}:3:5" in wrong.err


@pytest.mark.parametrize("command", ["plan", "drift", "apply"])
def test_another_file_is_read_when_it_is_named(command: str, run: Run, example: Path) -> None:
    (example / "mine.yaml").write_text(WRONG, encoding="utf-8")
    ended = run(command, "-C", str(example), "--ids", "mine.yaml")

    assert (ended.code, "mine.yaml:3:5" in ended.err) == (5, True)


def test_one_that_is_named_and_not_there_is_said(run: Run, example: Path) -> None:
    ended = run("plan", "-C", str(example), "--ids", "mine.yaml")

    assert ended.code == 0
    assert f"note: {example / 'mine.yaml'} does not exist yet, so dpsync knows no ids" in ended.err
