"""Sites, their visitor schemas and their navigation.

Paths and basenames that are left out are made as the service makes them, and the first of its kind is the
default where none says so.
"""

from collections.abc import Iterable

from ..navigation import GROUP, LINK, PLACE, SECTION
from ..navigation import read as read_navigation
from ..slugs import unique_slug
from ..store import Record, Store
from . import grants, publishing
from .loading import Json, Loading, Part, but, created


def _load(loading: Loading, organization: str, given: list[Json]) -> None:
    for site in given:
        _site(loading, organization, site)


def _site(loading: Loading, organization: str, given: Json) -> None:
    id = loading.id("site", given)
    basenames = {
        record.doc["basename"]
        for record in loading.records
        if record.kind == "site" and record.organization == organization
    }
    title = given.get("title") or "Untitled"
    doc = {
        "title": title,
        "type": "basic",
        "visibility": "public",
        "basename": given.get("basename") or unique_slug(title, basenames, "site"),
        "agentsContext": "included",
        "published": False,
        "createdAt": loading.then(),
        **but(given, "id", "structure", "adaptiveSchema", grants.KEY, *publishing.KEYS),
    }
    site = loading.add(Record("site", id, doc, organization, organization))
    grants.load(loading, site, given)
    if schema := given.get("adaptiveSchema"):
        kept = {"jsonSchema": schema, "updatedAt": loading.then()}
        loading.add(Record("adaptive-schema", id, kept, organization, id))
    nodes = given.get("structure") or []
    if nodes and all(node["type"] == "space" for node in nodes):
        _site_spaces(loading, site, "", nodes)
    else:
        sections: list[Record] = []
        _nodes(loading, site, "", nodes, sections)
        _one_default(sections)
    publishing.load(loading, site, given)


def _nodes(
    loading: Loading, site: Record, parent: str, nodes: Iterable[Json], sections: list[Record]
) -> None:
    for position, node in enumerate(nodes, 1):
        if node["type"] == "section-group":
            id = loading.id(GROUP, node)
            doc = {"title": "Untitled", **but(node, "id", "type", "children")}
            loading.add(Record(GROUP, id, doc, site.organization, site.id, parent, position))
            _nodes(loading, site, id, node.get("children") or [], sections)
        elif node["type"] == "external-link":
            id, doc = loading.id(LINK, node), but(node, "id", "type")
            loading.add(Record(LINK, id, doc, site.organization, site.id, parent, position))
        elif node["type"] == "section":
            _section(loading, site, parent, position, node, sections)
        else:
            raise ValueError(f"a node of type {node['type']!r} beside sections and groups")


def _section(
    loading: Loading, site: Record, parent: str, position: int, node: Json, sections: list[Record]
) -> None:
    id = loading.id(SECTION, node)
    title = node.get("title") or "Untitled"
    taken = {section.doc["path"] for section in sections}
    doc = {
        "title": title,
        "path": node.get("path") or unique_slug(title, taken, "section"),
        "default": False,
        **but(node, "id", "type", "children"),
    }
    sections.append(loading.add(Record(SECTION, id, doc, site.organization, site.id, parent, position)))
    _site_spaces(loading, site, id, node.get("children") or [])


def _site_spaces(loading: Loading, site: Record, section: str, nodes: Iterable[Json]) -> None:
    made: list[Record] = []
    for position, node in enumerate(nodes, 1):
        space = node["space"]
        if space not in loading.titles:
            raise ValueError(f"the site {site.id!r} shows the unknown space {space!r}")
        taken = {place.doc["path"] for place in made}
        doc = {
            "path": node.get("path") or unique_slug(loading.titles[space], taken, "space"),
            "default": False,
            "hidden": False,
            **but(node, "id", "type", "space", "customization"),
        }
        id = loading.id(PLACE, node)
        place = loading.add(Record(PLACE, id, doc, site.organization, site.id, section, position, space))
        made.append(place)
        if node.get("customization"):
            publishing.load_overrides(loading, place, node["customization"])
    _one_default(made)


def _one_default(nodes: list[Record]) -> None:
    """Where none, or more than one, claims to be the default, the first (claiming) one is."""
    chosen = next((node for node in nodes if node.doc["default"]), nodes[0] if nodes else None)
    for node in nodes:
        node.doc["default"] = node is chosen


def _dump(store: Store, organization: str) -> list[Json]:
    return [_dump_site(store, site) for site in created(store, "site", organization=organization)]


def _dump_site(store: Store, site: Record) -> Json:
    nav, overrides = read_navigation(store, site), publishing.overrides(store, site)

    def places(section: str) -> list[Json]:
        return [place_of(place) for place in nav.places_in(section)]

    def place_of(place: Record) -> Json:
        looks = {"customization": overrides[place.id]} if overrides.get(place.id) else {}
        return {"type": "space", "id": place.id, "space": place.ref, **place.doc, **looks}

    def node_of(node: Record) -> Json:
        if node.kind == LINK:
            return {"type": "external-link", "id": node.id, **node.doc}
        if node.kind == GROUP:
            return {"type": "section-group", "id": node.id, **node.doc, "children": nodes(node.id)}
        return {"type": "section", "id": node.id, **node.doc, "children": places(node.id)}

    def nodes(parent: str) -> list[Json]:
        return [node_of(node) for node in nav.children(parent)]

    made: Json = {"id": site.id, **site.doc, "structure": nodes("") if nav.sectioned else places("")}
    if kept := store.get("adaptive-schema", site.id):
        made["adaptiveSchema"] = kept.doc["jsonSchema"]
    return {**made, **grants.dump(store, site), **publishing.dump(store, site)}


PARTS = (Part("sites", _load, _dump),)
