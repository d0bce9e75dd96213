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

from .generator import nodes
from .running import TOKEN, Companion, Runner, changes, pretty

Record = tuple[str, str]
_READERS = ("kim-token", "gus-token", "carl-token", "lenny-token", "oli-token")
_SKIPPED_HEADERS = {"date", "server", "dpsync-world", "content-length"}
_SCHEMA = {"type": "object", "properties": {"beta": {"type": "boolean"}}, "additionalProperties": False}
_CONNECTION = {"connector": "builtin:github-issues", "setupSettings": {"repository": "a/b", "token": "t"}}
_CHANNEL = {"type": "builtin:slack", "setupSettings": {"allowedChannels": ["docs-*"]}}
_SETUP = (
    ("PUT", "/orgs/acme/sites/docs/adaptive-schema", {"jsonSchema": _SCHEMA}),
    (
        "POST",
        "/orgs/acme/sites/docs/mcp-servers",
        {"name": "Tools", "url": "https://a.example", "headers": {}},
    ),
    ("POST", "/git/installations", {"provider": "github", "target": {"type": "space", "spaceId": "news"}}),
    ("POST", "/orgs/acme/sites/docs/channels", _CHANNEL),
    ("POST", "/orgs/acme/sites/docs/context-connections", _CONNECTION),
    ("POST", "/orgs/acme/sites/docs/permissions", {"role": "read", "users": ["kim"], "teams": ["sales"]}),
)
"""Requests that create objects that the data of a new companion do not have."""
_BODIES: dict[str, Any] = {
    "/adaptive-schema": {"jsonSchema": _SCHEMA},
    "/channels": _CHANNEL,
    "/context-connections": _CONNECTION,
    "/permissions": {"role": "read", "users": ["eve"]},
    "/content/template": {"id": "news"},
    "/transfer": {"organization": "globex"},
    "/redirects": {"source": "/old", "destination": {"kind": "url", "url": "https://a.example/x"}},
    "/openapi": {"slug": "fresh", "source": {"url": "https://a.example/x"}},
    "/openapi/{specSlug}": {"source": {"url": "https://a.example/x"}},
    "/translations": {"source": {"space": "news", "language": "en"}, "language": "de"},
}
"""Bodies, by the end of the path, where the schema does not say which values exist."""
_ACME = {
    "user": "eve", "team": "reviewers", "space": "news", "collection": "internal", "parent": "internal",
    "site": "help", "styleguide": "guides", "organization": "acme", "path": "fresh", "basename": "fresh",
    "slug": "fresh", "name": "fresh", "icon": "book", "emoji": "1f600", "language": "fr",
    "format": "markdown", "email": "kim@acme.example", "light": "#123456", "dark": "#123456",
    "script": "export default {}",
}  # fmt: skip
_GLOBEX = _ACME | {
    "user": "homer", "team": "reactor", "space": "manual", "collection": "plant", "parent": "plant",
    "site": "globex-staff", "styleguide": "manual", "organization": "globex",
}  # fmt: skip
"""Values of properties, by name, in each organization."""


def record_operations(runner: Runner, profile: str, count: int) -> Iterator[Record]:
    """Yield request and answer of every operation of a profile, with `count` ids for each operation."""
    companion = runner.companion(profile)
    companion.reset()
    document = companion.client.get("/v1/openapi.json").json()
    yield "openapi.json", pretty(document)
    yield "health", pretty(companion.client.get("/_dpsync/health").json())
    yield "data", pretty(companion.world())
    caller = _Caller(runner, companion, document, count)
    for path, operations in document["paths"].items():
        for method in ("get", "post", "put", "patch", "delete"):
            if method in operations:
                for name, text in caller.call(method, path, operations[method]):
                    yield f"{method.upper()} {name}", text


class _Caller:
    """Calls operations of one companion, each on unchanged data."""

    def __init__(self, runner: Runner, companion: Companion, document: Any, count: int) -> None:
        self._normalize = runner.normalize
        self._companion = companion
        self._document = document
        self._count = count
        self._prefixes: dict[str, list[str]] = {}
        for method, place, body in _SETUP:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            companion.client.request(method, f"/v1{place}", headers=headers, json=body)
        self._start = companion.world()
        self._globex = json.dumps(self._start["organizations"][1])

    def call(self, method: str, path: str, operation: Any) -> Iterator[Record]:
        """Yield the answers to requests of all kinds for one operation."""
        schema = self._body_schema(operation)
        places = self._paths(path)
        for place in places:
            if method == "get":
                for token in (TOKEN, *_READERS[: 2 * self._count]):
                    yield self._ask(method, place, token)
                queries = [one for one in operation.get("parameters", ()) if one["in"] == "query"]
                for name, value in [(one["name"], value) for one in queries for value in self._words(one)]:
                    yield self._ask(method, f"{place}?{name}={value}", TOKEN)
                continue
            for body in self._bodies(schema, path, place) if schema else [None]:
                for token in (TOKEN, "homer-token")[: self._count]:
                    yield self._ask(method, place, token, body)
        wrong = {"unknown": True} if schema else None
        yield self._ask(method, places[0], "")
        yield self._ask(method, places[0], "kim-token", wrong)
        yield self._ask(method, places[0], TOKEN, [1] if schema else wrong)
        yield self._ask(method, f"{places[0]}?unknown=1&limit=0&page=x", TOKEN, wrong)
        yield self._ask(method, re.sub(r"[^/]+$", "no-such-id", places[0]), TOKEN, wrong)

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
            self._companion.load(self._start)
        return f"{place} {token} {json.dumps(body)}", self._normalize("\n".join(lines))

    def _paths(self, path: str) -> list[str]:
        """Return the path with ids in place of its parameters: first of Acme, then of any organization."""
        places = [""]
        for part in path.strip("/").split("/"):
            if part.startswith("{"):
                found = [f"{place}/{name}" for place in places for name in self._ids(place, part)]
                places = found or [f"{places[0]}/{'eve' if part == '{userId}' else 'unknown'}"]
            else:
                places = [f"{place}/{part}" for place in places]
        chosen = Random(path).sample(places, len(places))  # noqa: S311
        chosen.sort(key=lambda place: self._is_globex(place))
        return [*chosen[: (self._count + 1) // 2], *chosen[::-1][: self._count // 2]]

    def _is_globex(self, place: str) -> bool:
        return any(f'"id": "{part}"' in self._globex for part in place.split("/"))

    def _ids(self, prefix: str, parameter: str) -> list[str]:
        """Return the ids that a list of the API shows, or that the data contain."""
        if prefix not in self._prefixes:
            self._prefixes[prefix] = self._listed(prefix, parameter)
        return self._prefixes[prefix]

    def _listed(self, prefix: str, parameter: str) -> list[str]:
        organizations = self._start["organizations"]
        if prefix == "/users":
            return [user["id"] for user in self._start["users"]]
        if prefix in ("/spaces", "/collections"):
            return [one["id"] for organization in organizations for one in organization[prefix[1:]]]
        if prefix == "/integrations":
            return ["acme-tools", "control-room", "reactor-status"]
        if prefix.endswith("/external-links"):
            site = prefix.split("/")[4]
            sites = [
                one for organization in organizations for one in organization["sites"] if one["id"] == site
            ]
            return [node["id"] for node in nodes(sites) if node.get("type") == "external-link"]
        listed = f"{prefix}s" if prefix.endswith("/page") else prefix
        answer = self._companion.client.get(f"/v1{listed}", headers={"Authorization": f"Bearer {TOKEN}"})
        content = {} if answer.is_error else answer.json()
        items = content if isinstance(content, list) else content.get("items") or content.get("pages") or []
        fields = ["slug", "name"] if "Slug" in parameter or "Name" in parameter else []
        return [
            name for item in items if (name := _id_of(item, [*fields, "id", "user", "team", "space", "site"]))
        ]

    def _resolve(self, schema: Any) -> Any:
        while "$ref" in schema:
            schema = self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema

    def _body_schema(self, operation: Any) -> Any:
        content = operation.get("requestBody", {}).get("content", {})
        return next((one["schema"] for one in content.values()), None)

    def _bodies(self, schema: Any, path: str, place: str) -> list[Any]:
        """Return a body with the required properties, one with all, and one for each property and variant."""
        self._known = _GLOBEX if self._is_globex(place) else _ACME
        bodies: list[Any] = [body for end, body in _BODIES.items() if path.endswith(end)]
        schema = self._resolve(schema)
        for variant in map(self._resolve, schema.get("oneOf") or schema.get("anyOf") or [schema]):
            needed = self._sample(variant, "", False)
            bodies += [needed, self._sample(variant, "", True)]
            for name, part in variant.get("properties", {}).items():
                bodies += [{**needed, name: value} for value in self._values(part, name)]
        unique = {json.dumps(body): body for body in bodies}
        return list(unique.values())[: 3 * self._count]

    def _values(self, schema: Any, name: str) -> list[Any]:
        """Return up to four values of a property: words of an enumeration, both booleans, variants."""
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
        # "userIds", "users" and "user" have the same values.
        known = self._known.get(re.sub(r"(Ids?|s)$", "", name), self._known.get(name))
        if known is not None:
            return known
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

    def _words(self, parameter: Any) -> list[str]:
        schema = self._resolve(parameter.get("schema", {}))
        known = {
            "limit": ["1"],
            "page": ["2"],
            "title": ["e"],
            "search": ["e"],
            "format": ["markdown"],
            "source": ["/rules"],
        }
        variants = [self._resolve(one) for one in schema.get("anyOf") or [schema]]
        words = [str(word) for one in variants for word in one.get("enum", ())]
        booleans = ["true", "false"] if any(one.get("type") == "boolean" for one in variants) else []
        return (words or booleans or known.get(parameter["name"]) or ["ada"])[: 2 * self._count]


def _id_of(item: Any, fields: list[str]) -> str | None:
    """Return the id of an item of a list, or of the object that the item refers to."""
    value = next((item[field] for field in fields if field in item), None)
    return value.get("id") if isinstance(value, dict) else value
