"""Order of siblings: the moves lead to the wanted order, no fewer would, and nobody else is touched."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.planner.sibling_order import SiblingMove, after_moves, fewest_moves, longest_increasing


def carried_out(present: Sequence[int], steps: Sequence[SiblingMove[int]]) -> list[int]:
    """Return the list as the platform has it after the moves."""
    now = list(present)
    for move in steps:
        now.remove(move.item)
        if move.after is not None:
            now.insert(now.index(move.after) + 1, move.item)
        else:
            assert move.before is not None
            now.insert(now.index(move.before), move.item)
    return now


def fewest(present: Sequence[int], wanted: Sequence[int]) -> int:
    """By trying: the smallest set of wanted items without which the rest stands in order already."""
    place = {item: index for index, item in enumerate(present)}
    for count in range(len(wanted) + 1):
        for moved in combinations(wanted, count):
            rest = [place[item] for item in wanted if item not in moved]
            if rest == sorted(rest):
                return count
    raise AssertionError("everything can be moved")


def check(present: Sequence[int], wanted: Sequence[int]) -> None:
    steps = fewest_moves(present, wanted)
    then = carried_out(present, steps)
    assert after_moves(present, steps) == then
    assert [item for item in then if item in set(wanted)] == list(wanted)
    assert [item for item in then if item not in set(wanted)] == [
        item for item in present if item not in set(wanted)
    ]
    assert len(steps) == fewest(present, wanted)


@pytest.mark.parametrize("count", range(7))
def test_order_planner_reaches_every_order_with_fewest_moves(count: int) -> None:
    """Otherwise, every move puts its item in front of the first that stays.

    Otherwise, moves are counted on a list in which what moves stands twice.
    """
    for present in permutations(range(count)):
        check(present, range(count))


@given(st.permutations(range(8)))
def test_order_planner_orders_eight_siblings(present: list[int]) -> None:
    check(present, range(8))


@given(st.permutations(range(8)), st.sets(st.integers(0, 7)))
def test_order_planner_keeps_undeclared_siblings_in_place(present: list[int], managed: set[int]) -> None:
    """Otherwise, what moves counts as what stays, and something is put beside what is not there yet.

    Otherwise, nothing is moved.
    """
    wanted = sorted(managed)
    check(present, wanted)
    check(present, wanted[::-1])


@pytest.mark.parametrize("gap", range(5))
def test_order_planner_ignores_undeclared_sibling_in_between(gap: int) -> None:
    present = [0, 1, 2, 3]
    present.insert(gap, 9)
    assert fewest_moves(present, [0, 1, 2, 3]) == []


@given(st.permutations(range(8)))
def test_order_planner_anchors_moves_only_to_placed_items(present: list[int]) -> None:
    steps = fewest_moves(present, range(8))
    pending = [step.item for step in steps]
    assert len(set(pending)) == len(pending)
    for step in steps:
        pending.remove(step.item)
        assert (step.after is None) != (step.before is None)
        assert step.after not in pending
        assert step.before not in pending


@given(st.permutations(range(8)))
def test_order_planner_accepts_lists_and_tuples(present: list[int]) -> None:
    assert fewest_moves(present, range(8)) == fewest_moves(tuple(present), tuple(range(8)))


@given(st.lists(st.integers(0, 30), unique=True, max_size=8))
def test_longest_increasing_subsequence_is_found(numbers: list[int]) -> None:
    found = longest_increasing(numbers)
    assert found == sorted(found)
    assert [number for number in numbers if number in found] == found
    longest = max(
        len(part)
        for count in range(len(numbers) + 1)
        for part in combinations(numbers, count)
        if list(part) == sorted(part)
    )
    assert len(found) == longest
