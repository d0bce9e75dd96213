"""Keep records in a database: JSON documents in a table, in SQLite or PostgreSQL.

Input: records. The package does not know what a record means.
Output: records by kind, id and column, in transactions. `open_store` chooses the database.
"""

from .protocol import Change, Json, Record, Store, StoreError
from .statements import SCHEMA_VERSION

__all__ = ["SCHEMA_VERSION", "Change", "Json", "Record", "Store", "StoreError", "is_shared", "open_store"]


def open_store(db: str) -> Store:
    """A store on `postgresql://…`, on a file of SQLite (made when absent), or `:memory:`.

    Raises StoreError when the database cannot be reached or used: also one that is not the companion's, or
    that a newer version has written.
    """
    if is_shared(db):
        try:
            from .postgres import PostgresStore
        except ImportError as missing:
            raise StoreError(
                f"PostgreSQL needs psycopg, but {missing}: pip install 'dpsync[postgres]'"
            ) from None
        return PostgresStore(db)
    from .sqlite import SqliteStore

    return SqliteStore(db)


def is_shared(db: str) -> bool:
    """Whether several processes may serve this database."""
    return db.startswith(("postgresql://", "postgres://"))
