"""What somebody does on a platform without dpsync."""

from __future__ import annotations

from typing import Any

import httpx

from dpsync.server.process.threaded_server import ThreadedServer
from tests.no_tls import NO_TLS


def by_hand(
    server: ThreadedServer, method: str, path: str, body: Any = None, token: str = "ada-token"
) -> Any:
    """Send a request to `/v1` + `path`, require success, and return the JSON body (None: no body)."""
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx.request(method, f"{server.url}/v1{path}", json=body, headers=headers, **NO_TLS)
    answer.raise_for_status()
    return answer.json() if answer.content else None
