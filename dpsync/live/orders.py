"""Reads the present order of what is placed in an entry whose order is declared: one list for each entry."""

from __future__ import annotations

from dpsync.client.errors import Forbidden
from dpsync.kinds.kind import Kind
from dpsync.kinds.urls import expand
from dpsync.live.forbidden import ForbiddenReads
from dpsync.live.reading import ReadingState
from dpsync.model.entries.desired import Resource


def read_orders(reading: ReadingState, unread: ForbiddenReads) -> None:
    """Note the live order in each recognised entry that declares one."""
    for kind in reading.registry.ordered:
        order = kind.list_order
        if order is None:
            continue
        holders = [
            resource
            for resource in reading.desired.resources.values()
            if resource.kind == kind.name
            and order.name in resource.fields
            and resource.address in reading.matches
        ]
        urls = [_url(reading, kind, holder, order.present.path) for holder in holders]
        lists = reading.sources.map(lambda url: _ids(reading, url), urls)
        for holder, url, ids in zip(holders, urls, lists, strict=True):
            if ids is None:
                unread.field(holder, order.name, url)
            else:
                reading.lanes[reading.identity(holder.address)] = tuple((order.of, id) for id in ids)


def _url(reading: ReadingState, kind: Kind, holder: Resource, path: str) -> str:
    (_, own), *above = reading.chain(holder.address)
    return expand(reading.registry, kind, path, own, above)


def _ids(reading: ReadingState, url: str) -> list[str] | None:
    """None when this token may not read the list."""
    try:
        return [id for id, _ in reading.sources.named(url)]
    except Forbidden:
        return None
