"""The search for mutants that no test notices, and guards taken away, in a package of two functions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

from tests.mutants.places import sample

ROOT = Path(__file__).parents[1]


def searched(root: Path) -> str:
    """What the search prints about all mutants of the package."""
    run = subprocess.run(
        [
            sys.executable, "-m", "tests.mutants", "--root", root,
            "--packages", "toy", "--tests", "tests", "--seed", "7",
        ],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "XDG_CACHE_HOME": str(root / "cache")},
    )  # fmt: skip
    return run.stdout


def guarded(root: Path, rows: str) -> subprocess.CompletedProcess[str]:
    """What the search says of these rows of guards in `toy/numbers.py`."""
    (root / "docs").mkdir()
    (root / "docs" / "guards.md").write_text(f"### `toy/numbers.py`\n\n{rows}")
    return subprocess.run(
        [sys.executable, "-m", "tests.mutants.guards", "--root", root],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip


def test_a_mutant_is_killed_by_a_test_that_looks_and_survives_one_that_does_not(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    source = tmp_path / "toy" / "switches.py"
    source.write_text("def looked_at(on):\n    return not on\n\n\ndef only_run(on):\n    return not on\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_toy.py").write_text(
        "from toy.switches import looked_at, only_run\n\n"
        "def test_looks():\n    assert looked_at(False)\n\n"
        "def test_runs():\n    only_run(False)\n"
    )
    printed = searched(tmp_path)
    assert "toy/switches.py:6 core/ReplaceUnaryOperator_Delete_Not (1 of 1 tests)" in printed
    assert "  - return not on\n  +  on" in printed or "  - return not on\n  + return  on" in printed
    assert "seed 7: 2 mutants: 1 killed, 1 survived, 0 timeout; 50.0% noticed" in printed
    assert source.read_text().count("not on") == 2


def test_what_an_import_runs_is_tried_with_every_test_of_the_file(tmp_path: Path) -> None:
    """The first test that imports a module need not be the one that looks."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "bound.py").write_text("MOST = not None\n\n\ndef most():\n    return MOST\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_toy.py").write_text(
        "def test_imports():\n    import toy.bound\n\n"
        "import pytest\n\n"
        "@pytest.mark.parametrize('text', [ascii('\\x0c')])\n"
        "def test_is_named_as_no_command_line_can(text):\n    import toy.bound\n\n"
        "def test_looks():\n    from toy.bound import most\n    assert most()\n"
    )
    printed = searched(tmp_path)
    assert "1 mutants: 1 killed" in printed


def test_only_a_new_file_of_tests_is_run_again_to_know_what_it_runs(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "switches.py").write_text("def turned(on):\n    return not on\n")
    (tmp_path / "tests").mkdir()
    ran = "from toy.switches import turned\n\ndef test_runs():\n    turned(False)\n"
    (tmp_path / "tests" / "test_old.py").write_text(ran)
    before = searched(tmp_path)
    assert "1 passed" in before
    assert "1 mutants: 0 killed, 1 survived" in before
    (tmp_path / "tests" / "test_new.py").write_text(ran.replace("turned(False)", "assert turned(False)"))
    after = searched(tmp_path)
    assert after.count(" passed") == after.count("1 passed") == 1
    assert "1 mutants: 1 killed, 0 survived" in after


def test_a_guard_is_seen_where_its_test_fails_without_it(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    source = "def halved(number):\n    if number % 2:\n        return None\n    return number // 2\n"
    (tmp_path / "toy" / "numbers.py").write_text(source)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_toy.py").write_text(
        "import pytest\nfrom toy.numbers import halved\n\n"
        "@pytest.mark.parametrize('number', [4, 5])\n"
        "def test_looks(number):\n    assert halved(number) == (2 if number == 4 else None)\n\n"
        "def test_runs():\n    assert halved(4)\n"
    )
    row = "| `halved` | `if number % 2:` → `if False:` | Half of a five. | [{0}](../tests/test_toy.py) |\n"
    rows = row.format("test_looks") + row.format("test_runs")
    run = guarded(tmp_path, rows)
    assert run.stdout.splitlines() == [
        "not seen by tests/test_toy.py::test_runs: toy/numbers.py halved: if number % 2: → if False:",
        "2 guards, each taken away: 1 not seen by a test that the list names",
    ]
    assert run.returncode == 1


def test_a_function_with_an_assert_is_changed_whatever_pytest_makes_of_asserts(tmp_path: Path) -> None:
    """A mistake with fewer lines changes the numbers of all lines below: of those no test knows anything."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "numbers.py").write_text(
        "def halved(number):\n    assert number\n    if (number\n        % 2):\n        return None\n"
        "    return number // 2\n\n\ndef twice(number):\n    return number * 2\n"
    )
    (tmp_path / "conftest.py").write_text("import pytest\n\npytest.register_assert_rewrite('toy.numbers')\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_toy.py").write_text(
        "from toy.numbers import halved\n\ndef test_looks():\n    assert halved(5) is None\n"
    )
    row = (
        "| `halved` | `if (number % 2):` → `if 0:` | Half of a five. | [test_looks](../tests/test_toy.py) |\n"
    )
    run = guarded(tmp_path, row)
    assert run.stdout == "1 guards, each taken away: 0 not seen by a test that the list names\n"


def test_no_mistake_is_made_where_it_would_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "idle.py").write_text(
        "from functools import lru_cache\n"
        "from typing import TYPE_CHECKING\n\n"
        "if TYPE_CHECKING:\n    from toy.other import Other\n\n\n"
        "@lru_cache(16)\ndef first(found: 'Other | None'):\n"
        "    if len(found) == 1:\n        return found[0]\n"
        "    return found[2]\n"
    )
    mutants = sample(tmp_path, ["toy"], 1000, Random(7))
    assert {mutant.line for mutant in mutants} == {8, 10, 12}
    assert {mutant.operator for mutant in mutants if mutant.line == 8} == {"core/RemoveDecorator"}
