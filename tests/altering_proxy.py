"""A server in front of the companion that passes each request on, and may alter the answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from pydantic_core import from_json, to_json

from tests.no_tls import NO_TLS

HOP_BY_HOP = {"connection", "content-length", "date", "server", "transfer-encoding"}


class Answer:
    """An answer on its way back. `body` is None if it is not JSON."""

    def __init__(self, answer: httpx.Response) -> None:
        self.status = answer.status_code
        self.headers = {name: value for name, value in answer.headers.items() if name not in HOP_BY_HOP}
        json = answer.headers.get("content-type", "").startswith("application/json")
        self.body: Any = from_json(answer.content) if json else None
        self.content = answer.content


Alter = Callable[[str, str, Answer], None]
"""Called with the method, the path without `/v1` and without a query, and the answer, which it may change."""


@contextmanager
def altering_proxy(url: str, alter: Alter) -> Iterator[str]:
    """Serve on a free port until the block ends; the value is the address."""
    with httpx.Client(base_url=url, timeout=30, **NO_TLS) as http:

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self) -> None:
                length = int(self.headers.get("content-length", 0))
                headers = {"authorization": self.headers.get("authorization", "")}
                if length:
                    headers["content-type"] = "application/json"
                content = self.rfile.read(length) if length else None
                answer = Answer(http.request(self.command, self.path, headers=headers, content=content))
                alter(self.command, self.path.partition("?")[0].removeprefix("/v1"), answer)
                content = answer.content if answer.body is None else to_json(answer.body)
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

            def log_message(self, *_: object) -> None:
                """Write nothing to stderr."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
