"""Build the parts of a question about the identity of an entry: candidate objects, and answers."""

from __future__ import annotations

from collections.abc import Mapping

from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.question import Candidate, WayOut
from dpsync.model.snapshot import LiveObject
from dpsync.model.text import command


def candidates(kind: Kind, entry: Entry, items: Mapping[str, LiveObject | None]) -> tuple[Candidate, ...]:
    """Return the candidate objects of an entry, by id; an object is None if only its id is known."""
    place = entry.address.place
    return tuple(_candidate(kind, place, id, item) for id, item in items.items())


def _candidate(kind: Kind, place: Address, id: str, item: LiveObject | None) -> Candidate:
    title = item.fields.get(kind.title) if item is not None else None
    title = title if isinstance(title, str) and title else id
    changed = item.changed if item is not None else None
    return Candidate(address=str(place.unmanaged(title, id)), id=id, title=title, changed=changed)


def meaning(address: Address, id: str, shared: bool) -> str:
    """Return the text that binds an entry to a live object: `id:`, or a command that writes the ids file.

    If several environments share the files, `id:` would be an error in the others: ids differ by platform.
    """
    return command("ids", "--bind", f"{address}={id}") if shared else f"id: {id}"


def choice(change: str, address: Address, changed: str, other: str, shared: bool) -> str:
    """Return the hint for an entry that may be either of two objects; dpsync would change `changed`."""
    verb = "run" if shared else "add"
    return (
        f'if dpsync should {change} the object "{changed}", {verb} {meaning(address, changed, shared)}. '
        f"Otherwise, {verb} {meaning(address, other, shared)}"
    )


def it_is(entry: Entry, shared: bool, *ids: str) -> tuple[WayOut, ...]:
    """Return the answers that bind an entry to each of these objects."""
    return tuple(
        WayOut(
            address=str(entry.address),
            add=meaning(entry.address, id, shared),
            means="the entry is this object",
        )
        for id in ids
    )


def pinned(entry: Entry, id: str, shared: bool) -> WayOut:
    """Return the answer that confirms the line of an entry by `id:`."""
    where = f"; {_OVERLAY}" if shared else ""
    return WayOut(address=str(entry.address), add=f"id: {id}", means=f"the entry is this object{where}")


def pin(id: str, shared: bool) -> str:
    """Return `id:` for use in a sentence, with the file to write it in if environments share the files."""
    return f"id: {id} ({_OVERLAY})" if shared else f"id: {id}"


_OVERLAY = "in the overlay of the environment, because ids differ between environments"


def bind(entry: Entry, id: str) -> WayOut:
    """Return the answer that binds an entry to another object than its line in the ids file."""
    add = command("ids", "--bind", f"{entry.address}={id}")
    return WayOut(
        address=str(entry.address),
        add=add,
        means="the entry is this object, and its line in the ids file is wrong",
    )


def forget(entry: Entry, means: str) -> WayOut:
    """Return the answer that removes the line of an entry from the ids file."""
    return WayOut(address=str(entry.address), add=command("ids", "--forget", str(entry.address)), means=means)
