"""Everything here is about both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import Database

from dpsync.server.store import Store


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """Return an empty database of each type."""
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
    """Yield a second connection to the same database, as another process has it."""
    del store
    opened = database.open()
    yield opened
    opened.close()
