"""What a client was answered is kept as it came, until whoever asked for it has enough."""

from __future__ import annotations

import pytest
from pydantic_core import to_json

from dpsync.client.recording import RecordedAnswer, Recording
from dpsync.client.transport import Request, Response, Stats


class Answering:
    """A transport that answers from a table of path and query."""

    def __init__(self, answers: dict[tuple[str, str], tuple[int, object]]) -> None:
        self.answers = answers

    def send(self, request: Request) -> Response:
        status, content = self.answers[request.path, request.query]
        return Response(status, {}, to_json(content))

    def close(self) -> None: ...

    def stats(self) -> Stats:
        return Stats(0, {})


def recorded(answers: dict[tuple[str, str], tuple[int, object]], *methods: str) -> Recording:
    recording = Recording()
    transport = recording.wrap_transport(Answering(answers))
    for path, query in answers:
        for method in methods or ("GET",):
            transport.send(Request(method, path, query))
    return recording


def test_recording_joins_pages_of_a_list() -> None:
    pages = {
        ("/orgs/acme/teams", "limit=2"): (200, {"items": [1, 2], "next": {"page": "b"}}),
        ("/orgs/acme/teams", "limit=2&page=b"): (200, {"items": [3], "next": {"page": "c"}}),
        ("/orgs/acme/teams", "limit=2&page=c"): (200, {"items": [4]}),
    }
    assert list(recorded(pages).joined_answers()) == [
        RecordedAnswer("/orgs/acme/teams", (), 200, [1, 2, 3, 4])
    ]


def test_recording_stops_at_pagination_cycle() -> None:
    pages = {
        ("/orgs", "limit=1"): (200, {"items": [1], "next": {"page": "b"}}),
        ("/orgs", "limit=1&page=b"): (200, {"items": [2], "next": {"page": "b"}}),
    }
    assert [reading.content for reading in recorded(pages).joined_answers()] == [[1, 2]]


def test_recording_separates_different_queries() -> None:
    lists = {
        ("/integrations", "limit=9&owner=acme"): (200, {"items": [1]}),
        ("/integrations", "limit=9&owner=globex"): (200, {"items": [2]}),
    }
    found = {reading.filters: reading.content for reading in recorded(lists).joined_answers()}
    assert found == {(("owner", "acme"),): [1], (("owner", "globex"),): [2]}


def test_recording_keeps_refused_reads() -> None:
    found = recorded({("/orgs/acme/saml", ""): (403, {"error": {}})}).joined_answers()
    assert [(reading.status, reading.content) for reading in found] == [(403, None)]


def test_recording_keeps_non_json_text() -> None:
    recording = Recording()
    recording.record(Request("GET", "/openapi"), Response(200, {}, "openapi: é".encode()), 0.0)
    assert [reading.content for reading in recording.joined_answers()] == ["openapi: é"]


def test_recording_counts_all_responses() -> None:
    assert recorded({("/a", ""): (200, {}), ("/b", ""): (503, {})}).requests == 2


def test_recording_skips_server_errors() -> None:
    assert list(recorded({("/orgs", ""): (503, {})}).joined_answers()) == []


def test_recording_skips_writes() -> None:
    assert list(recorded({("/orgs", ""): (200, {})}, "POST", "PUT", "PATCH", "DELETE").joined_answers()) == []


def test_ended_recording_ignores_later_responses() -> None:
    recording = Recording()
    recording.stop()
    recording.wrap_transport(Answering({("/orgs", ""): (200, {})})).send(Request("GET", "/orgs"))
    assert list(recording.joined_answers()) == []


def times(*seconds: float) -> Recording:
    """Return a recording of requests that took these seconds."""
    recording = Recording()
    for each in seconds:
        recording.record(Request("GET", "/orgs"), Response(200, {}, b"{}"), each)
    return recording


@pytest.mark.parametrize(
    ("seconds", "latency"), [((), 0), ((0.5,), 0.5), ((9.0, 0.5, 1.0), 1.0), ((0.5, 1.0, 1.5, 9.0), 1.5)]
)
def test_recording_latency_is_the_median(seconds: tuple[float, ...], latency: float) -> None:
    assert times(*seconds).latency == latency


def test_recording_duration_starts_at_first_request() -> None:
    assert times().seconds == 0
    assert times(5000.0).seconds == pytest.approx(5000)
    assert times(5000.0, 1.0).seconds == pytest.approx(5000, abs=100)


def test_recording_repr_hides_content() -> None:
    assert repr(recorded({("/orgs", ""): (200, {"token": "s3cret"})})) == "Recording(1)"
