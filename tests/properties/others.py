"""Configurations of the kinds that stand around spaces and sites: two of these are a before and an after.

Everything comes from few names, so that one configuration is often the other with something added, changed,
exchanged or gone.
"""

from __future__ import annotations

from typing import Any

from tests.certificates import AZURE, OKTA, rewrapped

from .configurations import LIMITS
from .organizations import Draw, Fields

ROLES = ("admin", "create", "review", "edit", "comment", "read")
SPACES, TEAMS, LANGUAGES = ("one", "two", "three"), ("writers", "readers", "ops"), ("fr", "de", "es")
TOOLS = ("tools", "bots")
PEOPLE = ("u1", "u2", "u3")


def world() -> Fields:
    """Two integrations that anybody may install, and nothing else but people."""
    users = [{"id": user, "displayName": user, "email": f"{user}@acme.example"} for user in ("u0", *PEOPLE)]
    roles = [{"user": user["id"], "role": "admin" if user["id"] == "u0" else "read"} for user in users]
    published = [{"name": name, "title": name.title(), "visibility": "public"} for name in TOOLS]
    return {
        "users": users,
        "tokens": {"u0-token": "u0"},
        "organizations": [
            {"id": "acme", "title": "Acme", "members": roles},
            {"id": "makers", "title": "Makers", "integrations": published},
        ],
    }


def organization(draw: Draw) -> Fields:
    """One organization, everything in it declared."""
    spaces, teams = draw.some(SPACES, least=1), draw.some(TEAMS)
    translations = {
        f"{space}-{language}": _translation(draw, space, language)
        for space in draw.some(spaces)
        for language in draw.some(LANGUAGES[:2])
    }
    shown = [*spaces, *translations]
    structure = [_section(draw, key, shown) for key in draw.some(["a", "b"], least=1)]
    for key in draw.some(["status", "blog"]):
        structure.insert(draw.number(0, len(structure)), _link(draw, key))
    return {
        "id": "acme",
        "agentInstructions": draw.pick(["", "Be brief.\n", "# How\n\n- Be *brief*.\n- Be kind.\n"]),
        "teams": {key: {"title": key.title(), "new": True} for key in teams},
        "collections": {"all": {"title": "All", "permissions": _permissions(draw, teams)}},
        "spaces": {
            key: {
                "title": key.title(),
                "new": True,
                "language": "en",
                "permissions": _permissions(draw, teams),
            }
            for key in spaces
        },
        "saml": {key: _saml(draw, key, teams) for key in draw.some(["okta", "azure"])},
        "openapi": {key: _openapi(draw) for key in draw.some(["shop", "bank"])},
        "translations": translations,
        "glossary": {key: _terms(draw, key) for key in draw.some(["rod", "core", "valve"])},
        "integrations": {name: _installation(draw, spaces) for name in draw.some(TOOLS)},
        "publishedIntegrations": {name: _published(draw) for name in draw.some(["acme-bot"])},
        "sites": {"docs": _site(draw, structure, teams)},
    }


def looks_alone(draw: Draw) -> Fields:
    """One site of three spaces, whose looks and its own have few values: one often has what another has."""
    spaces = {key: {"title": key.title(), "new": True} for key in SPACES}
    sections = []
    for key in SPACES:
        place: Fields = {"type": "space", "key": "main", "space": key, "path": "main"}
        if draw.chance(0.8):
            place["customization"] = _looks(draw)
        section = {"type": "section", "key": key, "title": f"Section {key}", "path": key, "new": True}
        sections.append(section | {"children": [place]})
    site = {"title": "Docs", "basename": "docs", "structure": sections, "customization": _looks(draw)}
    return {"id": "acme", "spaces": spaces, "sites": {"docs": site}}


PLACES = {
    "teams", "members", "saml", "openapi", "translations", "glossary", "integrations",
    "publishedIntegrations", "spaces", "sites", "shareLinks", "redirects",
}  # fmt: skip


def document(organization: Fields) -> Fields:
    """With a full prune."""
    policy = {"prune": ["**"], "limits": LIMITS}
    return {"dpsync": 1, "policy": policy, "organizations": {"acme": organization}}


def keeping(organization: Fields) -> Fields:
    """Without prune, so without places that are said to be empty."""
    return {"dpsync": 1, "organizations": {"acme": _filled(organization)}}


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if name not in PLACES or item != {}}
        return {name: _filled(item) for name, item in kept.items()}
    return [_filled(item) for item in value] if isinstance(value, list) else value


def _some_of(draw: Draw, fields: Fields) -> Fields:
    return {name: fields[name] for name in draw.some(list(fields))}


def _permissions(draw: Draw, teams: list[str]) -> Fields:
    members = draw.some([f"{user}@acme.example" for user in PEOPLE])
    return {
        "teams": {team: draw.pick(ROLES) for team in draw.some(teams)},
        "members": {member: {"role": draw.pick(ROLES)} for member in members},
    }


def _saml(draw: Draw, key: str, teams: list[str]) -> Fields:
    more = {
        "entityID": draw.pick(["urn:a", "urn:b"]),
        "ssoURL": draw.pick(["https://a.example", "https://b.example"]),
        "certificate": draw.pick([OKTA, rewrapped(OKTA), AZURE]),
        "defaultRole": draw.pick([*ROLES, "guest"]),
    }
    if teams:
        more["defaultTeam"] = draw.pick(teams)
    return {"label": key.title(), "new": True, **_some_of(draw, more)}


def _openapi(draw: Draw) -> Fields:
    made: Fields = {
        "source": {"url": draw.pick(["https://a.example/1.yaml", "https://a.example/2.yaml"])},
        "new": True,
    }
    return made | ({"visibility": draw.pick(["private", "public"])} if draw.chance(0.6) else {})


def _translation(draw: Draw, space: str, language: str) -> Fields:
    made = {"source": {"space": space, "language": "en"}, "language": language, "new": True}
    return made | ({"instructions": draw.pick(["", "Be *kind*.\n"])} if draw.chance(0.6) else {})


def _terms(draw: Draw, key: str) -> Fields:
    return {"en": key} | {language: f"{key}-{draw.number(1, 2)}" for language in draw.some(LANGUAGES)}


def _settings(draw: Draw) -> Fields:
    made = {
        "configuration": {"depth": {"most": draw.number(1, 3)}, **_some_of(draw, {"name": draw.pick("ab")})},
        "externalIds": draw.some(["x", "y", "z"]),
    }
    return _some_of(draw, made)


def _installation(draw: Draw, spaces: list[str]) -> Fields:
    more = {
        "space_selection": draw.pick(["all", "selected"]),
        "site_selection": draw.pick(["all", "selected"]),
    }
    return {
        **_settings(draw),
        **_some_of(draw, more),
        "spaces": {space: _settings(draw) for space in draw.some(spaces)},
        "sites": {site: _settings(draw) for site in draw.some(["docs"])},
    }


def _published(draw: Draw) -> Fields:
    more = {
        "description": draw.pick(["Asks", "Answers"]),
        "scopes": draw.some(["openapi:read", "openapi:write", "space:git:sync"]),
        "target": draw.pick(["site", "space"]),
        "visibility": draw.pick(["private", "unlisted"]),
    }
    return {"title": draw.pick(["Bot", "Robot"]), "script": "export default {}", **_some_of(draw, more)}


_ACCOUNT = {"platform": "github", "handle": "acme", "display": {"footer": True, "header": False}}


def _looks(draw: Draw) -> Fields:
    colour = draw.pick(["#ff0000", "#00ff00"])
    return _some_of(
        draw,
        {
            "title": draw.pick(["Docs", "Manuals"]),
            "styling": {
                "corners": draw.pick(["straight", "rounded"]),
                "primaryColor": {"light": colour, "dark": colour},
            },
            "themes": {"default": draw.pick(["light", "dark"])},
            "socialAccounts": draw.pick([[], [_ACCOUNT]]),
        },
    )


def _section(draw: Draw, key: str, shown: list[str]) -> Fields:
    at = {"type": "space", "key": "main", "space": draw.pick(shown), "path": "main"}
    children = [at | ({"customization": _looks(draw)} if draw.chance(0.5) else {})]
    said = {"title": f"Section {key}", "path": key, "new": True}
    return {"type": "section", "key": key, **said, "children": children}


def _link(draw: Draw, key: str) -> Fields:
    more = {"icon": draw.pick([None, "book"]), "description": draw.pick([None, "elsewhere"])}
    made = {"type": "external-link", "key": key, "title": key, "url": f"https://{draw.pick('ab')}.example"}
    if draw.chance(0.4):
        inside = [made | _some_of(draw, more)]
        return {"type": "section-group", "key": f"g-{key}", "title": f"Group {key}", "children": inside}
    return made | _some_of(draw, more)


def _redirect(draw: Draw, structure: list[Fields]) -> Fields:
    sections = [node["key"] for node in structure if node["type"] == "section"]
    to: Any = draw.pick(
        [
            {"kind": "external", "url": draw.pick(["https://a.example", "https://b.example"])},
            {"kind": "site-section", "siteSectionId": draw.pick(sections)},
            {"kind": "site-space", "siteSpaceId": f"{draw.pick(sections)}/main"},
        ]
    )
    flags = {name: draw.chance(0.5) for name in ("permanent", "captureWildcard", "draft")}
    return {"destination": to, **_some_of(draw, flags)}


def _site(draw: Draw, structure: list[Fields], teams: list[str]) -> Fields:
    return {
        "title": "Docs",
        "basename": "docs",
        "visibility": draw.pick(["public", "share-link", "visitor-auth"]),
        "structure": structure,
        "permissions": _permissions(draw, teams),
        "customization": _looks(draw),
        "visitorAuth": {
            "backend": draw.pick(["custom", "integration"]),
            **_some_of(draw, {"fallbackURL": draw.pick([None, "https://a.example"])}),
        },
        "shareLinks": {
            name: _some_of(draw, {"active": draw.chance(0.5)}) for name in draw.some(["P", "Q / R"])
        },
        "redirects": {source: _redirect(draw, structure) for source in draw.some(["/a", "/b*", "/c d"])},
    }
