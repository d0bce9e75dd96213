"""Define what a database of the local server must offer (`Store`), and what it stores (`Record`).

A record is a JSON document with searchable columns: kind, id, organization, `scope` (the record with which it
is deleted: a section's site, a membership's team), `parent` among ordered siblings, `position` there, and
`ref`, the target of a link (a site space's space, a membership's user). `seq` is the order of creation.
No column contains a NUL character, because PostgreSQL does not support it in texts; a document may.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from pydantic_core import from_json, to_json

Json = dict[str, Any]
"""A JSON object: a document, or a part of one."""


class StoreError(Exception):
    """The database cannot be used. The message says which database, why, and what to do."""


class Record:
    """A record. `doc` may be a JSON text, which is parsed on first use."""

    __slots__ = ("_doc", "id", "kind", "organization", "parent", "position", "ref", "scope", "seq")

    def __init__(
        self,
        kind: str,
        id: str,
        doc: dict[str, Any] | str,
        organization: str = "",
        scope: str = "",
        parent: str = "",
        position: int = 0,
        ref: str = "",
        seq: int = 0,
    ) -> None:
        self.kind, self.id = kind, id
        self._doc: dict[str, Any] | str = doc
        self.organization, self.scope, self.parent = organization, scope, parent
        self.position, self.ref, self.seq = position, ref, seq

    @property
    def doc(self) -> dict[str, Any]:
        if isinstance(self._doc, str):
            self._doc = dict[str, Any](from_json(self._doc))
        return self._doc

    @doc.setter
    def doc(self, doc: dict[str, Any]) -> None:
        self._doc = doc

    @property
    def text(self) -> str:
        """The document as JSON."""
        return self._doc if isinstance(self._doc, str) else to_json(self._doc).decode()

    def as_dict(self) -> dict[str, Any]:
        """Return the constructor arguments."""
        return {
            "kind": self.kind,
            "id": self.id,
            "doc": self.doc,
            "organization": self.organization,
            "scope": self.scope,
            "parent": self.parent,
            "position": self.position,
            "ref": self.ref,
            "seq": self.seq,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Record({self.as_dict()})"


RecordChange = tuple[Record | None, Record | None]
"""A record before and after a write, or None if it did not exist."""

ChangeListener = Callable[[int, Sequence[RecordChange] | None], None]
"""Called after each committed transaction with the new version of the state and the changes in order, or
None if everything may have changed.
"""


class Store(Protocol):
    """A database of records. `find`, `find_by_creation`, `count` and `last_position` filter by columns.

    Every statement may raise StoreError. A statement outside of `transaction` and `read_transaction` is a
    transaction of its own. A connection that was lost between two transactions is opened again silently.
    """

    def transaction(self) -> AbstractContextManager[None]:
        """Commit all writes inside together, or none. Only one transaction of all processes runs at a time.

        A nested transaction is a part of the outer one. If the part fails, the outer transaction fails, too,
        even if its code continues.
        """

    def read_transaction(self) -> AbstractContextManager[None]:
        """Read one consistent state, whatever is committed meanwhile. A write raises RuntimeError."""

    def set_listener(self, watcher: ChangeListener) -> None:
        """Call the watcher after each transaction, with the store's lock held. There is one watcher."""

    def version(self) -> int:
        """Return a number that grows with every committed transaction of any process.

        Within `read_transaction`, this is the version of the state that is read.
        """

    def get(self, kind: str, id: str) -> Record | None: ...

    def find(self, kind: str, **where: str) -> list[Record]:
        """Return the matching records ordered by position, then by creation."""

    def find_by_creation(
        self, kind: str, after: int, limit: int, *, descending: bool = False, **where: str
    ) -> list[Record]:
        """Return at most `limit` records whose `seq` is greater than `after`, in order of creation.

        With `descending`, return records whose `seq` is smaller, the newest first.
        """

    def count(self, kind: str, **where: str) -> int: ...

    def last_position(self, kind: str, **where: str) -> int:
        """Return the highest position, or 0 if there is no record."""

    def put(self, record: Record) -> None:
        """Insert or replace a record. A record without `seq` gets the next number."""

    def put_all(self, records: Iterable[Record]) -> None:
        """Insert or replace many records that already have their `seq`."""

    def remove(self, kind: str, id: str) -> bool: ...

    def next_number(self, counter: str) -> int:
        """Return the next number of a counter (1, 2, 3 and so on). Counters are part of the state."""

    def set_counters(self, values: dict[str, int]) -> None: ...

    def clear(self) -> None:
        """Delete every document and counter."""

    def all_records(self) -> list[Record]:
        """Return all documents in order of creation."""

    def setting(self, name: str) -> str | None:
        """Return a setting. All processes share it; it is not part of the state, so `clear` keeps it."""

    def set_setting(self, name: str, value: str | None) -> None: ...

    def claim(self, name: str) -> bool:
        """Claim a name exclusively for this store, and return whether the store has the claim.

        The claim lasts until `release`, or until the process or its connection dies.
        """

    def release(self, name: str) -> None: ...

    def close(self) -> None: ...
