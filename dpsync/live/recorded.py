"""The lines of an ids file that a reading gives: which live object each entry was recognised as."""

from __future__ import annotations

from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired
from dpsync.model.ids import Line
from dpsync.model.snapshot import Snapshot


def recorded_lines(registry: Registry, desired: Desired, snapshot: Snapshot) -> dict[Address, Line]:
    """One for each entry that was recognised and has a line at all."""
    lines: dict[Address, Line] = {}
    for address, match in snapshot.matches.items():
        resource = desired.resources.get(address)
        if resource is None or not registry[resource.kind].recorded:
            continue
        also = None
        if registry[resource.kind].has_also:
            also = snapshot.outputs.get(address) or _first_inside(snapshot, (resource.kind, match.id))
        lines[address] = Line(address, match.id, also)
    return lines


def _first_inside(snapshot: Snapshot, identity: tuple[str, str]) -> str | None:
    """The first live object directly in a node."""
    for inside in snapshot.lanes.get(identity, ()):
        return snapshot.objects[inside].id if inside in snapshot.objects else inside[1]
    return None
