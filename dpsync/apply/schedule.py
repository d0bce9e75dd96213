"""Which steps may run now, and which never will.

The schedule is pure: it is told what became of each step and says which are next. A step runs when everything
it needs has succeeded and everything it follows has ended. Deletes wait until every other step has ended,
except those that expose: these come after the deletes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dpsync.model.change import Step


class Schedule:
    """The state of a plan's graph. Each edge is looked at once."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._steps = {step.id: step for step in steps}
        self._open = set(self._steps)
        self._ended: set[str] = set()
        self._left: dict[str, int] = {}
        self._needed_by: dict[str, list[str]] = defaultdict(list)
        self._followed_by: dict[str, list[str]] = defaultdict(list)
        self._ready: dict[str, None] = {}
        self._deletes: dict[str, None] = {}
        for step in self._steps.values():
            needs = [id for id in step.needs if id in self._steps]
            follows = [id for id in step.follows if id in self._steps]
            self._left[step.id] = len(needs) + len(follows)
            for id in needs:
                self._needed_by[id].append(step.id)
            for id in follows:
                self._followed_by[id].append(step.id)
        self._before_deletes = sum(not _beside_deletes(step) for step in self._steps.values())
        for id, left in self._left.items():
            if left == 0:
                self._offer(id)
        self._release()

    def next(self) -> str | None:
        """A step that may run now, or None; it is not offered again."""
        for id in self._ready:
            del self._ready[id]
            return id
        return None

    def settle(self, id: str, good: bool) -> list[str]:
        """Note the end of a step. Returns the steps that never run because of it."""
        if id not in self._open:
            return []
        self._close(id)
        lost = [] if good else self._lose(id)
        self._end(id)
        self._release()
        return lost

    def _lose(self, id: str) -> list[str]:
        """What needs it never runs, nor what needs that."""
        lost: list[str] = []
        waiting = [id]
        while waiting:
            for other in self._needed_by[waiting.pop()]:
                if other in self._open:
                    self._close(other)
                    lost.append(other)
                    waiting.append(other)
        return lost

    def _close(self, id: str) -> None:
        self._open.discard(id)
        self._ready.pop(id, None)
        self._deletes.pop(id, None)
        self._before_deletes -= not _beside_deletes(self._steps[id])

    def _end(self, id: str) -> None:
        """What waits for it has one thing less to wait for.

        A step that never runs ends when everything that it waited for has ended. So in a row of steps that
        follow each other, those behind it still wait for those before it.
        """
        ended = [id]
        while ended:
            at = ended.pop()
            self._ended.add(at)
            for other in (*self._needed_by[at], *self._followed_by[at]):
                self._left[other] -= 1
                if self._left[other] == 0 and other in self._open:
                    self._offer(other)
                elif self._left[other] == 0 and other not in self._ended:
                    ended.append(other)

    def _offer(self, id: str) -> None:
        (self._deletes if _at_the_end(self._steps[id]) else self._ready)[id] = None

    def _release(self) -> None:
        if self._before_deletes == 0:
            self._ready |= self._deletes
            self._deletes.clear()


def _at_the_end(step: Step) -> bool:
    """Whether it is a delete that waits for everything else."""
    return step.verb == "delete" and step.phase is None


def _beside_deletes(step: Step) -> bool:
    return _at_the_end(step) or step.phase == "expose"
