"""Carry out the steps of a plan (one request each), several at a time, in the order of their dependencies.

`Executor.run` runs the steps and collects their outcomes. `Schedule` decides which steps may run: a step runs
when every step that it needs has succeeded and every step that it follows has ended. Deletes wait until all
other steps have ended, except steps that expose objects, which come after the deletes. A failed step stops
only the steps that need it.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue

from dpsync.apply.attempt import ApplyContext, Attempt
from dpsync.apply.delete_checks import DeleteChecks
from dpsync.apply.fresh_reads import FreshReads
from dpsync.apply.ids_recorder import IdsRecorder
from dpsync.apply.journal import InMemoryJournal, Journal, MaskedJournal, try_to_record
from dpsync.apply.task import LiveIds, StepTask
from dpsync.apply.verification import await_processing, await_removals
from dpsync.client.client import WriteClient
from dpsync.kinds.registry import Registry
from dpsync.model.change import Step
from dpsync.model.desired import Desired
from dpsync.model.journal import SUCCESSFUL, NotTried, Outcome, StepEnded
from dpsync.model.mask import Mask
from dpsync.model.plan import Plan
from dpsync.model.snapshot import Snapshot
from dpsync.model.values import ENV_MARKER, marker_names


class Schedule:
    """Progress in the dependency graph of a plan: which steps may run next. Visits each edge once."""

    def __init__(self, steps: Iterable[Step]) -> None:
        """Build the graph of the steps, and make the steps ready that wait for nothing."""
        self._steps = {step.id: step for step in steps}
        self._open = set(self._steps)
        self._ended: set[str] = set()
        self._open_dependencies: dict[str, int] = {}
        self._needed_by: dict[str, list[str]] = defaultdict(list)
        self._followed_by: dict[str, list[str]] = defaultdict(list)
        self._ready: dict[str, None] = {}
        self._deletes: dict[str, None] = {}
        for step in self._steps.values():
            needs = [id for id in step.needs if id in self._steps]
            follows = [id for id in step.follows if id in self._steps]
            self._open_dependencies[step.id] = len(needs) + len(follows)
            for id in needs:
                self._needed_by[id].append(step.id)
            for id in follows:
                self._followed_by[id].append(step.id)
        self._steps_before_deletes = sum(not _runs_with_deletes(step) for step in self._steps.values())
        for id, count in self._open_dependencies.items():
            if count == 0:
                self._make_ready(id)
        self._release_deletes()

    def take_ready_step(self) -> str | None:
        """Return a step that may run now and mark it as taken, None if no step may run yet."""
        for id in self._ready:
            del self._ready[id]
            return id
        return None

    def end_step(self, id: str, succeeded: bool) -> list[str]:
        """Mark a step as ended, and make the steps ready that waited only for it.

        Return the steps that can never run because this step failed: those that need it, directly or not.
        """
        if id not in self._open:
            return []
        self._close(id)
        never_run: list[str] = []
        failed = [] if succeeded else [id]
        while failed:
            for dependent in self._needed_by[failed.pop()]:
                if dependent in self._open:
                    self._close(dependent)
                    never_run.append(dependent)
                    failed.append(dependent)
        self._notify_waiting(id)
        self._release_deletes()
        return never_run

    def _close(self, id: str) -> None:
        """Mark a step as one that ended or never runs."""
        self._open.discard(id)
        self._ready.pop(id, None)
        self._deletes.pop(id, None)
        self._steps_before_deletes -= not _runs_with_deletes(self._steps[id])

    def _notify_waiting(self, id: str) -> None:
        """Count the end of a step for the steps that wait for it, and make those ready that wait no longer.

        A step that never runs ends when every step that it waited for has ended. So in a chain of steps that
        follow each other, the steps behind it still wait for the steps before it.
        """
        ended = [id]
        while ended:
            ended_id = ended.pop()
            self._ended.add(ended_id)
            for waiting_id in (*self._needed_by[ended_id], *self._followed_by[ended_id]):
                self._open_dependencies[waiting_id] -= 1
                if self._open_dependencies[waiting_id] == 0 and waiting_id in self._open:
                    self._make_ready(waiting_id)
                elif self._open_dependencies[waiting_id] == 0 and waiting_id not in self._ended:
                    ended.append(waiting_id)

    def _make_ready(self, id: str) -> None:
        """Let a step run, or queue it with the deletes that wait for all other steps."""
        (self._deletes if _is_final_delete(self._steps[id]) else self._ready)[id] = None

    def _release_deletes(self) -> None:
        """Make the queued deletes ready once every step that comes before them has ended."""
        if self._steps_before_deletes == 0:
            self._ready |= self._deletes
            self._deletes.clear()


def _is_final_delete(step: Step) -> bool:
    """Return whether a step is a delete that waits for all other steps."""
    return step.verb == "delete" and step.phase is None


def _runs_with_deletes(step: Step) -> bool:
    """Return whether deletes do not wait for a step: it is a final delete, or comes after the deletes."""
    return _is_final_delete(step) or step.phase == "expose"


def sent_secrets(plan: Plan, secrets: Mapping[str, str]) -> list[str]:
    """Return the secret values that the requests of a plan contain, to mask them in all output."""
    return [secrets[name] for name in sorted(_secret_names(plan)) if name in secrets]


def _secret_names(plan: Plan) -> set[str]:
    """Return the names of the environment variables whose values the requests of a plan contain."""
    return {
        name
        for change in plan.changes
        for step in change.steps
        for name in marker_names(step.body, ENV_MARKER)
    }


class Executor:
    """Carries out the steps of one plan. After `stop` is set, no step starts.

    `report` is called with each outcome at once. `recorder` writes the ids of created objects to the ids
    file.
    """

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
        recorder: IdsRecorder,
    ) -> None:
        """Prepare the journal, the checks and the state that all steps share. Sends no request."""
        self.client = client
        self.registry = registry
        self.plan = plan
        secret = sent_secrets(plan, secrets)
        self.mask = Mask(secret) if secret else None
        """Removes the secrets that this apply sends, because any later response may repeat them."""
        masked = MaskedJournal(journal, self.mask) if self.mask is not None else journal
        self.journal = InMemoryJournal(masked)
        self.parallelism = max(1, parallelism)
        self.recorder = recorder
        self.outcomes: dict[str, Outcome] = {}
        self._report = report
        self._tasks = {
            step.id: StepTask(change, step, plan.origins) for change in plan.changes for step in change.steps
        }
        self._stop = stop
        self._lock = threading.Lock()
        ids = LiveIds({address: match.id for address, match in snapshot.matches.items()})
        fresh = FreshReads(client, registry, desired, snapshot, ids, plan.changes, self.parallelism)
        delete_checks = DeleteChecks(client, registry, desired, snapshot, plan, self.parallelism)
        checks = (fresh.check, delete_checks.check)
        self._shared = ApplyContext(
            client, registry, desired, self.journal, secrets, ids, fresh, checks, self._stop
        )

    @property
    def trouble(self) -> list[str]:
        """The reasons why the apply did not continue, as sentences."""
        return self._shared.trouble

    @property
    def is_stopped(self) -> bool:
        """Return whether no more steps may start."""
        return self._stop.is_set()

    def find_stale_changes(self) -> dict[str, str]:
        """Return what changed since the plan was made, by address. If not empty, nothing may be written."""
        return self._shared.fresh_reads.find_stale_changes()

    def missing_secrets(self) -> list[str]:
        """Return the names of environment variables that the plan needs and that are not set."""
        return sorted(_secret_names(self.plan) - set(self._shared.secrets))

    def run(self) -> None:
        """Carry out every step that can run, then wait for what the platform processes.

        Afterwards every step has an outcome, whatever goes wrong.
        """
        try:
            self._run_steps()
        except Exception as error:
            self._stop.set()
            self._shared.add_trouble(f"dpsync has an internal error ({type(error).__name__})")
        self._report_not_tried([id for id in self._tasks if id not in self.outcomes], "stopped")
        await_processing(
            self._shared, (self._tasks[id] for id, outcome in self.outcomes.items() if outcome.sent)
        )
        requested = [
            self._tasks[id] for id, outcome in self.outcomes.items() if outcome.result == "requested"
        ]
        await_removals(self._shared, requested, self._report_removed, self.client.timeout)

    def _run_steps(self) -> None:
        """Run the steps in threads, as many at a time as `parallelism` and the schedule allow.

        While steps run, write the ids of created objects to the ids file from time to time. After a failure,
        report the steps that needed the failed one as not tried.
        """
        schedule = Schedule(task.step for task in self._tasks.values())
        running = 0
        # `concurrent.futures.wait` would check all running steps each time that one ends.
        ended: SimpleQueue[Future[Outcome]] = SimpleQueue()
        with ThreadPoolExecutor(self.parallelism) as pool:
            while True:
                while (
                    not self.is_stopped and running < self.parallelism and (id := schedule.take_ready_step())
                ):
                    pool.submit(self._attempt, self._tasks[id]).add_done_callback(ended.put)
                    running += 1
                if not running:
                    break
                try:
                    first = ended.get(timeout=self.recorder.seconds_to_next_write)
                except Empty:
                    first = None
                self.recorder.flush()
                if first is None:
                    continue
                running -= 1
                outcome = first.result()
                skipped = schedule.end_step(outcome.step, outcome.result in SUCCESSFUL)
                self._report_not_tried(skipped, f"it needs {outcome.step}")

    def _attempt(self, task: StepTask) -> Outcome:
        """Run one step in its own thread, and keep its outcome at once: the main loop may be interrupted."""
        outcome = Attempt(self._shared, task).run()
        self._report_outcome(outcome)
        self.recorder.record_outcome(task, outcome, self._shared.ids.get)
        return outcome

    def _report_not_tried(self, steps: Iterable[str], why: str) -> None:
        """Record steps that will not be tried, in one journal line, and keep their outcomes."""
        ids = tuple(steps)
        problem = try_to_record(self.journal, NotTried(steps=ids, why=why)) if ids else None
        if problem is not None:
            self._shared.add_trouble(problem)
            self._stop.set()
        for id in ids:
            self._report_outcome(self._tasks[id].outcome("not-tried", why))

    def _report_removed(self, task: StepTask, outcome: Outcome) -> None:
        """Record that the platform carried out a removal that administrators had to approve."""
        outcome = outcome.model_copy(update={"sent": True})
        problem = try_to_record(self.journal, StepEnded(outcome=outcome))
        if problem is not None:
            self._shared.add_trouble(problem)
        self._report_outcome(outcome)
        self.recorder.record_outcome(task, outcome, self._shared.ids.get)

    def _report_outcome(self, outcome: Outcome) -> None:
        """Keep the outcome of a step without secrets, and report it."""
        with self._lock:
            # The id of a step may contain a secret, too.
            self.outcomes[outcome.step] = masked = self._masked(outcome)
            try:
                self._report(masked)
            except Exception:
                # A closed terminal must not stop the apply halfway.
                self._report = lambda _: None

    def _masked(self, outcome: Outcome) -> Outcome:
        """Return an outcome without the secrets that this apply sends.

        If masking fails, the error text is replaced, because it may contain a secret.
        """
        if self.mask is None:
            return outcome
        try:
            return self.mask.mask_model(outcome)
        except Exception as error:
            words = f"dpsync has an internal error ({type(error).__name__}) while it recorded this step"
            return outcome.model_copy(update={"error": words})
