"""A wall-clock deadline under every socket operation of a request: connecting, TLS, headers, body.

httpx limits each single read, so a server that sends a byte now and then is read for ever. Here the time left
shrinks with the clock, and a thread has one deadline at a time. Name lookup is the exception: the system
gives it no timeout.
"""

from __future__ import annotations

import math
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore


class Deadline(threading.local):
    """The moment until which the current thread may wait for the network."""

    def __init__(self) -> None:
        self._at = math.inf

    @contextmanager
    def limited_to(self, seconds: float) -> Iterator[None]:
        self._at = time.monotonic() + seconds
        try:
            yield
        finally:
            self._at = math.inf

    def left(self, timeout: float | None, expired: type[Exception]) -> float | None:
        """The shorter of `timeout` and what is left; raises `expired` when nothing is."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise expired("deadline")
        if timeout is None:
            return None if math.isinf(left) else left
        return min(timeout, left)


class TimedBackend(httpcore.NetworkBackend):
    """A network backend whose streams obey a `Deadline`."""

    def __init__(self, inner: httpcore.NetworkBackend, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        timeout = self._deadline.left(timeout, httpcore.ConnectTimeout)
        stream = self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        return _TimedStream(stream, self._deadline)

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


class _TimedStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.left(timeout, httpcore.WriteTimeout))

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        timeout = self._deadline.left(timeout, httpcore.ConnectTimeout)
        return _TimedStream(self._inner.start_tls(ssl_context, server_hostname, timeout), self._deadline)

    def close(self) -> None:
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
