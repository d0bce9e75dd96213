"""Check a world (the initial data of the local server) that somebody wrote, and report all errors.

Input: the parsed mapping. Output: problems with their paths in the mapping.
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
    """Return the problems of a world (the server's initial data): of its shape, of loading, of references.

    Each check runs only if the one before found no problem. In a copy of a real organization, unknown members
    and references to objects that were not read are allowed.
    """
    is_platform_copy = isinstance(world.get("origin"), dict)
    problems = [*_check_top_level(world, record_kinds), *_check_sections(world, WORLD.kind, record_kinds, ())]
    if is_platform_copy:  # a newer platform may have fields that this version does not know
        problems = [problem for problem in problems if not problem.is_unknown_member]
    if problems:
        return problems
    loader = WorldLoader(utc_now().astimezone(UTC), record_kinds.world_sections, record_kinds.id_prefixes)
    try:
        loader.load_world(world)
    except Exception as error:
        path = _find_path(loader.current_entries[-1], world) if loader.current_entries else ()
        return [WorldProblem(path, describe_error(error))]
    if is_platform_copy:  # objects that were read may refer to objects that were not
        return []
    return list(_check_sections(world, WORLD.kind, record_kinds, (), record_keys(loader.records)))


def describe_error(error: Exception) -> str:
    """Return why a world is invalid, as a message for an error of reading or loading it."""
    match error:
        case yaml.MarkedYAMLError():
            return " ".join(filter(None, (error.context, error.problem)))
        case KeyError():
            return f"{error.args[0]!r} is missing, or refers to an unknown object"
        case ValidationError():
            first_error = error.errors(include_url=False)[0]
            return f"{'.'.join(map(str, first_error['loc']))}: {first_error['msg']}"
        case ValueError() | yaml.YAMLError():
            return " ".join(str(error).split())
    return "a value has the wrong type"


def _check_top_level(world: Json, record_kinds: RecordKinds) -> Iterator[WorldProblem]:
    """Yield problems of the top level of a world (initial data): unknown members, format, plain records."""
    known_members = [
        *(section.key for section in record_kinds.world_sections[WORLD.kind]),
        "format",
        "records",
    ]
    yield from (unknown_member_problem((name,), known_members) for name in world.keys() - {*known_members})
    try:
        check_format(world)
    except ValueError as error:
        yield WorldProblem(("format",), str(error))
    records = world.get("records")
    yield from find_problems(list[_RecordModel] | None, records, ("records",))
    kinds = {
        kind
        for record_kind in record_kinds
        for kind in (record_kind.name, record_kind.alternate_kind)
        if kind
    }
    for number, record in enumerate(records if isinstance(records, list) else ()):
        kind = record.get("kind") if isinstance(record, dict) else None
        if isinstance(kind, str) and kind not in kinds:
            hint = suggest(kind, kinds, f"known: {', '.join(sorted(kinds))}")
            yield WorldProblem(("records", number, "kind"), f"unknown kind of records {kind!r}", hint)


def _check_sections(
    owner_entry: Json,
    owner_kind: str,
    record_kinds: RecordKinds,
    path: Path,
    known: frozenset[tuple[str, str]] | None = None,
) -> Iterator[WorldProblem]:
    """Yield problems of the sections (lists of objects) in the entry of an owner, and in their entries.

    `path` leads to the entry. `known` has the (kind, id) of all records: then references are checked, too.
    """
    for section in record_kinds.world_sections.get(owner_kind, ()):
        value, section_path = owner_entry.get(section.key), (*path, section.key)
        if value is None:
            continue
        if not section.kind or not isinstance(value, list):
            yield from find_problems(section.value_type, value, section_path, known)
            continue
        alternate_kind = next(
            (record_kind.alternate_kind for record_kind in record_kinds if record_kind.name == section.kind),
            "",
        )
        inner_keys = {
            inner_section.key
            for kind in (section.kind, alternate_kind)
            for inner_section in record_kinds.world_sections.get(kind, ())
        }
        outer_entries = [
            without_keys(child, *inner_keys) if isinstance(child, dict) else child for child in value
        ]
        yield from find_problems(section.value_type, outer_entries, section_path, known)
        for number, child in enumerate(value):
            if isinstance(child, dict):
                yield from _check_sections(child, section.kind, record_kinds, (*section_path, number), known)


def _find_path(entry: Any, world: Json) -> Path:
    """Return the path of an entry in a world (the server's data), or () if it is not a mapping or a list."""
    unvisited: list[tuple[Path, Any]] = [((), world)]
    while unvisited:
        path, value = unvisited.pop()
        if value is entry:
            return path
        items = value.items() if isinstance(value, dict) else enumerate(value)
        unvisited += [((*path, name), child) for name, child in items if isinstance(child, dict | list)]
    return ()
