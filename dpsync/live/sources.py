"""Send each GET once, and keep the decoded objects of each source: a list, a tree or a single object.

`SourceReader.fetch` reads many sources in parallel into `SourceReader.objects`, by URL. A list that was not
read to its end raises an error. A read that the token may not do (403) is in `SourceReader.forbidden`, and
never an empty result.
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
from dpsync.client.errors import ForbiddenError, NotFoundError, UnexpectedResponseError
from dpsync.kinds.kind import Kind, ListRead, NodeListsRead, SingleEntry, SingleRead, TreeRead
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import AncestorIds, fill_path_template, split_query
from dpsync.live.decode import (
    AddErrorPlace,
    UnexpectedShapeError,
    check_id,
    check_unique_identities,
    check_written,
    decode,
    decode_list,
    decode_nodes,
    decode_tree,
    value_or_none,
    without_wrapper,
)
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId


class ReadSource(Struct, frozen=True):
    """One list, tree or single to read below one object, named by its URL.

    `kind` is the kind of the objects, or any kind of the nodes in a tree. `owner` is the object that contains
    them. The URL is empty for the children of an output that does not exist yet.
    """

    url: str
    kind: str
    owner: Identity | None
    object_id: str = ""
    lists: tuple[str, ...] = ()
    """The URLs of all lists, if one read has several; the first one is `url`."""


class ReadObjects:
    """The objects of one read, indexed by parent, by the node that contains them, and by kind."""

    def __init__(self, objects: tuple[LiveObject, ...]) -> None:
        self.objects = objects
        self.by_parent: dict[tuple[str, Identity | None], list[LiveObject]] = defaultdict(list)
        """By kind and parent."""
        self.by_node: dict[Identity | None, list[LiveObject]] = defaultdict(list)
        """By enclosing node."""
        self.ids_by_kind: dict[str, set[str]] = defaultdict(set)
        """By kind."""
        for item in objects:
            self.ids_by_kind[item.kind].add(item.id)
            self.by_parent[item.kind, item.parent].append(item)
            self.by_node[item.holder].append(item)


def is_deleted(kind: Kind, body: Any) -> bool:
    """Return whether a response is about a deleted object that can be restored."""
    return (
        kind.lifecycle.restore is not None
        and value_or_none(body, kind.lifecycle.restore.deleted_path) is not None
    )


class SourceReader:
    """Reads sources with GET, in parallel, and keeps the decoded objects by URL."""

    def __init__(
        self,
        client: ReadClient,
        registry: Registry,
        parallelism: int,
        known_objects: Iterable[LiveObject] = (),
        trees_without_wrapper: Iterable[str] = (),
    ) -> None:
        """Initialize without any read.

        Args:
            known_objects: Objects that were read before, to know their outputs.
            trees_without_wrapper: URLs of trees to read without their automatic wrapper (see `Snapshot`).
        """
        self.trees_without_wrapper = set(trees_without_wrapper)
        self._client = client
        self._registry = registry
        self._parallelism = parallelism
        self.objects: dict[str, tuple[LiveObject, ...]] = {}
        self.forbidden: dict[str, ForbiddenError] = {}
        """The error by URL of each source that the token may not read; `objects` never has these sources."""
        self._listed: dict[str, ReadObjects] = {}
        self._sources: dict[tuple[object, ...], ReadSource] = {}
        """Cache by kind and chain."""
        self._output_ids: dict[Identity, str] = {}
        """The id of the output by the object that created it."""
        self._note_outputs(known_objects)

    def source(self, kind: Kind, owner: Identity, chain: AncestorIds) -> ReadSource:
        """Return where the objects of a kind in `owner` are read; `chain` has the owner and its parents."""
        named = (kind.name, *chain)
        source = self._sources.get(named)
        if source is None:
            source = self._sources[named] = self._build_source(kind, owner, chain)
        return source

    def _build_source(self, kind: Kind, owner: Identity, chain: AncestorIds) -> ReadSource:
        """Return where to read the objects of a kind in `owner`: the URL, or several URLs.

        For a kind that is part of an output (an object that GitBook created for `owner`, such as the space of
        an import), the URL contains the id of the output; it is empty if that does not exist yet.
        """
        paths = kind.read.paths if isinstance(kind.read, NodeListsRead) else (kind.read.path,)
        output = self._output_ids.get(owner) if kind.is_part_of_output else None
        if kind.is_part_of_output and output is None:
            return ReadSource("", kind.name, owner)
        url, *other_urls = (fill_path_template(self._registry, kind, path, output, chain) for path in paths)
        own_id = output or (owner[1] if isinstance(kind.shape, SingleEntry) else "")
        return ReadSource(url, kind.name, owner, own_id, (url, *other_urls) if other_urls else ())

    def owner_kinds(self, kind: Kind) -> tuple[str, ...]:
        """Return the kinds whose objects contain a kind: its parents; for a node, the owner of the tree."""
        return (self._registry.tree_owner(kind),) if kind.is_node else kind.parents

    def source_below(
        self, kind: Kind, chain: AncestorIds, owners: tuple[str, ...] | None = None
    ) -> ReadSource:
        """Return where objects of a kind are read: in the nearest object of `chain` of a kind in `owners`.

        `chain` has an object and its parents, innermost first. The default of `owners` is
        `self.owner_kinds(kind)`.
        """
        owner_kinds = self.owner_kinds(kind) if owners is None else owners
        position = next(index for index, (name, _) in enumerate(chain) if name in owner_kinds)
        return self.source(kind, chain[position], chain[position:])

    def fetch(self, sources: Iterable[ReadSource], may_be_forbidden: bool = False) -> None:
        """Read the sources that were not read yet into `objects`.

        Raises ForbiddenError if the token may not read a source. With `may_be_forbidden`, put the error into
        `forbidden` instead.
        """
        read_urls = self.objects.keys() | (self.forbidden.keys() if may_be_forbidden else set())
        missing = list({source.url: source for source in sources if source.url not in read_urls}.values())
        for source, result in zip(missing, self.map_parallel(self._read_or_forbidden, missing), strict=True):
            if not isinstance(result, ForbiddenError):
                self.objects[source.url] = result
            elif may_be_forbidden:
                self.forbidden[source.url] = result
            else:
                raise result

    def _note_outputs(self, objects: Iterable[LiveObject]) -> None:
        """Store the ids of the outputs that these objects name.

        An output is an object that the platform created for another object.
        """
        for item in objects:
            outputs = self._registry[item.kind].platform_work.outputs if item.kind in self._registry else None
            for field in self._registry[item.kind].fields if outputs is not None else ():
                value = item.fields.get(field.name)
                if (
                    outputs is not None
                    and field.response_path == outputs.id_field
                    and isinstance(value, LiveId)
                ):
                    self._output_ids[item.identity] = value.id

    def objects_at(self, url: str) -> ReadObjects:
        """Return the objects that were read from a URL, with indexes, which are built at the first use."""
        indexed = self._listed.get(url)
        if indexed is None or indexed.objects is not self.objects[url]:
            indexed = self._listed[url] = ReadObjects(self.objects[url])
        return indexed

    def _read_or_forbidden(self, source: ReadSource) -> tuple[LiveObject, ...] | ForbiddenError:
        """Return the objects of a source, or the error if the token may not read it."""
        try:
            return self.read(source)
        except ForbiddenError as error:
            return error

    def map_parallel(self, function: Any, items: Sequence[Any]) -> list[Any]:
        """Call a function with each item in parallel, and return the results in order.

        Raises the first error.
        """
        observer = self._client.observer
        observer.start_batch(len(items))
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
            observer.start_batch(0)

    def read(self, source: ReadSource) -> tuple[LiveObject, ...]:
        """Read one source and return the decoded objects. `objects` is neither used nor changed.

        Raises UnexpectedResponseError if the response does not have the shape that the kind needs.
        """
        kind = self._registry[source.kind]
        if not source.url:
            return ()
        with as_unexpected_response(source.url):
            match kind.read:
                case TreeRead(root_member=root):
                    assert source.owner is not None
                    body, nodes = self._client.get(source.url), self._registry.tree_kinds(kind.key)
                    tree = _check_unique(decode_tree(nodes, body, root, source.owner, source.url))
                    if source.url in self.trees_without_wrapper:
                        return without_wrapper(self._registry, tree, source.owner)
                    return tree
                case NodeListsRead():
                    assert source.owner is not None
                    decoded: list[tuple[str, LiveObject]] = []
                    for url in source.lists:
                        with as_unexpected_response(url):
                            items, nodes = self.read_pages(url), self._registry.tree_kinds(kind.key)
                            decoded += decode_nodes(nodes, items, source.owner, source.url)
                    return _check_unique(decoded)
                case ListRead(is_unpaged=unpaged):
                    items = self.read_pages(source.url, unpaged)
                    listed = list(decode_list(kind, items, source.owner, source.url))
                    objects = _check_unique((path, item) for path, item, _ in listed)
                    self._note_outputs(objects)
                    deleted = [is_deleted(kind, body) for _, _, body in listed]
                    return tuple(item for item, is_gone in zip(objects, deleted, strict=True) if not is_gone)
                case SingleRead():
                    try:
                        body = self._client.get(*split_query(source.url))
                    except NotFoundError:
                        # Only an optional single may be absent. A missing parent is an error.
                        if isinstance(kind.shape, SingleEntry) and not kind.shape.exists_with_parent:
                            return ()
                        raise
                    return (decode(kind, body, source.owner, source.url, id=source.object_id),)

    def read_deleted(
        self, kind: Kind, id: str, owner: Identity, chain: AncestorIds, source: str
    ) -> LiveObject | None:
        """Read an object by its own URL, and return it if it is deleted and can be restored in `owner`.

        Return None otherwise. `source` is the URL of the list that would contain the object.
        """
        url = fill_path_template(self._registry, kind, kind.url_path, id, chain)
        try:
            body = self._client.get(url)
        except NotFoundError:
            return None
        with as_unexpected_response(url):
            live = decode(kind, body, owner, source)
        if not is_deleted(kind, body) or value_or_none(body, owner[0]) not in (None, owner[1]):
            return None  # an object of another organization cannot be restored here
        return replace(live, deleted=True)

    def read_response_text(self, url: str) -> str | None:
        """Return a response as plain text; None if it does not exist or if the token may not read it."""
        try:
            return self._client.text(url)
        except (NotFoundError, ForbiddenError):
            return None

    def read_parentless_list(self, kind: Kind, path: str) -> tuple[LiveObject, ...]:
        """Return all objects of a list that is in no other object. The source is each object's own URL."""
        with as_unexpected_response(path):
            listed = decode_list(kind, self.read_pages(path), None, "")
            objects = _check_unique((item_path, item) for item_path, item, _ in listed)
        read = kind.read.path
        return tuple(
            replace(item, source_url=fill_path_template(self._registry, kind, read, item.id, ()))
            for item in objects
        )

    def read_ids_and_bodies(self, path: str) -> list[tuple[str, dict[str, Any]]]:
        """Return id and body of each item of a list whose other members are not checked."""
        with as_unexpected_response(path):
            items = [(f"items[{index}]", item) for index, item in enumerate(self.read_pages(path))]
            ids_and_bodies = []
            for item_path, item in items:
                with AddErrorPlace(item_path, item):
                    ids_and_bodies.append((check_id(item, "id"), item))
            check_unique_identities(
                (item_path, id, id) for (item_path, _), (id, _) in zip(items, ids_and_bodies, strict=True)
            )
        return ids_and_bodies

    def read_body(self, kind: Kind, path: str) -> dict[str, Any]:
        """Return the response body at a URL path, to change it and send it back.

        Raises UnexpectedResponseError if a writable member does not fit its declared type.
        """
        query = split_query(kind.read.path)[1]
        with as_unexpected_response(path):
            body = self._client.get(path, query)
            check_written(kind, body)
        return dict(body)

    def read_id(self, path: str) -> str:
        """Return the id in the response at a URL path. Raises UnexpectedResponseError without a valid id."""
        with as_unexpected_response(path):
            return check_id(self._client.get(path), "id")

    def read_pages(self, path: str, unpaged: bool = False) -> list[dict[str, Any]]:
        """Return the items of all pages of a list. With `unpaged`, the list takes no `limit` parameter."""
        path, query = split_query(path)
        return self._client.pages(path, query, 0) if unpaged else self._client.pages(path, query)


@contextmanager
def as_unexpected_response(url: str) -> Iterator[None]:
    """Convert an UnexpectedShapeError raised inside to an UnexpectedResponseError for a GET of this URL."""
    try:
        yield
    except UnexpectedShapeError as error:
        shape_error = error.shape_error
        raise UnexpectedResponseError(
            url.partition("?")[0],
            error.place,
            error.id,
            shape_error.member,
            shape_error.expected,
            shape_error.found,
        ) from None


def _check_unique(decoded: Iterable[tuple[str, LiveObject]]) -> tuple[LiveObject, ...]:
    """Return the objects of a response. Raises UnexpectedShapeError if two objects have the same id.

    Args:
        decoded: Place in the response (as `items[3]`) and object.
    """
    decoded = list(decoded)
    check_unique_identities((path, item.identity, item.id) for path, item in decoded)
    return tuple(item for _, item in decoded)
