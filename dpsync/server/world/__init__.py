"""Worlds: a whole platform as data, to start from.

A world is a mapping (YAML or JSON); every `id` may be left out and is then made:

    users, tokens, organizations                        # and what is in them, in turn: see below
    records: [{kind, id, doc, organization…}]           # anything else, as the store keeps it

What is under each other key is said by the families that declare it: at the top of the modules of `families`.
Order in lists is order on the platform.
"""

from datetime import datetime
from importlib.resources import files
from pathlib import Path

import yaml

from ..clock import utc_now
from ..families import FAMILIES
from ..families.loading import Dumping, Loading
from ..family import WORLD, Families, Json
from ..store import Record, Store
from ..world_name import rename

__all__ = ["Json", "builtin", "dump", "load", "read"]


def builtin() -> Json:
    """The world that a fresh database starts with."""
    return _parse((files(__package__) / "builtin.yaml").read_text(encoding="utf-8"))


def read(path: Path) -> Json:
    return _parse(path.read_text(encoding="utf-8"))


def _parse(text: str) -> Json:
    world = yaml.load(text, Loader=yaml.CSafeLoader)
    if not isinstance(world, dict):
        raise ValueError("a world is a mapping with users, tokens and organizations")
    return world


def complaint(error: Exception) -> str:
    """Why something is no world, from what reading or loading it has raised."""
    match error:
        case KeyError():
            return f"{error.args[0]!r} is missing, or names nothing that is there"
        case ValueError() | yaml.YAMLError():
            return " ".join(str(error).split())
    return "a value is of another type than a world has there"


def load(store: Store, world: Json, now: datetime | None = None, families: Families = FAMILIES) -> None:
    """Replaces the whole state by a world with a name of its own, in one transaction.

    ValueError or KeyError: not a world. `now` is the time on the platform, where it is not the real one.
    """
    loading = Loading(now or utc_now(), families)
    loading.inside(WORLD, world)
    for record in world.get("records") or []:
        loading.replace(Record(**record))
    with store.transaction():
        store.clear()
        store.put_all(loading.records)
        store.set_counters({**loading.counters, "seq": len(loading.records)})
        rename(store)


def dump(store: Store, families: Families = FAMILIES) -> Json:
    """The state as a world: loading it gives the same answers, but for times of instructions and schemas."""
    return Dumping(store, families).inside(WORLD)
