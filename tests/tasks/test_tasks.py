"""Ordinary work raises no false question and no refusal; a wanted question is asked once.

`DPSYNC_TASKS=all` runs each task in each place. A normal run has each task in a checkout, and a slice of the
other places.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from dpsync.server.process.threaded_server import ThreadedServer

from .accidents import ACCIDENTS
from .page import HEADING, PAGE
from .places import HERE, LOST, NO_IDS, PLACES, Bench, Place
from .run import objects, run_accident, run_task, run_without_past
from .task import Accident, Task
from .tasks import TASKS
from .terminal import apply_at_terminal

ALL = os.environ.get("DPSYNC_TASKS") == "all" or os.environ.get("DPSYNC_SOAK") == "1"
SEED = int(os.environ.get("DPSYNC_SEED", "0"))
"""Which slice of the other places a normal run has."""
SLICE = 12
MATRIX = [(task, place) for task in TASKS for place in PLACES if place.name not in task.not_in]
FIRST = [task for task in TASKS if not task.earlier and NO_IDS.name not in task.not_in]
WITHOUT_PAST = FIRST if ALL else Random(SEED).sample(FIRST, 6)
ELSEWHERE = MATRIX if ALL else Random(SEED).sample(MATRIX, SLICE)

DAMAGED = [
    (accident, place)
    for accident in ACCIDENTS
    for place in (*PLACES, LOST)
    if place.name in (accident.places if ALL else accident.places[:1])
]
"""In a normal run, each accident has its first place."""


@pytest.fixture(scope="module")
def bench(server: ThreadedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    return Bench(server, tmp_path_factory.mktemp("tasks"))


def test_usability_tasks_number_sixty_with_unique_names() -> None:
    names = [task.name for task in TASKS]
    assert len(names) == len(set(names)) >= 60


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_usability_task_in_git_checkout_gives_expected_result(bench: Bench, task: Task) -> None:
    """Otherwise, a person is interrupted by ordinary work, or the work does the wrong thing."""
    result = run_task(bench, task, HERE, "quick")
    assert not result.problems, "\n\n".join(result.problems)


@pytest.mark.parametrize(
    ("task", "place"), ELSEWHERE, ids=[f"{task.name} ({place.name})" for task, place in ELSEWHERE]
)
def test_usability_task_outside_checkout_gives_expected_result(
    bench: Bench, task: Task, place: Place
) -> None:
    """Otherwise, the same edit needs other answers in another checkout, or with `--base` or a saved plan."""
    for variant in (
        ("apply", "saved") if ALL else (Random(task.name + place.name).choice(["apply", "saved"]),)
    ):
        result = run_task(bench, task, place, variant)
        assert not result.problems, "\n\n".join(result.problems)


@pytest.mark.parametrize("task", WITHOUT_PAST, ids=lambda task: task.name)
def test_usability_task_in_shallow_clone_gives_one_refusal(bench: Bench, task: Task) -> None:
    """Otherwise, each new entry is a question of its own, or an object exists twice."""
    result = run_without_past(bench, task)
    assert not result.problems, "\n\n".join(result.problems)


@pytest.mark.parametrize("task", [task for task in TASKS if task.terminal], ids=lambda task: task.name)
def test_usability_task_at_terminal_needs_one_prompt(bench: Bench, task: Task, programs: Path) -> None:
    """Otherwise, a person types more than once, or cannot answer where dpsync asks."""
    wanted = task.question(HERE.name)
    with bench.at(HERE, task.start, task.edit, task.earlier) as work:
        before = objects(bench.state())
        talk = apply_at_terminal(work, programs, same=wanted is not None and wanted.edit is not None)
        assert talk.code == 0, f"{talk.out}\n{talk.said}"
        assert len(talk.prompts) <= 1 + (wanted is not None), talk.prompts
        live = objects(bench.state())
        assert {id: live.get(id) for id in task.renamed} == task.renamed
        assert sorted(title for id, title in live.items() if id not in before) == sorted(task.new)
        assert sorted(before.keys() - live.keys()) == sorted(task.gone)


@pytest.mark.parametrize(
    ("accident", "place"), DAMAGED, ids=[f"{accident.name} ({place.name})" for accident, place in DAMAGED]
)
def test_accidental_content_change_in_task_needs_confirmation(
    bench: Bench, accident: Accident, place: Place
) -> None:
    """Otherwise, content is duplicated or deleted without an answer."""
    result = run_accident(bench, accident, place)
    assert not result.problems, "\n\n".join(result.problems)


def test_task_page_lists_every_task_and_place() -> None:
    text = PAGE.read_text("utf-8")
    assert f"| task | {' | '.join(place.name for place in PLACES)} |" in text
    listed = [line.split(" | ")[0].removeprefix("| ") for line in text.partition(HEADING)[2].splitlines()]
    assert [name for name in listed if name in {task.name for task in TASKS}] == [x.name for x in TASKS]
