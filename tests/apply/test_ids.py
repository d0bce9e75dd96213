"""The ids of an apply: many steps write them and read them at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from dpsync.apply.task import LiveIds
from dpsync.model.address import Address


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hurried")
def test_ids_are_readable_during_concurrent_writes() -> None:
    ids = LiveIds({})
    wrong: list[Exception] = []

    def write(name: str) -> None:
        for number in range(300):
            ids.set(Address((name, str(number))), "shared" if number % 2 else f"{name}-{number}")

    def ask() -> None:
        try:
            while any(thread.is_alive() for thread in writers):
                assert all(ids.get(one) == "shared" for one in ids.addresses("shared"))
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
    assert ids.get(Address(("a", "0"))) == "a-0"


class Counting:
    """A lock that says how often it was taken."""

    taken = 0

    def __enter__(self) -> None:
        self.taken += 1

    def __exit__(self, *_: object) -> None:
        """Given back."""


ONE = Address(("acme", "one"))
QUESTIONS: dict[str, Callable[[LiveIds], object]] = {
    "get": lambda ids: ids.get(ONE),
    "put": lambda ids: ids.set(ONE, "after"),
    "addresses": lambda ids: ids.addresses("before"),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_every_ids_query_takes_the_lock(question: Callable[[LiveIds], object]) -> None:
    """Whether threads happen to meet or not."""
    ids = LiveIds({ONE: "before"})
    ids._lock = lock = Counting()
    question(ids)
    assert lock.taken == 1


def test_ids_lookup_returns_latest_id_of_address() -> None:
    """Otherwise, an entry is still found by the id that it had before."""
    one = Address(("acme", "one"))
    ids = LiveIds({one: "before"})
    ids.set(one, "after")
    assert ids.get(one) == "after"
    assert (ids.addresses("before"), ids.addresses("after")) == (frozenset(), {one})
