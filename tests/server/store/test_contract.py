"""What every store promises, whichever database it is on."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from databases import Database
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsync.server import world as worlds
from dpsync.server.store import SCHEMA_VERSION, Record, Store, StoreError, open_store

LARGEST = 2**63 - 1
SMALLEST = -(2**63)


def space(id: str, **columns: Any) -> Record:
    return Record("space", id, {"title": id}, **columns)


def ids(records: list[Record]) -> list[str]:
    return [record.id for record in records]


# --- documents ---------------------------------------------------------------------------------------


def test_store_returns_saved_record(store: Store) -> None:
    made = Record("space", "a", {"title": "A", "of": [1, None, {}]}, "org", "scope", "parent", 7, "ref")
    store.put(made)
    assert store.get("space", "a") == made
    assert store.get("space", "b") is None
    assert store.get("site", "a") is None


def test_store_put_replaces_whole_record(store: Store) -> None:
    store.put(Record("space", "a", {"old": 1}, "org", "scope", "parent", 7, "ref"))
    new = Record("space", "a", {"new": 2})
    store.put(new)
    assert store.all_records() == [new]
    assert new.seq == 2


def test_store_put_keeps_sequence_number(store: Store) -> None:
    store.put(space("a"))
    store.put(space("b"))
    found = store.get("space", "a")
    assert found is not None
    store.put(found)
    assert ids(store.all_records()) == ["a", "b"]


def test_store_separates_records_by_kind(store: Store) -> None:
    store.put(Record("space", "a", {}))
    store.put(Record("site", "a", {}))
    assert store.remove("space", "a")
    assert store.get("site", "a") is not None


def test_store_remove_reports_whether_record_existed(store: Store) -> None:
    store.put(space("a"))
    assert store.remove("space", "a")
    assert not store.remove("space", "a")
    assert store.all_records() == []


@pytest.mark.parametrize("column", ["organization", "scope", "parent", "ref"])
def test_store_filters_by_each_indexed_column(store: Store, column: str) -> None:
    for id, value in (("a", "x"), ("b", "y"), ("c", "x")):
        store.put(space(id, position=ord(id), **{column: value}))
    assert ids(store.find("space", **{column: "x"})) == ["a", "c"]
    assert store.count("space", **{column: "x"}) == 2
    assert store.last_position("space", **{column: "x"}) == ord("c")
    assert ids(store.find_by_creation("space", 0, 9, **{column: "x"})) == ["a", "c"]


def test_store_filters_by_several_columns(store: Store) -> None:
    store.put(space("a", organization="o", parent="p"))
    store.put(space("b", organization="o", parent="q"))
    assert ids(store.find("space", organization="o", parent="q")) == ["b"]


def test_store_refuses_filter_on_other_columns(store: Store) -> None:
    with pytest.raises(ValueError, match="these columns cannot be searched"):
        store.find("space", doc="{}")


def test_store_orders_records_by_position_then_creation(store: Store) -> None:
    for id, position in (("a", 2), ("b", 1), ("c", 2), ("d", -1)):
        store.put(space(id, position=position))
    assert ids(store.find("space")) == ["d", "b", "a", "c"]


def test_store_last_position_is_zero_when_empty(store: Store) -> None:
    assert store.last_position("space") == 0
    assert store.count("space") == 0


def test_store_pages_continue_after_sequence_number(store: Store) -> None:
    for id in "abcd":
        store.put(space(id))
    store.remove("space", "b")
    assert ids(store.find_by_creation("space", 0, 2)) == ["a", "c"]
    assert ids(store.find_by_creation("space", 3, 2)) == ["d"]
    assert store.find_by_creation("space", 4, 2) == []
    assert ids(store.find_by_creation("space", 4, 2, descending=True)) == ["c", "a"]
    assert store.find_by_creation("space", 1, 2, descending=True) == []


def test_store_saves_many_records_at_once(store: Store) -> None:
    store.put_all(space(str(number), seq=number) for number in range(1, 501))
    assert ids(store.all_records()) == [str(number) for number in range(1, 501)]
    store.put_all([])


def test_store_compares_and_orders_text_by_bytes(store: Store) -> None:
    names = ["a", "B", "b", "A", "é", "e\u0301", "ß", "Z", "_", "ﬁ", "\U0001f600", "\uffff"]
    store.put_all([space(name, seq=1) for name in names])
    assert ids(store.all_records()) == sorted(names, key=str.encode)
    assert [store.count("space"), store.get("space", "E")] == [len(names), None]


@pytest.mark.parametrize("number", [LARGEST, SMALLEST, 0])
def test_store_supports_64_bit_numbers(store: Store, number: int) -> None:
    store.put(space("a", position=number, seq=LARGEST))
    assert store.last_position("space") == number
    assert ids(store.find_by_creation("space", LARGEST - 1, LARGEST)) == ["a"]
    store.set_counters({"big": LARGEST - 1})
    assert store.next_number("big") == LARGEST


def test_store_documents_may_contain_nul(store: Store) -> None:
    store.put(Record("space", "a", {"ti\0tle": "\0", "quoted": "\\u0000"}))
    found = store.get("space", "a")
    assert found is not None
    assert found.doc == {"ti\0tle": "\0", "quoted": "\\u0000"}


@pytest.mark.parametrize("column", ["kind", "id", "organization", "scope", "parent", "ref"])
def test_store_columns_refuse_nul(store: Store, column: str) -> None:
    with pytest.raises(ValueError, match="NUL"):
        store.put(Record(**{"kind": "space", "id": "a", "doc": {}, column: "a\0b"}))
    assert store.all_records() == []


def test_store_lookup_with_nul_finds_no_record(store: Store) -> None:
    store.put(space("a"))
    assert store.get("space", "a\0") is None
    assert store.get("space", "\0") is None
    assert store.find("space", ref="\0") == []
    assert store.find_by_creation("space", 0, 9, ref="\0") == []
    assert (store.count("space", ref="\0"), store.last_position("space", ref="\0")) == (0, 0)
    assert not store.remove("space", "a\0")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON, max_size=5))
def test_store_returns_any_json_document_unchanged(store: Store, doc: dict[str, Any]) -> None:
    store.put(Record("any", "a", doc))
    found = store.get("any", "a")
    assert found is not None
    assert found.doc == doc


# --- counters and settings ---------------------------------------------------------------------------


def test_store_counters_are_independent(store: Store) -> None:
    assert [store.next_number("a"), store.next_number("a"), store.next_number("b")] == [1, 2, 1]
    store.set_counters({"a": 10, "c": 5})
    assert [store.next_number("a"), store.next_number("b"), store.next_number("c")] == [11, 2, 6]


def test_store_clear_keeps_settings(store: Store) -> None:
    store.put(space("a"))
    store.set_setting("clock", "frozen")
    store.clear()
    assert store.all_records() == []
    assert store.next_number("seq") == 1
    assert store.setting("clock") == "frozen"


def test_store_settings_are_shared_between_connections(store: Store, other: Store) -> None:
    assert store.setting("clock") is None
    other.set_setting("clock", "a")
    other.set_setting("clock", "b")
    assert store.setting("clock") == "b"
    store.set_setting("clock", None)
    assert other.setting("clock") is None


# --- transactions ------------------------------------------------------------------------------------


def test_failed_transaction_is_rolled_back(store: Store) -> None:
    store.put(space("kept"))

    def write_and_fail() -> None:
        with store.transaction():
            store.put(space("a"))
            store.put_all([space("b", seq=9)])
            store.remove("space", "kept")
            store.next_number("team")
            store.set_setting("clock", "frozen")
            raise LookupError

    with pytest.raises(LookupError):
        write_and_fail()
    assert ids(store.all_records()) == ["kept"]
    assert store.next_number("team") == 1
    assert store.setting("clock") is None


def test_uncommitted_changes_are_invisible_to_others(store: Store, other: Store) -> None:
    with store.transaction():
        store.put(space("a"))
        assert store.count("space") == 1
        assert other.count("space") == 0
    assert other.count("space") == 1


def test_nested_transaction_is_part_of_outer_transaction(store: Store, other: Store) -> None:
    with store.transaction():
        with store.transaction():
            store.put(space("a"))
        assert other.count("space") == 0
    assert other.count("space") == 1


def test_failed_nested_transaction_fails_outer_transaction(store: Store) -> None:
    def fail() -> None:
        with store.transaction():
            raise LookupError

    def go_on_after_a_failure() -> None:
        with store.transaction():
            store.put(space("a"))
            with pytest.raises(LookupError):
                fail()

    with pytest.raises(RuntimeError, match="a part of this transaction has failed"):
        go_on_after_a_failure()
    assert store.count("space") == 0
    store.put(space("b"))
    assert store.count("space") == 1


def test_store_reading_block_sees_fixed_snapshot(store: Store, other: Store) -> None:
    store.put(space("a"))
    with store.read_transaction():
        before = store.version()
        assert store.count("space") == 1
        other.put(space("b"))
        assert store.count("space") == 1
        assert store.version() == before
    assert store.count("space") == 2


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.put(space("a")),
        lambda store: store.put_all([space("a", seq=1)]),
        lambda store: store.remove("space", "a"),
        lambda store: store.next_number("a"),
        lambda store: store.set_counters({"a": 1}),
        lambda store: store.clear(),
        lambda store: store.set_setting("a", "b"),
        lambda store: store.transaction().__enter__(),
    ],
)
def test_store_refuses_writes_in_reading_block(store: Store, write: Callable[[Store], object]) -> None:
    with store.read_transaction(), pytest.raises(RuntimeError, match="writing while reading"):
        write(store)
    assert store.all_records() == []


def test_reading_block_joins_surrounding_transaction(store: Store) -> None:
    with store.transaction():
        store.put(space("a"))
        with store.read_transaction():
            assert store.count("space") == 1
        store.put(space("b"))
    assert store.count("space") == 2


def test_store_version_grows_with_every_commit(store: Store, other: Store) -> None:
    seen = [store.version()]
    for write in (
        lambda: store.put(space("a")),
        lambda: other.put(space("b")),
        lambda: other.remove("space", "a"),
        lambda: store.clear(),
    ):
        write()
        assert store.version() == other.version()
        seen.append(store.version())
    assert seen == sorted(set(seen))


def test_store_version_is_unchanged_without_commit(store: Store) -> None:
    before = store.version()

    def write_and_fail() -> None:
        with store.transaction():
            store.put(space("a"))
            raise LookupError

    with pytest.raises(LookupError):
        write_and_fail()
    with store.read_transaction():
        store.count("space")
    assert store.version() == before


# --- writers at once ---------------------------------------------------------------------------------


def at_once(*works: Callable[[], None]) -> None:
    """All must end without an error."""
    failures: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def add(store: Store, name: str) -> None:
    for number in range(50):
        with store.transaction():
            found = store.get("list", "one") or Record("list", "one", {"items": []})
            found.doc["items"].append(f"{name}-{number}")
            store.put(found)


@pytest.mark.parametrize("connections", [1, 2])
def test_concurrent_writers_lose_no_update(store: Store, other: Store, connections: int) -> None:
    """Of one connection shared by threads, and of two connections."""
    second = other if connections == 2 else store
    at_once(lambda: add(store, "a"), lambda: add(second, "b"))
    found = store.get("list", "one")
    assert found is not None
    assert len(found.doc["items"]) == len(set(found.doc["items"])) == 100
    assert [item for item in found.doc["items"] if item[0] == "a"] == [f"a-{number}" for number in range(50)]


def test_concurrent_store_counters_return_unique_numbers(store: Store, other: Store) -> None:
    given: list[int] = []

    def take(opened: Store) -> None:
        given.extend(opened.next_number("n") for _ in range(50))

    at_once(lambda: take(store), lambda: take(other))
    assert sorted(given) == list(range(1, 101))


def test_reader_never_sees_partial_transaction(store: Store, other: Store) -> None:
    over = threading.Event()
    torn: list[tuple[int, int]] = []

    def write() -> None:
        for _ in range(100):
            with store.transaction():
                store.put(Record("left", str(store.next_number("id")), {}))
                store.put(Record("right", str(store.next_number("id")), {}))
        over.set()

    def read() -> None:
        while not over.is_set():
            with other.read_transaction():
                counts = other.count("left"), other.count("right")
            if counts[0] != counts[1]:
                torn.append(counts)

    at_once(write, read)
    assert torn == []
    assert store.count("left") == 100


# --- opening -----------------------------------------------------------------------------------------


def test_reopened_store_contains_saved_records(database: Database, store: Store) -> None:
    store.put(space("a"))
    store.close()
    again = database.open()
    assert ids(again.all_records()) == ["a"]
    again.close()


def test_concurrent_opening_initializes_new_database_once(database: Database) -> None:
    made: list[Store] = []
    at_once(*[lambda: made.append(database.open())] * 4)
    assert {opened.next_number("a") for opened in made} == {1, 2, 3, 4}
    for opened in made:
        opened.close()


def test_database_of_newer_version_is_refused(database: Database) -> None:
    database.open().close()
    database.run(f"UPDATE meta SET value = {SCHEMA_VERSION + 1} WHERE key = 'schema'")
    written = f"newer dpsync wrote the database \\(schema {SCHEMA_VERSION + 1}, but this dpsync supports"
    with pytest.raises(StoreError, match=written):
        database.open()


def test_older_database_is_migrated_with_its_records(database: Database) -> None:
    """As version 1 was: no settings, and no count of its transactions."""
    opened = database.open()
    worlds.load_world(opened, worlds.load_builtin_world())
    before = opened.all_records()
    opened.close()
    database.run("DROP TABLE settings")
    database.run("DELETE FROM meta WHERE key = 'version'")
    database.run("UPDATE meta SET value = 1 WHERE key = 'schema'")
    opened = database.open()
    assert opened.all_records() == before
    opened.set_setting("clock", "a")
    assert opened.version() > 0
    opened.close()
    assert database.run("SELECT value FROM meta WHERE key = 'schema'") == [(SCHEMA_VERSION,)]


def test_database_with_foreign_tables_is_refused(database: Database) -> None:
    if database.shared:
        database.run("CREATE SCHEMA dpsync")
    database.run("CREATE TABLE invoices (id INTEGER)")
    with pytest.raises(StoreError, match=r"contains other tables \(invoices\)"):
        database.open()
    assert database.run("SELECT * FROM invoices") == []


def test_database_without_schema_version_is_refused(database: Database) -> None:
    database.open().close()
    database.run("DELETE FROM meta")
    with pytest.raises(StoreError, match="has no dpsync version"):
        database.open()


def test_broken_database_error_names_the_database(database: Database, store: Store) -> None:
    database.run("DROP TABLE documents")
    named = r"^postgresql://.*/test_\d+: .*documents" if database.shared else r"state\.db: .*documents"
    with pytest.raises(StoreError, match=named):
        store.get("space", "a")
    with pytest.raises(StoreError, match=named):
        store.put(space("a"))


def test_store_can_be_kept_in_memory() -> None:
    store = open_store(":memory:")
    store.put(space("a"))
    assert ids(store.all_records()) == ["a"]
    store.close()


def test_store_watcher_receives_committed_changes(store: Store) -> None:
    told: list[Any] = []
    store.set_listener(lambda version, changes: told.append((version, changes)))
    before = store.version()
    store.put(Record("space", "a", {"n": 1}))
    with suppress(KeyError), store.transaction():
        store.put(Record("space", "b", {}))
        raise KeyError
    with store.transaction():
        changed = Record("space", "a", {"n": 2}, seq=1)
        store.put(changed)
        changed.doc["n"] = 3
        store.remove("space", "a")
        store.remove("space", "nowhere")
    store.clear()
    first, second, third = told
    assert first == (before + 1, [(None, Record("space", "a", {"n": 1}, seq=1))])
    assert second[0] == store.version() - 1
    one, two = (Record("space", "a", {"n": number}, seq=1) for number in (1, 2))
    assert second[1] == [(one, two), (two, None), (None, None)]
    assert third == (store.version(), None)
