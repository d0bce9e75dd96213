"""Wait for written values that the platform processes after its answer, before the result is read."""

from __future__ import annotations

from collections.abc import Iterable

from dpsync.apply.attempt import Shared
from dpsync.apply.pauses import platform_work_pauses
from dpsync.apply.task import Task
from dpsync.client.errors import ClientError
from dpsync.model.change import Change


def await_processing(shared: Shared, sent: Iterable[Task]) -> None:
    """Read the objects of `sent` tasks with growing pauses until the platform has processed them.

    Returns early if time is up, a read fails or the apply is stopped. The plan that verifies the apply reads
    the objects once more, and the report names the objects that the platform is still processing.
    """
    processed = (task.change for task in sent if _needs_processing(shared, task.change))
    waiting = list({change.address: change for change in processed}.values())
    pauses = platform_work_pauses()
    try:
        while waiting := _still_busy(shared, waiting):
            pause = next(pauses, None)
            if pause is None or shared.stop.is_set():
                return
            shared.client.pause(pause)
    except ClientError:
        return


def _needs_processing(shared: Shared, change: Change) -> bool:
    """Return whether a change writes a field that the platform processes after its answer."""
    field = shared.registry[change.kind].platform.processed
    return field is not None and any(item.field == field for item in change.differences)


def _still_busy(shared: Shared, changes: Iterable[Change]) -> list[Change]:
    """Return the changes whose objects the platform is still processing; each list is read once."""
    by_url = {source.url: source for change in changes if (source := shared.fresh.source(change))}
    busy = {
        (item.kind, item.id)
        for source in by_url.values()
        for item in shared.fresh.read(source).values()
        if shared.registry[item.kind].is_busy(item.fields)
    }
    return [change for change in changes if (change.kind, shared.ids.get(change.location)) in busy]
