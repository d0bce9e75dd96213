"""The order of steps: needs, follows, deletes last, then exposure. A failure stops only what needs it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dpsync.apply.executor import Schedule
from dpsync.model.change import Step


def step(id: str, word: str = "update", needs: str = "", follows: str = "") -> Step:
    verb: Any = "update" if word == "expose" else word
    return Step(
        repeat="safe",
        id=id,
        verb=verb,
        phase="expose" if word == "expose" else None,
        method="PATCH",
        path="/",
        needs=tuple(needs.split()),
        follows=tuple(follows.split()),
    )


def late(item: Step) -> bool:
    return item.verb == "delete" or item.phase == "expose"


def drain(schedule: Schedule) -> list[str]:
    """Everything that may run now."""
    found = []
    while id := schedule.take_ready_step():
        found.append(id)
    return found


def test_scheduled_step_waits_for_required_and_preceding_steps() -> None:
    schedule = Schedule([step("a"), step("b", needs="a"), step("c", follows="b")])
    assert drain(schedule) == ["a"]
    schedule.end_step("a", succeeded=True)
    assert drain(schedule) == ["b"]
    schedule.end_step("b", succeeded=True)
    assert drain(schedule) == ["c"]


def test_failed_step_skips_dependents_but_releases_later_steps() -> None:
    """Otherwise, what needs a step that has failed is sent."""
    schedule = Schedule(
        [step("a"), step("b", needs="a"), step("c", needs="b"), step("d", follows="a"), step("e")]
    )
    assert drain(schedule) == ["a", "e"]
    assert sorted(schedule.end_step("a", succeeded=False)) == ["b", "c"]
    assert drain(schedule) == ["d"]


def test_ending_step_twice_releases_no_further_steps() -> None:
    """Otherwise, a step that is told of twice sets free what must wait for another one."""
    schedule = Schedule([step("a"), step("b"), step("c", needs="a b"), step("d", "delete")])
    assert drain(schedule) == ["a", "b"]
    schedule.end_step("a", succeeded=True)
    assert schedule.end_step("a", succeeded=False) == []
    assert drain(schedule) == []


def test_step_following_skipped_step_is_released() -> None:
    schedule = Schedule([step("a"), step("b", needs="a"), step("c", follows="b")])
    drain(schedule)
    schedule.end_step("a", succeeded=False)
    assert drain(schedule) == ["c"]


def test_step_following_skipped_step_waits_for_its_predecessors() -> None:
    """One after the other, though the one between is not tried.

    Otherwise, a step that cannot be done any more, since what it needs has failed, is sent.
    """
    schedule = Schedule([step("a"), step("x"), step("b", needs="x", follows="a"), step("c", follows="b")])
    assert drain(schedule) == ["a", "x"]
    assert schedule.end_step("x", False) == ["b"]
    assert drain(schedule) == []
    assert schedule.end_step("a", True) == []
    assert drain(schedule) == ["c"]


def test_deletes_run_last_and_exposure_after_deletes() -> None:
    """Otherwise, deletes run before what they make room for, or what leaves them, is done.

    Otherwise, deletes wait for what is shown only after them, and nothing goes on.
    """
    schedule = Schedule(
        [step("x", "delete"), step("a"), step("p", "expose", needs="x a"), step("b", needs="a")]
    )
    assert drain(schedule) == ["a"]
    schedule.end_step("a", succeeded=True)
    assert drain(schedule) == ["b"]
    schedule.end_step("b", succeeded=False)
    assert drain(schedule) == ["x"]
    schedule.end_step("x", succeeded=True)
    assert drain(schedule) == ["p"]


def test_deletes_run_immediately_without_other_steps() -> None:
    assert drain(Schedule([step("x", "delete"), step("y", "delete", needs="x")])) == ["x"]


@st.composite
def graphs(draw: st.DrawFn) -> list[Step]:
    """Random steps without circles: each refers to earlier ones, and only exposure waits for deletes."""
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 12))):
        word = draw(st.sampled_from(["create", "update", "delete", "expose"]))
        if word == "expose":
            known = [item.id for item in steps]
        elif word == "delete":
            known = [item.id for item in steps if item.phase != "expose"]
        else:
            known = [item.id for item in steps if not late(item)]
        some = st.lists(st.sampled_from(known), unique=True, max_size=3) if known else st.just([])
        steps.append(step(str(number), word, " ".join(draw(some)), " ".join(draw(some))))
    return steps


@given(graphs(), st.data())
def test_schedule_ends_every_step_once_in_order(steps: list[Step], data: st.DataObject) -> None:
    """Otherwise, what has failed twice over is counted twice, and deletes begin too early."""
    schedule = Schedule(steps)
    by_id = {item.id: item for item in steps}
    before = {item.id: {*item.needs, *item.follows} for item in steps}
    for waits in before.values():  # each refers to earlier ones
        waits |= {other for one in waits for other in before[one]}
    ended: dict[str, bool] = {}
    running: list[str] = []
    while True:
        running += drain(schedule)
        if not running:
            break
        id = running.pop(data.draw(st.integers(0, len(running) - 1)))
        assert all(ended[need] for need in by_id[id].needs)
        assert before[id] <= ended.keys()
        if by_id[id].verb == "delete":
            assert all(item.id in ended for item in steps if not late(item))
        good = data.draw(st.booleans())
        assert id not in ended
        ended[id] = good
        for lost in schedule.end_step(id, good):
            assert lost not in ended
            ended[lost] = False
            assert any(not ended.get(need, True) for need in by_id[lost].needs)
    assert set(ended) == set(by_id)
