"""Whatever fails while a plan is carried out, one clean apply converges: nothing is lost, nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

import pytest

from dpsync.apply.attempt import Attempt
from dpsync.client.client import WriteClient
from dpsync.client.errors import NotSentError, UnknownOutcomeError
from dpsync.client.transport import Request, Response, Stats
from dpsync.model.address import Address
from dpsync.model.ids import NO_IDS, RecordedLine
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from dpsync.model.question import Refusal, WayOut
from dpsync.rehearse import faults
from dpsync.rehearse.faults import Fault, FaultType, FaultyTransport, ProcessKilled, draw_faults
from dpsync.rehearse.run import rehearse
from dpsync.workflows.session import Planned
from tests.planner.stages import Case
from tests.rehearse.conftest import Staged
from tests.soak import examples

WRITE, READ = Request("POST", "/orgs/acme/teams"), Request("GET", "/orgs/acme/teams")


class Counted:
    """A platform that counts what reaches it."""

    def __init__(self) -> None:
        self.writes = 0

    def send(self, request: Request) -> Response:
        self.writes += request.method != "GET"
        return Response(200, {}, b"{}")

    def close(self) -> None: ...

    def stats(self) -> Stats:
        return Stats(0, {})


def met(what: FaultType, after: bool = False) -> tuple[Any, int]:
    """Return what a client sees of a fault, and how many writes have reached the platform by then."""
    platform = Counted()
    try:
        return FaultyTransport(platform, (Fault(1, what, after),)).send(WRITE).status, platform.writes
    except (NotSentError, UnknownOutcomeError, ProcessKilled) as seen:
        return type(seen), platform.writes


@pytest.mark.parametrize(("what", "after", "seen"), [
    ("time-out", False, (UnknownOutcomeError, 0)), ("time-out", True, (UnknownOutcomeError, 1)),
    ("lost connection", False, (NotSentError, 0)), ("lost connection", True, (UnknownOutcomeError, 1)),
    ("503", False, (503, 0)), ("503", True, (503, 1)), ("429", False, (429, 0)),
    ("kill", False, (ProcessKilled, 0)), ("kill", True, (ProcessKilled, 1)),
])  # fmt: skip
def test_injected_fault_produces_expected_client_error(
    what: FaultType, after: bool, seen: tuple[Any, int]
) -> None:
    """Otherwise, what happens to a write whose answer is lost is never rehearsed."""
    assert met(what, after) == seen


def test_simulated_process_kill_sends_no_more_requests() -> None:
    """Otherwise, a process that was killed goes on to write, and nothing is left to mend."""
    transport = FaultyTransport(Counted(), (Fault(1, "kill"),))
    for request in (WRITE, WRITE, READ):
        with pytest.raises(ProcessKilled):
            transport.send(request)


def test_injected_faults_affect_only_writes() -> None:
    assert FaultyTransport(Counted(), (Fault(1, "time-out"),)).send(READ).status == 200


def test_same_seed_injects_same_faults() -> None:
    assert draw_faults(Random(7), 20) == draw_faults(Random(7), 20)
    assert len({draw_faults(Random(seed), 20) for seed in range(20)}) > 10


def test_every_random_fault_targets_an_existing_write() -> None:
    for seed in range(100):
        found = draw_faults(Random(seed), 3)
        assert found
        assert all(1 <= fault.write_number <= 3 for fault in found)


def test_rate_limited_write_is_never_executed() -> None:
    """Otherwise, a write that the platform refuses is carried out: a fault that no platform has."""
    drawn = [fault for seed in range(100) for fault in draw_faults(Random(seed), 3) if fault.type == "429"]
    assert drawn
    assert not any(fault.is_after_write for fault in drawn)


def test_fault_free_apply_converges_after_random_faults(staged: Staged) -> None:
    rehearsal = rehearse(staged(), faults=examples(8, 200), seed=0)
    assert [run for run in rehearsal.faults if not run.good] == []
    assert len(rehearsal.faults) == examples(8, 200)


def test_retried_write_is_not_reported_as_duplicate(staged_published: Staged) -> None:
    """Otherwise, the second audit event of a write that was sent again makes the plan look unfit."""
    teams = {"ops": {"title": "Operations", "id": "t-ops"}}
    wanted = {"dpsync": 1, "organizations": {"acme": {"id": "acme", "teams": teams}}}
    rehearsal = rehearse(staged_published(wanted), faults=12, seed=0)
    assert any("after" in fault for run in rehearsal.faults for fault in run.faults)
    assert [run for run in rehearsal.faults if not run.good] == []


def test_fault_rehearsal_is_reproducible_by_seed(staged: Staged) -> None:
    first, second = (rehearse(staged(), faults=2, seed=5).faults for _ in range(2))
    assert first == second


def test_plan_failing_rehearsal_skips_fault_injection(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a plan that is not fit is disturbed as well, and its faults hide why it is not."""
    stage, send, steps = staged(), Attempt._send, count()
    first = "the first step alone is carried out"
    monkeypatch.setattr(
        Attempt, "_send", lambda self: send(self) if not next(steps) else self._task.outcome("failed", first)
    )
    rehearsal = rehearse(stage, faults=2)
    assert (rehearsal.went_as_planned, rehearsal.writes > 0, rehearsal.faults) == (False, True, ())


@pytest.mark.parametrize(
    ("name", "instead", "end"),
    [
        ("_count_differences", lambda *_: "Lost: team.", " Lost: team."),
        (
            "_FaultyApply._apply_again",
            lambda *_: Report(plan="", verified=True),
            " The next apply did not finish the plan.",
        ),
    ],
)
def test_fault_rehearsal_fails_on_lost_object_or_nonconvergence(
    name: str, instead: Callable[..., Any], end: str, staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, what is lost, or there twice, after a disturbed apply is told by nobody.

    Otherwise, a clean apply that does not mend what a fault has left counts as one that does.
    """
    monkeypatch.setattr(f"dpsync.rehearse.faults.{name}", instead)
    (run,) = rehearse(staged(), faults=1, seed=0).faults
    assert (run.good, run.end.endswith(end)) == (False, True)


def test_simulated_process_kill_writes_no_ids() -> None:
    """Otherwise, a killed process has recorded what it made, which no real one has."""
    memory = faults._MemoryIdsStore(NO_IDS)
    edits = {("acme", Address.parse("acme/teams/a")): RecordedLine(Address.parse("acme/teams/a"), "1")}
    memory.is_killed = lambda: True
    memory.edit("https://x.example", edits)
    assert memory.ids == NO_IDS
    memory.is_killed = lambda: False
    memory.edit("https://x.example", edits)
    assert memory.ids != NO_IDS


def test_fault_rehearsal_answers_only_with_requested_confirm_flags() -> None:
    """Otherwise, the rest of a confirmed plan is refused, and the rehearsal reports a lasting failure."""
    ways = ('--confirm "delete 2"', "id: a", "new: true", "--confirm 'restructure acme/sites/$x'")
    answers = tuple(WayOut(address="acme", add=way, means="so") for way in ways)
    refusal = Refusal(code="limits", address="acme", message="so", way_out="so", answers=answers)
    planned = Planned(Plan(refusals=(refusal,)), Case().sides())
    assert list(faults._requested_answers(planned)) == ["delete 2", "restructure acme/sites/$x"]


def sending_again(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a send method that repeats a create with a lost answer, which dpsync must never do."""

    def send(self: WriteClient, method: str, path: str, body: Any = None, **more: Any) -> Any:
        return real(self, method, path, body, **{**more, "repeatable": True})

    return send


def test_fault_rehearsal_detects_duplicate_objects(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = staged()
    numbers = iter(range(1, 7))
    monkeypatch.setattr(WriteClient, "send", sending_again(WriteClient.send))
    monkeypatch.setattr(
        faults, "draw_faults", lambda *_: (Fault(next(numbers), "time-out", is_after_write=True),)
    )
    bad = [run.end for run in rehearse(stage, faults=6).faults if not run.good]
    assert any("2 live collections have this title" in end for end in bad), bad
