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


def test_a_connection_that_was_lost_is_opened_anew(
    store: Store, database: Database, postgres: Cluster
) -> None:
    store.put(Record("space", "a", {}))
    postgres.end_connections(database.where)
    assert store.count("space") == 1
    postgres.end_connections(database.where)
    store.put(Record("space", "b", {}))
    postgres.end_connections(database.where)
    with store.reading():
        assert store.count("space") == 2


def test_a_connection_that_is_lost_within_a_transaction_ends_it(
    store: Store, database: Database, postgres: Cluster
) -> None:
    def lose() -> None:
        with store.transaction():
            store.put(Record("space", "a", {}))
            postgres.end_connections(database.where)
            store.put(Record("space", "b", {}))

    with pytest.raises(StoreError, match="terminating connection"):
        lose()
    assert store.every() == []


def test_a_connection_that_is_lost_before_the_commit_is_told(
    store: Store, database: Database, postgres: Cluster
) -> None:
    def lose() -> None:
        with store.transaction():
            store.put(Record("space", "a", {}))
            postgres.end_connections(database.where)

    with pytest.raises(StoreError):
        lose()
    assert store.every() == []


def test_a_statement_that_failed_fails_its_transaction_even_when_it_is_overlooked(
    store: Store, database: Database
) -> None:
    """PostgreSQL would answer the COMMIT with a quiet ROLLBACK."""

    def overlook() -> None:
        with store.transaction():
            store.put(Record("space", "a", {}))
            with pytest.raises(StoreError):
                store.setting("clock")

    database.run("ALTER TABLE settings RENAME TO gone")
    with pytest.raises(StoreError, match="aborted"):
        overlook()
    assert store.every() == []


def test_only_one_has_a_claim_until_it_is_released(store: Store, other: Store) -> None:
    assert store.claim("job")
    assert store.claim("job")
    assert not other.claim("job")
    assert other.claim("another job")
    other.release("job")
    assert not other.claim("job")
    store.release("job")
    assert other.claim("job")
    assert not store.claim("job")


def test_a_claim_goes_with_its_connection(
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


def test_a_claim_outlives_transactions(store: Store, other: Store) -> None:
    def claim_and_fail() -> None:
        with store.transaction():
            assert store.claim("job")
            raise LookupError

    with pytest.raises(LookupError):
        claim_and_fail()
    assert not other.claim("job")


def test_a_writer_that_stands_still_does_not_stop_the_others_for_good(
    store: Store, other: Store, database: Database
) -> None:
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


def test_each_connection_is_told_its_limits(store: Store, database: Database) -> None:
    found = {
        name: store._rows(f"SHOW {name}")[0][0]
        for name in ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
    }
    assert found == {
        "lock_timeout": "10s", "statement_timeout": "30s", "idle_in_transaction_session_timeout": "1min",
    }  # fmt: skip


def test_writers_of_three_connections_come_one_after_the_other(
    store: Store, other: Store, third: Store
) -> None:
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


def test_its_tables_are_beside_those_of_others(database: Database) -> None:
    database.run("CREATE TABLE public.documents (id INTEGER)")
    opened = database.open()
    opened.put(Record("space", "a", {}))
    assert opened.count("space") == 1
    assert database.run("SELECT * FROM public.documents") == []
    opened.close()


def test_another_encoding_is_refused(postgres: Cluster) -> None:
    with (
        postgres.database("ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0") as url,
        pytest.raises(StoreError, match="the encoding is SQL_ASCII: use CREATE DATABASE"),
    ):
        open_store(url)


def test_who_may_make_no_tables_is_told_so(postgres: Cluster, database: Database) -> None:
    postgres.run("CREATE ROLE reader LOGIN")
    try:
        with pytest.raises(StoreError, match="permission denied for database"):
            open_store(database.where.replace(f"user={USER}", "user=reader"))
    finally:
        postgres.run("DROP ROLE reader")


def test_no_server_is_told_with_where_it_should_be() -> None:
    with pytest.raises(StoreError, match=r"^postgresql://127\.0\.0\.1:1/docs: .*refused"):
        open_store("postgresql://ada:secret@127.0.0.1:1/docs")


@pytest.mark.parametrize(
    "url",
    ["postgresql://u:pa/ss@host/x", "postgresql://u:pass@host/x?unknown=1", "postgresql://u:pass@[host/x"],
)
def test_what_is_no_url_is_not_repeated(url: str) -> None:
    with pytest.raises(StoreError, match="not a PostgreSQL URL") as refused:
        open_store(url)
    assert "pa" not in str(refused.value).partition("Write")[0]


def test_statements_of_a_request_are_in_one_snapshot(store: Store, database: Database) -> None:
    with store.reading(), psycopg.connect(database.where) as connection:
        before = store.every()
        connection.execute("INSERT INTO dpsync.settings VALUES ('a', 'b')")
        connection.commit()
        assert store.setting("a") is None
        assert store.every() == before
    assert store.setting("a") == "b"
