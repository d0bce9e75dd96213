"""Removals that the platform has only been asked for: waited for a while, and done once they are seen.

A platform may ask its administrators before it removes something (202). Nobody knows when they will answer:
the wait is short, and what is still there afterwards stays *requested*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from dpsync.apply.attempt import Shared
from dpsync.apply.pauses import growing
from dpsync.apply.task import Task
from dpsync.client.errors import ClientError
from dpsync.model.journal import Outcome

_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 5.0


def await_removals(
    shared: Shared, requested: Iterable[Task], settle: Callable[[Task, Outcome], None], seconds: float
) -> None:
    """Read where the objects were, with growing pauses, until they are gone or the time is over.

    `settle` is called with the outcome of each one that is seen to be gone. When reading fails, or the apply
    is stopped, the rest stays requested.
    """
    waiting = list(requested)
    for pause in growing(_FIRST_PAUSE, _LONGEST_PAUSE, seconds):
        if not waiting or shared.stop.is_set():
            return
        try:
            shared.client.pause(pause)
            removed = list(_removed(shared, waiting))
        except ClientError:
            return
        for task in removed:
            waiting.remove(task)
            settle(task, task.outcome("done", status=202, id=task.change.id))


def _removed(shared: Shared, tasks: Iterable[Task]) -> Iterator[Task]:
    for task in tasks:
        source = shared.fresh.source(task.change)
        if source is None:
            continue
        there = shared.fresh.read(source).values()
        if not any((item.kind, item.id) == (task.change.kind, task.change.id) for item in there):
            yield task
