"""Carry out one step (request) of a plan: check it, log it in the journal, send it, log its outcome.

`Attempt.run` returns an outcome whatever happens: a refusal, a lost response, a full disk, an internal error.
Nothing is sent that is not in the journal, and what was sent keeps its outcome. A request without a response
is never repeated blindly: dpsync looks for the object that the request may have created.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from dpsync.apply.fresh_reads import FreshReads, ObjectsByIdentity
from dpsync.apply.journal import Journal, try_to_record
from dpsync.apply.task import Check, LiveIds, StepTask
from dpsync.client.client import WriteClient, WriteResult
from dpsync.client.errors import (
    ClientError,
    ForbiddenError,
    InterruptedRequestError,
    NotFoundError,
    NotSentError,
    StatusError,
    UnknownOutcomeError,
)
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Type
from dpsync.kinds.urls import id_to_path_segment
from dpsync.live.decode import check_id, fill_id_template, value_or_none
from dpsync.live.sources import as_unexpected_response
from dpsync.model.address import Address
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import Event, Intended, Outcome, Result, StepEnded
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import ENV_MARKER, REF_MARKER, fill_markers, marker_names

_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 5.0
_LONGEST_WAIT: Final = 60.0


def growing_pauses(first: float, longest: float, total: float) -> Iterator[float]:
    """Yield pauses in seconds, each twice as long as the one before, but at most `longest`.

    They end when their sum reaches `total`.
    """
    pause, remaining = first, total
    while remaining > 0:
        yield pause
        remaining -= pause
        pause = min(pause * 2, longest)


def platform_work_pauses() -> Iterator[float]:
    """Yield growing pauses, a minute in all, to wait until the platform created or processed an object."""
    return growing_pauses(_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_WAIT)


_UNKNOWN_ID = re.compile(r"\{([^{}]+)\}")


class ApplyContext(Struct, frozen=True):
    """What all attempts of one apply share. Thread-safe."""

    client: WriteClient
    registry: Registry
    desired: Desired
    journal: Journal
    secrets: Mapping[str, str]
    ids: LiveIds
    fresh_reads: FreshReads
    checks: Sequence[Check]
    """Run in this order, right before a step is recorded and sent."""
    stop: threading.Event
    trouble: list[str] = field(default_factory=list)
    """The reasons why the apply cannot continue, as sentences."""
    clock: Callable[[], float] = time.monotonic
    """Returns seconds, to measure how long a step takes."""

    def add_trouble(self, reason: str) -> None:
        """Note once why the apply cannot continue."""
        if reason not in self.trouble:
            self.trouble.append(reason)


class _Lookup(Struct, frozen=True):
    """The objects of a list now, and the new objects that a request without a response may have created."""

    objects: ObjectsByIdentity
    candidates: Sequence[LiveObject]


class Attempt:
    """One attempt at one step of a plan.

    `sent` says whether a writing request may have reached the platform.
    """

    def __init__(self, shared: ApplyContext, task: StepTask) -> None:
        self._shared = shared
        self._task = task
        self.sent = False

    def run(self) -> Outcome:
        """Carry out the step, record its outcome in the journal, and return it.

        Raises nothing, so that a failure stops neither the other steps nor the report.
        """
        began = self._shared.clock()
        try:
            outcome = self._run_checks() or self._record_and_send()
        except Exception as error:
            outcome = self._internal_error(error)
        finally:
            if not self.sent:
                self._shared.fresh_reads.note_not_sent(self._task)
        outcome = outcome.model_copy(update={"sent": self.sent})
        self._record(StepEnded(outcome=outcome, seconds=round(self._shared.clock() - began, 3)))
        return outcome

    def _internal_error(self, mistake: Exception) -> Outcome:
        """Return the outcome after an internal error: unknown if a request was sent, otherwise failed.

        The text of the exception is left out, because it may contain a secret.
        """
        words = f"dpsync has an internal error ({type(mistake).__name__})"
        return self._task.outcome("unknown" if self.sent else "failed", words)

    def _run_checks(self) -> Outcome | None:
        """Return the outcome of a step that a check refuses, None if all checks pass.

        A check that cannot read the platform refuses the step, too.
        """
        try:
            for check in self._shared.checks:
                objection = check(self._task)
                if objection is not None:
                    return self._task.outcome(objection.result, objection.reason)
        except InterruptedRequestError:
            return self._task.outcome("not-tried", "stopped")
        except ClientError as error:
            return self._task.outcome("failed", f"the check before the request failed: {error}", error.status)
        except DiagnosticError as error:
            return self._task.outcome("failed", f"the check before the request failed: {error}")
        return None

    def _record_and_send(self) -> Outcome:
        """Record the intent, then send the request. If the journal cannot be written, nothing is sent."""
        problem = self._record(self._intent())
        if problem is not None:
            return self._task.outcome("not-tried", problem)
        return self._send_or_await()

    def _record(self, event: Event) -> str | None:
        """Write an event to the journal. If that fails, stop the whole apply, and return the reason."""
        problem = try_to_record(self._shared.journal, event)
        if problem is not None:
            self._shared.add_trouble(problem)
            self._shared.stop.set()
        return problem

    def _intent(self) -> Intended:
        """Return the journal event before the request, with address and id of an existing object."""
        change, step = self._task.change, self._task.step
        id = self._shared.ids.get(change.location)
        address = None if id is None else change.address
        return Intended(step=step.id, method=step.method, address=address, id=id)

    def _send_or_await(self) -> Outcome:
        """Send the request of the step, or wait for the platform, and turn each error into an outcome."""
        try:
            return self._await() if self._task.step.verb == "await" else self._send()
        except InterruptedRequestError:
            return self._task.outcome("not-tried", "stopped")
        except ClientError as error:
            return self._task.outcome("failed", self._reason(error), error.status)
        except Exception as mistake:
            return self._internal_error(mistake)

    # --- the request ----------------------------------------------------------------------------------

    def _send(self) -> Outcome:
        """Send the writing request of the step, and return the outcome for its response.

        For a step that replaces the whole object (`step.whole`), the new values are merged into the live body
        first. Raises NotSentError, InterruptedRequestError or another ClientError if nothing was sent.
        """
        step, shared = self._task.step, self._shared
        path = self._path()
        body = fill_markers(step.body, self._marker_value)
        if step.whole:
            kind = shared.registry[self._task.change.kind]
            live = shared.fresh_reads.sources.read_body(kind, path)
            read_only = kind.update.read_only if kind.update is not None else ()
            types = {field.wire_name: field.type for field in kind.fields}
            body = _merge_over_live(types, live, body, step.method == "PUT", read_only)
        secrets = [shared.secrets[name] for name in marker_names(step.body, ENV_MARKER)]
        shared.fresh_reads.note_sending()
        self.sent = True
        try:
            result = shared.client.send(
                step.method, path, body, repeatable=step.repeat == "safe", secrets=secrets
            )
        except (NotSentError, InterruptedRequestError):
            self.sent = False
            raise
        except UnknownOutcomeError as unknown:
            return self._unanswered_outcome(unknown)
        except StatusError as refused:
            return self._refused_outcome(refused)
        return self._success_outcome(result)

    def _refused_outcome(self, refused: StatusError) -> Outcome:
        """Return the outcome of a request that the platform refused with an error status.

        The result is "already" where the refusal means that there is nothing left to do, such as a 404 of a
        delete.
        """
        step, missing = self._task.step, isinstance(refused, NotFoundError)
        if missing and (step.verb == "delete" or (step.method == "DELETE" and refused.after_unknown)):
            return self._task.outcome("already", status=refused.status)
        # The platform refuses a move that changes nothing. The final plan verifies the position.
        # A refused write (PATCH) of a position field changed nothing, so it is a failure.
        is_placement = step.phase == "place" and step.method != "PATCH"
        if refused.status == 409 and (step.verb in ("move", "transfer") or is_placement):
            return self._task.outcome("already", status=refused.status)
        if refused.after_unknown:
            # This try was refused, but an earlier one may have been carried out.
            return self._unanswered_outcome(refused)
        if refused.status == 409 and step.verb in ("create", "restore"):
            # A gateway may have sent the request twice. Then the platform carried out the first copy.
            lookup = self._look_up()
            if lookup is None or lookup.candidates:
                return self._lookup_outcome(refused, lookup, "already")
        message = self._reason(refused)
        if refused.status in (404, 405, 501):
            message += (
                ". If the server does not know this request, set --profile to the API version of the server"
            )
        return self._task.outcome("failed", message, refused.status, answer=refused.message)

    def _await(self) -> Outcome:
        """Read with growing pauses until the platform has created the objects, or until time is up.

        The ids of the created objects are noted for later steps.
        """
        pauses = platform_work_pauses()
        path = self._path()
        id_paths = {gives.location: gives.pointer or "" for gives in self._task.step.gives}
        while True:
            body = self._shared.client.get(path)
            with as_unexpected_response(path):
                ids = {
                    address: check_id(body, id_path)
                    for address, id_path in id_paths.items()
                    if value_or_none(body, id_path)
                }
            if ids.keys() == id_paths.keys():
                for address, id in ids.items():
                    self._shared.ids.set(address, id)
                return self._task.outcome("done")
            if self._shared.stop.is_set() or (pause := next(pauses, None)) is None:
                words = "GitBook has not created the object yet. Run apply again later"
                return self._task.outcome("not-tried", words)
            self._shared.client.pause(pause)

    def _path(self) -> str:
        """Return the URL path of the step, with ids in place of addresses in braces.

        The plan names an object that the apply creates by address: `/orgs/o1/sites/{acme/sites/docs}`.
        """

        def segment(match: re.Match[str]) -> str:
            """Return the id of the object at an address in braces, quoted for a URL path."""
            address = Address.parse(match[1])
            entry = self._shared.desired.entries.get(address)
            kind = self._shared.registry[entry.kind] if entry else None
            return id_to_path_segment(self._id(address), kind)

        return _UNKNOWN_ID.sub(segment, self._task.step.path)

    def _marker_value(self, marker: str, name: str) -> Any:
        """Return the value that a marker in a body stands for: an id, a secret, or the name itself."""
        if marker == REF_MARKER:
            return self._id(Address.parse(name))
        return self._shared.secrets[name] if marker == ENV_MARKER else name

    def _id(self, address: Address) -> str:
        """Return the live id of an entry. Raises KeyError if it is not created yet."""
        id = self._shared.ids.get(address)
        if id is None:
            raise KeyError(address)
        return id

    # --- the response ---------------------------------------------------------------------------------

    def _success_outcome(self, answer: WriteResult) -> Outcome:
        """Return the outcome of a successful response, and store the new ids in it for later steps.

        A response without the expected ids is handled like a lost response. If the response contains another
        type of object than expected, the step failed: GitBook requires another change first.
        """
        step = self._task.step
        if step.answers is not None and value_or_none(answer.body, "object") != step.answers:
            words = "GitBook requires another change first"
            return self._task.outcome("failed", words, answer.status)
        for gives in step.gives:
            id = gives.id if gives.pointer is None else fill_id_template(answer.body, gives.pointer)
            if gives.pointer is None:
                id = fill_markers(id, self._marker_value)
            if not isinstance(id, str):
                return self._unanswered_outcome(
                    UnknownOutcomeError(step.method, step.path, "unreadable", answer.status)
                )
            self._shared.ids.set(gives.location, id)
        requested = step.verb == "delete" and answer.status == 202
        object_id = self._shared.ids.get(self._task.change.location)
        return self._task.outcome("requested" if requested else "done", status=answer.status, id=object_id)

    # --- the lost response ----------------------------------------------------------------------------

    def _unanswered_outcome(self, error: ClientError) -> Outcome:
        """Return the outcome of a request without a response: look for the created object, but do not resend.

        The platform may carry out such a request after any later read, so a missing object proves nothing.
        """
        message = self._reason(error)
        step = self._task.step
        if isinstance(error, UnknownOutcomeError) and error.reason == "interrupted":
            message += ". The next plan shows whether the change was made"
            return self._task.outcome("unknown", message)
        if step.repeat == "never" or step.verb not in ("create", "restore"):
            return self._task.outcome("unknown", message, error.status)
        return self._lookup_outcome(error, self._look_up(), "done")

    def _lookup_outcome(self, error: ClientError, lookup: _Lookup | None, result: Result) -> Outcome:
        """Return the outcome `result` if exactly one object can be the created one, otherwise "unknown"."""
        if lookup is not None and len(lookup.candidates) == 1 and self._note_created_ids(lookup):
            return self._task.outcome(result, status=error.status, id=lookup.candidates[0].id)
        message = (
            f"{self._reason(error)}. dpsync looked for the object, but cannot tell whether "
            "GitBook created the "
            "object. dpsync does not repeat the request, because GitBook may still create the object"
        )
        return self._task.outcome("unknown", message, error.status)

    def _look_up(self) -> _Lookup | None:
        """Read the list again, and look for objects that the request may have created; None if unreadable."""
        change, fresh = self._task.change, self._shared.fresh_reads
        source = fresh.source(change)
        if source is None:
            return None
        try:
            objects = fresh.read(source)
        except ClientError:
            return None
        entry = self._shared.desired.entries[change.location]
        gives = self._task.step.gives
        known_id = change.id or None
        if not known_id and gives and gives[0].pointer is None:  # the id is known before the request
            known_id = fill_markers(gives[0].id, self._marker_value)
        return _Lookup(objects, fresh.possible_results(entry, objects, known_id))

    def _note_created_ids(self, lookup: _Lookup) -> bool:
        """Store the ids of the only candidate and of its children, because later steps need them.

        Return False, and store nothing, if the candidate lacks a child that the request must have created.
        """
        created, child_bindings = lookup.candidates[0], self._task.step.gives[1:]
        children = [live for live in lookup.objects.values() if live.holder == created.identity]
        if len(children) < len(child_bindings):
            return False
        self._shared.ids.set(self._task.change.location, created.id)
        for gives, child in zip(child_bindings, children, strict=False):
            self._shared.ids.set(gives.location, child.id)
        return True

    def _reason(self, error: ClientError) -> str:
        """Return the reason of a failure for the report, with advice after a 403.

        If the request contained a secret, the response text is left out, because it may repeat the secret.
        """
        if marker_names(self._task.step.body, ENV_MARKER) and isinstance(error, StatusError):
            why = "the response is not shown, because the request contained a secret"
            return f"status {error.status} ({why})"
        if not isinstance(error, ForbiddenError):
            return str(error)
        # The platform answers 403 for both (gitbook-skills, configure-site, "Error handling notes").
        in_site = "/sites/" in self._task.step.path
        plan = ", or check that the GitBook plan of the site includes this feature" if in_site else ""
        return f"{error}. Use a token that may make this change{plan}"


def _merge_over_live(
    types: Mapping[str, Type], live: Any, body: Any, keep_undeclared: bool, read_only: Collection[str] = ()
) -> Any:
    """Return a body to send, merged with the live body, each member by its type.

    A PUT replaces the whole object, so members that the files do not declare must be sent as they are.

    Args:
        types: The type of each member by its name in requests.
        keep_undeclared: Whether to keep live members that are not in `body`, except those in `read_only`.
    """
    if not (isinstance(live, dict) and isinstance(body, dict)):
        return body
    undeclared = {name: value for name, value in live.items() if keep_undeclared and name not in read_only}
    return undeclared | {
        name: types[name].merge_over_live(live.get(name), value) for name, value in body.items()
    }
