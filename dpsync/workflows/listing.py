"""List entries, and objects without an entry.

Live things that no entry is, and entries that are perhaps one of them under another name.

Every entry with the live object that it is: from a reading of the platform, or from the files alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Unserved
from dpsync.model.ids import IdsFile, RecordedLine
from dpsync.model.snapshot import LiveObject, Match, MatchedBy

if TYPE_CHECKING:
    from dpsync.client.client import ReadClient
    from dpsync.workflows.session import Session


class EntryList(Struct, frozen=True):
    """The entries of a configuration, and which live object each of them is."""

    desired: Desired
    registry: Registry
    matches: Mapping[Address, Match]
    """By address; an entry without one is not live, or nobody knows."""
    unread: Mapping[Address, Unserved]
    """Entries that this platform cannot serve, or that this token may not read."""
    platform: str | None = None
    """Where it was read; None for the files alone."""
    live: Mapping[Address, LiveObject] = field(default_factory=dict)
    """By address the objects that were read."""


def list_entries(session: Session, client: ReadClient) -> EntryList:
    """The entries, recognised on the platform. It sends nothing but GET.

    Raises ClientError when reading failed, DiagnosticError when the configuration does not fit what is live.
    """
    snapshot = session.reading(client).snapshot(session.readable)
    unread = {**session.readable.unserved, **snapshot.unread}
    live = {
        address: found
        for address, item in session.desired.resources.items()
        if (id := snapshot.bound(address)) is not None
        if (found := snapshot.objects.get((item.kind, id))) is not None
    }
    return EntryList(session.desired, session.registry, snapshot.matches, unread, client.platform, live)


def list_files(desired: Desired, registry: Registry, ids: IdsFile, platform: str | None) -> EntryList:
    """The entries with the ids that the files have: pins, and lines of the ids file of this platform.

    Without a platform the lines count where the file knows only one.
    """
    known = ids.sections
    names = [platform] if platform is not None else [*known]
    mine = known.get(names[0], {}) if len(names) == 1 else {}
    matches = {at: Match(line.id, MatchedBy.LINE) for at, line in _lines(desired, mine)}
    matches |= {at: Match(item.pin, MatchedBy.PIN) for at, item in desired.resources.items() if item.pin}
    return EntryList(desired, registry, matches, {})


def _lines(
    desired: Desired, sections: Mapping[str, Mapping[Address, RecordedLine]]
) -> Iterable[tuple[Address, RecordedLine]]:
    """The lines of entries, by the addresses that the entries have now."""
    for lines in sections.values():
        for address, line in lines.items():
            if address in desired.resources:
                yield address, line
