"""Run work that continues after the response: a queue of jobs that is part of the stored state.

A handler adds a job in its own transaction, so the work is not lost if the process dies: the first request
after a restart starts the job again. Each job is a task of the event loop. A job changes the state in steps;
each step is a transaction. If the record of the job no longer exists (its subject was deleted or got new
work, or the data were loaded anew), the next step ends the job. If several processes (workers) share a
database, one of them claims and runs the job; another one takes over if that worker dies.
"""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from msgspec import Struct

from ..clock import Clock
from ..request.context import Context, RecordHooks
from ..store import Record, Store, StoreError
from .outside_services import OutsideServices

JOB = "job"
_log = logging.getLogger("dpsync.server")


class JobCancelledError(Exception):
    """The job is obsolete."""


def make_job(subject: Record, job_name: str, **arguments: object) -> Record:
    """Return a job on a record. Its id is random, so it never equals the id of a job before a reset."""
    doc = {"does": job_name, **arguments}
    return Record(JOB, uuid.uuid4().hex, doc, subject.organization, subject.id, ref=subject.id)


def enqueue(ctx: Context, subject: Record, job_name: str, **arguments: object) -> None:
    """Add a job on a record in place of the jobs on the same record that have not finished."""
    cancel(ctx, subject)
    ctx.put(make_job(subject, job_name, **arguments))


def cancel(ctx: Context, subject: Record) -> None:
    """Remove all jobs on a record. A job that is running ends at its next step."""
    for job in ctx.store.find(JOB, ref=subject.id, organization=subject.organization):
        ctx.remove(job)


class RunningJob(Struct, frozen=True):
    """A running job with the services that it may use."""

    job: Record
    store: Store
    clock: Clock
    services: OutsideServices
    record_hooks: RecordHooks

    @contextmanager
    def step(self) -> Iterator[Context]:
        """Run one step of the job in a transaction.

        Raise JobCancelled if the job is obsolete or if another worker has claimed it. A claim is lost
        with the connection to the database.
        """
        with self.store.transaction():
            if not self.store.claim(self.job.id) or self.store.get(JOB, self.job.id) is None:
                raise JobCancelledError
            yield Context(self.store, "", self.clock, record_hooks=self.record_hooks)

    @contextmanager
    def final_step(self) -> Iterator[Context]:
        """Run the last step of the job, and remove the job in the same transaction."""
        with self.step() as ctx:
            yield ctx
            ctx.remove(self.job)


JobHandler = Callable[[RunningJob], Awaitable[None]]


class JobRunner:
    """Runs the jobs of a store as tasks. `handlers` has the function for each name of a job."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        services: OutsideServices,
        handlers: Mapping[str, JobHandler],
        record_hooks: RecordHooks,
    ) -> None:
        self._store = store
        self._clock = clock
        self._services = services
        self._handlers = handlers
        self._record_hooks = record_hooks
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._last_version: int | None = None
        self._has_waiting_jobs = True

    def start_waiting(self, version: int | None) -> None:
        """Start the waiting jobs. Call this on the event loop.

        `version` is the version of the state that the last request read, or None after a write. If no job
        waited at this version before, the store is not queried again.
        """
        if version is not None and version == self._last_version and not self._has_waiting_jobs:
            return
        try:
            jobs = self._store.find(JOB)
            self._last_version, self._has_waiting_jobs = version, bool(jobs)
            for job in jobs:
                if job.id not in self._tasks and self._store.claim(job.id):
                    self._tasks[job.id] = asyncio.get_running_loop().create_task(self._run_job(job))
        except StoreError as error:
            _log.error("looking for jobs: %s", error)

    async def wait(self, include_abandoned: bool) -> None:
        """Start the waiting jobs and await their end, with `include_abandoned` also of obsolete jobs."""
        self.start_waiting(None)
        while True:
            current_jobs = {job.id for job in self._store.find(JOB)}
            tasks = [task for id, task in self._tasks.items() if include_abandoned or id in current_jobs]
            if not tasks:
                return
            await asyncio.wait(tasks)

    async def _run_job(self, job: Record) -> None:
        """Run a job and release its claim.

        If the database is unavailable, the job stays and starts again later.
        """
        try:
            await self._call_handler(job)
        except StoreError as error:
            _log.error("the job %s on %s waits: %s", job.doc["does"], job.ref, error)
        finally:
            del self._tasks[job.id]
            with suppress(StoreError):
                self._store.release(job.id)

    async def _call_handler(self, job: Record) -> None:
        """Call the handler of a job. If it fails, log the exception and remove the job."""
        try:
            work = RunningJob(job, self._store, self._clock, self._services, self._record_hooks)
            await self._handlers[job.doc["does"]](work)
        except JobCancelledError:
            pass
        except StoreError:
            raise
        except Exception:
            _log.exception("the job %s on %s failed", job.doc["does"], job.ref)
            self._store.remove(JOB, job.id)
