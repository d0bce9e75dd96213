"""Find cycles in directed graphs, such as graphs of entries, steps or redirects, in linear time.

Input: a mapping from each node to its successors. Output: cycles, components, or nodes to remove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

T = TypeVar("T")
Graph = Mapping[T, Sequence[T]]
"""Each node with the nodes that it leads to, which all are nodes of the graph too."""
MAX_SHOWN_NAMES: Final = 10
"""The maximum number of names of a cycle in a message."""


def find_simple_cycles(nodes: Iterable[T], next_node: Callable[[T], T | None]) -> Iterator[tuple[T, ...]]:
    """Yield each cycle of a graph in which each node leads to at most one other node.

    `next_node` returns that node. In a yielded tuple, each node leads to the next one, and the last one to
    the first.
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
    """Yield the strongly connected components of at least two nodes: the nodes that are in common cycles.

    This is Kosaraju's algorithm: order the nodes by the end of a depth-first search, then collect from the
    last one on the nodes that are reachable in the reversed graph.
    """
    order: list[T] = []
    seen: set[T] = set()
    for start in graph:
        pending = [(start, False)]
        while pending:
            node, done = pending.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                pending.append((node, True))
                pending += [(other, False) for other in graph[node]]
    reverse, visited = reversed_graph(graph), set[T]()
    for start in reversed(order):
        component = _take_reachable(reverse, start, visited)
        if len(component) > 1:
            yield component


def cycle_breaking_nodes(graph: Graph[T]) -> set[T]:
    """Return nodes whose removal breaks every cycle.

    For a single cycle, this is the node that is first in `graph`. In each strongly connected component, a
    depth-first search selects the targets of its back edges.
    """
    targets: set[T] = set()
    for component in strongly_connected_components(graph):
        done: set[T] = set()
        for start in (node for node in graph if node in component):
            path: dict[T, Iterator[T]] = {}
            current: T | None = start if start not in done else None
            while current is not None:
                successors = path.setdefault(current, (node for node in graph[current] if node in component))
                successor = next((node for node in successors if node in path or node not in done), None)
                if successor is None:
                    done.add(current)
                    del path[current]
                    current = next(reversed(path), None)
                elif successor in path:
                    targets.add(successor)
                else:
                    current = successor
    return targets


def reversed_graph(graph: Graph[T]) -> dict[T, list[T]]:
    """Return the reversed graph: each node with the nodes that lead to it."""
    predecessors: dict[T, list[T]] = {node: [] for node in graph}
    for node, successors in graph.items():
        for successor in successors:
            predecessors[successor].append(node)
    return predecessors


def _take_reachable(graph: Graph[T], start: T, visited: set[T]) -> set[T]:
    """Return the nodes that are reachable from `start` and not in `visited`, and add them to `visited`."""
    reached: set[T] = set()
    pending = [start]
    while pending:
        node = pending.pop()
        if node not in visited:
            visited.add(node)
            reached.add(node)
            pending += graph[node]
    return reached


def rotated_to(first: T, cycle: tuple[T, ...]) -> tuple[T, ...]:
    """Return the same cycle, beginning with another of its nodes."""
    index = cycle.index(first)
    return (*cycle[index:], *cycle[:index])


def format_cycle(names: Sequence[str], separator: str) -> str:
    """Join the names of a cycle; for a long cycle only the first names and the last one."""
    if len(names) <= MAX_SHOWN_NAMES:
        return separator.join(names)
    return separator.join(
        [*names[: MAX_SHOWN_NAMES - 1], f"… ({len(names) - MAX_SHOWN_NAMES} more)", names[-1]]
    )
