"""The reads: one per list, tree or single, each sent once, several at a time, decoded and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from dpsync.client.client import ReadClient
from dpsync.client.errors import NotFound, NotJson
from dpsync.kinds.base import Kind, Lists, One, Pages, Single, Tree
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain, expand, split_query
from dpsync.live.decode import decode, decode_lists, decode_tree, pointer
from dpsync.model.snapshot import Identity, LiveObject


@dataclass(frozen=True)
class Source:
    """One read of one kind (or of all kinds of a tree) below one parent. `url` is its name."""

    url: str
    kind: str
    owner: Identity | None
    own_id: str = ""
    lists: tuple[str, ...] = ()
    """Where one read has several lists: all of them, the first one being `url`."""


def is_gone(kind: Kind, body: Any) -> bool:
    """Whether an answer is about something that was deleted and can be brought back."""
    return kind.restore is not None and pointer(body, kind.restore.gone) is not None


class Sources:
    """Fetches sources and keeps the decoded objects. A list that did not end properly raises."""

    def __init__(self, client: ReadClient, registry: Registry, parallelism: int) -> None:
        self._client = client
        self._registry = registry
        self._parallelism = parallelism
        self.objects: dict[str, tuple[LiveObject, ...]] = {}

    def source(self, kind: Kind, owner: Identity, chain: Chain) -> Source:
        """Where the objects of a kind below `owner` are read; `chain` begins with the owner itself."""
        paths = kind.read.paths if isinstance(kind.read, Lists) else (kind.read.path,)
        url, *more = (expand(self._registry, kind, path, None, chain) for path in paths)
        own_id = owner[1] if isinstance(kind.shape, Single) else ""
        return Source(url, kind.name, owner, own_id, (url, *more) if more else ())

    def fetch(self, sources: Iterable[Source]) -> None:
        """Read what was not read yet."""
        missing = list({source.url: source for source in sources if source.url not in self.objects}.values())
        for source, found in zip(missing, self.map(self.read, missing), strict=True):
            self.objects[source.url] = found

    def map(self, function: Any, items: Sequence[Any]) -> list[Any]:
        """Run over the items, a bounded number at once; results in their order, the first error is raised."""
        if len(items) < 2 or self._parallelism < 2:
            return [function(item) for item in items]
        with ThreadPoolExecutor(min(self._parallelism, len(items))) as pool:
            return list(pool.map(function, items))

    def read(self, source: Source) -> tuple[LiveObject, ...]:
        """One read, decoded. Used again by whoever needs the present state."""
        kind = self._registry[source.kind]
        try:
            match kind.read:
                case Tree(root=root):
                    body = self._client.get(source.url)
                    kinds = self._registry.nodes(kind.key)
                    assert source.owner is not None
                    nodes = decode_tree(kinds, pointer(body, root), source.owner, source.url)
                    return tuple(nodes)
                case Lists():
                    assert source.owner is not None
                    items = (item for url in source.lists for item in self.pages(url))
                    return tuple(
                        decode_lists(self._registry.nodes(kind.key), items, source.owner, source.url)
                    )
                case Pages():
                    listed = (item for item in self.pages(source.url) if not is_gone(kind, item))
                    return tuple(decode(kind, item, source.owner, source.url) for item in listed)
                case One():
                    return self._one(kind, source)
        except (ValueError, AttributeError) as wrong:
            raise NotJson("GET", source.url, 200, "application/json", str(wrong)) from wrong

    def deleted(self, kind: Kind, id: str, owner: Identity, chain: Chain, source: str) -> LiveObject | None:
        """One that is in no list any more and can be brought back, by its own URL; None if there is none."""
        try:
            body = self._client.get(expand(self._registry, kind, kind.at, id, chain))
        except NotFound:
            return None
        if not is_gone(kind, body) or pointer(body, owner[0]) not in (None, owner[1]):
            return None  # also one of another organization, which this is not the place to bring back
        return replace(decode(kind, body, owner, source), deleted=True)

    def _one(self, kind: Kind, source: Source) -> tuple[LiveObject, ...]:
        try:
            body = self._client.get(source.url)
        except NotFound:
            # Absence only for a single that may be absent, under a parent that was read.
            if isinstance(kind.shape, Single) and not kind.shape.always:
                return ()
            raise
        return (decode(kind, body, source.owner, source.url, id=source.own_id),)

    def pages(self, path: str) -> list[dict[str, Any]]:
        path, query = split_query(path)
        return self._client.pages(path, query)
