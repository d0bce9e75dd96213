"""Entries that are not below their parent any more, or not yet: still below another one that is declared."""

from __future__ import annotations

from collections import defaultdict

from dpsync.identity.keys import NaturalKeys, find_elsewhere
from dpsync.kinds.kind import Kind
from dpsync.live.forbidden import ForbiddenReads
from dpsync.live.reading import ReadingState
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject


def find_transfers(reading: ReadingState, unread: ForbiddenReads, kind: Kind) -> None:
    """Bind what is to be given from one parent to another, where something in writing says so."""
    holders = [address for address in sorted(reading.matches) if _holds(reading, address, kind)]
    if len(holders) < 2:
        return
    before: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for address, earlier in sorted(reading.earlier.items()):
        if address not in reading.desired.resources:
            before[earlier.kind, earlier.key].append(earlier)
    asking = [
        (
            address,
            resource,
            [item for item in before[kind.name, resource.key] if item.parent != resource.parent],
        )
        for address, resource in sorted(reading.desired.resources.items())
        if resource.kind == kind.name
        and address not in reading.matches
        and resource.parent in reading.matches
    ]
    lines = reading.recorded.lines
    asking = [
        (address, resource, was)
        for address, resource, was in asking
        if resource.pin or resource.has_earlier_name or was or address in lines
    ]
    if not asking:
        return
    bound = {match.id for address, match in reading.matches.items() if _is_of(reading, address, kind)}
    everywhere, refused = _everywhere(reading, kind, holders)
    free = [item for item in everywhere if item.id not in bound]
    view = NaturalKeys(kind, reading.bound, reading.first_child, lambda _: [])
    for address, resource, was in asking:
        owner = reading.matches[address.parent(kind.key)].id
        others = [item for item in free if item.parent is not None and item.parent[1] != owner]
        found = find_elsewhere(view, resource, others, was, lines.get(address))
        if found is not None:
            reading.matches[address] = found
            reading.transferred.add(address)
            free = [item for item in free if item.id != found.id]
        elif refused is not None:
            unread.entry(resource, refused)


def _everywhere(
    reading: ReadingState, kind: Kind, holders: list[Address]
) -> tuple[list[LiveObject], str | None]:
    """The objects of a kind below each of these, and the URL of a list that may not be read."""
    sources = [reading.source(kind, address) for address in holders]
    reading.sources.fetch(sources, refusable=True)
    refused = next((source.url for source in sources if source.url in reading.sources.refused), None)
    found = [item for source in sources for item in reading.sources.objects.get(source.url, ())]
    found = [
        item for item in found if item.kind == kind.name and item.identity not in reading.output_identities
    ]
    for item in found:
        reading.objects.setdefault(item.identity, item)
    return found, refused


def _holds(reading: ReadingState, address: Address, kind: Kind) -> bool:
    resource = reading.desired.resources.get(address)
    return resource is not None and resource.kind in kind.parents


def _is_of(reading: ReadingState, address: Address, kind: Kind) -> bool:
    resource = reading.desired.resources.get(address)
    return resource is not None and resource.kind == kind.name
