"""A host that records every request and knows no token: where a configuration might send one."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class RecordingHost:
    """An HTTP server on loopback. Use it in a `with` block."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        """Method and path of each request."""
        self.tokens: set[str] = set()
        """The bearer tokens of all requests."""
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.requests.append(f"{self.command} {self.path}")
                scheme, _, token = self.headers.get("Authorization", "").partition(" ")
                if scheme.lower() == "bearer":
                    host.tokens.add(token)
                self.send_response(401)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET

            def log_message(self, format: str, *args: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
