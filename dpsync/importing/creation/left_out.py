"""What an import leaves out: notes for the output, and comments at the places in the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dpsync.importing.creation.entries import DescribedEntries, LeftOut, not_imported
from dpsync.importing.creation.inventory import FoundObject, Inventory, UnreadSource
from dpsync.kinds.kind import Node
from dpsync.model.address import Address
from dpsync.model.text import listed

_NAMED = 3
"""How many objects a comment names that are left out for one reason."""


def left_out(whole: Inventory, nameless: Sequence[FoundObject], entries: DescribedEntries) -> list[LeftOut]:
    """Return one note for each object, field and place that is not in the files, ordered by address."""
    found = [
        LeftOut(str(item.parent.address if item.parent else ""), None, _no_key(item)) for item in nameless
    ]
    found += entries.left_out
    found += _unread(_below_written(whole))
    return sorted(found, key=lambda note: (note.address, note.field or "", note.why))


def add_comments(whole: Inventory, nameless: Sequence[FoundObject], entries: DescribedEntries) -> None:
    """Add a comment to the entry around each place and object that is not in the files."""
    reasons: dict[tuple[Address, str], list[str]] = {}
    for item in nameless:
        if item.parent is not None:
            reasons.setdefault((_owner(item.parent).address, _no_key(item)), []).append(item.kind.key)
    for note in entries.left_out:
        address = Address.parse(note.address)
        owner = next((at for at in address.upward() if at in entries.by_address), None)
        if note.field is None and owner is not None:
            owner = _owner(entries.by_address[owner].found).address
            name = "/".join(address.segments[len(owner.segments) :])
            reasons.setdefault((owner, f"{note.why}. Write the entry by hand."), []).append(name)
    for one in _below_written(whole):
        owner = _owner(one.parent).address
        of_node = f" of each {one.parent.kind.noun}" if owner != one.parent.address else ""
        reasons.setdefault((owner, one.why), []).append(f"{one.kind.key}{of_node}")
    for (owner, why), names in reasons.items():
        if (entry := entries.by_address.get(owner)) is not None:
            entry.comments.append(not_imported(_some(dict.fromkeys(names)), why))


def _below_written(whole: Inventory) -> list[UnreadSource]:
    written = {id(item) for item in whole.objects}
    return [one for one in whole.unread if id(one.parent) in written]


def _owner(item: FoundObject) -> FoundObject:
    """Return the object in whose entry a comment is written: for a node the owner of its tree."""
    return next(one for one in item.above() if not isinstance(one.kind.shape, Node))


def _some(names: Iterable[str]) -> str:
    first, more = [*names][:_NAMED], [*names][_NAMED:]
    return f"{', '.join(first)} and {len(more)} more" if more else listed(first)


def _unread(unread: Sequence[UnreadSource]) -> Iterator[LeftOut]:
    """Yield one note for each place, or one for all places of an organization with the same reason."""
    together: dict[tuple[str, ...], list[UnreadSource]] = {}
    for one in unread:
        above = one.parent
        key = (one.kind.name, above.kind.name, one.why, above.address.first)
        together.setdefault(key, []).append(one)
    for group in together.values():
        yield LeftOut(common_pattern([one.place for one in group]), None, group[0].why)


def common_pattern(places: Sequence[Address]) -> str:
    """Return a pattern for all places: `*` for segments that differ, `**` for different depths."""
    first, *more = places
    if not more:
        return str(first)
    if len({len(place.segments) for place in places}) > 1:
        return f"{first.first}/**/{first.last}"
    levels = zip(*(place.segments for place in places), strict=True)
    return "/".join(level[0] if len(set(level)) == 1 else "*" for level in levels)


def _no_key(item: FoundObject) -> str:
    return f"the {item.kind.noun} {item.live.id} has no value for its key, or another object has the same key"
