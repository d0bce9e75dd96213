"""SQLite: one connection, WAL, synchronous=NORMAL. A commit survives the death of the process.

One process serves a file. A second process may open it without corrupting data, but both would run the same
jobs.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from .protocol import StoreError
from .statements import COUNT_VERSION, Row, Statements

SECONDS_TO_WAIT = 10
"""For a writer of another process."""


class SqliteStore(Statements):
    text_type = "TEXT"

    def __init__(self, db: str) -> None:
        super().__init__(db)
        try:
            self._connection = sqlite3.connect(
                db, isolation_level=None, check_same_thread=False, timeout=SECONDS_TO_WAIT
            )
        except sqlite3.OperationalError as error:
            raise StoreError(f"{db}: {error}") from error
        try:
            self._rows("PRAGMA journal_mode = WAL")
            self._rows("PRAGMA synchronous = NORMAL")
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    def _rows(self, sql: str, given: Sequence[Any] = ()) -> list[Row]:
        try:
            return self._connection.execute(sql, given).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from error

    def _changed(self, sql: str, given: Sequence[Any] = ()) -> int:
        try:
            return self._connection.execute(sql, given).rowcount
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from error

    def _many(self, sql: str, given: list[Row]) -> None:
        try:
            self._connection.executemany(sql, given)
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from error

    def _begin(self, *, reading: bool) -> None:
        if reading:
            self._changed("BEGIN")
        else:
            self._begin_alone()
            self._changed(COUNT_VERSION)

    def _begin_alone(self) -> None:
        self._changed("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        self._changed("COMMIT")

    def _rollback(self) -> None:
        with suppress(sqlite3.DatabaseError):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _tables(self) -> set[str]:
        rows = self._rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        return {name for (name,) in rows}

    def _unusable(self, error: sqlite3.DatabaseError) -> Exception:
        """Return a StoreError, or the error itself if a wrong statement, a defect of our own, caused it."""
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError | sqlite3.NotSupportedError):
            return error
        return StoreError(f"{self.named}: {error}")

    def claim(self, name: str) -> bool:
        return True

    def release(self, name: str) -> None:
        pass

    def close(self) -> None:
        with self._lock:
            self._connection.close()
