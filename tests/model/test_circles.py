"""What leads back to itself, and what must go so that nothing does."""

from __future__ import annotations

from graphlib import TopologicalSorter
from random import Random

import pytest

from dpsync.model.cycles import cycle_breaking_nodes, strongly_connected_components


def acyclic(onward: dict[str, list[str]]) -> bool:
    TopologicalSorter(onward).prepare()
    return True


@pytest.mark.parametrize(
    ("onward", "found"),
    [
        ({}, set()),
        ({"a": ["b"], "b": []}, set()),
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, {"a"}),
        # A way into a circle is no part of it.
        ({"a": ["c"], "b": ["c"], "c": ["b"]}, {"b"}),
        ({"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"]}, {"a", "c"}),
        # One that is in two circles ends both.
        ({"a": ["b", "c"], "b": ["a"], "c": ["a"]}, {"a"}),
    ],
)
def test_cycle_breaking_nodes_are_found_in_graph(onward: dict[str, list[str]], found: set[str]) -> None:
    assert cycle_breaking_nodes(onward) == found


def test_strongly_connected_components_of_graph() -> None:
    assert list(strongly_connected_components({"a": ["b"], "b": [], "c": ["c"]})) == []
    assert list(strongly_connected_components({"a": ["b"], "b": ["a"], "c": ["a"]})) == [{"a", "b"}]


@pytest.mark.parametrize("seed", range(60))
def test_graph_without_cycle_breaking_nodes_is_acyclic(seed: int) -> None:
    random = Random(seed)
    things = [str(number) for number in range(random.randint(1, 9))]
    onward = {
        one: [other for other in things if other != one and random.random() < random.choice([0.1, 0.3, 0.6])]
        for one in things
    }
    gone = cycle_breaking_nodes(onward)
    assert acyclic({one: [other for other in to if other not in gone] for one, to in onward.items()})
    assert gone <= {one for knot in strongly_connected_components(onward) for one in knot}


def test_cycle_search_handles_large_cycle() -> None:
    number = 20_000
    ring = {one: [(one + 1) % number] for one in range(number)}
    assert cycle_breaking_nodes(ring) == {0}
