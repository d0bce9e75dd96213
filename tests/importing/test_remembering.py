"""An import asks everything once: what it is checked against are the very same answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpsync.importing.files import CachingClient
from tests.client.conftest import FakeClock
from tests.client.test_observer import Noted, Script

Asked = Callable[[CachingClient], object]


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.get("/x", {"a": "1", "b": "2"}),
        lambda client: client.text("/x"),
        lambda client: client.pages("/x"),
    ],
    ids=["one", "text", "list"],
)
def test_repeated_import_read_is_answered_from_cache(ask: Asked) -> None:
    noted = Noted()
    once = Script((200, {"items": [{"id": "1"}]}))
    client = CachingClient("http://localhost", "t", transport=once, clock=FakeClock(), observer=noted)
    assert ask(client) == ask(client)
    assert noted.events == ["GET", ("more", -1)]


def test_different_reads_are_requested_separately() -> None:
    answers = Script(*((200, {"items": [{"id": str(number)}]}) for number in range(5)))
    client = CachingClient("http://localhost", "t", transport=answers, clock=FakeClock())
    asked = [
        client.pages("/x"),
        client.pages("/y"),
        client.pages("/x", {"a": "1"}),
        client.pages("/x", limit=7),
    ]
    assert [one[0]["id"] for one in asked] == ["0", "1", "2", "3"]
    assert client.get("/x") == {"items": [{"id": "4"}]}
