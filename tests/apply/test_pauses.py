"""How long is waited between two looks, and when it is over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from dpsync.apply.attempt import ApplyContext, growing_pauses
from dpsync.apply.task import StepTask
from dpsync.apply.verification import await_removals
from dpsync.client.errors import NotSentError
from dpsync.model.change import Change, Step
from dpsync.model.journal import Outcome


@pytest.mark.parametrize(
    ("together", "pauses"),
    [(0, []), (0.5, [1]), (1, [1]), (7, [1, 2, 4]), (7.5, [1, 2, 4, 5]), (17, [1, 2, 4, 5, 5]), (-1, [])],
)
def test_waiting_pauses_double_up_to_maximum(together: float, pauses: list[float]) -> None:
    assert list(growing_pauses(1, 5, together)) == pauses


class Asked:
    """A platform with some things whose removal was requested; after so many looks they are gone."""

    def __init__(self, *there: str, gone_after: int = 1_000) -> None:
        self.tasks = [self._task(id) for id in there]
        self.pauses: list[float] = []
        self.gone_after = gone_after
        self.done: list[Outcome] = []

    def _task(self, id: str) -> StepTask:
        step = Step(id=f"{id} delete", verb="delete", repeat="safe", method="DELETE", path="/x")
        return StepTask(Change(address=f"acme/members/{id}", kind="member", action="delete", id=id), step)

    def waited(self, seconds: float, *, stopped: bool = False, unread: bool = False) -> list[float]:
        """Wait for the removals and return the pauses in seconds."""

        def read(source: str) -> object:
            if unread:
                raise NotSentError("GET", source, "refused")
            return {} if len(self.pauses) >= self.gone_after else there

        there = {task.change.id: SimpleNamespace(kind="member", id=task.change.id) for task in self.tasks}
        fresh = SimpleNamespace(source=lambda _change: "/members", read=read)
        shared = SimpleNamespace(
            client=SimpleNamespace(pause=self.pauses.append), fresh_reads=fresh,
            stop=SimpleNamespace(is_set=lambda: stopped),
        )  # fmt: skip
        await_removals(
            cast(ApplyContext, cast(Any, shared)), self.tasks, lambda _, end: self.done.append(end), seconds
        )
        return self.pauses


def test_member_removal_polling_slows_down_to_five_seconds() -> None:
    assert Asked("cy").waited(20) == [0.5, 1, 2, 4, 5, 5, 5]


def test_member_removal_polling_stops_when_member_is_removed() -> None:
    asked = Asked("cy", "di", gone_after=2)
    assert asked.waited(20) == [0.5, 1]
    assert [(end.result, end.status, end.id) for end in asked.done] == [
        ("done", 202, "cy"),
        ("done", 202, "di"),
    ]


def test_member_removal_stays_requested_if_list_is_unreadable() -> None:
    asked = Asked("cy", gone_after=0)
    assert asked.waited(20, unread=True) == [0.5]
    assert asked.done == []


def test_member_removal_polling_needs_requests_and_no_signal() -> None:
    assert Asked().waited(20) == []
    assert Asked("cy").waited(20, stopped=True) == []
