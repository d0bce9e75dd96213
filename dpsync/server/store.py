"""State: documents in a table, behind a protocol of a dozen statements.

A record is a JSON document with the few columns that are searched: its kind, id, organization, the `scope`
it lives and dies with (a section's site, a membership's team), its `parent` among ordered siblings, its
`position` there, and `ref`, the other end of a link (a site space's space, a membership's user). `seq` is
the order of creation.

SQLite: one connection, WAL, synchronous=NORMAL. A commit survives the death of the process; a request
writes in one transaction, all or nothing.
"""

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic_core import from_json, to_json

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS documents (
  kind TEXT NOT NULL, id TEXT NOT NULL, organization TEXT NOT NULL, scope TEXT NOT NULL,
  parent TEXT NOT NULL, position INTEGER NOT NULL, ref TEXT NOT NULL, seq INTEGER NOT NULL, doc TEXT NOT NULL,
  PRIMARY KEY (kind, id));
CREATE INDEX IF NOT EXISTS documents_organization ON documents (kind, organization, parent, position);
CREATE INDEX IF NOT EXISTS documents_created ON documents (kind, organization, seq);
CREATE INDEX IF NOT EXISTS documents_scope ON documents (kind, scope);
CREATE INDEX IF NOT EXISTS documents_ref ON documents (kind, ref);
"""
_COLUMNS = "kind, id, organization, scope, parent, position, ref, seq, doc"
_PUT = " ".join(("INSERT OR REPLACE INTO documents (", _COLUMNS, ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"))
_SELECT = " ".join(("SELECT", _COLUMNS, "FROM documents"))
_NEXT = (
    "INSERT INTO counters VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value"
)


class StoreError(Exception):
    """The database cannot be used; the message says why."""


@dataclass(slots=True)
class Record:
    kind: str
    id: str
    doc: dict[str, Any]
    organization: str = ""
    scope: str = ""
    parent: str = ""
    position: int = 0
    ref: str = ""
    seq: int = field(default=0)


class Store(Protocol):
    """What the companion asks of a database. `find` and `count` filter by equality of the columns given."""

    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside is committed together, or not at all. Not reentrant."""

    def get(self, kind: str, id: str) -> Record | None: ...

    def find(self, kind: str, **where: str) -> list[Record]:
        """In sibling order: position, then creation."""

    def listed(self, kind: str, after: int, limit: int, **where: str) -> list[Record]:
        """In order of creation: at most `limit` of those made after the one with this `seq`."""

    def count(self, kind: str, **where: str) -> int: ...

    def last(self, kind: str, **where: str) -> int:
        """The highest position, 0 when there is none."""

    def put(self, record: Record) -> None:
        """Inserts or replaces; a record without `seq` gets the next one."""

    def put_all(self, records: Iterable[Record]) -> None:
        """The same for many that already have their `seq`."""

    def remove(self, kind: str, id: str) -> bool: ...

    def next(self, counter: str) -> int:
        """The next number of a counter that is part of the state: 1, 2, 3…"""

    def set_counters(self, values: dict[str, int]) -> None: ...

    def clear(self) -> None:
        """Forgets every document and counter."""

    def every(self) -> list[Record]:
        """All documents in order of creation."""

    def close(self) -> None: ...


class SqliteStore:
    """The protocol over one `sqlite3` connection, shared between threads under a lock."""

    def __init__(self, db: str) -> None:
        self._lock = threading.RLock()
        try:
            self._connection = sqlite3.connect(db, isolation_level=None, check_same_thread=False, timeout=10)
        except sqlite3.OperationalError as error:
            raise StoreError(f"{db}: {error}") from error
        try:
            self._prepare(db)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise StoreError(f"{db}: {error}") from error
        except StoreError:
            self._connection.close()
            raise

    def _prepare(self, db: str) -> None:
        run = self._connection.execute
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        known = run("SELECT count(*) FROM sqlite_master WHERE name = 'meta'").fetchone()[0]
        row = run("SELECT value FROM meta WHERE key = 'schema'").fetchone() if known else None
        if row and row[0] > SCHEMA_VERSION:
            raise StoreError(
                f"{db}: written by a newer dpsync (schema {row[0]}; this one knows {SCHEMA_VERSION}): "
                "use that version, or another database file"
            )
        if row is None:
            self._connection.executescript(_SCHEMA)
            run("INSERT INTO meta VALUES ('schema', ?)", (SCHEMA_VERSION,))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def get(self, kind: str, id: str) -> Record | None:
        sql = " ".join((_SELECT, "WHERE kind = ? AND id = ?"))
        with self._lock:
            row = self._connection.execute(sql, (kind, id)).fetchone()
        return _record(row) if row else None

    def find(self, kind: str, **where: str) -> list[Record]:
        sql = " ".join((_SELECT, "WHERE", _condition(where), "ORDER BY position, seq"))
        with self._lock:
            rows = self._connection.execute(sql, (kind, *where.values())).fetchall()
        return [_record(row) for row in rows]

    def listed(self, kind: str, after: int, limit: int, **where: str) -> list[Record]:
        sql = " ".join((_SELECT, "WHERE", _condition(where), "AND seq > ? ORDER BY seq LIMIT ?"))
        with self._lock:
            rows = self._connection.execute(sql, (kind, *where.values(), after, limit)).fetchall()
        return [_record(row) for row in rows]

    def last(self, kind: str, **where: str) -> int:
        sql = " ".join(("SELECT coalesce(max(position), 0) FROM documents WHERE", _condition(where)))
        with self._lock:
            return int(self._connection.execute(sql, (kind, *where.values())).fetchone()[0])

    def count(self, kind: str, **where: str) -> int:
        sql = " ".join(("SELECT count(*) FROM documents WHERE", _condition(where)))
        with self._lock:
            return int(self._connection.execute(sql, (kind, *where.values())).fetchone()[0])

    def put(self, record: Record) -> None:
        if not record.seq:
            record.seq = self.next("seq")
        with self._lock:
            self._connection.execute(_PUT, _row(record))

    def put_all(self, records: Iterable[Record]) -> None:
        with self._lock:
            self._connection.executemany(_PUT, [_row(record) for record in records])

    def remove(self, kind: str, id: str) -> bool:
        with self._lock:
            cursor = self._connection.execute("DELETE FROM documents WHERE kind = ? AND id = ?", (kind, id))
            return cursor.rowcount > 0

    def next(self, counter: str) -> int:
        with self._lock:
            return int(self._connection.execute(_NEXT, (counter,)).fetchone()[0])

    def set_counters(self, values: dict[str, int]) -> None:
        with self._lock:
            self._connection.executemany(
                "INSERT OR REPLACE INTO counters VALUES (?, ?)", list(values.items())
            )

    def clear(self) -> None:
        with self._lock:
            self._connection.execute("DELETE FROM documents")
            self._connection.execute("DELETE FROM counters")

    def every(self) -> list[Record]:
        with self._lock:
            rows = self._connection.execute(" ".join((_SELECT, "ORDER BY seq, kind, id"))).fetchall()
        return [_record(row) for row in rows]

    def close(self) -> None:
        with self._lock:
            self._connection.close()


_SEARCHED = frozenset({"organization", "scope", "parent", "ref"})


def _condition(where: dict[str, str]) -> str:
    if not where.keys() <= _SEARCHED:
        raise ValueError(f"not a searched column: {sorted(where.keys() - _SEARCHED)}")
    return " AND ".join(["kind = ?", *(f"{column} = ?" for column in where)])


def _record(row: tuple[Any, ...]) -> Record:
    kind, id, organization, scope, parent, position, ref, seq, doc = row
    return Record(kind, id, from_json(doc), organization, scope, parent, position, ref, seq)


def _row(record: Record) -> tuple[Any, ...]:
    text = to_json(record.doc).decode()
    return (
        record.kind, record.id, record.organization, record.scope, record.parent,
        record.position, record.ref, record.seq, text,
    )  # fmt: skip


def open_store(db: str) -> Store:
    """A store on a file (made when absent) or `:memory:`.

    Raises StoreError when the file is no database, or one written by a newer version.
    """
    return SqliteStore(db)
