"""Find published content, previews and redirects that a plan changes.

`newly_published` finds live content that the plan brings onto a published site, at a new position or in
place of other content. (exposures.py covers changes of fields.) `site_previews` returns the preview URLs of
changed sites.

`redirect_warnings` warns of redirect cycles and of redirects from the path of live content. `validate` finds
the faults that files alone reveal; these depend on live paths, pages, and undeclared redirects.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, Final

from msgspec import Struct

from dpsync.kinds.kind import Field, Restriction
from dpsync.kinds.page_references import space_id
from dpsync.kinds.redirect_paths import (
    RedirectFault,
    RedirectLink,
    declared_redirect_faults,
    normalize_path,
    path_below,
    redirect_faults,
    redirect_link,
)
from dpsync.kinds.registry import SupportedKind
from dpsync.kinds.types import Flag
from dpsync.kinds.types.free_form import Condition
from dpsync.model.address import Address
from dpsync.model.change import Change, Exposure, Note, SitePreview
from dpsync.model.snapshot import LiveObject
from dpsync.model.urls import is_preview_link, path_segments
from dpsync.model.values import LiveId, Ref, Value
from dpsync.planner.decide import Decisions
from dpsync.planner.navigation import (
    UNKNOWN,
    NavigationTree,
    TreeBranch,
    branch_title,
    content_field,
    live_trees,
)
from dpsync.planner.sides import Sides
from dpsync.planner.urls import UrlsAfterApply, urls_after_apply

_WORD: Final = re.compile(r"~?[a-z-]{1,32}")
"""A path segment that cannot be a secret. Share links have a random key in their path, which is one."""


def site_previews(sides: Sides, changes: Iterable[Change]) -> tuple[SitePreview, ...]:
    """Return the preview of each live site in which something changes, by address.

    A site that the plan deletes has none, nor has a site whose preview URL may contain a secret.
    """
    deleted = {change.address for change in changes if change.action == "delete"}
    changed = {place for change in changes for place in change.location.self_and_ancestors()}
    previews = []
    for live in sides.snapshot.objects.values():
        if live.preview_url is None or not _is_free_of_secrets(live.preview_url, live):
            continue
        address = sides.names.address(live.identity)
        if address in changed and str(address) not in deleted:
            title = str(live.fields.get("title") or address)
            previews.append(SitePreview(address=str(address), title=title, url=live.preview_url))
    return tuple(sorted(previews, key=lambda preview: preview.address))


def _is_free_of_secrets(url: str, live: LiveObject) -> bool:
    """Return whether a URL has only words and the ids of its object and the parent in its path."""
    ids = {live.id, live.parent[1] if live.parent is not None else ""}
    return is_preview_link(url) and all(word in ids or _WORD.fullmatch(word) for word in path_segments(url))


BranchPath = tuple[TreeBranch, ...]
"""A node with its ancestors, the outermost first."""


def newly_published(
    decisions: Decisions, trees: Iterable[NavigationTree], exposures: Iterable[Exposure]
) -> Iterator[Exposure]:
    """Yield an exposure for each navigation node whose content is shown to more people than before the plan.

    Content is the object that a node shows, such as a space. `exposures` are those that follow from changed
    fields. If one of them explains why a node shows more, the node is left out.
    """
    reported_fields = {(exposure.location, exposure.field) for exposure in exposures}
    contents_before: list[tuple[Any, _Audience]] | None = None
    for tree in trees:
        if tree.after is None:
            continue
        branches_before = (
            {node.address: (*ancestors, node) for node, ancestors in tree.before.walk()}
            if tree.before
            else {}
        )
        for node, ancestors in tree.after.walk():
            content = _live_content(decisions, node)
            audience = _audience((*ancestors, node)) if content is not None else None
            if audience is None or _is_exposure_reported(
                branches_before.get(node.address), (*ancestors, node), reported_fields
            ):
                continue
            if contents_before is None:
                contents_before = list(_visible_contents(decisions))
            if not any(
                value == content and former_audience.includes(audience)
                for value, former_audience in contents_before
            ):
                yield _publication(decisions, node)


class _Audience(Struct, frozen=True):
    """Who can see a navigation node: the levels of its site's visibility fields, and conditions for visitors.

    A higher level means more people, more conditions mean fewer people.
    """

    exposure_levels: tuple[int, ...]
    conditions: frozenset[Any]

    def includes(self, other: _Audience) -> bool:
        """Return whether everybody who can see the other node can see this one."""
        is_level_sufficient = all(
            own_level >= other_level
            for own_level, other_level in zip(self.exposure_levels, other.exposure_levels, strict=True)
        )
        return is_level_sufficient and self.conditions <= other.conditions


def _audience(chain: BranchPath) -> _Audience | None:
    """Return who can see the last node of a path from the site down; None if a field hides it from all."""
    for branch in chain:
        for name, visible_values in branch.kind.visible_when.items():
            value = branch.fields.get(name)
            is_flag = isinstance(branch.kind.field(name).type, Flag)
            if is_flag and value is not UNKNOWN and value not in visible_values:
                return None
    owner, *nodes = chain
    levels = []
    for field in owner.kind.fields:
        scale = field.exposure
        if isinstance(scale, tuple) and scale and not isinstance(field.type, Flag):
            # A value that is not on the scale may be more than all values of the scale.
            value = owner.fields.get(field.name)
            levels.append(scale.index(value) if value in scale else len(scale))
    conditions = (
        node.fields.get(field.name) for node in nodes for field in node.kind.fields if _is_condition(field)
    )
    return _Audience(tuple(levels), frozenset(value for value in conditions if value not in (None, UNKNOWN)))


def _is_condition(field: Field) -> bool:
    """Return whether a field restricts which visitors see a node."""
    return isinstance(field.widening_rule, Restriction)


def _is_exposure_reported(
    chain_before: BranchPath | None, chain: BranchPath, reported_fields: set[tuple[Address, str]]
) -> bool:
    """Return whether a node shows the same content as before and a reported field change opened it."""
    if chain_before is None or _shown_value(chain_before[-1]) != _shown_value(chain[-1]):
        return False
    return any(
        (branch.address, field.name) in reported_fields
        for branch in chain
        for field in branch.kind.fields
        if field.name in branch.kind.visible_when or bool(field.exposure) or _is_condition(field)
    )


# The content of nodes.


def _shown_value(branch: TreeBranch) -> Any:
    """Return the reference to the object that a node shows (a space); None if its kind shows none."""
    field = content_field(branch.kind) if branch.kind.visible_when else None
    return branch.fields.get(field.name) if field is not None else None


def _live_content(decisions: Decisions, branch: TreeBranch) -> Ref | LiveId | None:
    """Return the live object that a node shows, if any."""
    value = _shown_value(branch)
    if isinstance(value, Ref):
        return value if decisions.sides.live(value.address) is not None else None
    return value if isinstance(value, LiveId) else None


def _visible_contents(decisions: Decisions) -> Iterator[tuple[Any, _Audience]]:
    """Yield each object that is visible on a site now, and the audience of the node that shows it."""
    for branch in live_trees(decisions):
        for node, ancestors in branch.walk():
            audience = _audience((*ancestors, node)) if _shown_value(node) is not None else None
            if audience is not None:
                yield _shown_value(node), audience


def _publication(decisions: Decisions, branch: TreeBranch) -> Exposure:
    """Return the exposure that a node publishes its content."""
    sides, field = decisions.sides, content_field(branch.kind)
    item = sides.entries.get(branch.address) or sides.snapshot.objects.get(branch.identity or ("", ""))
    assert field is not None
    assert item is not None
    return Exposure(
        address=str(branch.address),
        field=field.name,
        after=sides.values.to_display(field, branch.fields[field.name], item),
        words=f'publishes the {field.name} "{branch_title(decisions, branch, after=True)}"',
    )


def redirect_warnings(decisions: Decisions, trees: Iterable[NavigationTree]) -> Iterator[Note]:
    """Yield a warning for each redirect cycle, and for each redirect from the path of live content.

    Live content is a navigation node or a page: it is shown instead, so the redirect has no effect. Warnings
    that `validate` gives already are left out.
    """
    sides = decisions.sides
    if not any(sides.kind(entry).redirects is not None for entry in sides.entries.values()):
        return
    reported = {fault.redirects for fault in declared_redirect_faults(sides.registry, sides.entries)}
    paths = _PathsAfterApply(decisions, urls_after_apply(decisions, trees))
    for fault in paths.find_faults():
        declared = next((address for address in fault.redirects if address in sides.entries), None)
        if declared is not None and fault.redirects not in reported:
            noun = paths.kind(fault.node).noun if fault.node is not None else ""
            text = f"{fault.message(noun)}; {fault.hint(noun)}"
            yield Note(address=str(declared), text=text, severity="warning")
    for link, site_space in paths.redirects_from_pages():
        if link.address in sides.entries:
            reason = f'"{link.source}" is the path of a page in {site_space}'
            text = f"this redirect has no effect, because {reason}. Remove the redirect, or move the page"
            yield Note(address=str(link.address), text=text, severity="warning")


class _PathsAfterApply(Struct, frozen=True, dict=True):
    """The paths of nodes, pages and redirects in each site after the apply."""

    decisions: Decisions
    urls_after_apply: UrlsAfterApply

    def find_faults(self) -> Iterator[RedirectFault]:
        """Yield the redirect faults of each site, without redirects from the path of a page."""
        for owner, links in sorted(self._links_by_site.items()):
            yield from redirect_faults(links, self._nodes_by_path(owner))

    def redirects_from_pages(self) -> Iterator[tuple[RedirectLink, Address]]:
        """Yield each redirect from the path of a page, with the site space that shows the page."""
        sides = self.decisions.sides
        for owner, links in sorted(self._links_by_site.items()) if sides.snapshot.pages else ():
            nodes = self._nodes_by_path(owner)
            for address, path in self._visible_paths(owner):
                for page in self._page_paths(address):
                    page_path = normalize_path(f"{path}/{page}")
                    if page_path in links and page_path not in nodes:
                        yield links[page_path], address

    def _page_paths(self, address: Address) -> Iterable[str]:
        """Return the paths of the pages that a site space shows, relative to the site space."""
        sides, shows = self.decisions.sides, self.kind(address).access_fields.get("shows")
        item = sides.entries.get(address) or self._live_nodes.get(address)
        space = item.fields.get(shows.name) if shows is not None and item is not None else None
        id = space_id(space, sides.values.live_id) if isinstance(space, Ref | LiveId) else None
        return filter(None, sides.snapshot.pages.get(id or "", {}).values())

    @cached_property
    def _links_by_site(self) -> Mapping[Address, Mapping[str, RedirectLink]]:
        """The active redirects of each site, by normalized source path."""
        links: dict[Address, dict[str, RedirectLink]] = defaultdict(dict)
        for kind in self.decisions.sides.registry.in_dependency_order:
            if kind.redirects is None:
                continue
            for owner, address, fields in self.urls_after_apply.redirects(kind):
                base = self.urls_after_apply.owner_urls.get(owner)
                path_of_reference = partial(self._path_of_reference, base)
                link = redirect_link(kind, kind.redirects, address, fields, path_of_reference, base)
                if base is not None and link is not None:
                    links[owner][link[0]] = link[1]
        return links

    def _path_of_reference(self, base: str | None, kind: str, value: Value) -> str | None:
        """Return the path of the node to which a value refers, relative to the site URL `base`."""
        address = value.address if isinstance(value, Ref) else None
        if isinstance(value, LiveId) and (kind, value.id) in self.decisions.sides.snapshot.objects:
            address = self.decisions.sides.names.address((kind, value.id))
        url = self.urls_after_apply.urls.get(address) if address is not None else None
        return path_below(url, base) if url is not None and base is not None else None

    def _nodes_by_path(self, owner: Address) -> Mapping[str, Address]:
        """Return the site and its visible nodes by path. If two nodes share a path, the outer node wins."""
        addresses: dict[str, Address] = {}
        for address, path in self._visible_paths(owner):
            addresses.setdefault(path, address)
        return addresses

    def _visible_paths(self, owner: Address) -> Iterator[tuple[Address, str]]:
        """Yield the address and path of each node that every visitor of a site sees."""
        for address in self._addresses_by_owner[owner]:
            path = path_below(self.urls_after_apply.urls[address], self.urls_after_apply.owner_urls[owner])
            ancestors = address.self_and_ancestors()
            if path is not None and self._conditional_nodes.isdisjoint(ancestors):
                yield address, path

    @cached_property
    def _addresses_by_owner(self) -> Mapping[Address, list[Address]]:
        """The addresses of the nodes with a URL, by site; outer nodes come first."""
        addresses: dict[Address, list[Address]] = defaultdict(list)
        for address in self.urls_after_apply.urls:
            owner = next(
                (
                    ancestor
                    for ancestor in address.self_and_ancestors()
                    if ancestor in self.urls_after_apply.owner_urls
                ),
                None,
            )
            if owner is not None:
                addresses[owner].append(address)
        return addresses

    @cached_property
    def _conditional_nodes(self) -> set[Address]:
        """The nodes that have a condition after the apply, so that only some visitors see them."""
        nodes = set()
        for address in self._live_nodes.keys() | self.decisions.sides.entries.keys():
            live, entry = self._live_nodes.get(address), self.decisions.sides.entries.get(address)
            fields = {**(live.fields if live else {}), **(entry.fields if entry else {})}
            condition_names = (
                field.name for field in self.kind(address).fields if isinstance(field.type, Condition)
            )
            if any(fields.get(name) for name in condition_names):
                nodes.add(address)
        return nodes

    @cached_property
    def _live_nodes(self) -> Mapping[Address, LiveObject]:
        """The live sites and navigation nodes: the objects whose kind can have a URL, by address."""
        sides = self.decisions.sides
        return {
            sides.names.address(identity): live
            for identity, live in sides.snapshot.objects.items()
            if sides.kind(live).url is not None
        }

    def kind(self, address: Address) -> SupportedKind:
        """Return the kind of a declared object or of a live node."""
        sides = self.decisions.sides
        return sides.kind(sides.entries.get(address) or self._live_nodes[address])
