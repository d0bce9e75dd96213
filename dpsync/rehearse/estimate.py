"""How long an apply will take: from what the plan's reading took, and from the graph of the steps."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from dpsync.apply.executor import Schedule
from dpsync.client.recording import Recording
from dpsync.model.change import Step
from dpsync.model.plan import Estimate


def estimate(recording: Recording, steps: Sequence[Step], requests: int, parallelism: int) -> Estimate:
    """`requests` were sent in a rehearsal to carry out these steps, without what read and proved."""
    latency = recording.latency
    each = latency * requests / len(steps) if steps else 0.0
    writing = makespan(steps, each, parallelism)
    reading = recording.seconds
    return Estimate(
        seconds=round(2 * reading + writing, 3),
        reading=round(reading, 3),
        writing=round(writing, 3),
        latency=round(latency, 4),
        parallelism=parallelism,
    )


def makespan(steps: Sequence[Step], each: float, parallelism: int) -> float:
    """The time until the last of these steps has ended, each taking `each` seconds, some at once."""
    schedule, now = Schedule(steps), 0.0
    running: list[tuple[float, str]] = []
    while True:
        while len(running) < max(1, parallelism) and (id := schedule.next()) is not None:
            heappush(running, (now + each, id))
        if not running:
            return now
        now, ended = heappop(running)
        schedule.settle(ended, good=True)
