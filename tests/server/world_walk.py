"""A walk over all that a caller can read: each GET of the table, on everything that its path can name."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from companion_calls import Api

from dpsync.server.operations import ALL_OPERATIONS
from dpsync.server.operations.profiles import operations_of_profile
from dpsync.server.request.operation import Operation

QUERIES = {
    "/spaces/{spaceId}/search": {"query": "guides"},
    "/orgs/{organizationId}/search": {"query": "guides"},
    "/orgs/{organizationId}/sites/{siteId}/redirect": {"source": "/rules"},
    "/orgs/{organizationId}/sites/{siteId}/published": {"shareKey": "globex-partners-2026"},
}
REPLIES = ("hours-yes", "hours-thanks", "goggles-always")
"""The reference has no list of the replies to a comment on a space."""
_LISTED_ELSEWHERE = {
    "/spaces": "/orgs/{}/spaces",
    "/collections": "/orgs/{}/collections",
}


def id_of(item: Any) -> str:
    """Return the part of a path that identifies the item of a list."""
    for inside in ("issue", "organization", "user" if "permission" in item else "issue", "team"):
        if isinstance(item.get(inside), dict) and "object" not in item:
            item = item[inside]
    if "installation" in item:
        return str(item.get("space") or item.get("site") or item["installation"])
    return str(item["slug"] if item.get("object") == "openapi-spec" else item.get("id", item.get("name")))


class Walk:
    """Every answer once, as `(operation, path, body)`. What the caller may not read is left out."""

    def __init__(self, api: Api, profile: str = "reference") -> None:
        self._api = api
        self._rows = [
            row
            for row in operations_of_profile(ALL_OPERATIONS, profile)
            if row.method == "GET" and row.is_supported_by(profile) and not row.returns_text
        ]
        self._ids: dict[str, list[str]] = {}

    def __iter__(self) -> Iterator[tuple[Operation, str, Any]]:
        for row in self._rows:
            for path in self.paths(row.path):
                answer = self._api.call("GET", path, params=QUERIES.get(row.path))
                if answer.status_code == 200:
                    yield row, path, answer.json()
                else:
                    assert answer.status_code in (403, 404), f"GET {path}: {answer.text}"

    def paths(self, template: str) -> list[str]:
        """Return the paths of a template for all values of its parameters."""
        found = [""]
        for segment in template.strip("/").split("/"):
            if segment.startswith("{"):
                found = [f"{path}/{quote(id, safe='')}" for path in found for id in self._named_at(path)]
            else:
                found = [f"{path}/{segment}" for path in found]
        return found

    def _named_at(self, path: str) -> list[str]:
        if path not in self._ids:
            self._ids[path] = list(dict.fromkeys(self._look_up(path)))
        return self._ids[path]

    def _look_up(self, path: str) -> list[str]:
        if path in _LISTED_ELSEWHERE:
            lists = [_LISTED_ELSEWHERE[path].format(id) for id in self._named_at("/orgs")]
        elif path.endswith("/external-links"):
            structure = self._api.call("GET", path.removesuffix("/external-links") + "/structure")
            found = nodes(structure.json()["structure"]) if structure.status_code == 200 else []
            return [node["id"] for node in found if node["object"] == "site-external-link"]
        elif path.endswith("/content/page"):
            return [page["id"] for page in _flat(self._api.get(path + "s")["pages"])]
        elif path.endswith("/change-requests"):
            statuses = ("draft", "open", "archived", "merged")
            return [id for status in statuses for id in self._api.ids(path, status=status)]
        elif path.endswith("/replies") and "/change-requests/" not in path:
            return list(REPLIES)
        else:
            lists = [path]
        found = []
        for name in lists:
            if self._api.call("GET", name).status_code == 200:
                found += [id_of(item) for item in self._api.items(name, limit=1000)]
        return found


def nodes(structure: list[Any]) -> Iterator[Any]:
    """Everything in a navigation, each before what is in it."""
    for node in structure:
        yield node
        yield from nodes(node.get("children", []))
        yield from nodes(node.get("siteSpaces", []))


def _flat(pages: list[Any]) -> Iterator[Any]:
    for page in pages:
        yield page
        yield from _flat(page["pages"])


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object inside of an answer, the outer ones first."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from objects(item)
