"""The state of the companion without what differs between two ways to one end: new ids, times, positions.

What was there from the start keeps its id: an end state in which it was made anew is another one.
"""

from __future__ import annotations

from typing import Any

from .organizations import Fields

_FLEETING = {
    "auditEvents", "createdAt", "createdBy", "updatedAt", "joinedAt", "lastSeenAt", "position", "deletedAt",
}  # fmt: skip


def settled(state: Fields, born: set[str]) -> Fields:
    """Return the organizations of a state. Ids that are not in `born` become names of titles and paths."""
    return {org["id"]: _organization(org, born) for org in state["organizations"]}


def differences(one: Any, other: Any, at: str = "") -> list[str]:
    """Where two states differ, for a message that can be read."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other}, key=str)
        return [found for key in keys for found in differences(one.get(key), other.get(key), f"{at}/{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for index, (a, b) in pairs for found in differences(a, b, f"{at}/{index}")]
    return [] if one == other else [f"{at}: {one} != {other}"]


def ids(state: Fields) -> set[str]:
    """Return the ids of everything in a state."""
    found: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("id"), str):
                found.add(value["id"])
            for item in value.values():
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    collect(state["organizations"])
    return found


def _organization(org: Fields, born: set[str]) -> Fields:
    names: dict[str | None, str | None] = {None: None}
    for word in ("collections", "spaces", "sites"):
        for item in org[word]:
            made = f"{word}: {item['basename' if word == 'sites' else 'title']}"
            names[item["id"]] = item["id"] if item["id"] in born else made
    spaces = [item for item in org["spaces"] if "deletedAt" not in item]
    orders: dict[str | None, list[str | None]] = {}
    for space in sorted(spaces, key=lambda item: item["position"]):
        orders.setdefault(names[space["parent"]], []).append(names[space["id"]])
    orders[None] = sorted(map(str, orders.get(None, [])))  # that of spaces at the top is not managed
    collection_orders: dict[str | None, list[str | None]] = {}
    for item in sorted(org["collections"], key=lambda item: item["position"]):
        collection_orders.setdefault(names[item["parent"]], []).append(names[item["id"]])
    content = org.get("defaultContent")
    parts = ("members", "teams", "collections", "spaces", "sites")
    return {
        "settings": _plain(org, *parts) | {"defaultContent": content and names[content["site"]]},
        "members": {item["user"]: _plain(item) for item in org["members"]},
        "teams": sorted((_team(team, born) for team in org["teams"]), key=str),
        "collections": {
            names[item["id"]]: _plain(item, "id") | {"parent": names[item["parent"]]}
            for item in org["collections"]
        },
        "spaces": {
            names[item["id"]]: _plain(item, "id") | {"parent": names[item["parent"]]} for item in spaces
        },
        "deleted": sorted(str(names[item["id"]]) for item in org["spaces"] if "deletedAt" in item),
        "orders": orders,
        "collection orders": collection_orders,
        "sites": {
            names[site["id"]]: _plain(site, "id", "structure")
            | {"structure": [_node(node, names, born) for node in site["structure"]]}
            | {"adaptiveContent": site.get("adaptiveContent") or {"enabled": False}}  # absent is off
            for site in org["sites"]
        },
    }


def _team(team: Fields, born: set[str]) -> Fields:
    people = {member["user"]: member["role"] for member in team["members"]}
    return _plain(team, "id", "members") | {
        "id": team["id"] if team["id"] in born else "new",
        "people": people,
    }


def _node(node: Fields, names: dict[str | None, str | None], born: set[str]) -> Fields:
    made = _plain(node, "id", "space", "children") | {
        "id": node["id"] if node["id"] in born else "new",
        "draft": bool(node.get("draft")),  # absent is no draft: the platform answers the same
    }
    if "space" in node:
        made["space"] = names[node["space"]]
    return made | {"children": [_node(child, names, born) for child in node.get("children", ())]}


def _plain(fields: Fields, *left_out: str) -> Fields:
    return {
        name: _sets(name, value)
        for name, value in fields.items()
        if name not in left_out and name not in _FLEETING and value not in (None, "")
    }


def _sets(name: str, value: Any) -> Any:
    """Return the value with lists sorted whose order has no meaning."""
    if name == "emailDomains":
        return sorted(value)
    if name == "mergeRules":
        rules = [
            rule | {"users": sorted(rule["users"])} if "users" in rule else rule
            for rule in value.get("rules", ())
        ]
        return value | {"rules": rules}
    return value
