"""Read again what deletes depend on: lists, contents, and references to the objects to delete.

Input: a snapshot and the planned deletes. `DeleteEvidenceReader` adds what it reads to the snapshot. If two
reads of a list differ, somebody is changing it, and dpsync makes no plan (DP320). Each list that may refer to
a deleted object is read once for all deletes. `page_counts` reads the number of pages of spaces, with one
request each, for questions to the user.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.client.errors import ClientError, ForbiddenError, InterruptedRequestError, NotFoundError
from dpsync.kinds.kind import Kind, ListRead, SingleEntry
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import AncestorIds, fill_path_template
from dpsync.live.sources import ReadSource, SourceReader
from dpsync.model.address import Address
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.question import Candidate
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import live_ids


class _ShowingOwners(Struct, frozen=True):
    """The objects of one kind (sites) that show an object to delete.

    Other objects of the kind need no read.
    """

    kind: str
    objects: frozenset[Identity]


class DeleteEvidenceReader:
    """Reads the surroundings of objects to delete, and adds the objects that it reads to `snapshot`.

    With `rereads`, every list is read again, and objects that are no longer in a list leave the snapshot.
    """

    def __init__(
        self,
        client: ReadClient,
        registry: Registry,
        snapshot: Snapshot,
        parallelism: int,
        rereads: bool = False,
    ) -> None:
        """Start with the objects of a snapshot. Sends no request."""
        self.client = client
        self.registry = registry
        self.snapshot = snapshot
        self.sources = SourceReader(
            client, registry, parallelism, snapshot.objects.values(), snapshot.trees_without_wrapper
        )
        self.rereads = rereads
        self._by_source: dict[str, list[Identity]] = defaultdict(list)
        for live in snapshot.objects.values():
            self._by_source[live.source_url].append(live.identity)
        self._objects = dict(snapshot.objects)
        self._outputs: dict[Identity, LiveObject] = {}
        self._read_urls: set[str] = set() if rereads else set(self._by_source)
        self._unreadable_dependents: dict[Identity, str] = {}
        self._forbidden: set[str] = set()
        self._checked_objects: set[Identity] = set()

    def check_lists_unchanged(self, deletions: Iterable[Identity]) -> None:
        """Read the lists of these objects a second time. Raises DiagnosticError if the two reads differ."""
        objects = [self._objects[item] for item in sorted(deletions) if item in self._objects]
        sources = {source.url: source for source in map(self.source_of, objects)}
        # A deleted object that the plan restores is in no list yet.
        listed = {identity for identity, item in self._objects.items() if not item.deleted}
        before = {url: listed.intersection(self._by_source[url]) for url in sources}
        self.sources.fetch(sources.values())
        for url, first_read in before.items():
            second_read = {item.identity for item in self.sources.objects[url]}
            # The list contains outputs of other objects, which the snapshot leaves out on purpose.
            added, kinds = (
                second_read - first_read - self.snapshot.output_identities,
                {kind for kind, _ in first_read},
            )
            if not first_read <= second_read or any(kind in kinds for kind, _ in added):
                message = (
                    f"two reads of {url} returned different objects, because somebody is changing the objects"
                )
                hint = "dpsync made no plan. Run the command again later"
                raise DiagnosticError([Diagnostic("DP320", message, hint=hint)], Exit.FAILED)

    def read_dependents(self, deletions: Iterable[Identity], with_contents: bool = True) -> bool:
        """Read the lists that may refer to these objects and, with `with_contents`, the objects' contents.

        Return whether any of the objects was not checked before. The caller repeats this until nothing is
        new, because the contents of an object are deleted with it.
        """
        new = sorted(set(deletions).intersection(self._objects) - self._checked_objects)
        self._checked_objects |= set(new)
        self._read_outputs(new)
        items = [self._objects[identity] for identity in new]
        sources = list(self._referring_sources(items))
        if self.rereads:
            sources += [(self.source_of(item), [item]) for item in items]
        if with_contents:
            sources += [(source, [item]) for item in items for source in self.content_sources(item)]
        self._fetch([source for source, _ in sources])
        for source, affected in sources:
            if source.url in self._forbidden:
                self._unreadable_dependents |= {item.identity: source.url for item in affected}
        self._update_snapshot()
        return bool(new)

    def read_transferred(self, objects: Iterable[Identity]) -> None:
        """Read what is inside the objects to transfer to another organization, and which sites show them."""
        identities = sorted(objects)
        items = [self._objects[identity] for identity in identities]
        sources = [(source, item) for item in items for source in self.content_sources(item)]
        self._fetch([source for source, _ in sources])
        self._unreadable_dependents |= {
            item.identity: source.url for source, item in sources if source.url in self._forbidden
        }
        seen_in = self.sources.map_parallel(self._read_shown_in, items)
        evidence = replace(
            self.snapshot.delete_evidence, shown_in=dict(zip(identities, seen_in, strict=True))
        )
        self.snapshot = replace(self.snapshot, delete_evidence=evidence)
        self._update_snapshot()

    def source_of(self, item: LiveObject) -> ReadSource:
        """Return where an object was read: the list below its parent, or the tree that contains it."""
        return self.sources.source_below(self.registry[item.kind], self._parent_chain(item))

    def content_sources(self, item: LiveObject) -> Iterator[ReadSource]:
        """Yield the sources of the tree and the lists inside an object.

        Single entries are read with the object, and nodes with the rest of their tree.
        """
        if self.registry[item.kind].is_node:
            return
        for kind in self.registry.children(item.kind):
            if not isinstance(kind.shape, SingleEntry):
                yield self.sources.source(kind, item.identity, [item.identity, *self._parent_chain(item)])

    # --- references -----------------------------------------------------------------------------------

    def _referring_sources(
        self, items: Sequence[LiveObject]
    ) -> Iterator[tuple[ReadSource, list[LiveObject]]]:
        """Yield each list or tree that may refer to some of these objects, with these objects.

        Objects of one organization and kind are handled together, so that each list is read once.
        """
        groups: dict[tuple[str, Identity], list[LiveObject]] = defaultdict(list)
        for item in items:
            groups[item.kind, [item.identity, *self._parent_chain(item)][-1]].append(item)
        for (name, _), objects in groups.items():
            seen_in = self._owners_showing(objects)
            chains: dict[tuple[Identity, ...], list[LiveObject]] = defaultdict(list)
            for item in objects:
                chains[tuple(self._parent_chain(item))].append(item)
            for kind in self.registry.kinds_referring_to(name):
                for chain, objects_below in chains.items():
                    for source in self._sources_below_chain(kind, chain, seen_in):
                        yield source, objects_below

    def _sources_below_chain(
        self, kind: Kind, chain: AncestorIds, seen_in: _ShowingOwners | None = None
    ) -> Iterator[ReadSource]:
        """Yield each list that can contain objects of a kind, in the parents in `chain` or inside them.

        `chain` starts with the direct parent of an object to which the kind may refer. With `seen_in`, sites
        that do not show this object are skipped.
        """
        if kind.parent is None:
            yield ReadSource(self._objects[chain[-1]].source_url, kind.name, None)
        for name in self.sources.owner_kinds(kind):
            if any(kind_name == name for kind_name, _ in chain):
                yield self.sources.source_below(kind, chain, (name,))
                continue
            for owner in self._objects_below_chain(self.registry[name], chain):
                if seen_in is None or seen_in.kind != name or owner.identity in seen_in.objects:
                    yield self.sources.source(
                        kind, owner.identity, [owner.identity, *self._parent_chain(owner)]
                    )

    def _objects_below_chain(self, kind: Kind, chain: AncestorIds) -> list[LiveObject]:
        """Return every object of a kind in the parents in `chain` or inside them; read the missing lists."""
        sources = list(self._sources_below_chain(kind, chain))
        any_output = any(name == kind.name for name, _ in self.snapshot.output_identities)
        self._fetch(sources, reread=any_output)
        if any_output:
            read_objects = [item for source in sources for item in self.sources.objects.get(source.url, ())]
            self._outputs |= {
                item.identity: item
                for item in read_objects
                if item.identity in self.snapshot.output_identities
            }
            return [item for item in read_objects if item.kind == kind.name]
        known = (self._objects[identity] for source in sources for identity in self._by_source[source.url])
        # A deleted object that the plan restores has no lists yet.
        return [item for item in known if item.kind == kind.name and not item.deleted]

    def _owners_showing(self, items: Sequence[LiveObject]) -> _ShowingOwners | None:
        """Return the sites (owners) that show any of these objects (spaces), to read only these sites.

        Return None if the API has no such request for the kind, or if reading all sites takes fewer requests.
        """
        kind = self.registry[items[0].kind]
        if kind.owner_list is None:
            return None
        path = kind.owner_list.path.partition("?")[0]
        showing = next(
            other
            for other in self.registry.in_dependency_order
            if isinstance(other.read, ListRead) and other.read.path == path
        )
        if len(items) >= len(self._objects_below_chain(showing, self._parent_chain(items[0]))):
            return None
        seen_in = self.sources.map_parallel(self._read_shown_in, items)
        return _ShowingOwners(
            showing.name, frozenset(identity for owners in seen_in for identity, _ in owners)
        )

    def _read_shown_in(self, item: LiveObject) -> tuple[tuple[Identity, str], ...]:
        """Return identity and title of each site (owner) that shows an object (a space).

        If the token may not read them, return (), and store that the object may have unreadable dependents.
        """
        kind = self.registry[item.kind]
        if kind.owner_list is None:
            return ()
        url = fill_path_template(self.registry, kind, kind.owner_list.path, item.id, self._parent_chain(item))
        try:
            owners = self.sources.read_ids_and_bodies(url)
        except ForbiddenError:
            self._unreadable_dependents[item.identity] = url
            return ()
        return tuple(((str(body.get("object")), id), str(body.get("title", ""))) for id, body in owners)

    def _parent_chain(self, item: LiveObject) -> list[Identity]:
        """Return the identities of the parents of an object, from the direct parent up."""
        chain: list[Identity] = []
        ancestor = item.parent
        while ancestor is not None:
            chain.append(ancestor)
            ancestor = (self._objects.get(ancestor) or self._outputs[ancestor]).parent
        return chain

    # --- reads ----------------------------------------------------------------------------------------

    def _fetch(self, sources: Sequence[ReadSource], reread: bool = False) -> None:
        """Read the lists that were not read yet, and add their objects to the snapshot.

        With `reread`, lists of the original snapshot are read, too.
        """
        missing = {
            source.url: source
            for source in sources
            if source.url not in self.sources.objects and (reread or source.url not in self._read_urls)
        }
        results = self.sources.map_parallel(self._read_or_refused, list(missing.values()))
        for url, objects in zip(missing, results, strict=True):
            if objects is None:
                self._forbidden.add(url)
            read_objects = self.sources.objects[url] = objects or ()
            if url not in self._read_urls:
                self._replace_objects(url, read_objects)

    def _read_or_refused(self, source: ReadSource) -> tuple[LiveObject, ...] | None:
        """Return the objects of a list, None if the token may not read the list.

        When lists are read again, a list whose parent was deleted meanwhile is empty.
        """
        try:
            return self.sources.read(source)
        except ForbiddenError:
            return None
        except NotFoundError:
            if self.rereads:
                return ()  # the parent was deleted meanwhile, with its contents
            raise

    def _replace_objects(self, url: str, objects: tuple[LiveObject, ...]) -> None:
        """Replace the objects of a source by those read now, without the outputs of other objects."""
        self._read_urls.add(url)
        for identity in self._by_source[url]:
            self._objects.pop(identity, None)
        without_outputs = [item for item in objects if item.identity not in self.snapshot.output_identities]
        self._by_source[url] = [item.identity for item in without_outputs]
        for item in without_outputs:
            self._objects[item.identity] = item
            # An output counts only as the parent of other objects.
            if item.parent in self._outputs:
                self._objects.setdefault(item.parent, self._outputs[item.parent])

    def _update_snapshot(self) -> None:
        """Replace the snapshot by one with all objects and facts read so far.

        An object is left out if one of its parents does not exist any more.
        """
        looked_at = frozenset(self._checked_objects - self._unreadable_dependents.keys())
        evidence = replace(
            self.snapshot.delete_evidence,
            unreadable_dependents=dict(self._unreadable_dependents),
            checked_objects=looked_at,
        )

        def has_all_parents(item: LiveObject) -> bool:
            """Return whether all ancestors of an object were read, up to the organization."""
            ancestor = item.parent
            while ancestor is not None and ancestor in self._objects:
                ancestor = self._objects[ancestor].parent
            return ancestor is None

        objects = {identity: item for identity, item in self._objects.items() if has_all_parents(item)}
        self.snapshot = replace(
            self.snapshot, objects=objects, delete_evidence=evidence, requests=self.client.requests
        )

    # --- outputs of deleted objects -------------------------------------------------------------------

    def _read_outputs(self, deletions: Sequence[Identity]) -> None:
        """Read the outputs of objects to delete, and add them to the scopes of their own kind.

        An output is an object that the platform created for another object, such as the space of an import. A
        snapshot leaves it out. Once the object that created it is deleted, the output is an ordinary object.
        """
        creators = [self._objects[item] for item in deletions if self.registry[item[0]].platform_work.outputs]
        scopes_by_creator = self._output_scopes({creator.identity for creator in creators})
        sources: dict[str, tuple[ReadSource, Address]] = {}
        output_ids: dict[str, set[str]] = defaultdict(set)
        for creator in creators:
            outputs, scope_address = (
                self.registry[creator.kind].platform_work.outputs,
                scopes_by_creator.get(creator.identity),
            )
            if outputs is None or scope_address is None:
                continue
            chain = self._parent_chain(creator)
            source = self.sources.source(self.registry[outputs.kind], chain[0], chain)
            sources[source.url] = source, scope_address
            output_ids[source.url] |= {id for value in creator.fields.values() for id in live_ids(value)}
        self.sources.fetch([source for source, _ in sources.values()])
        scopes = dict(self.snapshot.scopes)
        for url, (_, scope_address) in sources.items():
            objects = self.sources.objects[url]
            new = [
                item for item in objects if item.id in output_ids[url] and item.identity not in self._objects
            ]
            self._objects |= {item.identity: item for item in new}
            identities = [item.identity for item in new]
            self._by_source[url] += identities
            scopes[scope_address] = (*scopes[scope_address], *identities)
        self.snapshot = replace(self.snapshot, scopes=scopes)

    def _output_scopes(self, creators: set[Identity]) -> dict[Identity, Address]:
        """Return, for each of these objects, the address of the list that contains the outputs of its kind.

        An output is an object that GitBook created for another object, such as the space of an import. Only
        lists that the files declare count.
        """
        scopes: dict[Identity, Address] = {}
        for scope_address, items in self.snapshot.scopes.items() if creators else ():
            for identity in creators.intersection(items):
                kind = self.registry[identity[0]]
                assert kind.platform_work.outputs is not None
                parent_address = Address(scope_address.segments[: -len(kind.key.split("."))])
                output_scope = parent_address.child(
                    *self.registry[kind.platform_work.outputs.kind].key.split(".")
                )
                if output_scope in self.snapshot.scopes:
                    scopes[identity] = output_scope
        return scopes


MAX_COUNTED_OBJECTS: Final = 20
"""Maximum number of objects whose pages are counted."""
PageCounts = Mapping[Identity, int]


def count_candidate_pages(
    client: ReadClient, registry: Registry, parallelism: int, candidates: Iterable[tuple[str, Candidate]]
) -> PageCounts:
    """Return the number of pages of each candidate, by kind name and id.

    A candidate is a live object that an entry of the files may be. If dpsync cannot tell which one it is, it
    asks the user, and the number of pages helps to recognize an object such as a space.

    At most MAX_COUNTED_OBJECTS are counted. Candidates whose pages cannot be read are left out.

    Args:
        candidates: Kind name and candidate.
    """
    countable = dict.fromkeys(
        (name, candidate.id) for name, candidate in candidates if registry[name].page_tree_path is not None
    )
    counts = page_counts(client, registry, parallelism, list(countable)[:MAX_COUNTED_OBJECTS])
    return {identity: number for identity, number in counts.items() if number is not None}


def page_counts(
    client: ReadClient, registry: Registry, parallelism: int, objects: Iterable[Identity]
) -> dict[Identity, int | None]:
    """Return the number of pages of each object whose kind has pages; None for pages that cannot be read."""
    paths = {
        (name, id): fill_path_template(registry, kind, kind.page_tree_path, id, ())
        for name, id in objects
        if (kind := registry[name]).page_tree_path is not None
    }
    numbers = SourceReader(client, registry, parallelism).map_parallel(
        lambda path: _count_pages(client, path), list(paths.values())
    )
    return dict(zip(paths, numbers, strict=True))


def with_page_counts(kind: str, candidates: Iterable[Candidate], counts: PageCounts) -> tuple[Candidate, ...]:
    """Return the candidates of one kind, with the number of pages where `counts` has one."""
    return tuple(
        candidate.model_copy(update={"pages": counts[kind, candidate.id]})
        if (kind, candidate.id) in counts
        else candidate
        for candidate in candidates
    )


def _count_pages(client: ReadClient, path: str) -> int | None:
    """Return the number of pages in the response at a URL path; None if the pages cannot be read."""
    try:
        body = client.get(path)
    except InterruptedRequestError:
        raise
    except ClientError:
        return None
    pages = body.get("pages") if isinstance(body, dict) else None
    return sum(1 for _ in iterate_pages(pages)) if isinstance(pages, list) else None


def iterate_pages(pages: list[Any]) -> Iterable[Any]:
    """Yield every page of a tree of pages. No recursion, because the API does not limit the depth."""
    open_pages = list(pages)
    while open_pages:
        page = open_pages.pop()
        children = page.get("pages") if isinstance(page, dict) else None
        open_pages += children if isinstance(children, list) else []
        yield page
