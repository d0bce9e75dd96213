"""Route a method and a path to an operation with a trie of segments. Exact segments precede parameters."""

from collections.abc import Iterable
from typing import Generic, TypeVar

from msgspec import Struct, field

T = TypeVar("T")


class _Branch(Struct, Generic[T]):
    exact: dict[str, "_Branch[T]"] = field(default_factory=dict)
    any: "_Branch[T] | None" = None
    methods: dict[str, tuple[T, tuple[str, ...]]] = field(default_factory=dict)


class Routes(Generic[T]):
    """A trie of routes: `add("GET", "/spaces/{spaceId}", target)`, then `match`."""

    def __init__(self, routes: Iterable[tuple[str, str, T]] = ()) -> None:
        self._root: _Branch[T] = _Branch()
        for method, template, target in routes:
            self.add(method, template, target)

    def add(self, method: str, template: str, target: T) -> None:
        node, names = self._root, []
        for segment in template.strip("/").split("/"):
            if segment.startswith("{"):
                names.append(segment.strip("{}"))
                node.any = node.any or _Branch()
                node = node.any
            else:
                node = node.exact.setdefault(segment, _Branch())
        if method in node.methods:
            raise ValueError(f"two targets for {method} {template}")
        node.methods[method] = (target, tuple(names))

    def match(self, segments: list[str]) -> dict[str, tuple[T, dict[str, str]]]:
        """Return the targets at a path with their parameters, by method; {} if the path is unknown."""
        found: dict[str, tuple[T, dict[str, str]]] = {}
        self._walk(self._root, segments, 0, (), found)
        return found

    def _walk(
        self,
        node: _Branch[T],
        segments: list[str],
        at: int,
        values: tuple[str, ...],
        found: dict[str, tuple[T, dict[str, str]]],
    ) -> None:
        if at == len(segments):
            for method, (target, names) in node.methods.items():
                found.setdefault(method, (target, dict(zip(names, values, strict=True))))
            return
        segment = segments[at]
        if segment in node.exact:
            self._walk(node.exact[segment], segments, at + 1, values, found)
        if node.any is not None and segment:
            self._walk(node.any, segments, at + 1, (*values, segment), found)
