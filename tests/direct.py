"""The companion without a socket: a transport that hands each request to the application itself.

For tests of what is planned and applied, where HTTP is not what is looked at: an answer costs a third of it.
What HTTP does is the subject of tests/client and tests/server; tests/cli, tests/apply and tests/docs go over
it, too, and in a soak all of them do.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import unquote

from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.retry import Clock
from dpsync.client.transport import HttpTransport, Request, Response, Stats, Token, Transport
from dpsync.server.process.threaded_server import ThreadedServer
from tests.soak import SOAK


class Direct:
    """Each request runs in the thread of the server, between two others, as one that came over HTTP."""

    def __init__(self, server: ThreadedServer, token: str) -> None:
        self._server = server
        self._host = server.url.removeprefix("http://").encode()
        self._token = token.encode()
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def send(self, request: Request) -> Response:
        with self._lock:
            self._counts[request.method] += 1
        return self._server.run_in_server(lambda: self._answer(request))

    def close(self) -> None:
        """There is nothing to give back."""

    def stats(self) -> Stats:
        with self._lock:
            return Stats(self._counts.total(), dict(self._counts))

    def _answer(self, request: Request) -> Response:
        path = f"/v1{request.path}"
        headers = [(b"host", self._host), (b"authorization", b"Bearer " + self._token)]
        if request.body is not None:
            headers.append((b"content-type", b"application/json"))
            headers.append((b"content-length", str(len(request.body)).encode()))
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": request.query.encode(),
            "headers": headers,
            "server": ("127.0.0.1", 0),
            "client": ("127.0.0.1", 0),
        }
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": request.body or b"", "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        answer = self._server.app(scope, receive, send)
        try:
            answer.send(None)
        except StopIteration:
            pass
        else:
            raise AssertionError("an answer that waits for something needs a real connection")
        start, *parts = sent
        told = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        return Response(start["status"], told, b"".join(part.get("body", b"") for part in parts))


def transport(server: ThreadedServer, token: str = "token") -> Transport:
    """Return a transport without a socket, or one over HTTP in a soak."""
    return HttpTransport(server.url, Token(token)) if SOAK else Direct(server, token)


def reading(server: ThreadedServer, token: str = "token") -> ReadClient:
    return ReadClient(server.url, token, transport=transport(server, token))


def writing(server: ThreadedServer, token: str = "token", clock: Clock | None = None) -> WriteClient:
    return WriteClient(server.url, token, transport=transport(server, token), clock=clock)
