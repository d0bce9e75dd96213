"""What lives and dies with a space: its revisions, change requests and comments.

They stay while it can be restored, go along when it moves to another organization, and are erased with it.
The roles on it and the invites to it stay and are erased, too, but go nowhere.
"""

from datetime import datetime

from ..access import GRANT
from ..clock import moment
from ..context import CHANGE_REQUEST, RETENTION, Context
from ..grants import invites_to
from ..store import Record, Store
from .revisions import KIND as REVISION

_KINDS = (REVISION, CHANGE_REQUEST, "comment", "comment-reply")
_AT_ONCE = 20


def belongings(store: Store, space: str) -> list[Record]:
    return [record for kind in _KINDS for record in store.find(kind, scope=space)]


def leads(store: Store, space: Record) -> list[Record]:
    """What lets people into the space."""
    grants = store.find(GRANT, scope=space.id, parent="space")
    return [*grants, *invites_to(store, space)]


def erase(store: Store, space: Record) -> None:
    for record in (*belongings(store, space.id), *leads(store, space), space):
        store.remove(record.kind, record.id)


def erase_expired(store: Store, now: datetime) -> None:
    """The spaces that cannot be restored any more."""
    _erase_expired(store, store.find("deleted-space"), now)


def erase_some_expired(store: Store, now: datetime, organization: str) -> None:
    """A few of an organization, in passing: no write has to do with all that was deleted."""
    _erase_expired(store, store.listed("deleted-space", 0, _AT_ONCE, organization=organization), now)


def _erase_expired(store: Store, spaces: list[Record], now: datetime) -> None:
    for space in spaces:
        if now - moment(space.doc["deletedAt"]) > RETENTION:
            erase(store, space)


def hand_over(ctx: Context, space: Record) -> None:
    """What belongs to the space belongs to the organization that it belongs to."""
    for record in belongings(ctx.store, space.id):
        record.organization = space.organization
        ctx.put(record)
