"""Check a world that somebody wrote, and report all errors with their positions.

A world that a test or a rehearsal makes is not checked. It is loaded, and loading raises an error if it is
invalid.
"""

from collections.abc import Iterator
from datetime import UTC
from typing import Annotated, Any

import yaml
from pydantic import Field, ValidationError

from ..clock import utc_now
from ..records.family import Families
from ..records.origin import check_format
from ..records.world_format import WORLD, Loading, but
from ..records.world_shapes import (
    Name,
    Path,
    Shape,
    WorldFault,
    faults_in,
    instead,
    known_records,
    maybe,
    unknown_member,
)
from ..store import Json

_Column = Annotated[str, Field(pattern=r"^[^\x00]*$")]


class _PlainRecord(Shape):
    """A record as the store keeps it."""

    kind: str
    id: Name
    doc: Json
    organization: _Column = maybe()
    scope: _Column = maybe()
    parent: _Column = maybe()
    position: int = maybe()
    ref: _Column = maybe()
    seq: int = maybe()


def faults_of(world: Json, families: Families) -> list[WorldFault]:
    """Return the faults of a world: of its shape, or else of loading it, or else of its references."""
    read = isinstance(world.get("origin"), dict)
    found = [*_top(world, families), *_inside(world, WORLD.kind, families, ())]
    if read:  # a platform may say more of a thing than this version knows
        found = [one for one in found if not one.unknown]
    if found:
        return found
    loading = Loading(utc_now().astimezone(UTC), families.sections, families.prefixes)
    try:
        loading.fill(world)
    except Exception as error:
        at = _path_of(loading.at[-1], world) if loading.at else ()
        return [WorldFault(at, complaint(error))]
    if read:  # what was read may refer to what was not
        return []
    return list(_inside(world, WORLD.kind, families, (), known_records(loading.records)))


def complaint(error: Exception) -> str:
    """Return why a world is invalid, as a message for an error of reading or loading it."""
    match error:
        case yaml.MarkedYAMLError():
            return " ".join(filter(None, (error.context, error.problem)))
        case KeyError():
            return f"{error.args[0]!r} is missing, or refers to an unknown object"
        case ValidationError():
            first = error.errors(include_url=False)[0]
            return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        case ValueError() | yaml.YAMLError():
            return " ".join(str(error).split())
    return "a value has the wrong type"


def _top(world: Json, families: Families) -> Iterator[WorldFault]:
    """Check the parts of a world outside of all sections: unknown members, and plain records."""
    known = [*(said.key for said in families.sections[WORLD.kind]), "format", "records"]
    yield from (unknown_member((name,), known) for name in world.keys() - {*known})
    try:
        check_format(world)
    except ValueError as error:
        yield WorldFault(("format",), str(error))
    records = world.get("records")
    yield from faults_in(list[_PlainRecord] | None, records, ("records",))
    kinds = {kind for family in families for kind in (family.kind, family.also) if kind}
    for number, record in enumerate(records if isinstance(records, list) else ()):
        kind = record.get("kind") if isinstance(record, dict) else None
        if isinstance(kind, str) and kind not in kinds:
            hint = instead(kind, kinds, f"known: {', '.join(sorted(kinds))}")
            yield WorldFault(("records", number, "kind"), f"unknown kind of records {kind!r}", hint)


def _inside(
    given: Json, owner: str, families: Families, path: Path, known: frozenset[tuple[str, str]] | None = None
) -> Iterator[WorldFault]:
    """Check the sections of a record and of its entries; with `known`, check their references, too."""
    for said in families.sections.get(owner, ()):
        value, at = given.get(said.key), (*path, said.key)
        if value is None:
            continue
        if not said.kind or not isinstance(value, list):
            yield from faults_in(said.shape, value, at, known)
            continue
        inner = {one.key for kind in _kinds(said.kind, families) for one in families.sections.get(kind, ())}
        own = [but(entry, *inner) if isinstance(entry, dict) else entry for entry in value]
        yield from faults_in(said.shape, own, at, known)
        for number, entry in enumerate(value):
            if isinstance(entry, dict):
                yield from _inside(entry, said.kind, families, (*at, number), known)


def _kinds(kind: str, families: Families) -> tuple[str, ...]:
    also = next((family.also for family in families if family.kind == kind), "")
    return (kind, also) if also else (kind,)


def _path_of(wanted: Any, world: Json) -> Path:
    """Return the path of an entry in a world, or () if it is not a mapping or a list."""
    waiting: list[tuple[Path, Any]] = [((), world)]
    while waiting:
        path, value = waiting.pop()
        if value is wanted:
            return path
        items = value.items() if isinstance(value, dict) else enumerate(value)
        waiting += [((*path, name), item) for name, item in items if isinstance(item, dict | list)]
    return ()
