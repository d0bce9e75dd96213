"""A configuration and what is live of it, and how its files name what is live."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from dpsync.config.discovery import Files
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import LiveObject, Snapshot


class Naming(Struct, frozen=True):
    """The configuration and what is live of it, under the names of the configuration."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot

    def live(self, resource: Entry) -> LiveObject | None:
        id = self.snapshot.bound(resource.address)
        if id is None:
            return None
        above = self.desired.resources[resource.parent] if resource.parent else None
        owner = (above.kind, self.snapshot.bound(above.address) or "") if above else None
        return self.snapshot.objects.get(self.registry[resource.kind].identity_of(id, owner))

    def named(self, beside: Entry) -> Callable[[tuple[str, ...], str], str | None]:
        """How a file names a live object: by the key of its entry, a person by the e-mail."""
        organization = beside.address.segments[:1]

        def name(kinds: tuple[str, ...], id: str) -> str | None:
            for address, resource in self.desired.resources.items():
                if address.segments[:1] != organization:
                    continue
                own = resource.kind in kinds and self.snapshot.bound(address) == id
                if own or self.snapshot.outputs.get(address) == id:
                    return self._reference(resource)
            for address, lookup in self.desired.lookups.items():
                if lookup.kind in kinds and self.snapshot.bound(address) == id:
                    return lookup.key
            return None

        return name

    def _reference(self, resource: Entry) -> str:
        kind = self.registry[resource.kind]
        above = self.desired.resources.get(resource.parent) if resource.parent else None
        inside = above is not None and isinstance(self.registry[above.kind].shape, NodeShape)
        return (
            f"{above.key}/{resource.key}"
            if above and inside and isinstance(kind.shape, NodeShape)
            else resource.key
        )


class NamingWithFiles(Naming, frozen=True):
    """The same with the files that it stands in."""

    files: Files
