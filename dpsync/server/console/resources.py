"""Show any object of the API in the console (the web page of the local server), as an admin would get it.

Output: the response as JSON, with links to related objects.
"""

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

    The local server is called directly, so the request is in no log. The admins are tried in turn, until
    one of them may read the path.
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
    operation, _ = companion.find_operation({**request_scope, "method": "GET", "path": "", "raw_path": raw})
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    return Resource(
        _join_path(path),
        status,
        content.decode(errors="replace")
        if value is None
        else json.dumps(mask_secrets(value), indent=2, ensure_ascii=False),
        user,
        operation.id if operation else "",
        tuple(_ancestor_links(companion, request_scope, path)),
        tuple(_item_links(companion, request_scope, path, value)),
        tuple(_subresource_links(companion, path)) if status == 200 else (),
        _next_page(value),
    )


async def _receive_empty_body() -> Message:
    """Return the ASGI message of a request without a body."""
    return {"type": "http.request", "body": b"", "more_body": False}


def _join_path(path: list[str]) -> str:
    """Return the path of segments, each percent-encoded."""
    return "/" + "/".join(quote(segment, safe="") for segment in path)


def _ancestor_links(companion: Companion, request_scope: Scope, path: list[str]) -> Iterator[ResourceLink]:
    """Yield a link for each shorter path, such as `/v1/orgs/acme`, that the API (`companion`) can read."""
    for length in range(2, len(path)):
        ancestor = _join_path(path[:length])
        operation, _ = companion.find_operation(
            {**request_scope, "method": "GET", "path": ancestor, "raw_path": ancestor.encode()}
        )
        if operation is not None and operation.is_supported_by(companion.profile):
            yield ResourceLink(path[length - 1], ancestor)


def _item_links(
    companion: Companion, request_scope: Scope, path: list[str], value: Any
) -> Iterator[ResourceLink]:
    """Yield links to the items of a list, for the console.

    The URL of an item is under the URL of the list, or else directly under `/v1`. `value` is the response.
    Items without a readable URL have no link.
    """
    items = value.get("items") if isinstance(value, dict) else None
    prefixes = (path, ["v1", path[-1]])
    id_fields = [_id_field(companion, request_scope, [*prefix, "x"]) for prefix in prefixes]
    for item in (items if isinstance(items, list) else [])[:_MAX_ITEMS]:
        for prefix, id_field in zip(prefixes, id_fields, strict=True):
            if id_field and isinstance(item, dict) and isinstance(item.get(id_field), str):
                yield ResourceLink(_item_title(item), _join_path([*prefix, item[id_field]]))
                break


def _id_field(companion: Companion, request_scope: Scope, path: list[str]) -> str:
    """Return the field of an item ("id", "slug" or "name") whose value is the last segment of its URL path.

    Return "" if the API (`companion`) has no readable path for such items. `path` has a placeholder there.
    """
    raw = _join_path(path).encode()
    operation, _ = companion.find_operation({**request_scope, "method": "GET", "path": "", "raw_path": raw})
    if (
        operation is None
        or not operation.is_supported_by(companion.profile)
        or not operation.path.endswith("}")
    ):
        return ""
    parameter = operation.parameters[-1]
    return next((name for name in ("slug", "name") if parameter.lower().endswith(name)), "id")


def _item_title(item: dict[str, Any]) -> str:
    """Return the first non-blank name of an item: its title, its display name, or that of its user."""
    user = item.get("user") if isinstance(item.get("user"), dict) else {}
    names = (item.get("title"), item.get("displayName"), (user or {}).get("displayName"), item.get("name"))
    return next((text for text in names if isinstance(text, str) and text.strip()), "")


def _subresource_links(companion: Companion, path: list[str]) -> Iterator[ResourceLink]:
    """Yield links to the resources under a path that the API can read without a further id."""
    for operation in companion.readable_operations:
        template = ["v1", *operation.path.strip("/").split("/")]
        tail = template[len(path) :]
        if not tail or any(part.startswith("{") for part in tail):
            continue
        if all(
            expected == segment or expected.startswith("{")
            for expected, segment in zip(template[: len(path)], path, strict=True)
        ):
            yield ResourceLink(" / ".join(tail), _join_path([*path, *tail]))


def _next_page(value: Any) -> str:
    """Return the cursor of the next page of a list, or ""."""
    following = value.get("next") if isinstance(value, dict) else None
    page = following.get("page") if isinstance(following, dict) else None
    return page if isinstance(page, str) else ""
