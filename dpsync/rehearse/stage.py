"""A plan that is to be rehearsed, with all that a rehearsal of it needs."""

from __future__ import annotations

import secrets as random
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from dpsync.client.client import WriteClient
from dpsync.client.recording import Recording
from dpsync.client.transport import Transport
from dpsync.kinds.urls import expand
from dpsync.model.desired import Entry
from dpsync.model.plan import Plan
from dpsync.model.values import ENV, live_ids, markers
from dpsync.rehearse.replica import CannotLoad, Replica, Unhurried
from dpsync.rehearse.world import World, world_of
from dpsync.workflows.session import Planned, Session


class Stage(Struct, frozen=True):
    """A plan that is to be rehearsed, and what it was made from."""

    session: Session
    planned: Planned
    recording: Recording

    @property
    def plan(self) -> Plan:
        return self.planned.plan

    def world(self) -> World:
        """What was read, as a world. Its token is a new one, that no platform knows.

        Raises CannotLoad for answers that are not as the companion's are.
        """
        changed = {change.id for change in self.plan.changes if change.id is not None}
        try:
            return world_of(self.recording.readings(), random.token_hex(16), changed, self._named())
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as mistake:
            raise CannotLoad(
                f"a response of GitBook has an unexpected form ({type(mistake).__name__})"
            ) from None

    def _named(self) -> Iterator[tuple[str, str]]:
        """The paths of what the changes name by id, each with the id of its organization."""
        for change in self.plan.changes:
            owner = self.planned.snapshot.matches.get(change.location.top)
            entry = self.session.readable.resources.get(change.location)
            if owner is None:
                continue
            yield from ((owner.id, step.path) for step in change.steps)
            if entry is not None:
                yield from ((owner.id, path) for path in self._references(entry, owner.id))

    def _references(self, entry: Entry, organization: str) -> Iterator[str]:
        """The paths of what an entry refers to by id, as far as it is directly in the organization."""
        registry = self.session.registry
        above = [(registry.root.name, organization)]
        for field in registry[entry.kind].reference_fields:
            for id in sorted(live_ids(entry.fields.get(field.name))):
                for kind in map(registry.__getitem__, field.type.refers):
                    if kind.parents == (registry.root.name,) and kind.platform.outputs is None:
                        yield expand(registry, kind, kind.at, id, above)

    def placeholders(self) -> Mapping[str, str]:
        """A value for each secret that the steps send: none is asked for, and none is the real one."""
        names = {
            name for change in self.plan.changes for step in change.steps for name in markers(step.body, ENV)
        }
        return {name: f"rehearsal-{random.token_hex(8)}" for name in sorted(names)}

    def client(
        self, replica: Replica, around: Callable[[Transport], Transport] = lambda it: it
    ) -> WriteClient:
        """A client of the replica alone: it has no transport to anywhere else, and no token of a platform.

        It bears the platform's address, because plan and ids file name things by it.
        """
        url = self.planned.snapshot.platform
        return WriteClient(url, "rehearsal", transport=around(replica), clock=Unhurried(replica))
