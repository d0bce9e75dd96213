"""Export the whole state of the local server as one world: a document that a local server can load again.

State that the readable sections of a world cannot express is added as plain records.
"""

import math

from .. import world as worlds
from ..jobs.queue import JOB
from ..records.record_kind import RecordKinds
from ..resources import RECORD_KINDS
from ..store import Json, Record, Store, open_store


def export_state(store: Store, record_kinds: RecordKinds = RECORD_KINDS) -> Json:
    """Return the server's data (a world) from which a server starts with the same responses.

    The data have readable sections, and plain `records` for state that the sections cannot express. To find
    these records, the sections are loaded into a second store and compared. Jobs are left out because loading
    creates them. Ids of deleted objects may be used again after loading.
    """
    world = worlds.dump_world(store, record_kinds)
    loaded = open_store(":memory:")
    try:
        worlds.load_world(loaded, world, record_kinds=record_kinds)
        loaded_records = {
            (record.kind, record.id): (_loaded_columns(record), record.seq) for record in loaded.all_records()
        }
    finally:
        loaded.close()

    def sort_key(record: Record) -> tuple[str, float, int]:
        """Return the sort key of a record: its position after loading the world, else its own position."""
        _, seq = loaded_records.get((record.kind, record.id), ((), math.inf))
        return (record.kind, seq, record.seq)

    records = [
        {name: value for name, value in record.as_dict().items() if value and name != "seq"}
        for record in sorted(store.all_records(), key=sort_key)
        if record.kind != JOB
        and loaded_records.get((record.kind, record.id), ((), 0))[0] != _loaded_columns(record)
    ]
    return {**world, "records": [{"doc": {}, **record} for record in records]} if records else world


def _loaded_columns(record: Record) -> tuple[object, ...]:
    """Return the content of a record for a comparison, without its position, which the order expresses."""
    return (record.doc, record.organization, record.scope, record.parent, record.ref)
