"""What a test covers: operations, and the statuses that it saw them answer with.

    @covers("createSite", 201, 400)
    def test_…(api: Api) -> None: …

The test fails when the companion did not answer so while it ran. `covers_row(401)` says the same of the
operation that a parametrised test has as its parameter `row`. The page of operations is made from these.
"""

from dataclasses import dataclass, field

import httpx
import pytest

from dpsync.server.http.routing import Routes
from dpsync.server.operations import ALL_OPERATIONS

covers = pytest.mark.covers
covers_row = pytest.mark.covers_row

_ROUTES = Routes((row.method, "/v1" + row.path, row) for row in ALL_OPERATIONS)


@dataclass
class Seen:
    """(operation id, status) of every answer since the start of the test."""

    answers: set[tuple[str, int]] = field(default_factory=set)

    def note(self, response: httpx.Response) -> None:
        segments = [httpx.URL(f"http://x/{part}").path[1:] for part in _segments(response.request)]
        row, _ = _ROUTES.match(segments).get(response.request.method, (None, {}))
        if row is not None:
            self.answers.add((row.id, response.status_code))

    def missing(self, item: pytest.Item) -> list[tuple[str, int]]:
        """Return the operations and statuses that the test claims to cover and does not."""
        claimed = [(mark.args[0], status) for mark in item.iter_markers("covers") for status in mark.args[1:]]
        for mark in item.iter_markers("covers_row"):
            row = item.callspec.params["row"]
            claimed += [(row.id, status) for status in mark.args]
        return [claim for claim in claimed if claim not in self.answers]


def _segments(request: httpx.Request) -> list[str]:
    return request.url.raw_path.split(b"?")[0].decode().removeprefix("/").split("/")
