"""Erase spaces that were deleted too long ago to be restored, with everything that they contain."""

from ..clock import parse_timestamp
from ..request.context import RETENTION, Context
from ..store import Record

_BATCH_SIZE = 20


def erase_expired(ctx: Context) -> None:
    """Erase all spaces that cannot be restored any more."""
    _erase_expired(ctx, ctx.store.find("deleted-space"))


def erase_some_expired(ctx: Context, organization: str) -> None:
    """Erase some spaces of an organization that were deleted too long ago to be restored.

    Their number is limited, so that no write has to erase many spaces.
    """
    _erase_expired(
        ctx, ctx.store.find_by_creation("deleted-space", 0, _BATCH_SIZE, organization=organization)
    )


def _erase_expired(ctx: Context, spaces: list[Record]) -> None:
    """Erase the spaces that were deleted longer ago than they can be restored."""
    for space in spaces:
        if ctx.now - parse_timestamp(space.doc["deletedAt"]) > RETENTION:
            ctx.remove(space)
