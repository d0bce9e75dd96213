"""A platform in memory: prepared answers behind the client's transport, without HTTP and without rules.

It costs next to nothing for each request, so that what is measured on it is dpsync alone.
"""

from __future__ import annotations

import json
import threading
from typing import Any
from urllib.parse import parse_qs

from dpsync.client.transport import Request, Response, Stats

Json = dict[str, Any]
_JSON = {"content-type": "application/json"}


class Memory:
    """`lists` are answered page by page, `objects` as they are; any other path is an empty list.

    What is sent to a list by POST is put at its end, with an id of its own.
    """

    def __init__(self, objects: dict[str, Json], lists: dict[str, list[Json]]) -> None:
        self._objects = {path: _text(item) for path, item in objects.items()}
        self._lists = {path: [_text(item) for item in items] for path, items in lists.items()}
        self._lock = threading.Lock()
        self._sent = 0
        self._made = 0

    def send(self, request: Request) -> Response:
        with self._lock:
            self._sent += 1
            if request.method == "POST":
                return Response(201, _JSON, self._create(request))
            if request.path in self._objects:
                return Response(200, _JSON, self._objects[request.path])
            return Response(200, _JSON, self._page(request))

    def _create(self, request: Request) -> bytes:
        self._made += 1
        name = request.path.rpartition("/")[2].removesuffix("s")
        made = {"object": name, "id": f"made-{self._made}", **json.loads(request.body or b"{}")}
        text = _text(made)
        self._lists.setdefault(request.path, []).append(text)
        return text

    def _page(self, request: Request) -> bytes:
        asked = parse_qs(request.query)
        items = self._lists.get(request.path, [])
        start, limit = int(asked.get("page", ["0"])[0]), int(asked.get("limit", ["1000"])[0])
        end = start + limit
        following = b',"next":{"page":"%d"}' % end if end < len(items) else b""
        return b'{"count":%d%s,"items":[%s]}' % (len(items), following, b",".join(items[start:end]))

    def close(self) -> None:
        """There is nothing to give back."""

    def stats(self) -> Stats:
        return Stats(self._sent, {})


def _text(item: Json) -> bytes:
    return json.dumps(item).encode()
