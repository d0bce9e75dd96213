"""Answers of a real companion, kept and played again with one of them changed."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from dpsync.client.transport import HttpTransport, Request, Response, Stats, Token, Transport

Json = Any
Way = tuple[str | int, ...]

JSON = {"content-type": "application/json"}
GONE = object()
"""In place of a value: the member or item is not there."""
WRONG: tuple[Any, ...] = (GONE, None, {}, [], "", 7, True)


@dataclass(eq=False)
class Tape(Transport):
    """Sends each request once and plays its answer from then on. `changed`: what is played instead.

    With `keep` false every request is sent.
    """

    url: str
    token: str
    keep: bool = True
    answers: dict[str, Response] = field(default_factory=dict)
    changed: dict[str, bytes] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    """Paths that this token may not read."""

    def __post_init__(self) -> None:
        self._http = HttpTransport(self.url, Token(self.token))
        weakref.finalize(self, self._http.close)

    def send(self, request: Request) -> Response:
        name = f"{request.path}?{request.query}"
        if request.path in self.refused:
            return Response(403, JSON, b'{"error": {"code": 403, "message": "not yours"}}')
        if request.method != "GET":
            return self._http.send(request)
        if not self.keep or name not in self.answers:
            self.answers[name] = self._http.send(request)
        answer = self.answers[name]
        return Response(answer.status, answer.headers, self.changed.get(name, answer.body))

    def close(self) -> None:
        """Keep the connections open for the next client; the tape closes them at its end."""

    def stats(self) -> Stats:
        return self._http.stats()

    def bodies(self) -> dict[str, Json]:
        return {
            name: json.loads(answer.body)
            for name, answer in sorted(self.answers.items())
            if answer.status == 200
        }


def places(value: Json, *path: str | int) -> Iterator[Way]:
    """Yield the path of each value inside a JSON value, and of the value itself."""
    yield path
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for name, one in members:
        yield from places(one, *path, name)


def replaced(value: Json, path: Way, by: Any) -> Json:
    """Return a copy of the value with `by` at the path, or without the path if `by` is GONE."""
    if not path:
        return by
    value = deepcopy(value)
    at = value
    for name in path[:-1]:
        at = at[name]
    if by is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = by
    return value
