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
    transport = recording.around(Answering(answers))
    for path, query in answers:
        for method in methods or ("GET",):
            transport.send(Request(method, path, query))
    return recording


def test_the_pages_of_a_list_are_one_reading() -> None:
    pages = {
        ("/orgs/acme/teams", "limit=2"): (200, {"items": [1, 2], "next": {"page": "b"}}),
        ("/orgs/acme/teams", "limit=2&page=b"): (200, {"items": [3], "next": {"page": "c"}}),
        ("/orgs/acme/teams", "limit=2&page=c"): (200, {"items": [4]}),
    }
    assert list(recorded(pages).readings()) == [RecordedAnswer("/orgs/acme/teams", (), 200, [1, 2, 3, 4])]


def test_pages_that_lead_back_to_themselves_end() -> None:
    pages = {
        ("/orgs", "limit=1"): (200, {"items": [1], "next": {"page": "b"}}),
        ("/orgs", "limit=1&page=b"): (200, {"items": [2], "next": {"page": "b"}}),
    }
    assert [reading.content for reading in recorded(pages).readings()] == [[1, 2]]


def test_what_is_asked_for_by_another_query_is_another_reading() -> None:
    lists = {
        ("/integrations", "limit=9&owner=acme"): (200, {"items": [1]}),
        ("/integrations", "limit=9&owner=globex"): (200, {"items": [2]}),
    }
    found = {reading.filters: reading.content for reading in recorded(lists).readings()}
    assert found == {(("owner", "acme"),): [1], (("owner", "globex"),): [2]}


def test_a_refusal_is_kept_as_one() -> None:
    found = recorded({("/orgs/acme/saml", ""): (403, {"error": {}})}).readings()
    assert [(reading.status, reading.content) for reading in found] == [(403, None)]


def test_what_is_no_json_is_kept_as_its_text() -> None:
    recording = Recording()
    recording.put(Request("GET", "/openapi"), Response(200, {}, "openapi: é".encode()), 0.0)
    assert [reading.content for reading in recording.readings()] == ["openapi: é"]


def test_every_answer_is_counted() -> None:
    assert recorded({("/a", ""): (200, {}), ("/b", ""): (503, {})}).requests == 2


def test_a_breakdown_says_nothing_of_what_is_there() -> None:
    assert list(recorded({("/orgs", ""): (503, {})}).readings()) == []


def test_no_write_is_kept() -> None:
    assert list(recorded({("/orgs", ""): (200, {})}, "POST", "PUT", "PATCH", "DELETE").readings()) == []


def test_what_comes_after_its_end_is_no_part_of_it() -> None:
    recording = Recording()
    recording.end()
    recording.around(Answering({("/orgs", ""): (200, {})})).send(Request("GET", "/orgs"))
    assert list(recording.readings()) == []


def times(*seconds: float) -> Recording:
    """A recording of requests that took so long."""
    recording = Recording()
    for each in seconds:
        recording.put(Request("GET", "/orgs"), Response(200, {}, b"{}"), each)
    return recording


@pytest.mark.parametrize(
    ("seconds", "latency"), [((), 0), ((0.5,), 0.5), ((9.0, 0.5, 1.0), 1.0), ((0.5, 1.0, 1.5, 9.0), 1.5)]
)
def test_the_latency_is_that_of_the_answer_in_the_middle(seconds: tuple[float, ...], latency: float) -> None:
    assert times(*seconds).latency == latency


def test_a_reading_begins_with_its_first_request() -> None:
    assert times().seconds == 0
    assert times(5000.0).seconds == pytest.approx(5000)
    assert times(5000.0, 1.0).seconds == pytest.approx(5000, abs=100)


def test_it_shows_nothing_of_what_it_holds() -> None:
    assert repr(recorded({("/orgs", ""): (200, {"token": "s3cret"})})) == "Recording(1)"
