"""Rehearse a plan with requests that fail on purpose, to show that a later apply still converges.

`RehearsalSetup` has a plan with its recorded responses. `run_with_faults` rehearses the plan with random
faults, drawn from a seed that is printed, so that a run can be repeated; then an apply without faults must
converge. A fault affects one write: a time-out or lost connection before or after the write is carried out,
an error 503 or 429, or the end of the process, after which nothing is sent or recorded.
"""

from __future__ import annotations

import secrets as random
import threading
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dpsync.apply.saved_plan import StaleStateError
from dpsync.client.client import WriteClient
from dpsync.client.errors import ClientError, NotSentError, UnknownOutcomeError
from dpsync.client.recording import Recording
from dpsync.client.transport import Request, Response, Stats, Transport
from dpsync.kinds.urls import fill_path_template
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.ids import IdsEdits, IdsFile
from dpsync.model.journal import Report
from dpsync.model.plan import FaultRun, Plan
from dpsync.model.text import json_text
from dpsync.model.values import ENV_MARKER, live_ids, marker_names
from dpsync.planner.answers import answer_in_flag
from dpsync.planner.sides import Options
from dpsync.rehearse.replica import InstantClock, Replica, WorldLoadError
from dpsync.rehearse.world import World, make_world
from dpsync.workflows.session import Planned, Session


class RehearsalSetup(Struct, frozen=True):
    """A plan to rehearse, with its session and the recorded responses from which it was made."""

    session: Session
    planned: Planned
    recording: Recording

    @property
    def plan(self) -> Plan:
        """Return the plan to rehearse."""
        return self.planned.plan

    def world(self) -> World:
        """Convert the recorded responses to a world: the data that the local server (companion) starts with.

        The world has a new random token, so the real token is never used. Raises WorldLoadError if a response
        of GitBook has an unexpected form.
        """
        changed = {change.id for change in self.plan.changes if change.id is not None}
        try:
            return make_world(
                self.recording.joined_answers(), random.token_hex(16), changed, self._named_paths()
            )
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise WorldLoadError(
                f"a response of GitBook has an unexpected form ({type(error).__name__})"
            ) from None

    def _named_paths(self) -> Iterator[tuple[str, str]]:
        """Yield organization id and URL path of each object that the plan names by id.

        These are the objects of steps, and the objects to which changed entries refer. They must exist in the
        world (the data of the local server), even if no response showed them.
        """
        for change in self.plan.changes:
            organization = self.planned.snapshot.matches.get(change.location.organization)
            entry = self.session.readable.entries.get(change.location)
            if organization is None:
                continue
            yield from ((organization.id, step.path) for step in change.steps)
            if entry is not None:
                yield from ((organization.id, path) for path in self._reference_paths(entry, organization.id))

    def _reference_paths(self, entry: Entry, organization: str) -> Iterator[str]:
        """Yield the URL path of each object to which an entry refers by its id on GitBook.

        Only objects directly in the organization count, and no objects that GitBook itself creates as the
        output of background work. `organization` is an id.
        """
        registry = self.session.registry
        ancestors = [(registry.root.name, organization)]
        for field in registry[entry.kind].reference_fields:
            for id in sorted(live_ids(entry.fields.get(field.name))):
                for kind in map(registry.__getitem__, field.type.referenced_kinds):
                    if kind.parents == (registry.root.name,) and kind.platform_work.outputs is None:
                        yield fill_path_template(registry, kind, kind.url_path, id, ancestors)

    def placeholder_secrets(self) -> Mapping[str, str]:
        """Return a random value for each environment variable whose value steps send.

        The values replace the real secrets, so that a rehearsal needs none.
        """
        names = {
            name
            for change in self.plan.changes
            for step in change.steps
            for name in marker_names(step.body, ENV_MARKER)
        }
        return {name: f"rehearsal-{random.token_hex(8)}" for name in sorted(names)}

    def client(
        self, replica: Replica, around: Callable[[Transport], Transport] = lambda it: it
    ) -> WriteClient:
        """Return a client that sends all requests to the replica (the local copy), without a real token.

        It has the platform's URL, because the plan and the ids file contain this URL. `around` wraps the
        transport, for example to simulate faults.
        """
        url = self.planned.snapshot.platform
        return WriteClient(url, "rehearsal", transport=around(replica), clock=InstantClock(replica))


FaultType = Literal["time-out", "lost connection", "503", "429", "kill"]
_FAULT_TYPES: Final[tuple[FaultType, ...]] = ("time-out", "lost connection", "503", "429", "kill")
_MAX_FAULTS = 3
"""Faults of one run."""
_MAX_CONFIRMED_PLANS = 3
"""Maximum number of plans with the answers that the plan before asked for."""


class ProcessKilled(BaseException):
    """The process of an apply has ended: no code of the apply runs any more."""


class Fault(Struct, frozen=True):
    """A fault at one write, counted from 1."""

    write_number: int
    type: FaultType
    is_after_write: bool = False
    """Whether the platform carries out the write before the fault."""

    def __str__(self) -> str:
        if self.type in ("429", "503") and not self.is_after_write:
            return f"{self.type} at write {self.write_number}"
        return f"{self.type} {'after' if self.is_after_write else 'before'} write {self.write_number}"


def draw_faults(random: Random, writes: int) -> tuple[Fault, ...]:
    """Return the faults of one run, ordered by the number of the write that fails."""
    numbers = random.sample(range(1, writes + 1), random.randint(1, min(_MAX_FAULTS, writes)))
    faults = []
    for number in sorted(numbers):
        fault_type = random.choice(_FAULT_TYPES)
        faults.append(Fault(number, fault_type, fault_type != "429" and random.random() < 0.5))
    return tuple(faults)


class FaultyTransport:
    """A transport in which some writes fail, with or without reaching the platform."""

    def __init__(self, inner: Transport, faults: tuple[Fault, ...]) -> None:
        self._inner = inner
        self._faults = {fault.write_number: fault for fault in faults}
        self._lock = threading.Lock()
        self._writes = 0
        self.is_killed = False

    def send(self, request: Request) -> Response:
        """Send a request, or simulate the fault that is set for this write.

        Writes are counted from 1. A fault before the write means that the request is not sent. Raises
        ProcessKilled for each request after a simulated end of the process. Reads never fail otherwise.
        """
        if self.is_killed:
            raise ProcessKilled
        if request.method == "GET":
            return self._inner.send(request)
        with self._lock:
            self._writes += 1
            fault = self._faults.get(self._writes)
        if fault is None:
            return self._inner.send(request)
        if fault.is_after_write:
            self._inner.send(request)
        return self._fail(fault, request)

    def _fail(self, fault: Fault, request: Request) -> Response:
        """Return the response of a fault with a status (503, 429), or raise the error of another fault.

        Raises ProcessKilled (end of the process), UnknownOutcomeError (no response to a request that may have
        been carried out) or NotSentError (no connection).
        """
        if fault.type == "kill":
            self.is_killed = True
            raise ProcessKilled
        if fault.type == "time-out":
            raise UnknownOutcomeError(request.method, request.path, "timeout", seconds=30.0)
        if fault.type == "lost connection":
            if fault.is_after_write:
                raise UnknownOutcomeError(request.method, request.path, "reset")
            raise NotSentError(request.method, request.path, "connect")
        status = int(fault.type)
        body = json_text({"error": {"code": status, "message": "simulated fault"}}).encode()
        return Response(status, {"content-type": "application/json", "retry-after": "1"}, body)

    def close(self) -> None:
        """Do nothing, because the replica serves further clients."""

    def stats(self) -> Stats:
        return self._inner.stats()


class _MemoryIdsStore(Struct):
    """An ids file in memory. Edits after the end of the simulated process are lost."""

    ids: IdsFile
    is_killed: Callable[[], bool] = lambda: False
    changes: list[IdsEdits] = msgspec.field(default_factory=list)

    def edit(self, platform: str, edits: IdsEdits) -> None:
        """Change lines, unless the process has ended."""
        if not self.is_killed():
            self.ids = self.ids.with_edits(platform, edits)


def run_with_faults(
    setup: RehearsalSetup, world: World, undisturbed: Replica, writes: int, number: int, seed: int
) -> Iterator[FaultRun]:
    """Yield the results of `number` rehearsals with faults, each on a new replica (local copy of GitBook).

    A run is good if the apply after the faults converges to the same objects as without faults.
    `undisturbed` is a replica on which the plan was carried out without faults. `writes` is the number of its
    writes, and `seed` the seed of the first run.
    """
    end = undisturbed.count_objects()
    for index in range(number if writes else 0):
        run_seed = seed + index
        faults = draw_faults(Random(run_seed), writes)  # noqa: S311  # what is repeated by its seed is no secret
        try:
            with Replica(world, setup.session.registry.profile.name, setup.recording) as replica:
                converged, description = _FaultyApply(setup, replica).run(faults)
                if converged and (differing := _count_differences(replica, end)):
                    converged, description = False, f"{description} {differing}"
        except WorldLoadError as error:
            converged, description = False, str(error)
        yield FaultRun(seed=run_seed, faults=tuple(map(str, faults)), good=converged, end=description)


def _count_differences(replica: Replica, end: object) -> str:
    """Return the kinds of objects that faults duplicated or lost, as sentences; "" if there are none.

    `end` is the count of objects by (kind, id) after the run without faults, to which the objects of the
    replica are compared.
    """
    counts = replica.count_objects()
    assert isinstance(end, type(counts))
    lost = sorted({kind for kind, _id in (end - counts)})
    duplicated = sorted({kind for kind, _id in (counts - end)})
    sentences = [
        f"{word}: {', '.join(kinds)}."
        for word, kinds in (("Lost", lost), ("Duplicated", duplicated))
        if kinds
    ]
    return " ".join(sentences)


class _FaultyApply:
    """One apply with faults on a replica, and a clean apply after it."""

    def __init__(self, setup: RehearsalSetup, replica: Replica) -> None:
        self._setup, self._replica = setup, replica

    def run(self, faults: tuple[Fault, ...]) -> tuple[bool, str]:
        """Apply with faults, then again without, and return (converged, description of both applies).

        `converged` is true if the second apply finishes the plan, or if a new plan has no changes.
        """
        memory = _MemoryIdsStore(self._setup.session.ids)
        first = self._apply_with_faults(faults, memory)
        try:
            report = self._apply_again(memory)
        except (StaleStateError, ClientError, DiagnosticError) as error:
            return False, f"{first} The next apply failed: {' '.join(str(error).split())}"
        if report is None:
            return True, f"{first} A new plan had no changes."
        if not report.settled:
            return False, f"{first} The next apply did not finish the plan."
        return True, f"{first} The next apply finished the plan."

    def _apply_with_faults(self, faults: tuple[Fault, ...], memory: _MemoryIdsStore) -> str:
        """Apply the plan with faults, one request at a time, and return a description of the result.

        After a simulated end of the process, edits of the ids file (`memory`) are lost until the apply ends.
        """
        transports: list[FaultyTransport] = []

        def around(inner: Transport) -> Transport:
            transports.append(FaultyTransport(inner, faults))
            return transports[-1]

        setup = self._setup
        one_by_one = replace(setup.session, parallelism=1)  # a repeated seed must fail the same writes
        with setup.client(self._replica, around) as client:
            memory.is_killed = lambda: transports[0].is_killed
            try:
                report = one_by_one.apply(
                    client, setup.planned, secrets=setup.placeholder_secrets(), ids=memory
                )
            except ProcessKilled:
                return "The process was killed."
            except (StaleStateError, ClientError, DiagnosticError) as error:
                return f"The apply stopped ({' '.join(str(error).split())})."
            finally:
                memory.is_killed = lambda: False
        number = report.count("done", "already", "requested")
        return f"{number} of {len(report.outcomes)} steps succeeded."

    def _apply_again(self, memory: _MemoryIdsStore) -> Report | None:
        """Plan and apply again without faults, with the ids file that the apply with faults left (`memory`).

        Return None for an empty plan.
        """
        setup = self._setup
        self._replica.finish()
        session = replace(setup.session, ids=memory.ids)
        with setup.client(self._replica) as client:
            planned = self._confirmed_plan(session, client)
            if planned.plan.empty:
                return None
            return session.apply(client, planned, secrets=setup.placeholder_secrets(), ids=memory)

    def _confirmed_plan(self, session: Session, client: object) -> Planned:
        """Plan the remaining changes, and give every confirmation (`--confirm`) that the plan asks for.

        The confirmations of the first apply do not suffice: they contain numbers of objects, which decrease
        with each apply. A confirmed plan may ask for more, so this plans at most three times.
        """
        from dpsync.client.client import ReadClient

        assert isinstance(client, ReadClient)
        options: Options = self._setup.planned.options
        for _ in range(_MAX_CONFIRMED_PLANS):
            planned = session.plan(client, options)
            new_answers = [answer for answer in _requested_answers(planned) if answer not in options.confirm]
            if not planned.plan.refusals or not new_answers:
                break
            options = replace(options, confirm=(*options.confirm, *new_answers))
        return planned


def _requested_answers(planned: Planned) -> Iterator[str]:
    """Yield the values of `--confirm` that a plan asks for."""
    for refusal in planned.plan.refusals:
        for resolution in refusal.answers:
            if (answer := answer_in_flag(resolution.add)) is not None:
                yield answer
