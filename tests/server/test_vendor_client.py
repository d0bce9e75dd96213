"""The vendor's own JavaScript client talks to the companion: every method that has an operation here works.

`make contract` fetches the client with the vendor's documents; without it, or without node, this is skipped.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from cases import BODIES, IDS, OTHER_IDS, QUERIES
from companion_calls import Api
from test_companion_edition import body_of as body_of_today
from test_companion_operations import prepare

from dpsync.server.operations import ALL_OPERATIONS
from dpsync.server.operations.profiles import operations_of_profile
from dpsync.server.request.operation import Operation
from tests.contract import editions
from tests.contract.openapi import Contract

DRIVER = Path(editions.__file__).parent / "vendor_client.cjs"
TALKS = {"0.146.0": "full", "0.202.0": "published"}
"""Each edition with the profile that answers like it."""


class VendorClient:
    """A process that calls the methods of the vendor's client, one after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._sent, self._answered = process.stdin, process.stdout
        self.methods: list[dict[str, Any]] = json.loads(self._answered.readline())

    def call(self, method: dict[str, Any], args: list[Any]) -> dict[str, Any]:
        """Call a method; return the status and the problems that the client reports."""
        asked = {"namespace": method["namespace"], "name": method["name"], "args": args}
        self._sent.write(json.dumps(asked) + "\n")
        self._sent.flush()
        found: dict[str, Any] = json.loads(self._answered.readline())
        return found


@contextmanager
def vendor_client(edition: str, api: Api) -> Iterator[VendorClient]:
    node = shutil.which("node")
    if node is None or not editions.is_here(edition):
        pytest.skip(f"make contract fetches the vendor's client {edition} (needs npm)")
    command = [node, str(DRIVER), str(editions.package(edition)), api.server.url, api.token]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield VendorClient(process)
        finally:
            process.terminate()


def plain(path: str) -> str:
    return re.sub(r"\$?\{[^{}]+\}", "{}", path)


def arguments(method: dict[str, Any], row: Operation, body: Any) -> list[Any]:
    """Return the arguments of a valid call in the method's order: ids of the world, a query, a body."""
    ids = [({**IDS, **OTHER_IDS.get(row.id, {})})[name] for name in row.parameters]
    query = dict(parse_qsl(QUERIES.get(row.id, "")))
    given = {"query": query, "data": {} if body is None else body}
    named = iter(ids)
    return [
        given[name] if name in given else next(named) for name in method["parameters"] if name != "params"
    ]


@pytest.mark.parametrize(("edition", "profile"), TALKS.items(), ids=TALKS.values())
def test_vendor_javascript_client_methods_succeed(
    edition: str, profile: str, request: pytest.FixtureRequest, builtin_world: Any, capsys: Any
) -> None:
    companion: Api = request.getfixturevalue("published" if profile == "published" else "api")
    body_of = body_of_today if profile == "published" else lambda row: BODIES.get(row.id)
    rows = {(row.method, plain(row.path)): row for row in operations_of_profile(ALL_OPERATIONS, profile)}
    failed, called = [], set()
    with vendor_client(edition, companion) as client:
        for method in client.methods:
            row = rows.get((method["method"], plain(method["path"])))
            if row is None:
                continue
            prepare(companion, builtin_world)
            found = client.call(method, arguments(method, row, body_of(row)))
            called.add(row.id)
            if "error" in found or not 200 <= found["status"] < 300:
                failed.append(f"{method['namespace']}.{method['name']}: {found}")
    with capsys.disabled():
        print(f"\n{editions.PACKAGE} {edition}, {profile}: {len(called)} methods, {len(failed)} failures")
    assert failed == []
    there = {(method, path) for method, path, _ in Contract(editions.document(edition)).operations()}
    assert called == {row.id for at, row in rows.items() if at in there}
