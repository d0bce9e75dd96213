"""Erase spaces that were deleted too long ago to be restored, with everything that they contain."""

from ..clock import moment
from ..request.context import RETENTION, Context
from ..store import Record

_AT_ONCE = 20


def erase_expired(ctx: Context) -> None:
    """Erase all spaces that cannot be restored any more."""
    _erase_expired(ctx, ctx.store.find("deleted-space"))


def erase_some_expired(ctx: Context, organization: str) -> None:
    """Erase some expired spaces of an organization.

    Their number is limited, so that no write has to erase many spaces.
    """
    _erase_expired(ctx, ctx.store.listed("deleted-space", 0, _AT_ONCE, organization=organization))


def _erase_expired(ctx: Context, spaces: list[Record]) -> None:
    for space in spaces:
        if ctx.now - moment(space.doc["deletedAt"]) > RETENTION:
            ctx.remove(space)
