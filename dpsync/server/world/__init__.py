"""Load and save worlds. A world is the data of a whole GitBook, which a local server starts with.

Input: a mapping in YAML or JSON, or the state in a store. An `id` may be left out, and is then made.
Output: the state in a store, or a mapping. The order of lists is the order on the platform. The keys are
`users`, `tokens`, `organizations`, and the objects in them: a comment at the top of each module of
`resources` gives the members. `records: [{kind, id, doc, organization…}]` has anything else, as the store
keeps it.
"""

from datetime import UTC, date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic_core import from_json

from ..clock import utc_now
from ..records.record_kind import RecordKinds
from ..records.world_sections import WORLD, WorldDumper, WorldLoader
from ..resources import RECORD_KINDS
from ..store import Json, Record, Store
from ..store.world_name import set_new_name
from .source_positions import error_position, format_problems
from .world_check import check_world, describe_error

__all__ = [
    "Json",
    "PreparedWorld",
    "describe_error",
    "dump_world",
    "load_builtin_world",
    "load_world",
    "read_world",
]

MAX_FILE_BYTES = 500_000_000
"""The maximum size of a world file."""
MAX_VALUES = 5_000_000
"""The maximum number of values in a world, counting a value again for each alias."""


def load_builtin_world() -> Json:
    """Return the world (the server's data) with which a new database starts."""
    return _parse((files(__package__) / "builtin.yaml").read_text(encoding="utf-8"))


def read_world(path: Path, record_kinds: RecordKinds = RECORD_KINDS) -> Json:
    """Read a world (the server's data) from a YAML or JSON file and check it.

    Raise OSError, or ValueError with all problems, each with its line and column.
    """
    if not path.is_file():
        raise ValueError(f"{path}: invalid data: the path is not a regular file")
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise ValueError(f"{path}: invalid data: the file is larger than {MAX_FILE_BYTES // 1_000_000} MB")
    try:
        text = content.decode("utf-8")
        world = _parse(text)
    except (ValueError, yaml.YAMLError) as error:
        raise ValueError(f"{path}{error_position(error)}: invalid data: {describe_error(error)}") from None
    if problems := check_world(world, record_kinds):
        raise ValueError("\n".join(format_problems(problems, str(path), text)))
    return world


def _parse(text: str) -> Json:
    """Return the world (the server's data) in a text, JSON or YAML.

    Raise ValueError if it is not a mapping or too large.
    """
    try:
        world = from_json(text)  # JSON is parsed many times faster than YAML
    except ValueError:
        world = yaml.load(text, Loader=yaml.CSafeLoader)
    if not isinstance(world, dict):
        raise ValueError("the data must be a mapping with users, tokens and organizations")
    _check_size(world)
    return world


def _check_size(world: Json) -> None:
    """Raise ValueError if YAML aliases expand to more values than a machine can hold."""
    unvisited: list[Any] = [world]
    values = 0
    while unvisited:
        value = unvisited.pop()
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        values += 1 + len(inner)
        if values > MAX_VALUES:
            raise ValueError(f"the data contain more than {MAX_VALUES:,} values")
        unvisited += [child for child in inner if isinstance(child, dict | list)]


class PreparedWorld:
    """A world that can be loaded repeatedly. Its records are computed once per day."""

    def __init__(self, world: Json, record_kinds: RecordKinds = RECORD_KINDS) -> None:
        self._world, self._record_kinds = world, record_kinds
        self._day: date | None = None
        self._records: list[Record] = []
        self._counters: dict[str, int] = {}

    def load(self, store: Store, now: datetime | None = None) -> None:
        """Replace all data in a store by this world, in one transaction, and give the data a new name.

        Clients recognize by the name that the data were replaced. Raise ValueError or KeyError if the world
        is invalid. `now` is the time of the server's clock if it differs from real time.
        """
        self._prepare((now or utc_now()).astimezone(UTC))
        with store.transaction():
            store.clear()
            store.put_all(self._records)
            store.set_counters(self._counters)
            set_new_name(store)

    def _prepare(self, now: datetime) -> None:
        """Compute the records to store, unless they were computed for the same day.

        They depend on the day of `now`, because a world can say how many days ago something happened.
        """
        if self._day == now.date():
            return
        loader = WorldLoader(now, self._record_kinds.world_sections, self._record_kinds.id_prefixes)
        loader.load_world(self._world)
        self._records = [Record(**{**record.as_dict(), "doc": record.text}) for record in loader.records]
        self._counters = {**loader.counters, "seq": len(loader.records)}
        self._day = now.date()


def load_world(
    store: Store, world: Json, now: datetime | None = None, record_kinds: RecordKinds = RECORD_KINDS
) -> None:
    """Replace the whole state by a world (the server's data).

    To load a world repeatedly, use `PreparedWorld`.
    """
    PreparedWorld(world, record_kinds).load(store, now)


def dump_world(store: Store, record_kinds: RecordKinds = RECORD_KINDS) -> Json:
    """Return the state as a world (the server's data) that gives the same answers.

    Only the times of agent instructions and visitor schemas change when the world is loaded.
    """
    return WorldDumper(store, record_kinds.world_sections).dump_children(WORLD)
