"""Split a list into pages as the API does: `{items, count, next?}`, where `next` has the cursor.

The cursor contains the sort key of the last item of the page. If items are created, deleted or moved (even
that item), no other item is repeated or skipped, because a move changes only the key of the moved item
(`records.sibling_order`). In lists without a sort key, the cursor contains the position and the id of the
last item; the id takes precedence while the item exists.
"""

import base64
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from ..errors import bad_request
from ..store import Json, Record
from .context import Context

T = TypeVar("T")
SortKey = list[Any]
MAX_SEQ = 2**63 - 1
"""The maximum `seq` of a record."""


def paginate(
    items: Sequence[T],
    *,
    limit: int,
    cursor: str | None,
    key: Callable[[T], SortKey],
    item_name: Callable[[T], str] | None = None,
    descending: bool = False,
) -> tuple[list[T], dict[str, Any]]:
    """Return the items of one page and its envelope: `count`, and `next` unless it is the last page.

    `items` is the whole filtered list, sorted by `key` (in reverse order if `descending`).
    """
    start = _start_index(items, cursor, key, item_name, descending) if cursor is not None else 0
    chosen = list(items[start : start + limit])
    envelope: dict[str, Any] = {"count": len(items)}
    if chosen and start + limit < len(items):
        last_item = chosen[-1]
        envelope["next"] = {"page": _encode_cursor(key(last_item), item_name(last_item) if item_name else "")}
    return chosen, envelope


def _creation_key(record: Record) -> SortKey:
    """Return the sort key of a record in order of creation."""
    return [record.seq]


def list_page(
    ctx: Context,
    items: Sequence[T],
    render: Callable[[T], Any],
    key: Callable[[Any], SortKey] = _creation_key,
    item_name: Callable[[T], str] | None = None,
    *,
    descending: bool = False,
) -> Json:
    """Return the requested page of a complete, sorted list. By default, records are in order of creation."""
    limit, cursor = ctx.query.limit, ctx.query.page
    chosen, envelope = paginate(
        items, limit=limit, cursor=cursor, key=key, item_name=item_name, descending=descending
    )
    return {**envelope, "items": [render(item) for item in chosen]}


def page_by_index(
    ctx: Context,
    items: Iterable[T],
    render: Callable[[T], Any],
    item_name: Callable[[T], str] | None = None,
) -> Json:
    """Return the requested page of items that have no sort key except their positions."""
    return list_page(
        ctx,
        list(enumerate(items)),
        lambda numbered: render(numbered[1]),
        lambda numbered: [numbered[0]],
        (lambda numbered: item_name(numbered[1])) if item_name else None,
    )


def page_by_creation(ctx: Context, kind: str, render: Callable[[Record], Any], **where: str) -> Json:
    """Return the requested page of all records of a kind in order of creation, reading only that page."""
    limit = ctx.query.limit
    records = ctx.store.find_by_creation(
        kind, _cursor_seq(ctx.query.page), limit + 1, descending=False, **where
    )
    return _page_of_records(records, limit, ctx.count(kind, **where), render)


def filtered_page(
    ctx: Context,
    kind: str,
    render: Callable[[Record], Any],
    *,
    matches: Callable[[Record], bool],
    count: int,
    descending: bool = False,
    **where: str,
) -> Json:
    """Return the requested page of the records that `matches` accepts, reading little more than the page.

    `count` is the total number of these records. If all of them fit on the first page, reading stops early.
    """
    limit, cursor = ctx.query.limit, ctx.query.page
    first_seq = MAX_SEQ if descending and cursor is None else _cursor_seq(cursor)
    after, size, records = first_seq, limit + 1, list[Record]()
    while len(records) <= limit and not (cursor is None and len(records) == count):
        read = ctx.store.find_by_creation(kind, after, size, descending=descending, **where)
        records += [record for record in read if matches(record)]
        if len(read) < size:
            break
        after, size = read[-1].seq, 2 * size
    return _page_of_records(records, limit, count, render)


def _page_of_records(records: list[Record], limit: int, count: int, answer: Callable[[Record], Any]) -> Json:
    """Return a page of records. `records` has one more than `limit` unless it is the last page."""
    chosen = records[:limit]
    page: Json = {"count": count, "items": [answer(record) for record in chosen]}
    if chosen and len(records) > limit:
        page["next"] = {"page": _encode_cursor([chosen[-1].seq], "")}
    return page


def _cursor_seq(cursor: str | None) -> int:
    """Return the `seq` of the last record of the previous page, or 0 without a cursor. Raise 400."""
    if cursor is None:
        return 0
    key, _ = _decode_cursor(cursor)
    if len(key) != 1 or type(key[0]) is not int or not 0 <= key[0] < 2**63:
        raise bad_request("query.page: the cursor is not from this list")
    return key[0]


def _start_index(
    items: Sequence[T],
    cursor: str,
    key: Callable[[T], SortKey],
    item_name: Callable[[T], str] | None,
    descending: bool,
) -> int:
    """Return the index of the first item after the cursor.

    It follows the item whose name is in the cursor, or else is the first item with a later sort key. Raise
    400 if the cursor is from another list.
    """
    last_key, name = _decode_cursor(cursor)
    if item_name:
        for index, item in enumerate(items):
            if item_name(item) == name:
                return index + 1
    try:
        for index, item in enumerate(items):
            if (key(item) < last_key) if descending else (key(item) > last_key):
                return index
    except TypeError:
        raise bad_request("query.page: the cursor is not from this list") from None
    return len(items)


def _encode_cursor(key: SortKey, name: str) -> str:
    """Return the sort key and the name of the last item of a page as an opaque text."""
    return base64.urlsafe_b64encode(to_json([key, name])).decode().rstrip("=")


def _decode_cursor(cursor: str) -> tuple[SortKey, str]:
    """Return the sort key and the name in a cursor. Raise 400 if it is not a cursor."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        key, name = from_json(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True))
    except (NotBase64, ValueError, TypeError):
        raise bad_request("query.page: the cursor is not from this list") from None
    if not isinstance(key, list) or not isinstance(name, str):
        raise bad_request("query.page: the cursor is not from this list")
    return key, name
