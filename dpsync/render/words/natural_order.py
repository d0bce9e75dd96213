"""Sort names as people do, with numbers by their value: `gen-2` stands before `gen-10`.

This order is for reading only. A plan keeps its own order, from which its digest is computed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Final, TypeVar

from dpsync.model.address import Address

_NUMBER: Final = re.compile(r"([0-9]+)")
_NAVIGATION: Final = "structure"
"""The key of navigations in addresses. Their entries have an order of their own."""

Item = TypeVar("Item")
Key = tuple[tuple[str, int, str], ...]


def natural_key(name: str) -> Key:
    """Return the key by which a name is sorted. Two names have the same key only if they are equal."""
    texts, numbers = _NUMBER.split(name)[::2], _NUMBER.findall(name)
    # A number is compared by its digits: int() refuses very long ones.
    digits = [number.lstrip("0") for number in numbers]
    parts = [(text, len(digit), digit) for text, digit in zip(texts, [*digits, ""], strict=True)]
    return (*parts, (name, 0, ""))


def natural_address_key(address: Address) -> tuple[Key, ...]:
    """Return the key by which an address is sorted, segment by segment."""
    return tuple(map(natural_key, address.segments))


def in_natural_order(
    items: Collection[Item], address: Callable[[Item], Address], last: Callable[[Item], bool]
) -> tuple[Item, ...]:
    """Return items in the natural order of their addresses; those for which `last` holds come last.

    Siblings with an order of their own keep it: entries of a navigation, and entries that are not sorted by
    name. Items that come last are sorted by name everywhere, since deleted entries have no order any more.
    """
    first = [address(item) for item in items if not last(item)]
    numbers, sorted_places = _appearance(first)

    def key(item: Item) -> tuple[bool, list[tuple[int, Key]]]:
        comes_last = last(item)
        parts = list(address(item).upward())[::-1]
        return comes_last, [
            (0 if comes_last or part.place in sorted_places else numbers[part], natural_key(part.last))
            for part in parts
        ]

    return tuple(sorted(items, key=key))


def _appearance(addresses: Iterable[Address]) -> tuple[dict[Address, int], set[Address]]:
    """Return the number of each address and of all above it, and the places that are sorted by name."""
    numbers: dict[Address, int] = {}
    places: dict[Address, list[str]] = defaultdict(list)
    for address in addresses:
        for part in list(address.upward())[::-1]:
            if part not in numbers:
                numbers[part] = len(numbers)
                places[part.place].append(part.last)
    by_name = {
        place
        for place, names in places.items()
        if names == sorted(names) and _NAVIGATION not in place.segments
    }
    return numbers, by_name
