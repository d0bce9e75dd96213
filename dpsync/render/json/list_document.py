"""The entries of a configuration as the document that `dpsync list` prints."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Unserved
from dpsync.model.plan import Origin
from dpsync.model.snapshot import LiveObject, Match, MatchedBy
from dpsync.render.json.documents import ListDocument, ListedEntry, SyncedWith
from dpsync.render.words.natural_order import natural_address_key


def list_document(
    desired: Desired,
    listed: Collection[Address],
    registry: Registry,
    matches: Mapping[Address, Match],
    unread: Mapping[Address, Unserved],
    platform: str | None,
    live: Mapping[Address, LiveObject] | None = None,
) -> ListDocument:
    """Return the document of the listed entries, in the natural order of their addresses: `gen-2`, `gen-10`.

    `matches`, `unread` and `live` are by the address of an entry; `platform` is where they were read, if
    anywhere.
    """
    entries = []
    for address in sorted(listed, key=natural_address_key):
        item = desired.resources[address]
        match, why = matches.get(address), unread.get(address)
        kind, there = registry.whole[item.kind], (live or {}).get(address)
        entries.append(
            ListedEntry(
                address=str(address),
                kind=kind.noun,
                at=Origin(file=item.span.file, line=item.span.line, column=item.span.column),
                id=match.id if match else None,
                recognised=match.by if match else None,
                detail=_detail(kind, match) if match else "",
                why_not=why.reason if why else None,
                url=there.url if there else None,
                domain=_domain(kind, there) if there else None,
                synced=_synced(there) if there else None,
            )
        )
    return ListDocument(platform=platform, entries=tuple(entries))


def _domain(kind: Kind, live: LiveObject) -> str | None:
    """The host that the platform alone has set for it."""
    hosts = [name for name in (kind.url.hosts if kind.url else ()) if not kind.field(name).declarable]
    found = next((live.fields[name] for name in hosts if live.fields.get(name)), None)
    return found if isinstance(found, str) else None


def _synced(live: LiveObject) -> SyncedWith | None:
    found = live.synced
    return SyncedWith(repository=found.name, installation=found.installation) if found else None


def _detail(kind: Kind, match: Match) -> str:
    """The fields of a natural key, or the address of another entry."""
    if match.by is not MatchedBy.KEY or match.detail or not kind.identity:
        return match.detail
    first = kind.identity[0]
    return first if isinstance(first, str) else " and ".join(first)
