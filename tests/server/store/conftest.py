"""Everything here is about both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import Database

from dpsync.server.store import Store


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """A fresh one."""
    if request.param == "postgres":
        return Database(request.getfixturevalue("postgres_url"))
    return Database(str(tmp_path / "state.db"))


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    opened = database.open()
    yield opened
    opened.close()


@pytest.fixture
def other(database: Database, store: Store) -> Iterator[Store]:
    """What another process has: a connection of its own to the same database."""
    opened = database.open()
    yield opened
    opened.close()
