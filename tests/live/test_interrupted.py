"""Several readings at once wait for a platform that says nothing: a signal ends all of them."""

from __future__ import annotations

import os
import signal
import socket
import threading

import pytest

from dpsync.client.client import ReadClient
from dpsync.kinds.registry import build_registry
from dpsync.live.sources import SourceReader
from tests.client.faulty import FaultyServer, reply, silence


def test_interrupt_stops_parallel_live_reads_immediately() -> None:
    reached = threading.Semaphore(0)

    def silent(connection: socket.socket, stopping: threading.Event) -> bool:
        reached.release()
        return silence(connection, stopping)

    def interrupt() -> None:
        for _ in range(2):
            reached.acquire()
        os.kill(os.getpid(), signal.SIGINT)

    before = set(threading.enumerate())
    user = threading.Thread(target=interrupt)
    with FaultyServer(reply(200, {}), silent) as server, ReadClient(server.url, "t", timeout=600) as client:
        user.start()
        with pytest.raises(KeyboardInterrupt):
            SourceReader(client, build_registry(), 2).map_parallel(
                client.get, ["/orgs/a", "/orgs/b", "/orgs/c", "/orgs/d"]
            )
        assert len(server.requests) == 3  # the first one alone, then two at once
        user.join()
    assert set(threading.enumerate()) <= before
