"""Show any resource as the API answers it to an admin, with links to related resources."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from starlette.requests import Request
from starlette.types import Message, Scope

from ..http.app import CALLER_KEY, Companion
from ..http.request_parsing import path_segments
from ..store import Store
from .safe_text import mask_secrets

_MAX_ADMINS_TRIED = 20
_MAX_ITEMS = 1000


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
    ancestors: tuple[ResourceLink, ...]
    items: tuple[ResourceLink, ...]
    subresources: tuple[ResourceLink, ...]
    next_page: str = ""


def list_admins(store: Store) -> list[str]:
    """Return the users who are admins, ordered by the number of organizations they administer."""
    organization_counts = Counter(
        member.ref
        for member in sorted(store.find("member"), key=lambda member: member.seq)
        if member.doc["role"] == "admin" and not member.doc.get("disabled")
    )
    return [user for user, _ in organization_counts.most_common()]


async def read_resource(companion: Companion, request_scope: Scope, raw: bytes, query: bytes) -> Resource:
    """Return the answer of the API to GET at a raw path such as `/v1/orgs/acme`.

    The companion is called directly, so the request is in no log.
    """
    status, content, user = 404, b"", ""
    for user in list_admins(companion.store)[:_MAX_ADMINS_TRIED] or [""]:
        scope = {
            **request_scope, "method": "GET", "path": raw.decode("latin-1"), "raw_path": raw,
            "query_string": query,
            "headers": [], CALLER_KEY: user or None,
        }  # fmt: skip
        answer = await companion.respond(Request(scope, _receive_empty_body))
        status, content = answer.status_code, bytes(answer.body)
        if status not in (403, 404):
            break
    path = path_segments(raw)
    named = companion.find_operation({**request_scope, "method": "GET", "path": "", "raw_path": raw})[0]
    value = _parse_json(content)
    return Resource(
        _join_path(path),
        status,
        content.decode(errors="replace") if value is None else _format_json(value),
        user,
        named.id if named else "",
        tuple(_ancestor_links(companion, request_scope, path)),
        tuple(_item_links(companion, request_scope, path, value)),
        tuple(_subresource_links(companion, path)) if status == 200 else (),
        _next_page(value),
    )


async def _receive_empty_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _parse_json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _format_json(value: Any) -> str:
    return json.dumps(mask_secrets(value), indent=2, ensure_ascii=False)


def _join_path(path: list[str]) -> str:
    return "/" + "/".join(quote(segment, safe="") for segment in path)


def _is_readable(companion: Companion, asked: Scope, path: str) -> bool:
    raw = path.encode()
    operation, _ = companion.find_operation({**asked, "method": "GET", "path": path, "raw_path": raw})
    return operation is not None and operation.is_supported_by(companion.profile)


def _ancestor_links(companion: Companion, asked: Scope, path: list[str]) -> Iterator[ResourceLink]:
    """Yield links to the readable resources above a path."""
    for length in range(2, len(path)):
        above = _join_path(path[:length])
        if _is_readable(companion, asked, above):
            yield ResourceLink(path[length - 1], above)


def _item_links(companion: Companion, asked: Scope, path: list[str], value: Any) -> Iterator[ResourceLink]:
    """Yield links to the items of a list that have a URL of their own, below the list or at the top level."""
    listed = value.get("items") if isinstance(value, dict) else None
    below, alone = (_id_field(companion, asked, [*before, "x"]) for before in (path, ["v1", path[-1]]))
    for one in (listed if isinstance(listed, list) else [])[:_MAX_ITEMS]:
        for before, by in ((path, below), (["v1", path[-1]], alone)):
            if by and isinstance(one, dict) and isinstance(one.get(by), str):
                yield ResourceLink(_item_title(one), _join_path([*before, one[by]]))
                break


def _id_field(companion: Companion, asked: Scope, path: list[str]) -> str:
    """Return the member that identifies an item in the last segment of a path, or "" if none can be read."""
    raw = _join_path(path).encode()
    operation, _ = companion.find_operation({**asked, "method": "GET", "path": "", "raw_path": raw})
    if (
        operation is None
        or not operation.is_supported_by(companion.profile)
        or not operation.path.endswith("}")
    ):
        return ""
    parameter = operation.parameters[-1]
    return next((name for name in ("slug", "name") if parameter.lower().endswith(name)), "id")


def _item_title(one: dict[str, Any]) -> str:
    user = one.get("user") if isinstance(one.get("user"), dict) else {}
    said = (one.get("title"), one.get("displayName"), (user or {}).get("displayName"), one.get("name"))
    return next((text for text in said if isinstance(text, str) and text.strip()), "")


def _subresource_links(companion: Companion, path: list[str]) -> Iterator[ResourceLink]:
    """Yield links to the readable resources below a path whose URLs need no further id."""
    for operation in companion.readable_operations:
        row = ["v1", *operation.path.strip("/").split("/")]
        tail = row[len(path) :]
        if tail and not any(part.startswith("{") for part in tail) and _matches_path(row, path):
            yield ResourceLink(" / ".join(tail), _join_path([*path, *tail]))


def _matches_path(row: list[str], path: list[str]) -> bool:
    return all(one == other or one.startswith("{") for one, other in zip(row[: len(path)], path, strict=True))


def _next_page(value: Any) -> str:
    following = value.get("next") if isinstance(value, dict) else None
    page = following.get("page") if isinstance(following, dict) else None
    return page if isinstance(page, str) else ""
