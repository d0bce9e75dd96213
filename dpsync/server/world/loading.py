"""A world in the making: records, ids for those that name none, and times of creation."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ..clock import stamp
from ..store import Record, Store

Json = dict[str, Any]

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_PREFIX = {
    "section-group": "group",
    "section": "sect",
    "site-space": "place",
    "external-link": "link",
    "share-link": "share",
    "glossary-entry": "term",
    "collection": "col",
    "organization": "org",
    "saml-provider": "saml",
    "link-invite": "invite",
    "openapi-spec": "spec",
    "comment-reply": "reply",
    "conversation-issue": "issue",
    "issues-cluster": "cluster",
}


class Loading:
    def __init__(self, now: datetime) -> None:
        self.now = now
        self.records: list[Record] = []
        self.counters: dict[str, int] = {}
        self.taken: set[tuple[str, str]] = set()
        self.titles: dict[str, str] = {}
        """Of the spaces, deleted ones left out."""
        self._last: dict[tuple[str, str], int] = {}

    def add(self, record: Record) -> Record:
        if (record.kind, record.id) in self.taken:
            raise ValueError(f"two of kind {record.kind} with the id {record.id!r}")
        self.taken.add((record.kind, record.id))
        record.seq = len(self.records) + 1
        self.records.append(record)
        return record

    def id(self, kind: str, given: Json) -> str:
        if given.get("id"):
            return str(given["id"])
        return self.next(kind, _PREFIX.get(kind, kind))

    def next(self, kind: str, prefix: str) -> str:
        self.counters[kind] = self.counters.get(kind, 0) + 1
        return f"{prefix}-{self.counters[kind]}"

    def free(self, kind: str, prefix: str) -> str:
        """An id that none of those loaded so far has."""
        while (id := self.next(kind, prefix)) and (kind, id) in self.taken:
            pass
        return id

    def then(self) -> str:
        """A time of creation: a minute later for each record."""
        return stamp(_EPOCH + timedelta(minutes=len(self.records)))

    def following(self, organization: str, parent: str) -> int:
        """The next position among siblings, counted whether it is taken or not."""
        key = (organization, parent)
        self._last[key] = self._last.get(key, 0) + 1
        return self._last[key]

    def replace(self, given: Record) -> None:
        """In place of the one of that id, whose place in orders it takes, or as one more."""
        for index, record in enumerate(self.records):
            if (record.kind, record.id) == (given.kind, given.id):
                given.seq, given.position = record.seq, record.position
                self.records[index] = given
                return
        self.add(given)


@dataclass(frozen=True)
class Part:
    """What stands under one key of an organization.

    `load` takes the organization's id and the value; `dump` the same id and gives the value.
    """

    key: str
    load: Callable[[Loading, str, Any], None]
    dump: Callable[[Store, str], Any]


def but(given: Json, *left_out: str) -> Json:
    return {key: value for key, value in given.items() if key not in left_out}


def created(store: Store, *kinds: str, **where: str) -> list[Record]:
    """Records of these kinds in order of creation."""
    found = [record for kind in kinds for record in store.find(kind, **where)]
    return sorted(found, key=lambda record: record.seq)
