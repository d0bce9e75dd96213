"""A world in which everything is in something and named by something, and what there is in it, by address.

The list of what there is comes from the companion's export alone; it knows nothing of dpsync's kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
ROLES = {"users": {"bo": "edit", "cy": "read"}, "teams": {"sales": "read", "ops": "edit"}}
OWNER = {"user": "ada", "role": "owner"}


def named(*names: str, **more: Any) -> list[Json]:
    """Things that are called what their id is: so the plan and the export have one name for them."""
    return [{"id": name, "title": name, **more} for name in names]


def section(key: str, *shown: str) -> Json:
    children = [{"type": "space", "id": f"{key}-{space}", "space": space, "path": space} for space in shown]
    return {"type": "section", "id": key, "title": key, "path": key, "children": children}


def group(key: str, *children: Json) -> Json:
    return {"type": "section-group", "id": key, "title": key, "children": list(children)}


def redirect(source: str, kind: str = "external", **leads: str) -> Json:
    return {"id": source[1:], "source": source, "destination": {"kind": kind, **leads}}


EVERYTHING: Json = {
    "defaultContent": {"type": "site", "site": "docs"},
    "teams": [
        *named("sales", members=[OWNER, {"user": "bo"}]),
        *named("ops", members=[OWNER, {"user": "cy"}]),
    ],
    "samlProviders": [{"id": "okta", "label": "okta", "defaultTeam": "sales"}],
    "collections": named("shelf", permissions=ROLES),
    "spaces": [
        *named("xx", "yy", permissions=ROLES),
        *named(
            "zz", mergeRules={"type": "rules", "rules": [
                {"rule": "require_specific_reviewers", "users": ["bo", "ada"]}]},
        ),
        *named("fr"),
    ],
    "sites": [
        {
            **named("docs", basename="docs", permissions=ROLES)[0],
            "structure": [
                section("aa", "xx", "yy"), section("bb", "yy"), group("gg", section("cc", "zz")), group("ee"),
                {"type": "external-link", "id": "shop", "title": "shop", "url": "https://shop.example"},
            ],
            "shareLinks": [{"id": "partners", "name": "partners"}],
            "redirects": [
                redirect("/to-bb", "site-section", siteSectionId="bb"),
                redirect("/to-aa-yy", "site-space", siteSpaceId="aa-yy"),
                redirect("/to-bb-yy", "site-space", siteSpaceId="bb-yy"),
                redirect("/out", url="https://a.example"),
            ],
        },
        {
            **named("other", basename="other")[0],
            "structure": [section("dd", "yy"), section("ff", "xx")],
            "redirects": [redirect("/to-dd", "site-section", siteSectionId="dd")],
        },
    ],
    "openapi": [
        {"id": "pets", "slug": "pets", "source": {"url": "https://a.example/api.yaml"},
         "processingState": "complete"},
    ],
    "glossary": [{"id": "pet", "translations": {"en": "pet"}}],
    "translations": [
        {"id": "fr", "source": {"space": "xx", "language": "en"}, "language": "fr", "status": "completed",
         "result": "fr"},
    ],
    "integrations": [
        {"name": "bot", "title": "Bot", "scopes": [], "visibility": "private", "target": "all"},
    ],
    "installations": [
        {"id": "i", "integration": "bot", "spaces": [{"space": "xx"}, {"space": "yy"}],
         "sites": [{"site": "docs"}]},
    ],
}  # fmt: skip


def things(world: Json) -> set[str]:
    """Everything there is in the first organization, and what has another thing as its value, by address."""
    return set(_things(world["organizations"][0]))


def _things(organization: Json) -> Iterator[str]:
    if (organization.get("defaultContent") or {}).get("site"):
        yield "acme#defaultContent"
    for user in organization["members"]:
        yield f"members/{user['user']}"
    for team in organization.get("teams", ()):
        yield f"teams/{team['title']}"
        yield from (f"teams/{team['title']}/members/{user['user']}" for user in team.get("members", ()))
    for provider in organization.get("samlProviders", ()):
        yield f"saml/{provider['label']}"
        if provider.get("defaultTeam"):
            yield f"saml/{provider['label']}#defaultTeam"
    for key in ("collections", "spaces", "sites"):
        for item in organization.get(key, ()):
            if not (item.get("deletedAt") or item.get("deletedDaysAgo") is not None):
                yield f"{key}/{item['title']}"
                yield from _roles(f"{key}/{item['title']}", item)
    for item in organization["sites"]:
        at = f"sites/{item['title']}"
        yield from (f"{at}/redirects/{redirect['source']}" for redirect in item.get("redirects", ()))
        yield from (f"{at}/shareLinks/{link['name']}" for link in item.get("shareLinks", ()))
        yield from _nodes(f"{at}/structure", item.get("structure", ()))
    for key, name in (("openapi", "slug"), ("translations", "language"), ("integrations", "name")):
        place = {"integrations": "publishedIntegrations"}.get(key, key)
        yield from (f"{place}/{item[name]}" for item in organization.get(key, ()))
    yield from (f"glossary/{term['translations']['en']}" for term in organization.get("glossary", ()))
    for item in organization.get("installations", ()):
        at = f"integrations/{item['integration']}"
        yield at
        yield from (f"{at}/spaces/{on['space']}" for on in item.get("spaces", ()))
        yield from (f"{at}/sites/{on['site']}" for on in item.get("sites", ()))


def _roles(at: str, item: Json) -> Iterator[str]:
    roles = item.get("permissions") or {}
    yield from (f"{at}/permissions/members/{user}" for user in roles.get("users", ()))
    yield from (f"{at}/permissions/teams/{team}" for team in roles.get("teams", ()))


def _nodes(at: str, nodes: list[Json], around: str = "") -> Iterator[str]:
    for node in nodes:
        if node["type"] == "space":
            yield f"{at}{around}/{node['path']}"
            continue
        yield f"{at}/{node['title']}"
        inside = f"/{node['title']}" if node["type"] == "section" else ""
        yield from _nodes(at, node.get("children", ()), inside)
