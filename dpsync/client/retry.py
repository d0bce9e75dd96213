"""The one retry policy: what is tried again, when, how often, and how long everybody waits.

A read and a repeatable write are tried again after any passing fault; any other write only when the fault
certainly left nothing behind (not sent, 429). All calls of a client share one gate, which a 429 closes for
every thread, and one budget, so that an outage is not answered with a storm. tenacity turns the handle; the
table is here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from dpsync.client.errors import ClientError, Interrupted, NotSent, RateLimited, ServerFault, Unknown
from dpsync.client.observer import Nobody, Observer, Why
from dpsync.client.transport import Request

if TYPE_CHECKING:
    from tenacity import RetryCallState, wait_random_exponential

T = TypeVar("T")

TRIES = 4
TRIES_UNREACHABLE = 3
BACKOFF_SECONDS = 0.2
LIMITED_SECONDS = 0.5  # the least wait after a 429; doubles, so that "Retry-After: 0" for ever ends too
LIMITED_CAP_SECONDS = 8.0
BUDGET_TOKENS = 40.0
BUDGET_REFILL = 0.2


class Clock:
    """Time as the client sees it; a test gives its own."""

    def now(self) -> float:
        """Seconds that only go forward."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def wait(self, seconds: float, cancelled: threading.Event) -> None:
        """Returns after `seconds`, or as soon as `cancelled` is set."""
        cancelled.wait(seconds)


class Budget:
    """Tokens for tries after the first, shared by all threads; every success gives a part of one back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens = BUDGET_TOKENS

    def take(self) -> bool:
        with self._lock:
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True

    def refill(self) -> None:
        with self._lock:
            self._tokens = min(BUDGET_TOKENS, self._tokens + BUDGET_REFILL)


class Gate:
    """Open until one thread is told to slow down; then closed for all of them until that moment."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._opens = clock.now()

    def close_for(self, seconds: float) -> None:
        with self._lock:
            self._opens = max(self._opens, self._clock.now() + seconds)

    def left(self) -> float:
        with self._lock:
            return max(0.0, self._opens - self._clock.now())


class RetryPolicy:
    """Runs calls under these rules; threads share one. `max_wait`: seconds that one call may wait in all."""

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
        self.observer = observer or Nobody()
        self.budget = Budget()
        self.gate = Gate(clock)

    def run(self, request: Request, once: Callable[[], T], *, repeatable: bool) -> T:
        """The result of `once`, tried as often as the rules allow; its last failure otherwise.

        Raises Interrupted after a cancel and RateLimited when the waiting is used up, unless an earlier try
        of a write is in doubt: that Unknown is what the caller must know then.
        """
        return _Call(self, request, once, repeatable=repeatable).run()


class _Call(Generic[T]):
    """One call through all its tries."""

    def __init__(
        self, policy: RetryPolicy, request: Request, once: Callable[[], T], *, repeatable: bool
    ) -> None:
        self._policy = policy
        self._request = request
        self._once = once
        self._repeatable = repeatable
        self._waited = 0.0
        self._doubt: Unknown | None = None

    def run(self) -> T:
        try:
            result = self._try()
        except ClientError as error:
            if not self._may_repeat(error):
                raise
            failed = error
        else:
            self._policy.budget.refill()
            return result
        result = self._after(failed)
        self._policy.budget.refill()
        return result

    def _after(self, failed: ClientError) -> T:
        """The result of further tries, as far as there are any.

        tenacity is imported and asked only here: nearly every call succeeds at once, and would pay a tenth
        more for it.
        """
        import tenacity

        tries = iter([failed])

        def once() -> T:
            for error in tries:
                raise error
            return self._try()

        jitter = tenacity.wait_random_exponential(multiplier=BACKOFF_SECONDS)
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._may_repeat),
            stop=self._is_last,
            wait=partial(self._backoff, jitter),
            sleep=self._again,
            reraise=True,
        )
        try:
            return retrying(once)
        except ClientError as error:
            failure = self._final(error)
        raise failure

    def _final(self, error: ClientError) -> ClientError:
        """The failure as the caller must see it, with an earlier try in doubt taken into account."""
        if self._doubt is None or error is self._doubt:
            return error
        if isinstance(error, NotSent | RateLimited | Interrupted):
            return self._doubt
        error.after_unknown = True
        return error

    def _try(self) -> T:
        limited = 0
        while True:
            self._pass_gate()
            try:
                return self._once()
            except RateLimited as error:
                floor = min(LIMITED_SECONDS * 2**limited, LIMITED_CAP_SECONDS)
                limited += 1
                self._policy.gate.close_for(max(error.retry_after or 0.0, floor))
                if self._policy.gate.left() > self._patience():
                    raise self._limited(error.message) from None
                self._repeated()
            except Unknown as error:
                if self._request.method != "GET":
                    self._doubt = error
                raise

    def _pass_gate(self) -> None:
        while left := self._policy.gate.left():
            if left > self._patience():
                raise self._limited(None)
            self._wait(left, "rate limit")

    def _limited(self, message: str | None) -> RateLimited:
        error = RateLimited(self._request.method, self._request.path, message, self._policy.gate.left())
        error.waited = self._waited
        return error

    def _patience(self) -> float:
        return self._policy.max_wait - self._waited

    def _again(self, seconds: float) -> None:
        """Wait before another try after a fault."""
        self._repeated()
        self._wait(seconds, "retry")

    def _repeated(self) -> None:
        if self._request.method == "GET":
            self._policy.observer.more(1)

    def _wait(self, seconds: float, why: Why) -> None:
        self._check()
        self._waited += seconds
        self._policy.observer.waits(why, seconds)
        self._policy.clock.wait(seconds, self._policy.cancelled)
        self._check()

    def _check(self) -> None:
        if self._policy.cancelled.is_set():
            raise Interrupted(self._request.method, self._request.path)

    def _may_repeat(self, error: BaseException) -> bool:
        if isinstance(error, NotSent):
            return error.transient
        return self._repeatable and isinstance(error, Unknown | ServerFault) and error.transient

    def _is_last(self, state: RetryCallState) -> bool:
        tries = TRIES_UNREACHABLE if isinstance(_failure(state), NotSent) else TRIES
        return state.attempt_number >= tries or not self._policy.budget.take()

    def _backoff(self, jitter: wait_random_exponential, state: RetryCallState) -> float:
        """Full jitter over a doubling base; longer where a 503 said how long, and that is still bearable."""
        drawn = jitter(state)
        error = _failure(state)
        asked = error.retry_after if isinstance(error, Unknown | ServerFault) else None
        return max(drawn, asked) if asked is not None and asked <= self._patience() else drawn


def _failure(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
