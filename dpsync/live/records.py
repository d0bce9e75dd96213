"""Lines of the ids file: those that concern a reading, and those that a reading gives."""

from __future__ import annotations

from collections.abc import Mapping

from dpsync.identity.ids import Recorded, other_kind
from dpsync.kinds.places import Places
from dpsync.kinds.registry import Registry
from dpsync.live.reading import ReadingState
from dpsync.model.address import Address
from dpsync.model.desired import Desired
from dpsync.model.ids import IdsFile, RecordedLine
from dpsync.model.snapshot import Records, Snapshot


def read_records(reading: ReadingState) -> None:
    """Note the lines of each organization that was found, under the key that it has now."""
    organizations = reading.by_parent[reading.registry.root.name, None]
    found = {entry.address: reading.matches[entry.address].id for entry in organizations}
    lines = _lines(reading.ids, reading.client.platform, found)
    earlier = _lines(reading.base.ids, reading.client.platform, found)
    empty = frozenset(found) - {address.top for address in lines}
    reading.records = Records(lines, earlier, empty)
    known = reading.desired.resources.keys() | reading.desired.unserved.keys()
    before = reading.base.desired
    orphans = {address: line for address, line in lines.items() if address not in known}
    unedited = {
        address for address, line in lines.items() if address in earlier and earlier[address].id == line.id
    }
    reading.recorded = Recorded(
        {**_under_another(reading, orphans), **lines},
        {line.id: address for address, line in orphans.items()},
        frozenset(
            address for address in unedited & known if before is not None and address not in before.resources
        ),
        frozenset(unedited),
    )


def _under_another(
    reading: ReadingState, orphans: Mapping[Address, RecordedLine]
) -> dict[Address, RecordedLine]:
    """Lines of entries that stand in another organization now, under the same key.

    Where the object is there already, the line is as good as one of its own; where it is not, it is a reason
    for a transfer (live/transfers.py), and no sign that something is gone.
    """
    found: dict[Address, RecordedLine] = {}
    by_key = {address.rest: line for address, line in orphans.items()}
    for address, entry in reading.desired.resources.items() if by_key else ():
        line = by_key.get(address.rest)
        if line is not None and reading.registry[entry.kind].lifecycle.transfer is not None:
            found[address] = line
    return found


def _lines(ids: IdsFile, platform: str, organizations: dict[Address, str]) -> dict[Address, RecordedLine]:
    return {
        address: line
        for organization, id in organizations.items()
        for address, line in ids.lines(platform, id, str(organization)).items()
    }


def lines_of_other_kinds(reading: ReadingState) -> None:
    """A line whose id is that of something else is a mistake in the file, not something that is gone."""
    by_id = {item.id: item.kind for item in reading.objects.values()}
    for address, missing in sorted(reading.missing.items()):
        entry = reading.desired.resources[address]
        if by_id.get(missing.id, entry.kind) != entry.kind:
            other = reading.registry[by_id[missing.id]].one
            noun = reading.registry[entry.kind].one
            reading.diagnostics.append(other_kind(reading.records.lines[address], entry, noun, other))


def recorded_lines(registry: Registry, desired: Desired, snapshot: Snapshot) -> dict[Address, RecordedLine]:
    """One for each entry that was recognised and has a line at all."""
    lines: dict[Address, RecordedLine] = {}
    for address, match in snapshot.matches.items():
        resource = desired.resources.get(address)
        if resource is None or not registry[resource.kind].recorded:
            continue
        also = None
        if registry[resource.kind].has_also:
            also = snapshot.outputs.get(address) or _first_inside(snapshot, (resource.kind, match.id))
        lines[address] = RecordedLine(address, match.id, also)
    return lines


def renamed_keys(registry: Registry, desired: Desired, snapshot: Snapshot) -> dict[Address, Address]:
    """Return the address in the ids file of each entry that has another key now, by the present address.

    Entries inside an entry with another key are left out.
    """
    places = Places(registry)
    known = desired.resources.keys() | desired.unserved.keys()
    lines = snapshot.records.lines
    former = {
        (kind.name, line.id): address
        for address, line in lines.items()
        if address not in known
        for kind in places.kinds(address)
    }
    found: dict[Address, Address] = {}
    for address, match in snapshot.matches.items() if former else ():
        entry = desired.resources.get(address)
        before = former.get((entry.kind, match.id)) if entry is not None and address not in lines else None
        if before is not None:
            found[address] = before
    return {
        address: before
        for address, before in found.items()
        if not any(above in found for above in address.upward() if above != address)
    }


def _first_inside(snapshot: Snapshot, identity: tuple[str, str]) -> str | None:
    """The id of the first live object directly in a node."""
    return next((id for _, id in snapshot.lanes.get(identity, ())), None)
