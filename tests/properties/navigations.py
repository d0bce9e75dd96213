"""Sites whose parts are hidden and shown in every way: two of these are a before and an after.

One value is what is live or what is wanted: a world and a configuration are made of it, with every key as the
id and the path, so that what is on both sides is one thing.
"""

from __future__ import annotations

from typing import Any

from .configurations import LIMITS, TOKEN
from .organizations import CALLER, Draw, Fields

SPACES, NEW = ("a", "b", "c"), ("d", "e")
GROUPS, SECTIONS, PLACES, LINKS = ("g1", "g2"), ("s1", "s2", "s3"), ("p1", "p2"), ("l1", "l2")
ADDED = ("draft", "localizedTitle", "pageId")
"""What the reference has no operation for."""


def arrangement(draw: Draw, after: bool = False, full: bool = True, flat: bool = False) -> Fields:
    """`after`: what may be wanted. Without `full`, what the documented operations can make."""
    spaces = [*SPACES, *(NEW if after and full else ())]
    sites = {"docs": _site(draw, "docs", spaces, full, flat)}
    if after and full and draw.chance(0.1):
        sites["more"] = _site(draw, "more", spaces, full, flat)
    specs = {"x": _spec(draw)} if draw.chance(0.3) else {}
    return {"spaces": spaces, "sites": sites, "openapi": specs}


def _site(draw: Draw, name: str, spaces: list[str], full: bool, flat: bool) -> Fields:
    links = full and not draw.chance(0.2)
    made: Fields = {
        "visibility": draw.pick([*["public"] * 6, "unlisted", "share-link", "visitor-auth"]),
        "published": draw.chance(0.85),
        "adaptive": draw.chance(0.7),
        "shareLinks": {"friends": draw.chance(0.7)} if full else {},
        "nodes": {},
    }
    nodes = made["nodes"]
    if flat:
        for key in draw.some(PLACES, least=1):
            nodes[f"{name}-{key}"] = _place(draw, spaces, full)
    else:
        groups = draw.some(GROUPS)
        for key in groups:
            inside = [f"{name}-{other}" for other in groups[: groups.index(key)]]
            nodes[f"{name}-{key}"] = {
                "type": "section-group", "draft": full and draw.chance(0.4),
                "in": draw.pick([None, *inside]),
            }  # fmt: skip
        holders = [None, *(f"{name}-{key}" for key in groups)]
        for key in draw.some(SECTIONS, least=1):
            section = f"{name}-{key}"
            nodes[section] = {
                "type": "section", "draft": full and draw.chance(0.3), "condition": _condition(draw),
                "in": draw.pick(holders),
            }  # fmt: skip
            for place in draw.some(PLACES, least=1):
                nodes[f"{section}-{place}"] = {**_place(draw, spaces, full), "in": section}
        for key in draw.some(LINKS) if links else ():
            nodes[f"{name}-{key}"] = {
                "type": "external-link", "draft": draw.chance(0.4), "condition": _condition(draw),
                "url": f"https://{draw.pick('uvw')}.example", "in": draw.pick(holders),
            }  # fmt: skip
    targets = [key for key, node in nodes.items() if node["type"] in ("section", "space")]
    made["redirects"] = {
        source: {"to": draw.pick([*targets, *targets, "https://a.example"]), "draft": draw.chance(0.4)}
        for source in (draw.some(["/x", "/y"]) if full else ())
    }
    return made


def _place(draw: Draw, spaces: list[str], full: bool) -> Fields:
    return {
        "type": "space", "space": draw.pick(spaces), "draft": full and draw.chance(0.3),
        "hidden": draw.chance(0.3), "condition": _condition(draw), "in": None,
    }  # fmt: skip


def _condition(draw: Draw) -> str | None:
    return "visitor.claims.beta" if draw.chance(0.35) else None


def _spec(draw: Draw) -> Fields:
    return {
        "url": f"https://{draw.pick('ab')}.example/1.yaml",
        "visibility": draw.pick(["private", "public"]),
    }


# --- as a world -------------------------------------------------------------------------------------


def world(made: Fields) -> Fields:
    organization = {
        "id": "acme",
        "title": "Acme",
        "members": [{"user": CALLER, "role": "admin"}],
        "spaces": [{"id": key, "title": _title(key)} for key in made["spaces"]],
        "sites": [_live(name, site) for name, site in made["sites"].items()],
        "openapi": [
            {"slug": key, "source": {"url": one["url"]}, "visibility": one["visibility"]}
            for key, one in made["openapi"].items()
        ],
    }
    return {
        "users": [{"id": CALLER, "displayName": "U", "email": "u0@acme.example"}],
        "tokens": {TOKEN: CALLER},
        "organizations": [organization],
    }


def _title(key: str) -> str:
    return f"Title {key}"


def _live(name: str, site: Fields) -> Fields:
    return {
        "id": name, "title": _title(name), "basename": name, "visibility": site["visibility"],
        "published": site["published"], "adaptiveContent": {"enabled": site["adaptive"]},
        "adaptiveSchema": _SCHEMA,
        "structure": [_live_node(key, site) for key in _inside(site, None)],
        "shareLinks": [{"id": f"{name}-{key}", "name": key, "active": on}
                       for key, on in site["shareLinks"].items()],
        "redirects": [
            {"id": f"{name}-r-{source[1:]}", "source": source, "destination": _leads(site, item["to"], str),
             "draft": item["draft"]}
            for source, item in site["redirects"].items()
        ],
    }  # fmt: skip


_SCHEMA = {
    "type": "object",
    "properties": {"beta": {"type": "boolean", "description": "In the beta"}},
    "additionalProperties": False,
}


def _inside(site: Fields, key: str | None) -> list[str]:
    return [one for one, node in site["nodes"].items() if node["in"] == key]


def _live_node(key: str, site: Fields) -> Fields:
    node = site["nodes"][key]
    made = {"id": key, **{name: value for name, value in node.items() if name != "in" and value}}
    if node["type"] != "space":
        made["title"] = _title(key)
    if node["type"] in ("space", "section"):
        made["path"] = key
    if node["type"] in ("section-group", "section"):
        made["children"] = [_live_node(one, site) for one in _inside(site, key)]
    return made


def _leads(site: Fields, to: str, name: Any) -> Fields:
    if "://" in to:
        return {"kind": "external", "url": to}
    if site["nodes"][to]["type"] == "section":
        return {"kind": "site-section", "siteSectionId": name(to)}
    return {"kind": "site-space", "siteSpaceId": name(to)}


# --- as a configuration -----------------------------------------------------------------------------


def configuration(draw: Draw, made: Fields, before: Fields, full: bool = True) -> Fields:
    """Everything declared; what is set neither here nor before is left out by chance."""
    organization: Fields = {
        "id": "acme",
        "spaces": {
            key: {"title": _title(key), **({"new": True} if key in NEW else {"id": key})}
            for key in made["spaces"]
        },
        "sites": {
            name: _wanted(draw, name, site, before["sites"].get(name, {"nodes": {}}), full)
            for name, site in made["sites"].items()
        },
        "openapi": {
            key: {"source": {"url": one["url"]}, "visibility": one["visibility"]}
            for key, one in made["openapi"].items()
        },
    }
    places = [
        place
        for site in ("docs", "more")
        for place in (f"sites/{site}/structure", *([f"sites/{site}/redirects"] if full else []))
    ]
    policy = {"prune": places, "limits": LIMITS}
    return {"dpsync": 1, "policy": policy, "organizations": {"acme": _without_empty(organization)}}


def _without_empty(organization: Fields) -> Fields:
    return {name: value for name, value in organization.items() if value != {}}


def _wanted(draw: Draw, name: str, site: Fields, before: Fields, full: bool) -> Fields:
    made: Fields = {
        "title": _title(name), "basename": name, "visibility": site["visibility"],
        "adaptiveContent": {"enabled": site["adaptive"]}, "adaptiveSchema": _SCHEMA,
        "structure": [_wanted_node(draw, key, site, before) for key in _inside(site, None)],
    }  # fmt: skip
    if full:
        made["published"] = site["published"]
        made["shareLinks"] = {key: {"active": on} for key, on in site["shareLinks"].items()}
        made["redirects"] = {
            source: {
                "destination": _leads(site, item["to"], lambda to: _named(site, to)),
                "draft": item["draft"],
            }
            for source, item in site["redirects"].items()
        }
    return made


def _named(site: Fields, key: str) -> str:
    around = site["nodes"][key]["in"] if site["nodes"][key]["type"] == "space" else None
    return f"{around}/{key}" if around else key


def _wanted_node(draw: Draw, key: str, site: Fields, before: Fields) -> Fields:
    node, was = site["nodes"][key], before["nodes"].get(key, {})
    made: Fields = {"type": node["type"], "key": key, **({"id": key} if was else {})}
    if node["type"] != "space":
        made["title"] = _title(key)
    if node["type"] in ("space", "section"):
        made["path"] = key
    for name in ("draft", "hidden", "condition", "url", "space"):
        value = node.get(name)
        if value or was.get(name) or (name in node and value is False and draw.chance(0.2)):
            made[name] = value
    if node["type"] in ("section-group", "section"):
        made["children"] = [_wanted_node(draw, one, site, before) for one in _inside(site, key)]
    return made
