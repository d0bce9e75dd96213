"""Store records with SQL, written once in the dialect that SQLite and PostgreSQL support.

`SqlStore` is the base class: a back-end defines how a statement runs, how a transaction begins and ends, and
what a claim (only one process may do a job) is. Every writing transaction first increments the version. The
row of the version is the lock that makes the writers of all processes wait for each other.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal

from .protocol import ChangeListener, Record, RecordChange, StoreError

_MIGRATIONS = (
    (
        "CREATE TABLE meta (key {text} PRIMARY KEY, value BIGINT NOT NULL)",
        "CREATE TABLE counters (name {text} PRIMARY KEY, value BIGINT NOT NULL)",
        """CREATE TABLE documents (
          kind {text} NOT NULL, id {text} NOT NULL, organization {text} NOT NULL, scope {text} NOT NULL,
          parent {text} NOT NULL, position BIGINT NOT NULL, ref {text} NOT NULL, seq BIGINT NOT NULL,
          doc {text} NOT NULL, PRIMARY KEY (kind, id))""",
        "CREATE INDEX documents_organization ON documents (kind, organization, parent, position)",
        "CREATE INDEX documents_created ON documents (kind, organization, seq)",
        "CREATE INDEX documents_scope ON documents (kind, scope)",
        "CREATE INDEX documents_ref ON documents (kind, ref)",
        "INSERT INTO meta VALUES ('schema', 1)",
    ),
    (
        "CREATE TABLE settings (name {text} PRIMARY KEY, value {text} NOT NULL)",
        "INSERT INTO meta VALUES ('version', 0)",
    ),
)

"""The statements that migrate a database from each version to the next. `{text}` is the type of a text that
is compared byte by byte. A released step is never changed.
"""
SCHEMA_VERSION = len(_MIGRATIONS)


def migrations_from(version: int, text: str) -> list[str]:
    """Return the statements that migrate from a version (0: no tables) to the current one."""
    return [statement.format(text=text) for step in _MIGRATIONS[version:] for statement in step]


_COLUMNS = "kind, id, organization, scope, parent, position, ref, seq, doc"
_SELECT = " ".join(("SELECT", _COLUMNS, "FROM documents"))
_PUT = " ".join(
    (
        "INSERT INTO documents (", _COLUMNS, ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "ON CONFLICT (kind, id) DO UPDATE SET organization = excluded.organization, scope = excluded.scope,",
        "parent = excluded.parent, position = excluded.position, ref = excluded.ref, seq = excluded.seq,",
        "doc = excluded.doc",
    )
)  # fmt: skip
_NEXT_NUMBER = (
    "INSERT INTO counters VALUES (?, 1) "
    "ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value"
)
_SET_COUNTER = "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_SET_SETTING = "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_SEARCHABLE_COLUMNS = frozenset({"organization", "scope", "parent", "ref"})
_TABLES = frozenset({"meta", "counters", "documents"})

INCREMENT_VERSION = "UPDATE meta SET value = value + 1 WHERE key = 'version'"

Row = tuple[Any, ...]


class SqlStore(ABC):
    """A store in SQL. A lock protects it between threads. `name` is the database in messages."""

    text_type: str

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.RLock()
        self._current_transaction: Literal["transaction", "reading"] | None = None
        self._nested_failed = False
        self._listener: ChangeListener | None = None
        self._changes: list[RecordChange] | None = []

    # --- what a back-end does -------------------------------------------------------------------------

    @abstractmethod
    def _query_rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]: ...

    @abstractmethod
    def _execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement and return the number of changed rows."""

    @abstractmethod
    def _execute_many(self, sql: str, rows: list[Row]) -> None: ...

    @abstractmethod
    def _begin(self, *, reading: bool) -> None:
        """Begin a transaction. Unless it only reads, increment the version."""

    @abstractmethod
    def _begin_migration(self) -> None:
        """Begin a writing transaction on a database that may have no tables yet."""

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _rollback(self) -> None:
        """Roll back without raising an error. At the latest, the changes are undone with the connection."""

    @abstractmethod
    def _table_names(self) -> set[str]: ...

    # --- the schema -----------------------------------------------------------------------------------

    def _migrate(self) -> None:
        """Create or migrate the tables in one transaction.

        The version is read again inside, under the lock.
        """
        if self._schema_version() == SCHEMA_VERSION:
            return
        try:
            self._begin_migration()
            for statement in migrations_from(self._schema_version(), self.text_type):
                self._execute(statement)
            self._execute("UPDATE meta SET value = ? WHERE key = 'schema'", (SCHEMA_VERSION,))
            self._commit()
        except BaseException:
            self._rollback()
            raise

    def _schema_version(self) -> int:
        """Return the version of the database schema, 0 for an empty database.

        Raise StoreError if the database has tables of another program, or was written by a newer dpsync.
        """
        tables = self._table_names()
        if not tables:
            return 0
        if not tables >= _TABLES:
            raise StoreError(
                f"{self.name}: the database contains other tables ({', '.join(sorted(tables)[:3])}): "
                "use another database"
            )
        rows = self._query_rows("SELECT value FROM meta WHERE key = 'schema'")
        if not rows:
            raise StoreError(f"{self.name}: the database has no dpsync version: use another database")
        version = int(rows[0][0])
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.name}: a newer dpsync wrote the database (schema {version}, but this dpsync "
                f"supports {SCHEMA_VERSION}): use the newer dpsync, or another database"
            )
        return version

    # --- transactions ---------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all writes inside together, or none: see `Store.transaction`.

        After the commit, the listener gets the new version and the changes. Raise RuntimeError inside a read
        transaction, or if an inner transaction failed.
        """
        with self._lock:
            if self._current_transaction == "reading":
                raise RuntimeError("writing while reading")
            if self._current_transaction:
                try:
                    yield
                except BaseException:
                    self._nested_failed = True
                    raise
                return
            try:
                self._begin(reading=False)
                self._current_transaction = "transaction"
                yield
                if self._nested_failed:
                    raise RuntimeError("a part of this transaction has failed")
                version = self.version() if self._listener is not None else 0
                self._commit()
                if self._listener is not None:
                    self._listener(version, self._changes)
            except BaseException:
                self._rollback()
                raise
            finally:
                self._current_transaction = None
                self._nested_failed = False
                self._changes = []

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        """Read one consistent state, inside of a transaction or alone."""
        with self._lock:
            if self._current_transaction:
                yield
                return
            try:
                self._begin(reading=True)
                self._current_transaction = "reading"
                yield
            finally:
                self._current_transaction = None
                self._rollback()

    def _ensure_transaction(self) -> AbstractContextManager[None]:
        """Return a transaction for one write, or nothing if a transaction is running."""
        return nullcontext() if self._current_transaction == "transaction" else self.transaction()

    def set_listener(self, listener: ChangeListener) -> None:
        self._listener = listener

    def _record_change(self, kind: str, id: str, row: Row | None) -> None:
        """Remember the old and the new state of a record, for the listener. Call this before the write."""
        if self._listener is not None and self._changes is not None:
            self._changes.append((self.get(kind, id), _record_from_row(row) if row is not None else None))

    # --- statements -----------------------------------------------------------------------------------

    def version(self) -> int:
        return self._query_number("SELECT value FROM meta WHERE key = 'version'")

    def get(self, kind: str, id: str) -> Record | None:
        records = self._records("WHERE kind = ? AND id = ?", (kind, id))
        return records[0] if records else None

    def find(self, kind: str, **where: str) -> list[Record]:
        """Return the matching records ordered by position, then by creation."""
        return self._records(f"WHERE {_where_clause(where)} ORDER BY position, seq", (kind, *where.values()))

    def find_by_creation(
        self, kind: str, after: int, limit: int, *, descending: bool = False, **where: str
    ) -> list[Record]:
        """Return at most `limit` matching records after (or before) a `seq`, in order of creation.

        `seq` is the number of a record in this order.
        """
        order = "seq < ? ORDER BY seq DESC" if descending else "seq > ? ORDER BY seq"
        clauses = f"WHERE {_where_clause(where)} AND {order} LIMIT ?"
        return self._records(clauses, (kind, *where.values(), after, limit))

    def count(self, kind: str, **where: str) -> int:
        sql = " ".join(("SELECT count(*) FROM documents WHERE", _where_clause(where)))
        return self._query_number(sql, (kind, *where.values()))

    def last_position(self, kind: str, **where: str) -> int:
        sql = " ".join(("SELECT coalesce(max(position), 0) FROM documents WHERE", _where_clause(where)))
        return self._query_number(sql, (kind, *where.values()))

    def put(self, record: Record) -> None:
        """Insert or replace a record, giving it a `seq` if it has none."""
        with self._lock, self._ensure_transaction():
            if not record.seq:
                record.seq = self.next_number("seq")
            row = _row_from_record(record)
            self._record_change(record.kind, record.id, row)
            self._execute(_PUT, row)

    def put_all(self, records: Iterable[Record]) -> None:
        """Insert or replace many records. The listener (a cache) learns only that all may have changed."""
        rows = [_row_from_record(record) for record in records]
        with self._lock, self._ensure_transaction():
            self._changes = None
            self._execute_many(_PUT, rows)

    def remove(self, kind: str, id: str) -> bool:
        """Remove a record, and return whether it existed."""
        if _has_nul((kind, id)):
            return False
        with self._lock, self._ensure_transaction():
            self._record_change(kind, id, None)
            return self._execute("DELETE FROM documents WHERE kind = ? AND id = ?", (kind, id)) > 0

    def next_number(self, counter: str) -> int:
        """Return the next number of a counter."""
        with self._lock, self._ensure_transaction():
            return int(self._query_rows(_NEXT_NUMBER, (counter,))[0][0])

    def set_counters(self, values: dict[str, int]) -> None:
        with self._lock, self._ensure_transaction():
            self._execute_many(_SET_COUNTER, list(values.items()))

    def clear(self) -> None:
        """Delete every record and counter. The listener (a cache) learns only that all may have changed."""
        with self._lock, self._ensure_transaction():
            self._changes = None
            self._execute("DELETE FROM documents")
            self._execute("DELETE FROM counters")

    def all_records(self) -> list[Record]:
        """Return all records in order of creation."""
        return self._records("ORDER BY seq, kind, id", ())

    def setting(self, name: str) -> str | None:
        """Return a setting, or None if it is not set."""
        with self._lock:
            rows = self._query_rows("SELECT value FROM settings WHERE name = ?", (name,))
        return rows[0][0] if rows else None

    def set_setting(self, name: str, value: str | None) -> None:
        """Store a setting, or delete it if the value is None."""
        with self._lock, self._ensure_transaction():
            if value is None:
                self._execute("DELETE FROM settings WHERE name = ?", (name,))
            else:
                self._execute(_SET_SETTING, (name, value))

    def _records(self, clauses: str, parameters: Sequence[Any]) -> list[Record]:
        """Return the records that a part of a statement after FROM selects. No column contains NUL."""
        if _has_nul(parameters):
            return []
        with self._lock:
            rows = self._query_rows(f"{_SELECT} {clauses}", parameters)
        return [_record_from_row(row) for row in rows]

    def _query_number(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Return the number that a statement selects."""
        if _has_nul(parameters):
            return 0
        with self._lock:
            return int(self._query_rows(sql, parameters)[0][0])


def _where_clause(where: dict[str, str]) -> str:
    """Return the condition for a kind and columns. Raise ValueError for a column without an index."""
    if not where.keys() <= _SEARCHABLE_COLUMNS:
        raise ValueError(f"these columns cannot be searched: {sorted(where.keys() - _SEARCHABLE_COLUMNS)}")
    return " AND ".join(["kind = ?", *(f"{column} = ?" for column in where)])


def _has_nul(values: Sequence[Any]) -> bool:
    """Return whether a text among the values contains a NUL character, which no column has."""
    return any(isinstance(value, str) and "\0" in value for value in values)


def _record_from_row(row: Row) -> Record:
    """Return the record in a row of the table. Its document is parsed on first use."""
    kind, id, organization, scope, parent, position, ref, seq, doc = row
    return Record(kind, id, doc, organization, scope, parent, position, ref, seq)


def _row_from_record(record: Record) -> Row:
    """Return the columns of a record. JSON escapes NUL, so the text of a document never contains it.

    Raise ValueError for NUL in another column.
    """
    row = (
        record.kind, record.id, record.organization, record.scope, record.parent,
        record.position, record.ref, record.seq, record.text,
    )  # fmt: skip
    if _has_nul(row):
        raise ValueError(f"{record.kind} {record.id!r}: a column contains a NUL character")
    return row
