"""List the entries of a configuration with their live objects.

`list_entries` reads GitBook, `list_files` uses only the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Unsupported
from dpsync.model.ids import IdsFile
from dpsync.model.snapshot import LiveObject, Match, MatchedBy

if TYPE_CHECKING:
    from dpsync.client.client import ReadClient
    from dpsync.workflows.session import Session


class EntryList(Struct, frozen=True):
    """The entries of a configuration, with the live object of each entry."""

    desired: Desired
    registry: Registry
    matches: Mapping[Address, Match]
    """The matched object by address. Other entries have no object, or their object is unknown."""
    unreadable: Mapping[Address, Unsupported]
    """Entries that this platform cannot serve, or that this token may not read."""
    platform: str | None = None
    """The platform that was read; None if only the files were read."""
    live: Mapping[Address, LiveObject] = field(default_factory=dict)
    """The objects that were read, by address."""


def list_entries(session: Session, client: ReadClient) -> EntryList:
    """Return the entries of a configuration, matched with live objects. The client sends only GET requests.

    Raises ClientError if reading failed, and DiagnosticError if the configuration does not fit the live
    objects.
    """
    snapshot = session.reading(client).snapshot(session.readable)
    unread = {**session.readable.unsupported, **snapshot.not_readable}
    live = {
        address: live_object
        for address, entry in session.desired.entries.items()
        if (id := snapshot.live_id(address)) is not None
        if (live_object := snapshot.objects.get((entry.kind, id))) is not None
    }
    return EntryList(session.desired, session.registry, snapshot.matches, unread, client.platform, live)


def list_files(desired: Desired, registry: Registry, ids: IdsFile, platform: str | None) -> EntryList:
    """Return the entries with the ids in the files: pins, and lines of the ids file for this platform.

    Without a platform, the lines count only if the ids file has a single platform.
    """
    platforms = [platform] if platform is not None else [*ids.sections]
    lines_by_organization = ids.sections.get(platforms[0], {}) if len(platforms) == 1 else {}
    matches = {
        address: Match(line.id, MatchedBy.IDS_LINE)
        for lines in lines_by_organization.values()
        for address, line in lines.items()
        if address in desired.entries
    }
    matches |= {
        address: Match(entry.pin, MatchedBy.PIN) for address, entry in desired.entries.items() if entry.pin
    }
    return EntryList(desired, registry, matches, {})
