"""Find faulty redirects: redirect circles, and redirects from the path of a section or site space.

GitBook looks for live content before redirects (GitBook docs, publish/site-redirects), so a redirect
from the path of a section or site space never takes effect. Paths are compared case-insensitively. Redirects
whose source ends in `*` are left out, because they serve the paths without content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from dpsync.kinds.kind import Kind, Redirects
from dpsync.kinds.registry import Registry
from dpsync.kinds.types.free_form import Condition
from dpsync.model.address import Address
from dpsync.model.cycles import find_simple_cycles, format_cycle, rotated_to
from dpsync.model.desired import Entry
from dpsync.model.values import Ref, Value, leaves


class RedirectLink(Struct, frozen=True):
    """A redirect with its destination path on the same site. `target` is None for any other destination."""

    address: Address
    source: str
    target: str | None


class RedirectFault(Struct, frozen=True):
    """A circle of one or more redirects, or a redirect from the path of a navigation node."""

    redirects: tuple[Address, ...]
    sources: tuple[str, ...]
    """The source of each redirect, as written in the file."""
    is_cycle: bool
    node: Address | None = None
    """The first section or site space whose path is the source of one of the redirects."""

    def message(self, noun: str) -> str:
        """Return a sentence about the fault. `noun` is the node's kind, such as "section"."""
        if not self.is_cycle:
            assert self.node is not None
            path = f'"{self.sources[0]}" is the path of the {noun} "{self.node.segments[-1]}"'
            return f"this redirect has no effect: {path}"
        if len(self.sources) == 1:
            return f'the redirect from "{self.sources[0]}" leads to itself'
        return f"these redirects form a circle: {format_cycle([*self.sources, self.sources[0]], ' → ')}"

    def hint(self, noun: str) -> str:
        """Return how to fix the fault. `noun` is the node's kind, such as "section"."""
        if self.node is None:
            article = "the" if len(self.sources) == 1 else "one"
            return f"change the destination of {article} redirect, or delete the redirect"
        return (
            f"delete the redirect, or give the {noun} another path, because readers see the {noun} instead "
            "of the destination of the redirect"
        )


def redirect_faults(
    links: Mapping[str, RedirectLink], nodes: Mapping[str, Address]
) -> Iterator[RedirectFault]:
    """Yield the circles of redirects of one site, and its redirects from paths that show a node.

    A redirect from the path of a node has no effect. `links` has the redirects by source path, `nodes` the
    navigation nodes by URL path.
    """

    def next_path(path: str) -> str | None:
        target = links[path].target
        return target if target in links else None

    in_circles: set[str] = set()
    for circle in find_simple_cycles(sorted(links), next_path):
        paths = rotated_to(min(circle), circle)
        in_circles.update(paths)
        addresses = tuple(links[path].address for path in paths)
        sources = tuple(links[path].source for path in paths)
        node = next((nodes[path] for path in paths if path in nodes), None)
        yield RedirectFault(addresses, sources, is_cycle=True, node=node)
    for path, link in sorted(links.items()):
        if path in nodes and path not in in_circles:
            yield RedirectFault((link.address,), (link.source,), is_cycle=False, node=nodes[path])


def declared_redirect_faults(registry: Registry, entries: Mapping[Address, Entry]) -> Iterator[RedirectFault]:
    """Yield the faults of redirects (circles, and redirects without effect) that the files alone reveal.

    They are sorted by site. URLs count as paths of the site only if the files declare the site's host.
    """
    kinds = {kind.name: kind.redirects for kind in registry.in_dependency_order if kind.redirects is not None}
    sites: dict[Address, list[Entry]] = defaultdict(list)
    for entry in entries.values():
        if entry.kind in kinds and entry.parent is not None:
            sites[entry.parent].append(entry)
    paths = _DeclaredPaths(registry, entries)
    for site, redirects in sorted(sites.items()):
        site_url = declared_base_url(registry[entries[site].kind], entries[site].fields)
        links = {}
        for entry in redirects:
            kind = registry[entry.kind]
            assert kind.redirects is not None
            link = redirect_link(
                kind, kind.redirects, entry.address, entry.fields, paths.path_of_reference, site_url
            )
            if link is not None:
                source_path, redirect = link
                links[source_path] = redirect
        yield from redirect_faults(links, paths.visible_nodes(site))


def redirect_link(
    kind: Kind,
    redirects: Redirects,
    address: Address,
    fields: Mapping[str, Value],
    path_of: Callable[[str, Value], str | None],
    base: str | None,
) -> tuple[str, RedirectLink] | None:
    """Return (normalized source path, link) of an active redirect; None for a draft or a source with `*`.

    The link's target is a path of the same site, or None if the redirect leads elsewhere. `path_of` takes the
    name of a kind and a reference, and returns the path of the referenced node. `base` is the URL of the
    site, None if unknown.
    """
    source = fields.get(redirects.source_field)
    default_values = {field.name: field.value_when_absent for field in kind.fields}
    is_active = all(
        fields.get(name, default_values[name]) in active_values
        for name, active_values in redirects.active_when.items()
    )
    if not is_active or not isinstance(source, str) or source.endswith("*"):
        return None
    target = None
    for name, template in redirects.targets_by_kind.items():
        if (key := _extract_key(template, fields)) is not None:
            target = path_of(name, key)
    if base is not None and target is None:
        urls = (leaf for leaf in leaves(dict(fields)) if isinstance(leaf, str))
        target = next((path for url in urls if (path := path_below(url, base)) is not None), None)
    return normalize_path(source), RedirectLink(address, source, target)


def _extract_key(template: Any, value: Any) -> Any:
    """Return the part of a value at the position of "$key" in a template; None if other parts differ.

    For the template `{kind: section, section: $key}`, it is the section of a value of this kind.
    """
    if template == "$key":
        return value
    if not isinstance(template, Mapping):
        return None
    key = None
    for name, part in template.items():
        part_value = value.get(name) if isinstance(value, Mapping) else None
        captured = _extract_key(part, part_value)
        if captured is None and part_value != part:
            return None
        key = key if captured is None else captured
    return key


def normalize_path(text: str) -> str:
    """Return a path for comparison: percent-decoded, case-folded, with a single leading slash."""
    return "/" + unquote(text).strip("/").casefold()


def path_below(url: str, base: str) -> str | None:
    """Return the path of a URL relative to the URL of a site (`base`); None if it is not on that site."""
    try:
        parts, base_parts = urlsplit(url), urlsplit(base)
    except ValueError:  # an unclosed bracket
        return None
    if parts.scheme not in ("http", "https") or parts.netloc.casefold() != base_parts.netloc.casefold():
        return None
    path, prefix = normalize_path(parts.path), normalize_path(base_parts.path).rstrip("/")
    return normalize_path(path[len(prefix) :]) if f"{path}/".startswith(f"{prefix}/") else None


def declared_base_url(kind: Kind, fields: Mapping[str, Value]) -> str | None:
    """Return the URL of a site with a declared host (`proxy`); None if the platform chooses the host."""
    names = kind.url.host_fields if kind.url is not None else ()
    values = (fields.get(name) for name in names)
    return next((f"https://{value}/" for value in values if isinstance(value, str) and value), None)


class _DeclaredPaths:
    """The URL paths of the navigation nodes whose path segments are all declared in the files."""

    def __init__(self, registry: Registry, entries: Mapping[Address, Entry]) -> None:
        """Collect the URL path of each navigation node, and the nodes that every visitor of a site sees.

        The walk starts at the children of each entry that is no node, such as a site. `entries` are all
        entries of the configuration.
        """
        self._registry = registry
        self._entries = entries
        self._paths: dict[Address, str] = {}
        self._visible_nodes: dict[Address, dict[str, Address]] = defaultdict(dict)
        for address, entry in entries.items():
            if not registry[entry.kind].is_node:
                self._add(address, entry.children, "", visible=True)

    def visible_nodes(self, owner: Address) -> Mapping[str, Address]:
        """Return the nodes of a site that every visitor sees, by URL path.

        If two nodes share a path, the outer node is returned.
        """
        return self._visible_nodes[owner]

    def path_of_reference(self, _: str, value: Value) -> str | None:
        """Return the URL path of the node to which a value refers; None if the path is unknown."""
        return self._paths.get(value.address) if isinstance(value, Ref) else None

    def _add(self, owner: Address, nodes: Iterable[Address], base_path: str, visible: bool) -> None:
        """Add the nodes of a site (or child nodes) and, recursively, their children.

        `owner` is the site or the parent node, and `base_path` its URL path. `visible` is False in a node
        that some visitors cannot see. Nodes without a declared path segment are skipped with their children.
        """
        for address in nodes:
            entry = self._entries.get(address)
            if entry is None:
                continue
            kind, fields = self._registry[entry.kind], entry.fields
            path: str | None = base_path
            if kind.url is not None and fields.get(kind.url.without_segment_flag or "") is not True:
                segment = fields.get(kind.url.segment_field)
                path = f"{base_path}/{segment}" if isinstance(segment, str) else None
            if path is None:
                continue
            visible_here = visible and _is_visible_to_all(kind, fields)
            if kind.url is not None:
                self._paths[address] = normalize_path(path)
                if visible_here:
                    self._visible_nodes[owner].setdefault(normalize_path(path), address)
            self._add(owner, entry.children, path, visible_here)


def _is_visible_to_all(kind: Kind, fields: Mapping[str, Value]) -> bool:
    """Return whether every visitor sees a node: it is visible, and no condition selects visitors."""
    default_values = {field.name: field.value_when_absent for field in kind.fields}
    is_visible = all(
        fields.get(name, default_values[name]) in visible_values
        for name, visible_values in kind.visible_when.items()
    )
    return is_visible and not any(
        isinstance(field.type, Condition) and fields.get(field.name) for field in kind.fields
    )
