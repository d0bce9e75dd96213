"""The present order of what is placed in an entry whose order is declared.

It is read with one request for each such entry, or known from the list of all things of that kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dpsync.client.errors import Forbidden
from dpsync.kinds.kind import Kind, ListOrder, Pages
from dpsync.kinds.places import live_place
from dpsync.kinds.urls import expand
from dpsync.live.forbidden import ForbiddenReads
from dpsync.live.reading import ReadingState
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.snapshot import Identity


def read_orders(reading: ReadingState, unread: ForbiddenReads) -> None:
    """Note the live order in each recognised entry that declares one."""
    for kind in reading.registry.ordered:
        for order in kind.list_orders:
            holders = [
                resource
                for resource in reading.desired.resources.values()
                if resource.kind == kind.name
                and order.name in resource.fields
                and resource.address in reading.matches
            ]
            asked = order.present is not None
            orders = _asked(reading, kind, order, holders) if asked else _known(reading, order, holders)
            for holder, url, found in orders:
                if found is None:
                    unread.field(holder, order.name, url)
                else:
                    lane = reading.identity(holder.address)
                    reading.lanes[lane] = (*reading.lanes.get(lane, ()), *found)


_Orders = Iterator[tuple[Entry, str, tuple[Identity, ...] | None]]
"""By entry where its order is read, and the order: None when this token may not read it."""


def _asked(reading: ReadingState, kind: Kind, order: ListOrder, holders: list[Entry]) -> _Orders:
    """The orders that are read with a request for each entry."""
    assert order.present is not None
    urls = [_url(reading, kind, holder, order.present) for holder in holders]
    lists = reading.sources.map(lambda url: _ids(reading, url), urls)
    for holder, url, ids in zip(holders, urls, lists, strict=True):
        yield holder, url, tuple((order.of, id) for id in ids) if ids is not None else None


def _url(reading: ReadingState, kind: Kind, holder: Entry, present: Pages) -> str:
    (_, own), *above = reading.chain(holder.address)
    return expand(reading.registry, kind, present.path, own, above)


def _ids(reading: ReadingState, url: str) -> list[str] | None:
    """None when this token may not read the list."""
    try:
        return [id for id, _ in reading.sources.named(url)]
    except Forbidden:
        return None


def _known(reading: ReadingState, order: ListOrder, holders: Iterable[Entry]) -> _Orders:
    """The orders that follow from lists which have been read: each list has those of all entries in it."""
    kind = reading.registry[order.of]
    by_place: dict[Address, dict[Identity | None, list[Identity]]] = {}
    for holder in holders:
        owner = holder.address if holder.kind in kind.parents else holder.parent
        assert owner is not None
        url = reading.source(kind, owner).url
        if url in reading.sources.refused:
            yield holder, url, None
            continue
        if owner not in by_place:
            by_place[owner] = defaultdict(list)
            for item in reading.sources.objects.get(url, ()):
                by_place[owner][live_place(kind, order.by, item)].append(item.identity)
        yield holder, url, tuple(by_place[owner][reading.identity(holder.address)])
