"""A server that gives every request the same answer and keeps what it was sent."""

from __future__ import annotations

import socket
import threading


class SilentHost:
    """Listens on loopback until `close`. `received` is everything that it was sent."""

    def __init__(self, answer: bytes) -> None:
        self.received = b""
        self._answer = answer
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connected, _ = self._listening.accept()
            with connected:
                head = connected.recv(65536)
                if not head:
                    return
                self.received += head
                connected.sendall(self._answer)

    def close(self) -> None:
        socket.create_connection(self._listening.getsockname()).close()
        self._thread.join()
        self._listening.close()
