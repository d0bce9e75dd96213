"""Sites, their visitor schemas and their navigation.

    sites:
      - id, title, basename, type, visibility, published, agentsContext, adaptiveContent, proxy…
        styleguide: the id of a space of the type styleguide
        createdBy: a user's id                                      # optional
        adaptiveSchema: {…}                                         # a visitor schema
        structure:                                                  # only spaces, or sections and groups
          - {type: section-group, id, title, icon, children: […]}
          - type: section
            id, title, path, icon, description, condition, default
            children: [{type: space, id, space, path, condition, hidden, default, customization}]
          - {type: external-link, id, title, url, icon, description, condition}
        gitSync: {repoName, installationProvider, url…}             # optional: as responses have it

The local server creates missing paths and basenames. The first section or site space is the default unless
another one has `default: true`.
"""

from collections.abc import Iterable
from itertools import count
from typing import Any

from ..content.slugs import unique_slug
from ..records.family import Columns, Dependency, Family, clear
from ..records.order import STEP
from ..records.world_format import Dumping, Loading, WorldSection, but
from ..sites.navigation import GROUP, LINK, OVERRIDES, PLACE, SECTION, take_out
from ..sites.navigation import read as read_navigation
from ..store import Json, Record
from . import shapes


def _load(loading: Loading, organization: Record, given: list[Json]) -> None:
    for site in loading.each(given):
        _site(loading, organization.id, site)


def _site(loading: Loading, organization: str, given: Json) -> None:
    id = loading.id("site", given)
    basenames = loading.basenames.setdefault(organization, set())
    title = given.get("title") or "Untitled"
    doc = {
        "title": title,
        "type": "basic",
        "visibility": "public",
        "basename": given.get("basename") or unique_slug(title, basenames, "site"),
        "agentsContext": "included",
        "published": False,
        "createdAt": loading.then(),
        **but(loading.own("site", given), "styleguide"),
    }
    basenames.add(doc["basename"])
    site = Record("site", id, doc, organization, organization, ref=_styleguide(loading, given))
    loading.inside(loading.add(site), given)


def _styleguide(loading: Loading, given: Json) -> str:
    """Return the id of the style guide of a site, or "".

    Raise ValueError if the space is not a style guide.
    """
    id = given.get("styleguide") or ""
    space = loading.get("space", id) if id else None
    if id and (space is None or space.doc.get("type") != "styleguide"):
        raise ValueError(f"the style guide {id!r} of the site {given.get('id')!r} is not a style guide space")
    return id


def _load_schema(loading: Loading, site: Record, given: Json) -> None:
    kept = {"jsonSchema": given, "updatedAt": loading.then()}
    loading.add(Record("adaptive-schema", site.id, kept, site.organization, site.id))


def _dump_schema(dumping: Dumping, site: Record) -> Json | None:
    kept = dumping.store.get("adaptive-schema", site.id)
    return kept.doc["jsonSchema"] if kept else None


# --- navigation -----------------------------------------------------------------------------------


def _load_structure(loading: Loading, site: Record, given: list[Json]) -> None:
    if all(node["type"] == "space" for node in given):
        _site_spaces(loading, site, "", given)
    else:
        sections: list[Record] = []
        _nodes(loading, site, "", given, sections)
        _one_default(sections)


def _nodes(
    loading: Loading, site: Record, parent: str, nodes: Iterable[Json], sections: list[Record]
) -> None:
    for position, node in zip(count(STEP, STEP), loading.each(nodes), strict=False):
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
            raise ValueError(f"a node of the type {node['type']!r} cannot be next to sections and groups")


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
    for position, node in zip(count(STEP, STEP), loading.each(nodes), strict=False):
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
            looks = node["customization"]
            loading.add(Record(OVERRIDES, place.id, looks, place.organization, place.scope))
    _one_default(made)


def _one_default(nodes: list[Record]) -> None:
    """Make exactly one node the default: the first node with `default: true`, or else the first node."""
    chosen = next((node for node in nodes if node.doc["default"]), nodes[0] if nodes else None)
    for node in nodes:
        node.doc["default"] = node is chosen


def _dump(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created("site", organization=organization.id)
    return [{"id": site.id, **site.doc, **_named(site), **dumping.inside(site)} for site in found]


def _named(site: Record) -> Json:
    return {"styleguide": site.ref} if site.ref else {}


def _dump_structure(dumping: Dumping, site: Record) -> list[Json]:
    nav = read_navigation(dumping.store, site)
    overrides = {kept.id: kept.doc for kept in dumping.store.find(OVERRIDES, scope=site.id)}

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

    return nodes("") if nav.sectioned else places("")


def _in_section(section: Record) -> Columns:
    return {"scope": section.scope, "parent": section.id}


FAMILIES = (
    Family("site", prefix="site", owner="organization", counted=True,
           depends_on=(Dependency("space", on_delete=clear("ref")),),  # its style guide
           world=WorldSection("sites", _load, _dump, shape=list[shapes.Site], kind="site")),
    Family("adaptive-schema", owner="site",
           world=WorldSection("adaptiveSchema", _load_schema, _dump_schema, ("site",), dict[str, Any])),
    Family(GROUP, prefix="group", owner="site",  # the whole navigation is one tree
           world=WorldSection("structure", _load_structure, _dump_structure, ("site",),
                              list[shapes.Node])),
    Family(SECTION, prefix="sect", owner="site"),
    Family(LINK, prefix="link", owner="site"),
    Family(PLACE, prefix="place", owner="site",
           depends_on=(Dependency(SECTION, _in_section),
                  Dependency("space", lambda space: {"ref": space.id}, on_delete=take_out))),
    Family(OVERRIDES, owner="site", depends_on=(Dependency(PLACE, lambda place: {"id": place.id}),)),
)  # fmt: skip
