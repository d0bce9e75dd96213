"""Store records in PostgreSQL: one connection per process, a schema of its own, any number of processes.

Readers use REPEATABLE READ: one snapshot. Writers wait for each other, see the last commit, and raise
StoreError after a timeout. A claim (only one process may do a job) is an advisory lock of the session, so it
is lost with the connection.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

import psycopg
from psycopg import conninfo

from .protocol import StoreError
from .sql_store import INCREMENT_VERSION, Row, SqlStore

T = TypeVar("T")

_DEFAULTS = {
    "application_name": "dpsync",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
_SESSION_SETTINGS = """
SET search_path TO dpsync;
SET lock_timeout TO '10s';
SET statement_timeout TO '30s';
SET idle_in_transaction_session_timeout TO '60s'
"""
"""The last setting keeps a process that hangs in a transaction from blocking all others for good."""

_BEGIN_MIGRATION = "BEGIN; SELECT pg_advisory_xact_lock(1685091193); CREATE SCHEMA IF NOT EXISTS dpsync"
_UNUSABLE_ERRORS = (psycopg.OperationalError, psycopg.InternalError, psycopg.ProgrammingError)


class PostgresStore(SqlStore):
    """A store in a PostgreSQL database, which several processes may share."""

    text_type = 'TEXT COLLATE "C"'

    def __init__(self, url: str) -> None:
        parameters = _parse_url(url)
        super().__init__(_describe_location(parameters))
        self._conninfo = conninfo.make_conninfo(**{**_DEFAULTS, **parameters, "client_encoding": "UTF8"})
        self._claims: set[str] = set()
        self._in_transaction = False
        self._connection = self._connect()
        try:
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    # --- the connection -------------------------------------------------------------------------------

    def _connect(self) -> psycopg.Connection[Row]:
        """Open a connection with the settings of this module.

        Raise StoreError if the encoding is not UTF-8.
        """
        connection = self._translate_errors(lambda: psycopg.connect(self._conninfo, autocommit=True))
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            connection.close()
            raise StoreError(
                f"{self.name}: the encoding is {encoding}: use CREATE DATABASE … ENCODING 'UTF8'"
            )
        self._translate_errors(lambda: connection.execute(_SESSION_SETTINGS))
        return connection

    def _retry_first_statement(self, run: Callable[[], T]) -> T:
        """Run a statement. If the connection was lost before a transaction, reconnect and run it again.

        At that point, the transaction has not changed anything.
        """
        if self._in_transaction:
            return self._translate_errors(run)
        try:
            return run()
        except _UNUSABLE_ERRORS as error:
            if not self._connection.closed:
                raise self._store_error(error) from error
        self._claims.clear()
        self._connection = self._connect()
        return self._translate_errors(run)

    def _translate_errors(self, run: Callable[[], T]) -> T:
        """Run a statement. An error of the database becomes a StoreError."""
        try:
            return run()
        except _UNUSABLE_ERRORS as error:
            raise self._store_error(error) from error

    def _store_error(self, error: psycopg.Error) -> StoreError:
        """Return an error of the database as a StoreError with the name of the database."""
        return StoreError(f"{self.name}: {' '.join(str(error).split()) or type(error).__name__}")

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    # --- statements -----------------------------------------------------------------------------------

    def _query_rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return the rows that a statement selects."""
        query = _query(sql)
        return self._retry_first_statement(
            lambda: self._connection.execute(query, parameters, prepare=True).fetchall()
        )

    def _execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement and return the number of changed rows."""
        query = _query(sql)
        return self._retry_first_statement(lambda: self._connection.execute(query, parameters).rowcount)

    def _execute_many(self, sql: str, rows: list[Row]) -> None:
        """Run a statement once for each row."""
        query = _query(sql)

        def run() -> None:
            with self._connection.cursor() as cursor:
                cursor.executemany(query, rows)

        self._retry_first_statement(run)

    def _begin(self, *, reading: bool) -> None:
        """Begin a transaction: a snapshot for reading, or a writer that waits for the other writers."""
        self._begin_transaction(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if reading else f"BEGIN; {INCREMENT_VERSION}"
        )

    def _begin_migration(self) -> None:
        """Begin a transaction under a lock, so that only one process migrates."""
        self._begin_transaction(_BEGIN_MIGRATION)

    def _begin_transaction(self, sql: str) -> None:
        """Begin a transaction, connecting again if the connection was lost."""
        self._retry_first_statement(lambda: self._connection.execute(sql.encode()))
        self._in_transaction = True

    def _commit(self) -> None:
        """Commit. PostgreSQL answers ROLLBACK if a statement has failed, even if its error was ignored.

        Raise StoreError then.
        """
        status = self._translate_errors(lambda: self._connection.execute("COMMIT").statusmessage)
        self._in_transaction = False
        if status != "COMMIT":
            raise StoreError(f"{self.name}: the transaction was aborted")

    def _rollback(self) -> None:
        """Roll back. If the connection is lost, the database has rolled back already."""
        self._in_transaction = False
        with suppress(psycopg.Error):
            self._connection.execute("ROLLBACK")

    def _table_names(self) -> set[str]:
        """Return the names of the tables in the schema of dpsync."""
        rows = self._query_rows("SELECT tablename FROM pg_tables WHERE schemaname = 'dpsync'")
        return {name for (name,) in rows}

    # --- claims ---------------------------------------------------------------------------------------

    def claim(self, name: str) -> bool:
        """Claim a name with an advisory lock of the session."""
        with self._lock:
            if not self._in_transaction:
                self._query_rows("SELECT 1")  # notice a lost connection, with which the claims were lost
            if name in self._claims:
                return True
            rows = self._query_rows("SELECT pg_try_advisory_lock(hashtextextended(?, 0))", (name,))
            if rows[0][0]:
                self._claims.add(name)
            return bool(rows[0][0])

    def release(self, name: str) -> None:
        """Release a claimed name."""
        with self._lock:
            if name in self._claims:
                self._claims.remove(name)
                self._query_rows("SELECT pg_advisory_unlock(hashtextextended(?, 0))", (name,))


@cache
def _query(sql: str) -> bytes:
    """Return a statement with the parameters as psycopg writes them."""
    return sql.replace("?", "%s").encode()


def _parse_url(url: str) -> dict[str, Any]:
    """Parse a PostgreSQL URL. Raise StoreError without psycopg's message, which may contain a password."""
    malformed = StoreError(
        "not a PostgreSQL URL. Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE with percent-encoded "
        "special characters"
    )
    try:
        parameters: dict[str, Any] = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise malformed from None
    if "@" in parameters.get("dbname", ""):  # the password contains a slash
        raise malformed
    return parameters


def _describe_location(parameters: dict[str, Any]) -> str:
    """Return the URL of the database without the user and the password."""
    port = f":{parameters['port']}" if "port" in parameters else ""
    return f"postgresql://{parameters.get('host', '')}{port}/{parameters.get('dbname', '')}"
