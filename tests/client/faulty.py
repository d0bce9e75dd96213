"""A scripted HTTP server on a loopback port: one act per request, the last act for all that follow.

An act is handed the connection and says whether it may be used again. Acts that fail do it as networks fail:
resets (SO_LINGER 0), silence, cut bodies, bytes that drip.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.patience import PATIENCE

Act = Callable[[socket.socket, threading.Event], bool]

CERTIFICATES = Path(__file__).parent / "certificates"
"""Each with its key, signed by itself and used by nobody but these tests."""
DRIP_SECONDS = 0.01
TLS_HELLO = b"\x16\x03"
PHRASES = {200: "OK", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}


@dataclass(frozen=True)
class Seen:
    """A request as it came in."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class FaultyServer:
    """Use as a context manager; `requests` is what came in, in order."""

    def __init__(self, *script: Act, certificate: str | None = None) -> None:
        """`certificate`: the name of a file in certificates/, to speak TLS with."""
        self.script = list(script)
        self._tls: ssl.SSLContext | None = None
        if certificate is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(CERTIFICATES / certificate)
        self.requests: list[Seen] = []
        self._lock = threading.Lock()
        self._more = threading.Condition(self._lock)
        self._stopping = threading.Event()
        self._connections: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}"

    def __enter__(self) -> FaultyServer:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()

    def until(self, count: int) -> None:
        """Wait for `count` requests, because a client may give up before the server has read them."""
        with self._lock:
            assert self._more.wait_for(lambda: len(self.requests) >= count, PATIENCE)
            assert len(self.requests) == count

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._connections.append(connection)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        if self._tls is not None:
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        with connection, suppress(OSError):
            while seen := _receive(connection):
                with self._lock:
                    self.requests.append(seen)
                    self._more.notify_all()
                    act = self.script[min(len(self.requests), len(self.script)) - 1]
                if not act(connection, self._stopping):
                    return


def _receive(connection: socket.socket) -> Seen | None:
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        received += chunk
        if received.startswith(TLS_HELLO):
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return None
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _version = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return Seen(method, target, headers, body)


def head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {PHRASES.get(status, 'Status')}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def reply(status: int, body: object = None, /, **headers: str) -> Act:
    """Return an act that sends a complete answer.

    `body`: bytes are sent as they are, None means no body, anything else is sent as JSON. `_` in a header's
    name becomes `-`.
    """
    content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    fields |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    if status in (204, 205):
        del fields["Content-Type"], fields["Content-Length"]
        fields |= {"Content-Length": "0"} if status == 205 else {}

    def act(connection: socket.socket, _: threading.Event) -> bool:
        connection.sendall(head(status, fields) + content)
        return True

    return act


def sends(raw: bytes) -> Act:
    """Return an act that sends these bytes and closes the connection."""

    def act(connection: socket.socket, _: threading.Event) -> bool:
        connection.sendall(raw)
        return False

    return act


def reset(connection: socket.socket, _: threading.Event) -> bool:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def silence(_: socket.socket, stopping: threading.Event) -> bool:
    stopping.wait()
    return False


def drip(start: bytes) -> Act:
    """Return an act that sends `start` and then single bytes: each read is short, the answer never ends."""

    def act(connection: socket.socket, stopping: threading.Event) -> bool:
        connection.sendall(start)
        while not stopping.wait(DRIP_SECONDS):
            connection.sendall(b"a")
        return False

    return act


JSON_HEAD = {"Content-Type": "application/json"}
HTML = reply(
    200, b"<html><title>Sign in to the guest network</title></html>", content_type="text/html; charset=utf-8"
)

closed = sends(b"")
half_head = sends(b"HTTP/1.1 200 OK\r\nContent-Ty")
only_head = sends(head(200, JSON_HEAD))
cut_length = sends(head(200, JSON_HEAD | {"Content-Length": "100"}) + b'{"a": 1')
cut_chunk = sends(head(200, JSON_HEAD | {"Transfer-Encoding": "chunked"}) + b'40\r\n{"a": 1')
cut_unmarked = sends(head(200, JSON_HEAD) + b'{"a": 1')
cut_gzip = reply(200, zlib.compress(b'{"a": 1}' * 100, wbits=31)[:-9], content_encoding="gzip")
not_http = sends(b"SSH-2.0-OpenSSH_9.6\r\n")
drip_body = drip(head(200, JSON_HEAD | {"Content-Length": "1000000"}))
drip_head = drip(b"HTTP/1.1 200 OK\r\nX-Long: ")


@cache
def gzip_of_zeros(size: int) -> bytes:
    """Return the gzip data of `size` zeros, packed without holding the zeros in memory."""
    packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    block = bytes(1024 * 1024)
    parts = [packer.compress(block) for _ in range(size // len(block))]
    return b"".join([*parts, packer.flush()])


def bomb(connection: socket.socket, stopping: threading.Event) -> bool:
    content = gzip_of_zeros(200 * 1024 * 1024)
    return reply(200, content, content_encoding="gzip")(connection, stopping)


def free_port() -> int:
    """Return a port of this machine on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port
