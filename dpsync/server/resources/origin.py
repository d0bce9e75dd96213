"""Declare the record of the origin: the GitBook organization from which a world was read, and when.

A world is the data that the local server starts with. One that somebody wrote by hand has no origin.
Output: a `RecordKind`, stored in this form:

format: dpsync.world/1
origin: {platform, readAt, profile, anonymous, caller, notRead: [path]}
"""

from ..records.record_kind import RecordKind
from ..records.world_origin import KIND, WorldOrigin, origin_record
from ..records.world_sections import WORLD, WorldDumper, WorldLoader, WorldSection
from ..store import Json, Record


def _load(loader: WorldLoader, _: Record, entry: Json) -> None:
    """Load the origin of the data. Raise ValueError if it is invalid."""
    loader.add(origin_record(entry))


def _dump(dumper: WorldDumper, _: Record) -> Json | None:
    """Return the origin of the data, or None if they were not read from a platform."""
    records = dumper.find_by_creation(KIND)
    return records[0].doc if records else None


RECORD_KINDS = (
    RecordKind(KIND, world_section=WorldSection("origin", _load, _dump, (WORLD.kind,), WorldOrigin)),
)
