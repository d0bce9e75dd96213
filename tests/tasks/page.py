"""Writes the table of ordinary tasks into docs/soak.md: `python -m tests.tasks.page`.

It runs each task in each place, which takes about fifteen minutes. `--quick` runs only `plan` and `apply`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.docs.markdown import DOCS

from .places import PLACES, Bench
from .run import Result, Variant, run_task
from .task import Task
from .tasks import TASKS

PAGE = DOCS / "soak.md"
HEADING = "## Ordinary tasks\n"
_TEXT = """
[tests/tasks](../tests/tasks) runs ordinary work with dpsync. Each task is an edit of an imported organization
or of files that declare a part of an organization. Each task runs in five places: a checkout with the edit
committed (*here*) or *uncommitted*, a clone in CI, a clone without the ids file, and a clone of one commit. A
task runs `plan`, `plan --base HEAD`, and then either `apply`, or `plan --out FILE` and `apply FILE`. Some
tasks also run at a terminal. After the task, the next plan is empty, each object has the expected id and
title, and no object exists twice.

A normal test run contains each task *here* and some tasks in the other places. `DPSYNC_TASKS=all python -m
pytest tests/tasks` runs all tasks. `python -m tests.tasks.page` writes this table.

A cell contains the exit code of `plan`, and usually the number of printed lines. *asks* marks a wanted
question: key and title changed at once, content removed beside new entries of the same object type, or a
delete of content. **Bold** marks a wrong result. A dash marks a place without a defined result.
"""

Results = Mapping[tuple[str, str], Result]


def results(quick: bool = False, tasks: Iterable[Task] = TASKS) -> Results:
    """Run each task in each place."""
    found: dict[tuple[str, str], Result] = {}
    store = open_store(":memory:")
    with TemporaryDirectory() as made, ThreadedServer(build_companion(store, profile="full")) as server:
        bench = Bench(server, Path(made))
        for task in tasks:
            for place in PLACES:
                if place.name in task.not_in:
                    continue
                variant: Variant = "quick" if quick else "saved" if len(found) % 2 else "apply"
                result = run_task(bench, task, place, variant, lines=True)
                found[task.name, place.name] = result
                for problem in result.problems:
                    sys.stderr.write(f"{task.name} ({place.name}): {problem}\n\n")
    store.close()
    return found


def section(found: Results) -> str:
    """Return the section of the page."""
    names = [place.name for place in PLACES]
    rows = [f"| task | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for task in TASKS:
        cells = [_cell(found.get((task.name, name))) for name in names]
        rows.append(f"| {task.name} | {' | '.join(cells)} |")
    table = "\n".join(rows)
    return f"{HEADING}{_TEXT}\n{summary(found)}\n\n{table}\n"


def summary(found: Results) -> str:
    """Return the totals in one sentence."""
    questions = sum(result.false_questions for result in found.values())
    refusals = sum(result.refusals for result in found.values() if not result.wanted)
    wrong = sum(bool(result.problems) for result in found.values())
    return (
        f"{len(TASKS)} tasks in {len(PLACES)} places: {questions} false questions, {refusals} refusals of "
        f"ordinary work, {wrong} of {len(found)} cells in bold."
    )


def _cell(result: Result | None) -> str:
    if result is None:
        return "–"
    lines = f", {result.lines}" if result.lines else ""
    text = f"{result.code}{lines}{', asks' if result.wanted else ''}"
    return f"**{text}**" if result.problems else text


def with_section(page: str, text: str) -> str:
    """Return the page with the section about tasks replaced."""
    return page.partition(f"\n{HEADING}")[0] + f"\n{text}"


if __name__ == "__main__":
    PAGE.write_text(with_section(PAGE.read_text("utf-8"), section(results("--quick" in sys.argv))), "utf-8")
