"""Spaces that were deleted too long ago to be restored are erased, with everything that they kept."""

from ..clock import moment
from ..request.context import RETENTION, Context
from ..store import Record

_AT_ONCE = 20


def erase_expired(ctx: Context) -> None:
    """The spaces that cannot be restored any more."""
    _erase_expired(ctx, ctx.store.find("deleted-space"))


def erase_some_expired(ctx: Context, organization: str) -> None:
    """A few of an organization, in passing: no write has to do with all that was deleted."""
    _erase_expired(ctx, ctx.store.listed("deleted-space", 0, _AT_ONCE, organization=organization))


def _erase_expired(ctx: Context, spaces: list[Record]) -> None:
    for space in spaces:
        if ctx.now - moment(space.doc["deletedAt"]) > RETENTION:
            ctx.remove(space)
