"""Keep records in a database: JSON documents in a table, in SQLite or PostgreSQL.

Input: records. The package does not know what a record means.
Output: records by kind, id and column, in transactions. `open_store` chooses the database.
"""

from .protocol import Json, Record, RecordChange, Store, StoreError
from .sql_store import SCHEMA_VERSION

__all__ = [
    "SCHEMA_VERSION",
    "Json",
    "Record",
    "RecordChange",
    "Store",
    "StoreError",
    "is_shared",
    "open_store",
]


def open_store(db: str) -> Store:
    """Return a store in PostgreSQL (`postgresql://…`), in a new or existing SQLite file, or in `:memory:`.

    Raise StoreError if the database cannot be used, also if it belongs to another program or to a newer
    version.
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
    """Return whether several processes may serve this database."""
    return db.startswith(("postgresql://", "postgres://"))
