"""Wait, at the end of an apply, until GitBook has finished what the apply requested.

`await_processing` waits for values that GitBook processes after its response. `await_removals` waits for
removals that administrators must approve (status 202); the wait is short, and a removal that is not seen
is reported as *requested*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from dpsync.apply.attempt import ApplyContext, growing_pauses, platform_work_pauses
from dpsync.apply.task import StepTask
from dpsync.client.errors import ClientError
from dpsync.model.change import Change
from dpsync.model.journal import Outcome


def await_processing(shared: ApplyContext, sent: Iterable[StepTask]) -> None:
    """Wait until the platform has processed the values that these steps sent.

    Reads the objects with growing pauses. Returns early if time is up, a read fails or the apply is stopped.
    The plan that verifies the apply reads the objects once more, and the report names those still in
    processing.
    """
    waiting = []
    for change in {task.change.address: task.change for task in sent}.values():
        field = shared.registry[change.kind].platform_work.processed_field
        if field is not None and any(difference.field == field for difference in change.differences):
            waiting.append(change)
    pauses = platform_work_pauses()
    try:
        while waiting := _changes_in_processing(shared, waiting):
            pause = next(pauses, None)
            if pause is None or shared.stop.is_set():
                return
            shared.client.pause(pause)
    except ClientError:
        return


def _changes_in_processing(shared: ApplyContext, changes: Iterable[Change]) -> list[Change]:
    """Return the changes whose objects the platform is still processing; each list is read once."""
    by_url = {source.url: source for change in changes if (source := shared.fresh_reads.source(change))}
    busy = {
        (item.kind, item.id)
        for source in by_url.values()
        for item in shared.fresh_reads.read(source).values()
        if shared.registry[item.kind].is_busy(item.fields)
    }
    return [change for change in changes if (change.kind, shared.ids.get(change.location)) in busy]


_FIRST_REMOVAL_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 5.0


def await_removals(
    shared: ApplyContext,
    requested: Iterable[StepTask],
    report_removed: Callable[[StepTask, Outcome], None],
    seconds: float,
) -> None:
    """Wait until objects are removed whose removal administrators must approve, at most `seconds`.

    Reads the lists of the objects with growing pauses. Removals that are not seen stay requested, also if a
    read fails or the apply is stopped.

    Args:
        report_removed: Called with the outcome of each object that is gone.
    """
    waiting = list(requested)
    for pause in growing_pauses(_FIRST_REMOVAL_PAUSE, _LONGEST_PAUSE, seconds):
        if not waiting or shared.stop.is_set():
            return
        try:
            shared.client.pause(pause)
            removed = list(_removed_tasks(shared, waiting))
        except ClientError:
            return
        for task in removed:
            waiting.remove(task)
            report_removed(task, task.outcome("done", status=202, id=task.change.id))


def _removed_tasks(shared: ApplyContext, tasks: Iterable[StepTask]) -> Iterator[StepTask]:
    """Yield the delete steps whose objects are no longer in their lists, so administrators approved them."""
    for task in tasks:
        source = shared.fresh_reads.source(task.change)
        if source is None:
            continue
        objects = shared.fresh_reads.read(source).values()
        if not any((item.kind, item.id) == (task.change.kind, task.change.id) for item in objects):
            yield task
