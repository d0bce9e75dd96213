"""Give each request a wall-clock deadline, and close all connections of a client at once.

The timeout of httpx limits each single read, so a server that sends one byte now and then could keep a
request open forever. Here, each socket operation gets only the time that is left. A thread has one deadline
at a time. Name lookup has no deadline, because the system has no timeout for it. A thread that waits for
bytes cannot be stopped, so `Connections.shut_down` shuts down its connection.
"""

from __future__ import annotations

import math
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpcore


class Deadline(threading.local):
    """The deadline for network operations of the current thread, in seconds of the clock `now`."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._deadline = math.inf

    @contextmanager
    def limited_to(self, seconds: float) -> Iterator[None]:
        """Set the deadline of the current thread to this number of seconds from now, inside the block."""
        self._deadline = self._now() + seconds
        try:
            yield
        finally:
            self._deadline = math.inf

    def seconds_left(self, timeout: float | None, expired: type[Exception]) -> float | None:
        """Return the shorter of `timeout` and the time until the thread's deadline, in seconds.

        None means no limit, both as `timeout` and as result. After the deadline, raises the exception class
        `expired`.
        """
        seconds = self._deadline - self._now()
        if seconds <= 0:
            raise expired("deadline")
        if timeout is None:
            return None if math.isinf(seconds) else seconds
        return min(timeout, seconds)


class Connections:
    """The open connections of a client.

    After `shut_down`, no connection gives a response and none is opened.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[int, httpcore.NetworkStream] = {}
        self._is_shut_down = False

    @property
    def is_shut_down(self) -> bool:
        """Return whether `shut_down` was called."""
        return self._is_shut_down

    def shut_down(self) -> None:
        """Shut down all connections, so that threads that wait for a response fail at once."""
        with self._lock:
            self._is_shut_down = True
            streams = list(self._open.values())
        for stream in streams:
            raw_socket = stream.get_extra_info("socket")
            with suppress(OSError):
                # SSLSocket.shutdown would also remove the TLS object that another thread may be using.
                socket.socket.shutdown(raw_socket, socket.SHUT_RDWR)

    def add(self, stream: httpcore.NetworkStream) -> None:
        """Register an open connection. After `shut_down`, closes it and raises ConnectError."""
        with self._lock:
            self._open[id(stream)] = stream
            is_shut_down = self._is_shut_down
        if is_shut_down:
            self.remove(stream)
            stream.close()
            raise httpcore.ConnectError("cut")

    def remove(self, stream: httpcore.NetworkStream) -> None:
        """Remove a connection that is closed, or replaced by its TLS connection."""
        with self._lock:
            self._open.pop(id(stream), None)


class TimedBackend(httpcore.NetworkBackend):
    """A network backend whose streams obey a `Deadline` and are registered in `Connections`."""

    def __init__(self, inner: httpcore.NetworkBackend, deadline: Deadline, connections: Connections) -> None:
        self._inner = inner
        self._deadline = deadline
        self._connections = connections

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Open a connection before the deadline."""
        timeout = self._deadline.seconds_left(timeout, httpcore.ConnectTimeout)
        stream = self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        return _TimedStream(stream, self._deadline, self._connections)

    def sleep(self, seconds: float) -> None:
        """Sleep for this number of seconds."""
        self._inner.sleep(seconds)


class _TimedStream(httpcore.NetworkStream):
    """A connection whose operations end at the deadline of the current thread."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline, connections: Connections) -> None:
        self._inner = inner
        self._deadline = deadline
        self._connections = connections
        connections.add(inner)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return received bytes, before the deadline."""
        return self._inner.read(max_bytes, self._deadline.seconds_left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes, before the deadline."""
        self._inner.write(buffer, self._deadline.seconds_left(timeout, httpcore.WriteTimeout))

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Return this connection with TLS, established before the deadline."""
        timeout = self._deadline.seconds_left(timeout, httpcore.ConnectTimeout)
        self._connections.remove(self._inner)
        secure = self._inner.start_tls(ssl_context, server_hostname, timeout)
        return _TimedStream(secure, self._deadline, self._connections)

    def close(self) -> None:
        """Close the connection."""
        self._connections.remove(self._inner)
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        """Return information of the wrapped connection, such as its socket."""
        return self._inner.get_extra_info(info)
