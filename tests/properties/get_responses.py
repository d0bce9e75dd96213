"""Read the responses of all GET requests of a companion, and compare the values in two states."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from dpsync.client.transport import Request
from dpsync.server.operations import ALL_OPERATIONS

from .platform import Platform

ValuePath = tuple[str, ...]
"""The request URL, and the member names that lead to a value. For list items, the ids of the items."""
ORDER = "(order)"
"""The member name under which the order of a list is stored, as the ids of its items."""
Values = dict[ValuePath, Any]

_SKIPPED_SEGMENTS: Final = {
    "audit-events": "each write is an event of its own",
    "search": "needs a query, and finds what other answers contain",
    "change-requests": "the content of a space and its drafts: dpsync writes neither",
    "comments": "written by people, not by dpsync",
    "links": "follows from the content of a space",
    "content": "pages are only counted here, in content/pages",
    "conversations": "written by readers, not by dpsync",
    "conversations-clusters": "follows from conversations",
    "conversations-issues": "follows from conversations",
    "events": "deliveries to an integration, one for each write",
    "versions": "a specification gets a new version with each text that is sent",
    "styleguide-templates": "belongs to the platform, never changes",
    "template-conditions": "follows from adaptive-schema",
    "published": "follows from structure and from the content of the spaces",
    "users": "at the top level, the same as the members of the organization",
    "pdf": "a rendering of content",
}
"""The path segments that are not compared, each with the reason."""
_SKIPPED_MEMBERS: Final = {
    "createdAt": "time", "updatedAt": "time", "editedAt": "time", "deletedAt": "time", "lastSyncedAt": "time",
    "joinedAt": "time", "lastSeenAt": "time", "processedAt": "time",
    "createdBy": "a re-created object has another creator",
    "revision": "each merge and each setting gives a space a new revision",
    "urls": "contain ids and revisions", "url": "contains the id and the host",
    "lastVersion": "a specification gets a new version with each text that is sent",
    "features": "follows from the structure of a site",
    "visitorCount": "counter", "counts": "counter", "count": "counter", "total": "counter",
}  # fmt: skip
"""The members that are not compared, each with the reason."""
_COUNTERS: Final = {"spaces", "sites", "siteSpaces", "teams", "members"}
"""Members that count objects. The objects themselves are in other responses."""
_PAGES: Final = "/spaces/{spaceId}/content/pages"
_LISTS: Final = {
    "spaceId": "/orgs/{organizationId}/spaces",
    "collectionId": "/orgs/{organizationId}/collections",
}
"""The list paths of objects whose own URLs begin at the top level."""


def read_values(platform: Platform) -> Values:
    """Return all values in the GET responses of the platform."""
    found: Values = {}
    for url, body in _responses(platform):
        found.update(_values_in(body, (url,)))
    return found


def changed_values(before: Values, after: Values) -> dict[ValuePath, tuple[Any, Any]]:
    """Return the values that differ, before and after; None stands for a missing value."""
    return {
        path: (before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if not _equal(path, before.get(path), after.get(path))
    }


def _equal(path: ValuePath, before: Any, after: Any) -> bool:
    """Return whether two values are equal. Two list orders are equal if common items have the same order."""
    if path[-1] != ORDER or before is None or after is None:
        return bool(before == after) or path[-1] == ORDER
    return [id for id in before if id in after] == [id for id in after if id in before]


def possible_ids(path: ValuePath) -> set[str]:
    """Return each part of a value path that may be an id."""
    url, *members = path
    return {part for member in (url, *members) for part in member.split("/")}


def _responses(platform: Platform) -> Iterator[tuple[str, Any]]:
    with platform.client() as client:
        # Raw responses, because this test must not rely on dpsync's own reader.
        get = _get(client._transport)
        known: dict[str, list[str]] = {}
        for path in _paths():
            for url in _urls(path, known, get):
                body = get(url)
                if body is not None and not (isinstance(body, dict) and body.get("deletedAt")):
                    yield url, body  # GET still returns a deleted space for some days


def _get(transport: Any) -> Callable[[str], Any]:
    answers: dict[str, Any] = {}

    def get(url: str) -> Any:
        if url not in answers:
            response = transport.send(Request("GET", url, "limit=1000"))
            if response.status == 400:
                response = transport.send(Request("GET", url))
            answers[url] = json.loads(response.body) if response.status == 200 else None
        return answers[url]

    return get


def _paths() -> list[str]:
    """Return the GET paths of all API editions. A companion returns 404 for paths outside its edition."""
    paths = {row.path for row in ALL_OPERATIONS if row.method == "GET"}
    kept = [path for path in paths if path == _PAGES or not {*path.split("/")} & _SKIPPED_SEGMENTS.keys()]
    return sorted(kept, key=lambda path: (path.count("{"), path))


def _urls(path: str, known: dict[str, list[str]], get: Callable[[str], Any]) -> list[str]:
    """Return the URLs of a path, one for each combination of ids in the parent lists."""
    parameter = re.search(r"\{(\w+)\}", path)
    if parameter is None:
        return [path]
    *_, last = re.finditer(r"/\{(\w+)\}", path)
    prefix, rest, name = path[: last.start()], path[last.end() :], last[1]
    list_path = _LISTS.get(name, prefix) if prefix in ("/spaces", "/collections") else prefix
    if list_path not in known:
        known[list_path] = _urls(list_path, known, get)
    return [
        f"{prefix if list_path != prefix else url}/{id}{rest}"
        for url in known[list_path]
        for id in _ids(get(url))
    ]


def _ids(body: Any) -> list[str]:
    items = body.get("items", []) if isinstance(body, dict) else []
    found = (_id(item) for item in items)
    return list(dict.fromkeys(id for id in found if id is not None))


def _id(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    for name in ("slug", "name", "id"):
        if isinstance(item.get(name), str) and (name != "name" or "id" not in item):
            return str(item[name])
    parts = [item[name] for name in ("installation", "site", "space") if isinstance(item.get(name), str)]
    if parts:
        return "/".join(parts)
    inner = [value["id"] for value in item.values() if isinstance(value, dict) and "id" in value]
    return str(inner[0]) if inner else None


def _values_in(value: Any, at: ValuePath) -> Iterator[tuple[ValuePath, Any]]:
    if isinstance(value, dict):
        if not value:
            yield at, {}
        follows = _SKIPPED_MEMBERS.keys() | ({"visibility"} if value.get("object") == "space" else set())
        for name, item in value.items():  # the visibility of a space follows from the sites that show it
            if name not in follows and item is not None:
                yield from _values_in(item, (*at, name))
    elif isinstance(value, list):
        if value and _id(value[0]) is not None:
            yield (*at, ORDER), tuple(_id(item) for item in value)
        for number, item in enumerate(value):
            yield from _values_in(item, (*at, _id(item) or str(number)))
    elif not (at[-1] in _COUNTERS and isinstance(value, int)):
        yield at, value
