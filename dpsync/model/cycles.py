"""Find cycles among things that lead to each other, such as entries, steps or redirects, in linear time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

T = TypeVar("T")
Graph = Mapping[T, Sequence[T]]
"""Each thing with those that it leads to, all of which are things of it."""
MAX_SHOWN_NAMES: Final = 10
"""Names of a circle that are told. Its beginning shows what is wrong, and nobody reads ten thousand."""


def find_simple_cycles(nodes: Iterable[T], next_node: Callable[[T], T | None]) -> Iterator[tuple[T, ...]]:
    """Yield each cycle once, where each thing leads to at most one other thing, `around(thing)`.

    In the yielded tuple, each thing leads to the next one, and the last one to the first.
    """
    done: set[T] = set()
    for start in nodes:
        path: dict[T, int] = {}
        current: T | None = start
        while current is not None and current not in done:
            done.add(current)
            path[current] = len(path)
            current = next_node(current)
        if current is not None and current in path:
            yield tuple(path)[path[current] :]


def strongly_connected_components(graph: Graph[T]) -> Iterator[set[T]]:
    """Yield the strongly connected components of at least two things, with Kosaraju's algorithm."""
    order: list[T] = []
    seen: set[T] = set()
    for start in graph:
        pending = [(start, False)]
        while pending:
            thing, done = pending.pop()
            if done:
                order.append(thing)
            elif thing not in seen:
                seen.add(thing)
                pending.append((thing, True))
                pending += [(other, False) for other in graph[thing]]
    back, placed = reversed_graph(graph), set[T]()
    for start in reversed(order):
        component = _take_reachable(back, start, placed)
        if len(component) > 1:
            yield component


def cycle_breaking_nodes(graph: Graph[T]) -> set[T]:
    """Return things whose removal breaks every cycle.

    For a single cycle: the thing that is first in `graph`. In each strongly connected component, a
    depth-first search selects the targets of its back edges.
    """
    targets: set[T] = set()
    for component in strongly_connected_components(graph):
        done: set[T] = set()
        for start in (thing for thing in graph if thing in component):
            path: dict[T, Iterator[T]] = {}
            current: T | None = start if start not in done else None
            while current is not None:
                successors = path.setdefault(
                    current, (thing for thing in graph[current] if thing in component)
                )
                following = next((thing for thing in successors if thing in path or thing not in done), None)
                if following is None:
                    done.add(current)
                    del path[current]
                    current = next(reversed(path), None)
                elif following in path:
                    targets.add(following)
                else:
                    current = following
    return targets


def reversed_graph(graph: Graph[T]) -> dict[T, list[T]]:
    """Return the reversed graph: each thing with the things that lead to it."""
    found: dict[T, list[T]] = {thing: [] for thing in graph}
    for thing, others in graph.items():
        for other in others:
            found[other].append(thing)
    return found


def _take_reachable(graph: Graph[T], start: T, placed: set[T]) -> set[T]:
    """Return the things that `graph` reaches from `start` and that are not in `placed`; add them to it."""
    reached: set[T] = set()
    pending = [start]
    while pending:
        thing = pending.pop()
        if thing not in placed:
            placed.add(thing)
            reached.add(thing)
            pending += graph[thing]
    return reached


def rotated_to(first: T, cycle: tuple[T, ...]) -> tuple[T, ...]:
    """Return the same cycle, beginning with another of its things."""
    index = cycle.index(first)
    return (*cycle[index:], *cycle[:index])


def format_cycle(names: Sequence[str], separator: str) -> str:
    """Join the names of a cycle; for a long cycle only the first names and the last one."""
    if len(names) <= MAX_SHOWN_NAMES:
        return separator.join(names)
    return separator.join(
        [*names[: MAX_SHOWN_NAMES - 1], f"… ({len(names) - MAX_SHOWN_NAMES} more)", names[-1]]
    )
