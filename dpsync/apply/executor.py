"""Carries out the steps of a plan: several at a time, in the order of their graph.

Each step is recorded before and after. It runs when everything it needs has succeeded and everything it
follows has ended; deletes run when every other step (but those that expose) has ended. A failure stops what
needs it, nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue

from dpsync.apply.attempt import Attempt, Shared
from dpsync.apply.delete_checks import DeleteChecks
from dpsync.apply.fresh_reads import Fresh
from dpsync.apply.ids import Ids
from dpsync.apply.journal import Journal, MaskedJournal, RememberingJournal, record
from dpsync.apply.processing import await_processing
from dpsync.apply.recorder import Recorder
from dpsync.apply.removals import await_removals
from dpsync.apply.schedule import Schedule
from dpsync.apply.task import Task
from dpsync.client.client import WriteClient
from dpsync.kinds.registry import Registry
from dpsync.model.desired import Desired
from dpsync.model.journal import GOOD, NotTried, Outcome, StepEnded
from dpsync.model.mask import Mask
from dpsync.model.plan import Plan
from dpsync.model.snapshot import Snapshot
from dpsync.model.values import ENV, markers


def sent_secrets(plan: Plan, secrets: Mapping[str, str]) -> list[str]:
    """The values that carrying out a plan sends and nobody may see, as far as they are known."""
    return [secrets[name] for name in sorted(_secret_names(plan)) if name in secrets]


def _secret_names(plan: Plan) -> set[str]:
    return {name for change in plan.changes for step in change.steps for name in markers(step.body, ENV)}


class Executor:
    """One apply. `report` is called with each outcome at once; after `stop` is set no step is started."""

    def __init__(
        self,
        client: WriteClient,
        registry: Registry,
        desired: Desired,
        snapshot: Snapshot,
        plan: Plan,
        journal: Journal,
        secrets: Mapping[str, str],
        parallelism: int,
        report: Callable[[Outcome], None],
        stop: threading.Event,
        recorder: Recorder,
    ) -> None:
        self.client = client
        self.registry = registry
        self.plan = plan
        secret = sent_secrets(plan, secrets)
        self.mask = Mask(secret) if secret else None
        """Takes out what is sent and secret: the platform may repeat it in any later answer."""
        masked = MaskedJournal(journal, self.mask) if self.mask is not None else journal
        self.journal = RememberingJournal(masked)
        self.parallelism = max(1, parallelism)
        self.recorder = recorder
        self.outcomes: dict[str, Outcome] = {}
        self._report = report
        self._tasks = {
            step.id: Task(change, step, plan.origins) for change in plan.changes for step in change.steps
        }
        self._stop = stop
        self._lock = threading.Lock()
        ids = Ids({address: match.id for address, match in snapshot.matches.items()})
        fresh = Fresh(client, registry, desired, snapshot, ids, plan.changes, self.parallelism)
        along = DeleteChecks(client, registry, desired, snapshot, plan, self.parallelism)
        checks = (fresh.unchanged, along.unchanged)
        self._shared = Shared(
            client, registry, desired, self.journal, secrets, ids, fresh, checks, self._stop
        )

    @property
    def trouble(self) -> list[str]:
        """Why the apply did not go on, as sentences."""
        return self._shared.trouble

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def preflight(self) -> dict[str, str]:
        """By address, what has changed since the plan was made; nothing is written when this is not empty."""
        return self._shared.fresh.preflight()

    def missing_secrets(self) -> list[str]:
        """Environment variables that the plan needs and that are not set."""
        return sorted(_secret_names(self.plan) - set(self._shared.secrets))

    def run(self) -> None:
        """Carry out every step that can be. Whatever goes wrong, every step has an outcome afterwards."""
        try:
            self._loop()
        except Exception as mistake:
            self._stop.set()
            self._shared.troubled(f"dpsync has an internal error ({type(mistake).__name__})")
        self._not_tried([id for id in self._tasks if id not in self.outcomes], "stopped")
        await_processing(self._shared, (self._tasks[id] for id, one in self.outcomes.items() if one.sent))
        requested = [self._tasks[id] for id, one in self.outcomes.items() if one.result == "requested"]
        await_removals(self._shared, requested, self._removed, self.client.timeout)

    def _loop(self) -> None:
        schedule = Schedule(task.step for task in self._tasks.values())
        running = 0
        # `concurrent.futures.wait` would look at all that run for each that ends.
        ended: SimpleQueue[Future[Outcome]] = SimpleQueue()
        with ThreadPoolExecutor(self.parallelism) as pool:
            while True:
                while not self.stopped and running < self.parallelism and (id := schedule.next()):
                    pool.submit(self._attempt, self._tasks[id]).add_done_callback(ended.put)
                    running += 1
                if not running:
                    break
                try:
                    first = ended.get(timeout=self.recorder.due)
                except Empty:
                    first = None
                self.recorder.flush()
                if first is None:
                    continue
                running -= 1
                outcome = first.result()
                skipped = schedule.settle(outcome.step, outcome.result in GOOD)
                self._not_tried(skipped, f"it needs {outcome.step}")

    def _attempt(self, task: Task) -> Outcome:
        """Run one step in a thread of its own, and keep its outcome at once: the loop may be interrupted."""
        outcome = Attempt(self._shared, task).run()
        self._settle(outcome)
        self.recorder.settled(task, outcome, self._shared.ids.get)
        return outcome

    def _not_tried(self, steps: Iterable[str], why: str) -> None:
        """Record steps that nobody tries, all in one line, and settle them."""
        ids = tuple(steps)
        problem = record(self.journal, NotTried(steps=ids, why=why)) if ids else None
        if problem is not None:
            self._shared.troubled(problem)
            self._stop.set()
        for id in ids:
            self._settle(self._tasks[id].outcome("not-tried", why))

    def _removed(self, task: Task, outcome: Outcome) -> None:
        """What was only requested is seen to be gone."""
        outcome = outcome.model_copy(update={"sent": True})
        problem = record(self.journal, StepEnded(outcome=outcome))
        if problem is not None:
            self._shared.troubled(problem)
        self._settle(outcome)
        self.recorder.settled(task, outcome, self._shared.ids.get)

    def _settle(self, outcome: Outcome) -> None:
        with self._lock:
            # The name of a step may hold a secret, too.
            self.outcomes[outcome.step] = masked = self._masked(outcome)
            try:
                self._report(masked)
            except Exception:
                # A terminal that is gone is no reason to leave things half done.
                self._report = lambda _: None

    def _masked(self, outcome: Outcome) -> Outcome:
        if self.mask is None:
            return outcome
        try:
            return self.mask.model(outcome)
        except Exception as mistake:
            words = f"dpsync has an internal error ({type(mistake).__name__}) while it recorded this step"
            return outcome.model_copy(update={"error": words})
