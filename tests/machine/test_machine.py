"""A slice of the state machine in every run, and that no promise is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.test_promises import PROMISES
from tests.soak import examples

from .checks import CHECKS, ELSEWHERE
from .machine import machines, walk
from .page import NEXT, PAGE, page

STEPS = range(7)
SEEDS = (1, 2, 4)
"""Of three profiles."""


@pytest.mark.parametrize("seed", [*SEEDS, *range(100, examples(100, 160))])
def test_random_command_sequence_keeps_every_documented_promise(seed: int, tmp_path: Path) -> None:
    with machines(tmp_path) as made:
        walk(made(seed), STEPS)


def test_same_seed_gives_same_random_command_sequence(tmp_path: Path) -> None:
    with machines(tmp_path) as made:
        histories = []
        for _ in range(2):
            machine = made(SEEDS[0])
            walk(machine, STEPS[:4])
            histories.append((machine.log, machine.last))
    assert histories[0] == histories[1]


def test_every_documented_promise_is_tested_or_exempt() -> None:
    numbers = set(range(1, len(PROMISES) + 1))
    assert CHECKS.keys() | ELSEWHERE.keys() == numbers
    assert not CHECKS.keys() & ELSEWHERE.keys()


def test_promises_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8").partition(NEXT)[0] == page(), "python -m tests.machine.page"
