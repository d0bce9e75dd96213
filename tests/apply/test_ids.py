"""The ids of an apply: many steps write them and read them at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from dpsync.apply.ids import Ids
from dpsync.model.address import Address


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_steps_may_ask_while_others_write(hurried: None) -> None:
    ids = Ids({})
    wrong: list[Exception] = []

    def write(name: str) -> None:
        for number in range(300):
            ids.put(Address((name, str(number))), "shared" if number % 2 else f"{name}-{number}")

    def ask() -> None:
        try:
            while any(thread.is_alive() for thread in writers):
                assert set(ids.addresses("shared")) <= set(ids.snapshot())
        except Exception as error:
            wrong.append(error)

    writers = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in [*writers, *asking]:
        thread.start()
    for thread in [*writers, *asking]:
        thread.join()
    assert wrong == []
    assert len(ids.addresses("shared")) == 450
    assert len(ids.snapshot()) == 900


def test_an_address_has_the_id_that_it_was_given_last() -> None:
    one = Address(("acme", "one"))
    ids = Ids({one: "before"})
    copy = ids.snapshot()
    ids.put(one, "after")
    assert (ids.get(one), copy[one]) == ("after", "before")
    assert (ids.addresses("before"), ids.addresses("after")) == (frozenset(), {one})
