"""What deletes rest on: a second reading of their lists, and of whatever would go along with them.

Nothing is deleted on a guess: lists that differ between two readings mean that somebody is writing, and then
there is no plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpsync.client.client import ReadClient
from dpsync.kinds.base import Single
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain, expand
from dpsync.live.sources import Source, Sources
from dpsync.model.address import Address
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.snapshot import Evidence, Identity, LiveObject, Snapshot
from dpsync.model.values import live_ids


def with_evidence(
    client: ReadClient,
    registry: Registry,
    snapshot: Snapshot,
    doomed: Iterable[Identity],
    parallelism: int = 4,
) -> Snapshot:
    """The snapshot with what deleting `doomed` needs to know. Raises DiagnosticError when lists moved."""
    return _Evidence(client, registry, snapshot, parallelism).gather(sorted(doomed))


class _Evidence:
    def __init__(self, client: ReadClient, registry: Registry, snapshot: Snapshot, parallelism: int) -> None:
        self.client = client
        self.registry = registry
        self.snapshot = snapshot
        self.sources = Sources(client, registry, parallelism)

    def gather(self, doomed: list[Identity]) -> Snapshot:
        doomed += self._left_over(doomed)
        self._read_again(doomed)
        shown = self.sources.map(self._shown_in, doomed)
        objects = dict(self.snapshot.objects)
        for found in self.sources.map(self.sources.read, self._what_could_be_inside(doomed)):
            for item in found:
                objects.setdefault(item.identity, item)
        evidence = Evidence(shown_in=dict(zip(doomed, shown, strict=True)))
        return replace(self.snapshot, objects=objects, evidence=evidence, requests=self.client.requests)

    def _left_over(self, doomed: list[Identity]) -> list[Identity]:
        """What doomed objects have put out belongs to nobody then: from now on it stands in its own place."""
        found: list[Identity] = []
        for identity in doomed:
            maker = self.snapshot.objects[identity]
            outputs, place = self.registry[maker.kind].outputs, self._place_of_outputs(maker)
            if outputs is None or place is None:
                continue
            chain = self.snapshot.above(maker)
            source = self.sources.source(self.registry[outputs.kind], chain[0], chain)
            self.sources.fetch([source])
            named = {id for value in maker.fields.values() for id in live_ids(value)}
            for item in self.sources.objects[source.url]:
                if item.id in named and item.identity not in self.snapshot.objects:
                    self._stands_in(place, item)
                    found.append(item.identity)
        return found

    def _place_of_outputs(self, maker: LiveObject) -> Address | None:
        """The declared place that things of the kind which it puts out stand in, beside its own place."""
        kind = self.registry[maker.kind]
        own = next((at for at, items in self.snapshot.scopes.items() if maker.identity in items), None)
        if kind.outputs is None or own is None:
            return None
        above = Address(own.segments[: -len(kind.key.split("."))])
        place = above.child(*self.registry[kind.outputs.kind].key.split("."))
        return place if place in self.snapshot.scopes else None

    def _stands_in(self, place: Address, item: LiveObject) -> None:
        objects = {**self.snapshot.objects, item.identity: item}
        scopes = {**self.snapshot.scopes, place: (*self.snapshot.scopes[place], item.identity)}
        self.snapshot = replace(self.snapshot, objects=objects, scopes=scopes)

    def _source(self, item: LiveObject) -> Source:
        """Where an object was read: its list below its parent, or its tree below the tree's owner."""
        kind = self.registry[item.kind]
        chain = self.snapshot.above(item)
        if kind.in_tree:
            owner = self.registry.tree_owner(kind)
            while chain[0][0] != owner:
                chain = chain[1:]
        return self.sources.source(kind, chain[0], chain)

    def _read_again(self, doomed: list[Identity]) -> None:
        sources = {
            source.url: source for source in (self._source(self.snapshot.objects[item]) for item in doomed)
        }
        before: dict[str, set[Identity]] = {url: set() for url in sources}
        for item in self.snapshot.objects.values():
            if item.source in before:
                before[item.source].add(item.identity)
        self.sources.fetch(sources.values())
        for url, then in before.items():
            now = {item.identity for item in self.sources.objects[url]}
            # What something has put out stands in the list and was left out on purpose.
            more = now - then - self.snapshot.put_out
            if not then <= now or any(identity[0] in {kind for kind, _ in then} for identity in more):
                message = f"GET {url} gave other objects the second time: somebody else is writing"
                hint = "nothing was planned; try again when it is quiet"
                raise DiagnosticError([Diagnostic("DP320", message, hint=hint)], Exit.FAILED)

    def _shown_in(self, identity: Identity) -> tuple[tuple[Identity, str], ...]:
        item = self.snapshot.objects[identity]
        kind = self.registry[item.kind]
        if kind.shown_in is None:
            return ()
        url = expand(self.registry, kind, kind.shown_in.path, item.id, self.snapshot.above(item))
        found = self.sources.named(url)
        return tuple(((str(body.get("object")), id), str(body.get("title", ""))) for id, body in found)

    def _what_could_be_inside(self, doomed: list[Identity]) -> list[Source]:
        """Lists and trees that say what a doomed holder still holds, where they were not read before."""
        known = {item.source for item in self.snapshot.objects.values()}
        found: dict[str, Source] = {}
        for identity in doomed:
            item = self.snapshot.objects[identity]
            chain = self.snapshot.above(item)
            for source in [*self._lifted(item, chain), *self._below(item, chain)]:
                if source.url not in known:
                    found[source.url] = source
        return list(found.values())

    def _lifted(self, item: LiveObject, chain: Chain) -> Iterable[Source]:
        if self.registry[item.kind].on_delete != "lifted":
            return
        for kind, _ in self.registry.referring(item.kind):
            if not kind.in_tree:
                yield self.sources.source(kind, chain[0], chain)

    def _below(self, item: LiveObject, chain: Chain) -> Iterable[Source]:
        """Its own tree and lists; a single is a part of it. A node was read with the rest of its tree."""
        if self.registry[item.kind].in_tree:
            return
        for kind in self.registry.children(item.kind):
            if not isinstance(kind.shape, Single):
                yield self.sources.source(kind, item.identity, [item.identity, *chain])
