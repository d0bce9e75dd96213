"""Pages of a list: `{items, count, next?}`.

The cursor contains the sort key of the last item of the page. If items are created, deleted or moved (even
that item), no other item is repeated or skipped, because a move changes only the key of the moved item
(`records.order`). In lists without a sort key, the cursor contains the position and the id of the last item;
the id takes precedence while the item exists.
"""

import base64
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from ..errors import bad
from ..store import Json, Record
from .context import Context

T = TypeVar("T")
Key = list[Any]
LAST = 2**63 - 1
"""Of the numbers that records have by creation."""


def page(
    items: Sequence[T],
    *,
    limit: int,
    cursor: str | None,
    key: Callable[[T], Key],
    anchor: Callable[[T], str] | None = None,
    descending: bool = False,
) -> tuple[list[T], dict[str, Any]]:
    """Return the items of one page and its envelope: `count`, and `next` unless it is the last page.

    `items` is the whole filtered list, sorted by `key` (in reverse order if `descending`).
    """
    start = _start(items, cursor, key, anchor, descending) if cursor is not None else 0
    chosen = list(items[start : start + limit])
    envelope: dict[str, Any] = {"count": len(items)}
    if chosen and start + limit < len(items):
        last = chosen[-1]
        envelope["next"] = {"page": _encode(key(last), anchor(last) if anchor else "")}
    return chosen, envelope


def _by_creation(record: Record) -> Key:
    return [record.seq]


def list_page(
    ctx: Context,
    items: Sequence[T],
    answer: Callable[[T], Any],
    key: Callable[[Any], Key] = _by_creation,
    anchor: Callable[[T], str] | None = None,
    *,
    descending: bool = False,
) -> Json:
    """Return the requested page of a complete, sorted list. By default, records are in order of creation."""
    limit, cursor = ctx.query.limit, ctx.query.page
    chosen, envelope = page(items, limit=limit, cursor=cursor, key=key, anchor=anchor, descending=descending)
    return {**envelope, "items": [answer(item) for item in chosen]}


def numbered_page(
    ctx: Context,
    items: Iterable[T],
    answer: Callable[[T], Any],
    anchor: Callable[[T], str] | None = None,
) -> Json:
    """Return the requested page of items that have no sort key except their positions."""
    return list_page(
        ctx,
        list(enumerate(items)),
        lambda numbered: answer(numbered[1]),
        lambda numbered: [numbered[0]],
        (lambda numbered: anchor(numbered[1])) if anchor else None,
    )


def created_page(ctx: Context, kind: str, answer: Callable[[Record], Any], **where: str) -> Json:
    """Return the requested page of all records of a kind in order of creation, reading only that page."""
    limit = ctx.query.limit
    found = ctx.store.listed(kind, _after(ctx.query.page), limit + 1, descending=False, **where)
    return _created(found, limit, ctx.count(kind, **where), answer)


def chosen_page(
    ctx: Context,
    kind: str,
    answer: Callable[[Record], Any],
    *,
    only: Callable[[Record], bool],
    count: int,
    descending: bool = False,
    **where: str,
) -> Json:
    """Return the requested page of the records that `only` accepts, reading little more than the page.

    `count` is the total number of these records. If all of them fit on the first page, reading stops early.
    """
    limit, cursor = ctx.query.limit, ctx.query.page
    first = LAST if descending and cursor is None else _after(cursor)
    after, size, found = first, limit + 1, list[Record]()
    while len(found) <= limit and not (cursor is None and len(found) == count):
        read = ctx.store.listed(kind, after, size, descending=descending, **where)
        found += [record for record in read if only(record)]
        if len(read) < size:
            break
        after, size = read[-1].seq, 2 * size
    return _created(found, limit, count, answer)


def _created(found: list[Record], limit: int, count: int, answer: Callable[[Record], Any]) -> Json:
    chosen = found[:limit]
    made: Json = {"count": count, "items": [answer(record) for record in chosen]}
    if chosen and len(found) > limit:
        made["next"] = {"page": _encode([chosen[-1].seq], "")}
    return made


def _after(cursor: str | None) -> int:
    if cursor is None:
        return 0
    key, _ = _decode(cursor)
    if len(key) != 1 or type(key[0]) is not int or not 0 <= key[0] < 2**63:
        raise bad("query.page: the cursor is not from this list")
    return key[0]


def _start(
    items: Sequence[T],
    cursor: str,
    key: Callable[[T], Key],
    anchor: Callable[[T], str] | None,
    descending: bool,
) -> int:
    last, name = _decode(cursor)
    if anchor:
        for index, item in enumerate(items):
            if anchor(item) == name:
                return index + 1
    try:
        for index, item in enumerate(items):
            if (key(item) < last) if descending else (key(item) > last):
                return index
    except TypeError:
        raise bad("query.page: the cursor is not from this list") from None
    return len(items)


def _encode(key: Key, name: str) -> str:
    return base64.urlsafe_b64encode(to_json([key, name])).decode().rstrip("=")


def _decode(cursor: str) -> tuple[Key, str]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        key, name = from_json(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True))
    except (NotBase64, ValueError, TypeError):
        raise bad("query.page: the cursor is not from this list") from None
    if not isinstance(key, list) or not isinstance(name, str):
        raise bad("query.page: the cursor is not from this list")
    return key, name
