"""Mistakes planted in the executor are found by a rehearsal, before the platform sees them.

Each is one line of the list below: what is wrong, and how the executor is made wrong. The plan is right each
time, and without the mistake its rehearsal goes as planned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from dpsync.apply import executor
from dpsync.apply.attempt import Attempt
from dpsync.apply.executor import Schedule
from dpsync.apply.task import LiveIds
from dpsync.client.client import WriteClient
from dpsync.model.address import Address
from dpsync.model.change import Step
from dpsync.model.journal import Outcome
from dpsync.rehearse.run import rehearse
from tests.rehearse.conftest import Staged

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]


def with_steps(patch: Patch, change: Callable[[Step], dict[str, Any]]) -> None:
    """Give the schedule other edges than the plan has."""
    real = Schedule.__init__

    def init(self: Schedule, steps: Iterable[Step]) -> None:
        real(self, [step.model_copy(update=change(step)) for step in steps])

    patch.setattr(Schedule, "__init__", init)


def last_first(patch: Patch) -> None:
    """Of what may run the last one is next. By itself that is no mistake."""

    def next_(self: Schedule) -> str | None:
        if not self._ready:
            return None
        id = next(reversed(self._ready))
        del self._ready[id]
        return id

    patch.setattr(Schedule, "take_ready_step", next_)


def needs_left_out(patch: Patch) -> None:
    last_first(patch)
    with_steps(patch, lambda _step: {"needs": ()})


def one_edge_left_out(patch: Patch) -> None:
    last_first(patch)
    with_steps(patch, lambda step: {"needs": ()} if step.verb == "delete" else {})
    patch.setattr(executor, "_is_final_delete", lambda _step: False)


def deletes_first(patch: Patch) -> None:
    last_first(patch)
    with_steps(patch, lambda step: {"needs": ()} if step.verb == "delete" else {})
    real = Schedule._make_ready

    def offer(self: Schedule, id: str) -> None:
        real(self, id)
        self._ready |= self._deletes
        self._deletes.clear()

    patch.setattr(Schedule, "_make_ready", offer)


def exposed_too_early(patch: Patch) -> None:
    last_first(patch)
    hides = "acme/sites/staff withdraw visibility"
    with_steps(patch, lambda step: {"needs": tuple(id for id in step.needs if id != hides)})


def a_step_left_out(patch: Patch) -> None:
    real = Attempt._send

    def send(self: Attempt) -> Outcome:
        step = self._task.step
        return self._task.outcome("done") if step.verb == "update" and not step.gives else real(self)

    patch.setattr(Attempt, "_send", send)


def a_move_to_the_wrong_place(patch: Patch) -> None:
    other = {"before": "after", "after": "before"}

    def turned(_method: str, path: str, body: Any) -> tuple[str, Any]:
        if path.endswith("/sort"):
            body = {**body, "position": {other[side]: item for side, item in body["position"].items()}}
        return path, body

    sending(patch, turned)


def a_field_that_is_not_sent(patch: Patch) -> None:
    def less(method: str, path: str, body: Any) -> tuple[str, Any]:
        spoiled = method == "PATCH" and isinstance(body, dict) and "title" in body
        return path, {"emoji": "1f600"} if spoiled and path.startswith("/spaces/") else body

    sending(patch, less)


def a_wrong_value(patch: Patch) -> None:
    def other(_method: str, path: str, body: Any) -> tuple[str, Any]:
        return path, {**body, "role": "member"} if isinstance(body, dict) and "role" in body else body

    sending(patch, other)


def sent_to_another_thing(patch: Patch) -> None:
    sending(patch, lambda _method, path, body: (path.replace("t-ops", "t-old"), body))


def a_create_sent_twice(patch: Patch) -> None:
    real = WriteClient.send

    def send(self: WriteClient, method: str, path: str, body: Any = None, **more: Any) -> Any:
        if method == "POST" and path.endswith("/spaces"):
            real(self, method, path, body, **more)
        return real(self, method, path, body, **more)

    patch.setattr(WriteClient, "send", send)


def the_id_of_another_thing(patch: Patch) -> None:
    real = LiveIds.set

    def put(self: LiveIds, address: Address, id: str) -> None:
        real(self, address, "c-old" if str(address) == "acme/collections/all" else id)

    patch.setattr(LiveIds, "set", put)


def a_failure_that_counts_as_done(patch: Patch) -> None:
    """Count a step that was never sent as done, so that the steps that need it run."""
    real = Attempt._send

    def send(self: Attempt) -> Outcome:
        if self._task.step.id.startswith("acme/sites/staff withdraw"):
            return self._task.outcome("done")
        return real(self)

    patch.setattr(Attempt, "_send", send)


def sending(patch: Patch, change: Callable[[str, str, Any], tuple[str, Any]]) -> None:
    """Another request is sent than the step has."""
    real = WriteClient.send

    def send(self: WriteClient, method: str, path: str, body: Any = None, **more: Any) -> Any:
        other_path, other_body = change(method, path, body)
        return real(self, method, other_path, other_body, **more)

    patch.setattr(WriteClient, "send", send)


MUTANTS: list[Plant] = [
    needs_left_out, one_edge_left_out, deletes_first, exposed_too_early, a_step_left_out,
    a_move_to_the_wrong_place, a_field_that_is_not_sent, a_wrong_value, sent_to_another_thing,
    a_create_sent_twice, the_id_of_another_thing, a_failure_that_counts_as_done,
]  # fmt: skip


def test_rehearsal_without_injected_bug_has_no_deviations(staged: Staged) -> None:
    rehearsal = rehearse(staged())
    assert rehearsal.deviations == ()
    assert (rehearsal.done, rehearsal.converged) == (rehearsal.steps, True)


def test_rehearsal_is_independent_of_step_order(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
    last_first(monkeypatch)
    assert rehearse(staged()).deviations == ()


@pytest.mark.parametrize("plant", MUTANTS, ids=lambda plant: plant.__name__)
def test_rehearsal_detects_injected_executor_bug(
    staged: Staged, monkeypatch: pytest.MonkeyPatch, plant: Plant
) -> None:
    stage = staged()
    plant(monkeypatch)
    assert not rehearse(stage).went_as_planned


def test_rehearsal_detects_premature_exposure(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, what is public too early is not found."""
    stage = staged()
    exposed_too_early(monkeypatch)
    found = rehearse(stage).deviations
    assert {one.what for one in found} == {"public"}
    assert any("exposes the space inside to everyone for a short time" in one.message for one in found)
