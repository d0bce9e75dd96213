"""What only PostgreSQL has: connections that are lost, claims between processes, and what is refused."""

import threading
from collections.abc import Iterator

import psycopg
import pytest
from databases import Database
from postgres_cluster import USER, Cluster
from processes import until

from dpsync.server.store import Record, Store, StoreError, open_store


@pytest.fixture
def database(postgres_url: str) -> Database:
    return Database(postgres_url)


@pytest.fixture
def third(database: Database) -> Iterator[Store]:
    opened = database.open()
    yield opened
    opened.close()


def test_postgres_store_reconnects_after_lost_connection(
    store: Store, database: Database, postgres: Cluster
) -> None:
    store.put(Record("space", "a", {}))
    postgres.end_connections(database.where)
    assert store.count("space") == 1
    postgres.end_connections(database.where)
    store.put(Record("space", "b", {}))
    postgres.end_connections(database.where)
    with store.read_transaction():
        assert store.count("space") == 2


def test_lost_connection_rolls_back_transaction(store: Store, database: Database, postgres: Cluster) -> None:
    def lose() -> None:
        with store.transaction():
            store.put(Record("space", "a", {}))
            postgres.end_connections(database.where)
            store.put(Record("space", "b", {}))

    with pytest.raises(StoreError, match="terminating connection"):
        lose()
    assert store.all_records() == []


def test_lost_connection_before_commit_raises_store_error(
    store: Store, database: Database, postgres: Cluster
) -> None:
    def lose() -> None:
        with store.transaction():
            store.put(Record("space", "a", {}))
            postgres.end_connections(database.where)

    with pytest.raises(StoreError):
        lose()
    assert store.all_records() == []


def test_ignored_statement_error_still_fails_transaction(store: Store, database: Database) -> None:
    """PostgreSQL would answer the COMMIT with a quiet ROLLBACK."""

    def overlook() -> None:
        with store.transaction():
            store.put(Record("space", "a", {}))
            with pytest.raises(StoreError):
                store.setting("clock")

    database.run("ALTER TABLE settings RENAME TO gone")
    with pytest.raises(StoreError, match="aborted"):
        overlook()
    assert store.all_records() == []


def test_postgres_job_claim_is_exclusive_until_released(store: Store, other: Store) -> None:
    assert store.claim("job")
    assert store.claim("job")
    assert not other.claim("job")
    assert other.claim("another job")
    other.release("job")
    assert not other.claim("job")
    store.release("job")
    assert other.claim("job")
    assert not store.claim("job")


def test_postgres_claim_ends_with_its_connection(
    store: Store, other: Store, database: Database, postgres: Cluster
) -> None:
    assert store.claim("job")
    postgres.end_connections(database.where)
    assert other.claim("job")
    assert not store.claim("job")
    with store.transaction():
        assert not store.claim("job")
    other.close()
    until(lambda: store.claim("job"))


def test_postgres_claim_survives_rolled_back_transaction(store: Store, other: Store) -> None:
    def claim_and_fail() -> None:
        with store.transaction():
            assert store.claim("job")
            raise LookupError

    with pytest.raises(LookupError):
        claim_and_fail()
    assert not other.claim("job")


@pytest.mark.usefixtures("database")
def test_blocked_postgres_writer_fails_after_lock_timeout(store: Store, other: Store) -> None:
    """The limits are those of the session; here they are made short."""
    for opened in (store, other):
        opened._connection.execute("SET lock_timeout TO '50ms'")
    with store.transaction():
        store.put(Record("space", "a", {}))
        with pytest.raises(StoreError, match="lock timeout"):
            other.put(Record("space", "b", {}))
        assert other.count("space") == 0
    other.put(Record("space", "b", {}))
    assert store.count("space") == 2


@pytest.mark.usefixtures("database")
def test_postgres_connection_sets_its_timeouts(store: Store) -> None:
    found = {
        name: store._query_rows(f"SHOW {name}")[0][0]
        for name in ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
    }
    assert found == {
        "lock_timeout": "10s", "statement_timeout": "30s", "idle_in_transaction_session_timeout": "1min",
    }  # fmt: skip


def test_three_postgres_writers_lose_no_update(store: Store, other: Store, third: Store) -> None:
    def write(opened: Store) -> None:
        for _ in range(30):
            with opened.transaction():
                found = opened.get("count", "one") or Record("count", "one", {"value": 0})
                found.doc["value"] += 1
                opened.put(found)

    threads = [threading.Thread(target=write, args=(opened,)) for opened in (store, other, third)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.get("count", "one")
    assert found is not None
    assert found.doc == {"value": 90}


def test_postgres_store_uses_its_own_schema(database: Database) -> None:
    database.run("CREATE TABLE public.documents (id INTEGER)")
    opened = database.open()
    opened.put(Record("space", "a", {}))
    assert opened.count("space") == 1
    assert database.run("SELECT * FROM public.documents") == []
    opened.close()


def test_postgres_database_with_other_encoding_is_refused(postgres: Cluster) -> None:
    with (
        postgres.database("ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0") as url,
        pytest.raises(StoreError, match="the encoding is SQL_ASCII: use CREATE DATABASE"),
    ):
        open_store(url)


def test_missing_postgres_create_permission_is_reported(postgres: Cluster, database: Database) -> None:
    postgres.run("CREATE ROLE reader LOGIN")
    try:
        with pytest.raises(StoreError, match="permission denied for database"):
            open_store(database.where.replace(f"user={USER}", "user=reader"))
    finally:
        postgres.run("DROP ROLE reader")


def test_unreachable_postgres_error_shows_url_without_password() -> None:
    with pytest.raises(StoreError, match=r"^postgresql://127\.0\.0\.1:1/docs: .*refused"):
        open_store("postgresql://ada:secret@127.0.0.1:1/docs")


@pytest.mark.parametrize(
    "url",
    ["postgresql://u:pa/ss@host/x", "postgresql://u:pass@host/x?unknown=1", "postgresql://u:pass@[host/x"],
)
def test_invalid_postgres_url_is_not_shown(url: str) -> None:
    with pytest.raises(StoreError, match="not a PostgreSQL URL") as refused:
        open_store(url)
    assert "pa" not in str(refused.value).partition("Write")[0]


def test_postgres_reading_block_sees_fixed_snapshot(store: Store, database: Database) -> None:
    with store.read_transaction(), psycopg.connect(database.where) as connection:
        before = store.all_records()
        connection.execute("INSERT INTO dpsync.settings VALUES ('a', 'b')")
        connection.commit()
        assert store.setting("a") is None
        assert store.all_records() == before
    assert store.setting("a") == "b"
