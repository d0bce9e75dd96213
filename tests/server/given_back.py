"""What a caller reads, as the body of the operation that writes it.

A body has what the answer has of it, by the same names. Where the platform reads a member under another name
or in another form than it writes it, that is said here, by the model of the body.
"""

from collections.abc import Callable, Iterator
from typing import Any

from companion_calls import Api
from world_walk import Walk, id_of, nodes

from dpsync.server.operations import OPERATIONS
from dpsync.server.request.operation import Operation

Json = dict[str, Any]

WRITES_NOTHING_THAT_IS_READ = {
    "createOrganizationTeam": "makes another team each time",
    "sortSiteStructure": "an order has no value: see test_companion_order",
    "setIntegrationDevelopmentMode": "the tunnel is in no answer",
}
"""Operations that are no counterpart of a reading."""

_READ = {row.path: row for row in OPERATIONS if row.method == "GET" and not row.returns_text}


def _below(thing: Json) -> Json:
    return {"siteSectionGroupId": thing.get("sectionGroup")}


def _first(thing: Json) -> str | None:
    return next((place["id"] for place in thing["siteSpaces"] if place["default"]), None)


def _section(thing: Json) -> Json:
    default = _first(thing)
    return _below(thing) | ({"defaultSiteSpace": default} if default else {})


def _bulk(thing: Json) -> Json:
    members = ("source", "destination", "captureWildcard", "permanent")
    items = [
        {name: item[name] for name in members} | {"intent": "draft" if item["draft"] else "live"}
        for item in thing["items"]
    ]
    return {"redirects": items} if items else {}


def _terms(thing: Json) -> Json:
    return {
        "operations": [
            {"type": "update", "id": item["id"], "translations": item["translations"]}
            for item in thing["items"]
        ]
    }


def _memberships(thing: Json) -> Json:
    roles = {item["organization"]["id"]: item["team"] for item in thing["items"]}
    return {"add": list(roles), "memberships": roles}


_OTHERWISE: dict[str, Callable[[Json], Json]] = {
    "SiteUpdate": lambda thing: {"proxy": thing["proxy"]["origin"]} if "proxy" in thing else {},
    "SectionUpdate": _section,
    "GroupUpdate": lambda thing: {"parentSectionGroupId": thing.get("sectionGroup")},
    "LinkUpdate": lambda thing: {"parent": thing.get("sectionGroup")},
    "SiteSpaceUpdate": lambda thing: {"spaceId": thing["space"]["id"]},
    "RedirectItems": _bulk,
    "MembershipChange": lambda thing: {"role": thing["team"]["role"]},
    "MembershipChanges": _memberships,
    "PermissionUpdate": lambda thing: {"role": thing["permission"]},
    "CommentUpdate": lambda thing: {"resolved": thing["status"] == "resolved"},
    "SamlProviderUpdate": lambda thing: (
        {"defaultTeam": thing["defaultTeam"]["id"]} if "defaultTeam" in thing else {}
    ),
    "SpecPut": lambda thing: {"source": {"url": thing["sourceURL"]}} if thing.get("sourceURL") else {},
    "GlossaryChanges": _terms,
}


def written() -> list[Operation]:
    """Every operation by which a thing that can be read is changed."""
    return [
        row
        for row in OPERATIONS
        if row.method in ("PATCH", "PUT") and row.id not in WRITES_NOTHING_THAT_IS_READ
    ]


def body_of(row: Operation, thing: Json) -> Json:
    """Empty where the operation takes nothing of what there is."""
    assert row.body_model is not None
    same = {name: value for name, value in thing.items() if name in row.body_model.model_fields}
    return same | _OTHERWISE.get(row.body_model.__name__, lambda _: {})(thing)


def read(api: Api, row: Operation, path: str) -> Json | None:
    """Return what the operation writes at a path: by GET, or as an item of the list or tree around it."""
    if row.path in _READ:
        answer = api.call("GET", path)
        return answer.json() if answer.status_code == 200 else None
    around, _, id = path.rpartition("/")
    if around.endswith("/external-links"):
        structure = api.get(around.removesuffix("/external-links") + "/structure")["structure"]
        return next((node for node in nodes(structure) if node["id"] == id), None)
    return next((item for item in api.items(around, limit=1000) if id_of(item) == id), None)


def things(api: Api, profile: str = "full") -> Iterator[tuple[Operation, str, Json]]:
    """All that the caller may read and an operation of the profile writes."""
    walk = Walk(api, profile)
    for row in written():
        if row.is_supported_by(profile):
            for path in walk.paths(row.path):
                thing = read(api, row, path)
                if thing is not None:
                    yield row, path, thing
