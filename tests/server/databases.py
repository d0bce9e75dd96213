"""The databases that the companion's state can be in, as tests open them, look into them and break them."""

import sqlite3
from dataclasses import dataclass
from typing import Any

import psycopg

from dpsync.server.store import Store, is_shared, open_store


@dataclass(frozen=True)
class Database:
    """`where` is what `--db` takes."""

    where: str

    @property
    def shared(self) -> bool:
        return is_shared(self.where)

    def open(self) -> Store:
        return open_store(self.where)

    def run(self, sql: str) -> list[Any]:
        """Behind the companion's back. Rows, when there are some."""
        if self.shared:
            with psycopg.connect(self.where, options="-c search_path=dpsync,public") as connection:
                cursor = connection.execute(sql.encode())
                return cursor.fetchall() if cursor.description else []
        connection = sqlite3.connect(self.where)
        try:
            with connection:
                return connection.execute(sql).fetchall()
        finally:
            connection.close()
