"""A document at a URL that is given only when the test says so."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from tests.patience import PATIENCE


class SlowSource:
    """`count`: how many have asked so far."""

    def __init__(self, text: str) -> None:
        self._told = threading.Condition()
        self._answering = threading.Event()
        self.count = 0
        source = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                source._ask()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/openapi.json"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "SlowSource":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._answering.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def asked(self, times: int) -> None:
        """Wait until the document has been requested this many times."""
        with self._told:
            assert self._told.wait_for(lambda: self.count >= times, PATIENCE)

    def answer(self) -> None:
        self._answering.set()

    def _ask(self) -> None:
        with self._told:
            self.count += 1
            self._told.notify_all()
        self._answering.wait(PATIENCE)
