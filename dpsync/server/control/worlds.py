"""The whole state as one document: a world, with what its readable part does not say as plain records."""

import math

from .. import world as worlds
from ..families import FAMILIES
from ..jobs.queue import KIND as JOB
from ..records.family import Families
from ..store import Json, Record, Store, open_store


def export(store: Store, families: Families = FAMILIES) -> Json:
    """A world that loads to the same answers. New ids may be ones that had been used and were deleted.

    What is left unsaid is found by loading what is said. Jobs are left out: loading makes them.
    """
    world = worlds.dump(store, families)
    loaded = open_store(":memory:")
    try:
        worlds.load(loaded, world, families=families)
        said = {(record.kind, record.id): (_said(record), record.seq) for record in loaded.every()}
    finally:
        loaded.close()

    def order(record: Record) -> tuple[str, float, int]:
        """A record that the world says too will have its place there, whenever it was made."""
        _, seq = said.get((record.kind, record.id), ((), math.inf))
        return (record.kind, seq, record.seq)

    records = [
        {name: value for name, value in record.as_dict().items() if value and name != "seq"}
        for record in sorted(store.every(), key=order)
        if record.kind != JOB and said.get((record.kind, record.id), ((), 0))[0] != _said(record)
    ]
    return {**world, "records": [{"doc": {}, **record} for record in records]} if records else world


def _said(record: Record) -> tuple[object, ...]:
    """Positions are said by order, not by number."""
    return (record.doc, record.organization, record.scope, record.parent, record.ref)
