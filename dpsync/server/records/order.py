"""Order siblings: place an item before or after another item.

Positions are numbers in the records; only their order matters. They have gaps, so a deletion writes nothing
and a move writes only the moved items. Other items keep their positions, so the cursor of a list stays valid.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, pairwise

from ..errors import bad
from ..store import Record, Store

STEP = 2**32
"""Between neighbours that nobody has moved."""


def name(record: Record) -> tuple[str, str]:
    return record.kind, record.id


def place(
    siblings: Sequence[Record],
    item: Record,
    before: tuple[str, str] | None = None,
    after: tuple[str, str] | None = None,
) -> list[Record]:
    """Return the siblings with the item at its new position, or at the end if no neighbor is given.

    Neighbors are (kind, id). Raise 400 if both are given, or if a neighbor is not a sibling or is the item
    itself.
    """
    if before and after:
        raise bad("body.position: invalid position: name `before` or `after`, not both")
    rest = [sibling for sibling in siblings if name(sibling) != name(item)]
    neighbour = before or after
    if neighbour is None:
        return [*rest, item]
    for index, sibling in enumerate(rest):
        if name(sibling) == neighbour:
            at = index if before else index + 1
            return [*rest[:at], item, *rest[at:]]
    raise bad(f"body.position: invalid position: {neighbour[1]!r} is not a sibling of {item.id!r}")


def same_order(one: Sequence[Record], other: Sequence[Record]) -> bool:
    return [name(record) for record in one] == [name(record) for record in other]


def renumber(store: Store, ordered: Sequence[Record], moved: Collection[Record]) -> None:
    """Store the given order by writing positions of the moved items between those of the others.

    If there is no room between two positions, all items get new positions.
    """
    names = {name(record) for record in moved}
    runs = [(stays, [*run]) for stays, run in groupby(ordered, lambda record: name(record) not in names)]
    numbers = [*_numbers(runs)]
    if any(one >= other for one, other in pairwise(numbers)):
        numbers = [STEP * index for index in range(1, len(ordered) + 1)]
    for record, number in zip(ordered, numbers, strict=True):
        if record.position != number or name(record) in names:
            record.position = number
            store.put(record)


def _numbers(runs: Sequence[tuple[bool, list[Record]]]) -> Iterator[int]:
    """Yield the positions of siblings, given as runs of moved and of unmoved items."""
    for index, (stays, run) in enumerate(runs):
        if stays:
            yield from (record.position for record in run)
            continue
        low = runs[index - 1][1][-1].position if index else None
        high = runs[index + 1][1][0].position if index + 1 < len(runs) else None
        if low is None:
            low = (STEP if high is None else high) - STEP * (len(run) + 1)
        step = STEP if high is None else (high - low) // (len(run) + 1)
        yield from (low + step * number for number in range(1, len(run) + 1))


def end(siblings: Sequence[Record]) -> int:
    """Return a position after all siblings."""
    return max((sibling.position for sibling in siblings), default=0) + STEP
