"""Live objects whose entry is gone from the files: a line of an ids file, or the git base, knows the entry.

It says nothing about why: the entry was removed, or it has another key and another name now.
"""

from __future__ import annotations

from dpsync.kinds.places import Places
from dpsync.model.entries.snapshot import Identity
from dpsync.planner.inputs.sides import Sides


def removed(sides: Sides) -> set[Identity]:
    """The objects of entries that were removed; another entry may be one of them now."""
    records, known = sides.snapshot.records, sides.desired.resources.keys() | sides.desired.unserved.keys()
    lines = [
        (address, line.id)
        for lines in (records.lines, records.earlier)
        for address, line in lines.items()
        if address not in known
    ]
    places = Places(sides.registry)
    named = {(kind.name, id) for address, id in lines for kind in places.kinds(address)}
    found = {identity for identity in sides.snapshot.objects if identity in named}
    return found | {identity for address, identity in sides.names.remembered.items() if address not in known}
