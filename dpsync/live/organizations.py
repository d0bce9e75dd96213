"""The organizations themselves: found by id or by their natural key, never made.

One that the token may not see at all ends the reading; so does one that it may not read.
"""

from __future__ import annotations

from dpsync.client.client import PAGE_LIMIT
from dpsync.client.errors import NotFound
from dpsync.client.responses import Params
from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import expand, split_query
from dpsync.live.reading import ReadingState
from dpsync.live.sources import Source
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic, Exit
from dpsync.model.snapshot import LiveObject, Match, MatchedBy


def read_organizations(reading: ReadingState) -> None:
    """Read and bind each declared organization. Raises DiagnosticError (exit 1) where there is none."""
    root = reading.registry.root
    mine = reading.by_parent[root.name, None]
    if any(resource.pin is None for resource in mine) and root.find is not None:
        _find(reading, root, [resource for resource in mine if resource.pin is None])
    pinned = [resource for resource in mine if resource.pin]
    found = reading.sources.map(lambda resource: _by_id(reading, root, resource), pinned)
    for resource, live in zip(pinned, found, strict=True):
        _bind(reading, resource, live, MatchedBy.PIN)
    reading.stop(Exit.FAILED)


def first_request(registry: Registry, desired: Desired) -> tuple[str, Params | None]:
    """Return path and parameters of the first request that reading a configuration sends."""
    root = registry.root
    pins = [entry.pin for entry in desired.resources.values() if entry.parent is None]
    if root.find is not None and (not pins or None in pins):
        path, query = split_query(root.find.path)
        return path, {**(query or {}), "limit": PAGE_LIMIT}
    return split_query(expand(registry, root, root.read.path, str(pins[0]), ()))


def _by_id(reading: ReadingState, root: Kind, resource: Entry) -> LiveObject | None:
    url = expand(reading.registry, root, root.read.path, str(resource.pin), ())
    try:
        (live,) = reading.sources.read(Source(url, root.name, None))
    except NotFound:
        return None
    return live


def _find(reading: ReadingState, root: Kind, mine: list[Entry]) -> None:
    assert root.find is not None
    (key,) = root.identity
    assert isinstance(key, str)
    # The list's items are whole, so nothing else is read for an organization that is found by its key.
    live = reading.sources.whole(root, root.find.path)
    for resource in mine:
        wanted = resource.fields.get(key)
        hit = next((item for item in live if item.fields.get(key) == wanted), None)
        _bind(reading, resource, hit, MatchedBy.KEY)


def _bind(reading: ReadingState, resource: Entry, live: LiveObject | None, by: MatchedBy) -> None:
    if live is not None:
        reading.objects[live.identity] = live
        reading.matches[resource.address] = Match(live.id, by)
        return
    (key,) = reading.registry.root.identity
    named = resource.pin or resource.fields.get(str(key))
    reading.diagnostics.append(
        Diagnostic(
            "DP310",
            f'the organization "{named}" does not exist, or this token has no access to it',
            resource.where("id" if resource.pin else str(key)),
            str(resource.address),
            "check the id, the URL of the server, and the user of the token. "
            "dpsync never creates an organization",
        )
    )
