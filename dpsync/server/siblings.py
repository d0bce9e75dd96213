"""Order among siblings: where an item goes when it is placed before or after another one.

Positions are numbers in the records; only their order means anything. They may have gaps, so a deletion
writes nothing.
"""

from collections.abc import Sequence

from .errors import bad
from .store import Record, Store


def name(record: Record) -> tuple[str, str]:
    return record.kind, record.id


def place(
    siblings: Sequence[Record],
    item: Record,
    before: tuple[str, str] | None = None,
    after: tuple[str, str] | None = None,
) -> list[Record]:
    """The siblings with the item at its new place; at the end when no neighbour is named.

    Neighbours are (kind, id). Raises 400 when both are named, or when one is no sibling or the item itself.
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


def renumber(store: Store, ordered: Sequence[Record], changed: Record | None = None) -> None:
    """Writes the positions that differ from the order given, and `changed` in any case."""
    for index, record in enumerate(ordered, 1):
        if record.position != index or record is changed:
            record.position = index
            store.put(record)


def end(siblings: Sequence[Record]) -> int:
    """A position behind all of them."""
    return max((sibling.position for sibling in siblings), default=0) + 1
