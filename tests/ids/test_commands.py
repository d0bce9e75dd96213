"""The commands read the ids file that belongs to their platform, over real HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.ids.test_file import section

pytestmark = pytest.mark.usefixtures("platform")
WRONG = section("acme/team/a: x")


@pytest.mark.parametrize("command", ["plan", "drift", "apply", "import"])
def test_commands_read_local_ids_file_for_localhost(command: str, run: Run, example: Path) -> None:
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
def test_commands_read_ids_file_from_option(command: str, run: Run, example: Path) -> None:
    (example / "mine.yaml").write_text(WRONG, encoding="utf-8")
    ended = run(command, "-C", str(example), "--ids", "mine.yaml")

    assert (ended.code, "mine.yaml:3:5" in ended.err) == (5, True)


def test_missing_ids_file_option_is_noted(run: Run, example: Path) -> None:
    ended = run("plan", "-C", str(example), "--ids", "mine.yaml")

    assert ended.code == 0
    assert f"note: {example / 'mine.yaml'} does not exist yet, so dpsync knows no ids" in ended.err
