"""Calls of the companion as tests make them: the body when the status is as expected, else a failure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from dpsync.server.http.app import Companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.world import dump_world

START = datetime(2026, 3, 1, tzinfo=UTC)


class StillClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)


@dataclass
class Api:
    """Calls of one caller. `ok` and friends return the body and fail on any other status."""

    server: ThreadedServer
    http: httpx.Client
    clock: StillClock
    token: str = "ada-token"

    @property
    def app(self) -> Companion:
        return self.server.app

    def as_(self, token: str) -> "Api":
        return Api(self.server, self.http, self.clock, token)

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}", **more.pop("headers", {})}
        if body is not None:
            more["json"] = body
        return self.http.request(method, f"/v1{path}", headers=headers, **more)

    def ok(self, method: str, path: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        answer = self.call(method, path, body, **more)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def get(self, path: str, **query: Any) -> Any:
        return self.ok("GET", path, params=query)

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return self.ok("POST", path, body, status)

    def make(self, path: str, body: Any = None) -> Any:
        return self.ok("POST", path, body, 201)

    def patch(self, path: str, body: Any, status: int = 200) -> Any:
        return self.ok("PATCH", path, body, status)

    def put(self, path: str, body: Any = None, status: int = 200) -> Any:
        return self.ok("PUT", path, body, status)

    def delete(self, path: str) -> None:
        self.ok("DELETE", path, status=204)

    def refused(self, status: int, method: str, path: str, body: Any = None, **more: Any) -> str:
        """Return the message of a refusal with this status, which its body repeats."""
        answer = self.call(method, path, body, **more)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        error = answer.json()["error"]
        assert error["code"] == status
        return str(error["message"])

    def items(self, path: str, **query: Any) -> list[Any]:
        """Return a whole list, page by page."""
        found: list[Any] = []
        if path.endswith("/audit-events"):  # the one list with shorter pages
            query["limit"] = min(query.get("limit", 100), 100)
        while True:
            answer = self.get(path, **query)
            found += answer["items"]
            if "next" not in answer:
                return found
            query["page"] = answer["next"]["page"]

    def ids(self, path: str, **query: Any) -> list[str]:
        return [item["id"] for item in self.items(path, **query)]

    def state(self) -> Any:
        """Return the whole state as a world."""
        return self.server.run_in_server(lambda: dump_world(self.app.store))


LOADED: dict[str, int] = {}
"""By the URL of a companion, the version of its state with which the built-in world was loaded last."""


def fresh(api: Api) -> Iterator[Api]:
    """Yield the built-in world; reload it only if something was written since the last load."""
    api.clock.now = START
    version = api.server.run_in_server(api.app.store.version)
    if LOADED.get(api.server.url) != version:
        api.server.reset()
        LOADED[api.server.url] = api.server.run_in_server(api.app.store.version)
    else:
        api.app.requests.clear()
    yield api
    assert api.app.violations == []
    assert [entry for entry in api.app.requests if entry[2] == 500] == []
