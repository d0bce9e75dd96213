"""Retry requests: which ones, when, how often, and how long all threads wait.

Reads and repeatable writes are retried after any transient fault. Other writes are retried only after faults
that certainly changed nothing (not sent, 429). All calls of a client share one gate, which a 429 closes for
every thread, and one budget, which limits the retries during an outage. `RetryPolicy.run` is the entry point;
tenacity runs the loop.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from dpsync.client.errors import (
    ClientError,
    InterruptedRequestError,
    NotSentError,
    RateLimitedError,
    ServerFaultError,
    UnknownOutcomeError,
)
from dpsync.client.observer import NullObserver, Observer, WaitReason
from dpsync.client.transport import Request

if TYPE_CHECKING:
    from tenacity import RetryCallState, wait_random_exponential

T = TypeVar("T")

MAX_TRIES = 4
MAX_TRIES_UNREACHABLE = 3
BACKOFF_SECONDS = 0.2
RATE_LIMIT_BACKOFF_SECONDS = (
    0.5  # the least wait after a 429; it doubles, so that an endless "Retry-After: 0" ends
)
MAX_RATE_LIMIT_BACKOFF_SECONDS = 8.0
BUDGET_TOKENS = 40.0
BUDGET_REFILL = 0.2


class Clock:
    """Tells a client the time, and waits. Tests use their own clock."""

    def now(self) -> float:
        """Return seconds of a monotonic clock."""
        return time.monotonic()

    def wall(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def wait(self, seconds: float, cancelled: threading.Event) -> None:
        """Return after `seconds`, or as soon as `cancelled` is set."""
        cancelled.wait(seconds)


class Budget:
    """A budget of tokens for retries, shared by all threads, so that an outage does not multiply requests.

    Every success gives back a part of one token.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens = BUDGET_TOKENS

    def take(self) -> bool:
        """Take one token for a retry. Returns False if none is left, so that the call must fail."""
        with self._lock:
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True

    def refill(self) -> None:
        """Give back a part of a token after a success."""
        with self._lock:
            self._tokens = min(BUDGET_TOKENS, self._tokens + BUDGET_REFILL)


class RateLimitGate:
    """A gate that a 429 to one thread closes for all threads, until the end of the requested wait."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._opens_at = clock.now()

    def close_for(self, seconds: float) -> None:
        """Close the gate for this number of seconds, unless it is already closed for longer."""
        with self._lock:
            self._opens_at = max(self._opens_at, self._clock.now() + seconds)

    def seconds_left(self) -> float:
        """Return the seconds until the gate opens; 0 if it is open."""
        with self._lock:
            return max(0.0, self._opens_at - self._clock.now())


class RetryPolicy:
    """Decides which requests are retried, and when; shared by all threads of a client.

    `max_wait` is the seconds that one call may wait in total.
    """

    def __init__(
        self,
        *,
        max_wait: float,
        clock: Clock,
        cancelled: threading.Event,
        observer: Observer | None = None,
    ) -> None:
        self.max_wait = max_wait
        self.clock = clock
        self.cancelled = cancelled
        self.observer = observer or NullObserver()
        self.budget = Budget()
        self.gate = RateLimitGate(clock)

    def run(self, request: Request, send: Callable[[], T], *, repeatable: bool) -> T:
        """Return the result of `send`, retried as the rules allow. Raises its last failure otherwise.

        Raises InterruptedRequestError after a cancel, and RateLimitedError if the call may not wait longer.
        If an earlier try of a write may have been carried out, its UnknownOutcomeError is raised instead.
        """
        return _Call(self, request, send, repeatable=repeatable).run()


class _Call(Generic[T]):
    """One call of a client, with all its tries."""

    def __init__(
        self, policy: RetryPolicy, request: Request, send: Callable[[], T], *, repeatable: bool
    ) -> None:
        self._policy = policy
        self._request = request
        self._send = send
        self._repeatable = repeatable
        self._waited = 0.0
        self._earlier_unknown: UnknownOutcomeError | None = None

    def run(self) -> T:
        """Return the result of the first try, or of a retry if the failure allows one.

        A success refills the budget, which limits the number of retries of all calls.
        """
        try:
            result = self._try()
        except ClientError as error:
            if not self._may_repeat(error):
                raise
            first_failure = error
        else:
            self._policy.budget.refill()
            return result
        result = self._retry(first_failure)
        self._policy.budget.refill()
        return result

    def _retry(self, first_failure: ClientError) -> T:
        """Return the result of further tries after a failed first try.

        tenacity is imported only here: nearly every call succeeds at once, and would take a tenth longer with
        it. `next_try` gives tenacity the first failure as its first try. Raises ClientError if the last try
        fails.
        """
        import tenacity

        first_failures = iter([first_failure])

        def next_try() -> T:
            """Fail with the known first failure, then try again at each further call."""
            for error in first_failures:
                raise error
            return self._try()

        jitter = tenacity.wait_random_exponential(multiplier=BACKOFF_SECONDS)
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._may_repeat),
            stop=self._is_last,
            wait=partial(self._backoff, jitter),
            sleep=self._wait_before_retry,
            reraise=True,
        )
        try:
            return retrying(next_try)
        except ClientError as error:
            failure = self._error_for_caller(error)
        raise failure

    def _error_for_caller(self, error: ClientError) -> ClientError:
        """Return the error that describes the whole call, not only its last try.

        If an earlier try of a write may have been carried out and the last try was not, the earlier error is
        returned: the caller must know that something may have changed. Other errors are marked instead.
        """
        if self._earlier_unknown is None or error is self._earlier_unknown:
            return error
        if isinstance(error, NotSentError | RateLimitedError | InterruptedRequestError):
            return self._earlier_unknown
        error.after_unknown = True
        return error

    def _try(self) -> T:
        """Send the request, after the wait that a 429 (rate limit) in any thread demands.

        After a 429 to this request, waits and sends again. Raises RateLimitedError if the wait would exceed
        `max_wait`. Remembers a write that may have been carried out (UnknownOutcomeError), for later errors.
        """
        rate_limited_count = 0
        while True:
            while seconds := self._policy.gate.seconds_left():
                if seconds > self._wait_left():
                    raise self._rate_limited_error(None)
                self._wait(seconds, "rate limit")
            try:
                return self._send()
            except RateLimitedError as error:
                least_wait = min(
                    RATE_LIMIT_BACKOFF_SECONDS * 2**rate_limited_count, MAX_RATE_LIMIT_BACKOFF_SECONDS
                )
                rate_limited_count += 1
                self._policy.gate.close_for(max(error.retry_after or 0.0, least_wait))
                if self._policy.gate.seconds_left() > self._wait_left():
                    raise self._rate_limited_error(error.message) from None
                self._announce_retry()
            except UnknownOutcomeError as error:
                if self._request.method != "GET":
                    self._earlier_unknown = error
                raise

    def _rate_limited_error(self, message: str | None) -> RateLimitedError:
        """Return the error that the gate stays closed for longer than the call may wait."""
        error = RateLimitedError(
            self._request.method, self._request.path, message, self._policy.gate.seconds_left()
        )
        error.waited = self._waited
        return error

    def _wait_left(self) -> float:
        """Return the seconds that the call may still wait."""
        return self._policy.max_wait - self._waited

    def _wait_before_retry(self, seconds: float) -> None:
        """Wait before another try after a fault."""
        self._announce_retry()
        self._wait(seconds, "retry")

    def _announce_retry(self) -> None:
        """Tell the observer that a read is sent once more."""
        if self._request.method == "GET":
            self._policy.observer.add_reads(1)

    def _wait(self, seconds: float, why: WaitReason) -> None:
        """Wait this number of seconds. Raises InterruptedRequestError after a cancel."""
        self._raise_if_cancelled()
        self._waited += seconds
        self._policy.observer.note_wait(why, seconds)
        self._policy.clock.wait(seconds, self._policy.cancelled)
        self._raise_if_cancelled()

    def _raise_if_cancelled(self) -> None:
        """Raise InterruptedRequestError after a cancel."""
        if self._policy.cancelled.is_set():
            raise InterruptedRequestError(self._request.method, self._request.path)

    def _may_repeat(self, error: BaseException) -> bool:
        """Return whether the same request may be sent again after a failure.

        A request that was not sent may always be sent again; one with an unknown result only if it is
        repeatable.
        """
        if isinstance(error, NotSentError):
            return error.transient
        return (
            self._repeatable and isinstance(error, UnknownOutcomeError | ServerFaultError) and error.transient
        )

    def _is_last(self, state: RetryCallState) -> bool:
        """Return whether tenacity must stop: after the last allowed try, or without a token of the budget."""
        tries = MAX_TRIES_UNREACHABLE if isinstance(_failure_of(state), NotSentError) else MAX_TRIES
        return state.attempt_number >= tries or not self._policy.budget.take()

    def _backoff(self, jitter: wait_random_exponential, state: RetryCallState) -> float:
        """Return the seconds to wait before a retry: random, up to a limit that doubles with each try.

        If the response (such as a 503) requests a longer wait that the call may still wait, that one.
        """
        random_wait = jitter(state)
        error = _failure_of(state)
        requested = error.retry_after if isinstance(error, UnknownOutcomeError | ServerFaultError) else None
        return (
            max(random_wait, requested)
            if requested is not None and requested <= self._wait_left()
            else random_wait
        )


def _failure_of(state: RetryCallState) -> BaseException | None:
    """Return the exception of the last try."""
    return state.outcome.exception() if state.outcome else None
