"""Route a method and a path to an operation with a trie of segments. Exact segments precede parameters."""

from collections.abc import Iterable
from typing import Generic, TypeVar

from msgspec import Struct, field

T = TypeVar("T")


class _TrieNode(Struct, Generic[T]):
    """One segment of paths: the next literal segments, the next parameter, and the targets by method."""

    literals: dict[str, "_TrieNode[T]"] = field(default_factory=dict)
    parameter: "_TrieNode[T] | None" = None
    methods: dict[str, tuple[T, tuple[str, ...]]] = field(default_factory=dict)


class Routes(Generic[T]):
    """A trie of routes: `add("GET", "/spaces/{spaceId}", target)`, then `match`."""

    def __init__(self, routes: Iterable[tuple[str, str, T]] = ()) -> None:
        self._root: _TrieNode[T] = _TrieNode()
        for method, template, target in routes:
            self.add(method, template, target)

    def add(self, method: str, template: str, target: T) -> None:
        """Add a target for a method and a path template. Raise ValueError if there is one already."""
        node, names = self._root, []
        for segment in template.strip("/").split("/"):
            if segment.startswith("{"):
                names.append(segment.strip("{}"))
                node.parameter = node.parameter or _TrieNode()
                node = node.parameter
            else:
                node = node.literals.setdefault(segment, _TrieNode())
        if method in node.methods:
            raise ValueError(f"two targets for {method} {template}")
        node.methods[method] = (target, tuple(names))

    def match(self, segments: list[str]) -> dict[str, tuple[T, dict[str, str]]]:
        """Return the targets at a path with their parameters, by method; {} if the path is unknown."""
        targets: dict[str, tuple[T, dict[str, str]]] = {}
        self._walk(self._root, segments, 0, (), targets)
        return targets

    def _walk(
        self,
        node: _TrieNode[T],
        segments: list[str],
        index: int,
        values: tuple[str, ...],
        targets: dict[str, tuple[T, dict[str, str]]],
    ) -> None:
        """Add all targets that match the segments from `index` on to `targets`, exact segments first.

        `values` are the parameters in the segments before `index`.
        """
        if index == len(segments):
            for method, (target, names) in node.methods.items():
                targets.setdefault(method, (target, dict(zip(names, values, strict=True))))
            return
        segment = segments[index]
        if segment in node.literals:
            self._walk(node.literals[segment], segments, index + 1, values, targets)
        if node.parameter is not None and segment:
            self._walk(node.parameter, segments, index + 1, (*values, segment), targets)
