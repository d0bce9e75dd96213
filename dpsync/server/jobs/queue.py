"""Work that goes on after its request was answered: a queue that is part of the state.

A handler puts a job into its own transaction. The companion looks for jobs after every request and starts
each as a task of its event loop. An answered request's work is thus not lost when the process dies: the
first request after a restart starts it again, from its beginning. A job changes the state in steps, each a
transaction of its own; once its record is gone (its subject was deleted or given new work, the world was
reset), its next step ends it. Of several workers on one database, the one with the claim on a job does it;
when that one dies, another does at its next request.
"""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from msgspec import Struct

from ..clock import Clock
from ..request.context import Context, Lifecycles
from ..store import Record, Store, StoreError
from .sources import OutsideServices

KIND = "job"
_log = logging.getLogger("dpsync.server")


class Superseded(Exception):
    """The job is no longer wanted."""


def job_on(subject: Record, does: str, **given: object) -> Record:
    """Its id is no part of what callers see, and never that of a job before a reset: it is random."""
    doc = {"does": does, **given}
    return Record(KIND, uuid.uuid4().hex, doc, subject.organization, subject.id, ref=subject.id)


def enqueue(ctx: Context, subject: Record, does: str, **given: object) -> None:
    """In place of the work on the same record that is still to be done."""
    cancel(ctx, subject)
    ctx.put(job_on(subject, does, **given))


def cancel(ctx: Context, subject: Record) -> None:
    for job in ctx.store.find(KIND, ref=subject.id, organization=subject.organization):
        ctx.remove(job)


class Work(Struct, frozen=True):
    """A job under way, as it sees the service."""

    job: Record
    store: Store
    clock: Clock
    sources: OutsideServices
    families: Lifecycles

    @contextmanager
    def step(self) -> Iterator[Context]:
        """A transaction. Raises Superseded when the job is not wanted any more, or another worker's: a claim
        is lost with the connection.
        """
        with self.store.transaction():
            if not self.store.claim(self.job.id) or self.store.get(KIND, self.job.id) is None:
                raise Superseded
            yield Context(self.store, "", self.clock, families=self.families)

    @contextmanager
    def last_step(self) -> Iterator[Context]:
        with self.step() as ctx:
            yield ctx
            ctx.remove(self.job)


Does = Callable[[Work], Awaitable[None]]


class Jobs:
    """The tasks of the jobs in a store. `does` has what each name of a job means."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        sources: OutsideServices,
        does: Mapping[str, Does],
        families: Lifecycles,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sources = sources
        self._does = does
        self._families = families
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._version: int | None = None
        self._waiting = True

    def start(self, version: int | None) -> None:
        """Starts what is waiting. Must be called on the event loop.

        `version` is that of the state as it was last read, None after a write. Where nothing was waiting in
        it before, nothing is now.
        """
        if version is not None and version == self._version and not self._waiting:
            return
        try:
            jobs = self._store.find(KIND)
            self._version, self._waiting = version, bool(jobs)
            for job in jobs:
                if job.id not in self._tasks and self._store.claim(job.id):
                    self._tasks[job.id] = asyncio.get_running_loop().create_task(self._run(job))
        except StoreError as error:
            _log.error("looking for jobs: %s", error)

    async def finish(self, abandoned: bool) -> None:
        """Starts what is waiting, and returns when it has ended; `abandoned`: also what is not wanted any
        more.
        """
        self.start(None)
        while tasks := self._under_way(abandoned):
            await asyncio.wait(tasks)

    def _under_way(self, abandoned: bool) -> list[asyncio.Task[None]]:
        wanted = {job.id for job in self._store.find(KIND)}
        return [task for id, task in self._tasks.items() if abandoned or id in wanted]

    async def _run(self, job: Record) -> None:
        try:
            await self._do(job)
        except StoreError as error:
            _log.error("the job %s on %s waits: %s", job.doc["does"], job.ref, error)
        finally:
            del self._tasks[job.id]
            with suppress(StoreError):
                self._store.release(job.id)

    async def _do(self, job: Record) -> None:
        try:
            work = Work(job, self._store, self._clock, self._sources, self._families)
            await self._does[job.doc["does"]](work)
        except Superseded:
            pass
        except StoreError:
            raise
        except Exception:
            _log.exception("the job %s on %s failed", job.doc["does"], job.ref)
            self._store.remove(KIND, job.id)
