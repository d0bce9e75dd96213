"""Store records in SQLite: one connection, WAL, synchronous=NORMAL.

A commit survives the death of the process. One process serves a file. A second process may open it without
corrupting data, but both would run the same jobs.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from .protocol import StoreError
from .sql_store import INCREMENT_VERSION, Row, SqlStore

LOCK_TIMEOUT_SECONDS = 10
"""How long a writer waits for a writer of another process."""


class SqliteStore(SqlStore):
    """A store in a SQLite file or in memory, which one process serves."""

    text_type = "TEXT"

    def __init__(self, db: str) -> None:
        super().__init__(db)
        try:
            self._connection = sqlite3.connect(
                db, isolation_level=None, check_same_thread=False, timeout=LOCK_TIMEOUT_SECONDS
            )
        except sqlite3.OperationalError as error:
            raise StoreError(f"{db}: {error}") from error
        try:
            self._query_rows("PRAGMA journal_mode = WAL")
            self._query_rows("PRAGMA synchronous = NORMAL")
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    def _query_rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return the rows that a statement selects. Raise StoreError if the database cannot be used."""
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._store_error(error) from error

    def _execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement and return the number of changed rows. Raise StoreError."""
        try:
            return self._connection.execute(sql, parameters).rowcount
        except sqlite3.DatabaseError as error:
            raise self._store_error(error) from error

    def _execute_many(self, sql: str, rows: list[Row]) -> None:
        """Run a statement once for each row. Raise StoreError."""
        try:
            self._connection.executemany(sql, rows)
        except sqlite3.DatabaseError as error:
            raise self._store_error(error) from error

    def _begin(self, *, reading: bool) -> None:
        """Begin a transaction. A writer takes the lock of the file and increments the version."""
        if reading:
            self._execute("BEGIN")
        else:
            self._begin_migration()
            self._execute(INCREMENT_VERSION)

    def _begin_migration(self) -> None:
        """Begin a transaction that has the lock of the file."""
        self._execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        self._execute("COMMIT")

    def _rollback(self) -> None:
        """Roll back, if a transaction is running."""
        with suppress(sqlite3.DatabaseError):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _table_names(self) -> set[str]:
        """Return the names of the tables in the file."""
        rows = self._query_rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        return {name for (name,) in rows}

    def _store_error(self, error: sqlite3.DatabaseError) -> Exception:
        """Return a StoreError, or the error itself if a wrong statement, a defect of our own, caused it."""
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError | sqlite3.NotSupportedError):
            return error
        return StoreError(f"{self.name}: {error}")

    def claim(self, name: str) -> bool:
        """Return True, because only one process serves the file."""
        del name
        return True

    def release(self, name: str) -> None:
        pass

    def close(self) -> None:
        with self._lock:
            self._connection.close()
