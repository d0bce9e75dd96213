"""Transports between dpsync and the companion that lose a write, or keep it back and carry it out later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from dpsync.client.errors import ClientError, NotSentError, UnknownOutcomeError
from dpsync.client.transport import Request, Response, Transport

Answer = Callable[[Request], "Response | ClientError"]


def lost(reason: Any) -> Answer:
    return lambda request: UnknownOutcomeError(request.method, request.path, reason)


def refused(request: Request) -> ClientError:
    return NotSentError(request.method, request.path, "refused")


def status(code: int, **headers: str) -> Answer:
    body = b'{"error": {"code": %d, "message": "later"}}' % code
    return lambda _: Response(code, {"content-type": "application/json", **headers}, body)


class Late:
    """Of the writes to one path, the first ones (`times`) are kept back and answered with `answer`.

    `received` are all of them as they came from dpsync; `deliver` carries out what was kept back. With `done`
    it is carried out at once, and only its answer is another one.
    """

    def __init__(
        self, inner: Transport, path: str, answer: Answer, *, times: int = 1, done: bool = False
    ) -> None:
        self.inner = inner
        self.path = path
        self.answer = answer
        self.times = times
        self.done = done
        self.after = 0
        """How many of them are let through before."""
        self.received: list[Request] = []
        self.kept: list[Request] = []
        self._lock = threading.Lock()

    def send(self, request: Request) -> Response:
        if request.method == "GET" or not request.path.endswith(self.path):
            return self.inner.send(request)
        with self._lock:
            self.received.append(request)
            if not self.after < len(self.received) <= self.after + self.times:
                return self.inner.send(request)
        if self.done:
            self.inner.send(request)
        else:
            self.kept.append(request)
        answer = self.answer(request)
        if isinstance(answer, ClientError):
            raise answer
        return answer

    def deliver(self) -> None:
        for request in self.kept:
            assert self.inner.send(request).status < 300

    def close(self) -> None:
        self.inner.close()

    def stats(self) -> Any:
        return self.inner.stats()


class Meanwhile:
    """Does something as soon as the first write has been answered."""

    def __init__(self, inner: Transport, act: Callable[[], None]) -> None:
        self.inner, self.act = inner, act

    def send(self, request: Request) -> Response:
        answer = self.inner.send(request)
        if request.method != "GET":
            act, self.act = self.act, lambda: None
            act()
        return answer

    def close(self) -> None:
        self.inner.close()

    def stats(self) -> Any:
        return self.inner.stats()
