"""Show any resource as the API answers it to an admin, with links to related resources."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from starlette.requests import Request
from starlette.types import Message, Scope

from ..http.app import CALLER, Companion
from ..http.incoming import segments
from ..store import Store
from .texts import masked

_MOST_TRIED = 20
_MOST_ITEMS = 1000


class ResourceLink(Struct, frozen=True):
    """A link to an item of a list or to a part of a resource: its title and its path in the API."""

    title: str
    path: str


class Resource(Struct, frozen=True):
    """The answer of the API at a path. `user` is the admin who reads it, "" if there is no admin."""

    path: str
    status: int
    text: str
    user: str
    operation: str
    above: tuple[ResourceLink, ...]
    items: tuple[ResourceLink, ...]
    parts: tuple[ResourceLink, ...]
    following: str = ""


def admins(store: Store) -> list[str]:
    """Return the users who are admins, ordered by the number of organizations they administer."""
    found = Counter(
        member.ref
        for member in sorted(store.find("member"), key=lambda member: member.seq)
        if member.doc["role"] == "admin" and not member.doc.get("disabled")
    )
    return [user for user, _ in found.most_common()]


async def read(companion: Companion, asked: Scope, raw: bytes, query: bytes) -> Resource:
    """Return the answer of the API to GET at a raw path such as `/v1/orgs/acme`.

    The companion is called directly, so the request is in no log.
    """
    status, content, user = 404, b"", ""
    for user in admins(companion.store)[:_MOST_TRIED] or [""]:
        scope = {
            **asked, "method": "GET", "path": raw.decode("latin-1"), "raw_path": raw, "query_string": query,
            "headers": [], CALLER: user or None,
        }  # fmt: skip
        answer = await companion.answer(Request(scope, _nothing))
        status, content = answer.status_code, bytes(answer.body)
        if status not in (403, 404):
            break
    path = segments(raw)
    named = companion.named({**asked, "method": "GET", "path": "", "raw_path": raw})[0]
    value = _json(content)
    return Resource(
        _joined(path),
        status,
        content.decode(errors="replace") if value is None else _text(value),
        user,
        named.id if named else "",
        tuple(_above(companion, asked, path)),
        tuple(_items(companion, asked, path, value)),
        tuple(_parts(companion, path)) if status == 200 else (),
        _following(value),
    )


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _text(value: Any) -> str:
    return json.dumps(masked(value), indent=2, ensure_ascii=False)


def _joined(path: list[str]) -> str:
    return "/" + "/".join(quote(segment, safe="") for segment in path)


def _can_be_read(companion: Companion, asked: Scope, path: str) -> bool:
    raw = path.encode()
    operation, _ = companion.named({**asked, "method": "GET", "path": path, "raw_path": raw})
    return operation is not None and operation.supported(companion.profile)


def _above(companion: Companion, asked: Scope, path: list[str]) -> Iterator[ResourceLink]:
    """Yield links to the readable resources above a path."""
    for length in range(2, len(path)):
        above = _joined(path[:length])
        if _can_be_read(companion, asked, above):
            yield ResourceLink(path[length - 1], above)


def _items(companion: Companion, asked: Scope, path: list[str], value: Any) -> Iterator[ResourceLink]:
    """Yield links to the items of a list that have a URL of their own, below the list or at the top level."""
    listed = value.get("items") if isinstance(value, dict) else None
    below, alone = (_by(companion, asked, [*before, "x"]) for before in (path, ["v1", path[-1]]))
    for one in (listed if isinstance(listed, list) else [])[:_MOST_ITEMS]:
        for before, by in ((path, below), (["v1", path[-1]], alone)):
            if by and isinstance(one, dict) and isinstance(one.get(by), str):
                yield ResourceLink(_title(one), _joined([*before, one[by]]))
                break


def _by(companion: Companion, asked: Scope, path: list[str]) -> str:
    """Return the member that identifies an item in the last segment of a path, or "" if none can be read."""
    raw = _joined(path).encode()
    operation, _ = companion.named({**asked, "method": "GET", "path": "", "raw_path": raw})
    if operation is None or not operation.supported(companion.profile) or not operation.path.endswith("}"):
        return ""
    parameter = operation.parameters[-1]
    return next((name for name in ("slug", "name") if parameter.lower().endswith(name)), "id")


def _title(one: dict[str, Any]) -> str:
    user = one.get("user") if isinstance(one.get("user"), dict) else {}
    said = (one.get("title"), one.get("displayName"), (user or {}).get("displayName"), one.get("name"))
    return next((text for text in said if isinstance(text, str) and text.strip()), "")


def _parts(companion: Companion, path: list[str]) -> Iterator[ResourceLink]:
    """Yield links to the readable resources below a path whose URLs need no further id."""
    for operation in companion.readable:
        row = ["v1", *operation.path.strip("/").split("/")]
        tail = row[len(path) :]
        if tail and not any(part.startswith("{") for part in tail) and _fits(row, path):
            yield ResourceLink(" / ".join(tail), _joined([*path, *tail]))


def _fits(row: list[str], path: list[str]) -> bool:
    return all(one == other or one.startswith("{") for one, other in zip(row[: len(path)], path, strict=True))


def _following(value: Any) -> str:
    following = value.get("next") if isinstance(value, dict) else None
    page = following.get("page") if isinstance(following, dict) else None
    return page if isinstance(page, str) else ""
