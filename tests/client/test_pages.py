"""A list is read to its proper end or not at all."""

from __future__ import annotations

import pytest

from dpsync.client import client as client_module
from dpsync.client.client import ReadClient
from dpsync.client.errors import ClientError, InvalidListError, NotJsonError, ServerFaultError

from . import faulty
from .conftest import FakeClock
from .faulty import Act, FaultyServer, reply

TOKEN = "s3cret-token"


def page(*items: object, cursor: object = None, **more: object) -> Act:
    return reply(200, {"items": list(items), **({"next": {"page": cursor}} if cursor else {}), **more})


def item(name: str) -> dict[str, str]:
    return {"object": "team", "id": name}


def read(clock: FakeClock, *script: Act) -> tuple[list[dict[str, str]], list[str]]:
    with FaultyServer(*script) as server, ReadClient(server.url, TOKEN, clock=clock) as client:
        return client.pages("/orgs/acme/teams", {"deleted": True}), [seen.target for seen in server.requests]


def test_list_joins_three_pages_in_order(clock: FakeClock) -> None:
    items, targets = read(
        clock, page(item("a"), item("b"), cursor="p 2&x"), page(item("c"), cursor="p3"), page(item("d"))
    )

    assert [i["id"] for i in items] == ["a", "b", "c", "d"]
    assert targets == [
        "/v1/orgs/acme/teams?deleted=true&limit=1000",
        "/v1/orgs/acme/teams?deleted=true&limit=1000&page=p+2%26x",
        "/v1/orgs/acme/teams?deleted=true&limit=1000&page=p3",
    ]


@pytest.mark.parametrize(
    "last",
    [
        page(),
        page(count=0),
        page(next=None),
        page(next={}),
        page(next={"page": None}),
        page(count=0, next={"page": None}),
        page(count=None),
    ],
)
def test_list_ends_without_next_page_cursor(clock: FakeClock, last: Act) -> None:
    assert read(clock, last)[0] == []


def test_list_continues_after_empty_middle_page(clock: FakeClock) -> None:
    items, _ = read(clock, page(item("a"), cursor="2"), page(cursor="3"), page(item("b")))

    assert [i["id"] for i in items] == ["a", "b"]


def test_list_accepts_equal_items_without_id(clock: FakeClock) -> None:
    assert len(read(clock, page({"role": "read"}, cursor="2"), page({"role": "read"}))[0]) == 2


@pytest.mark.parametrize(
    ("script", "fault", "number"),
    [
        ([page(item("a"), cursor="2"), page(item("b"), cursor="2")], "cursor repeated", 2),
        (
            [page(item("a"), cursor="2"), page(item("b"), cursor="3"), page(item("c"), cursor="2")],
            "cursor repeated",
            3,
        ),
        ([page(item("a"), cursor="2"), page(item("a"), cursor="3")], "item repeated", 2),
        ([page(item("a"), item("b"), cursor="2"), page(item("b"), item("c"))], "item repeated", 2),
        ([page(item("a"), cursor="2"), reply(200, {"count": 0})], "no items", 2),
        ([reply(200, {"items": None})], "no items", 1),
        ([reply(200, {"items": {"0": item("a")}})], "no items", 1),
        ([page(item("a"), "b")], "an item of the list is not a JSON object", 1),
        ([page(None)], "an item of the list is not a JSON object", 1),
        ([reply(200, [item("a")])], "the response is not a list of objects", 1),
        ([reply(200, b"null")], "the response is not a list of objects", 1),
        ([page(item("a"), next={"page": ""})], "bad cursor", 1),
        ([page(item("a"), cursor=2)], "bad cursor", 1),
        ([page(item("a"), next="2")], "bad cursor", 1),
        ([page(item("a"), cursor="2" * 70_000)], "bad cursor", 1),
        ([page(item("a"), next=False)], "bad cursor", 1),
    ],
)
def test_malformed_list_pages_are_an_error(
    clock: FakeClock, script: list[Act], fault: str, number: int
) -> None:
    """Otherwise, a list that moved while it was read is taken for whole, though what moved is missing.

    Otherwise, a list whose cursor comes back is read two thousand times.
    Otherwise, something that is no list ends in a mistake of our own.
    Otherwise, an answer without a list counts as an empty one, and all that was there as gone.
    Otherwise, an item that is no object ends in a mistake of our own.
    Otherwise, a list whose next page is named in another way counts as read to its end.
    Otherwise, an empty cursor asks for the first page again.
    """
    with pytest.raises(InvalidListError) as caught:
        read(clock, *script)

    assert (caught.value.fault, caught.value.page, caught.value.path) == (fault, number, "/orgs/acme/teams")


@pytest.mark.parametrize(
    ("second", "raised"),
    [(reply(500), ServerFaultError), (faulty.HTML, NotJsonError), (reply(404, b""), NotJsonError)],
)
def test_list_read_fails_if_any_page_fails(clock: FakeClock, second: Act, raised: type[ClientError]) -> None:
    with pytest.raises(raised):
        read(clock, page(item("a"), cursor="2"), second)


def test_list_shorter_than_count_is_reread(clock: FakeClock) -> None:
    items, targets = read(clock, page(item("a"), count=2), page(item("a"), item("b"), count=2))

    assert [i["id"] for i in items] == ["a", "b"]
    assert len(targets) == 2


def test_list_growing_between_pages_is_reread(clock: FakeClock) -> None:
    moved = page(item("a"), count=2, cursor="2"), page(item("b"), count=3)
    items, targets = read(clock, *moved, page(item("new"), item("a"), item("b"), count=3))

    assert [i["id"] for i in items] == ["new", "a", "b"]
    assert len(targets) == 3


@pytest.mark.parametrize("count", [0, 1, 3])
def test_list_read_fails_on_persistent_count_mismatch(clock: FakeClock, count: int) -> None:
    """Otherwise, a list that somebody writes to while it is read ends every plan.

    Otherwise, a list that ended too early is taken for whole, and what it lacks is made anew or counts as
    gone.
    """
    with FaultyServer(page(item("a"), item("b"), count=count)) as server:
        with ReadClient(server.url, TOKEN, clock=clock) as client, pytest.raises(InvalidListError) as caught:
            client.pages("/orgs/acme/teams")

        assert caught.value.fault == "the number of items differs from the count"
        assert len(server.requests) == 2


@pytest.mark.parametrize("count", ["2", True, [2]])
def test_list_read_fails_on_non_numeric_count(clock: FakeClock, count: object) -> None:
    """Otherwise, a count that is no number counts as none, and a list that is cut as whole."""
    with pytest.raises(InvalidListError) as caught:
        read(clock, page(item("a"), item("b"), count=count))

    assert caught.value.fault == "the count is not a number"


def test_failed_list_page_is_retried(clock: FakeClock) -> None:
    items, targets = read(clock, page(item("a"), cursor="2"), faulty.cut_length, page(item("b")))

    assert [i["id"] for i in items] == ["a", "b"]
    assert len(targets) == 3


def test_list_reading_stops_at_page_limit(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, a part of a list is taken for all of it."""
    monkeypatch.setattr(client_module, "MAX_PAGES", 5)
    with pytest.raises(InvalidListError) as caught:
        read(clock, *(page(cursor=str(n)) for n in range(10)))

    assert caught.value.fault == "too many pages"
