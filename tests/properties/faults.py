"""Transports that fail at one write: the process dies, an answer is lost, the platform breaks down once."""

from __future__ import annotations

import threading
from typing import Literal

from dpsync.client.errors import UnknownOutcomeError
from dpsync.client.transport import Request, Response, Transport

from .platform import Around

When = Literal["before", "after"]
"""Before the request is sent, or after the platform has done it and before its answer is read."""


class Killed(BaseException):
    """The process is gone."""


class _AtWrite(Around):
    """Something happens at the write with this number, counted from 0."""

    def __init__(self, inner: Transport, number: int, when: When) -> None:
        super().__init__(inner)
        self.number = number
        self.when = when
        self.seen = 0
        self.lock = threading.Lock()

    def send(self, request: Request) -> Response:
        self.check(request)
        if request.method == "GET":
            return self.inner.send(request)
        with self.lock:
            mine, self.seen = self.seen, self.seen + 1
        if mine != self.number:
            return self.inner.send(request)
        if self.when == "after":
            self.inner.send(request)
        return self.happen(request)

    def check(self, request: Request) -> None:
        """Before any request."""

    def happen(self, request: Request) -> Response:
        raise NotImplementedError


class Kill(_AtWrite):
    """The process dies: no later request is sent either."""

    dead = False

    def check(self, _request: Request) -> None:
        if self.dead:
            raise Killed

    def happen(self, _request: Request) -> Response:
        self.dead = True
        raise Killed


class Lose(_AtWrite):
    """The connection breaks once."""

    def happen(self, request: Request) -> Response:
        raise UnknownOutcomeError(request.method, request.path, "reset")


class Break(_AtWrite):
    """The platform answers once that it is overloaded; the write may have been done all the same."""

    def happen(self, _request: Request) -> Response:
        body = b'{"error": {"code": 503, "message": "try again"}}'
        return Response(503, {"content-type": "application/json"}, body)


class Counting(Around):
    """Counts what is sent."""

    writes = 0

    def send(self, request: Request) -> Response:
        self.writes += request.method != "GET"
        return self.inner.send(request)
