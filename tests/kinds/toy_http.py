"""A real HTTP server for toy resources: JSON in and out, real state, and a 4xx for what is not exactly right.

It knows nothing of kinds. A platform is a class with `@route` methods; each gets the groups of its path, then
the body, and returns what is answered (None: 204). It raises Refusal for everything that it does not want.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = Any


class ToyHttpError(Exception):
    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def route(method: str, path: str) -> Callable[[Callable[..., Json]], Callable[..., Json]]:
    """Serve a method and a path, where `{}` is one segment."""

    def mark(function: Callable[..., Json]) -> Callable[..., Json]:
        pattern = re.compile("/v1" + path.replace("{}", "([^/]+)"))
        function.__dict__["served"] = (method, pattern)
        return function

    return mark


def exactly(body: Json, needs: tuple[str, ...] = (), may: tuple[str, ...] = ()) -> None:
    """Refuse a body that lacks a key, or has one that nobody knows."""
    if not isinstance(body, dict):
        raise ToyHttpError(400, "an object is expected")
    for name in needs:
        if name not in body:
            raise ToyHttpError(422, f"{name} is missing")
    for name in body:
        if name not in (*needs, *may):
            raise ToyHttpError(422, f"{name} is unknown")


def pick(items: list[Json], id: str) -> Json:
    for item in items:
        if item["id"] == id:
            return item
    raise ToyHttpError(404, f"there is no {id}")


class Platform:
    """The base of a toy platform. `log` holds (method, path, body) of every write, refused ones too."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str, Json]] = []
        self.refused: list[tuple[str, str, str]] = []
        self.complaint = ""
        """What every write is refused with, when it is set."""
        self._numbers = 0
        self._lock = threading.Lock()
        found = [getattr(self, name) for name in dir(self)]
        self._routes = [(*item.served, item) for item in found if hasattr(item, "served")]

    def number(self, word: str) -> str:
        self._numbers += 1
        return f"{word}{self._numbers}"

    @property
    def writes(self) -> list[str]:
        return [f"{method} {path.removeprefix('/v1')}" for method, path, _ in self.log]

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        with self._lock:
            if method != "GET":
                self.log.append((method, path, body))
            try:
                if method != "GET" and self.complaint:
                    raise ToyHttpError(422, self.complaint)
                for served, pattern, function in self._routes:
                    match = pattern.fullmatch(path)
                    if served == method and match:
                        groups = match.groups()
                        answer = function(*groups) if method == "GET" else function(*groups, body)
                        return (204, None) if answer is None else (200, json.loads(json.dumps(answer)))
                raise ToyHttpError(404, f"{method} {path} is not served")
            except ToyHttpError as refusal:
                if method != "GET":
                    self.refused.append((method, path, str(refusal)))
                return refusal.status, {"error": {"code": refusal.status, "message": str(refusal)}}


def page(items: list[Json]) -> Json:
    return {"items": items}


@contextmanager
def serving(platform: Platform) -> Iterator[str]:
    """Run a server until the block ends and yield its URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, answer = platform.answer(self.command, self.path.partition("?")[0], body)
            content = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            if content:
                self.send_header("content-type", "application/json")
            if status != 204:
                self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
