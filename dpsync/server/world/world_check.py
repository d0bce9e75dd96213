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
from ..records.record_kind import RecordKinds
from ..records.world_origin import check_format
from ..records.world_schema import (
    Name,
    Path,
    WorldModel,
    WorldProblem,
    find_problems,
    optional_member,
    record_keys,
    suggest,
    unknown_member_problem,
)
from ..records.world_sections import WORLD, WorldLoader, without_keys
from ..store import Json

_Column = Annotated[str, Field(pattern=r"^[^\x00]*$")]


class _RecordModel(WorldModel):
    """A record as the store keeps it."""

    kind: str
    id: Name
    doc: Json
    organization: _Column = optional_member()
    scope: _Column = optional_member()
    parent: _Column = optional_member()
    position: int = optional_member()
    ref: _Column = optional_member()
    seq: int = optional_member()


def check_world(world: Json, record_kinds: RecordKinds) -> list[WorldProblem]:
    """Return the faults of a world: of its shape, or else of loading it, or else of its references."""
    read = isinstance(world.get("origin"), dict)
    found = [*_check_top_level(world, record_kinds), *_check_sections(world, WORLD.kind, record_kinds, ())]
    if read:  # a platform may say more of a thing than this version knows
        found = [one for one in found if not one.is_unknown_member]
    if found:
        return found
    loading = WorldLoader(utc_now().astimezone(UTC), record_kinds.world_sections, record_kinds.id_prefixes)
    try:
        loading.load_world(world)
    except Exception as error:
        at = _find_path(loading.current_entries[-1], world) if loading.current_entries else ()
        return [WorldProblem(at, describe_error(error))]
    if read:  # what was read may refer to what was not
        return []
    return list(_check_sections(world, WORLD.kind, record_kinds, (), record_keys(loading.records)))


def describe_error(error: Exception) -> str:
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


def _check_top_level(world: Json, families: RecordKinds) -> Iterator[WorldProblem]:
    """Check the parts of a world outside of all sections: unknown members, and plain records."""
    known = [*(said.key for said in families.world_sections[WORLD.kind]), "format", "records"]
    yield from (unknown_member_problem((name,), known) for name in world.keys() - {*known})
    try:
        check_format(world)
    except ValueError as error:
        yield WorldProblem(("format",), str(error))
    records = world.get("records")
    yield from find_problems(list[_RecordModel] | None, records, ("records",))
    kinds = {kind for family in families for kind in (family.name, family.alternate_kind) if kind}
    for number, record in enumerate(records if isinstance(records, list) else ()):
        kind = record.get("kind") if isinstance(record, dict) else None
        if isinstance(kind, str) and kind not in kinds:
            hint = suggest(kind, kinds, f"known: {', '.join(sorted(kinds))}")
            yield WorldProblem(("records", number, "kind"), f"unknown kind of records {kind!r}", hint)


def _check_sections(
    given: Json,
    owner: str,
    families: RecordKinds,
    path: Path,
    known: frozenset[tuple[str, str]] | None = None,
) -> Iterator[WorldProblem]:
    """Check the sections of a record and of its entries; with `known`, check their references, too."""
    for said in families.world_sections.get(owner, ()):
        value, at = given.get(said.key), (*path, said.key)
        if value is None:
            continue
        if not said.kind or not isinstance(value, list):
            yield from find_problems(said.value_type, value, at, known)
            continue
        inner = {
            one.key
            for kind in _kind_names(said.kind, families)
            for one in families.world_sections.get(kind, ())
        }
        own = [without_keys(entry, *inner) if isinstance(entry, dict) else entry for entry in value]
        yield from find_problems(said.value_type, own, at, known)
        for number, entry in enumerate(value):
            if isinstance(entry, dict):
                yield from _check_sections(entry, said.kind, families, (*at, number), known)


def _kind_names(kind: str, families: RecordKinds) -> tuple[str, ...]:
    also = next((family.alternate_kind for family in families if family.name == kind), "")
    return (kind, also) if also else (kind,)


def _find_path(wanted: Any, world: Json) -> Path:
    """Return the path of an entry in a world, or () if it is not a mapping or a list."""
    waiting: list[tuple[Path, Any]] = [((), world)]
    while waiting:
        path, value = waiting.pop()
        if value is wanted:
            return path
        items = value.items() if isinstance(value, dict) else enumerate(value)
        waiting += [((*path, name), item) for name, item in items if isinstance(item, dict | list)]
    return ()
