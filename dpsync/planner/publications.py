"""Find published content, previews and redirects that a plan changes.

`newly_published` finds live content that the plan brings onto a published site, at a new position or in
place of other content. Exposure by a field is the topic of exposures.py. `site_previews` returns the preview
URLs of changed sites. `redirect_warnings` warns of redirect circles and of redirects from the path of live
content.

`validate` reports the faults that the files alone reveal. A plan adds the faults that depend on live data:
paths and hosts that the platform chose, pages, and undeclared redirects.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, Final

from msgspec import Struct

from dpsync.kinds.kind import Field, Kind, Restriction
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
from dpsync.planner.outcome import (
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
"""A path segment that is no secret. Share links have a random key in their path."""


def site_previews(sides: Sides, changes: Iterable[Change]) -> tuple[SitePreview, ...]:
    """Return the preview of each live site that a change is about, by address.

    A site that the plan deletes has none, nor has a site whose preview URL may contain a secret.
    """
    deleted = {change.address for change in changes if change.action == "delete"}
    changed = {place for change in changes for place in change.location.self_and_ancestors()}
    found = []
    for live in sides.snapshot.objects.values():
        if live.preview_url is None or not _has_no_secret(live.preview_url, live):
            continue
        address = sides.names.address(live.identity)
        if address in changed and str(address) not in deleted:
            title = str(live.fields.get("title") or address)
            found.append(SitePreview(address=str(address), title=title, url=live.preview_url))
    return tuple(sorted(found, key=lambda one: one.address))


def _has_no_secret(url: str, live: LiveObject) -> bool:
    """Return whether the path has only words and the ids of the object and its parent."""
    ids = {live.id, live.parent[1] if live.parent is not None else ""}
    return is_preview_link(url) and all(word in ids or _WORD.fullmatch(word) for word in path_segments(url))


BranchPath = tuple[TreeBranch, ...]
"""A node with its ancestors, the outermost first."""


def newly_published(
    decisions: Decisions, trees: Iterable[NavigationTree], exposures: Iterable[Exposure]
) -> Iterator[Exposure]:
    """Yield an exposure for each node whose content becomes visible to more people than before.

    `exposures` has the exposures by changed fields, which are not repeated.
    """
    opened = {(item.location, item.field) for item in exposures}
    before: list[tuple[Any, _Audience]] | None = None
    for tree in trees:
        if tree.after is None:
            continue
        was = {one.address: (*above, one) for one, above in tree.before.walk()} if tree.before else {}
        for one, above in tree.after.walk():
            content = _live_content(decisions, one)
            now = _audience((*above, one)) if content is not None else None
            if now is None or _is_exposure_reported(was.get(one.address), (*above, one), opened):
                continue
            if before is None:
                before = list(_visible_contents(decisions))
            if not any(value == content and openness.includes(now) for value, openness in before):
                yield _exposure(decisions, one)


class _Audience(Struct, frozen=True):
    """How widely a node is visible: the levels of its owner's fields, and the conditions for visitors."""

    exposure_levels: tuple[int, ...]
    conditions: frozenset[Any]

    def includes(self, other: _Audience) -> bool:
        """Return whether everybody who can see the other node can see this one."""
        higher = all(
            mine >= its for mine, its in zip(self.exposure_levels, other.exposure_levels, strict=True)
        )
        return higher and self.conditions <= other.conditions


def _audience(chain: BranchPath) -> _Audience | None:
    """Return how widely the last node of a chain is visible; None if a field hides it from everybody."""
    if any(_is_hidden_by(one, name) for one in chain for name in one.kind.visible_when):
        return None
    owner, *nodes = chain
    ranks = tuple(_rank(item, owner.fields.get(item.name)) for item in owner.kind.fields if _has_levels(item))
    binding = (one.fields.get(item.name) for one in nodes for item in one.kind.fields if _is_condition(item))
    return _Audience(ranks, frozenset(value for value in binding if value not in (None, UNKNOWN)))


def _is_hidden_by(branch: TreeBranch, name: str) -> bool:
    field, value = branch.kind.field(name), branch.fields.get(name)
    return (
        isinstance(field.type, Flag) and value is not UNKNOWN and value not in branch.kind.visible_when[name]
    )


def _has_levels(field: Field) -> bool:
    return isinstance(field.exposure, tuple) and bool(field.exposure) and not isinstance(field.type, Flag)


def _rank(field: Field, value: Any) -> int:
    scale = field.exposure if isinstance(field.exposure, tuple) else ()
    return scale.index(value) if value in scale else len(scale)


def _is_condition(field: Field) -> bool:
    return isinstance(field.widening_rule, Restriction)


def _is_exposure_reported(
    was: BranchPath | None, chain: BranchPath, opened: set[tuple[Address, str]]
) -> bool:
    """Return whether a node shows the same as before and became visible by a reported field."""
    if was is None or _shown_value(was[-1]) != _shown_value(chain[-1]):
        return False
    names = ((one, item) for one in chain for item in one.kind.fields)
    return any(
        (one.address, item.name) in opened for one, item in names if _affects_visibility(one.kind, item)
    )


def _affects_visibility(kind: Kind, field: Field) -> bool:
    return field.name in kind.visible_when or bool(field.exposure) or _is_condition(field)


# The content of nodes.


def _shown_value(branch: TreeBranch) -> Any:
    field = content_field(branch.kind) if branch.kind.visible_when else None
    return branch.fields.get(field.name) if field is not None else None


def _live_content(decisions: Decisions, branch: TreeBranch) -> Ref | LiveId | None:
    """Return the live object that a node shows, if any."""
    value = _shown_value(branch)
    if isinstance(value, Ref):
        return value if decisions.sides.live(value.address) is not None else None
    return value if isinstance(value, LiveId) else None


def _visible_contents(decisions: Decisions) -> Iterator[tuple[Any, _Audience]]:
    """Yield each object that is visible now, with how widely."""
    for branch in live_trees(decisions):
        for one, above in branch.walk():
            openness = _audience((*above, one)) if _shown_value(one) is not None else None
            if openness is not None:
                yield _shown_value(one), openness


def _exposure(decisions: Decisions, branch: TreeBranch) -> Exposure:
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
    """Yield a warning for each redirect circle, and for each redirect from the path of a node or page."""
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
    for link, place in paths.redirects_from_pages():
        if link.address in sides.entries:
            reason = f'"{link.source}" is the path of a page in {place}'
            text = f"this redirect has no effect, because {reason}. Remove the redirect, or move the page"
            yield Note(address=str(link.address), text=text, severity="warning")


class _PathsAfterApply(Struct, frozen=True, dict=True):
    """The paths of nodes, pages and redirects in each site after the apply."""

    decided: Decisions
    urls_after_apply: UrlsAfterApply

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
                    at = normalize_path(f"{path}/{page}")
                    if at in links and at not in nodes:
                        yield links[at], address

    def _page_paths(self, address: Address) -> Iterable[str]:
        """Return the paths of the pages that a site space shows."""
        sides, shows = self.decided.sides, self.kind(address).access_fields.get("shows")
        item = sides.entries.get(address) or self._live_nodes.get(address)
        space = item.fields.get(shows.name) if shows is not None and item is not None else None
        id = space_id(space, sides.values.live_id) if isinstance(space, Ref | LiveId) else None
        return filter(None, sides.snapshot.pages.get(id or "", {}).values())

    @cached_property
    def _links_by_site(self) -> Mapping[Address, Mapping[str, RedirectLink]]:
        """Return, for each site, the active redirects by normalized source path."""
        links: dict[Address, dict[str, RedirectLink]] = defaultdict(dict)
        for kind in self.decided.sides.registry.in_dependency_order:
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
        if isinstance(value, LiveId) and (kind, value.id) in self.decided.sides.snapshot.objects:
            address = self.decided.sides.names.address((kind, value.id))
        url = self.urls_after_apply.urls.get(address) if address is not None else None
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
            path = path_below(self.urls_after_apply.urls[address], self.urls_after_apply.owner_urls[owner])
            if path is not None and not self._is_conditional(address):
                yield address, path

    @cached_property
    def _by_owner(self) -> Mapping[Address, list[Address]]:
        """Return the addresses of the nodes with a URL, by site; outer nodes come first."""
        found: dict[Address, list[Address]] = defaultdict(list)
        for address in self.urls_after_apply.urls:
            owner = next(
                (
                    around
                    for around in address.self_and_ancestors()
                    if around in self.urls_after_apply.owner_urls
                ),
                None,
            )
            if owner is not None:
                found[owner].append(address)
        return found

    def _is_conditional(self, address: Address) -> bool:
        """Return whether a node, or a node above, has a condition after the apply."""
        return any(around in self._conditional_nodes for around in address.self_and_ancestors())

    @cached_property
    def _conditional_nodes(self) -> set[Address]:
        """Return the nodes that have a condition after the apply, so that only some visitors see them."""
        found = set()
        for address in self._live_nodes.keys() | self.decided.sides.entries.keys():
            live, entry = self._live_nodes.get(address), self.decided.sides.entries.get(address)
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
        return sides.kind(sides.entries.get(address) or self._live_nodes[address])
