"""Which connection a request gets, and what becomes of it afterwards."""

from __future__ import annotations

from contextlib import ExitStack

import httpcore

from dpsync.client.transport import IdleConnections


class Connection(httpcore.ConnectionInterface):
    """A connection that counts how often it is asked what state it is in."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_open = True
        self.expired = False

    def is_available(self) -> bool:
        self.asked += 1
        return self.is_open

    def has_expired(self) -> bool:
        self.asked += 1
        return self.expired

    def close(self) -> None:
        self.is_open = False


class Made:
    """Every connection that was made, in order."""

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self.idle = IdleConnections(self._make)

    def _make(self) -> Connection:
        self.connections.append(Connection())
        return self.connections[-1]

    def at_once(self, requests: int) -> None:
        with ExitStack() as all_of_them:
            for _ in range(requests):
                all_of_them.enter_context(self.idle.connection())


def test_consecutive_requests_share_a_connection() -> None:
    made = Made()
    for _ in range(3):
        made.at_once(1)
    assert len(made.connections) == 1


def test_concurrent_requests_use_separate_connections() -> None:
    made = Made()
    made.at_once(3)
    made.at_once(3)
    assert len(made.connections) == 3


def test_idle_connections_add_no_connection_checks() -> None:
    few, many = Made(), Made()
    for made, waiting in ((few, 1), (many, 64)):
        made.at_once(waiting)
        for connection in made.connections:
            connection.asked = 0
        made.at_once(1)
    assert sum(one.asked for one in many.connections) == sum(one.asked for one in few.connections)


def test_closed_connection_is_not_reused() -> None:
    """Otherwise, a write uses a connection that the server has closed, and its outcome is unknown.

    Otherwise, a write goes into a connection that the server has closed: nobody knows then whether it was
    done, also of one that has waited too long.
    """
    made = Made()
    made.at_once(1)
    made.connections[0].expired = True
    made.at_once(1)
    assert [one.is_open for one in made.connections] == [False, True]


def test_connection_with_unread_response_is_not_reused() -> None:
    made = Made()
    with made.idle.connection():
        made.connections[0].is_open = False
    made.at_once(1)
    assert len(made.connections) == 2


def test_closing_pool_closes_every_connection() -> None:
    """Otherwise, connections stay open after the client is closed.

    Otherwise, connections stay open after the end.
    """
    made = Made()
    made.at_once(2)
    with made.idle.connection():
        made.idle.close()
    assert not any(one.is_open for one in made.connections)
