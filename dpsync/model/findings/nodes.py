"""The tree of a YAML file: scalars, sequences and mappings, each with the place where it was written.

Frozen and free of YAML's own types; nothing here reads text or knows what a key means.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from dpsync.model.findings.span import Span

Value: TypeAlias = bool | int | float | str | None
Json: TypeAlias = "Value | list[Json] | dict[str, Json]"


class Scalar(Struct, frozen=True):
    """One value. `text` is its content as written, without quotes; `plain` says that it had none.

    The span covers the quotes, and an anchor if there is one. `interpolated` is set when a variable was put
    into it: such a value may not be used where a secret is expected.
    """

    value: Value
    span: Span
    text: str
    plain: bool
    interpolated: bool = False


class Sequence(Struct, frozen=True):
    """A list. An item that is an alias is the very node of its anchor, with the span of the anchor."""

    items: tuple[Node, ...]
    span: Span

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Mapping(Struct, frozen=True, dict=True):
    """Entries in the order of the file. A key is unique and always text: `1: x` has the key "1"."""

    entries: tuple[tuple[Scalar, Node], ...]
    span: Span

    def __iter__(self) -> Iterator[tuple[Scalar, Node]]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, key: str) -> bool:
        return key in self._positions

    def get(self, key: str) -> Node | None:
        """The value of a key; None when the key is absent (a null value is a Scalar)."""
        position = self._positions.get(key)
        return None if position is None else self.entries[position][1]

    def key(self, key: str) -> Scalar | None:
        """The key itself, for its span."""
        position = self._positions.get(key)
        return None if position is None else self.entries[position][0]

    def with_keys(self, keys: Container[str]) -> Mapping:
        """Return a copy of the mapping with only the given keys."""
        return Mapping(tuple(entry for entry in self.entries if entry[0].text in keys), self.span)

    def keys(self) -> list[str]:
        """The keys, in the order of the file."""
        return [key.text for key, _ in self.entries]

    @cached_property
    def _positions(self) -> dict[str, int]:
        # Made on first use: most mappings of a large file are walked, not looked up, and a scan per look-up
        # would be quadratic on the few that have thousands of entries.
        return {entry.text: position for position, (entry, _) in enumerate(self.entries)}


Node: TypeAlias = Scalar | Sequence | Mapping


def plain(node: Node) -> Json:
    """The JSON value of a node, without positions."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key.text: plain(value) for key, value in node.entries}
