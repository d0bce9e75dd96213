"""Record the answers of every operation of the companion: successes, refusals, and what each write changes.

The operations come from the OpenAPI document that the companion serves. Ids for the path come from the lists
of the API itself, bodies come from the schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import httpx

from .generator import PROFILES
from .running import TOKEN, Companion, Runner, changes, pretty

Record = tuple[str, str]
_WRITERS = (TOKEN, "homer-token")
_READERS = ("kim-token", "gus-token", "lenny-token", "carl-token", "oli-token")
_SKIPPED_HEADERS = {"date", "server", "dpsync-world", "content-length"}
_ORGANIZATIONS = ("acme", "globex")
_MOST_PATHS = 4
"""With how many combinations of ids each operation is called."""
_IDS = {
    "user": "kim", "users": "kim", "userId": "kim", "team": "sales", "teams": "sales", "defaultTeam": "sales",
    "space": "guides", "spaceId": "guides", "spaces": "guides", "collection": "internal", "parent": None,
    "parentId": "internal", "site": "docs", "siteId": "docs", "styleguide": "guides", "organization": "acme",
    "organizationId": "acme", "targetOrganization": "globex", "email": "kim@acme.example",
    "emails": "kim@acme.example", "path": "fresh", "basename": "fresh", "slug": "fresh", "icon": "book",
    "emoji": "1f600", "language": "fr", "format": "markdown",
}  # fmt: skip
"""Values of properties whose schema does not say which values exist."""


def record_operations(runner: Runner, count: int) -> Iterator[Record]:
    """Yield request and answer of every operation with each profile, with `count` ids for each operation."""
    for profile in PROFILES:
        companion = runner.companion(profile)
        companion.reset()
        document = companion.client.get("/v1/openapi.json").json()
        yield f"{profile}, openapi.json", pretty(document)
        yield f"{profile}, health", pretty(companion.client.get("/_dpsync/health").json())
        yield f"{profile}, data", pretty(companion.world())
        caller = _Caller(companion, document, min(count, _MOST_PATHS))
        for path, operations in document["paths"].items():
            for method in ("get", "post", "put", "patch", "delete"):
                if method in operations:
                    for name, text in caller.call(method, path, operations[method]):
                        yield f"{profile}, {method.upper()} {name}", text


class _Caller:
    """Calls operations of one companion, each on unchanged data."""

    def __init__(self, companion: Companion, document: Any, count: int) -> None:
        self._companion = companion
        self._document = document
        self._count = count
        self._start = companion.world()
        self._prefixes: dict[str, list[str]] = {}

    def call(self, method: str, path: str, operation: Any) -> Iterator[Record]:
        """Yield the answers to requests of all kinds for one operation."""
        paths = self._paths(path)
        schema = self._body_schema(operation)
        for place in paths[: self._count]:
            if method == "get":
                for token in (TOKEN, *_READERS):
                    yield self._ask(method, place, token)
                for parameter in operation.get("parameters", ()):
                    if parameter["in"] == "query":
                        for value in self._query_values(parameter):
                            yield self._ask(method, f"{place}?{parameter['name']}={value}", TOKEN)
                continue
            bodies = self._bodies(schema) if schema else [None]
            for body in bodies:
                for token in _WRITERS:
                    yield self._ask(method, place, token, body)
        place = paths[0]
        wrong = {"unknown": True} if schema else None
        yield self._ask(method, place, "")
        yield self._ask(method, place, "kim-token", wrong)
        yield self._ask(method, place, TOKEN, wrong)
        yield self._ask(method, place, TOKEN, [1])
        yield self._ask(method, f"{place}?unknown=1&limit=0&page=x", TOKEN, wrong)
        yield self._ask(method, re.sub(r"[^/]+$", "no-such-id", place), TOKEN, wrong)

    def _ask(self, method: str, place: str, token: str, body: Any = None) -> Record:
        """Send one request; if data may have changed, record the changes and restore the data."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        sent = {"json": body} if body is not None else {}
        try:
            answer = self._companion.client.request(method, f"/v1{place}", headers=headers, **sent)
        except httpx.HTTPError as error:
            return f"{place} {token} {json.dumps(body)}", f"no answer: {type(error).__name__}"
        lines = [f"{answer.status_code}"]
        lines += [
            f"{name}: {value}" for name, value in answer.headers.items() if name not in _SKIPPED_HEADERS
        ]
        is_json = "json" in answer.headers.get("content-type", "")
        lines.append(pretty(answer.json()) if is_json and answer.content else answer.text)
        if method != "get" and answer.is_success:
            lines += changes(self._start, self._companion.world())
            self._companion.reset()
        return f"{place} {token} {json.dumps(body)}", "\n".join(lines).replace(self._companion.url, "<url>")

    def _paths(self, path: str) -> list[str]:
        """Return the path with ids in place of its parameters."""
        places = [""]
        for part in path.strip("/").split("/"):
            if part == "{organizationId}":
                places = [f"{place}/{name}" for place in places for name in _ORGANIZATIONS]
            elif part.startswith("{"):
                found = [f"{place}/{name}" for place in places for name in self._ids(place, part)]
                places = found or [f"{places[0]}/unknown"]
            else:
                places = [f"{place}/{part}" for place in places]
        # Objects of both organizations and of different parents, and not only the first ones.
        return places if len(places) <= self._count else Random(path).sample(places, self._count)  # noqa: S311

    def _ids(self, prefix: str, parameter: str) -> list[str]:
        """Return the ids that a list of the API shows."""
        if prefix not in self._prefixes:
            self._prefixes[prefix] = self._listed(prefix, parameter)
        return self._prefixes[prefix]

    def _listed(self, prefix: str, parameter: str) -> list[str]:
        kinds = {
            "/users": [user["id"] for user in self._start["users"]],
            "/spaces": [space["id"] for org in self._start["organizations"] for space in org["spaces"]],
            "/collections": [one["id"] for org in self._start["organizations"] for one in org["collections"]],
            "/integrations": ["acme-tools", "control-room", "reactor-status"],
        }
        if prefix in kinds:
            return kinds[prefix]
        answer = self._companion.client.get(f"/v1{prefix}", headers={"Authorization": f"Bearer {TOKEN}"})
        if answer.is_error:
            return []
        content = answer.json()
        items = content if isinstance(content, list) else content.get("items") or content.get("pages") or []
        fields = (
            ("slug", "name", "id", "user") if "Slug" in parameter or "Name" in parameter else ("id", "user")
        )
        return [
            str(item[field]) for item in items for field in fields if isinstance(item, dict) and field in item
        ]

    def _resolve(self, schema: Any) -> Any:
        while "$ref" in schema:
            schema = self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema

    def _body_schema(self, operation: Any) -> Any:
        content = operation.get("requestBody", {}).get("content", {})
        return next((one["schema"] for one in content.values()), None)

    def _bodies(self, schema: Any) -> list[Any]:
        """Return a body with the required properties, one with all, and one for each property and variant."""
        schema = self._resolve(schema)
        variants = [self._resolve(one) for one in schema.get("oneOf") or schema.get("anyOf") or [schema]]
        bodies: list[Any] = []
        for variant in variants:
            needed = self._sample(variant, "", False)
            bodies += [needed, self._sample(variant, "", True)]
            for name, part in variant.get("properties", {}).items():
                bodies += [{**needed, name: value} for value in self._values(part, name)]
        unique = {json.dumps(body): body for body in bodies}
        return list(unique.values())[: 10 * self._count]

    def _values(self, schema: Any, name: str) -> list[Any]:
        """Return up to four values of a property: each word of an enumeration, both booleans, each variant."""
        schema = self._resolve(schema)
        variants = schema.get("oneOf") or schema.get("anyOf")
        if variants:
            return [self._sample(variant, name, True) for variant in variants][:4]
        if schema.get("type") == "boolean":
            return [True, False]
        return list(schema["enum"])[:4] if "enum" in schema else [self._sample(schema, name, True)]

    def _sample(self, schema: Any, name: str, everything: bool, depth: int = 0) -> Any:
        """Return a value of a schema, with the optional properties if `everything`."""
        schema = self._resolve(schema)
        if "const" in schema:
            return schema["const"]
        for word in ("examples", "enum"):
            if schema.get(word):
                return schema[word][0]
        for word in ("oneOf", "anyOf", "allOf"):
            if schema.get(word):
                return self._sample(schema[word][0], name, everything, depth + 1)
        kind = schema.get("type")
        if kind == "object" or "properties" in schema:
            required = schema.get("required", ())
            return {
                key: self._sample(part, key, everything, depth + 1)
                for key, part in schema.get("properties", {}).items()
                if key in required or (everything and depth < 4)
            }
        if kind == "array":
            least = schema.get("minItems", 0)
            return (
                [self._sample(schema.get("items", {}), name, everything, depth + 1)]
                if everything or least
                else []
            )
        if name in _IDS:
            return _IDS[name]
        if kind in ("integer", "number"):
            return schema.get("minimum", schema.get("default", 1))
        if kind == "boolean":
            return True
        if kind == "null":
            return None
        formats = {
            "uri": "https://a.example/x",
            "date-time": "2030-01-01T00:00:00.000Z",
            "email": "a@b.example",
        }
        text = formats.get(
            schema.get("format", ""), "https://a.example/x" if "url" in name.lower() else "Fresh text"
        )
        return text[: schema.get("maxLength", 999)]

    def _query_values(self, parameter: Any) -> list[str]:
        schema = self._resolve(parameter.get("schema", {}))
        known = {"limit": ["1"], "page": ["2"], "title": ["e"], "search": ["e"], "format": ["markdown"]}
        variants = [self._resolve(one) for one in schema.get("anyOf") or [schema]]
        words = [str(word) for one in variants for word in one.get("enum", ())]
        booleans = ["true", "false"] if any(one.get("type") == "boolean" for one in variants) else []
        return (words or booleans or known.get(parameter["name"]) or ["ada"])[:4]
