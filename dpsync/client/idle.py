"""The connections to one server that wait for a request."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpcore


class Idle:
    """Connections that are kept open between requests. Threads may share them; `make` gives a new one.

    To take one costs the same however many there are. httpcore's pool looks at all pairs of its connections
    twice for each request: with 64 in flight that was more than all else of the request.
    """

    def __init__(self, make: Callable[[], httpcore.ConnectionInterface]) -> None:
        self._make = make
        self._waiting: deque[httpcore.ConnectionInterface] = deque()
        self._is_closed = False

    @contextmanager
    def one(self) -> Iterator[httpcore.ConnectionInterface]:
        """A connection for one request: the one that was used last, or a new one."""
        connection = self._take()
        try:
            yield connection
        finally:
            if connection.is_available() and not self._is_closed:
                self._waiting.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        """Close those that wait; one that is in use is closed after its request."""
        self._is_closed = True
        while self._waiting:
            self._waiting.pop().close()

    def _take(self) -> httpcore.ConnectionInterface:
        while True:
            try:
                connection = self._waiting.pop()
            except IndexError:
                return self._make()
            if connection.is_available() and not connection.has_expired():
                return connection
            connection.close()
