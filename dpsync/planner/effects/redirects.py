"""Warn about faulty redirects after the apply: redirect circles, and redirects from the path of live content.

`validate` reports the faults that the files alone reveal. A plan adds the faults that depend on live data:
paths and hosts that the platform chose, pages, and undeclared redirects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial

from msgspec import Struct

from dpsync.kinds.page_references import space_id
from dpsync.kinds.redirect_paths import (
    RedirectFault,
    RedirectLink,
    declared_redirect_faults,
    path_below,
    redirect_faults,
    redirect_link,
    url_path,
)
from dpsync.kinds.registry import SupportedKind
from dpsync.kinds.types.free_form import Condition
from dpsync.model.address import Address
from dpsync.model.change import Note
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import LiveId, Ref, Value
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.effects.tree import NavigationTree
from dpsync.planner.effects.urls import LaterUrls, later_urls


def redirect_warnings(decided: Decisions, trees: Iterable[NavigationTree]) -> Iterator[Note]:
    """Yield a warning for each redirect circle, and for each redirect from the path of a node or page."""
    sides = decided.sides
    if not any(sides.kind(entry).redirects is not None for entry in sides.resources.values()):
        return
    reported = {fault.redirects for fault in declared_redirect_faults(sides.registry, sides.resources)}
    paths = _LaterPaths(decided, later_urls(decided, trees))
    for fault in paths.find_faults():
        declared = next((address for address in fault.redirects if address in sides.resources), None)
        if declared is not None and fault.redirects not in reported:
            noun = paths.kind(fault.node).noun if fault.node is not None else ""
            text = f"{fault.message(noun)}; {fault.hint(noun)}"
            yield Note(address=str(declared), text=text, severity="warning")
    for link, place in paths.redirects_from_pages():
        if link.address in sides.resources:
            reason = f'"{link.source}" is the path of a page in {place}'
            text = f"this redirect has no effect, because {reason}. Remove the redirect, or move the page"
            yield Note(address=str(link.address), text=text, severity="warning")


class _LaterPaths(Struct, frozen=True, dict=True):
    """The paths of nodes, pages and redirects in each site after the apply."""

    decided: Decisions
    later: LaterUrls

    def find_faults(self) -> Iterator[RedirectFault]:
        """Yield the redirect faults of each site, without redirects from the path of a page."""
        for owner, found in sorted(self._links_by_site.items()):
            yield from redirect_faults(found, self._nodes_by_path(owner))

    def redirects_from_pages(self) -> Iterator[tuple[RedirectLink, Address]]:
        """Yield each redirect from the path of a page, with the site space that shows the page."""
        sides = self.decided.sides
        for owner, links in sorted(self._links_by_site.items()) if sides.snapshot.pages else ():
            nodes = self._nodes_by_path(owner)
            for address, path in self._visible_paths(owner):
                for page in self._page_paths(address):
                    at = url_path(f"{path}/{page}")
                    if at in links and at not in nodes:
                        yield links[at], address

    def _page_paths(self, address: Address) -> Iterable[str]:
        """Return the paths of the pages that a site space shows."""
        sides, shows = self.decided.sides, self.kind(address).access.get("shows")
        item = sides.resources.get(address) or self._live_nodes.get(address)
        space = item.fields.get(shows.name) if shows is not None and item is not None else None
        id = space_id(space, sides.values.known_id) if isinstance(space, Ref | LiveId) else None
        return filter(None, sides.snapshot.pages.get(id or "", {}).values())

    @cached_property
    def _links_by_site(self) -> Mapping[Address, Mapping[str, RedirectLink]]:
        """Return, for each site, the active redirects by normalized source path."""
        links: dict[Address, dict[str, RedirectLink]] = defaultdict(dict)
        for kind in self.decided.sides.registry.ordered:
            if kind.redirects is None:
                continue
            for owner, address, fields in self.later.redirects(kind):
                base = self.later.owner_urls.get(owner)
                path_of_reference = partial(self._path_of_reference, base)
                link = redirect_link(kind, kind.redirects, address, fields, path_of_reference, base)
                if base is not None and link is not None:
                    links[owner][link[0]] = link[1]
        return links

    def _path_of_reference(self, base: str | None, kind: str, value: Value) -> str | None:
        """Return the path of the node to which a value refers, relative to the site URL `base`."""
        address = value.address if isinstance(value, Ref) else None
        if isinstance(value, LiveId) and (kind, value.id) in self.decided.sides.snapshot.objects:
            address = self.decided.sides.names.address((kind, value.id))
        url = self.later.urls.get(address) if address is not None else None
        return path_below(url, base) if url is not None and base is not None else None

    def _nodes_by_path(self, owner: Address) -> Mapping[str, Address]:
        """Return the site and its visible nodes by path. If two nodes share a path, the outer node wins."""
        found: dict[str, Address] = {}
        for address, path in self._visible_paths(owner):
            found.setdefault(path, address)
        return found

    def _visible_paths(self, owner: Address) -> Iterator[tuple[Address, str]]:
        """Yield the address and path of each node that every visitor of a site sees."""
        for address in self._by_owner[owner]:
            path = path_below(self.later.urls[address], self.later.owner_urls[owner])
            if path is not None and not self._is_conditional(address):
                yield address, path

    @cached_property
    def _by_owner(self) -> Mapping[Address, list[Address]]:
        """Return the addresses of the nodes with a URL, by site; outer nodes come first."""
        found: dict[Address, list[Address]] = defaultdict(list)
        for address in self.later.urls:
            owner = next((around for around in address.upward() if around in self.later.owner_urls), None)
            if owner is not None:
                found[owner].append(address)
        return found

    def _is_conditional(self, address: Address) -> bool:
        """Return whether a node, or a node above, has a condition after the apply."""
        return any(around in self._conditional for around in address.upward())

    @cached_property
    def _conditional(self) -> set[Address]:
        """Return the nodes that have a condition after the apply, so that only some visitors see them."""
        found = set()
        for address in self._live_nodes.keys() | self.decided.sides.resources.keys():
            live, entry = self._live_nodes.get(address), self.decided.sides.resources.get(address)
            fields = {**(live.fields if live else {}), **(entry.fields if entry else {})}
            names = (item.name for item in self.kind(address).fields if isinstance(item.type, Condition))
            if any(fields.get(name) for name in names):
                found.add(address)
        return found

    @cached_property
    def _live_nodes(self) -> Mapping[Address, LiveObject]:
        sides = self.decided.sides
        return {
            sides.names.address(identity): live
            for identity, live in sides.snapshot.objects.items()
            if sides.kind(live).url is not None
        }

    def kind(self, address: Address) -> SupportedKind:
        """Return the kind of a declared object or of a live node."""
        sides = self.decided.sides
        return sides.kind(sides.resources.get(address) or self._live_nodes[address])
