"""The origin of data that were read from a GitBook organization.

format: dpsync.world/1
origin: {platform, readAt, profile, anonymous, caller, notRead: [path]}
"""

from ..records.family import Family
from ..records.origin import KIND, WorldOrigin, record_of
from ..records.world_format import WORLD, Dumping, Loading, WorldSection
from ..store import Json, Record


def _load(loading: Loading, _: Record, given: Json) -> None:
    loading.add(record_of(given))


def _dump(dumping: Dumping, _: Record) -> Json | None:
    found = dumping.created(KIND)
    return found[0].doc if found else None


FAMILIES = (Family(KIND, world=WorldSection("origin", _load, _dump, (WORLD.kind,), WorldOrigin)),)
