"""Define the tree of a YAML file, in which each node knows its position in the file.

A `Node` is a `Scalar`, a `Sequence` or a `Mapping`. Lines and columns of a `Span` start at 1. Nodes are
immutable and independent of the YAML library. Nothing here knows the meaning of a key.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct


class Span(NamedTuple):
    """A range in one file. `file` is relative to the project. Columns count characters; the end is excluded.

    A tuple, because a large configuration has hundreds of thousands of spans.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def start_of(cls, file: str) -> Span:
        """Return the start of a file, for a finding about a whole file.

        If the finding is about no file, `file` says what it is about.
        """
        return cls(file, 1, 1, 1, 1)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class WithSpan(Struct, frozen=True, eq=False):
    """The base of values with a `span`. The span does not count when two values are compared."""

    def _compared(self) -> tuple[Any, ...]:
        """Return the values of all fields but `span`."""
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name != "span")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._compared() == other._compared()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._compared())


Value: TypeAlias = bool | int | float | str | None
Json: TypeAlias = "Value | list[Json] | dict[str, Json]"


class Scalar(Struct, frozen=True):
    """One value. `text` is the content as written, without quotes; `plain` means that it had no quotes.

    The span includes the quotes and an anchor. `interpolated` means that a variable was replaced in it; such
    a value may not be used where a secret is expected.
    """

    value: Value
    span: Span
    text: str
    plain: bool
    interpolated: bool = False


class Sequence(Struct, frozen=True):
    """A list. An item that is an alias is the same node as its anchor, with the span of the anchor."""

    items: tuple[Node, ...]
    span: Span

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Mapping(Struct, frozen=True, dict=True):
    """A mapping in the order of the file. Keys are unique texts: `1: x` has the key "1"."""

    entries: tuple[tuple[Scalar, Node], ...]
    span: Span

    def __iter__(self) -> Iterator[tuple[Scalar, Node]]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, key: str) -> bool:
        return key in self._positions

    def get(self, key: str) -> Node | None:
        """Return the value of a key; None if the key is absent (a null value is a Scalar)."""
        position = self._positions.get(key)
        return None if position is None else self.entries[position][1]

    def key(self, key: str) -> Scalar | None:
        """Return the node of a key, for its span; None if the key is absent."""
        position = self._positions.get(key)
        return None if position is None else self.entries[position][0]

    def with_keys(self, keys: Container[str]) -> Mapping:
        """Return a copy of the mapping with only the given keys."""
        return Mapping(tuple(entry for entry in self.entries if entry[0].text in keys), self.span)

    def keys(self) -> list[str]:
        """Return the keys, in the order of the file."""
        return [key.text for key, _ in self.entries]

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Return the position of each key in `entries`."""
        # Computed on first use, because most mappings of a large file are only iterated. Without this index,
        # look-ups in a mapping with thousands of entries would take quadratic time.
        return {entry.text: position for position, (entry, _) in enumerate(self.entries)}


Node: TypeAlias = Scalar | Sequence | Mapping


def node_value(node: Node) -> Json:
    """Return the JSON value of a node, without positions."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [node_value(item) for item in node.items]
    return {key.text: node_value(value) for key, value in node.entries}
