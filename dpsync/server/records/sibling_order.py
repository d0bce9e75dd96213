"""Order siblings: place an item before or after another item.

Positions are numbers in the records; only their order matters. They have gaps, so a deletion writes nothing
and a move writes only the moved items. Other items keep their positions, so the cursor of a list stays valid.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, pairwise

from ..errors import bad_request
from ..store import Record, Store

POSITION_STEP = 2**32
"""The gap between the positions of new neighbors, which leaves room for later moves."""


def record_key(record: Record) -> tuple[str, str]:
    """Return what identifies a record among siblings of several kinds."""
    return record.kind, record.id


def insert_sibling(
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
        raise bad_request("body.position: invalid position: name `before` or `after`, not both")
    others = [sibling for sibling in siblings if record_key(sibling) != record_key(item)]
    neighbour = before or after
    if neighbour is None:
        return [*others, item]
    for index, sibling in enumerate(others):
        if record_key(sibling) == neighbour:
            position = index if before else index + 1
            return [*others[:position], item, *others[position:]]
    raise bad_request(f"body.position: invalid position: {neighbour[1]!r} is not a sibling of {item.id!r}")


def same_order(before: Sequence[Record], after: Sequence[Record]) -> bool:
    """Return whether two lists have the same records in the same order."""
    return [record_key(record) for record in before] == [record_key(record) for record in after]


def write_positions(store: Store, ordered: Sequence[Record], moved: Collection[Record]) -> None:
    """Store the given order by writing positions of the moved items between those of the others.

    If there is no room between two positions, all items get new positions.
    """
    moved_keys = {record_key(record) for record in moved}
    runs = [
        (is_unmoved, [*run])
        for is_unmoved, run in groupby(ordered, lambda record: record_key(record) not in moved_keys)
    ]
    numbers = [*_assign_positions(runs)]
    if any(position >= next_position for position, next_position in pairwise(numbers)):
        numbers = [POSITION_STEP * index for index in range(1, len(ordered) + 1)]
    for record, number in zip(ordered, numbers, strict=True):
        if record.position != number or record_key(record) in moved_keys:
            record.position = number
            store.put(record)


def _assign_positions(runs: Sequence[tuple[bool, list[Record]]]) -> Iterator[int]:
    """Yield the positions of siblings, given as runs (whether it is unmoved, records) in the new order.

    Unmoved records keep their positions. Moved records are spread evenly between their unmoved neighbors, so
    that the positions may not increase if there is no room.
    """
    for index, (is_unmoved, run) in enumerate(runs):
        if is_unmoved:
            yield from (record.position for record in run)
            continue
        low = runs[index - 1][1][-1].position if index else None
        high = runs[index + 1][1][0].position if index + 1 < len(runs) else None
        if low is None:
            low = (POSITION_STEP if high is None else high) - POSITION_STEP * (len(run) + 1)
        step = POSITION_STEP if high is None else (high - low) // (len(run) + 1)
        yield from (low + step * number for number in range(1, len(run) + 1))


def end_position(siblings: Sequence[Record]) -> int:
    """Return a position after all siblings."""
    return max((sibling.position for sibling in siblings), default=0) + POSITION_STEP
