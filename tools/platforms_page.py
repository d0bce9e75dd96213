"""Write the generated tables of docs/platforms.md (roles and scopes) and docs/api-versions.md (differences).

    python -m tools.platforms_page

Each table goes to the end of its section; the other text is written by hand. Roles and API versions come from
the local server's table of operations, requests from the declarations, scopes from tools/oauth_scopes.txt.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic_core import from_json, to_json

from dpsync.kinds.kind import Call, Kind, ListOrder, NodeListsRead
from dpsync.kinds.registry import Registry, SupportedKind, _Support, build_registry
from dpsync.model.text import join_with_and
from dpsync.server.http.app import build_companion
from dpsync.server.operations import ALL_OPERATIONS
from dpsync.server.operations.profiles import PROFILES
from dpsync.server.store import open_store

DOCS: Final = Path(__file__).parents[1] / "docs"
PLATFORMS: Final = DOCS / "platforms.md"
VERSIONS: Final = DOCS / "api-versions.md"
SCOPES: Final = Path(__file__).parent / "oauth_scopes.txt"
Operation = tuple[str, str]
"""Method and path, every parameter written as `{}`."""
LONGEST: Final = 60
_ROLES_HEADER: Final = "| object type (kind) | role to read |"
_COUNTS_HEADER: Final = "| API version | operations |"
ROLES: Final = ("", "read", "comment", "edit", "review", "create", "admin")


# What the requests of a kind need.


def requests(registry: Registry, kind: SupportedKind) -> tuple[set[Operation], set[Operation]]:
    """Return the operations by which a kind is read, and those by which it is written."""
    support = _Support(registry.kinds, registry.profile)

    def operations(method: str, path: str) -> set[Operation]:
        return {(method, found) for found in support.expand_paths(kind, path)}

    reads = {one for path in _read_paths(kind) for one in operations("GET", path)}
    writes = {one for call in _calls(kind) for one in operations(call.method, call.path)}
    return reads, writes


def _read_paths(kind: Kind) -> Iterator[str]:
    yield from kind.read.paths if isinstance(kind.read, NodeListsRead) else (kind.read.path,)
    for item in kind.fields:
        yield from item.separate_read_paths.values()
        if isinstance(item, ListOrder) and item.live_order_read is not None:
            yield item.live_order_read.path
    yield from filter(None, (kind.search_list.path if kind.search_list else None,))


def _calls(kind: Kind) -> Iterator[Call]:
    """Every writing request of a kind, but those that only an answer or a pin asks for."""
    found: list[Any] = [kind.create, kind.update, kind.delete, kind.order.call if kind.order else None]
    for item in kind.fields:
        found += item.own_call.values() if isinstance(item.own_call, Mapping) else [item.own_call]
        found += [item.move_order.call] if isinstance(item, ListOrder) and item.move_order else []
    yield from (call for call in found if isinstance(call, Call))


def scopes() -> dict[Operation, str]:
    """Return the OAuth scope of each operation that takes one, by the vendor's current document."""
    lines = (line.split() for line in SCOPES.read_text(encoding="utf-8").splitlines())
    return {(method, path): " ".join(scope) for method, path, *scope in lines}


def roles_table() -> str:
    """By kind the roles and the scopes that reading and writing it need."""
    registry = build_registry("published")
    needs = {(row.method, plain(row.path)): row.required_role or "" for row in ALL_OPERATIONS}
    known = scopes()
    rows = [f"{_ROLES_HEADER} role to write | scopes to read | scopes to write |", "|---|---|---|---|---|"]
    for kind in sorted(registry.kinds.values(), key=lambda one: one.noun):
        reads, writes = requests(registry, kind)
        rows.append(
            f"| {kind.noun} | {_role(reads, needs)} | {_role(writes, needs) if writes else 'read-only'} "
            f"| {_scopes(reads, known)} | {_scopes(writes, known) if writes else ''} |"
        )
    return "\n".join(rows)


def _role(operations: Iterable[Operation], needs: Mapping[Operation, str]) -> str:
    """Return the highest role that one of these operations needs."""
    highest = max((needs.get(one, "") for one in operations), key=ROLES.index)
    return f"`{highest}`" if highest else "viewer"


def _scopes(operations: Iterable[Operation], known: Mapping[Operation, str]) -> str:
    """Return the scopes of these operations, or that a user token is needed if one takes no OAuth token."""
    found = {known.get(one, "") for one in operations}
    if "" in found:
        return "none (only a user token works)"
    return ", ".join(sorted(f"`{scope}`" for text in found for scope in text.split()))


def plain(path: str) -> str:
    """Return the path with every parameter written as `{}`."""
    return re.sub(r"\{[^{}]+\}", "{}", path)


# How the editions differ, by the documents that the companion serves.

Json = Any


def documents() -> dict[str, Json]:
    """Return the OpenAPI document of each profile."""
    found = {}
    for profile in PROFILES:
        store = open_store(":memory:")
        found[profile] = from_json(build_companion(store, profile=profile).openapi_json())
        store.close()
    return found


def operations(document: Json) -> dict[str, Json]:
    """Return a document's description of each operation, by its id; references are followed."""
    schemas = document["components"]["schemas"]
    return {
        operation["operationId"]: {"at": f"{method.upper()} {path}", **_followed(operation, schemas, ())}
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def _followed(node: Json, schemas: Json, inside: tuple[str, ...]) -> Json:
    if isinstance(node, list):
        return [_followed(item, schemas, inside) for item in node]
    if not isinstance(node, dict):
        return node
    name = node.get("$ref", "").rpartition("/")[2]
    if name in inside:
        return {"again": name}
    if name:
        return _followed(schemas[name], schemas, (*inside, name))
    return {
        key: _followed(item, schemas, inside)
        for key, item in node.items()
        if key not in _SAID or isinstance(item, dict)  # a member may have such a name
    }


_SAID = ("description", "title", "summary", "tags", "x-profile", "deprecated")
"""What tells people something and decides nothing."""


def differences(before: Json, after: Json, at: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Where two parts of documents differ: the place, and what is there in each (None: nothing)."""
    if isinstance(before, dict) and isinstance(after, dict) and not _MEMBER.fullmatch(at):
        for key in sorted({*before, *after}):
            place = at if key in _BETWEEN else f"{at}.{key}".lstrip(".")
            yield from differences(before.get(key), after.get(key), place)
    elif isinstance(before, list) and isinstance(after, list) and at.endswith(("parameters", "required")):
        named = [{_name(item): item for item in side} for side in (before, after)]
        for name in sorted({*named[0], *named[1]}):
            if named[0].get(name) != named[1].get(name):
                yield f"{at} {name}", named[0].get(name), named[1].get(name)
    elif before != after:
        yield at, _but(before, after), _but(after, before)


def _but(one: Json, other: Json) -> Json:
    """Return what differs from the other document in the description of a member."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one
    return {key: value for key, value in one.items() if other.get(key) != value} or None


_MEMBER: Final = re.compile(r"requestBody\.\w+")


_BETWEEN = ("content", "application/json", "schema", "properties")
"""What stands between an operation and a member of its body, and names nothing."""


def _name(item: Json) -> str:
    return str(item["name"]) if isinstance(item, dict) else str(item)


def editions_table() -> str:
    """Return the table of the operations of each profile, and of the differences between profiles."""
    known = {profile: operations(document) for profile, document in documents().items()}
    names = sorted(set().union(*known.values()))
    counts = [f"| `{profile}` | {len(known[profile])} |" for profile in PROFILES]
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names:
        groups[tuple(profile for profile in PROFILES if name in known[profile])].append(name)
    rows = [_COUNTS_HEADER, "|---|---|", *counts, "", "| in | operations |", "|---|---|"]
    for profiles, among in sorted(groups.items()):
        if len(profiles) < len(PROFILES):
            rows.append(
                f"| {join_with_and([f'`{one}`' for one in profiles])} only | {len(among)}: "
                f"`{' '.join(among)}` |"
            )
        else:
            rows.append(f"| all three | {len(among)} |")
    rows += [
        "",
        "| API versions | operation | part | in the first | in the second |",
        "|---|---|---|---|---|",
    ]
    for first, then in (("reference", "full"), ("full", "published")):
        together: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for name in names:
            if name in known[first] and name in known[then]:
                for place, before, after in differences(known[first][name], known[then][name]):
                    together[place, _shown(before), _shown(after)].append(name)
        for (place, before, after), among in sorted(together.items()):
            which = f"`{among[0]}`" if len(among) == 1 else f"{len(among)} operations"
            rows.append(f"| `{first}`, `{then}` | {which} | {place} | {before} | {after} |")
    return "\n".join(rows)


def _shown(value: Json) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else to_json(value).decode()
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return f"`{text}`".replace("|", "\\|")


# The page.


def pages() -> dict[Path, str]:
    """Return the text of each page: its hand-written text with the current tables."""
    return {
        PLATFORMS: _with_table(PLATFORMS.read_text(encoding="utf-8"), _ROLES_HEADER, roles_table()),
        VERSIONS: _with_table(VERSIONS.read_text(encoding="utf-8"), _COUNTS_HEADER, editions_table()),
    }


def _with_table(text: str, header: str, table: str) -> str:
    """Replace everything from a table's header to the next section, or to the end of the page."""
    before, found, rest = text.partition(header)
    if not found:
        raise ValueError(f"no table starts with {header!r}")
    _, heading, after = rest.partition("\n## ")
    return f"{before}{table}\n{heading}{after}"


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
