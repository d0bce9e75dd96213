"""Carries out the steps of a plan: several at a time, in the order of their graph.

Each step is recorded before and after. It runs when everything it needs has succeeded and everything it
follows has ended; deletes run when every other step (but those that expose) has ended. A failure stops what
needs it, nothing else.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from dpsync.apply.fresh import Fresh
from dpsync.apply.journal import Journal, JournalFull
from dpsync.apply.schedule import Schedule
from dpsync.client.client import Answer, WriteClient
from dpsync.client.errors import Answered, ClientError, Interrupted, NotFound, Rejected, Unknown
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import segment
from dpsync.live.decode import compose, pointer
from dpsync.model.address import Address
from dpsync.model.desired import Desired
from dpsync.model.journal import GOOD, Outcome, Result
from dpsync.model.plan import GONE, Change, Plan, Step
from dpsync.model.snapshot import Snapshot
from dpsync.model.values import ENV, REF, fill, markers

_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_WAIT = 0.1, 5.0, 60.0
"""Seconds, for what the platform makes by itself."""
_UNMADE = re.compile(r"\{([^{}]+)\}")


@dataclass
class _Task:
    step: Step
    change: Change


@dataclass
class Executor:
    """One apply. `stop()` lets what is in flight finish and starts nothing more."""

    client: WriteClient
    registry: Registry
    desired: Desired
    snapshot: Snapshot
    plan: Plan
    journal: Journal
    secrets: Mapping[str, str] = field(default_factory=dict)
    parallelism: int = 4
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    trouble: list[str] = field(default_factory=list)
    stopped: bool = False
    writes: int = 0
    told: Callable[[Outcome], None] = lambda _: None
    """Called with each outcome as it becomes known."""

    def __post_init__(self) -> None:
        self._tasks = {step.id: _Task(step, change) for change in self.plan.changes for step in change.steps}
        self._ids = {address: match.id for address, match in self.snapshot.matches.items()}
        self.fresh = Fresh(self.client, self.registry, self.desired, self.snapshot, self._ids)
        self._lock = threading.Lock()
        self._by_source: dict[str, list[Change]] = {}
        for change in self.plan.changes:
            source = self.fresh.source(change) if change.steps else None
            if source is not None:
                self._by_source.setdefault(source.url, []).append(change)

    @property
    def ids(self) -> Mapping[Address, str]:
        """Which live id each address has by now."""
        return dict(self._ids)

    def stop(self) -> None:
        self.stopped = True

    def preflight(self) -> dict[str, str]:
        """By address, what has changed since the plan was made; nothing is written when this is not empty."""
        stale: dict[str, str] = {}
        sources = {
            source.url: source
            for change in self.plan.changes
            if change.steps and (source := self.fresh.source(change)) is not None
        }
        for url, source in sorted(sources.items()):
            stale |= self.fresh.stale(source, self._by_source[url])
        return stale

    def missing_secrets(self) -> list[str]:
        """Environment variables that the plan needs and that are not set."""
        wanted = {name for task in self._tasks.values() for name in markers(task.step.body, ENV)}
        return sorted(wanted - set(self.secrets))

    # The loop.

    def run(self) -> None:
        """Carry out every step that can be. Never raises for what the platform does."""
        schedule = Schedule(task.step for task in self._tasks.values())
        running: set[Future[Outcome]] = set()
        with ThreadPoolExecutor(max(1, self.parallelism)) as pool:
            while True:
                while not self.stopped and len(running) < self.parallelism and (id := schedule.next()):
                    running.add(pool.submit(self._attempt, self._tasks[id]))
                if not running:
                    break
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    outcome = future.result()
                    self._settle(outcome)
                    for id in schedule.settle(outcome.step, outcome.result in GOOD):
                        self._settle(self._outcome(self._tasks[id], "not-tried", f"it needs {outcome.step}"))
        for id in schedule.open:
            self._settle(self._outcome(self._tasks[id], "not-tried", "stopped"))

    def _settle(self, outcome: Outcome) -> None:
        self.outcomes[outcome.step] = outcome
        self.told(outcome)

    # One step.

    def _attempt(self, task: _Task) -> Outcome:
        """Check, record, send, record. What was sent keeps its outcome, whatever happens to the journal."""
        outcome: Outcome | None = None
        try:
            outcome = self._not_any_more(task)
            if outcome is None:
                self.journal.write("intent", step=task.step.id, method=task.step.method, **self._whose(task))
                outcome = self._tried(task)
                self.journal.write("outcome", **outcome.model_dump(exclude_none=True))
        except JournalFull as full:
            self.stop()
            self.trouble.append(str(full))
            return outcome or self._outcome(task, "not-tried", str(full))
        return outcome

    def _whose(self, task: _Task) -> dict[str, str]:
        """Address and id of what is about to be written, where it is live."""
        address = task.change.address
        id = self._ids.get(Address.parse(address))
        return {} if id is None else {"address": address, "id": id}

    def _not_any_more(self, task: _Task) -> Outcome | None:
        """Why nothing should be sent any more, found out by reading; None when all is as planned."""
        try:
            reason = self._stale(task)
            if reason is not None:
                return self._outcome(task, "stale", reason)
            full = self._not_empty(task)
            return None if full is None else self._outcome(task, "failed", full)
        except Interrupted:
            return self._outcome(task, "not-tried", "stopped")
        except ClientError as error:
            return self._outcome(task, "failed", f"it could not be checked: {error}", error.status)

    def _tried(self, task: _Task) -> Outcome:
        try:
            return self._send(task)
        except Interrupted:
            return self._outcome(task, "not-tried", "stopped")
        except ClientError as error:
            return self._outcome(task, "failed", _words(task, error), error.status)
        except Exception as mistake:
            # Nobody knows how far it came; the other steps and the report must not suffer from it.
            words = f"dpsync made a mistake of its own ({type(mistake).__name__})"
            return self._outcome(task, "unknown", words)

    def _stale(self, task: _Task) -> str | None:
        source = self.fresh.source(task.change)
        if source is None or source.url not in self._by_source:
            return None
        stale = self.fresh.stale(source, self._by_source[source.url], self.writes)
        self.fresh.written(source)
        return stale.get(task.change.address)

    def _not_empty(self, task: _Task) -> str | None:
        kind = self.registry[task.change.kind]
        if task.step.verb not in GONE or kind.on_delete != "lifted":
            return None
        id = str(task.change.id)
        left = self.fresh.what_is_inside(kind, id, self.snapshot.objects[kind.name, id])
        return f"it is not empty: {', '.join(sorted(left))}" if left else None

    def _send(self, task: _Task, again: bool = True) -> Outcome:
        step = task.step
        if step.verb == "await":
            return self._await(task)
        path = _UNMADE.sub(lambda match: self._segment(Address.parse(match[1])), step.path)
        body = fill(step.body, self._known)
        if step.whole:
            body = _laid_over(self.client.get(path), body, everything=step.method == "PUT")
        with self._lock:
            self.writes += 1
        try:
            sent = [self.secrets[name] for name in markers(step.body, ENV)]
            answer = self.client.send(step.method, path, body, repeatable=step.repeatable, secrets=sent)
        except Unknown as unknown:
            if step.repeatable or not step.gives:
                return self._outcome(task, "unknown", _words(task, unknown), unknown.status)
            return self._look_up(task, unknown, again)
        except NotFound as gone:
            if step.verb in GONE:
                return self._outcome(task, "already", status=gone.status)
            return self._outcome(task, "failed", _words(task, gone), gone.status)
        except Rejected as rejected:
            # A move that changes nothing is refused: then it is as it should be. The final plan proves it.
            if rejected.status == 409 and step.verb in ("move", "place", "transfer"):
                return self._outcome(task, "already", status=409)
            return self._outcome(task, "failed", _words(task, rejected), rejected.status)
        return self._answered(task, answer)

    def _await(self, task: _Task) -> Outcome:
        """Ask again and again, less and less often, until it is there or that took too long."""
        step, waited, pause = task.step, 0.0, _FIRST_PAUSE
        path = _UNMADE.sub(lambda match: self._segment(Address.parse(match[1])), step.path)
        while True:
            body = self.client.get(path)
            found = {gives.address: compose(body, gives.pointer or "") for gives in step.gives}
            if all(found.values()):
                with self._lock:
                    self._ids |= {Address.parse(address): str(id) for address, id in found.items()}
                return self._outcome(task, "done")
            if self.stopped or waited >= _LONGEST_WAIT:
                return self._outcome(task, "not-tried", "the platform has not made it yet: apply again later")
            self.client.pause(pause)
            waited, pause = waited + pause, min(pause * 2, _LONGEST_PAUSE)

    def _segment(self, address: Address) -> str:
        resource = self.desired.resources.get(address)
        return segment(self._ids[address], self.registry[resource.kind] if resource else None)

    def _known(self, marker: str, name: str) -> Any:
        if marker == REF:
            return self._ids[Address.parse(name)]
        return self.secrets[name] if marker == ENV else name

    def _answered(self, task: _Task, answer: Answer) -> Outcome:
        step = task.step
        if step.answers is not None and pointer(answer.body, "object") != step.answers:
            return self._outcome(task, "failed", "the platform wants something else first", answer.status)
        for gives in step.gives:
            id = gives.id if gives.pointer is None else compose(answer.body, gives.pointer)
            if gives.pointer is None:
                id = fill(id, self._known)
            if not isinstance(id, str):
                missing = Unknown(step.method, step.path, "unreadable", answer.status)
                return self._look_up(task, missing, again=False)
            with self._lock:
                self._ids[Address.parse(gives.address)] = id
        requested = step.verb in GONE and answer.status == 202
        own = self._ids.get(Address.parse(task.change.address))
        return self._outcome(task, "requested" if requested else "done", status=answer.status, id=own)

    def _look_up(self, task: _Task, unknown: Unknown, again: bool) -> Outcome:
        """A create whose outcome is not known: find out before anything is repeated, never guess."""
        source = self.fresh.source(task.change)
        if source is None:
            return self._outcome(task, "unknown", _words(task, unknown), unknown.status)
        try:
            now = self.fresh.read(source)
        except ClientError:
            return self._outcome(task, "unknown", _words(task, unknown), unknown.status)
        resource = self.desired.resources[Address.parse(task.change.address)]
        found = self.fresh.candidates(resource, now.values())
        if len(found) > 1 or (not found and not again):
            return self._outcome(task, "unknown", _words(task, unknown), unknown.status)
        if not found:
            return self._send(task, again=False)
        with self._lock:
            self._ids[resource.address] = found[0].id
            children = [item for item in now.values() if item.holder == found[0].identity]
            for gives, child in zip(task.step.gives[1:], children, strict=False):
                self._ids[Address.parse(gives.address)] = child.id
        return self._outcome(task, "done", status=unknown.status, id=found[0].id)

    @staticmethod
    def _outcome(
        task: _Task,
        result: Result,
        error: str | None = None,
        status: int | None = None,
        id: str | None = None,
    ) -> Outcome:
        return Outcome(
            step=task.step.id,
            address=task.change.address,
            verb=task.step.verb,
            result=result,
            error=error,
            status=status,
            id=id,
        )


def _laid_over(live: Any, wanted: Any, everything: bool = True) -> Any:
    """What is wanted over what is live, member by member; else only the members that are wanted at all."""
    if not (isinstance(live, dict) and isinstance(wanted, dict)):
        return wanted
    kept = {name: value for name, value in live.items() if everything or name in wanted}
    return kept | {name: _laid_over(live.get(name), value) for name, value in wanted.items()}


def _words(task: _Task, error: ClientError) -> str:
    """What went wrong. The platform's words are left out when it was sent a secret: it may repeat it."""
    if markers(task.step.body, ENV) and isinstance(error, Answered):
        return f"status {error.status}; the platform's words are left out, since the request held a secret"
    return str(error)
