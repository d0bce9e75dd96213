"""Send each GET once, and keep the decoded objects of each list, tree or single.

`Sources.fetch` reads many sources in parallel into `Sources.objects`, by URL. A list that was not read to its
end raises, and a read that the token may not do (403) is in `Sources.refused`, never an empty result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.client.errors import BadAnswer, Forbidden, NotFound
from dpsync.kinds.kind import Kind, Lists, One, Pages, Single, Tree
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain, expand, split_query
from dpsync.live.decode import (
    Misshapen,
    Placed,
    check_different,
    check_id,
    check_written,
    decode,
    decode_list,
    decode_nodes,
    decode_tree,
    pointer,
    without_wrapper,
)
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId


class Source(Struct, frozen=True):
    """One read of one kind, or of all kinds of a tree, below one parent.

    `url` identifies the source. It is empty for the children of an output that does not exist yet.
    """

    url: str
    kind: str
    owner: Identity | None
    own_id: str = ""
    lists: tuple[str, ...] = ()
    """The URLs of all lists, if one read has several; the first one is `url`."""


class Listed:
    """The objects of one read, indexed by parent, by enclosing node and by id."""

    def __init__(self, objects: tuple[LiveObject, ...]) -> None:
        self.objects = objects
        self.below: dict[tuple[str, Identity | None], list[LiveObject]] = defaultdict(list)
        """By kind and parent."""
        self.inside: dict[Identity | None, list[LiveObject]] = defaultdict(list)
        """By enclosing node."""
        self.ids: dict[str, set[str]] = defaultdict(set)
        """By kind."""
        for item in objects:
            self.ids[item.kind].add(item.id)
            self.below[item.kind, item.parent].append(item)
            self.inside[item.holder].append(item)


def is_deleted(kind: Kind, body: Any) -> bool:
    """Return whether a response is about a deleted object that can be restored."""
    return kind.lifecycle.restore is not None and pointer(body, kind.lifecycle.restore.deleted) is not None


class Sources:
    """Fetches sources, and keeps the decoded objects."""

    def __init__(
        self,
        client: ReadClient,
        registry: Registry,
        parallelism: int,
        known: Iterable[LiveObject] = (),
        unwrapped: Iterable[str] = (),
    ) -> None:
        """Initialize without any read.

        Args:
            known: Objects that were read before, to know their outputs.
            unwrapped: URLs of trees that are read without the automatic wrapper node (see `Snapshot`).
        """
        self.unwrapped = set(unwrapped)
        self._client = client
        self._registry = registry
        self._parallelism = parallelism
        self.objects: dict[str, tuple[LiveObject, ...]] = {}
        self.refused: dict[str, Forbidden] = {}
        """The error by URL of each source that the token may not read; `objects` never has these sources."""
        self._listed: dict[str, Listed] = {}
        self._sources: dict[tuple[object, ...], Source] = {}
        """Cache by kind and chain."""
        self._output_ids: dict[Identity, str] = {}
        """The id of the output by the object that created it."""
        self._note_outputs(known)

    def source(self, kind: Kind, owner: Identity, chain: Chain) -> Source:
        """Return where the objects of a kind below `owner` are read; `chain` starts with the owner."""
        named = (kind.name, *chain)
        known = self._sources.get(named)
        if known is None:
            known = self._sources[named] = self._build_source(kind, owner, chain)
        return known

    def _build_source(self, kind: Kind, owner: Identity, chain: Chain) -> Source:
        paths = kind.read.paths if isinstance(kind.read, Lists) else (kind.read.path,)
        output = self._output_ids.get(owner) if kind.of_output else None
        if kind.of_output and output is None:
            return Source("", kind.name, owner)
        url, *more = (expand(self._registry, kind, path, output, chain) for path in paths)
        own_id = output or (owner[1] if isinstance(kind.shape, Single) else "")
        return Source(url, kind.name, owner, own_id, (url, *more) if more else ())

    def owners(self, kind: Kind) -> tuple[str, ...]:
        """Return the kinds below which a kind is read; for a node, the owner of the tree."""
        return (self._registry.tree_owner(kind),) if kind.in_tree else kind.parents

    def below(self, kind: Kind, chain: Chain, owners: tuple[str, ...] | None = None) -> Source:
        """Return the source of a kind below the nearest object of `chain` whose kind is in `owners`.

        The default of `owners` is `self.owners(kind)`.
        """
        among = self.owners(kind) if owners is None else owners
        at = next(index for index, (name, _) in enumerate(chain) if name in among)
        return self.source(kind, chain[at], chain[at:])

    def fetch(self, sources: Iterable[Source], refusable: bool = False) -> None:
        """Read the sources that were not read yet.

        Raises Forbidden if the token may not read a source. With `refusable`, put the error in `refused`
        instead.
        """
        known = self.objects.keys() | (self.refused.keys() if refusable else set())
        missing = list({source.url: source for source in sources if source.url not in known}.values())
        for source, found in zip(missing, self.map(self._read_or_forbidden, missing), strict=True):
            if not isinstance(found, Forbidden):
                self.objects[source.url] = found
            elif refusable:
                self.refused[source.url] = found
            else:
                raise found

    def _note_outputs(self, objects: Iterable[LiveObject]) -> None:
        """Note the id of the output of each object that has one."""
        for item in objects:
            outputs = self._registry[item.kind].platform.outputs if item.kind in self._registry else None
            for field in self._registry[item.kind].fields if outputs is not None else ():
                value = item.fields.get(field.name)
                if outputs is not None and field.source == outputs.read and isinstance(value, LiveId):
                    self._output_ids[item.identity] = value.id

    def listed(self, url: str) -> Listed:
        """Return the indexed objects that were read from a URL."""
        known = self._listed.get(url)
        if known is None or known.objects is not self.objects[url]:
            known = self._listed[url] = Listed(self.objects[url])
        return known

    def _read_or_forbidden(self, source: Source) -> tuple[LiveObject, ...] | Forbidden:
        try:
            return self.read(source)
        except Forbidden as refused:
            return refused

    def map(self, function: Any, items: Sequence[Any]) -> list[Any]:
        """Call a function with each item, in parallel.

        Return the results in order, or raise the first error.
        """
        observer = self._client.observer
        observer.batch(len(items))
        try:
            if len(items) < 2 or self._parallelism < 2:
                return [function(item) for item in items]
            with ThreadPoolExecutor(min(self._parallelism, len(items))) as pool:
                try:
                    return list(pool.map(function, items))
                except KeyboardInterrupt:
                    self._client.cancel()  # otherwise the pool waits for responses that may never come
                    raise
        finally:
            observer.batch(0)

    def read(self, source: Source) -> tuple[LiveObject, ...]:
        """Read one source and return the decoded objects. Does not use or change `objects`.

        Raises BadAnswer if the response does not have the shape that the kind needs.
        """
        kind = self._registry[source.kind]
        if not source.url:
            return ()
        with fitting(source.url):
            match kind.read:
                case Tree(root=root):
                    assert source.owner is not None
                    body, nodes = self._client.get(source.url), self._registry.nodes(kind.key)
                    found = _different(decode_tree(nodes, body, root, source.owner, source.url))
                    if source.url in self.unwrapped:
                        return without_wrapper(self._registry, found, source.owner)
                    return found
                case Lists():
                    return self._read_node_lists(kind, source)
                case Pages(unpaged=unpaged):
                    items = self.pages(source.url, unpaged)
                    listed = list(decode_list(kind, items, source.owner, source.url))
                    everything = _different((place, item) for place, item, _ in listed)
                    self._note_outputs(everything)
                    deleted = [is_deleted(kind, body) for _, _, body in listed]
                    return tuple(item for item, left in zip(everything, deleted, strict=True) if not left)
                case One():
                    return self._read_single(kind, source)

    def _read_node_lists(self, kind: Kind, source: Source) -> tuple[LiveObject, ...]:
        assert source.owner is not None
        found: list[tuple[str, LiveObject]] = []
        nodes = self._registry.nodes(kind.key)
        for url in source.lists:
            with fitting(url):
                found += decode_nodes(nodes, self.pages(url), source.owner, source.url)
        return _different(found)

    def deleted(self, kind: Kind, id: str, owner: Identity, chain: Chain, source: str) -> LiveObject | None:
        """Read a deleted object that can be restored by its own URL; return None if there is none."""
        url = expand(self._registry, kind, kind.at, id, chain)
        try:
            body = self._client.get(url)
        except NotFound:
            return None
        with fitting(url):
            found = decode(kind, body, owner, source)
        if not is_deleted(kind, body) or pointer(body, owner[0]) not in (None, owner[1]):
            return None  # an object of another organization cannot be restored here
        return replace(found, deleted=True)

    def text(self, url: str) -> str | None:
        """Return a response as plain text; None if it does not exist or the token may not read it."""
        try:
            return self._client.text(url)
        except (NotFound, Forbidden):
            return None

    def _read_single(self, kind: Kind, source: Source) -> tuple[LiveObject, ...]:
        try:
            body = self._client.get(*split_query(source.url))
        except NotFound:
            # Only an optional single may be absent. A missing parent is an error.
            if isinstance(kind.shape, Single) and not kind.shape.always:
                return ()
            raise
        return (decode(kind, body, source.owner, source.url, id=source.own_id),)

    def whole(self, kind: Kind, path: str) -> tuple[LiveObject, ...]:
        """Return all objects of a list that has no parent. The source of each object is its own URL."""
        with fitting(path):
            listed = decode_list(kind, self.pages(path), None, "")
            found = _different((place, item) for place, item, _ in listed)
        read = kind.read.path
        return tuple(replace(item, source=expand(self._registry, kind, read, item.id, ())) for item in found)

    def named(self, path: str) -> list[tuple[str, dict[str, Any]]]:
        """Return id and body of each item of a list whose other members are not decoded."""
        with fitting(path):
            items = [(f"items[{index}]", item) for index, item in enumerate(self.pages(path))]
            found = []
            for place, item in items:
                with Placed(place, item):
                    found.append((check_id(item, "id"), item))
            check_different((place, id, id) for (place, _), (id, _) in zip(items, found, strict=True))
        return found

    def to_write_back(self, kind: Kind, path: str) -> dict[str, Any]:
        """Return the response body at a path, to be sent again with changes. Raises BadAnswer."""
        query = split_query(kind.read.path)[1]
        with fitting(path):
            body = self._client.get(path, query)
            check_written(kind, body)
        return dict(body)

    def own_id(self, path: str) -> str:
        """Return the id of the object at a path."""
        with fitting(path):
            return check_id(self._client.get(path), "id")

    def pages(self, path: str, unpaged: bool = False) -> list[dict[str, Any]]:
        """Return the items of all pages of a list. `unpaged`: the list takes no `limit`."""
        path, query = split_query(path)
        return self._client.pages(path, query, 0) if unpaged else self._client.pages(path, query)


@contextmanager
def fitting(url: str) -> Iterator[None]:
    """Convert a Misshapen that is raised inside to a BadAnswer for a GET of this URL."""
    try:
        yield
    except Misshapen as wrong:
        found = wrong.misfit
        raise BadAnswer(
            url.partition("?")[0], wrong.place, wrong.id, found.member, found.expected, found.found
        ) from None


def _different(found: Iterable[tuple[str, LiveObject]]) -> tuple[LiveObject, ...]:
    """Return the objects of a response. Raises Misshapen if two objects have the same id."""
    found = list(found)
    check_different((place, item.identity, item.id) for place, item in found)
    return tuple(item for _, item in found)
