"""Declare the records of sites, their visitor schemas and their navigation.

Output: a `RecordKind` for each. The comment below shows the form in a world (the data that the local server
starts with). The local server creates missing paths and basenames. The first section or site space is the
default unless another one has `default: true`.
"""

# sites:
#   - id, title, basename, type, visibility, published, agentsContext, adaptiveContent, proxy…
#     styleguide: the id of a space of the type styleguide
#     createdBy: a user's id                                      # optional
#     adaptiveSchema: {…}                                         # a visitor schema
#     structure:                                                  # only spaces, or sections and groups
#       - {type: section-group, id, title, icon, children: […]}
#       - type: section
#         id, title, path, icon, description, condition, default
#         children: [{type: space, id, space, path, condition, hidden, default, customization}]
#       - {type: external-link, id, title, url, icon, description, condition}
#     gitSync: {repoName, installationProvider, url…}             # optional: as responses have it

from collections.abc import Iterable
from itertools import count
from typing import Any

from ..content.slugs import unique_slug
from ..records.record_kind import ColumnFilter, Dependency, RecordKind, clear_column
from ..records.sibling_order import POSITION_STEP
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, without_keys
from ..sites.navigation import (
    EXTERNAL_LINK,
    GROUP,
    SECTION,
    SITE_SPACE,
    SITE_SPACE_CUSTOMIZATION,
    read_navigation,
    remove_space_from_site,
)
from ..store import Json, Record
from . import world_models


def _load_sites(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load the sites of an organization from a world file (the server's initial data)."""
    for site in loader.each_entry(entries):
        _load_site(loader, organization.id, site)


def _load_site(loader: WorldLoader, organization: str, entry: Json) -> None:
    """Load a site with everything in it. By default, the basename comes from the title."""
    id = loader.entry_id("site", entry)
    basenames = loader.site_basenames.setdefault(organization, set())
    title = entry.get("title") or "Untitled"
    doc = {
        "title": title,
        "type": "basic",
        "visibility": "public",
        "basename": entry.get("basename") or unique_slug(title, basenames, "site"),
        "agentsContext": "included",
        "published": False,
        "createdAt": loader.next_timestamp(),
        **without_keys(loader.without_children("site", entry), "styleguide"),
    }
    basenames.add(doc["basename"])
    site = Record("site", id, doc, organization, organization, ref=_find_styleguide(loader, entry))
    loader.load_children(loader.add(site), entry)


def _find_styleguide(loader: WorldLoader, entry: Json) -> str:
    """Return the id of the style guide of a site, or "".

    Raise ValueError if the space is not a style guide.
    """
    id = entry.get("styleguide") or ""
    space = loader.get("space", id) if id else None
    if id and (space is None or space.doc.get("type") != "styleguide"):
        raise ValueError(f"the style guide {id!r} of the site {entry.get('id')!r} is not a style guide space")
    return id


def _load_schema(loader: WorldLoader, site: Record, schema: Json) -> None:
    """Load the visitor schema of a site from a world file (the server's initial data)."""
    doc = {"jsonSchema": schema, "updatedAt": loader.next_timestamp()}
    loader.add(Record("adaptive-schema", site.id, doc, site.organization, site.id))


def _dump_schema(dumper: WorldDumper, site: Record) -> Json | None:
    """Return the visitor schema of a site as a world file (the server's initial data) has it.

    None if there is none.
    """
    record = dumper.store.get("adaptive-schema", site.id)
    return record.doc["jsonSchema"] if record else None


# --- navigation -----------------------------------------------------------------------------------


def _load_structure(loader: WorldLoader, site: Record, entries: list[Json]) -> None:
    """Load the navigation of a site from a world file (the server's initial data).

    The top level has only site spaces, or only groups, sections and links. One section is the default.
    """
    if all(node["type"] == "space" for node in entries):
        _load_site_spaces(loader, site, "", entries)
    else:
        sections: list[Record] = []
        _load_nodes(loader, site, "", entries, sections)
        _set_one_default(sections)


def _load_nodes(
    loader: WorldLoader, site: Record, parent: str, nodes: Iterable[Json], sections: list[Record]
) -> None:
    """Load groups, sections and links in `parent`, a group or the top level (""), and add to `sections`.

    `sections` collects the sections of the whole site. Raise ValueError for a site space among these nodes.
    """
    for position, node in zip(count(POSITION_STEP, POSITION_STEP), loader.each_entry(nodes), strict=False):
        if node["type"] == "section-group":
            id = loader.entry_id(GROUP, node)
            doc = {"title": "Untitled", **without_keys(node, "id", "type", "children")}
            loader.add(Record(GROUP, id, doc, site.organization, site.id, parent, position))
            _load_nodes(loader, site, id, node.get("children") or [], sections)
        elif node["type"] == "external-link":
            id, doc = loader.entry_id(EXTERNAL_LINK, node), without_keys(node, "id", "type")
            loader.add(Record(EXTERNAL_LINK, id, doc, site.organization, site.id, parent, position))
        elif node["type"] == "section":
            _load_section(loader, site, parent, position, node, sections)
        else:
            raise ValueError(f"a node of the type {node['type']!r} cannot be next to sections and groups")


def _load_section(
    loader: WorldLoader, site: Record, parent: str, position: int, node: Json, sections: list[Record]
) -> None:
    """Load a section with its site spaces, and add it to `sections`, whose paths it must not repeat."""
    id = loader.entry_id(SECTION, node)
    title = node.get("title") or "Untitled"
    used_paths = {section.doc["path"] for section in sections}
    doc = {
        "title": title,
        "path": node.get("path") or unique_slug(title, used_paths, "section"),
        "default": False,
        **without_keys(node, "id", "type", "children"),
    }
    sections.append(loader.add(Record(SECTION, id, doc, site.organization, site.id, parent, position)))
    _load_site_spaces(loader, site, id, node.get("children") or [])


def _load_site_spaces(loader: WorldLoader, site: Record, section: str, nodes: Iterable[Json]) -> None:
    """Load the site spaces of a section, or of the top level (`section=""`), with their customization.

    A site space shows a space of the organization. Raise ValueError for an unknown space. One site space is
    the default.
    """
    site_spaces: list[Record] = []
    for position, node in zip(count(POSITION_STEP, POSITION_STEP), loader.each_entry(nodes), strict=False):
        space = node["space"]
        if space not in loader.space_titles:
            raise ValueError(f"the site {site.id!r} shows the unknown space {space!r}")
        used_paths = {site_space.doc["path"] for site_space in site_spaces}
        doc = {
            "path": node.get("path") or unique_slug(loader.space_titles[space], used_paths, "space"),
            "default": False,
            "hidden": False,
            **without_keys(node, "id", "type", "space", "customization"),
        }
        id = loader.entry_id(SITE_SPACE, node)
        site_space = loader.add(
            Record(SITE_SPACE, id, doc, site.organization, site.id, section, position, space)
        )
        site_spaces.append(site_space)
        if node.get("customization"):
            settings = node["customization"]
            loader.add(
                Record(
                    SITE_SPACE_CUSTOMIZATION,
                    site_space.id,
                    settings,
                    site_space.organization,
                    site_space.scope,
                )
            )
    _set_one_default(site_spaces)


def _set_one_default(nodes: list[Record]) -> None:
    """Make exactly one node the default: the first node with `default: true`, or else the first node."""
    chosen = next((node for node in nodes if node.doc["default"]), nodes[0] if nodes else None)
    for node in nodes:
        node.doc["default"] = node is chosen


def _dump_sites(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the sites of an organization, with their contents, as a world file (initial data) has them."""
    sites = dumper.find_by_creation("site", organization=organization.id)
    return [
        {
            "id": site.id,
            **site.doc,
            **({"styleguide": site.ref} if site.ref else {}),
            **dumper.dump_children(site),
        }
        for site in sites
    ]


def _dump_structure(dumper: WorldDumper, site: Record) -> list[Json]:
    """Return the navigation of a site as a tree of entries of a world file (the server's initial data)."""
    nav = read_navigation(dumper.store, site)
    overrides = {
        record.id: record.doc for record in dumper.store.find(SITE_SPACE_CUSTOMIZATION, scope=site.id)
    }

    def dump_site_spaces(section: str) -> list[Json]:
        return [dump_site_space(site_space) for site_space in nav.site_spaces_in(section)]

    def dump_site_space(site_space: Record) -> Json:
        overrides_of_space = (
            {"customization": overrides[site_space.id]} if overrides.get(site_space.id) else {}
        )
        return {
            "type": "space",
            "id": site_space.id,
            "space": site_space.ref,
            **site_space.doc,
            **overrides_of_space,
        }

    def dump_node(node: Record) -> Json:
        if node.kind == EXTERNAL_LINK:
            return {"type": "external-link", "id": node.id, **node.doc}
        if node.kind == GROUP:
            return {"type": "section-group", "id": node.id, **node.doc, "children": dump_nodes(node.id)}
        return {"type": "section", "id": node.id, **node.doc, "children": dump_site_spaces(node.id)}

    def dump_nodes(parent: str) -> list[Json]:
        return [dump_node(node) for node in nav.children(parent)]

    return dump_nodes("") if nav.has_sections else dump_site_spaces("")


def _by_section(section: Record) -> ColumnFilter:
    """Match the site spaces of a section."""
    return {"scope": section.scope, "parent": section.id}


RECORD_KINDS = (
    RecordKind("site", id_prefix="site", owner="organization", counted_in_health=True,
               depends_on=(Dependency("space", on_delete=clear_column("ref")),),  # its style guide
               world_section=WorldSection("sites", _load_sites, _dump_sites,
                                          value_type=list[world_models.Site],
                                          kind="site")),
    RecordKind("adaptive-schema", owner="site",
               world_section=WorldSection("adaptiveSchema", _load_schema, _dump_schema, ("site",),
                                          dict[str, Any])),
    RecordKind(GROUP, id_prefix="group", owner="site",  # the whole navigation is one tree
               world_section=WorldSection("structure", _load_structure, _dump_structure, ("site",),
                                          list[world_models.Node])),
    RecordKind(SECTION, id_prefix="sect", owner="site"),
    RecordKind(EXTERNAL_LINK, id_prefix="link", owner="site"),
    RecordKind(SITE_SPACE, id_prefix="place", owner="site",
               depends_on=(Dependency(SECTION, _by_section),
                           Dependency("space", lambda space: {"ref": space.id},
                                      on_delete=remove_space_from_site))),
    RecordKind(SITE_SPACE_CUSTOMIZATION, owner="site",
               depends_on=(Dependency(SITE_SPACE, lambda place: {"id": place.id}),)),
)  # fmt: skip
