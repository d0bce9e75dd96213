"""A client of a language server: its protocol over stdin and stdout, a question at a time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SERVER = Path(__file__).parents[2] / ".venv/editor/node_modules/yaml-language-server/bin/yaml-language-server"
Message = dict[str, Any]


class LanguageServer:
    """The server as a process, for one directory."""

    def __init__(self, node: str, folder: Path) -> None:
        self._running = subprocess.Popen(
            [node, str(SERVER), "--stdio"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0
        self._told: list[Message] = []
        documents = {
            "hover": {"contentFormat": ["markdown"]},
            "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
        }
        able = {"textDocument": documents}
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": able})
        self.tell("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.kill()
        self._running.communicate()

    def tell(self, method: str, params: Any) -> None:
        """Send what has no answer."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        """Send a request and return its result."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == self._number and "method" not in message:
                assert "error" not in message, message
                return message["result"]
            self._other(message)

    def told(self, method: str) -> Any:
        """Wait for the server's next notification of this method and return its parameters."""
        while not (found := [one for one in self._told if one["method"] == method]):
            self._other(self._read())
        self._told.remove(found[0])
        return found[0]["params"]

    def _other(self, message: Message) -> None:
        if "id" in message:  # it asks for settings that nobody has made
            items = message["params"].get("items", []) if isinstance(message.get("params"), dict) else []
            self._send({"id": message["id"], "result": [None] * len(items)})
        else:
            self._told.append(message)

    def _send(self, message: Message) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._running.stdin is not None
        self._running.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self._running.stdin.flush()

    def _read(self) -> Message:
        assert self._running.stdout is not None
        length = 0
        while line := self._running.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the language server has ended"
        message: Message = json.loads(self._running.stdout.read(length))
        return message
