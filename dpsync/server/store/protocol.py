"""What the companion asks of a database.

A record is a JSON document with the few columns that are searched: its kind, id, organization, the `scope`
it lives and dies with (a section's site, a membership's team), its `parent` among ordered siblings, its
`position` there, and `ref`, the other end of a link (a site space's space, a membership's user). `seq` is
the order of creation. No column holds a NUL character: PostgreSQL has none in its texts. In a document it
is a character like any other.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from pydantic_core import from_json, to_json

Json = dict[str, Any]
"""An object of JSON: a document, or a part of one."""


class StoreError(Exception):
    """The database cannot be used; the message says which, why, and what to do."""


class Record:
    """`doc` may be given as its JSON text: it is read when it is first looked at."""

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
        """What makes one like it."""
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


Change = tuple[Record | None, Record | None]
"""What a record was before a write, and what it is after it; None: not there."""

Watcher = Callable[[int, Sequence[Change] | None], None]
"""Is told of every transaction of this store that was committed: the version that the state has by it, and
what it changed, in order; None: everything.
"""


class Store(Protocol):
    """`find`, `listed`, `count` and `last` filter by equality of the columns given.

    Every statement may raise StoreError. One outside of `transaction` and `reading` is a transaction of its
    own. A connection that was lost between two transactions is opened anew without a word.
    """

    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside is committed together, or not at all. There is one at a time, of all processes.

        Inside another it is a part of that, which then fails when its part does, even if it goes on.
        """

    def reading(self) -> AbstractContextManager[None]:
        """Everything inside sees one state, whatever is committed meanwhile. Writing is a RuntimeError."""

    def watch(self, watcher: Watcher) -> None:
        """From now on, with the store's lock held. There is one watcher."""

    def version(self) -> int:
        """Grows with every transaction that is committed, by any process. Within `reading` it is that of the
        state that is read.
        """

    def get(self, kind: str, id: str) -> Record | None: ...

    def find(self, kind: str, **where: str) -> list[Record]:
        """In sibling order: position, then creation."""

    def listed(
        self, kind: str, after: int, limit: int, *, descending: bool = False, **where: str
    ) -> list[Record]:
        """In order of creation: at most `limit` of those made after the one with this `seq`.

        `descending`: the last one first, and those made before it.
        """

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

    def setting(self, name: str) -> str | None:
        """What all processes go by and is no part of the state: `clear` leaves it."""

    def set_setting(self, name: str, value: str | None) -> None: ...

    def claim(self, name: str) -> bool:
        """Whether something is this store's alone to do, from before or from now on.

        It is until `release`, or until its process or its connection dies.
        """

    def release(self, name: str) -> None: ...

    def close(self) -> None: ...
